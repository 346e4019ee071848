/** Deletes rows. References to them become null before that, which raises the revisions of their rows: a foreign key, which would set them null too, knows of none. */
import type { Entity } from '#model/entity.ts'
import { columnName, type Entities, entityOf } from '#model/model.ts'
import { dependenciesFirst, goneWith, type Reference, referencesTo } from '#model/references.ts'
import { column, comma, join, moment, name, type Sql, sql, trusted } from '#sql/sql.ts'
import { type GuardedStep, idsOf, result, type Writing } from '#write/command.ts'
import { fieldsToReset } from '#write/input.ts'
import { effectSteps } from '#write/outbox.ts'
import { assignments, raised } from '#write/row-values.ts'

/** An entity whose rows a delete must change, and its fields that become null. */
type Changed = {
  readonly name: string
  readonly entity: Entity
  readonly references: readonly Reference[]
}

/** What a delete of a row must change, by entities and the name of its own: found once, since most deletes change nothing. */
const known = new WeakMap<Entities, Map<string, readonly Changed[]>>()

const changedBy = (entities: Entities, target: string): readonly Changed[] => {
  const gone = goneWith(entities, target)
  return Object.entries(entities).flatMap(([name, entity]) => {
    const references = referencesTo(entity, gone, 'set null')
    const resets = references.some(({ key }) => fieldsToReset(entity, key).size > 0)
    const { fields } = entity
    const isRaised =
      references.length > 0 &&
      (fields.revision !== undefined || Object.values(fields).some(({ touched }) => touched))
    // PostgreSQL makes at most two of them null one by one: it checks those that are left when a row is changed twice in a
    // transaction, and by then a row that goes may be gone.
    return resets || isRaised || references.length > 2 ? [{ name, entity, references }] : []
  })
}

const or = trusted(' or ')

/**
 * The steps before a delete of the rows whose ids a query gives that set references null, to them and to the rows that go with them, and raise
 * the revisions of their rows; none if the foreign keys do as well. They reach the rows that refer then: the command must be
 * `isolated`, so that no others come.
 */
const nullingSteps = (writing: Writing, target: string, deleted: Sql): readonly GuardedStep[] => {
  const { model, dialect } = writing
  const { entities } = model
  const changes = known
    .getOrInsertComputed(entities, () => new Map())
    .getOrInsertComputed(target, () => changedBy(entities, target))
  if (changes.length === 0) return []
  const gone = goneWith(entities, target)

  // The ids of the rows of an entity that go, as a statement names them: with a space, as no table is called.
  const goneOf = (entity: string) => name(`gone ${entityOf(model, entity).table}`)
  const leadsToGone = ({ key, to }: Reference) =>
    dialect.among(name(columnName(key)), sql`select id from ${goneOf(to)}`)
  const anyLeadsToGone = (references: readonly Reference[]) => join(references.map(leadsToGone), or)

  // The clause before a statement that asks for them: a list for each entity, those that it refers to first.
  const lists = dependenciesFirst(entities).flatMap(([entityName, entity]) => {
    if (!gone.has(entityName)) return []
    const table = name(entity.table)
    const ids = goneOf(entityName)
    const references = referencesTo(entity, gone, 'cascade')
    const above = references.filter(({ to }) => to !== entityName)
    const first =
      entityName === target ? deleted : sql`select id from ${table} where ${anyLeadsToGone(above)}`
    // Rows below those of the same table that go.
    const own = references
      .filter(({ to }) => to === entityName)
      .map(({ key }) => sql`${column('t', columnName(key))} = ${column('g', 'id')}`)
    const below = sql`select ${column('t', 'id')} from ${ids} as "g" join ${table} as "t" on ${join(own, or)}`
    return [sql`${ids} (id) as (${own.length === 0 ? first : sql`${first} union ${below}`})`]
  })
  const goneClause = sql`with recursive ${join(lists, comma)}`

  return changes.map(({ name: changed, entity, references }) => {
    // A reference that leads to a row that goes becomes null, and the fields that such a change resets are reset.
    const cases = new Map<string, Sql[]>()
    for (const reference of references)
      for (const [key, value] of [
        [reference.key, null] as const,
        ...fieldsToReset(entity, reference.key),
      ])
        cases
          .getOrInsertComputed(key, () => [])
          .push(sql`when ${leadsToGone(reference)} then ${value}`)
    const sets = [...cases].map(([key, all]) => {
      const own = name(columnName(key))
      return [key, sql`case ${join(all, trusted(' '))} else ${own} end`] as const
    })
    const all = new Map([...sets, ...raised({ model: writing.model, now: moment }, changed)])
    const change = sql`${goneClause}
      update ${name(entity.table)} set ${assignments(all)}
      where ${anyLeadsToGone(references)}`
    return { sql: change, expect: 'any' }
  })
}

/**
 * The statements that delete the row for which this holds, or all such rows, with what is to be done before they go; the first of them
 * finds them, and has this guard.
 */
export const deleteSteps = (
  writing: Writing,
  entityName: string,
  holds: Sql,
  { name: own, ...guard }: Omit<GuardedStep, 'sql'> & { readonly name: string },
  returned: Sql = sql`id`,
  isMany = false,
): readonly GuardedStep[] => {
  const { model, dialect } = writing
  const table = name(entityOf(model, entityName).table)
  const ids = isMany ? idsOf(writing, own) : sql`select ${dialect.typed(result(own), 'id')}`
  const before = [
    ...effectSteps(writing, entityName, 'delete', isMany ? ids : result(own), isMany),
    ...nullingSteps(writing, entityName, ids),
  ]
  if (before.length === 0)
    return [
      { name: own, sql: sql`delete from ${table} where ${holds} returning ${returned}`, ...guard },
    ]
  // Its conditions may look at references that are null by then, so they are tested before.
  const found = sql`select ${returned} from ${table} where ${holds}${dialect.lockClause}`
  const isTheirs = isMany ? dialect.among(name('id'), ids) : sql`id = ${result(own)}`
  const gone = sql`delete from ${table} where ${isTheirs} returning id`
  // A row may go with another one of them.
  const expect = isMany ? 'any' : 'row'
  return [{ name: own, sql: found, ...guard }, ...before, { sql: gone, expect }]
}
