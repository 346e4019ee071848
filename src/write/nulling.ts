/** Sets references to a row that is deleted null, and raises the revisions of their rows: a foreign key, which would set them null too, knows of none. */
import type { Entity } from '#model/entity.ts'
import { columnName, type Entities, entityOf, type Model } from '#model/model.ts'
import { dependenciesFirst, goneWith, type Reference, referencesTo } from '#model/references.ts'
import type { Dialect } from '#sql/dialect.ts'
import { column, comma, join, name, type Sql, sql, trusted } from '#sql/sql.ts'
import { takenBack } from '#write/resets.ts'
import type { GuardedStep, Writing } from '#write/steps.ts'

/** A row that is deleted, with the entities of which rows go with it. */
type Deletion = {
  readonly model: Model
  readonly dialect: Dialect
  readonly target: string
  readonly id: Sql
  readonly gone: ReadonlySet<string>
}

const or = trusted(' or ')

/** The ids of the rows of an entity that go, as a statement names them: with a space, as no table is called. */
const goneOf = ({ model }: Deletion, entity: string): Sql =>
  name(`gone ${entityOf(model, entity).table}`)

/** Whether a reference of a row leads to one that goes. */
const leadsToGone = (deletion: Deletion, { key, to }: Reference): Sql =>
  deletion.dialect.among(name(columnName(key)), sql`select id from ${goneOf(deletion, to)}`)

/** Whether any of these does. */
const anyLeadsToGone = (deletion: Deletion, references: readonly Reference[]): Sql =>
  join(
    references.map(reference => leadsToGone(deletion, reference)),
    or,
  )

/** The rows below those of the same table that go. */
const belowOwn = (gone: Sql, table: string, own: readonly Reference[]): Sql => {
  const refers = own.map(({ key }) => sql`${column('t', columnName(key))} = ${column('g', 'id')}`)
  return sql`select ${column('t', 'id')} from ${gone} as "g" join ${name(table)} as "t" on ${join(refers, or)}`
}

/** The ids of all rows that go, by entity: the clause before a statement that asks for them. */
const goneClause = (deletion: Deletion): Sql => {
  const { model, dialect, target, id, gone } = deletion
  const lists = dependenciesFirst(model.entities).flatMap(([entityName, entity]) => {
    if (!gone.has(entityName)) return []
    const { table } = entity
    const references = referencesTo(entity, gone, 'cascade')
    const own = references.filter(({ to }) => to === entityName)
    const above = references.filter(({ to }) => to !== entityName)
    const ids = goneOf(deletion, entityName)
    const first =
      entityName === target
        ? sql`select ${dialect.typed(id, 'id')}`
        : sql`select id from ${name(table)} where ${anyLeadsToGone(deletion, above)}`
    const all = own.length === 0 ? first : sql`${first} union ${belowOwn(ids, table, own)}`
    return [sql`${ids} (id) as (${all})`]
  })
  return sql`with recursive ${join(lists, comma)}`
}

/**
 * Whether a row must be changed before the delete: for its revision, for what the change takes back, or since it has more references than
 * PostgreSQL makes null one by one. It checks those that are left when a row is changed twice in a transaction, and by then a row that goes may be gone.
 */
const mustChange = (entity: Entity, references: readonly Reference[]): boolean =>
  references.length > 2 ||
  (references.length > 0 && entity.fields.revision !== undefined) ||
  references.some(({ key }) => takenBack(entity, key).size > 0)

/** The assignments that make references null where they lead to a row that goes, and take back what such a change does. */
const nulled = (deletion: Deletion, { entity, references }: Changed): readonly Sql[] => {
  const cases = new Map<string, Sql[]>()
  for (const reference of references) {
    const changes = [[reference.key, null] as const, ...takenBack(entity, reference.key)]
    for (const [key, value] of changes)
      cases
        .getOrInsertComputed(key, () => [])
        .push(sql`when ${leadsToGone(deletion, reference)} then ${value}`)
  }
  return [...cases].map(([key, all]) => {
    const own = name(columnName(key))
    return sql`${own} = case ${join(all, trusted(' '))} else ${own} end`
  })
}

/** An entity whose rows a delete must change, and its fields that become null. */
type Changed = { readonly entity: Entity; readonly references: readonly Reference[] }

/** What a delete of a row of an entity must change, by the name of the entity: found once, since most deletes change nothing. */
const known = new WeakMap<Entities, Map<string, readonly Changed[]>>()

const changedBy = (entities: Entities, target: string): readonly Changed[] =>
  known
    .getOrInsertComputed(entities, () => new Map())
    .getOrInsertComputed(target, () => {
      const gone = goneWith(entities, target)
      return Object.values(entities).flatMap(entity => {
        const references = referencesTo(entity, gone, 'set null')
        return mustChange(entity, references) ? [{ entity, references }] : []
      })
    })

/**
 * The steps before a delete of the row of this id that set references null, to it and to what goes with it, and raise the revisions of
 * their rows; none where the foreign keys do as well. They reach the rows that refer then: the command must be `isolated`, so that no
 * others come.
 */
export const nullingSteps = (
  { model, dialect }: Writing,
  target: string,
  id: Sql,
): readonly GuardedStep[] => {
  const changed = changedBy(model.entities, target)
  if (changed.length === 0) return []
  const deletion: Deletion = { model, dialect, target, id, gone: goneWith(model.entities, target) }
  return changed.map(({ entity, references }) => {
    const raised = entity.fields.revision ? [sql`revision = revision + 1`] : []
    const sets = [...nulled(deletion, { entity, references }), ...raised]
    const change = sql`${goneClause(deletion)}
      update ${name(entity.table)} set ${join(sets, comma)}
      where ${anyLeadsToGone(deletion, references)}`
    return { sql: change, expect: 'any' }
  })
}
