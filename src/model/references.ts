/** References between entities: which rows go with a deleted one, which stay, which keep it from being deleted, and which tables come first. */
import type { Entity } from '#model/entity.ts'
import type { Field } from '#model/field.ts'
import type { Entities } from '#model/model.ts'

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
