/** The query of one level of a plan; making it cannot fail because of the caller. */
import { columnName } from '#model/names.ts'
import { type Level, levelsBelow, type ReadPlan, type RowLevel } from '#read/plan.ts'
import { columnsOf, predicateSql } from '#read/predicate.ts'
import type { Dialect } from '#sql/dialect.ts'
import {
  and,
  comma,
  join,
  name,
  number,
  parameter,
  type Sql,
  type Statement,
  slot,
  sql,
  statement,
} from '#sql/sql.ts'

/** The alias of the rows that a query gives. */
const rowAlias = 't'

const fieldSql = columnsOf(rowAlias)

/** The budget for the whole read: how many rows may still come before the response is too large. */
export const budget = parameter({ kind: 'budget' })
/**
 * A page's limit stands in a sum, as the budget of a statement for each level does: SQLite plans a statement anew in each run
 * if its limit is a bare parameter.
 */
const capped = (index: number): Sql => parameter({ kind: 'capped', slot: index })

const fieldsSql = ({ fields }: RowLevel, dialect: Dialect): Sql =>
  join(
    fields.map(({ name: own, shown }) => {
      if (!shown) return fieldSql(own)
      const isShown = predicateSql(shown.in, { dialect, columnOf: fieldSql, others: 'by row' })
      return sql`case when ${isShown} then ${fieldSql(shown.field)} end as ${name(columnName(own))}`
    }),
    comma,
  )

const whereSql = (level: Level, dialect: Dialect): Sql => {
  const isKeyed = level.kind === 'by ids' || level.kind === 'children of'
  const rows = {
    dialect,
    columnOf: fieldSql,
    others: isKeyed ? 'by row' : 'by key',
    indexed: level.table,
  } as const
  const conditions = level.where.map(predicate => predicateSql(predicate, rows))
  // First, so that it is also called for rows that the conditions leave out.
  const { interruptCheck } = dialect
  return and(interruptCheck ? [interruptCheck, ...conditions] : conditions)
}

/** The query of a level, given the SQL for the ids that lead to it and for the number of rows it may have. */
export const levelSql = (level: Level, dialect: Dialect, keys: Sql, budget: Sql): Sql => {
  const table = name(level.table)
  const where = whereSql(level, dialect)
  switch (level.kind) {
    case 'root': {
      const { order, page, fetchOneMore, many } = level
      const rows = sql`select ${fieldsSql(level, dialect)} from ${table} as "t"
    where ${where}`
      if (!many) return rows
      const terms = order.map(({ field, descending }) =>
        dialect.ordered(fieldSql(field.name), field.nullable, descending),
      )
      // Every order ends with the id, so that no page repeats or skips a row.
      if (!order.some(({ field }) => field.name === 'id')) terms.push(fieldSql('id'))
      const ordered = sql`${rows} order by ${join(terms, comma)}`
      if (page === null) return sql`${ordered} limit ${budget}`
      const paged = sql`${ordered} limit ${capped(page.limit)} + ${number(fetchOneMore ? 1 : 0)}`
      return page.offset === null ? paged : sql`${paged} offset ${slot(page.offset)}`
    }
    case 'by ids':
      return dialect.byIds({ table, columns: fieldsSql(level, dialect), keys, where, budget })
    case 'children of': {
      const page = level.page && {
        limit: capped(level.page.limit),
        offset: level.page.offset === null ? null : slot(level.page.offset),
      }
      const by = fieldSql(level.by)
      const columns = fieldsSql(level, dialect)
      return dialect.childrenOf({ table, columns, keys, where, budget, by, page })
    }
    case 'count': {
      const { cached } = level
      if (cached === null) return sql`select count(*) from ${table} as "t" where ${where}`
      const value = cached.slot === null ? '' : slot(cached.slot)
      return sql`select coalesce(sum(n), 0) from counts
    where entity = ${level.table} and field = ${columnName(cached.field)} and value = ${value}`
    }
    case 'exists':
      return sql`select 1 from ${table} as "t"
    where ${and([sql`${fieldSql('id')} = ${slot(level.slot)}`, where])}`
    default:
      return level satisfies never
  }
}

/**
 * The statement that looks up the rows of many ids at once, for a plan that looks up one row by its id alone;
 * undefined for any other plan, and for a database with a statement for each level.
 */
export const compileForMany = ({ roots }: ReadPlan, dialect: Dialect): Statement | undefined => {
  const { singleStatement, placeholder } = dialect
  const [root, ...otherRoots] = roots
  if (!singleStatement || !root || otherRoots.length > 0) return undefined
  const { rows, total, exists } = root
  const isAlone = total === null && exists.length === 0 && levelsBelow(rows).length === 0
  const [id, ...rules] = rows.where
  const isPlain = !rows.many && rows.fields.every(({ shown }) => shown === undefined)
  if (!isPlain || !isAlone) return undefined
  const isById = id?.kind === 'compare' && id.is === 'eq' && id.field === 'id'
  if (!isById || id.to.kind !== 'slot') return undefined
  const ids = singleStatement.isIn(fieldSql('id'), slot(id.to.slot))
  const where = { dialect, columnOf: fieldSql, others: 'by row' } as const
  const found = and([ids, ...rules.map(rule => predicateSql(rule, where))])
  // Many callers share it, so it has no value but their ids.
  if (found.parameters.length > 1) return undefined
  return statement(
    sql`select ${fieldsSql(rows, dialect)} from ${name(rows.table)} as "t" where ${found}`,
    placeholder,
  )
}
