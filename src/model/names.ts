/** Names of the model: entities and fields looked up by name, and names in other forms, as SQL columns and as types. */

/** `emailVerified` as SQL writes it: `email_verified`. */
export const columnName = (field: string): string =>
  field.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** A name as one of its kind: `a thing`, `an item`. */
export const withArticle = (name: string): string => `${/^[aeio]/i.test(name) ? 'an' : 'a'} ${name}`

/** An entity's name with a capital letter, for types and sentences. */
export const typeName = (entity: string): string => entity.charAt(0).toUpperCase() + entity.slice(1)

/** How the name of a table is written, as the source of a regular expression. */
export const tableForm = '[a-z][a-z0-9_]*'

/** Throws a plain Error that says, in a sentence, what is wrong with the model. */
export const wrong = (sentence: string): never => {
  throw new Error(`the model is wrong: ${sentence}`)
}

/** The entity of that name; a bug if there is none. */
export const entityOf = <E>(
  { entities }: { readonly entities: Readonly<Record<string, E>> },
  name: string,
): E => entities[name] ?? wrong(`${name} is not an entity`)

/** The field of that name; a bug if there is none. */
export const fieldOf = <F>(
  entity: { readonly plural: string; readonly fields: Readonly<Record<string, F>> },
  name: string,
): F => entity.fields[name] ?? wrong(`${entity.plural} have no field ${name}`)
