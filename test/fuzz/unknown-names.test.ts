/** Requests with thousands of unknown names: what looks for the names that were meant is done for the faults that are told, and for no more. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSchema, type OperationDefinitionNode, parse } from 'graphql'
import { mostFaults } from '#errors.ts'
import { coerceVariables } from '#graphql/arguments.ts'
import { GraphqlErrors } from '#graphql/errors.ts'
import { resolveCondition } from '#model/condition.ts'
import { parseQuery } from '#rest/query.ts'

const names = Array.from({ length: 2500 }, (_, at) => `nam${at}`)

test('of 2,500 unknown parameters those that are told are compared with the known ones, and none walks over the others', t => {
  const walks = t.mock.method(URLSearchParams.prototype, 'getAll')
  const query = parseQuery(names.map(name => `${name}=1`).join('&'))
  let compared = 0
  for (const name of query.beside(['name'])) {
    assert.equal(query.get(name), '1')
    query.unknown(name, ['name'], () => void compared++ as undefined)
  }
  assert.equal(walks.mock.callCount(), 0)
  // Those near to a known name are not compared with more.
  assert.ok(compared <= mostFaults)
  assert.throws(query.done, ({ details }) => {
    assert.deepEqual(details[0].message, 'is not a parameter here; did you mean name?')
    assert.deepEqual(details[mostFaults], {
      field: '',
      message: `and ${names.length - mostFaults} more faults`,
    })
    return true
  })
})

test('of a condition with 2,500 unknown members or operators those that are told are compared with the known ones', () => {
  let looks = 0
  class Members extends Map<string, string> {
    override keys() {
      looks++
      return super.keys()
    }
  }
  const members = new Members([['size', 'size']])
  const field = { scalar: 'int', values: undefined, references: undefined } as const
  const size = { ...field, foldedFrom: undefined, accents: undefined }
  const asking = {
    membersOf: () => members,
    valueOf: (_entity: string, _field: string, given: unknown) => given,
    isSearched: () => false,
    isShort: true,
    path: 'where',
  }
  const context = {
    entities: { thing: { table: 't', fields: { size }, relations: {} } },
    digits: 2,
  }
  const faultsOf = (condition: unknown) =>
    resolveCondition({ ...context, caller: asking }, 'thing', condition).faults
  const unknown = Object.fromEntries(names.map(name => [name, 1]))
  const [first] = faultsOf(unknown)
  assert.equal(first?.message, 'is not a field or relation of thing: name one of size')
  assert.equal(looks, mostFaults)
  const operators = faultsOf({ size: Object.fromEntries(names.map(name => [name, 1])) })
  assert.match(String(operators[0]?.message), /^is not an operator of size: take one of eq, /)
  assert.equal(operators[mostFaults]?.message, 'is not told')
})

test('variables are printed into their faults only if they are short', () => {
  const schema = buildSchema('type Query { a(w: W): Int } input W { size: Int }')
  const [operation] = parse('query ($w: W) { a(w: $w) }').definitions
  const printedOf = (count: number) => {
    let looks = 0
    const given = Object.fromEntries(names.slice(0, count).map(name => [name, 1]))
    const w = new Proxy(given, { ownKeys: of => [Reflect.ownKeys(of), looks++][0] as string[] })
    const coerce = () => coerceVariables(schema, operation as OperationDefinitionNode, { w }, false)
    assert.throws(coerce, GraphqlErrors)
    return looks * count
  }
  for (const count of [10, 100, 250, 2500]) assert.ok(printedOf(count) < 20_000)
})
