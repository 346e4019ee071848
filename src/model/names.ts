/** Names of the model in other forms: as SQL columns, and as types. */

/** `emailVerified` as SQL writes it: `email_verified`. */
export const columnName = (field: string): string =>
  field.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** A name as one of its kind: `a thing`, `an item`. */
export const withArticle = (name: string): string => `${/^[aeio]/i.test(name) ? 'an' : 'a'} ${name}`

/** An entity's name with a capital letter, for types and sentences. */
export const typeName = (entity: string): string => entity.charAt(0).toUpperCase() + entity.slice(1)

/** How the name of a table is written, as the source of a regular expression. */
export const tableForm = '[a-z][a-z0-9_]*'
