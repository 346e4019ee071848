import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEnd, type ReadFacts, reads } from '#channels.ts'
import { drive, type Query, type QueryScript, type Rows } from '#sql/engine.ts'
import { type PlanReader, publishing } from './read.ts'

const query = (text: string, isQuick = true): Query => ({ text, values: [], isQuick })

const refused = new Error('no such table')

/** Gives as many rows as the text has letters; of a text with a question mark none, it fails. */
const answer = ({ text }: Query): Rows => {
  if (text.includes('?')) throw refused
  return Array.from(text, letter => [letter])
}

const run = <Result>(begin: () => QueryScript<Result>): Result => drive(begin(), answer)

/** A reader of which only these are asked. */
const plain = {
  query: answer,
  snapshot: run,
  slowly: async begin => run(begin),
} as Pick<PlanReader, 'query' | 'snapshot' | 'slowly'> as PlanReader

const reader = publishing(plain)

/** What the channel publishes while `script` runs. */
const published = async (script: () => unknown) => {
  const all: unknown[] = []
  const end = onEnd(reads, ({ levels, lane, statements, rows }: ReadFacts) =>
    all.push({ levels, lane, statements: statements(), rows }),
  )
  await Promise.resolve()
    .then(script)
    .catch(error => assert.equal(error, refused))
    .finally(end)
  return all
}

test('the channel has the lane, the statement and the rows of a single query', async () => {
  assert.deepEqual(await published(() => reader.query(query('abc'))), [
    { levels: 1, lane: 'quick', statements: ['abc'], rows: 3 },
  ])
  assert.deepEqual(await published(() => reader.query(query('ab', false))), [
    { levels: 1, lane: 'slow', statements: ['ab'], rows: 2 },
  ])
})

test('it has a query that fails, without rows', async () => {
  assert.deepEqual(await published(() => reader.query(query('?'))), [
    { levels: 1, lane: 'quick', statements: ['?'], rows: undefined },
  ])
})

function* twice(): QueryScript<number> {
  const first = yield query('ab')
  const second = yield query('abc')
  return first.length + second.length
}

function* mended(): QueryScript<number> {
  try {
    yield query('?')
  } catch {
    return (yield query('abcd')).length
  }
  return 0
}

test('it has all statements of a snapshot and their rows together, in either lane', async () => {
  const statements = ['ab', 'abc']
  assert.deepEqual(await published(() => reader.snapshot(twice)), [
    { levels: 2, lane: 'quick', statements, rows: 5 },
  ])
  assert.deepEqual(await published(() => reader.slowly(twice)), [
    { levels: 2, lane: 'slow', statements, rows: 5 },
  ])
})

test('work that catches what a query throws goes on, and both statements are published', async () => {
  assert.deepEqual(await published(() => reader.snapshot(mended)), [
    { levels: 2, lane: 'quick', statements: ['?', 'abcd'], rows: 4 },
  ])
})

test('work that an engine begins again is published once, by its last run', async () => {
  const again = publishing({
    ...plain,
    snapshot: begin => {
      run(begin)
      return run(begin)
    },
  })
  assert.deepEqual(await published(() => again.snapshot(twice)), [
    { levels: 2, lane: 'quick', statements: ['ab', 'abc'], rows: 5 },
  ])
})
