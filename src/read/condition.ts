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

/** A column of the table itself, or of the row of `table` that its column `by` points to. */
export type SelfPath = {
  readonly column: string
  readonly through?: { readonly table: string; readonly by: string }
}

/** The condition that the row is the viewer's, by the paths of a `self` rule. */
export const selfCondition = (model: Model, entity: Entity, rule: Rule): Condition => {
  if (rule.kind !== 'self') throw new Error(`a ${rule.kind} rule is not about rows`)
  const paths = rule.fields.map((path): SelfPath => {
    const [head = '', tail] = path.split('.')
    if (tail === undefined) return { column: columnName(head) }
    const relation = entity.relations[head]
    if (!relation) throw new Error(`${entity.plural} have no relation ${head}`)
    const { table } = entityOf(model, relation.to)
    return { column: columnName(tail), through: { table, by: columnName(relation.by) } }
  })
  return { kind: 'self', paths }
}

const alias = 't'

const selfPath = (path: SelfPath, of: string): Sql => {
  const { through } = path
  if (!through) return sql`${column(of, path.column)} = ${slot(VIEWER)}`
  return sql`exists (select 1 from ${name(through.table)} as ${name('o')}
    where ${column('o', 'id')} = ${column(of, through.by)} and ${column('o', path.column)} = ${slot(VIEWER)})`
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
      condition.paths.map(path => selfPath(path, of)),
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
