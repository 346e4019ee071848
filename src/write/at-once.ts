/** Rows of one form that are written by one statement, behind a network: where each is judged as if the others came before it. */
import { columnName, entityOf } from '#model/model.ts'
import { goneWith, referencesTo } from '#model/references.ts'
import { column, filled, namesIn, parameter, type Sql, sql } from '#sql/sql.ts'
import type { GuardedStep, Writing } from '#write/command.ts'

const each = 'each row'

/** What is done, the conditions on rows, and what it makes of them. */
type AtOnce = {
  readonly does: 'create' | 'update' | 'delete'
  readonly conditions: readonly Sql[]
  /** The fields that it changes. */
  readonly changes?: Iterable<string>
}

/** Whether rows of an entity can be written in any order, each as if there were no others: none changes what a condition of another looks at, nor is it told by a revision how many they were. */
export const areApart = ({ model }: Writing, entityName: string, write: AtOnce): boolean => {
  const { does, conditions, changes = [] } = write
  const { entities } = model
  const self = entityOf(model, entityName)
  const gone = does === 'delete' ? goneWith(entities, entityName) : new Set([entityName])
  const names: string[] = []
  for (const [name, entity] of Object.entries(entities)) {
    // Nobody knows what triggers of the content's own do.
    if (gone.has(name) && entity.own.length > 0) return false
    // One may be kept by another that goes too: each alone is refused, all at once are not.
    if (does === 'delete' && gone.has(name) && referencesTo(entity, gone, 'restrict').length > 0)
      return false
    if (gone.has(name) || entity.view || referencesTo(entity, gone, 'set null').length > 0)
      names.push(entity.table)
    for (const [key, { kept, computed }] of Object.entries(entity.fields)) {
      if (kept || computed) names.push(columnName(key))
      if (!kept) continue
      const { to, through } = entity.relations[kept.relation] ?? {}
      // A row above is raised by each statement that changes how many are below it.
      const isAbove = to === entityName || through === entityName
      if (isAbove && does !== 'update' && entity.fields.revision) return false
      if (gone.has(to ?? '') || gone.has(through ?? '')) names.push('revision')
    }
  }
  // One may take the unique value that another gives up, or go with another.
  const isUnique = (key: string) =>
    self.fields[key]?.unique !== undefined || self.sets.some(({ fields }) => fields.includes(key))
  if (does === 'update' && [...changes].some(isUnique)) return false
  if (does === 'delete' && referencesTo(self, gone, 'cascade').length > 0) return false
  return !conditions.some(piece => namesIn(piece, names))
}

/** How a step writes all rows of its form by one statement, which `make` makes of the table that they come in, in their order; it returns a row for each. */
export const atOnce = (
  writing: Writing,
  entityName: string,
  write: AtOnce,
  make: (rows: Sql, end: Sql) => Sql,
): Pick<GuardedStep, 'many'> => {
  const { eachOf } = writing.dialect
  if (!eachOf) return {}
  const many = () => {
    if (!areApart(writing, entityName, write)) return undefined
    const one = make(sql``, sql``)
    const keys = new Set(one.parameters.flatMap(from => (from.kind === 'given' ? [from.key] : [])))
    if (keys.size === 0) return undefined
    const lists = [...keys].map(key => parameter({ kind: 'given', key, as: 'list' }))
    const table = eachOf(lists, each, [...keys])
    const { fields } = entityOf(writing.model, entityName)
    return filled(make(table, sql`order by ${column(each, 'its place')}`), from =>
      from.kind === 'given' && from.as === undefined
        ? writing.dialect.typed(column(each, from.key), fields[from.key]?.scalar ?? 'id')
        : parameter(from),
    )
  }
  return { many }
}
