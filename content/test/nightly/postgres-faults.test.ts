/** What content/test/postgres/faults.test.ts does, for longer. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noPgbouncer, startPgbouncer } from '#test/postgres/tools/pgbouncer.ts'
import { noPostgres, startPostgres } from '#test/postgres/tools/server.ts'
import { forAllTests } from '#test/support/fixture.ts'
import { away } from '../postgres/rounds/away-rounds.ts'
import { crashRounds, cutRounds, silentWire } from '../postgres/rounds/fault-rounds.ts'
import { loseMutations, losePays, losePaysWithoutKey } from '../postgres/rounds/lost-commits.ts'
import { behindPgbouncer } from '../postgres/rounds/pooled-rounds.ts'
import { crossableWorkload, crossing } from '../postgres/rounds/slow-rounds.ts'
import { freshOn, startWorkload, workloadsOn } from '../postgres/rounds/workload.ts'

const rounds = Number(process.env.DUET_TEST_ROUNDS ?? 20)

describe('a service on PostgreSQL, for long', { skip: noPostgres }, () => {
  const server = forAllTests(() => startPostgres({ durable: true }))

  const { workloadWith, wiredWorkload } = workloadsOn(() => server)

  for (const [how, planned] of [
    ['immediate', 5],
    ['kill', 2.5],
  ] as const) {
    const crashes = Math.ceil(rounds * planned)
    test(`outlives ${crashes} crashes of the server (${how}) [B1]`, async t => {
      const workload = await workloadWith()
      t.diagnostic(JSON.stringify(await crashRounds(workload, server, Array(crashes).fill(how))))
      await workload.service.end()
    })
  }

  // The control: what the rounds look for is there where nobody waits for the disk.
  test('loses what was acknowledged where commits do not wait, and the rounds show it [B1]', async () => {
    const careless = await startPostgres()
    const workload = await startWorkload(await freshOn(careless))
    await assert.rejects(crashRounds(workload, careless, Array(5).fill('immediate')))
    await workload.service.end('SIGKILL')
    await careless.end()
  })

  test(`does nothing twice where the replies to ${rounds * 60} commits are lost [B3]`, async () => {
    const { workload, proxy } = await wiredWorkload()
    await losePays(workload, proxy, rounds * 50)
    await losePaysWithoutKey(workload, proxy, rounds * 5)
    await loseMutations(workload, proxy, rounds * 5)
    await workload.service.end()
  })

  test(`hardly notices that ${rounds * 30} sessions are ended [B2]`, async t => {
    const workload = await workloadWith()
    t.diagnostic(JSON.stringify(await cutRounds(workload, server, rounds * 30)))
    await workload.service.end()
  })

  test('answers while its wire is silent, however long [B4]', async () => {
    const { workload, proxy } = await wiredWorkload()
    await silentWire(workload, proxy.faults, 20)
  })

  test('reports the database as unavailable until it is back, after five minutes [B5, H11]', async () => {
    const { workload, proxy } = await wiredWorkload()
    await away(workload, proxy.faults, 5, 300)
    await workload.service.end()
  })

  test(`tries again what was locked crosswise ${rounds * 5} times, in ${rounds * 500} writes [B8]`, async t => {
    const workload = await crossableWorkload(server)
    t.diagnostic(JSON.stringify(await crossing(workload, rounds * 5, rounds * 500)))
    await workload.service.end()
  })

  test('runs behind PgBouncer in transaction mode, for long', { skip: noPgbouncer }, async t => {
    const { through, end } = await startPgbouncer(server.port)
    const told = await behindPgbouncer(server, through, { pays: rounds * 100, races: rounds * 10 })
    t.diagnostic(JSON.stringify(told))
    await end()
  })
})
