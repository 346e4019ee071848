/** Names of the model: entities and fields looked up by name, and names in other forms, as SQL columns and as types. */

/** The columns of fields: a write of many rows asks for each of them thousands of times. */
const columns = new Map<string, string>()

/** `emailVerified` as SQL writes it: `email_verified`. */
export const columnName = (field: string): string =>
  columns.getOrInsertComputed(field, () =>
    field.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
  )

/** The longest name that PostgreSQL does not cut off. */
export const longestName = 63

/** The name of the constraint that keeps the column of a choice to its values. */
export const valuesName = (column: string): string => `${column}_values`

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

/** A field, as far as it may link rows. */
type Linking = {
  readonly references: { readonly entity: string } | undefined
  readonly nullable?: boolean
}

/** The fields by which rows of a third entity link those of an entity with those of a relation's target; undefined if it has none. */
export const linkOf = (
  entities: Readonly<Record<string, { readonly fields: Readonly<Record<string, Linking>> }>>,
  name: string,
  {
    through = '',
    by,
    to,
  }: { readonly through?: string | undefined; readonly by: string; readonly to: string },
): { readonly by: string; readonly of: string } | undefined => {
  const references = Object.entries(entities[through]?.fields ?? {}).filter(
    ([, { references, nullable }]) => references && !nullable,
  )
  const leadsTo = (entity: string, but = '') =>
    references.find(([key, one]) => one.references?.entity === entity && key !== but)?.[0]
  const own = by === '' ? leadsTo(name) : references.find(([key]) => key === by)?.[0]
  const of = own === undefined ? undefined : leadsTo(to, own)
  return own === undefined || of === undefined ? undefined : { by: own, of }
}
