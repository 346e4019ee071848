/** Changes of a GraphQL schema that graphql-js takes for less than they are. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { diffGraphql } from '#kit/contract/graphql.ts'

const diff = (from: string, to: string) =>
  diffGraphql(from, to, '2026-11-22').map(
    ({ class: level, rule, path }) => `${level} ${rule} ${path}`,
  )

test('what is not null can no longer be left out where its default value goes', () => {
  const schema = (value: string) => `
directive @mark(level: Int!${value}) on FIELD
type Query { thing(size: Int!${value}, of: Part): Int }
input Part { size: Int!${value} }`
  assert.deepEqual(diff(schema(' = 1'), schema('')), [
    'breaking member-required @mark(level:)',
    'breaking member-required Part.size',
    'breaking member-required Query.thing(size:)',
  ])
  const classes = diff(schema(''), schema(' = 1')).map(line => line.split(' ')[0])
  assert.deepEqual(classes, ['risky', 'risky', 'risky'])
})

test('a type that fields of an interface give is seen by their callers when it comes and when it goes', () => {
  const few = 'interface Node { id: ID } type Part implements Node { id: ID }'
  const more = `${few} type Wheel implements Node { id: ID }`
  const [without, withOne] = [
    `type Query { node: Node } ${few}`,
    `type Query { node: Node wheel: Wheel @deprecated(reason: "Gone from 2026-11-22.") } ${more}`,
  ]
  assert.deepEqual(diff(withOne, without), [
    'breaking type-removed Wheel',
    'compatible removed-after-sunset Query.wheel',
  ])
  assert.ok(diff(without, withOne).includes('risky implemented-interface-added Wheel'))
})
