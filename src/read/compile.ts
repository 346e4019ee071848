/** A read plan as statements of one database: total, it cannot fail because of the caller. */

import { type Column, conditionSql } from '#read/condition.ts'
import type { Level, Order, ReadPlan } from '#read/plan.ts'
import type { Among, Dialect } from '#sql/dialect.ts'
import {
  and,
  bind,
  column,
  comma,
  join,
  name,
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
const scans = ({ where, source }: Level): boolean =>
  source.kind === 'total'
    ? source.kept === null
    : source.kind === 'root' &&
      where.some(c => c.kind === 'field' && c.is !== 'equals' && c.is !== 'below')

const whereSql = (level: Level, dialect: Dialect): Sql => {
  const conditions = level.where.map(condition => conditionSql(condition, level.table, dialect))
  // First: it must count the rows that the conditions leave out as well.
  return and(dialect.tick && scans(level) ? [dialect.tick, ...conditions] : conditions)
}

const rootSql = (level: Level, dialect: Dialect): Sql => {
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
): Sql => {
  const { source } = level
  const table = name(level.table)
  switch (source.kind) {
    case 'root':
      return rootSql(level, dialect)
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

/** One statement a level, in the order of the plan's levels: a level's keys are known when its turn comes. */
export const compile = (plan: ReadPlan, dialect: Dialect): readonly Statement[] =>
  plan.levels.map(level =>
    statement(
      levelSql(level, dialect, (parent, column) => place({ kind: 'keys', level: parent, column })),
      dialect.placeholder,
    ),
  )
