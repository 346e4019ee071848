/** The query of one level of a plan; making it cannot fail because of the caller. */
import { operandsIn, type Predicate, someOf } from '#model/condition.ts'
import { columnName } from '#model/names.ts'
import { groupsSql } from '#read/aggregate.ts'
import { betweenSql, orderSql, selectedSql } from '#read/order.ts'
import {
  type Level,
  levelsBelow,
  type ReadPlan,
  type RootLevel,
  type RowLevel,
} from '#read/plan.ts'
import { columnsOf, predicateSql } from '#read/predicate.ts'
import { VIEWER } from '#read/selection.ts'
import type { Dialect } from '#sql/dialect.ts'
import {
  and,
  column,
  comma,
  filled,
  join,
  name,
  number,
  parameter,
  type Sql,
  type Statement,
  slot,
  sql,
  statement,
  trusted,
} from '#sql/sql.ts'

const fieldSql = columnsOf('t')

/** The budget for the whole read: how many rows may still come before the response is too large. */
export const budget = parameter({ kind: 'budget' })
/**
 * A page's limit stands in a sum, as the budget of a statement for each level does: SQLite plans a statement anew in each run
 * if its limit is a bare parameter.
 */
const capped = (index: number): Sql => parameter({ kind: 'capped', slot: index })

const fieldsSql = ({ fields }: RowLevel, dialect: Dialect): Sql =>
  join(
    fields.map(field => selectedSql(field, fieldSql, dialect)),
    comma,
  )

const whereSql = (level: Level, dialect: Dialect, most = level.where.length): Sql => {
  const isKeyed = ['by ids', 'children of', 'counts of'].includes(level.kind)
  const { interruptCheck } = dialect
  const rows = {
    dialect,
    columnOf: fieldSql,
    others: isKeyed ? 'by row' : 'by key',
    indexed: level.table,
    check: dialect.checksWithin ? interruptCheck : null,
  } as const
  const conditions = level.where.slice(0, most).map(predicate => predicateSql(predicate, rows))
  if (!interruptCheck) return and(conditions)
  // First, so that it is also called for rows that the conditions leave out; with the row's id, or a join would call it for each key alone.
  return and([sql`${fieldSql('id')} + ${interruptCheck} > 0`, ...conditions])
}

/** The most rows that a quick list passes on its way to those that it gives, for a database that cannot stop a query at a row. */
export const mostPassed = 1000

/** The first rows that an index finds for a list, most of which its other conditions may leave out. */
const firstRows = (level: RootLevel, dialect: Dialect, columns: Sql): Sql => {
  const { keyset, order, page } = level
  const limit = page ? capped(page.limit) : number(0)
  const range = keyset ? betweenSql(order, keyset, fieldSql, dialect).range : []
  return sql`(select ${columns} from ${name(level.table)} as "t"
    where ${and([whereSql(level, dialect, level.foundBy), ...range])}
    order by ${orderSql(order, fieldSql, dialect, keyset?.backwards)} limit ${limit} + ${number(mostPassed)}) as "t"`
}

/**
 * The query for how many of the first rows it passed to fill the page of a list, which the query `rows` gives; null if that is full.
 */
export const passedSql = (level: RootLevel, dialect: Dialect, rows: Sql): Sql => {
  const { page, fetchOneMore } = level
  const wanted = sql`${page ? capped(page.limit) : number(0)} + ${number(fetchOneMore ? 1 : 0)}`
  return sql`case when (select count(*) from ${rows}) < ${wanted}
    then (select count(*) from ${firstRows(level, dialect, sql`1`)}) end`
}

/**
 * The query of a level, given the SQL for the ids that lead to it and for the number of rows it may have. `isBounded`: a list that
 * passes rows looks at its first rows alone.
 */
export const levelSql = (
  level: Level,
  dialect: Dialect,
  keys: Sql,
  budget: Sql,
  isBounded = false,
): Sql => {
  const table = name(level.table)
  const where = whereSql(level, dialect)
  switch (level.kind) {
    case 'root': {
      const { keyset, order, page, fetchOneMore, many, groups } = level
      if (groups && page) {
        const found = groupsSql(level, sql`${table} as "t" where ${where}`, dialect)
        return sql`${found} limit ${capped(page.limit)} + ${number(fetchOneMore ? 1 : 0)}`
      }
      const from =
        isBounded && level.foundBy !== undefined
          ? firstRows(level, dialect, sql`*`)
          : sql`${table} as "t"`
      const between = keyset ? betweenSql(order, keyset, fieldSql, dialect) : undefined
      const all = between ? and([where, ...between.range, ...between.rest]) : where
      const rows = sql`select ${fieldsSql(level, dialect)} from ${from}
    where ${all}`
      if (!many) return rows
      const ordered = sql`${rows} order by ${orderSql(order, fieldSql, dialect, keyset?.backwards)}`
      if (page === null) return sql`${ordered} limit ${budget}`
      const paged = sql`${ordered} limit ${capped(page.limit)} + ${number(fetchOneMore ? 1 : 0)}`
      return page.offset === null ? paged : sql`${paged} offset ${slot(page.offset)}`
    }
    case 'by ids':
      return dialect.byIds({ table, columns: fieldsSql(level, dialect), keys, where, budget })
    case 'children of': {
      const { keyset, order } = level
      // With cursors one row more says whether there is a next page.
      const more = sql`${trusted(keyset ? ' + 1' : '')}`
      const page = level.page && {
        limit: sql`${capped(level.page.limit)}${more}`,
        offset: level.page.offset === null ? null : slot(level.page.offset),
      }
      const by = fieldSql(level.by)
      const columns = fieldsSql(level, dialect)
      const between = keyset && order && betweenSql(order, keyset, fieldSql, dialect)
      const all = between ? and([where, ...between.range, ...between.rest]) : where
      const ordered = order ? orderSql(order, fieldSql, dialect, keyset?.backwards) : null
      return dialect.childrenOf({
        table,
        columns,
        keys,
        where: all,
        budget,
        by,
        page,
        order: ordered,
      })
    }
    case 'counts of': {
      const by = fieldSql(level.by)
      const counted = {
        columns: sql`${by}, count(*)`,
        where: sql`${where} group by ${by}`,
      }
      return dialect.childrenOf({ table, keys, budget, by, page: null, order: null, ...counted })
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

/** Whether the viewer of such rules is known by a subject. */
const isBySubject = (rules: readonly Predicate[]): boolean =>
  rules.some(rule =>
    someOf(rule, one => {
      const viewers = one.kind === 'has viewer' ? [one] : operandsIn(one)
      return viewers.some(to => 'from' in to && to.from !== undefined && to.from.by !== 'id')
    }),
  )

/**
 * The statement that looks up the rows of many ids at once, for a plan that looks up one row by its id alone; with a rule that names
 * the viewer it takes a list of viewers too, one for each id, and its last column is the place in the lists. Undefined for any other
 * plan, and for a database with a statement for each level.
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
  const ids = slot(id.to.slot)
  const where = { dialect, columnOf: fieldSql, others: 'by row' } as const
  const conditions = rules.map(rule => predicateSql(rule, where))
  const passed = and(conditions)
  const columns = fieldsSql(rows, dialect)
  const table = sql`${name(rows.table)} as "t"`
  // Many callers share it, so it has no value but their ids, and who they are.
  if (passed.parameters.some(one => one.kind !== 'slot' || one.slot !== VIEWER)) return undefined
  const query =
    passed.parameters.length === 0
      ? sql`select ${columns} from ${table}
    where ${and([singleStatement.isIn(fieldSql('id'), ids), ...conditions])}`
      : sql`select ${columns}, "k"."place" from ${singleStatement.pairs(ids, slot(VIEWER), isBySubject(rules))} as "k" ("id", "viewer", "place")
    join ${table} on "t"."id" = "k"."id" where ${filled(passed, () => column('k', 'viewer'))}`
  return statement(query, placeholder)
}
