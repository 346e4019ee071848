/** Orders as SQL: by the fields of a row and of those that it leads to, and the rows on one side of a place in an order. */
import { columnName } from '#model/names.ts'
import type { OrderKey, ReadField } from '#read/plan.ts'
import { type ColumnOf, columnsOf, predicateSql, relevanceSql } from '#read/predicate.ts'
import type { Keyset, Slot } from '#read/selection.ts'
import type { Dialect } from '#sql/dialect.ts'
import { and, column, comma, join, name, type Sql, slot, sql } from '#sql/sql.ts'

/** The field at the end of a path, or the relevance there, null where a row on it is missing. */
const acrossSql = (
  across: NonNullable<ReadField['across']>,
  columnOf: ColumnOf,
  dialect: Dialect,
  number = 1,
): Sql => {
  const { field, relevance } = across
  const [hop, ...hops] = across.hops
  if (!hop) return relevance ? relevanceSql(relevance, columnOf, dialect) : columnOf(field)
  const to = `t${number}`
  const own = columnsOf(to)
  const rows = { dialect, columnOf: own, others: 'by row', hop: number + 1 } as const
  const isThere = and([
    sql`${column(to, 'id')} = ${columnOf(hop.by)}`,
    ...hop.where.map(predicate => predicateSql(predicate, rows)),
  ])
  return sql`(select ${acrossSql({ ...across, hops }, own, dialect, number + 1)} from ${name(hop.table)} as ${name(to)}
    where ${isThere})`
}

/** The value of a column of the rows that have these columns. */
const columnSql = (
  { name: own, across, rank, shown }: ReadField,
  columnOf: ColumnOf,
  dialect: Dialect,
): Sql => {
  if (across) return acrossSql(across, columnOf, dialect)
  if (rank) {
    const { order, backwards } = rank
    return sql`row_number() over (order by ${orderSql(order, columnOf, dialect, backwards)})`
  }
  if (!shown) return columnOf(own)
  const isShown = predicateSql(shown.in, { dialect, columnOf, others: 'by row' })
  return sql`case when ${isShown} then ${columnOf(shown.field)} end`
}

/** A column in a list of them; one that is no column of the table is given its name. */
export const selectedSql = (field: ReadField, columnOf: ColumnOf, dialect: Dialect): Sql => {
  const value = columnSql(field, columnOf, dialect)
  const isPlain = !(field.across || field.rank || field.shown)
  return isPlain ? value : sql`${value} as ${name(columnName(field.name))}`
}

/** Whether null stands at the end, in this direction of reading. */
const isNullLast = ({ nullsLast, descending }: OrderKey, backwards: boolean): boolean =>
  (nullsLast || !descending) !== backwards

/** The terms of an `order by`, in either direction of reading. */
export const orderSql = (
  order: readonly OrderKey[],
  columnOf: ColumnOf,
  dialect: Dialect,
  backwards = false,
): Sql =>
  join(
    order.map(key => {
      const { column, descending } = key
      const isLast = isNullLast(key, backwards)
      const value = columnSql(column, columnOf, dialect)
      return dialect.ordered(value, column.nullable, descending !== backwards, isLast)
    }),
    comma,
  )

/** Whether an order goes in one direction and has no nulls, so that its keys can be compared as one row, which an index of PostgreSQL finds. */
const isComparedAsOne = (order: readonly OrderKey[]): boolean =>
  order.every(
    ({ column, descending }) =>
      !column.nullable && !column.across && descending === order[0]?.descending,
  )

/** The conditions of the rows between places in an order: a range of its first keys, which an index finds, and what else must hold. */
type Between = { readonly range: readonly Sql[]; readonly rest: readonly Sql[] }

/** Those of the rows that come after a place, by the slots of its values; read backwards, of those before it. */
const beyondSql = (
  order: readonly OrderKey[],
  slots: readonly Slot[],
  backwards: boolean,
  columnOf: ColumnOf,
  dialect: Dialect,
): Between => {
  const sign = ({ descending }: OrderKey) => (descending !== backwards ? sql`<` : sql`>`)
  const keys = order.map((key, at) => ({
    key,
    own: columnSql(key.column, columnOf, dialect),
    place: slot(slots[at] as Slot),
  }))
  const [first] = keys
  if (first && isComparedAsOne(order)) {
    const all = (parts: readonly Sql[]) => sql`(${join(parts, comma)})`
    const owns = keys.map(({ own }) => own)
    const places = keys.map(({ place }) => place)
    return { range: [sql`${all(owns)} ${sign(first.key)} ${all(places)}`], rest: [] }
  }
  const beyond = keys.reduceRight<Sql | undefined>((rest, { key, own, place }) => {
    const { column } = key
    const isBeyond = sql`${own} ${sign(key)} ${place}`
    // The last key is the id, which no two rows share.
    if (!rest) return isBeyond
    if (!column.nullable) return sql`(${isBeyond} or (${own} = ${place} and ${rest}))`
    const isNull = sql`${dialect.typed(place, column.scalar)} is null`
    const isNullBeyond = isNullLast(key, backwards)
      ? sql`(${own} is null and not ${isNull})`
      : sql`(${own} is not null and ${isNull})`
    return sql`(${isBeyond} or ${isNullBeyond} or ((${own} = ${place} or (${own} is null and ${isNull})) and ${rest}))`
  }, undefined)
  if (!first || !beyond) throw new Error('a list is sorted by its id at last')
  const range = sql`${first.own} ${sign(first.key)}= ${first.place}`
  return { range: first.key.column.nullable ? [] : [range], rest: [beyond] }
}

/** The conditions of the rows between the places of a key set. */
export const betweenSql = (
  order: readonly OrderKey[],
  { after, before }: Keyset,
  columnOf: ColumnOf,
  dialect: Dialect,
): Between => {
  const ends = [
    ...(after ? [beyondSql(order, after, false, columnOf, dialect)] : []),
    ...(before ? [beyondSql(order, before, true, columnOf, dialect)] : []),
  ]
  return {
    range: ends.flatMap(({ range }) => range),
    rest: ends.flatMap(({ rest }) => rest),
  }
}
