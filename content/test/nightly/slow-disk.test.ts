/** A disk that takes 200 ms for each sync: writes wait for it, and reads do not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mint } from '#auth/token.ts'
import { migrateSqlite } from '#engines/sqlite/migrate.ts'
import { folderOf, type Service, type Settings } from '#test/duet.ts'
import { historyFor } from '#test/history.ts'
import { startLoad } from '../support/steady-load.ts'
import { secret } from '../world.ts'
import { serveTraced, without } from './trace.ts'

const rounds = Number(process.env.DUET_TEST_ROUNDS ?? 5)
const skip = without('strace')
const { fresh } = folderOf('slow-disk')

const slow = 200
/** A third of them read. */
const perSecond = 450
/** Those of about twelve seconds. */
const perRound = 5400

/** A service on a new store, whose syncs take so many milliseconds more; traced all the same where they take none. */
const serveWith = async (milliseconds: number, more: Settings = {}): Promise<Service> => {
  const { file, settings } = fresh()
  migrateSqlite(file, historyFor('sqlite'))
  const usual = {
    DUET_ENV: 'production',
    DUET_HOST: '127.0.0.1',
    DUET_SIGNUP_RATE: '1000000',
    DUET_RATE_LIMIT: '10000000',
    DUET_WRITE_WAIT: '5s',
  }
  const delay = `inject=fsync,fdatasync:delay_exit=${milliseconds * 1000}`
  return serveTraced({ ...settings, ...usual, ...more }, [
    ...['-o', '/dev/null', '-e', 'trace=fsync,fdatasync'],
    ...(milliseconds > 0 ? ['-e', delay] : []),
  ])
}

let users = 0

/** Reads and writes for a while; gives the times of the reads, how many writes were done, and what else was answered. */
const loaded = async ({ port }: Service) => {
  const times: number[] = []
  let written = 0
  const authorization = `Bearer ${await mint({ sub: 1, role: 'admin', ttl: 7200 }, secret, Date.now())}`
  const load = startLoad({
    port,
    authorization,
    perSecond,
    mostOpen: 1000,
    mostFree: 1000,
    next: number => {
      if (number % 3 > 0) {
        const body = { name: 'A', email: `a${++users}@example.org` }
        return { line: 'POST /api/users', body, expect: 201, onAnswer: () => void written++ }
      }
      const begun = performance.now()
      const onAnswer = () => void times.push(performance.now() - begun)
      return { line: 'GET /api/products?limit=5', expect: 200, onAnswer }
    },
  })
  await load.more(perRound)
  const { errors } = await load.end()
  const others = errors.filter(text => !/^POST .*status 503 .*"OVERLOADED"/.test(text))
  return { times, written, refused: errors.length - others.length, others }
}

/** What 99 of a hundred take at the most. */
const mostOf = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0

test(`with ${slow} ms more for each sync reads take no more than twice their time beside the same writes [A8]`, {
  skip,
}, async t => {
  const found = []
  for (let round = 0; round < rounds; round++) {
    const [usual, delayed] = [await serveWith(0), await serveWith(slow)]
    const quick = await loaded(usual)
    await usual.end()
    const { times, refused, others } = await loaded(delayed)
    await delayed.end()
    assert.deepEqual({ refused, others: others.slice(0, 3) }, { refused: 0, others: [] })
    found.push({ usual: mostOf(quick.times), delayed: mostOf(times) })
  }
  const told = found.map(
    ({ usual, delayed }) => `${delayed.toFixed(1)} against ${usual.toFixed(1)}`,
  )
  t.diagnostic(`p99 of reads in each round: ${told.join(', ')} ms`)
  // Whatever else the machine does makes a round worse, and none better.
  assert.ok(Math.min(...found.map(({ usual, delayed }) => delayed / usual)) <= 2)
})

test(`with ${slow} ms more for each sync no turn of the event loop takes more than 20 ms, and writes that find too many waiting are 503 [A8]`, {
  skip,
}, async t => {
  const held = `--import=${new URL('../../../test/support/held.mjs', import.meta.url)}`
  const queue = 40
  for (const [settings, isRefused] of [
    [{}, false],
    [{ DUET_WRITE_QUEUE: String(queue) }, true],
  ] as const) {
    const service = await serveWith(slow, { ...settings, NODE_OPTIONS: held })
    const turns = /turns on (\S+)/.exec(service.stderr())?.[1] ?? ''
    const longest = async () => Number(await (await fetch(turns)).text())
    await loaded(service)
    await longest()
    const { times, written, refused, others } = await loaded(service)
    const turn = await longest()
    t.diagnostic(
      `${written} writes, ${refused} refused, ${times.length} reads; the longest turn took ${turn.toFixed(1)} ms of the processor`,
    )
    assert.deepEqual(others.slice(0, 3), [])
    assert.equal(refused > 0, isRefused)
    assert.ok(turn <= 20, `${turn} ms`)
    await service.end()
  }
})
