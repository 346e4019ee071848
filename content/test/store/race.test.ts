import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Store } from '#engines/shared/store.ts'
import type { SqlValue } from '#sql/sql.ts'
import { folderOf, type Service, serve } from '#test/duet.ts'
import { type Look, onPostgres, placed } from '#test/stores.ts'
import { isPlanned, rounds } from '#test/support/rounds.ts'
import type { Job, Step } from '#write/job.ts'
import { createWorld } from '../world.ts'
import { checkInvariants, doubles } from './invariants.ts'
import { assertOneEffect, paysOf, prepareOrders, raceAll } from './racer.ts'

const { freshStore } = folderOf('race')

/** A request that is refused for load has no effect, and here none may be: each of a race has a connection. */
const refusesNone = { DUET_QUEUE_WAIT: '60000', DUET_PG_POOL: '20' }
const atOnce = 1

let service: Service
let rows: Look
before(async () => {
  const { settings, ...store } = await freshStore()
  rows = store.rows
  service = await serve({ ...settings, ...refusesNone })
})
after(() => service?.end())

// A pay is a transaction of its own on PostgreSQL.
const paid = rounds(onPostgres ? 10 : 20, 200)
const ended = rounds(onPostgres ? 6 : 10, 2000)
const enders = isPlanned ? 50 : 20

test('of 20 pays of an order at the same moment exactly one takes effect, each time [C1]', async t => {
  const workload = await prepareOrders(service, 1000)
  const orders = await workload.placeMany(paid)
  let replays = 0
  const races = orders.map(order => paysOf(order, 20))
  await raceAll(
    service,
    workload.token,
    races,
    (contenders, answers) => {
      assertOneEffect(contenders, answers)
      replays += answers.filter(({ replayed }) => replayed).length
    },
    atOnce,
  )
  // Where all were in progress at once none could be replayed; now each that took effect under the shared key is. The
  // one more order is paid by nobody else, so its second pay is one.
  const [calm = 0] = await workload.placeMany(1)
  for (const order of [...orders, calm, calm]) {
    const headers = {
      Authorization: `Bearer ${workload.token}`,
      'Idempotency-Key': `pay-${order}-shared`,
    }
    const url = `${service.url}/api/orders/${order}/pay`
    const answer = await fetch(url, { method: 'POST', headers })
    const isReplay = answer.headers.get('idempotency-replayed') === 'true'
    const isOwn = order === calm
    assert.equal(answer.status, isReplay || isOwn ? 200 : 409, await answer.text())
    if (isReplay) replays++
  }
  const effects = await rows(
    "select order_id from order_events where from_status = 'pending' and to_status = 'paid' order by 1",
  )
  assert.deepEqual(
    effects.map(([id]) => id),
    [...orders, calm].toSorted((a, b) => a - b),
  )
  await checkInvariants(rows, workload.stock)
  assert.ok(replays > 0)
  t.diagnostic(`${paid} orders, ${replays} answers were replayed`)
})

test('of pays and cancels at the same moment one takes effect, and the stock is right after either [C2]', async t => {
  const workload = await prepareOrders(service, 3 * ended)
  const orders = await workload.placeMany(ended)
  const ends = new Map<string, number>()
  const races = orders.map(order =>
    Array.from({ length: enders }, (_, index) => ({
      // Whichever comes first in the list has the better chance.
      path: `/api/orders/${order}/${(index + order) % 2 === 0 ? 'pay' : 'cancel'}`,
    })),
  )
  await raceAll(
    service,
    workload.token,
    races,
    (contenders, answers) => {
      assertOneEffect(contenders, answers)
      const { body } = answers.find(({ status }) => status === 200) ?? { body: '{}' }
      const { status } = JSON.parse(body)
      ends.set(status, (ends.get(status) ?? 0) + 1)
    },
    atOnce,
  )
  await checkInvariants(rows, workload.stock)
  assert.equal((ends.get('paid') ?? 0) + (ends.get('cancelled') ?? 0), ended)
  t.diagnostic(`of ${enders} each: ${JSON.stringify(Object.fromEntries(ends))}`)
})

const step = (store: Store, text: string, values: readonly SqlValue[]): Step => ({
  statement: { text: placed(text, store), values },
  expect: 'row',
})

/** The pay of the service, but for what it is guarded by. */
const unguardedPay = (store: Store, order: number): Job => ({
  steps: [
    step(store, "update orders set status = 'paid', paid_at = 1 where id = ?1 returning id", [
      order,
    ]),
    step(
      store,
      "insert into order_events (order_id, at, from_status, to_status) values (?1, 1, 'pending', 'paid') returning id",
      [order],
    ),
  ],
  status: 200,
  answer: null,
})

test('without its guard the same transition happens more than once, and the invariants fail [C1, I1]', async () => {
  await using world = await createWorld()
  const made = await world.ask('POST /api/orders', {
    as: 2,
    body: { items: [{ productId: 3, quantity: 1 }] },
  })
  const order = made.json.id
  await Promise.all(
    Array.from({ length: 20 }, () => world.engine.write(unguardedPay(world.store, order))),
  )
  assert.deepEqual(await doubles(world.rows), [order])
  await assert.rejects(checkInvariants(world.rows), assert.AssertionError)
})
