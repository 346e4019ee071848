import assert from 'node:assert/strict'
import { test } from 'node:test'
import { folderOf, serve } from '../duet.ts'
import { checkInvariants } from '../store/invariants.ts'
import { assertOneEffect, paysOf, prepareOrders, raceAll } from '../store/racer.ts'

const orders = Number(process.env.DUET_TEST_ROUNDS ?? 2000)

test(`of 50 pays of an order at the same moment exactly one takes effect, ${orders} times`, async t => {
  const { rows, settings } = folderOf('race').fresh()
  // A request refused for load has no effect; here none may be refused.
  const service = await serve({ ...settings, DUET_QUEUE_WAIT: '10000' })
  const workload = await prepareOrders(service, orders * 3)
  const ids = await workload.placeMany(orders)
  let replays = 0
  const races = ids.map(id => paysOf(id, 50))
  await raceAll(service, workload.token, races, (contenders, answers) => {
    assertOneEffect(contenders, answers)
    replays += answers.filter(({ replayed }) => replayed).length
  })
  await service.end()
  const [row] = await rows(
    "select count(*), count(distinct order_id) from order_events where to_status = 'paid'",
  )
  assert.deepEqual(row, [orders, orders])
  await checkInvariants(rows, workload.stock)
  t.diagnostic(`${orders * 50} pays, ${orders} effects, ${replays} replays`)
})
