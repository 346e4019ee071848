/** References between entities: which rows go with a deleted one, which stay, which keep it from being deleted, and which tables come first. */
import type { Entity } from '#model/entity.ts'
import type { Field } from '#model/field.ts'

type Entities = Readonly<Record<string, Entity>>

/** A field that refers to rows of an entity. */
export type Reference = { readonly key: string; readonly to: string }

/** The fields of an entity to which this happens when a row of one of these entities is deleted. */
export const referencesTo = (
  { fields }: Entity,
  entities: ReadonlySet<string>,
  onDelete: NonNullable<Field['references']>['onDelete'],
): readonly Reference[] =>
  Object.entries(fields).flatMap(([key, { references }]) =>
    references?.onDelete === onDelete && entities.has(references.entity)
      ? [{ key, to: references.entity }]
      : [],
  )

/** Whether rows of an entity belong to those that this field of theirs names: they are written with them or below them, or link them. */
const belongs = (entities: Entities, name: string, { key, to }: Reference): boolean => {
  const isNested = (entities[name]?.rest.nested.length ?? 0) > 0
  return Object.entries(entities).some(([above, { relations }]) =>
    Object.values(relations).some(relation => {
      if (relation.through === name) return above === to || relation.to === to
      const isBelow = above === to && relation.to === name && relation.kind === 'many'
      return (
        isBelow && relation.by === key && (relation.nestedWrites || (relation.rest && isNested))
      )
    }),
  )
}

/** The entities, of which those rows go with a deleted one that belong to it, where the declaration does not say it. */
export const withDeletions = <M extends Entities>(entities: M): M => {
  let isSame = true
  const decided = Object.fromEntries(
    Object.entries(entities).map(([name, self]) => {
      const going = Object.entries(self.fields).filter(([key, { references: to }]) => {
        const isOpen = to?.isUsual === true && to.onDelete === 'restrict'
        return isOpen && !self.appendOnly && belongs(entities, name, { key, to: to.entity })
      })
      if (going.length === 0) return [name, self]
      isSame = false
      const fields = going.map(([key, field]) => {
        const references = field.references && { ...field.references, onDelete: 'cascade' as const }
        return [key, { ...field, references }] as const
      })
      return [name, { ...self, fields: { ...self.fields, ...Object.fromEntries(fields) } }]
    }),
  ) as M
  return isSame ? entities : decided
}

/** The entities whose rows may go with a row of this one, by references that cascade; itself too. */
export const goneWith = (entities: Entities, entity: string): ReadonlySet<string> => {
  const gone = new Set([entity])
  // A loop over a set also reaches the members that are added meanwhile.
  for (const target of gone)
    for (const [name, one] of Object.entries(entities))
      if (referencesTo(one, new Set([target]), 'cascade').length > 0) gone.add(name)
  return gone
}

/**
 * The entities whose rows keep a row of this one: they refer to it, or to a row that goes with it, and are to stay
 * (`onDelete: 'restrict'`).
 */
export const holdersOf = (entities: Entities, entity: string): readonly Entity[] => {
  const gone = goneWith(entities, entity)
  return Object.values(entities).filter(one => referencesTo(one, gone, 'restrict').length > 0)
}

/** The entities by name, in an order in which their tables can be made and filled: targets of references come first. */
export const dependenciesFirst = (entities: Entities): readonly (readonly [string, Entity])[] => {
  const sorted = new Map<string, Entity>()
  const waiting = new Set<string>()
  const add = (name: string) => {
    const entity = entities[name]
    if (!entity || sorted.has(name) || waiting.has(name)) return
    waiting.add(name)
    for (const { references } of Object.values(entity.fields))
      if (references) add(references.entity)
    sorted.set(name, entity)
  }
  for (const name of Object.keys(entities)) add(name)
  return [...sorted]
}

/** The fields of an entity that refer to its own rows. */
export const selfReferences = (entities: Entities, entity: Entity): readonly string[] =>
  Object.entries(entity.fields).flatMap(([key, { references }]) =>
    references && entities[references.entity] === entity ? [key] : [],
  )
