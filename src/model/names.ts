/** How names of the model are written elsewhere: in SQL, and as types. */

/** `emailVerified` as SQL writes it: `email_verified`. */
export const columnName = (field: string): string =>
  field.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** An entity's name as a type and a sentence write it, with a capital letter. */
export const typeName = (entity: string): string => entity.charAt(0).toUpperCase() + entity.slice(1)
