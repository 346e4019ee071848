/** What keeps a row from being deleted. */
import type { Entity } from '#model/entity.ts'

/**
 * The plurals of the entities whose rows keep a row of this one: they refer to it, or to a row that goes with it, and are to stay
 * (`onDelete: 'restrict'`).
 */
export const holdersOf = (
  entities: Readonly<Record<string, Entity>>,
  entity: string,
): readonly string[] => {
  const gone = new Set([entity])
  const holders = new Set<string>()
  // A set gives what is added on the way too.
  for (const target of gone)
    for (const [name, holder] of Object.entries(entities))
      for (const { references } of Object.values(holder.fields)) {
        if (references?.entity !== target) continue
        if (references.onDelete === 'cascade') gone.add(name)
        if (references.onDelete === 'restrict') holders.add(holder.plural)
      }
  return [...holders]
}
