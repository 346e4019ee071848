/** Bodies with members that name what every object inherits, nested, repeated and of any value. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { createWorld } from '../world.ts'

const inherited = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', 'polluted'],
  ...['__defineGetter__', '__lookupSetter__', 'then', 'toJSON', 'length', ''],
]
const usual = ['name', 'email', 'role', 'age', 'input', 'id', 'variables', 'query', 'extensions']

/** A text of JSON, and whether a member of an object in it is given twice. */
type Text = { readonly text: string; readonly isTwice: boolean }

const leaf = fc
  .oneof(fc.constant('polluted'), fc.jsonValue({ maxDepth: 0 }), fc.constantFrom(1e308, -0, true))
  .map((value): Text => ({ text: JSON.stringify(value), isTwice: false }))

const { body } = fc.letrec<{ body: Text; value: Text; list: Text }>(tie => ({
  value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, leaf, tie('body'), tie('list')),
  list: fc.array(tie('value'), { maxLength: 3 }).map(all => ({
    text: `[${all.map(({ text }) => text).join()}]`,
    isTwice: all.some(({ isTwice }) => isTwice),
  })),
  body: fc
    .array(fc.tuple(fc.constantFrom(...inherited, ...usual), tie('value')), { maxLength: 5 })
    .map(members => ({
      text: `{${members.map(([name, { text }]) => `${JSON.stringify(name)}:${text}`).join()}}`,
      isTwice:
        new Set(members.map(([name]) => name)).size < members.length ||
        members.some(([, { isTwice }]) => isTwice),
    })),
}))

const inputs = {
  'PATCH /api/users/2': ({ text }: Text) => text,
  'POST /api/v2/users': ({ text }: Text) => text,
  'PUT /api/products/1': ({ text }: Text) => text,
  'POST /api/orders': ({ text }: Text) => `{"items":[${text}]}`,
  'POST /graphql': ({ text }: Text) =>
    `{"query":"mutation($i: UpdateUserInput!) { updateUser(id: 2, input: $i) { id } }","variables":{"i":${text},"x":${text}},"extensions":${text}}`,
}

/** What the prototypes have that every value inherits from, one after the other. */
const inheritedNow = (): readonly unknown[] =>
  [Object, Array, Function, String, Number, Map, Promise].flatMap(({ prototype }) =>
    Reflect.ownKeys(prototype).flatMap(key => {
      const { value, get, set } = Reflect.getOwnPropertyDescriptor(prototype, key) ?? {}
      return [key, value, get, set]
    }),
  )

/** Sends so many of them; fails where one changes what objects inherit, is a fault of the service, or is taken with a member given twice. */
export const oddBodies = async (runs: number): Promise<void> => {
  await using world = await createWorld()
  const before = inheritedNow()
  const lines = fc.constantFrom(...(Object.keys(inputs) as (keyof typeof inputs)[]))
  await fc.assert(
    fc.asyncProperty(lines, body, async (line, some) => {
      const headers = { 'Content-Type': 'application/json' }
      const { status, text } = await world.ask(line, { as: 1, headers, raw: inputs[line](some) })
      assert.ok(status < 500, text)
      if (some.isTwice) assert.equal(status, 400, text)
      const now = inheritedNow()
      assert.ok(now.length === before.length && now.every((one, n) => Object.is(one, before[n])))
    }),
    { numRuns: runs },
  )
}
