/** A read plan as statements of one database: total, it cannot fail because of the caller. */

import { type Column, conditionOnEach, conditionSql } from '#read/condition.ts'
import type { Level, Order, ReadPlan } from '#read/plan.ts'
import type { Among, Dialect, Together } from '#sql/dialect.ts'
import {
  and,
  bind,
  column,
  comma,
  join,
  name,
  number,
  place,
  type Sql,
  type Statement,
  slot,
  sql,
  statement,
} from '#sql/sql.ts'

const alias = 't'
const budget = place({ kind: 'budget' })
const capped = (index: number): Sql => place({ kind: 'capped', slot: index })

const columnsSql = (columns: readonly Column[]): Sql =>
  join(
    columns.map(({ name }) => column(alias, name)),
    comma,
  )

/** Every order ends with the id, so that no page repeats or skips a row. */
const orderSql = (order: readonly Order[], dialect: Dialect): Sql => {
  const terms = order.map(({ column: by, descending }) =>
    dialect.ordered(column(alias, by.name), by.nullable, descending),
  )
  const ends = order.some(({ column }) => column.name === 'id')
  return join(ends ? terms : [...terms, sql`${column(alias, 'id')}`], comma)
}

/** Whether finding the rows may mean a walk through the table, which must be stoppable. */
export const scans = ({ where, source }: Level): boolean =>
  source.kind === 'total'
    ? source.kept === null
    : source.kind === 'root' &&
      where.some(c => c.kind === 'field' && c.is !== 'equals' && c.is !== 'below')

const whereSql = (level: Level, dialect: Dialect): Sql => {
  const isKeyed = level.source.kind === 'one' || level.source.kind === 'many'
  const conditions = level.where.map(condition =>
    (isKeyed ? conditionOnEach : conditionSql)(condition, level.table, dialect),
  )
  // First: it must count the rows that the conditions leave out as well.
  return and(dialect.tick && scans(level) ? [dialect.tick, ...conditions] : conditions)
}

const rootSql = (level: Level, dialect: Dialect, budget: Sql): Sql => {
  if (level.source.kind !== 'root') throw new Error('not a root')
  const { order, page, peek, many } = level.source
  const from = sql`select ${columnsSql(level.columns)} from ${name(level.table)} as ${name(alias)}
    where ${whereSql(level, dialect)}`
  if (!many) return from
  const ordered = sql`${from} order by ${orderSql(order, dialect)}`
  if (page === null) return sql`${ordered} limit ${budget}`
  const most = capped(page.limit)
  const limit = peek ? sql`${most} + 1` : most
  const paged = sql`${ordered} limit ${limit}`
  return page.offset === null ? paged : sql`${paged} offset ${slot(page.offset)}`
}

/** The number of rows, from the counts that the store keeps or by counting. */
const totalSql = (level: Level, dialect: Dialect): Sql => {
  if (level.source.kind !== 'total') throw new Error('not a total')
  const { kept } = level.source
  if (kept === null)
    return sql`select count(*) from ${name(level.table)} as ${name(alias)} where ${whereSql(level, dialect)}`
  const value = kept.slot === null ? bind('') : slot(kept.slot)
  return sql`select coalesce(sum(${name('n')}), 0) from ${name('counts')}
    where ${name('entity')} = ${bind(level.table)} and ${name('field')} = ${bind(kept.field)}
      and ${name('value')} = ${value}`
}

const levelSql = (
  level: Level,
  dialect: Dialect,
  keysOf: (level: number, column: number) => Sql,
  budget: Sql,
): Sql => {
  const { source } = level
  const table = name(level.table)
  switch (source.kind) {
    case 'root':
      return rootSql(level, dialect, budget)
    case 'total':
      return totalSql(level, dialect)
    case 'exists':
      return sql`select 1 from ${table} as ${name(alias)}
        where ${and([sql`${column(alias, 'id')} = ${slot(source.slot)}`, whereSql(level, dialect)])}`
    case 'one':
    case 'many': {
      const among: Among = {
        table,
        columns: columnsSql(level.columns),
        keys: keysOf(source.parent, source.kind === 'one' ? source.column : 0),
        where: whereSql(level, dialect),
        budget,
      }
      if (source.kind === 'one') return dialect.among(among)
      const { page } = source
      return dialect.below({
        ...among,
        by: column(alias, source.by),
        page: page && {
          limit: capped(page.limit),
          offset: page.offset === null ? null : slot(page.offset),
        },
      })
    }
    default:
      return source satisfies never
  }
}

/** One statement a level: the keys of a level are known when its turn comes. */
const apart = (plan: ReadPlan, dialect: Dialect): readonly Statement[] =>
  plan.levels.map(level =>
    statement(
      levelSql(
        level,
        dialect,
        (parent, column) => place({ kind: 'keys', level: parent, column }),
        budget,
      ),
      dialect.placeholder,
    ),
  )

const cte = (level: number): Sql => name(`l${level}`)

/** All levels in one statement, a CTE each. It gives a row for each level: its number, and each column as one text. */
const together = (plan: ReadPlan, dialect: Dialect, { gathered }: Together): Statement => {
  const { levels, roots } = plan
  const keysOf = (parent: number, key: number) =>
    sql`select ${name(levels[parent]?.columns[key]?.name ?? 'id')} from ${cte(parent)}`
  const [only] = levels
  if (levels.length === 1 && only)
    return statement(levelSql(only, dialect, keysOf, budget), dialect.placeholder)
  /** What the levels before one leave of the budget; of a single tree each level is bounded by the one above it. */
  const leftAt = (index: number): Sql => {
    const before = levels.flatMap(({ parts }, at) => (at < index && parts.length > 0 ? [at] : []))
    if (roots.length === 1 || before.length === 0) return budget
    const counts = before.map(at => sql`(select count(*) from ${cte(at)})`)
    return sql`greatest(${budget} - ${join(counts, sql` - `)}, 0)`
  }
  const width = Math.max(...levels.map(({ columns }) => columns.length))
  const ctes = levels.map((level, index) => {
    const labels = level.columns.map(({ name: label }) => name(label))
    return sql`${cte(index)} (${join(labels, comma)}) as (${levelSql(level, dialect, keysOf, leftAt(index))})`
  })
  const selects = levels.map(({ columns }, index) => {
    const own = columns.map(({ name: label, scalar }) => gathered(name(label), scalar))
    const padding = Array.from({ length: width - own.length }, () => sql`null`)
    return sql`select ${number(index)}, ${join([...own, ...padding], comma)} from ${cte(index)}`
  })
  return statement(
    sql`with ${join(ctes, comma)} ${join(selects, sql` union all `)}`,
    dialect.placeholder,
  )
}

/**
 * The statement that looks up the rows of many keys at once, for a plan that looks up one row by its id and by nothing
 * else; undefined for any other plan, and where levels are asked for apart.
 */
export const compileForMany = (plan: ReadPlan, dialect: Dialect): Statement | undefined => {
  const [level, ...below] = plan.levels
  const [condition, ...others] = level?.where ?? []
  if (dialect.levels.are === 'apart' || !level || below.length > 0 || others.length > 0)
    return undefined
  if (level.source.kind !== 'root' || level.source.many) return undefined
  if (condition?.kind !== 'field' || condition.is !== 'equals' || condition.column.name !== 'id')
    return undefined
  const ids = dialect.levels.listed(column(alias, 'id'), slot(condition.slot))
  return statement(
    sql`select ${columnsSql(level.columns)} from ${name(level.table)} as ${name(alias)} where ${ids}`,
    dialect.placeholder,
  )
}

/** The statements of a plan on one database: one a level in the order of its levels, or one for them all. */
export const compile = (plan: ReadPlan, dialect: Dialect): readonly Statement[] =>
  dialect.levels.are === 'apart' ? apart(plan, dialect) : [together(plan, dialect, dialect.levels)]
