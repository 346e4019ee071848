/** A service behind PgBouncer in transaction mode, where each transaction may get another session. */
import assert from 'node:assert/strict'
import { command } from '../../commands.ts'
import type { Settings } from '../../duet.ts'
import { assertOneEffect, paysOf, raceAll } from '../../store/racer.ts'
import { until } from '../../support/wait.ts'
import type { Postgres } from '../tools/server.ts'
import { assertWell, freshOn, openShop } from './shop.ts'
import { checkLedger, createLedger, startLoad } from './shop-load.ts'
import { slowReads } from './slow-rounds.ts'

/** Everything that a service does, by way of a PgBouncer. */
export const behindPgbouncer = async (
  server: Postgres,
  through: (url: string) => string,
  { pays, races }: { readonly pays: number; readonly races: number },
) => {
  const database = await freshOn(server, { bare: true })
  const settings: Settings = {
    ...database.settings,
    DUET_DATABASE_URL: through(database.url),
    DUET_PG_PREPARE: 'off',

    DUET_READ_TIMEOUT: '1000',
  }
  const migrated = await command(['migrate'], settings)
  assert.deepEqual([migrated.code, migrated.stderr], [0, ''])
  const shop = await openShop(database, settings)
  const ledger = createLedger()
  const load = startLoad(shop, ledger)
  await until(`${pays} orders are paid`, () => ledger.paid.size >= pays)
  await load.end()
  await checkLedger(shop, ledger)
  // A quick read is no transaction there, so only the silence of the server ends it.
  await slowReads(shop, /TIMEOUT|UNAVAILABLE/)
  const orders = await shop.placeMany(races)
  await raceAll(
    shop.service,
    shop.token,
    orders.map(order => paysOf(order, 20)),
    assertOneEffect,
    2,
  )
  const paths = [`/api/products/${shop.product}`, '/api/orders?limit=3', `/api/orders/${orders[0]}`]
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, number) => shop.insist(`GET ${paths[number % paths.length]}`)),
  )
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  assertWell(shop)
  await shop.service.end()
  return { pays: ledger.paid.size, reads: load.reads.good }
}
