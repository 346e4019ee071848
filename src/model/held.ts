/** What goes with a row that is deleted, and what keeps it from being deleted. */
import type { Entity } from '#model/entity.ts'

type Entities = Readonly<Record<string, Entity>>

/** The entities of which rows may go with a row of this one, by references that cascade; itself too. */
export const goneWith = (entities: Entities, entity: string): ReadonlySet<string> => {
  const gone = new Set([entity])
  // A set gives what is added on the way too.
  for (const target of gone)
    for (const [name, { fields }] of Object.entries(entities))
      for (const { references } of Object.values(fields))
        if (references?.entity === target && references.onDelete === 'cascade') gone.add(name)
  return gone
}

/**
 * The plurals of the entities whose rows keep a row of this one: they refer to it, or to a row that goes with it, and are to stay
 * (`onDelete: 'restrict'`).
 */
export const holdersOf = (entities: Entities, entity: string): readonly string[] => {
  const isHeldBy = (target: string, { fields }: Entity) =>
    Object.values(fields).some(
      ({ references }) => references?.entity === target && references.onDelete === 'restrict',
    )
  const holders = [...goneWith(entities, entity)].flatMap(target =>
    Object.values(entities).filter(one => isHeldBy(target, one)),
  )
  return [...new Set(holders.map(({ plural }) => plural))]
}
