import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LostError, translated, UnreachableError } from '#engines/postgres/errors.ts'
import { createReader } from '#engines/postgres/reader.ts'
import type { Server } from '#engines/postgres/server.ts'
import type { Query, QueryScript, Rows } from '#sql/engine.ts'

const one: Query = { text: 'select 1', values: [] }
const rows: Rows = [[1]]

const lost = () => new LostError('the connection was lost')
const away = () => new UnreachableError('nobody is there')
const cancelled = () =>
  Object.assign(new Error('canceling statement due to conflict with recovery'), { code: '40001' })
const locked = () =>
  Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' })

/** A server that fails so many times with an error before it answers; it counts the tries. */
const failing = (times: number, why: () => Error, isUp = false) => {
  let tries = 0
  const answer = async () => {
    if (++tries <= times) throw translated(why())
    return rows
  }
  const server = {
    query: answer,
    pipelined: { isUp: () => isUp },
    snapshot: async <Result>(begin: () => QueryScript<Result>): Promise<Result> => {
      const work = begin()
      work.next()
      return work.next(await answer()).value as Result
    },
  } as unknown as Server
  return { server, tries: () => tries }
}

const readerOf = (primary: Server, replica?: Server) =>
  createReader(primary, { choose: () => replica })

const work = function* (): QueryScript<Rows> {
  return yield one
}

const never = 1000

test('a read whose connection was lost is tried again on the primary', async () => {
  for (const ask of ['query', 'snapshot'] as const) {
    const primary = failing(1, lost)
    const reader = readerOf(primary.server)
    assert.deepEqual(await (ask === 'query' ? reader.query(one) : reader.snapshot(work)), rows)
    assert.equal(primary.tries(), 2)
  }
})

test('a read that is lost again and again is tried three times on the primary and no more', async () => {
  const primary = failing(never, lost)
  await assert.rejects(async () => readerOf(primary.server).query(one), LostError)
  assert.equal(primary.tries(), 3)
})

test('a server that was not there is not asked again', async () => {
  const primary = failing(never, away)
  await assert.rejects(async () => readerOf(primary.server).query(one), UnreachableError)
  assert.equal(primary.tries(), 1)
})

test('a connection that could not be made is tried again where the server has others', async () => {
  const primary = failing(1, away, true)
  assert.deepEqual(await readerOf(primary.server).query(one), rows)
  assert.equal(primary.tries(), 2)
})

test('an error of the statement itself is not tried again anywhere', async () => {
  const wrong = () => Object.assign(new Error('division by zero'), { code: '22012' })
  const primary = failing(never, wrong)
  const replica = failing(never, wrong)
  await assert.rejects(async () => readerOf(primary.server, replica.server).query(one), {
    code: '22012',
  })
  assert.deepEqual([replica.tries(), primary.tries()], [1, 0])
})

for (const [what, why] of [
  ['that its recovery cancelled', cancelled],
  ['that its recovery kept from a lock', locked],
  ['that was lost there', lost],
  ['that found it gone', away],
] as const)
  test(`a read of a replica ${what} goes to the primary, and not to the same replica again`, async () => {
    const primary = failing(0, lost)
    const replica = failing(never, why)
    const reader = readerOf(primary.server, replica.server)
    assert.deepEqual(await reader.query(one), rows)
    assert.deepEqual(await reader.snapshot(work), rows)
    assert.deepEqual([replica.tries(), primary.tries()], [2, 2])
  })

test('with a replica and the primary lost a read is tried four times in all', async () => {
  const primary = failing(never, lost)
  const replica = failing(never, lost)
  await assert.rejects(async () => readerOf(primary.server, replica.server).query(one), LostError)
  assert.deepEqual([replica.tries(), primary.tries()], [1, 3])
})
