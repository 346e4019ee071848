/** Conditions on rows: as data in a plan or a command, and as SQL. */
import type { Entity } from '#model/entity.ts'
import { columnName, entityOf, type Model } from '#model/model.ts'
import type { Rule } from '#model/policy.ts'
import type { Comparison, Slot } from '#read/selection.ts'
import { VIEWER } from '#read/selection.ts'
import type { Dialect, Scalar } from '#sql/dialect.ts'
import { column, join, name, type Sql, slot, sql } from '#sql/sql.ts'

export type Column = { readonly name: string; readonly scalar: Scalar; readonly nullable: boolean }

/** A condition with its column; `self`: the row is the viewer's by one of these paths. */
export type Condition =
  | {
      readonly kind: 'field'
      readonly column: Column
      readonly is: Comparison
      readonly slot: Slot
    }
  | { readonly kind: 'self'; readonly paths: readonly SelfPath[] }

/** A column of the table itself, or below: a column `by` of it points to a row of `table`, and so on from there. */
export type SelfPath =
  | { readonly column: string }
  | { readonly by: string; readonly table: string; readonly next: SelfPath }

const pathOf = (
  model: Model,
  entity: Entity,
  [head = '', ...rest]: readonly string[],
): SelfPath => {
  if (rest.length === 0) return { column: columnName(head) }
  const relation = entity.relations[head]
  if (!relation) throw new Error(`${entity.plural} have no relation ${head}`)
  const target = entityOf(model, relation.to)
  return { by: columnName(relation.by), table: target.table, next: pathOf(model, target, rest) }
}

/** The condition that the row is the viewer's, by the paths of a `self` rule. */
export const selfCondition = (model: Model, entity: Entity, rule: Rule): Condition => {
  if (rule.kind !== 'self') throw new Error(`a ${rule.kind} rule is not about rows`)
  return { kind: 'self', paths: rule.fields.map(path => pathOf(model, entity, path.split('.'))) }
}

const alias = 't'

/** By the key that the row holds: a list of one's own then comes from that key's index, not from a walk. */
const selfPath = (path: SelfPath, columnOf: (column: string) => Sql): Sql => {
  if ('column' in path) return sql`${columnOf(path.column)} = ${slot(VIEWER)}`
  return sql`${columnOf(path.by)} in (select ${name('id')} from ${name(path.table)}
    where ${selfPath(path.next, name)})`
}

/** Whose a row is, looked up from the row itself: it costs the same however much the viewer has. */
const ownerOf = (path: SelfPath, columnOf: (column: string) => Sql): Sql => {
  if ('column' in path) return columnOf(path.column)
  const { table, by, next } = path
  return sql`(select ${ownerOf(next, key => column(table, key))} from ${name(table)}
    where ${column(table, 'id')} = ${columnOf(by)})`
}

/** A condition on rows that were found by their keys already. */
export const conditionOnEach = (condition: Condition, table: string, dialect: Dialect): Sql => {
  if (condition.kind !== 'self') return conditionSql(condition, table, dialect)
  const owners = condition.paths.map(
    path => sql`${ownerOf(path, key => column(alias, key))} = ${slot(VIEWER)}`,
  )
  return sql`(${join(owners, sql` or `)})`
}

/** A condition on the rows of `of`, an alias or a table's own name. */
export const conditionSql = (
  condition: Condition,
  table: string,
  dialect: Dialect,
  of: string = alias,
): Sql => {
  if (condition.kind === 'self')
    return sql`(${join(
      condition.paths.map(path => selfPath(path, key => column(of, key))),
      sql` or `,
    )})`
  const left = column(of, condition.column.name)
  const right = slot(condition.slot)
  switch (condition.is) {
    case 'equals':
      return sql`${left} = ${right}`
    case 'at least':
      return sql`${left} >= ${right}`
    case 'at most':
      return sql`${left} <= ${right}`
    case 'below':
      return sql`${left} < ${right}`
    case 'above zero':
      return sql`${left} > 0`
    case 'contains':
      return dialect.contains(table, left, right, true)
    case 'contains short':
      return dialect.contains(table, left, right, false)
    default:
      return condition.is satisfies never
  }
}
