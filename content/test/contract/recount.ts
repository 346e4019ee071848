/** Random rows, and the reports that they should make by the simplest code. */
import type { entities } from '#content/duet.config.ts'
import type { SqlValue } from '#sql/sql.ts'

type Row = Readonly<Record<string, SqlValue>>
export type Rows = Readonly<Partial<Record<keyof typeof entities, readonly Row[]>>>

/** Numbers that are the same at each run. */
const random = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

export const day = 86_400_000
const begin = Date.UTC(1969, 10, 3)
const days = 430

/** Some thousands of rows of every kind, on either side of 1970, many at the first and last millisecond of a day. */
export const sample = (seed: number) => {
  const next = random(seed)
  const moment = () =>
    begin + next(days) * day + ([0, day - 1, day / 2, next(day)][next(4)] as number)
  const orders = Array.from({ length: 900 }, (_, n) => ({
    id: n + 1,
    status: ['pending', 'paid', 'paid', 'paid', 'cancelled', 'refunded'][next(6)] as string,
    amount: next(4) === 0 ? 9_007_199_254_740_991 - next(1000) : next(10_000_000),
    currency: next(20) === 0 ? 'EUR' : 'USD',
    customerId: 1,
    createdAt: moment(),
  }))
  const orderItem = orders.flatMap(({ id }) =>
    Array.from({ length: 1 + next(3) }, (_, n) => ({
      orderId: id,
      productId: n + 1,
      name: 'p',
      quantity: 1 + next(1000),
      price: next(1000),
    })),
  )
  const times = (length: number) => Array.from({ length }, moment)
  const user = times(300).map((createdAt, n) => ({
    name: 'n',
    email: `r${n}@example.org`,
    emailKey: `r${n}@example.org`,
    createdAt,
  }))
  const post = times(700).map(createdAt => ({ title: 't', content: 'c', authorId: 1, createdAt }))
  const comment = times(900).map(createdAt => ({ text: 't', postId: 1, authorId: 1, createdAt }))
  const like = times(200).map((createdAt, n) => ({ userId: n + 1, commentId: 1, createdAt }))
  const customer = [{ id: 1, name: 'n', createdAt: 0 }]
  return { customer, order: orders, orderItem, user, post, comment, like }
}

type Sample = ReturnType<typeof sample>
type By = 'day' | 'month'

const labelOf = (moment: number, by: By) =>
  new Date(moment).toISOString().slice(0, by === 'day' ? 10 : 7)

type Addition = readonly [number, Readonly<Record<string, bigint>>]

/** The contribution of each row of the store to its period, by the simplest code. */
export const additions: Readonly<
  Record<'users' | 'content' | 'sales', (data: Sample) => Addition[]>
> = {
  users: ({ user }) => user.map(row => [row.createdAt, { signUps: 1n }]),
  content: ({ post, comment, like }) => [
    ...post.map((row): Addition => [row.createdAt, { posts: 1n }]),
    ...comment.map((row): Addition => [row.createdAt, { comments: 1n }]),
    ...like.map((row): Addition => [row.createdAt, { likes: 1n }]),
  ],
  sales: ({ order, orderItem }) =>
    order
      .filter(({ currency }) => currency === 'USD')
      .flatMap(({ id, status, amount, createdAt }): Addition[] => {
        const items = orderItem
          .filter(({ orderId }) => orderId === id)
          .reduce((sum, { quantity }) => sum + BigInt(quantity), 0n)
        if (status === 'paid') return [[createdAt, { orders: 1n, items, amount: BigInt(amount) }]]
        const back = { refundedOrders: 1n, refundedAmount: BigInt(amount) }
        return status === 'refunded' ? [[createdAt, back]] : []
      }),
}

const columns = {
  users: ['signUps'],
  content: ['posts', 'comments', 'likes'],
  sales: ['orders', 'items', 'amount', 'refundedOrders', 'refundedAmount'],
} as const

export const shown = (key: string, value: bigint): string => {
  if (!/amount/i.test(key)) return String(value)
  const cents = String(value % 100n).padStart(2, '0')
  return `${value / 100n}.${cents}`.replace(/\.(?:00|(\d)0)$/, (_, tenth) =>
    tenth ? `.${tenth}` : '',
  )
}

/** The CSV that a report should be, from a plain recount. */
export const recount = (
  data: Sample,
  type: keyof typeof columns,
  by: By,
  from = Number.NEGATIVE_INFINITY,
  to = Number.POSITIVE_INFINITY,
): string => {
  const found = new Map<string, Record<string, bigint>>()
  const moments: number[] = []
  for (const [at, values] of additions[type](data)) {
    if (at < from || at >= to) continue
    moments.push(at)
    const row = found.get(labelOf(at, by)) ?? {}
    found.set(labelOf(at, by), row)
    for (const [key, value] of Object.entries(values)) row[key] = (row[key] ?? 0n) + value
  }
  const first = Number.isFinite(from) ? from : Math.min(...moments)
  const last = Number.isFinite(to) ? to - 1 : Math.max(...moments)
  const labels = new Set<string>()
  for (let at = first; at <= last; at += day / 4) labels.add(labelOf(at, by))
  labels.add(labelOf(last, by))
  const rows = [...labels].map(label => [
    label,
    ...columns[type].map(key => shown(key, found.get(label)?.[key] ?? 0n)),
  ])
  return [['period', ...columns[type]], ...rows].map(row => `${row.join(',')}\r\n`).join('')
}
