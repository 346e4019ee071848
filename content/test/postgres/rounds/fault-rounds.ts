/** Repeated faults of a database under load, with the expected behaviour of the service. */
import assert from 'node:assert/strict'
import { connected } from '#test/postgres/tools/ask.ts'
import type { Faults } from '#test/postgres/tools/proxy.ts'
import type { Postgres } from '#test/postgres/tools/server.ts'
import { pause, until } from '#test/support/wait.ts'
import { checkLedger, createLedger, startLoad } from './load.ts'
import { assertWell, type Workload } from './workload.ts'

/** Waits for the first good answer to a read and to a write. */
const recovered = async ({ insist, product, user }: Workload, name: string): Promise<void> => {
  const [read, write] = await Promise.all([
    insist(`GET /api/products/${product}`),
    insist(`POST /api/users/${user}/posts`, { body: { title: name, content: 'x' }, key: name }),
  ])
  assert.deepEqual([read.status, write.status], [200, 201])
}

/** Takes the server from under the load, so often; gives what there was. */
export const crashRounds = async (
  workload: Workload,
  server: Postgres,
  crashes: readonly ('immediate' | 'kill')[],
) => {
  const ledger = createLedger()
  const refusals = () => workload.met.statuses.get(503) ?? 0
  for (const [round, how] of crashes.entries()) {
    const load = startLoad(workload, ledger)
    const enough = ledger.paid.size + 1 + Math.floor(Math.random() * 30)
    await until('orders are paid', () => ledger.paid.size >= enough)
    const before = refusals()
    await (how === 'kill' ? server.kill() : server.stop('immediate'))
    await until('the crash is noticed', () => refusals() > before)
    await pause(Math.random() * 500)
    await server.start()
    await recovered(workload, `crash-${round}`)
    await load.end()
  }
  // Those that `recovered` wrote.
  ledger.doubtfulPosts += crashes.length
  await checkLedger(workload, ledger)
  assertWell(workload)
  return { pays: ledger.paid.size, posts: ledger.posts.size, refused: refusals() }
}

/** Ends so many sessions of the service, whichever, now one and then one. */
const endSessions = async (server: Postgres, database: string, count: number) => {
  const client = await connected(server.url)
  for (let ended = 0; ended < count; ended++) {
    await pause(90)
    await until('there is a session to end', async () => {
      const { rowCount } = await client.query(
        `select pg_terminate_backend(pid) from (select pid from pg_stat_activity
          where application_name = 'duet' and datname = $1 order by random() limit 1) as s`,
        [database],
      )
      return rowCount === 1
    })
  }
  await client.end()
}

/** So many sessions ended under load: each costs one request at the most, and nothing is done twice. */
export const cutRounds = async (workload: Workload, server: Postgres, ended: number) => {
  const ledger = createLedger()
  const load = startLoad(workload, ledger)
  const name = new URL(workload.database.url).pathname.slice(1)
  await endSessions(server, name, ended)
  assertWell(workload)
  await load.end()
  await checkLedger(workload, ledger)
  assertWell(workload)
  const { sent, good } = load.reads
  const refused = workload.met.statuses.get(503) ?? 0
  assert.ok(refused <= ended, `${refused} answers of 503 for ${ended} sessions`)
  return { ended, refused, pays: ledger.paid.size, reads: sent, failedReads: sent - good }
}

/** Asks so many times, one after another; each answer must be this status. */
const answers = async (workload: Workload, path: string, status: number, times: number) => {
  for (let asked = 0; asked < times; asked++) {
    const { status: given, text } = await workload.send(`GET ${path}`)
    assert.equal(given, status, `${path}: ${text}`)
  }
}

/** A wire that is silent until all callers got 503, so many times; then all works, and the service ends during silence. */
export const silentWire = async (workload: Workload, faults: Faults, times: number) => {
  const ledger = createLedger()
  const warm = startLoad(workload, ledger)
  await until('an order is paid', () => ledger.paid.size > 0)
  faults.blackHole()
  await Promise.all([
    answers(workload, '/healthz', 200, 10 * times),
    answers(workload, '/readyz', 503, times),
    answers(workload, '/api/orders?limit=5', 503, times),
    answers(workload, `/api/products/${workload.product}`, 503, times),
  ])
  await faults.heal()
  await recovered(workload, 'silence')
  await warm.end()
  ledger.doubtfulPosts++
  await checkLedger(workload, ledger)
  assertWell(workload)
  faults.blackHole()
  assert.equal((await workload.service.end()).code, 0)
}
