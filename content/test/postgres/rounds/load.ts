/** Orders, pays, posts and reads of many callers at once, and whether all that was acknowledged is there. */
import assert from 'node:assert/strict'
import { pause } from '#test/support/wait.ts'
import { checkOrders } from '../../store/invariants.ts'
import type { Workload } from './workload.ts'

export type Load = {
  /** Lets each caller finish what it is at. */
  readonly end: () => Promise<void>
  readonly reads: { sent: number; good: number }
}

/** What was acknowledged. */
export const createLedger = () => ({
  /** Orders that were placed and paid, each with a key of its own. */
  paid: new Set<number>(),
  /** Posts, written without a key. */
  posts: new Set<number>(),
  doubtfulPosts: 0,
})

export type Ledger = ReturnType<typeof createLedger>

let loads = 0

/** After each turn a caller lets others have the processor: faults hit more with many callers than with busy ones. */
const rest = 40

/** Starts writers, who send a request again with its key until there is a definite answer, and readers. */
export const startLoad = (
  workload: Workload,
  ledger: Ledger,
  { writers = 6, readers = 2 } = {},
): Load => {
  const name = `load-${++loads}`
  let isOver = false
  const reads = { sent: 0, good: 0 }
  const items = [{ productId: workload.product, quantity: 1 }]
  const buy = async (key: string) => {
    const placed = await workload.insist('POST /api/orders', {
      body: { items },
      key: `place-${key}`,
    })
    assert.equal(placed.status, 201, placed.text)
    const { id } = placed.json
    const paid = await workload.insist(`POST /api/orders/${id}/pay`, { key: `pay-${key}` })
    assert.deepEqual([paid.status, paid.json.status], [200, 'paid'], paid.text)
    ledger.paid.add(id)
  }
  const post = async (title: string) => {
    const body = { title, content: 'x' }
    const { status, text, json } = await workload.send(`POST /api/users/${workload.user}/posts`, {
      body,
    })
    assert.ok(status === 201 || status === 503, text)
    if (status === 201) ledger.posts.add(json.id)
    else ledger.doubtfulPosts++
  }
  const write = async (index: number) => {
    for (let number = 0; !isOver; number++) {
      const key = `${name}-${index}-${number}`
      await buy(key)
      await post(key)
      await pause(rest)
    }
  }
  const paths = [
    `GET /api/products/${workload.product}`,
    'GET /api/orders?limit=5',
    `GET /api/users/${workload.user}/posts?limit=5&fields=id,title`,
  ]
  const read = async (index: number) => {
    for (let number = index; !isOver; number++) {
      const { status } = await workload.send(paths[number % paths.length] as string)
      reads.sent++
      if (status === 200) reads.good++
      await pause(rest)
    }
  }
  const all = [
    ...Array.from({ length: writers }, (_, index) => write(index)),
    ...Array.from({ length: readers }, (_, index) => read(index)),
  ]
  // Their errors are reported at the end; a test that fails earlier has reported its own.
  for (const each of all) each.catch(() => {})
  const end = async () => {
    isOver = true
    await Promise.all(all)
  }
  return { end, reads }
}

/** That nothing acknowledged is lost, and each key had one effect. */
export const checkLedger = async (workload: Workload, ledger: Ledger): Promise<void> => {
  const { rows } = workload.database
  const orders = await rows('select id from orders where status = ?1 order by id', 'paid')
  const known = new Set(orders.map(([id]) => Number(id)))
  assert.deepEqual(
    [...ledger.paid].filter(id => !known.has(id)),
    [],
  )
  const [counts] = await rows('select count(*), count(distinct customer_id) from orders')
  assert.deepEqual(counts?.map(Number), [ledger.paid.size, 1], 'each key placed one order')
  const posts = new Set((await rows('select id from posts')).map(([id]) => Number(id)))
  assert.deepEqual(
    [...ledger.posts].filter(id => !posts.has(id)),
    [],
  )
  assert.ok(posts.size <= ledger.posts.size + ledger.doubtfulPosts)
  const titles = await rows('select title from posts group by title having count(*) > 1')
  assert.deepEqual(titles, [], 'a post is there twice')
  await checkOrders(rows, workload.stock)
}
