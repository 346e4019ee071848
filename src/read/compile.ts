/** The query of one level of a plan, with conditions as SQL; making it cannot fail because of the caller. */
import { columnName } from '#model/names.ts'
import {
  type Condition,
  type Level,
  levelsBelow,
  type ReadPlan,
  type RowLevel,
  type SelfPath,
} from '#read/plan.ts'
import { type Comparison, VIEWER } from '#read/selection.ts'
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

/** The alias of the rows that a query gives. */
const rowAlias = 't'

/** The SQL of a field in a condition: with an alias, or bare. */
type ColumnOf = (field: string) => Sql

const bare: ColumnOf = field => name(columnName(field))
const of =
  (table: string): ColumnOf =>
  field =>
    column(table, columnName(field))

const fieldSql = of(rowAlias)

/** The condition by the row's own key: a viewer's list then comes from the index of that key, not from a scan. */
const selfPath = (path: SelfPath, columnOf: ColumnOf): Sql => {
  if ('field' in path) return sql`${columnOf(path.field)} = ${slot(VIEWER)}`
  return sql`${columnOf(path.by)} in (select "id" from ${name(path.table)}
    where ${selfPath(path.next, bare)})`
}

/**
 * The owner of a row, looked up from the row: the cost does not grow with the number of rows that the viewer owns. Each hop has a
 * name of its own, since two of them may be to the same table.
 */
const ownerOf = (path: SelfPath, columnOf: ColumnOf, hop = 1): Sql => {
  if ('field' in path) return columnOf(path.field)
  const { table, by, next } = path
  const to = `${rowAlias}${hop}`
  return sql`(select ${ownerOf(next, of(to), hop + 1)} from ${name(table)} as ${name(to)}
    where ${column(to, 'id')} = ${columnOf(by)})`
}

const anyOf = (conditions: readonly Sql[]): Sql => sql`(${join(conditions, sql` or `)})`

const signs = {
  equals: sql`=`,
  'at least': sql`>=`,
  'at most': sql`<=`,
  'less than': sql`<`,
} satisfies Partial<Record<Comparison, Sql>>

/** A condition on the rows of `rows`, an alias or a table's own name. */
export const conditionSql = (
  condition: Condition,
  table: string,
  dialect: Dialect,
  rows: string = rowAlias,
): Sql => {
  if (condition.kind === 'self') return anyOf(condition.paths.map(path => selfPath(path, of(rows))))
  const { field, is } = condition
  const left = of(rows)(field)
  const right = slot(condition.slot)
  switch (is) {
    case 'above zero':
      return sql`${left} > 0`
    case 'contains':
    case 'contains short':
      return dialect.contains(table, columnName(field), right, is === 'contains')
    default:
      return sql`${left} ${signs[is]} ${right}`
  }
}

/** The budget for the whole read: how many rows may still come before the response is too large. */
export const budget = parameter({ kind: 'budget' })
/**
 * A page's limit stands in a sum, as the budget of a statement for each level does: SQLite plans a statement anew in each run
 * if its limit is a bare parameter.
 */
const capped = (index: number): Sql => parameter({ kind: 'capped', slot: index })

const fieldsSql = ({ fields }: RowLevel): Sql =>
  join(
    fields.map(({ name }) => fieldSql(name)),
    comma,
  )

const whereSql = (level: Level, dialect: Dialect): Sql => {
  const isKeyed = level.kind === 'by ids' || level.kind === 'children of'
  const conditions = level.where.map(condition =>
    isKeyed && condition.kind === 'self'
      ? anyOf(condition.paths.map(path => sql`${ownerOf(path, fieldSql)} = ${slot(VIEWER)}`))
      : conditionSql(condition, level.table, dialect),
  )
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
      const rows = sql`select ${fieldsSql(level)} from ${table} as "t"
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
      return dialect.byIds({ table, columns: fieldsSql(level), keys, where, budget })
    case 'children of': {
      const page = level.page && {
        limit: capped(level.page.limit),
        offset: level.page.offset === null ? null : slot(level.page.offset),
      }
      const by = fieldSql(level.by)
      return dialect.childrenOf({ table, columns: fieldsSql(level), keys, where, budget, by, page })
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
export const compileForMany = (
  { roots }: ReadPlan,
  { singleStatement, placeholder }: Dialect,
): Statement | undefined => {
  const [root, ...otherRoots] = roots
  if (!singleStatement || !root || otherRoots.length > 0) return undefined
  const { rows, total, exists } = root
  const isAlone = total === null && exists.length === 0 && levelsBelow(rows).length === 0
  const [id, ...others] = rows.where
  if (rows.many || !isAlone || others.length > 0) return undefined
  if (id?.kind !== 'field' || id.is !== 'equals' || id.field !== 'id') return undefined
  const ids = singleStatement.isIn(fieldSql('id'), slot(id.slot))
  return statement(
    sql`select ${fieldsSql(rows)} from ${name(rows.table)} as "t" where ${ids}`,
    placeholder,
  )
}
