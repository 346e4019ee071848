/** The query of groups of rows: their keys, exact sums and means, and which groups are answered, in which order. */
import { zoneOffsets } from '#base/time-zones.ts'
import { type GroupValue, nameOf, sumBase } from '#model/aggregate.ts'
import type { RootLevel } from '#read/plan.ts'
import { columnsOf, predicateSql } from '#read/predicate.ts'
import type { Dialect } from '#sql/dialect.ts'
import { column, comma, join, name, number, type Sql, sql } from '#sql/sql.ts'

const millions = number(sumBase('sum'))
const fractions = number(sumBase('mean'))

/** What a whole number leaves when it is divided, and the quotient: both rounded down, which no database does below zero. */
const rest = (of: Sql, by: Sql): Sql => sql`((${of} % ${by} + ${by}) % ${by})`
const quotient = (of: Sql, by: Sql): Sql => sql`((${of} - ${rest(of, by)}) / ${by})`

/** More than any condition compares with, and less than 64 bits hold. */
const mostCompared = 4e18

/** The number that two are, for conditions; one that is larger than they can name is only known to be so. */
const asOne = (high: Sql, low: Sql, base: number): Sql => {
  const most = number(mostCompared / base)
  return sql`case when ${high} >= ${most} then ${number(mostCompared)}
    when ${high} < -${most} then -${number(mostCompared)} else ${high} * ${number(base)} + ${low} end`
}

/** As many seconds as make any time positive, so that it is divided downwards. */
const ahead = number(1e12)

/** The value that the rows of a group share. */
const keySql = (
  { field, part }: GroupValue & { kind: 'key' },
  timeZone: string,
  dialect: Dialect,
): Sql => {
  const value = columnsOf('t')(field)
  if (part === undefined) return value
  const isYear = part.is === 'year'
  let text: Sql
  if (part.of === 'date') text = sql`substr(${value}, 1, ${number(isYear ? 4 : 7)})`
  else {
    const { starts, offsets } = zoneOffsets(timeZone)
    const offset =
      starts.length === 0 ? number(offsets[0] ?? 0) : dialect.stepwise(value, starts, offsets)
    const seconds = sql`((${value} + ${offset} + ${ahead} * 1000) / 1000 - ${ahead})`
    text = sql`case when ${value} is not null then ${dialect.calendar(seconds, part.is)} end`
  }
  return isYear ? sql`cast(${text} as integer)` : text
}

/** What rows of a group are ordered by: the year after 9999 begins with a sign that comes before all digits. */
const inTime = (value: GroupValue, own: Sql): Sql => {
  const part = value.kind === 'key' ? value.part : undefined
  const isText = part !== undefined && part.of !== 'date' && part.is !== 'year'
  return isText ? sql`replace(${own}, '+', ':')` : own
}

/** The columns of a query, one for each name. */
type Columns = readonly (readonly [name: string, value: Sql])[]

const selected = (columns: Columns): Sql =>
  join(
    columns.map(([own, value]) => sql`${value} as ${name(own)}`),
    comma,
  )

/** The same query with more columns, made of those that it has. */
const withMore = (query: Sql, columns: Columns): Sql =>
  columns.length === 0 ? query : sql`select "r".*, ${selected(columns)} from (${query}) as "r"`

/** The query of the groups of the rows that `from` gives as `t`, of the values that are the fields of a level. */
export const groupsSql = ({ fields, groups }: RootLevel, from: Sql, dialect: Dialect): Sql => {
  const { timeZone = 'UTC', having, order = [] } = groups ?? {}
  const values = fields.flatMap(({ group }) => group ?? [])
  const keys = values.filter(value => value.kind === 'key')
  const field = columnsOf('t')
  // Databases cut off names at 63 letters.
  const names = new Map(values.map((value, place) => [nameOf(value), `v${place}`]))
  const called = (value: GroupValue, part = '') => `${names.get(nameOf(value))}${part}`
  const own = (value: GroupValue, part = ''): Sql => column('r', called(value, part))
  const isPair = ({ kind }: GroupValue) => kind === 'sum' || kind === 'avg'
  const calculated = values.filter(isPair)
  const means = values.filter(({ kind }) => kind === 'avg')

  // Sums come in two numbers, of the millions and of the rest of each value, whose signs are that of the value.
  const first = values.flatMap((value): Columns => {
    if (value.kind === 'key') return [[called(value), keySql(value, timeZone, dialect)]]
    if (value.kind === 'count') return [[called(value), sql`count(*)`]]
    const of = field(value.field)
    if (value.kind === 'min') return [[called(value), sql`min(${of})`]]
    if (value.kind === 'max') return [[called(value), sql`max(${of})`]]
    return [
      [called(value, ' n'), sql`nullif(count(${of}), 0)`],
      [called(value, ' high'), sql`cast(sum(${of} / ${millions}) as bigint)`],
      [called(value, ' low'), sql`cast(sum(${of} % ${millions}) as bigint)`],
    ]
  })
  const by = join(
    keys.map((_, index) => number(index + 1)),
    comma,
  )
  const grouped = sql`select ${selected(first)} from ${from}${keys.length > 0 ? sql` group by ${by}` : sql``}`

  const inMillions = calculated.flatMap((value): Columns => {
    const low = own(value, ' low')
    return [
      [called(value, ' whole'), sql`${own(value, ' high')} + ${quotient(low, millions)}`],
      [called(value, ' part'), rest(low, millions)],
    ]
  })
  // A mean is divided step by step: first the millions, then what they leave with the rest, then what that leaves, rounded half
  // away from zero.
  const divided = means.flatMap((value): Columns => {
    const [sum, count] = [own(value, ' whole'), own(value, ' n')]
    const left = sql`${rest(sum, count)} * ${millions} + ${own(value, ' part')}`
    return [
      [called(value, ' each'), quotient(sum, count)],
      [called(value, ' left'), left],
    ]
  })
  const rounded = means.flatMap((value): Columns => {
    const [left, count] = [own(value, ' left'), own(value, ' n')]
    const isNegative = sql`case when ${own(value, ' whole')} < 0 then 1 else 0 end`
    const fraction = sql`((2 * ${fractions} * (${left} % ${count}) + ${count} - ${isNegative}) / (2 * ${count}))`
    const whole = sql`${own(value, ' each')} * ${millions} + ${left} / ${count} + ${fraction} / ${fractions}`
    return [
      [called(value, ' mean whole'), whole],
      [called(value, ' mean part'), sql`${fraction} % ${fractions}`],
    ]
  })
  const query = [inMillions, divided, rounded].reduce(withMore, grouped)

  /** The two numbers of a sum or a mean. */
  const pairOf = (value: GroupValue): readonly [Sql, Sql] => {
    const of = value.kind === 'avg' ? ' mean' : ''
    return [own(value, `${of} whole`), own(value, `${of} part`)]
  }
  const shown = values.map((value): Columns[number] => {
    if (!isPair(value)) return [called(value), own(value)]
    const [whole, part] = pairOf(value)
    return [called(value), sql`cast(${whole} as text) || ':' || cast(${part} as text)`]
  })
  const compared = new Map(
    values.map(value => {
      if (!isPair(value)) return [nameOf(value), own(value)]
      return [
        nameOf(value),
        asOne(...pairOf(value), sumBase(value.kind === 'sum' ? 'sum' : 'mean')),
      ]
    }),
  )
  const columnOf = (called: string) => compared.get(called) ?? column('r', called)
  const fits =
    having && predicateSql(having, { dialect, columnOf, others: 'by row', isBound: true })
  const ties = keys.filter(key => !order.some(({ value }) => nameOf(value) === nameOf(key)))
  const terms = [...order, ...ties.map(value => ({ value, descending: false }))].flatMap(
    ({ value, descending }) =>
      (isPair(value) ? pairOf(value) : [inTime(value, own(value))]).flatMap(one => [
        sql`${one} is null`,
        descending ? sql`${one} desc` : one,
      ]),
  )
  return sql`select ${selected(shown)} from (${query}) as "r"${fits ? sql` where ${fits}` : sql``}${
    terms.length > 0 ? sql` order by ${join(terms, comma)}` : sql``
  }`
}
