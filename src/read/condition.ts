/** Conditions on rows: as data in a plan or a command, and as SQL. */
import type { Entity } from '#model/entity.ts'
import type { Model } from '#model/model.ts'
import { columnName, entityOf } from '#model/names.ts'
import type { Rule } from '#model/policy.ts'
import { type Comparison, VIEWER, type Where } from '#read/selection.ts'
import type { Dialect } from '#sql/dialect.ts'
import { column, join, name, type Sql, slot, sql } from '#sql/sql.ts'

/** A condition on a field, or `self`: one of these paths leads from the row to the viewer. */
export type Condition =
  | ({ readonly kind: 'field' } & Where)
  | { readonly kind: 'self'; readonly paths: readonly SelfPath[] }

/** A field of the table itself, or of another one: `by` refers to a row of `table`, where `next` goes on. */
type SelfPath =
  | { readonly field: string }
  | { readonly by: string; readonly table: string; readonly next: SelfPath }

const pathOf = (
  model: Model,
  entity: Entity,
  [head = '', ...rest]: readonly string[],
): SelfPath => {
  if (rest.length === 0) return { field: head }
  const relation = entity.relations[head]
  if (!relation) throw new Error(`${entity.plural} have no relation ${head}`)
  const target = entityOf(model, relation.to)
  return { by: relation.by, table: target.table, next: pathOf(model, target, rest) }
}

/** The condition that the row is the viewer's, by the paths of a `self` rule. */
export const selfCondition = (model: Model, entity: Entity, rule: Rule): Condition => {
  if (rule.kind !== 'self') throw new Error(`a ${rule.kind} rule is not about rows`)
  return { kind: 'self', paths: rule.fields.map(path => pathOf(model, entity, path.split('.'))) }
}

const tablesOn = (path: SelfPath): readonly string[] =>
  'field' in path ? [] : [path.table, ...tablesOn(path.next)]

/** The other tables that a condition looks into. */
export const tablesIn = (condition: Condition): readonly string[] =>
  condition.kind === 'self' ? condition.paths.flatMap(tablesOn) : []

const alias = 't'

/** The SQL of a field in a condition: with an alias, or bare. */
type ColumnOf = (field: string) => Sql

const bare: ColumnOf = field => name(columnName(field))
const of =
  (table: string): ColumnOf =>
  field =>
    column(table, columnName(field))

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
  const to = `${alias}${hop}`
  return sql`(select ${ownerOf(next, of(to), hop + 1)} from ${name(table)} as ${name(to)}
    where ${column(to, 'id')} = ${columnOf(by)})`
}

const anyOf = (conditions: readonly Sql[]): Sql => sql`(${join(conditions, sql` or `)})`

/** A condition on rows that were already found by their keys. */
export const conditionOnEach = (condition: Condition, table: string, dialect: Dialect): Sql =>
  condition.kind === 'self'
    ? anyOf(condition.paths.map(path => sql`${ownerOf(path, of(alias))} = ${slot(VIEWER)}`))
    : conditionSql(condition, table, dialect)

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
  rows: string = alias,
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
