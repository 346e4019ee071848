/** Writes that commit together: each fails by itself, and they share a wait for the disk. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { connect } from '#engines/sqlite/connection.ts'
import { drive } from '#sql/engine.ts'
import { pluck } from '#test/asking.ts'
import { rounds } from '#test/support/rounds.ts'
import type { Outcome } from '#write/job.ts'
import { perform } from '#write/perform.ts'
import { insertUser, job, keysIn, step, writerWorlds } from './writing.ts'

const { worldWithWriter } = writerWorlds()

/** What a job of the property does: with `key` put in first, and then something that fails, or nothing. */
const deeds = {
  put: (key: string) => job(insertUser(key)),
  'put two': (key: string) => job(insertUser(key), insertUser(`${key}${key}`)),
  'put twice': (key: string) => job(insertUser(key), insertUser(key)),
  'put, then expect what is not': (key: string) =>
    job(insertUser(key), step('select 1 where false', [], 'row')),
  'put, then refer to nobody': (key: string) =>
    job(
      insertUser(key),
      step(
        "insert into posts (title, content, author_id, created_at) values ('a', 'b', 999999, 1) returning id",
      ),
    ),
  'put, then say nonsense': (key: string) => job(insertUser(key), step('select * from nowhere')),
  'put out of range': (key: string) =>
    job(
      insertUser(key),
      step(
        "insert into users (id, name, email, created_at, email_key) values (0, 'A', 'a', 1, 'zero') returning id",
      ),
    ),
  take: (key: string) =>
    job(step('delete from users where email_key = ?1 returning id', [key], 'row')),
}
type Deed = readonly [keyof typeof deeds, string]

/** The same deeds on a set: what each comes to, one after another. */
const expected = (list: readonly Deed[]) => {
  const keys = new Set<string>()
  const put = (...added: readonly string[]): Outcome['kind'] => {
    if (added.some(key => keys.has(key))) return 'violation'
    for (const key of added) keys.add(key)
    return 'done'
  }
  const kinds = list.map(([deed, key]): Outcome['kind'] => {
    const isThere = keys.has(key)
    switch (deed) {
      case 'put':
        return put(key)
      case 'put two':
        return put(key, `${key}${key}`)
      case 'take':
        return keys.delete(key) ? 'done' : 'refused'
      case 'put, then expect what is not':
        return isThere ? 'violation' : 'refused'
      case 'put, then say nonsense':
        return isThere ? 'violation' : 'failed'
      case 'put twice':
      case 'put, then refer to nobody':
      case 'put out of range':
        return 'violation'
      default:
        return deed satisfies never
    }
  })
  return { kinds, keys: [...keys].sort() }
}

const someDeeds = fc.array(
  fc.tuple(
    fc.constantFrom(...(Object.keys(deeds) as Deed[0][])),
    fc.constantFrom('a', 'b', 'aa', 'c', 'd'),
  ),
  { minLength: 1, maxLength: 60 },
)

test('of jobs that commit together, just those fail that would fail alone, and leave nothing [A18]', async t => {
  const groups = rounds(34, 10_000)
  const { world } = await worldWithWriter({ rows: {} })
  await fc.assert(
    fc.asyncProperty(someDeeds, async list => {
      await world.engine.write(job(step('delete from users')))
      const outcomes = await Promise.all(
        list.map(([deed, key]) => world.engine.write(deeds[deed](key))),
      )
      const { kinds, keys } = expected(list)
      assert.deepEqual(pluck(outcomes, 'kind'), kinds)
      assert.deepEqual(keysIn(world.file), keys)
    }),
    { numRuns: groups },
  )
  t.diagnostic(`${groups} groups`)
})

test('without a savepoint for each job the same property does not hold [A18]', async () => {
  const { world } = await worldWithWriter({ rows: {} })
  const connection = connect(world.file)
  const { failed } = fc.check(
    fc.property(someDeeds, list => {
      connection.run('delete from users; begin immediate')
      const outcomes = list.map(([deed, key]) => {
        try {
          return drive(perform(deeds[deed](key), undefined), connection.query).kind
        } catch {
          return 'failed'
        }
      })
      connection.run('commit')
      const { kinds, keys } = expected(list)
      assert.deepEqual(outcomes, kinds)
      assert.deepEqual(keysIn(world.file), keys)
    }),
    { numRuns: 100 },
  )
  connection.close()
  assert.equal(failed, true)
})

/** How many transactions the write-ahead log holds: frames that end one, of the log's present turn. */
const commitsIn = (file: string): number => {
  const log = readFileSync(`${file}-wal`)
  if (log.length === 0) return 0
  const frame = 24 + log.readUInt32BE(8)
  const turn = log.subarray(16, 24)
  let commits = 0
  for (let at = 32; at + frame <= log.length; at += frame) {
    if (!log.subarray(at + 8, at + 16).equals(turn)) break
    if (log.readUInt32BE(at + 4) !== 0) commits++
  }
  return commits
}

test('writes of one moment share their commits, and so their waits for the disk [H6]', async () => {
  const { world } = await worldWithWriter({ rows: {} })
  const before = commitsIn(world.file)
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, (_, index) => world.engine.write(job(insertUser(`u${index}`)))),
  )
  assert.ok(outcomes.every(({ kind }) => kind === 'done'))
  const shared = commitsIn(world.file) - before
  // How many wait together depends on the machine: a commit each would be 200.
  assert.ok(shared >= 1 && shared <= 100, `${shared} commits`)
  for (let index = 0; index < 5; index++) await world.engine.write(job(insertUser(`v${index}`)))
  assert.equal(commitsIn(world.file) - before - shared, 5)
})

/** How many of 40 writes of one moment are answered in each turn of the event loop, where each commit is said to take so many milliseconds. */
const answeredInTurns = async (milliseconds: number) => {
  const { world, writer } = await worldWithWriter({ rows: {} })
  writer.prependListener('message', reply => {
    if (reply.kind === 'outcomes') reply.milliseconds = milliseconds
  })
  let turn = 0
  const inTurns: number[] = []
  const one = async (number: number) => {
    await world.engine.write(job(insertUser(`u${number}`)))
    inTurns[turn] = (inTurns[turn] ?? 0) + 1
  }
  const all = Array.from({ length: 40 }, (_, number) => one(number))
  let open = true
  const ended = Promise.all(all).finally(() => {
    open = false
  })
  for (; open; turn++) await new Promise(setImmediate)
  await ended
  return Object.values(inTurns)
}

test('callers whose writes commit together are answered a few in each turn of the event loop, unless commits take long', async () => {
  const quick = await answeredInTurns(1)
  assert.ok(Math.max(...quick) <= 10, `${quick}`)
  const slow = await answeredInTurns(10)
  assert.ok(Math.max(...slow) >= 20, `${slow}`)
})
