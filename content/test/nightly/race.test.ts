import assert from 'node:assert/strict'
import { test } from 'node:test'
import { folderOf, type Settings, serve } from '#test/duet.ts'
import { freshDatabase, noDatabase } from '#test/postgres/tools/database.ts'
import { type Look, lookInto, postgresOf } from '#test/stores.ts'
import { checkInvariants, checkOrders } from '../store/invariants.ts'
import { assertOneEffect, paysOf, prepareOrders, raceAll } from '../store/racer.ts'
import { secret } from '../world.ts'

const orders = Number(process.env.DUET_TEST_ROUNDS ?? 2000)

/** Pays each of so many orders so often at the same moment; gives what came of it. */
const raced = async (count: number, pays: number, rows: Look, settings: Settings) => {
  // A request refused for load has no effect; here none may be refused.
  const service = await serve({ ...settings, DUET_QUEUE_WAIT: '10000' }, '--migrate')
  const workload = await prepareOrders(service, count * 3)
  const ids = await workload.placeMany(count)
  let replays = 0
  const races = ids.map(id => paysOf(id, pays))
  await raceAll(service, workload.token, races, (contenders, answers) => {
    assertOneEffect(contenders, answers)
    replays += answers.filter(({ replayed }) => replayed).length
  })
  await service.end()
  const [row] = await rows(
    "select count(*), count(distinct order_id) from order_events where to_status = 'paid'",
  )
  assert.deepEqual(row?.map(Number), [count, count])
  await checkOrders(rows, workload.stock)
  return `${count * pays} pays, ${count} effects, ${replays} replays`
}

test(`of 50 pays of an order at the same moment exactly one takes effect, ${orders} times [C1]`, async t => {
  const { rows, settings } = folderOf('race').fresh()
  t.diagnostic(await raced(orders, 50, rows, settings))
  await checkInvariants(rows)
})

const fewer = Math.ceil(orders / 10)
test(`of 20 pays of an order at the same moment exactly one takes effect, ${fewer} times on PostgreSQL`, {
  skip: noDatabase,
}, async t => {
  const { url } = await freshDatabase()
  const { rows, close } = lookInto(postgresOf(url))
  // So many connections that none of the racers waits for one.
  const settings = { DUET_DATABASE_URL: url, DUET_AUTH_SECRET: secret, DUET_PG_POOL: '80' }
  t.diagnostic(await raced(fewer, 20, rows, settings))
  await close()
})
