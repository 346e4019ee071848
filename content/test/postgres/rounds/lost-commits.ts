/** Writes whose reply to COMMIT is lost: the answers to callers, and the results of their retries. */
import assert from 'node:assert/strict'
import { dialect } from '#engines/postgres/dialect.ts'
import type { Engine } from '#engines/shared/store.ts'
import type { SqlValue } from '#sql/sql.ts'
import type { Proxy as Wire } from '#test/postgres/tools/proxy.ts'
import { postgresOf } from '#test/stores.ts'
import { idempotencyOf } from '#write/idempotency.ts'
import type { Job, Step } from '#write/job.ts'
import { checkOrders, doubles } from '../../store/invariants.ts'
import { type Answer, assertWell, inLanes, type Workload } from './workload.ts'

const isUnknown = ({ status, headers, json }: Answer) => {
  assert.equal(status, 503)
  assert.equal(json.error.code, 'UNAVAILABLE')
  assert.match(json.error.message, /unknown.*Idempotency-Key/)
  assert.ok(Number(headers.get('retry-after')) >= 1)
}

/** Loses the reply to every commit of what is done meanwhile: one for each of so many writes, and those of the service's own counts, which it writes each minute. */
const losing = async ({ faults }: Wire, count: number, work: () => Promise<void>) => {
  const before = faults.lost()
  faults.loseCommitReplies()
  await work()
  await faults.heal()
  assert.ok(faults.lost() - before >= count)
}

/** Pays with a key each: unknown at first, then each has been paid once, and has its one answer. */
export const losePays = async (workload: Workload, proxy: Wire, count: number) => {
  const orders = await workload.placeMany(count)
  const pay = (order: number) =>
    workload.send(`POST /api/orders/${order}/pay`, { key: `pay-${order}` })
  await losing(proxy, count, () => inLanes(8, orders, async order => isUnknown(await pay(order))))
  await inLanes(8, orders, async order => {
    const first = await pay(order)
    assert.deepEqual([first.status, first.json.status], [200, 'paid'])
    assert.equal(first.headers.get('idempotency-replayed'), 'true')
    if (order % 10 === 0) assert.equal((await pay(order)).text, first.text)
  })
  const steps = await workload.database.rows(
    "select count(*), count(distinct order_id) from order_events where to_status = 'paid'",
  )
  assert.deepEqual(steps[0]?.map(Number), [count, count])
  await checkOrders(workload.database.rows, workload.stock)
  assertWell(workload)
}

/** Pays without a key: the state of the order keeps the second one from its effect. */
export const losePaysWithoutKey = async (workload: Workload, proxy: Wire, count: number) => {
  const orders = await workload.placeMany(count)
  const pay = (order: number) => workload.send(`POST /api/orders/${order}/pay`)
  await losing(proxy, count, () => inLanes(8, orders, async order => isUnknown(await pay(order))))
  await inLanes(8, orders, async order => {
    const { status, json } = await pay(order)
    assert.deepEqual([status, json.error.code], [409, 'INVALID_STATE'])
  })
  await checkOrders(workload.database.rows, workload.stock)
}

/** Mutations of GraphQL with a key. */
export const loseMutations = async (workload: Workload, proxy: Wire, count: number) => {
  const titles = Array.from({ length: count }, (_, index) => `lost-${index}`)
  const create = (title: string) => {
    const query = `mutation { createPost(input: {authorId: ${workload.user}, title: "${title}", content: "x"}) { title } }`
    return workload.send('POST /graphql', { body: { query }, key: title })
  }
  await losing(proxy, count, () =>
    inLanes(8, titles, async title => {
      const { json } = await create(title)
      assert.equal(json.errors[0].extensions.code, 'UNAVAILABLE')
      assert.match(json.errors[0].message, /unknown/)
    }),
  )
  await inLanes(8, titles, async title => {
    const { json, text } = await create(title)
    assert.equal(json.data?.createPost?.title, title, text)
  })
  const [row] = await workload.database.rows(
    "select count(*), count(distinct title) from posts where title like 'lost-%'",
  )
  assert.deepEqual(row?.map(Number), [count, count])
}

const step = (text: string, values: readonly SqlValue[]): Step => ({
  statement: { text, values },
  expect: 'row',
})

/** The pay of the service without its guard, and with a key or without. */
const unguardedPay = (order: number, key?: string): Job => ({
  steps: [
    step("update orders set status = 'paid', paid_at = 1 where id = $1 returning id", [order]),
    step(
      "insert into order_events (order_id, at, from_status, to_status) values ($1, 1, 'pending', 'paid') returning id",
      [order],
    ),
  ],
  status: 200,
  text: '{}',
  ...(key !== undefined && {
    idempotency: idempotencyOf(dialect, { key, scope: 'user 1', fingerprint: key }, Date.now()),
  }),
  answer: null,
})

const engineAt = (url: string): Engine =>
  postgresOf(url).open({
    digits: 2,
    limits: { objects: 100, bytes: 100_000 },
    readTimeout: 5000,
    queue: 100,
    onFatal: () => {},
  })

/** The same without what holds it: with a key there is one effect, without there are two, and the invariants fail. */
export const loseUnguarded = async (workload: Workload, proxy: Wire) => {
  const [kept = 0, doubled = 0] = await workload.placeMany(2)
  const engine = engineAt(proxy.through(workload.database.url))
  const { rows } = workload.database
  try {
    for (const job of [unguardedPay(kept, 'key'), unguardedPay(doubled)]) {
      proxy.faults.loseCommitReplies(1)
      await assert.rejects(engine.write(job), { code: 'UNAVAILABLE', message: /unknown/ })
      assert.equal((await engine.write(job)).kind, 'done')
    }
    assert.deepEqual(await doubles(rows), [doubled])
    await assert.rejects(checkOrders(rows, workload.stock))
  } finally {
    await engine.close()
  }
}
