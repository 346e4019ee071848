import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSchema } from 'graphql'
import { argumentFault } from '#graphql/arguments.ts'
import { documentCache, getOperation } from '#graphql/document.ts'
import { createMemory } from '#http/memory.ts'

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
  const documents = documentCache(schema, limits, true, createMemory().documents)
  assert.equal(documents('{ a }'), documents('{ a }'))
  assert.notEqual(documents('{ a }'), documents('{ a } '))
})

test('the sentence of an argument has one mark at its end', () => {
  const { message } = argumentFault({} as never, 'where.a', 'did you mean b?')
  assert.equal(message, 'Argument "where.a" did you mean b?')
})

test('bad documents never push a good one out [D18]', () => {
  const documents = documentCache(schema, limits, true, createMemory().documents)
  const good = documents('{ a }')
  for (let n = 0; n < 1100; n++) assert.throws(() => documents(`{ bad${n} }`))
  assert.equal(documents('{ a }'), good)
})

test('a thousand good documents are cached, and those in use the longest', () => {
  const documents = documentCache(schema, limits, true, createMemory().documents)
  const used = documents('{ a }')
  const unused = documents('{ b }')
  for (let n = 0; n < 1100; n++) {
    documents(`{ a(n: ${n}) }`)
    assert.equal(documents('{ a }'), used)
  }
  assert.notEqual(documents('{ b }'), unused)
})

test('a bad document is refused with the same error each time', () => {
  const documents = documentCache(schema, limits, true, createMemory().documents)
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
  const documents = documentCache(schema, limits, true, createMemory().documents)
  const one = documents('{ a }')
  assert.equal(getOperation(one, undefined), one.operations[0])
  assert.throws(() => getOperation(one, 'A'), /no operation named "A"/)
  const two = documents('query A { a } query B { b }')
  assert.equal(getOperation(two, 'B'), two.operations[1])
  assert.throws(() => getOperation(two, undefined), /several operations/)
  assert.throws(() => getOperation(two, ''), /no operation named ""/)
})

const many = (count: number, fields: number) =>
  Array.from(
    { length: count },
    (_, n) => `{ ${Array.from({ length: fields }, (_, m) => `a${n}_${m}: a`).join(' ')} }`,
  )
const generous = { ...limits, aliases: 1000, rootFields: 1000 }

test('a thousand small documents are kept, of large ones as many as fit into the memory for them [D18]', () => {
  const documents = documentCache(schema, generous, true, createMemory().documents)
  const known = (sources: readonly string[]) => {
    const made = sources.map(source => ({ source, document: documents(source) }))
    // The newest first: a document that is not known displaces one.
    return made.toReversed().filter(({ source, document }) => documents(source) === document).length
  }
  assert.equal(known(many(1000, 1)), 1000)
  const large = known(many(120, 300))
  assert.ok(large > 10 && large < 100, `${large} of 120`)
})

test('what is derived from operations is kept while it fits into the memory for it [D18]', () => {
  const [operation] = documentCache(
    schema,
    generous,
    true,
    createMemory().documents,
  )(many(1, 300)[0] ?? '').operations
  assert.ok(operation)
  const makes = (count: number) => {
    let made = 0
    for (let round = 0; round < 2; round++)
      for (let n = 0; n < count; n++) operation.derived(`${count} ${n}`, null, () => ++made)
    return made
  }
  assert.equal(makes(10), 10)
  assert.equal(makes(200), 400)
  // Long variables that it was made with may be kept with it.
  const coerced = { text: 'x'.repeat(1_000_000) }
  const variables = { coerced } as unknown as Parameters<typeof operation.derived>[1]
  let made = 0
  for (let n = 0; n < 2; n++) operation.derived('long', variables, () => ++made)
  assert.equal(made, 2)
})

test('documents, their faults and what is derived from them are in the account of memory, and never above it [D18]', () => {
  const { documents: account } = createMemory({ documents: 1_000_000 })
  const documents = documentCache(schema, generous, true, account)
  const taking = (work: () => unknown) => {
    const before = account.taken()
    work()
    return account.taken() - before
  }
  assert.ok(taking(() => documents('{ a }')) > 0)
  assert.ok(taking(() => assert.throws(() => documents('{ c }'))) > 0)
  assert.ok(taking(() => documents('{ a }').operations[0]?.derived('plan', null, () => 1)) > 0)
  assert.equal(
    taking(() => documents('{ a }').operations[0]?.derived('plan', null, () => 2)),
    0,
  )
  let most = 0
  for (const source of many(100, 30)) {
    documents(source).operations[0]?.derived('plan', null, () => 1)
    assert.throws(() => documents(`${source} wrong`))
    most = Math.max(most, account.taken())
  }
  assert.ok(most > 0.8 * account.budget && most <= account.budget, `${most} bytes`)
})

test('the faults of a document are kept with the text of their stacks, and not with what validation had in hand', () => {
  const documents = documentCache(schema, limits, true, createMemory().documents)
  const read: string[] = []
  const { prepareStackTrace } = Error
  Error.prepareStackTrace = ({ message }) => {
    read.push(message)
    return message
  }
  try {
    assert.throws(() => documents('{ c d }'))
  } finally {
    Error.prepareStackTrace = prepareStackTrace
  }
  assert.equal(read.length, 3)
})
