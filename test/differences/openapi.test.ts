/** Each rule, in each direction, by a change of one small document. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileAdded, fileRemoved } from '#kit/contract/contract.ts'
import type { ContractDifference } from '#kit/contract/difference.ts'
import { diffOpenApi } from '#kit/contract/openapi.ts'
import { rules } from '#kit/contract/rules.ts'
import { type Change, changed } from './document.ts'
import { csv, documentRows, get, today } from './document-rows.ts'
import { schemaRows } from './schema-rows.ts'

/** All differences that the tests below have met. */
const met: ContractDifference[] = []

const diff = (before: readonly Change[], after: readonly Change[]) => {
  const differences = diffOpenApi(changed(before), changed(after), today)
  met.push(...differences)
  return differences
}

/** What a change of a schema means to those who send it and to those who read it. */
const meaning: Readonly<Record<string, readonly [sent: string, read: string]>> = {
  'member-removed': ['breaking', 'breaking'],
  'member-renamed': ['breaking', 'breaking'],
  'member-added': ['compatible', 'compatible'],
  'required-member-added': ['breaking', 'compatible'],
  'member-required': ['breaking', 'compatible'],
  'member-optional': ['compatible', 'breaking'],
  'others-refused': ['breaking', 'compatible'],
  'others-allowed': ['compatible', 'compatible'],
  'type-changed': ['breaking', 'breaking'],
  'type-wider': ['compatible', 'breaking'],
  'type-narrower': ['breaking', 'compatible'],
  'alternative-added': ['compatible', 'breaking'],
  'alternative-removed': ['breaking', 'compatible'],
  'null-added': ['compatible', 'risky'],
  'null-removed': ['breaking', 'compatible'],
  'value-added': ['compatible', 'risky'],
  'value-removed': ['breaking', 'compatible'],
  'values-opened': ['compatible', 'risky'],
  'values-closed': ['breaking', 'compatible'],
  'limit-tighter': ['breaking', 'compatible'],
  'limit-looser': ['compatible', 'risky'],
  'limit-same': ['compatible', 'compatible'],
  'format-changed': ['breaking', 'breaking'],
  'format-added': ['breaking', 'compatible'],
  'format-removed': ['compatible', 'breaking'],
  'default-changed': ['risky', 'compatible'],
  'annotation-changed': ['compatible', 'compatible'],
  deprecated: ['compatible', 'compatible'],
  'deprecation-withdrawn': ['compatible', 'compatible'],
  'sunset-set': ['compatible', 'compatible'],
  'sunset-later': ['compatible', 'compatible'],
  'sunset-withdrawn': ['compatible', 'compatible'],
  'sunset-earlier': ['breaking', 'breaking'],
  'sunset-too-soon': ['breaking', 'breaking'],
  'sunset-unreadable': ['breaking', 'breaking'],
  'removed-after-sunset': ['compatible', 'compatible'],
  'removed-before-sunset': ['breaking', 'breaking'],
  'removed-without-sunset': ['breaking', 'breaking'],
  unknown: ['breaking', 'breaking'],
}

const directions = [
  { schema: 'NewThing', place: 'POST /things → body → ', way: 0, hits: 'callers who send it' },
  { schema: 'Thing', place: 'GET /things → 200 → data[].', way: 1, hits: 'callers who read it' },
] as const

for (const { change, rules, back, at } of schemaRows)
  test(`${change.map(([path, value]) => `${path} = ${JSON.stringify(value)}`).join(', ')} is ${rules.join(', ')}; taken back it is ${back.join(', ')}`, () => {
    for (const { schema, place, way, hits } of directions) {
      const there = change.map(
        ([path, value]): Change => [`/components/schemas/${schema}${path}`, value],
      )
      for (const [differences, expected] of [
        [diff([], there), rules],
        [diff(there, []), back],
      ] as const) {
        const seen = differences.map(({ class: level, rule }) => `${level} ${rule}`)
        const wanted = expected.map(rule => `${meaning[rule]?.[way]} ${rule}`)
        assert.deepEqual(seen.sort(), wanted.sort(), schema)
        assert.ok(differences.some(({ path }) => path === (place + at).replace(/(\.| → )$/, '')))
        assert.ok(differences.every(difference => difference.hits === hits))
      }
    }
  })

const lines = (differences: readonly ContractDifference[]) =>
  differences.map(({ class: level, rule, path }) => `${level} ${rule} ${path}`.trim()).sort()

for (const [what, [change, there, back = there]] of Object.entries(documentRows))
  test(`${what}: a change of it and the change back are classified`, () => {
    const list = (text: string) =>
      text
        .split('\n')
        .filter(line => line !== '')
        .sort()
    assert.deepEqual(lines(diff([], change)), list(there))
    assert.deepEqual(lines(diff(change, [])), list(back))
  })

test('a whole document that goes is breaking until the day that it announced has come', () => {
  const file = (sunset?: string) => ({
    name: 'v1.openapi.json',
    text: JSON.stringify(
      changed(
        sunset
          ? [
              ['/info/x-sunset', sunset],
              ['/info/deprecated', true],
            ]
          : [],
      ),
    ),
  })
  const rulesOf = (differences: readonly ContractDifference[]) => {
    met.push(...differences)
    return differences.map(({ class: level, rule }) => `${level} ${rule}`)
  }
  assert.deepEqual(rulesOf(fileAdded(file(), today)), ['compatible document-added'])
  assert.deepEqual(rulesOf(fileRemoved(file(), today)), ['breaking document-removed'])
  assert.deepEqual(rulesOf(fileRemoved(file('2026-11-23'), today)), [
    'breaking removed-before-sunset',
  ])
  assert.deepEqual(rulesOf(fileRemoved(file('2026-11-22'), today)), [
    'compatible removed-after-sunset',
  ])
})

test('a difference behind a reference is told of every place that leads there, and ends in a schema that contains itself', () => {
  const change: Change = ['/components/schemas/Refusal/properties/message/type', 'integer']
  assert.deepEqual(
    diff([], [change]).map(({ path }) => path),
    ['GET /things → 422 → message', 'POST /things → 422 → message'],
  )
})

test('a reference that leads nowhere is breaking', () => {
  const ref = '/components/responses/Refused/content/application~1json/schema/$ref'
  const differences = diff([], [[ref, '#/components/schemas/None']])
  assert.ok(
    differences.some(({ rule, path }) => rule === 'unknown' && path === 'GET /things → 422'),
  )
})

test('a sunset that could not be read counts as none', () => {
  const path = '/components/schemas/Thing/properties/nick/x-sunset'
  const rulesOf = diff([[path, 'next year']], [[path, '2027-01-01']]).map(({ rule }) => rule)
  assert.deepEqual(rulesOf, ['sunset-too-soon'])
})

test('references are followed through others and into every part of a document, and a circle of them ends', () => {
  const schema = `${csv}/schema`
  const parameter = '#/paths/~1things/get/parameters/0/schema'
  const chain: readonly Change[] = [
    [schema, { $ref: '#/components/schemas/First' }],
    ['/components/schemas/First', { $ref: '#/components/schemas/Second' }],
    ['/components/schemas/Second', { $ref: parameter }],
  ]
  const changes = diff(chain, [...chain, [`${get}/parameters/0/schema/type`, 'integer']])
  assert.deepEqual(lines(changes), [
    'breaking type-changed GET /things → 200 (text/csv)',
    'breaking type-changed GET /things → header X-Trace',
    'breaking type-changed components.schemas.Second',
  ])
  const circle: readonly Change[] = [
    ...chain,
    ['/components/schemas/Second/$ref', '#/components/schemas/First'],
  ]
  assert.deepEqual(diff(circle, circle), [])
  assert.notDeepEqual(diff(chain, circle), [])
})

test('a risky difference names the member and what is new about it', () => {
  const value: Change = [
    '/components/schemas/Thing/properties/state/enum',
    ['new', 'used', 'sold', 'lent'],
  ]
  assert.deepEqual(
    diff([], [value]).map(({ names }) => names),
    [['state', 'lent']],
  )
  const type: Change = ['/components/schemas/Thing/properties/name/type', ['string', 'null']]
  assert.deepEqual(
    diff([], [type]).map(({ names }) => names),
    [['name', 'null']],
  )
  assert.deepEqual(
    diff([[`${get}/responses/422`, undefined]], []).map(({ names }) => names),
    [['422']],
  )
})

test('every rule was met, and in both directions where they differ', () => {
  const seen = new Set(met.map(({ rule, hits }) => `${rule} ${hits}`))
  const unmet = Object.entries(rules).filter(([rule, { sent, read }]) =>
    sent === read
      ? !met.some(difference => difference.rule === rule)
      : !seen.has(`${rule} callers who send it`) || !seen.has(`${rule} callers who read it`),
  )
  assert.deepEqual(
    unmet.map(([rule]) => rule),
    [],
  )
})
