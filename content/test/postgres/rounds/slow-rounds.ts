/** A database that is there and slow: locked by others, or with nobody free to ask it. */
import assert from 'node:assert/strict'
import { mint } from '#auth/token.ts'
import { ask, connected } from '#test/postgres/tools/ask.ts'
import type { Postgres } from '#test/postgres/tools/server.ts'
import { pause, until } from '#test/support/wait.ts'
import { checkOrders } from '../../store/invariants.ts'
import { secret } from '../../world.ts'
import {
  type Answer,
  assertWell,
  callerOf,
  freshOn,
  inLanes,
  startWorkload,
  type Workload,
} from './workload.ts'

/** Holds what a statement locks while the work runs. */
const holding = async <Result>(
  { database }: Workload,
  statement: string,
  work: () => Promise<Result>,
): Promise<Result> => {
  const client = await connected(database.url)
  try {
    await client.query(`begin; ${statement}`)
    return await work()
  } finally {
    await client.query('rollback')
    await client.end()
  }
}

const refusedAs = (code: string | RegExp, { status, headers, json, text }: Answer) => {
  assert.equal(status, 503, text)
  assert.match(json.error.code, new RegExp(code))
  assert.ok(Number(headers.get('retry-after')) >= 1)
}

/** A read that takes longer than `DUET_READ_TIMEOUT`, here a second or less, ends then; the next one is read. */
export const slowReads = async (workload: Workload, code = /^TIMEOUT$/) => {
  const path = `GET /api/users/${workload.user}/posts`
  await holding(workload, 'lock table posts in access exclusive mode', async () => {
    refusedAs(code, await workload.send(path))
    const query = '{ posts(limit: 3) { title } }'
    const { json } = await workload.send('POST /graphql', { body: { query } })
    assert.match(json.errors[0].extensions.code, code)
  })
  assert.equal((await workload.insist(path)).status, 200)
}

type Pay = () => Promise<Answer>

/** All connections wait, here two: who comes then is refused, and what needs none is answered. */
export const fullPool = async (workload: Workload) => {
  const orders = await workload.placeMany(3)
  const [first, second, last] = orders.map(
    order => () => workload.send(`POST /api/orders/${order}/pay`),
  ) as [Pay, Pay, Pay]
  await holding(workload, `select from orders where id in (${orders}) for update`, async () => {
    const waiting = [first(), second()]
    await until('both wait for their rows', async () => (await lockedIn(workload)) === 2)
    const third = last()
    for (let number = 0; number < 10; number++) {
      const health = await workload.send('GET /healthz')
      const read = await workload.send(`GET /api/products/${workload.product}`)
      assert.deepEqual([health.status, read.status], [200, 200])
    }
    refusedAs('OVERLOADED', await third)
    for (const answer of await Promise.all(waiting)) refusedAs(/OVERLOADED|TIMEOUT/, answer)
  })
  for (const order of orders) await stillPending(workload, order)
}

/** How many sessions wait for what another has locked. */
const lockedIn = async ({ database }: Workload): Promise<number> => {
  const [row] = await database.rows(
    "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  )
  return Number(row?.[0])
}

const stillPending = async ({ send }: Workload, order: number) => {
  const { json } = await send(`GET /api/orders/${order}`)
  assert.deepEqual([json.status, json.paidAt], ['pending', null])
}

/** A row that another session holds for long: refused in time, nothing written, and the key is free. */
export const lockedRow = async (workload: Workload) => {
  const [order = 0] = await workload.placeMany(1)
  const pay = () => workload.send(`POST /api/orders/${order}/pay`, { key: `locked-${order}` })
  const held = `select from orders where id = ${order} for update`
  await holding(workload, held, async () => refusedAs('OVERLOADED', await pay()))
  await stillPending(workload, order)
  assert.equal((await pay()).status, 200)
  const steps = await workload.database.rows(
    `select to_status from order_events where order_id = ${order} order by id`,
  )
  assert.deepEqual(steps.flat(), ['pending', 'paid'])
}

const otherProduct = async ({ service, user }: Workload): Promise<number> => {
  const admin = callerOf(
    service,
    await mint({ sub: user, role: 'admin', ttl: 600 }, secret, Date.now()),
  )
  const body = { name: 'Vase', category: 'c', price: 5, stock: 100_000 }
  return (await admin.send('POST /api/products', { body })).json.id
}

/** Another program that changes the two products the other way round; gives how often it lost against the service. */
const crossWith = ({ database }: Workload, pair: readonly number[]) => {
  let isOver = false
  let lost = 0
  const [first, second] = pair.toReversed()
  const change = async () => {
    const client = await connected(database.url)
    const touch = (id: number | undefined) =>
      client.query(`update products set stock = stock where id = ${id}`)
    for (; !isOver; await pause(300)) {
      try {
        await client.query('begin')
        await touch(first)
        await pause(5)
        await touch(second)
        await client.query('commit')
      } catch (error) {
        assert.equal((error as { code?: string }).code, '40P01')
        lost++
        await client.query('rollback')
      }
    }
    await client.end()
  }
  const changing = change()
  changing.catch(() => {})
  const end = async () => {
    isOver = true
    await changing
  }
  return { lost: () => lost, end }
}

/** A workload on a database that finds deadlocks soon: usually each stands for a second. */
export const crossableWorkload = async (server: Postgres): Promise<Workload> => {
  const database = await freshOn(server)
  const name = new URL(database.url).pathname.slice(1)
  await ask(server.url, `alter database ${name} set deadlock_timeout = '50ms'`)
  return startWorkload(database)
}

/** Orders of two products that are placed and cancelled while another program crosses them, until the service lost so often and wrote so much. */
export const crossing = async (workload: Workload, losses: number, atLeast = 0) => {
  const pair = [workload.product, await otherProduct(workload)]
  const other = crossWith(workload, pair)
  const deadlocks = async () => {
    const [row] = await workload.database.rows(
      'select deadlocks from pg_stat_database where datname = current_database()',
    )
    return Number(row?.[0])
  }
  const placeAndCancel = async (number: number) => {
    const named = number % 2 === 0 ? pair : pair.toReversed()
    const items = named.map(productId => ({ productId, quantity: 1 }))
    const placed = await workload.send('POST /api/orders', { body: { items } })
    assert.equal(placed.status, 201, placed.text)
    const ended = await workload.send(`POST /api/orders/${placed.json.id}/cancel`)
    assert.equal(ended.status, 200, ended.text)
  }
  let writes = 0
  for (; writes < atLeast; writes += 80) await inLanes(4, Array(40).keys(), placeAndCancel)
  await until(`the service lost in ${losses} deadlocks`, async () => {
    await inLanes(4, Array(40).keys(), placeAndCancel)
    writes += 80
    return (await deadlocks()) - other.lost() >= losses
  })
  await other.end()
  await checkOrders(workload.database.rows, workload.stock)
  assertWell(workload)
  return { writes, deadlocks: await deadlocks(), lostByTheOther: other.lost() }
}
