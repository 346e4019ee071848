/** What befalls a database under load, again and again, with what the service must have made of it. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { connected } from '../tools/ask.ts'
import type { Faults } from '../tools/proxy.ts'
import type { Postgres } from '../tools/server.ts'
import { assertWell, type Shop } from './shop.ts'
import { checkLedger, createLedger, startLoad } from './shop-load.ts'

/** How long the service may need to be itself again, in milliseconds. */
const recovery = 5000

/** Waits for the first good answer to a read and to a write; gives how long that took. */
const recovered = async ({ insist, product, user }: Shop, name: string): Promise<number> => {
  const begun = performance.now()
  const [read, write] = await Promise.all([
    insist(`GET /api/products/${product}`),
    insist(`POST /api/users/${user}/posts`, { body: { title: name, content: 'x' }, key: name }),
  ])
  assert.deepEqual([read.status, write.status], [200, 201])
  const took = performance.now() - begun
  assert.ok(took <= recovery, `${name}: good again only after ${Math.round(took)} ms`)
  return took
}

/** Takes the server from under the load, so often; gives what there was and the longest recovery. */
export const crashRounds = async (
  shop: Shop,
  server: Postgres,
  crashes: readonly ('immediate' | 'kill')[],
) => {
  const ledger = createLedger()
  let longest = 0
  for (const [round, how] of crashes.entries()) {
    const load = startLoad(shop, ledger)
    await sleep(200 + Math.random() * 400)
    await (how === 'kill' ? server.kill() : server.stop('immediate'))
    await sleep(Math.random() * 800)
    await server.start()
    longest = Math.max(longest, await recovered(shop, `crash-${round}`))
    await load.end()
    assert.ok(ledger.paid.size > 0)
  }
  // Those that `recovered` wrote.
  ledger.doubtfulPosts += crashes.length
  await checkLedger(shop, ledger)
  assertWell(shop)
  const refused = shop.met.statuses.get(503) ?? 0
  assert.ok(refused > 0, 'the crashes were noticed by nobody')
  return { pays: ledger.paid.size, posts: ledger.posts.size, refused, longest: Math.round(longest) }
}

/** Ends a session of the service, whichever, each 100 ms for so long; gives how many. */
const endSessions = async (server: Postgres, database: string, ms: number): Promise<number> => {
  const client = await connected(server.url)
  let ended = 0
  for (const last = performance.now() + ms; performance.now() < last; await sleep(100)) {
    const { rowCount } = await client.query(
      `select pg_terminate_backend(pid) from (select pid from pg_stat_activity
        where application_name = 'duet' and datname = $1 order by random() limit 1) as s`,
      [database],
    )
    ended += rowCount ?? 0
  }
  await client.end()
  return ended
}

/** Sessions ended under load: hardly anyone notices, and nothing is done twice. */
export const cutRounds = async (shop: Shop, server: Postgres, ms: number) => {
  const ledger = createLedger()
  const load = startLoad(shop, ledger)
  const name = new URL(shop.database.url).pathname.slice(1)
  const ended = await endSessions(server, name, ms)
  assertWell(shop)
  await load.end()
  await checkLedger(shop, ledger)
  assertWell(shop)
  const { sent, good } = load.reads
  const refused = shop.met.statuses.get(503) ?? 0
  assert.ok(ended > ms / 200, `only ${ended} sessions were ended`)
  assert.ok(refused <= ended, `${refused} answers of 503 for ${ended} sessions`)
  assert.ok(good >= sent * 0.995, `of ${sent} reads ${sent - good} failed`)
  return { ended, refused, pays: ledger.paid.size, reads: sent, failedReads: sent - good }
}

/** Asks again and again until told to stop; each answer must be this status, within so many milliseconds. */
const watching = (shop: Shop, path: string, status: number, most: number) => {
  let isOver = false
  let slowest = 0
  const watch = async () => {
    for (; !isOver; await sleep(50)) {
      const answer = await shop.send(`GET ${path}`)
      if (isOver) return
      assert.equal(answer.status, status, `${path}: ${answer.text}`)
      slowest = Math.max(slowest, answer.ms)
      assert.ok(answer.ms <= most, `${path} took ${Math.round(answer.ms)} ms`)
    }
  }
  const watched = watch()
  watched.catch(() => {})
  return async () => {
    isOver = true
    await watched
    return Math.round(slowest)
  }
}

/** A wire that is silent for so long: all are told so in time, all is well when it speaks again, and it ends amid silence. */
export const silentWire = async (shop: Shop, faults: Faults, ms: number) => {
  const ledger = createLedger()
  const warm = startLoad(shop, ledger)
  await sleep(300)
  faults.blackHole()
  const over = performance.now() + ms
  const endHealth = watching(shop, '/healthz', 200, 1000)
  const endReady = watching(shop, '/readyz', 503, 3000)
  const lane = async (path: string) => {
    for (; performance.now() < over; await sleep(100)) {
      const answer = await shop.send(`GET ${path}`)
      if (performance.now() < over) assert.equal(answer.status, 503, answer.text)
    }
  }
  const lanes = ['/api/orders?limit=5', `/api/products/${shop.product}`].map(lane)
  await sleep(over - performance.now())
  const [health, ready] = await Promise.all([endHealth(), endReady()])
  const answered = Promise.all(lanes)
  await faults.heal()
  const longest = await recovered(shop, 'silence')
  await answered
  await warm.end()
  ledger.doubtfulPosts++
  await checkLedger(shop, ledger)
  assertWell(shop, 8000)
  const slowest = Math.round(shop.met.slowest)
  faults.blackHole()
  const { code, ms: end } = await shop.service.end()
  assert.ok(code === 0 && end < 5000, `ended with ${code} after ${Math.round(end)} ms`)
  return { health, ready, slowest, recovery: Math.round(longest), end: Math.round(end) }
}
