/** Entities and fields by their names; apart from the checks of a model, which the threads of a store need not load. */
import type { Entity } from '#model/entity.ts'
import type { Field } from '#model/field.ts'

/** Throws a plain Error that says, in a sentence, what is wrong with the model. */
export const wrong = (sentence: string): never => {
  throw new Error(`the model is wrong: ${sentence}`)
}

/** The entity of that name; a bug where there is none. */
export const entityOf = (
  { entities }: { readonly entities: Readonly<Record<string, Entity>> },
  name: string,
): Entity => entities[name] ?? wrong(`${name} is not an entity`)

/** The field of that name; a bug where there is none. */
export const fieldOf = (entity: Entity, name: string): Field =>
  entity.fields[name] ?? wrong(`${entity.plural} have no field ${name}`)
