/** The figures of a report: counted by the database day by day, from one snapshot, and summed up to periods here. */
import { dayNumber } from '#base/dates.ts'
import { type By, periodOf, startOf, tooMany } from '#content/reports/periods.ts'
import type { ReportRequest, ReportType } from '#content/reports/request.ts'
import type { Core } from '#core.ts'
import { columnName, entityOf, type Model } from '#model/model.ts'
import type { Dialect } from '#sql/dialect.ts'
import { type QueryScript, queryOf, type ReadOptions, type Row } from '#sql/engine.ts'
import { and, column, name, type Sql, type SqlValue, sql } from '#sql/sql.ts'
import { invalid } from '#write/input.ts'

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

export type Report = {
  readonly type: ReportType
  readonly by: By
  readonly generatedAt: number
  readonly from: number | null
  readonly to: number | null
  readonly periods: readonly Period[]
  readonly totals: Sums
}

/** A query whose rows begin with a day, and what each row adds to the sums of its day. */
type DailyQuery = { readonly query: Sql; readonly adds: (row: Row) => Sums }

/** The database sums millions and remainders separately, so that no sum overflows or is rounded. */
const million = 1_000_000

const big = (value: SqlValue | undefined): bigint => BigInt(String(value ?? 0))

/** The sums, and those of others on top. */
const plus = (sums: Sums, more: Sums): Sums => ({
  ...sums,
  ...Object.fromEntries(Object.entries(more).map(([key, n]) => [key, (sums[key] ?? 0n) + n])),
})

type Source = { readonly model: Model; readonly dialect: Dialect; readonly request: ReportRequest }

const tableOf = ({ model }: Source, entity: string): Sql => name(entityOf(model, entity).table)

const madeAt = (alias: string): Sql => column(alias, columnName('createdAt'))

/** The whole days from 1970 to a moment, in UTC. Integer division truncates towards zero: one before 1970 belongs to the day below. */
const dayOf = (time: Sql): Sql =>
  sql`(${time} - (${time} % 86400000 + 86400000) % 86400000) / 86400000`

/** The conditions that a row was made within the report's range. */
const inTime = ({ dialect, request }: Source, alias: string): readonly Sql[] => [
  ...(request.from === undefined ? [] : [sql`${madeAt(alias)} >= ${request.from}`]),
  ...(request.to === undefined ? [] : [sql`${madeAt(alias)} < ${request.to}`]),
  ...(dialect.interruptCheck ? [dialect.interruptCheck] : []),
]

const counted = (source: Source, entity: string, key: string): DailyQuery => ({
  query: sql`select ${dayOf(madeAt('t'))}, count(*) from ${tableOf(source, entity)} as t
    where ${and(inTime(source, 't'))} group by 1`,
  adds: ([, count]) => ({ [key]: big(count) }),
})

/** Orders that were paid, by the day on which they were placed; the refunded ones in columns of their own. */
const sales = (source: Source): readonly DailyQuery[] => {
  const { model } = source
  const orders = tableOf(source, 'order')
  const items = tableOf(source, 'orderItem')
  const ours = sql`o.currency = ${model.settings.currency.code}`
  const day = dayOf(madeAt('o'))
  return [
    {
      query: sql`select ${day}, o.status, count(*), sum(o.amount / ${million}), sum(o.amount % ${million})
        from ${orders} as o where ${and([sql`o.status in ('paid', 'refunded')`, ours, ...inTime(source, 'o')])}
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
      query: sql`select ${day}, sum(i.quantity) from ${orders} as o join ${items} as i on i.order_id = o.id
        where ${and([sql`o.status = 'paid'`, ours, ...inTime(source, 'o')])} group by 1`,
      adds: ([, count]) => ({ items: big(count) }),
    },
  ]
}

const queries = {
  sales,
  content: source => [
    counted(source, 'post', 'posts'),
    counted(source, 'comment', 'comments'),
    counted(source, 'like', 'likes'),
  ],
  users: source => [counted(source, 'user', 'signUps')],
} satisfies Record<ReportType, (source: Source) => readonly DailyQuery[]>

/** Every period from the first to the last, including empty ones. */
const allPeriods = (found: ReadonlyMap<number, Sums>, request: ReportRequest) => {
  const { from, to, by } = request
  const numbers = [...found.keys()].sort((a, b) => a - b)
  const first = from === undefined ? numbers[0] : periodOf(dayNumber(from), by)
  const last = to === undefined ? numbers.at(-1) : periodOf(dayNumber(to - 1), by)
  if (first === undefined || last === undefined) return []
  const many = tooMany(first, last, by)
  if (many) throw invalid([many])
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, index): Period => {
    const number = first + index
    return { number, sums: found.get(number) ?? {} }
  })
}

const summed = function* (source: Source, now: number): QueryScript<Report> {
  const { dialect, request } = source
  const { type, by, from, to } = request
  const found = new Map<number, Sums>()
  for (const { query, adds } of queries[type](source)) {
    for (const row of yield queryOf(query, dialect)) {
      const period = periodOf(Number(row[0]), by)
      found.set(period, plus(found.get(period) ?? {}, adds(row)))
    }
  }
  const periods = allPeriods(found, request)
  const [first, last] = [periods[0], periods.at(-1)]
  return {
    type,
    by,
    generatedAt: now,
    from: from ?? (first ? startOf(first.number, by) : null),
    to: to ?? (last ? startOf(last.number + 1, by) : null),
    periods,
    totals: periods.reduce((all, { sums }) => plus(all, sums), {}),
  }
}

/** The report for a request, from the store as it is now. */
export const figuresOf = (
  core: Core,
  request: ReportRequest,
  asked: ReadOptions,
): Promise<Report> => {
  const { model, dialect, reader } = core
  return reader.slowly(() => summed({ model, dialect, request }, core.now()), asked)
}
