/** A few of the generated requests, as test/nightly/fuzz.test.ts has many. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSchema } from 'graphql'
import { dataFault } from './graphql.ts'
import { fuzzed } from './run.ts'

fuzzed(200)

const schema = buildSchema(`
  type Query { users: [User!]!, user(id: ID!): User }
  type User { id: ID!, name: String!, email: String, age: Int }
`)

const allowed: readonly (readonly [string, unknown])[] = [
  ['{ users { id age } }', { users: [{ id: '1', age: null }] }],
  ['{ a: user(id: 1) @skip(if: true) { id } }', {}],
  ['{ ...F } fragment F on Query { user(id: 1) { ... @skip(if: true) { id } } }', { user: {} }],
  ['{ user(id: 1) { id @skip(if: true) ...F } } fragment F on User { id }', { user: { id: '1' } }],
]

const forbidden: readonly (readonly [string, unknown, RegExp])[] = [
  ['{ users { id } }', { users: null }, /null/],
  ['{ users { id } }', { users: { id: '1' } }, /no list/],
  ['{ users { id } }', { users: [{ id: 1 }] }, /1 is no ID/],
  ['{ users { age } }', { users: [{ age: 1.5 }] }, /1.5 is no Int/],
  ['{ user(id: 1) { id name } }', { user: { id: '1' } }, /name is missing/],
  ['{ user(id: 1) { id } }', { user: { id: '1', email: 'a' } }, /email was not asked for/],
]

test('data is held against the schema and the selection, whatever stands under a directive [G21]', () => {
  for (const [query, data] of allowed)
    assert.equal(dataFault(schema, query, undefined, data), undefined)
  for (const [query, data, fault] of forbidden)
    assert.match(dataFault(schema, query, undefined, data) ?? '', fault, query)
})
