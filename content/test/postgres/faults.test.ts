/** A service survives faults of its PostgreSQL, loses nothing acknowledged, and does nothing twice. */
import { describe, test } from 'node:test'
import { noPgbouncer, startPgbouncer } from '#test/postgres/tools/pgbouncer.ts'
import { noPostgres, startPostgres } from '#test/postgres/tools/server.ts'
import { forAllTests } from '#test/support/fixture.ts'
import { away, refused } from './rounds/away-rounds.ts'
import { crashRounds, cutRounds, silentWire } from './rounds/fault-rounds.ts'
import {
  loseMutations,
  losePays,
  losePaysWithoutKey,
  loseUnguarded,
} from './rounds/lost-commits.ts'
import { behindPgbouncer } from './rounds/pooled-rounds.ts'
import {
  crossableWorkload,
  crossing,
  fullPool,
  lockedRow,
  slowReads,
} from './rounds/slow-rounds.ts'
import { workloadsOn } from './rounds/workload.ts'

describe('a service on PostgreSQL', { skip: noPostgres }, () => {
  const server = forAllTests(() => startPostgres({ durable: true }))

  const { workloadWith, wiredWorkload } = workloadsOn(() => server)

  test('a service outlives a crash of the server, and loses nothing that was acknowledged [B1]', async t => {
    const workload = await workloadWith()
    const told = await crashRounds(workload, server, ['kill'])
    t.diagnostic(JSON.stringify(told))
    await workload.service.end()
  })

  describe('that has', { concurrency: true }, () => {
    test('a service that lost the reply to a commit says so, and does nothing twice [B3, C12]', async () => {
      const { workload, proxy } = await wiredWorkload()
      await losePays(workload, proxy, 4)
      await losePaysWithoutKey(workload, proxy, 2)
      await loseMutations(workload, proxy, 2)
      await loseUnguarded(workload, proxy)
      await workload.service.end()
    })

    test('a service with a silent wire answers while it is silent [B4]', async () => {
      const { workload, proxy } = await wiredWorkload()
      await silentWire(workload, proxy.faults, 2)
    })

    test('a service without its database says so until it is back [B5, H11]', async () => {
      const { workload, proxy } = await wiredWorkload()
      await away(workload, proxy.faults, 5)
      await workload.service.end()
    })

    test('a service with a locked database answers while it is locked, and writes nothing late [B6, D6]', async () => {
      const workload = await workloadWith({ DUET_READ_TIMEOUT: '500', DUET_PG_POOL: '2' })
      await slowReads(workload)
      await fullPool(workload)
      await lockedRow(workload)
      await workload.service.end()
    })

    test('a service without the right to its database does not start, and says why [B5]', () =>
      refused(server))
  })

  describe('under load', { concurrency: true }, () => {
    test('a service hardly notices sessions that are ended [B2]', async t => {
      const workload = await workloadWith()
      t.diagnostic(JSON.stringify(await cutRounds(workload, server, 3)))
      await workload.service.end()
    })

    test('a service tries again what was locked crosswise [B8]', async t => {
      const workload = await crossableWorkload(server)
      t.diagnostic(JSON.stringify(await crossing(workload, 2)))
      await workload.service.end()
    })

    test('a service runs behind PgBouncer in transaction mode', { skip: noPgbouncer }, async t => {
      const { through, end } = await startPgbouncer(server.port)
      const told = await behindPgbouncer(server, through, { pays: 4, races: 2 })
      t.diagnostic(JSON.stringify(told))
      await end()
    })
  })
})
