import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEnd, type ReadFacts, reads } from '#channels.ts'
import type { PlanReader } from '#read/read.ts'
import { telling } from '#read/telling.ts'
import type { Query, Rows, Work } from '#sql/engine.ts'

const query = (text: string, isQuick = true): Query => ({ text, values: [], isQuick })

const refused = new Error('no such table')

/** Gives as many rows as the text has letters; of a text with a question mark none, it fails. */
const answer = ({ text }: Query): Rows => {
  if (text.includes('?')) throw refused
  return Array.from(text, letter => [letter])
}

const run = <Result>(begin: () => Work<Result>): Result => {
  const work = begin()
  let step = work.next()
  while (!step.done) {
    let rows: Rows
    try {
      rows = answer(step.value)
    } catch (error) {
      step = work.throw(error)
      continue
    }
    step = work.next(rows)
  }
  return step.value
}

/** A reader of which only these are asked. */
const plain = {
  query: answer,
  snapshot: run,
  slowly: async begin => run(begin),
} as Pick<PlanReader, 'query' | 'snapshot' | 'slowly'> as PlanReader

const reader = telling(plain)

/** What the channel tells while `work` runs. */
const told = async (work: () => unknown) => {
  const all: unknown[] = []
  const end = onEnd(reads, ({ levels, lane, statements, rows }: ReadFacts) =>
    all.push({ levels, lane, statements: statements(), rows }),
  )
  await Promise.resolve()
    .then(work)
    .catch(error => assert.equal(error, refused))
    .finally(end)
  return all
}

test('the channel is told the lane, the statement and the rows of a single query', async () => {
  assert.deepEqual(await told(() => reader.query(query('abc'))), [
    { levels: 1, lane: 'quick', statements: ['abc'], rows: 3 },
  ])
  assert.deepEqual(await told(() => reader.query(query('ab', false))), [
    { levels: 1, lane: 'slow', statements: ['ab'], rows: 2 },
  ])
})

test('it is told of a query that fails, without rows', async () => {
  assert.deepEqual(await told(() => reader.query(query('?'))), [
    { levels: 1, lane: 'quick', statements: ['?'], rows: undefined },
  ])
})

function* twice(): Work<number> {
  const first = yield query('ab')
  const second = yield query('abc')
  return first.length + second.length
}

function* mended(): Work<number> {
  try {
    yield query('?')
  } catch {
    return (yield query('abcd')).length
  }
  return 0
}

test('it is told all statements of a snapshot and their rows together, in either lane', async () => {
  const statements = ['ab', 'abc']
  assert.deepEqual(await told(() => reader.snapshot(twice)), [
    { levels: 2, lane: 'quick', statements, rows: 5 },
  ])
  assert.deepEqual(await told(() => reader.slowly(twice)), [
    { levels: 2, lane: 'slow', statements, rows: 5 },
  ])
})

test('work that catches what a query throws goes on, and both statements are told', async () => {
  assert.deepEqual(await told(() => reader.snapshot(mended)), [
    { levels: 2, lane: 'quick', statements: ['?', 'abcd'], rows: 4 },
  ])
})

test('work that an engine begins again is told of once, by its last run', async () => {
  const again = telling({
    ...plain,
    snapshot: begin => {
      run(begin)
      return run(begin)
    },
  })
  assert.deepEqual(await told(() => again.snapshot(twice)), [
    { levels: 2, lane: 'quick', statements: ['ab', 'abc'], rows: 5 },
  ])
})
