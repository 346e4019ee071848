/** Changes made at random: all are found, equal documents have none, and a direction turns tight into loose. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { isObject, type JsonObject } from '#base/object.ts'
import { diffOpenApi } from '#kit/contract/openapi.ts'
import { rounds } from '../support/rounds.ts'
import { type Change, changed, document } from './document.ts'

const today = '2026-11-22'
const escaped = (step: string) => step.replaceAll('~', '~0').replaceAll('/', '~1')

/** The paths of all values in a part of a document. */
const pathsOf = (part: unknown, path = ''): readonly string[] => [
  ...(path === '' ? [] : [path]),
  ...(typeof part === 'object' && part !== null
    ? Object.entries(part).flatMap(([key, inner]) => pathsOf(inner, `${path}/${escaped(key)}`))
    : []),
]

const paths = pathsOf(document)

/** Whether a key is a text or an example, which promise nothing, and not a member that is called so. */
const isText = (key: string, parent: string) =>
  ['description', 'summary', 'example', 'examples'].includes(key) && parent !== 'properties'

const isFree = (path: string) => {
  const steps = path.split('/')
  return steps.some((step, index) => isText(step, steps[index - 1] ?? ''))
}

/** A part of a document with its keys in another order, and without texts. */
const turned = (part: unknown, parent = ''): unknown => {
  if (Array.isArray(part)) {
    const items = part.map(item => turned(item))
    return ['required', 'enum', 'type', 'parameters', 'security'].includes(parent)
      ? items.toReversed()
      : items
  }
  if (!isObject(part)) return part
  return Object.fromEntries(
    Object.entries(part)
      .filter(([key]) => !isText(key, parent))
      .map(([key, inner]) => [key, turned(inner, key)])
      .toReversed(),
  )
}

const valueAt = (path: string): unknown =>
  path
    .split('/')
    .slice(1)
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((part, step) => (part as JsonObject)[step], document)

const scalars = [0, 1, 7, 'x', '', true, null, 'string', '2027-01-01', [], {}] as const

/** A value that is not what is at a path: another one, none, or the same with one key more. */
const changes = fc.constantFrom(...paths.filter(path => !isFree(path))).chain(path => {
  const value = valueAt(path)
  const others = scalars.filter(other => !isDeepStrictEqual(other, value))
  return fc
    .constantFrom<readonly Change[1][]>(...[...others, undefined].map(other => [other]))
    .chain(([other]) =>
      fc.constantFrom<Change>(
        [path, other],
        ...(isObject(value) ? [[`${path}/x-new`, 1] satisfies Change] : []),
      ),
    )
})

const diff = (before: unknown, after: unknown) =>
  diffOpenApi(before as JsonObject, after as JsonObject, today)

test('every change of a document is found, whatever it is, and nothing else', () => {
  fc.assert(
    fc.property(changes, change => {
      const after = changed([change])
      fc.pre(!isDeepStrictEqual(turned(after), turned(document)))
      assert.notEqual(diff(document, after).length, 0, JSON.stringify(change))
      assert.notEqual(diff(after, document).length, 0, JSON.stringify(change))
      assert.deepEqual(diff(after, after), [], JSON.stringify(change))
    }),
    { numRuns: rounds(134, 10_000) },
  )
})

test('no order of keys, of required members, of values, of parameters and of rights is a difference', () => {
  assert.deepEqual(diff(document, turned(document)), [])
  fc.assert(
    fc.property(fc.constantFrom(...paths), path => {
      const after = changed([[path, undefined]])
      assert.deepEqual(diff(after, turned(after)), [], path)
    }),
  )
})

test('a change of texts and examples is no difference', () => {
  for (const path of paths.filter(isFree)) {
    assert.deepEqual(diff(document, changed([[path, 'Other words.']])), [], path)
    assert.deepEqual(diff(document, changed([[path, undefined]])), [], path)
  }
})

/** A schema of members within members, and the path of each member in it. */
type Tree = { readonly schema: JsonObject; readonly members: readonly string[] }

const wrapped = (tree: Tree, step: string, schema: JsonObject): Tree => ({
  schema,
  members: tree.members.map(path => `${step}${path}`),
})

const trees = fc.letrec<{ readonly tree: Tree; readonly object: Tree }>(tie => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    fc
      .constantFrom('string', 'integer', 'boolean')
      .map(type => ({ schema: { type }, members: [] })),
    tie('object'),
    tie('tree').map(tree => wrapped(tree, '/items', { type: 'array', items: tree.schema })),
    tie('object').map(tree =>
      wrapped(tree, '/anyOf/0', { anyOf: [tree.schema, { type: 'null' }] }),
    ),
  ),
  object: fc
    .dictionary(fc.stringMatching(/^[a-z]{1,5}$/), tie('tree'), { minKeys: 1, maxKeys: 3 })
    .chain(members =>
      fc.subarray(Object.keys(members)).map(required => ({
        schema: {
          type: 'object',
          required,
          properties: Object.fromEntries(
            Object.entries(members).map(([name, { schema }]) => [name, schema]),
          ),
        },
        members: Object.entries(members).flatMap(([name, { members: inner }]) => [
          `/properties/${name}`,
          ...inner.map(path => `/properties/${name}${path}`),
        ]),
      })),
    ),
}))

const envelopes: readonly ((item: JsonObject) => Change[1])[] = [
  item => item as Change[1],
  item => ({ type: 'object', properties: { data: item as Change[1] & object } }),
  item => ({
    type: 'object',
    required: ['data'],
    properties: {
      data: { type: 'array', items: item as Change[1] & object },
      pagination: { type: 'object', properties: { total: { type: 'integer' } } },
    },
  }),
]

const places = [
  '/paths/~1things/get/responses/200/content/application~1json/schema',
  '/paths/~1things/post/requestBody/content/application~1json/schema',
]

test('a member that is gone is breaking and a new one that may be left out is not, however deep, in every envelope', () => {
  const removals = trees.object.chain(tree =>
    fc.tuple(fc.constant(tree), fc.constantFrom(...tree.members)),
  )
  fc.assert(
    fc.property(
      removals,
      fc.constantFrom(...envelopes),
      fc.constantFrom(...places),
      ([tree, path], envelope, place) => {
        const less = changed([[path, undefined]], tree.schema)
        const whole = changed([[place, envelope(tree.schema)]])
        const rest = changed([[place, envelope(less)]])
        const name = path.slice(path.lastIndexOf('/') + 1)
        const gone = diff(whole, rest).filter(({ rule }) => rule === 'member-removed')
        assert.deepEqual(
          gone.map(({ class: level, names }) => [level, names]),
          [['breaking', [name]]],
        )
        const fresh = diff(rest, whole).filter(({ rule }) => /member-added$/.test(rule))
        const isSent = place.includes('requestBody')
        const isNeeded = fresh[0]?.rule === 'required-member-added'
        assert.deepEqual(
          fresh.map(({ class: level }) => level),
          [isSent && isNeeded ? 'breaking' : 'compatible'],
        )
      },
    ),
    { numRuns: rounds(100, 10_000) },
  )
})
