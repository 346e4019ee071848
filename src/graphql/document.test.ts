import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSchema } from 'graphql'
import { documentCache, getOperation } from '#graphql/document.ts'

const schema = buildSchema('type Query { a(n: Int): Int b: Int }')
const limits = {
  depth: 8,
  source: 16_384,
  tokens: 1000,
  comments: 100,
  aliases: 30,
  directives: 20,
  rootFields: 20,
}

test('a known document is not parsed again, and is found by its exact text', () => {
  const documents = documentCache(schema, limits, true)
  assert.equal(documents('{ a }'), documents('{ a }'))
  assert.notEqual(documents('{ a }'), documents('{ a } '))
})

test('bad documents never push a good one out', () => {
  const documents = documentCache(schema, limits, true)
  const good = documents('{ a }')
  for (let n = 0; n < 3000; n++) assert.throws(() => documents(`{ bad${n} }`))
  assert.equal(documents('{ a }'), good)
})

test('a thousand good documents are cached, and those in use the longest', () => {
  const documents = documentCache(schema, limits, true)
  const used = documents('{ a }')
  const unused = documents('{ b }')
  for (let n = 0; n < 1500; n++) {
    documents(`{ a(n: ${n}) }`)
    assert.equal(documents('{ a }'), used)
  }
  assert.notEqual(documents('{ b }'), unused)
})

test('a bad document is refused with the same error each time', () => {
  const documents = documentCache(schema, limits, true)
  for (const text of ['{', '{ c }', `{ ${'a '.repeat(1000)}}`]) {
    const errors = [1, 2].map(() => {
      try {
        return documents(text)
      } catch (error) {
        return error
      }
    })
    assert.equal(errors[0], errors[1])
    assert.ok(errors[0] instanceof Error)
  }
})

test('an operation is chosen by its name, or is the only one', () => {
  const documents = documentCache(schema, limits, true)
  const one = documents('{ a }')
  assert.equal(getOperation(one, undefined), one.operations[0])
  assert.throws(() => getOperation(one, 'A'), /no operation named "A"/)
  const two = documents('query A { a } query B { b }')
  assert.equal(getOperation(two, 'B'), two.operations[1])
  assert.throws(() => getOperation(two, undefined), /several operations/)
  assert.throws(() => getOperation(two, ''), /no operation named ""/)
})
