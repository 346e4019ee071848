import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSchema, type GraphQLSchema, getVariableValues } from 'graphql'
import { createMemory } from '#http/memory.ts'
import type { Used } from '#versions/deprecated-use.ts'
import { countingOperations } from './deprecated-use.ts'
import { documentCache, getOperation } from './document.ts'

const limits = {
  ...{ depth: 8, source: 16_384, tokens: 1000, comments: 100 },
  ...{ aliases: 30, directives: 20, rootFields: 20 },
}

const deprecating = buildSchema(`
  enum Kind { OLD @deprecated(reason: "Use NEW.") NEW }
  input Part { name: String, nick: String @deprecated(reason: "Use name.") }
  input Thing { kind: Kind, parts: [Part!] }
  type Item { id: ID!, nick: String @deprecated(reason: "Use name."), name: String, item: Item! }
  type Query {
    item(kind: Kind, by: String @deprecated(reason: "Use kind.")): Item
    items: [Item!]! @deprecated(reason: "Use item.")
    thing(input: Thing!, inputs: [Thing!]): Item
  }
`)

/** What is counted for an operation; the second time from what was found at the first. */
const counted = (schema: GraphQLSchema, text: string, variables: object = {}): string[] => {
  const uses: Used[] = []
  const count = countingOperations(schema, used => void uses.push(used))
  const operation = getOperation(
    documentCache(schema, limits, true, createMemory().documents)(text),
    undefined,
  )
  const { variableValues, errors } = getVariableValues(
    schema,
    operation.node.variableDefinitions ?? [],
    { ...variables },
  )
  assert.ok(variableValues, String(errors))
  count?.(operation, variableValues)
  const once = uses.splice(0)
  count?.(operation, variableValues)
  assert.deepEqual(uses, once)
  assert.ok(once.every(({ api }) => api === 'graphql'))
  return once.map(({ member }) => member ?? '')
}

test('an operation counts each deprecated part that it names, once', () => {
  for (const [text, found, variables] of [
    ['{ item { id name } }', []],
    ['{ item { nick n: nick item { ...f } } } fragment f on Item { nick }', ['Item.nick']],
    ['{ items { id } item(by: "x") { id } }', ['Query.items', 'Query.item(by)']],
    ['{ item(kind: OLD) { id } }', ['Kind.OLD']],
    ['query($k: Kind) { item(kind: $k) { id } }', ['Kind.OLD'], { k: 'OLD' }],
    ['query($k: Kind) { item(kind: $k) { id } }', [], { k: 'NEW' }],
    ['{ thing(input: {parts: [{nick: "x"}]}) { id } }', ['Part.nick']],
    [
      'query($t: Thing!, $all: [Thing!]) { thing(input: $t, inputs: $all) { id } }',
      ['Part.nick', 'Kind.OLD'],
      { t: { parts: [{ name: 'x' }, { nick: null }] }, all: [{ kind: 'NEW' }, { kind: 'OLD' }] },
    ],
    ['query($t: Thing!) { thing(input: $t) { id } }', [], { t: { parts: [{ name: 'x' }] } }],
  ] as [string, string[], object?][])
    assert.deepEqual(counted(deprecating, text, variables), found, text)
})

test('a schema that deprecates nothing counts nothing', () => {
  const plain = buildSchema('type Query { nick: String }')
  assert.equal(
    countingOperations(plain, () => {}),
    undefined,
  )
})
