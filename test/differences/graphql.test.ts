/** Changes of a GraphQL schema, each with its class. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DocumentNode, parse, print } from 'graphql'
import type { ContractDifference } from '#kit/contract/difference.ts'
import { diffGraphql, graphqlRules, ruleOf } from '#kit/contract/graphql.ts'
import { before } from './schema.ts'

const today = '2026-11-22'

const met: ContractDifference[] = []

const diff = (from: string, to: string) => {
  const differences = diffGraphql(from, to, today)
  met.push(...differences)
  return differences.map(({ class: level, rule, path }) => `${level} ${rule} ${path}`)
}

type Told = string | readonly string[]

/** What stands in the schema, what stands there instead, and what is told of that and of the way back. */
const rows: Readonly<Record<string, Readonly<Record<string, readonly [there: Told, back: Told]>>>> =
  {
    '  names: [String!]!\n': {
      '': ['breaking field-removed Query.names', 'compatible field-added Query.names'],
    },
    'names: [String!]!': {
      'names: [String]': [
        'breaking field-changed-kind Query.names',
        'compatible field-changed-kind-safe Query.names',
      ],
      'names: [Int!]!': [
        'breaking field-changed-kind Query.names',
        'breaking field-changed-kind Query.names',
      ],
    },
    ', size: Int = 3': {
      '': [
        'breaking arg-removed Query.thing(size:)',
        'compatible optional-arg-added Query.thing(size:)',
      ],
    },
    'kind: Kind): Thing': {
      'kind: Kind, sum: Int!): Thing': [
        'breaking required-arg-added Query.thing(sum:)',
        'breaking arg-removed Query.thing(sum:)',
      ],
    },
    'id: ID!, size': {
      'id: ID, size': [
        'compatible arg-changed-kind-safe Query.thing(id:)',
        'breaking arg-changed-kind Query.thing(id:)',
      ],
    },
    'size: Int = 3': {
      'size: Int = 4': [
        'risky arg-default-value-change Query.thing(size:)',
        'risky arg-default-value-change Query.thing(size:)',
      ],
      'size: Int': [
        'risky arg-default-value-change Query.thing(size:)',
        'risky arg-default-value-added Query.thing(size:)',
      ],
    },
    '{ name: String!, size': {
      '{ size': [
        'breaking field-removed NewThing.name',
        'breaking required-input-field-added NewThing.name',
      ],
      '{ name: String, size': [
        'compatible field-changed-kind-safe NewThing.name',
        'breaking field-changed-kind NewThing.name',
      ],
    },
    'kind: Kind }': {
      'kind: Kind, note: String }': [
        'compatible optional-input-field-added NewThing.note',
        'breaking field-removed NewThing.note',
      ],
    },
    'size: Int = 2': {
      'size: Int = 5': [
        'risky input-field-default-value-change NewThing.size',
        'risky input-field-default-value-change NewThing.size',
      ],
      'size: Int': [
        'risky input-field-default-value-change NewThing.size',
        'risky input-field-default-value-added NewThing.size',
      ],
    },
    'NEW USED': {
      'NEW USED SOLD': [
        'risky value-added-to-enum Kind.SOLD',
        'breaking value-removed-from-enum Kind.SOLD',
      ],
      'NEW USED @deprecated(reason: "Gone from 2027-06-01")': [
        ['compatible deprecated Kind.USED', 'compatible sunset-set Kind.USED'],
        ['compatible deprecation-withdrawn Kind.USED', 'compatible sunset-withdrawn Kind.USED'],
      ],
    },
    '= Thing | Part': {
      '= Thing': ['breaking type-removed-from-union Any', 'risky type-added-to-union Any'],
    },
    'Thing implements Node': {
      'Thing implements Node & Named': [
        'risky implemented-interface-added Thing',
        'breaking implemented-interface-removed Thing',
      ],
    },
    'scalar Day @specifiedBy(url: "https://example.org/day")': {
      '': ['breaking type-removed Day', 'compatible type-added Day'],
      'enum Day { SUNDAY }': [
        ['breaking type-changed-kind Day', 'breaking unknown Day'],
        ['breaking type-changed-kind Day', 'breaking unknown Day'],
      ],
    },
    'https://example.org/day': {
      'https://example.org/date': ['breaking unknown Day', 'breaking unknown Day'],
    },
    'input NewThing {': {
      'input NewThing @oneOf {': ['breaking unknown NewThing', 'breaking unknown NewThing'],
    },
    'on FIELD | QUERY': {
      'on FIELD': [
        'breaking directive-location-removed @mark',
        'compatible directive-location-added @mark',
      ],
    },
    ' repeatable': {
      '': [
        'breaking directive-repeatable-removed @mark',
        'compatible directive-repeatable-added @mark',
      ],
    },
    '(text: String, ': {
      '(': [
        'breaking directive-arg-removed @mark(text:)',
        'compatible optional-directive-arg-added @mark(text:)',
      ],
      '(text: String, day: Int!, ': [
        'breaking required-directive-arg-added @mark(day:)',
        'breaking directive-arg-removed @mark(day:)',
      ],
    },
    '"""A way to mark."""\ndirective @mark(text: String, level: Int = 1) repeatable on FIELD | QUERY':
      {
        '': ['breaking directive-removed @mark', 'compatible directive-added @mark'],
      },
    'level: Int = 1': {
      'level: Int = 1 @deprecated(reason: "No longer told.")': [
        'compatible deprecated @mark(level:)',
        'compatible deprecation-withdrawn @mark(level:)',
      ],
    },
    'A way to mark': {
      'A mark': [[], []],
    },
    '  name: String\n  old': {
      '  name: String @deprecated(reason: "Use old.")\n  old': [
        'compatible deprecated Thing.name',
        'compatible deprecation-withdrawn Thing.name',
      ],
    },
    'Gone from 2026-11-23.': {
      'Gone from 2027-11-23.': [
        'compatible sunset-later Thing.soon',
        'breaking sunset-earlier Thing.soon',
      ],
    },
    '"Use name."': {
      '"Use name. Gone from 2027-05-21."': [
        'breaking sunset-too-soon Thing.vague',
        'compatible sunset-withdrawn Thing.vague',
      ],
      '"Since 2026-11-22 use name. Gone from 2027-05-22."': [
        'compatible sunset-set Thing.vague',
        'compatible sunset-withdrawn Thing.vague',
      ],
    },
    '  soon: String @deprecated(reason: "Gone from 2026-11-23.")\n': {
      '': [
        'breaking removed-before-sunset Thing.soon',
        [
          'breaking sunset-too-soon Thing.soon',
          'compatible deprecated Thing.soon',
          'compatible field-added Thing.soon',
        ],
      ],
    },
    '  vague: String @deprecated(reason: "Use name.")\n': {
      '': [
        'breaking removed-without-sunset Thing.vague',
        ['compatible deprecated Thing.vague', 'compatible field-added Thing.vague'],
      ],
    },
    'type Mutation {': {
      'schema { query: Query, mutation: Other }\ntype Other {': [
        [
          'breaking type-removed Mutation',
          'breaking unknown schema',
          'compatible type-added Other',
        ],
        [
          'breaking type-removed Other',
          'breaking unknown schema',
          'compatible type-added Mutation',
        ],
      ],
    },
  }

for (const [from, changes] of Object.entries(rows))
  for (const [to, [there, back]] of Object.entries(changes))
    test(`${from.trim()} becomes ${to.trim() || 'nothing'}: ${[there].flat().join(', ') || 'free'}`, () => {
      assert.ok(before.includes(from))
      const after = before.replace(from, to)
      assert.deepEqual(diff(before, after), [there].flat())
      assert.deepEqual(diff(after, before), [back].flat())
    })

test('a type goes with the member that was announced to go, and so does what only that type led to', () => {
  const after = before.replace(/ {2}old: .*\n/, '').replace(/type (Picture|Painter) .*\n/g, '')
  assert.deepEqual(diff(before, after), [
    'compatible removed-after-sunset Thing.old',
    'compatible removed-after-sunset Painter',
    'compatible removed-after-sunset Picture',
  ])
})

test('a schema is equal to itself, in any order of types and fields', () => {
  const { definitions, ...document } = parse(before)
  const reversed = definitions
    .toReversed()
    .map(node =>
      'fields' in node && node.fields ? { ...node, fields: node.fields.toReversed() } : node,
    )
  assert.deepEqual(diff(before, before), [])
  assert.deepEqual(diff(before, print({ ...document, definitions: reversed } as DocumentNode)), [])
})

test('those who send an argument are told apart from those who read a field', () => {
  const after = before.replace(', size: Int = 3', '').replace('  names: [String!]!\n', '')
  const hits = diffGraphql(before, after, today).map(({ path, hits }) => `${path}: ${hits}`)
  assert.deepEqual(hits, [
    'Query.thing(size:): callers who send it',
    'Query.names: callers who read it',
  ])
})

test('every change that graphql-js tells apart was met', () => {
  const seen = new Set(met.map(({ rule }) => rule))
  const free = ['description-changed']
  const unmet = Object.keys(graphqlRules)
    .map(ruleOf)
    .filter(rule => !seen.has(rule) && !free.includes(rule))
  assert.deepEqual(unmet, [])
})
