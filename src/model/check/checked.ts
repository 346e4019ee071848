/** The arguments and results of the checks of a model. */
import type { Entity } from '#model/entity.ts'

/** One entity among all of them. */
export type Checked = {
  readonly entities: Readonly<Record<string, Entity>>
  readonly name: string
  readonly self: Entity
}

/** Sentences, each about one fault. */
export type Faults = Iterable<string>

/** The lists of an entity that REST has below other entities. */
export const nestedLists = ({ entities, name }: Checked): readonly Entity['relations'][string][] =>
  Object.values(entities)
    .flatMap(({ relations }) => Object.values(relations))
    .filter(({ kind, to, rest }) => kind === 'many' && rest && to === name)
