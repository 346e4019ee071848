/** The figures of a report: counted by the database day by day, from one snapshot, and summed up to periods here. */

import { invalid, type Sql, type SqlValue, sql } from 'duet/actions'
import {
  and,
  type Core,
  column,
  columnName,
  entityOf,
  name,
  type QueryScript,
  queryOf,
  type ReadOptions,
  type Row,
} from 'duet/routes'
import {
  type By,
  dayNumber,
  periodOf,
  type ReportRequest,
  type ReportType,
  startOf,
  tooMany,
} from './request.ts'

/** A column of a report. Money is in minor units. */
export type Measure = {
  readonly key: string
  readonly label: string
  readonly kind: 'count' | 'money'
}

const count = (key: string, label: string): Measure => ({ key, label, kind: 'count' })
const money = (key: string, label: string): Measure => ({ key, label, kind: 'money' })

/** The measures of each report, in the order of its columns. */
export const measures: Readonly<Record<ReportType, readonly Measure[]>> = {
  sales: [
    count('orders', 'Orders'),
    count('items', 'Items'),
    money('amount', 'Sales'),
    count('refundedOrders', 'Refunded orders'),
    money('refundedAmount', 'Refunded'),
  ],
  content: [count('posts', 'Posts'), count('comments', 'Comments'), count('likes', 'Likes')],
  users: [count('signUps', 'Sign-ups')],
}

/** What was counted, by the keys of the measures. */
export type Sums = Readonly<Record<string, bigint>>

type Period = { readonly number: number; readonly sums: Sums }

/** A report's figures: one row for each period, and their totals. */
export type Figures = {
  readonly type: ReportType
  readonly by: By
  readonly generatedAt: number
  readonly from: number | null
  readonly to: number | null
  readonly periods: readonly Period[]
  readonly totals: Sums
}

/** A query whose rows begin with a day, and the sums that each row adds to its day. */
type DailyQuery = { readonly query: Sql; readonly adds: (row: Row) => Sums }

/** The database sums millions and remainders separately, so that no sum overflows or is rounded. */
const million = 1_000_000

const big = (value: SqlValue | undefined): bigint => BigInt(String(value ?? 0))

/** The sums, with others on top. */
const plus = (sums: Sums, more: Sums): Sums => ({
  ...sums,
  ...Object.fromEntries(Object.entries(more).map(([key, n]) => [key, (sums[key] ?? 0n) + n])),
})

/** The whole days from 1970 to a moment, in UTC. Integer division truncates towards zero: one before 1970 belongs to the day below. */
const dayOf = (time: Sql): Sql =>
  sql`(${time} - (${time} % 86400000 + 86400000) % 86400000) / 86400000`

const madeAt = (alias: string): Sql => column(alias, columnName('createdAt'))

/** The queries of a report. */
const queriesOf = ({ model, dialect }: Core, request: ReportRequest): readonly DailyQuery[] => {
  const tableOf = (entity: string): Sql => name(entityOf(model, entity).table)
  const inTime = (alias: string): readonly Sql[] => [
    ...(request.from === undefined ? [] : [sql`${madeAt(alias)} >= ${request.from}`]),
    ...(request.to === undefined ? [] : [sql`${madeAt(alias)} < ${request.to}`]),
    ...(dialect.interruptCheck ? [dialect.interruptCheck] : []),
  ]
  const counted = (entity: string, key: string): DailyQuery => ({
    query: sql`select ${dayOf(madeAt('t'))}, count(*) from ${tableOf(entity)} as t
      where ${and(inTime('t'))} group by 1`,
    adds: ([, count]) => ({ [key]: big(count) }),
  })

  if (request.type === 'content')
    return [counted('post', 'posts'), counted('comment', 'comments'), counted('like', 'likes')]
  if (request.type === 'users') return [counted('user', 'signUps')]

  // Orders that were paid, by the day on which they were placed; the refunded ones in columns of their own.
  const orders = tableOf('order')
  const day = dayOf(madeAt('o'))
  const ours = [sql`o.currency = ${model.settings.currency.code}`, ...inTime('o')]
  return [
    {
      query: sql`select ${day}, o.status, count(*), sum(o.amount / ${million}), sum(o.amount % ${million})
        from ${orders} as o where ${and([sql`o.status in ('paid', 'refunded')`, ...ours])}
        group by 1, 2`,
      adds: ([, status, count, high, low]) => {
        const orders = big(count)
        const amount = big(high) * BigInt(million) + big(low)
        return status === 'paid'
          ? { orders, amount }
          : { refundedOrders: orders, refundedAmount: amount }
      },
    },
    {
      query: sql`select ${day}, sum(i.quantity) from ${orders} as o
        join ${tableOf('orderItem')} as i on i.order_id = o.id
        where ${and([sql`o.status = 'paid'`, ...ours])} group by 1`,
      adds: ([, count]) => ({ items: big(count) }),
    },
  ]
}

const summed = function* (core: Core, request: ReportRequest): QueryScript<Figures> {
  const { type, by, from, to } = request
  const generatedAt = core.now()
  const found = new Map<number, Sums>()
  for (const { query, adds } of queriesOf(core, request)) {
    for (const row of yield queryOf(query, core.dialect)) {
      const period = periodOf(Number(row[0]), by)
      found.set(period, plus(found.get(period) ?? {}, adds(row)))
    }
  }

  // Every period from the first to the last, including empty ones.
  const numbers = [...found.keys()].sort((a, b) => a - b)
  const first = from === undefined ? numbers[0] : periodOf(dayNumber(from), by)
  const last = to === undefined ? numbers.at(-1) : periodOf(dayNumber(to - 1), by)
  const periods: Period[] = []
  if (first !== undefined && last !== undefined) {
    const many = tooMany(first, last, by)
    if (many) throw invalid([many])
    for (let number = first; number <= last; number++)
      periods.push({ number, sums: found.get(number) ?? {} })
  }
  const [start, end] = [periods[0], periods.at(-1)]
  return {
    type,
    by,
    generatedAt,
    from: from ?? (start ? startOf(start.number, by) : null),
    to: to ?? (end ? startOf(end.number + 1, by) : null),
    periods,
    totals: periods.reduce((all, { sums }) => plus(all, sums), {}),
  }
}

/** The figures for a request, from the store as it is now. */
export const figuresOf = (
  core: Core,
  request: ReportRequest,
  asked: ReadOptions,
): Promise<Figures> => core.reader.slowly(() => summed(core, request), asked)
