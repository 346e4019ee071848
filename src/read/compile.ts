/** The query of one level of a plan; making it cannot fail because of the caller. */
import { columnName } from '#model/names.ts'
import { conditionOnEach, conditionSql } from '#read/condition.ts'
import {
  type ChildLevel,
  type CountLevel,
  type ExistsLevel,
  type Level,
  levelsBelow,
  type Order,
  type PlannedRoot,
  type ReadPlan,
  type RootLevel,
  type RowLevel,
} from '#read/level.ts'
import type { Slot } from '#read/selection.ts'
import type { Dialect } from '#sql/dialect.ts'
import {
  and,
  column,
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

/** The budget for the whole read: how many rows may still come before the response is too large. */
export const budget = parameter({ kind: 'budget' })
/**
 * A page's limit stands in a sum, as the budget of a statement for each level does: SQLite plans a statement anew in each run
 * where its limit is a bare parameter.
 */
const capped = (index: number): Sql => parameter({ kind: 'capped', slot: index })

const fieldSql = (field: string): Sql => column('t', columnName(field))

const fieldsSql = ({ fields }: RowLevel): Sql =>
  join(
    fields.map(({ name }) => fieldSql(name)),
    comma,
  )

/** Every order ends with the id, so that no page repeats or skips a row. */
const orderSql = (order: readonly Order[], dialect: Dialect): Sql => {
  const terms = order.map(({ field, descending }) =>
    dialect.ordered(fieldSql(field.name), field.nullable, descending),
  )
  const ends = order.some(({ field }) => field.name === 'id')
  return join(ends ? terms : [...terms, fieldSql('id')], comma)
}

const whereSql = (level: Level, dialect: Dialect): Sql => {
  const isKeyed = level.kind === 'by ids' || level.kind === 'children of'
  const conditions = level.where.map(condition =>
    (isKeyed ? conditionOnEach : conditionSql)(condition, level.table, dialect),
  )
  // First, so that it is also called for rows that the conditions leave out.
  const { interruptCheck } = dialect
  return and(interruptCheck ? [interruptCheck, ...conditions] : conditions)
}

const rootSql = (level: RootLevel, dialect: Dialect, budget: Sql): Sql => {
  const { order, page, fetchOneMore, many } = level
  const rows = sql`select ${fieldsSql(level)} from ${name(level.table)} as "t"
    where ${whereSql(level, dialect)}`
  if (!many) return rows
  const ordered = sql`${rows} order by ${orderSql(order, dialect)}`
  if (page === null) return sql`${ordered} limit ${budget}`
  const paged = sql`${ordered} limit ${capped(page.limit)} + ${number(fetchOneMore ? 1 : 0)}`
  return page.offset === null ? paged : sql`${paged} offset ${slot(page.offset)}`
}

const belowSql = (level: ChildLevel, dialect: Dialect, keys: Sql, budget: Sql): Sql => {
  const query = {
    table: name(level.table),
    columns: fieldsSql(level),
    keys,
    where: whereSql(level, dialect),
    budget,
  }
  if (level.kind === 'by ids') return dialect.byIds(query)
  const page = level.page && {
    limit: capped(level.page.limit),
    offset: level.page.offset === null ? null : slot(level.page.offset),
  }
  return dialect.childrenOf({ ...query, by: fieldSql(level.by), page })
}

/** The query for the number of rows, from a cached count or by counting. */
const countSql = (level: CountLevel, dialect: Dialect): Sql => {
  const { cached, table } = level
  if (cached === null)
    return sql`select count(*) from ${name(table)} as "t" where ${whereSql(level, dialect)}`
  const value = cached.slot === null ? '' : slot(cached.slot)
  return sql`select coalesce(sum(n), 0) from counts
    where entity = ${table} and field = ${columnName(cached.field)} and value = ${value}`
}

const existsSql = (level: ExistsLevel, dialect: Dialect): Sql =>
  sql`select 1 from ${name(level.table)} as "t"
    where ${and([sql`${fieldSql('id')} = ${slot(level.slot)}`, whereSql(level, dialect)])}`

/** The query of a level, given the SQL for the ids that lead to it and for the number of rows it may have. */
export const levelSql = (level: Level, dialect: Dialect, keys: Sql, budget: Sql): Sql => {
  switch (level.kind) {
    case 'root':
      return rootSql(level, dialect, budget)
    case 'by ids':
    case 'children of':
      return belowSql(level, dialect, keys, budget)
    case 'count':
      return countSql(level, dialect)
    case 'exists':
      return existsSql(level, dialect)
    default:
      return level satisfies never
  }
}

/** The condition of a plan that looks up one row by its id alone; undefined for any other plan. */
const idOf = ({ rows, total, exists }: PlannedRoot): { readonly slot: Slot } | undefined => {
  const [id, ...others] = rows.where
  const isAlone = total === null && exists.length === 0 && levelsBelow(rows).length === 0
  if (rows.many || !isAlone || others.length > 0) return undefined
  return id?.kind === 'field' && id.is === 'equals' && id.field === 'id' ? id : undefined
}

/**
 * The statement that looks up the rows of many ids at once, for a plan that looks up one row by its id alone;
 * undefined for any other plan, and where each level has a statement.
 */
export const compileForMany = (
  { roots }: ReadPlan,
  { singleStatement, placeholder }: Dialect,
): Statement | undefined => {
  const [root, ...others] = roots
  const id = root && others.length === 0 ? idOf(root) : undefined
  if (!singleStatement || !root || id === undefined) return undefined
  const ids = singleStatement.isIn(fieldSql('id'), slot(id.slot))
  return statement(
    sql`select ${fieldsSql(root.rows)} from ${name(root.rows.table)} as "t" where ${ids}`,
    placeholder,
  )
}
