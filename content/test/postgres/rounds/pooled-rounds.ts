/** A service behind PgBouncer in transaction mode, where each transaction may get another session. */
import assert from 'node:assert/strict'
import { command } from '#test/commands.ts'
import type { Settings } from '#test/duet.ts'
import { ask } from '#test/postgres/tools/ask.ts'
import type { Postgres } from '#test/postgres/tools/server.ts'
import { until } from '#test/support/wait.ts'
import { assertOneEffect, paysOf, raceAll } from '../../store/racer.ts'
import { checkLedger, createLedger, startLoad } from './load.ts'
import { slowReads } from './slow-rounds.ts'
import { assertWell, freshOn, startWorkload } from './workload.ts'

/** Everything that a service does, by way of a PgBouncer, in a database that takes a backslash in a text for an escape. */
export const behindPgbouncer = async (
  server: Postgres,
  through: (url: string) => string,
  { pays, races }: { readonly pays: number; readonly races: number },
) => {
  const database = await freshOn(server, { bare: true })
  const { pathname } = new URL(database.url)
  await ask(
    database.url,
    `alter database "${pathname.slice(1)}" set standard_conforming_strings = off`,
  )
  const settings: Settings = {
    ...database.settings,
    DUET_DATABASE_URL: through(database.url),
    DUET_PG_PREPARE: 'off',
    DUET_READ_TIMEOUT: '1000',
  }
  const prepared = await command(['migrate'], { ...settings, DUET_PG_PREPARE: 'on' })
  assert.equal(prepared.code, 1)
  assert.match(prepared.stderr, /is a pooler, such as PgBouncer.*set DUET_PG_PREPARE=off/)
  const migrated = await command(['migrate'], settings)
  assert.deepEqual([migrated.code, migrated.stderr], [0, ''])
  const workload = await startWorkload(database, settings)
  const ledger = createLedger()
  const load = startLoad(workload, ledger)
  await until(`${pays} orders are paid`, () => ledger.paid.size >= pays)
  await load.end()
  await checkLedger(workload, ledger)
  // A quick read is no transaction there, so only the silence of the server ends it.
  await slowReads(workload, /TIMEOUT|UNAVAILABLE/)
  const orders = await workload.placeMany(races)
  await raceAll(
    workload.service,
    workload.token,
    orders.map(order => paysOf(order, 20)),
    assertOneEffect,
    2,
  )
  const paths = [
    `/api/products/${workload.product}`,
    '/api/orders?limit=3',
    `/api/orders/${orders[0]}`,
  ]
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, number) =>
      workload.insist(`GET ${paths[number % paths.length]}`),
    ),
  )
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  for (const sign of ['\\', '%', "'"]) {
    const search = `search=${encodeURIComponent(`no${sign}product`)}`
    const { status, json } = await workload.insist(`GET /api/products?${search}`)
    assert.deepEqual([status, json.data], [200, []], search)
  }
  assertWell(workload)
  await workload.service.end()
  return { pays: ledger.paid.size, reads: load.reads.good }
}
