/** What the tables of all engines have in common: the things of a schema, and what a model asks of them. */
import type { Entity } from '#model/entity.ts'
import type { Field } from '#model/field.ts'
import { columnName } from '#model/model.ts'

/** One thing of the schema: its name and the statement that makes it. */
export type Definition = {
  readonly name: string
  readonly text: string
  /** The table that it serves, where it is none itself. */
  readonly of?: string
  /** Statements that make it tell of rows that are there before it. */
  readonly fill?: readonly string[]
}

const quoted = (value: unknown) =>
  typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)

/** The default that lets a column be added to a table that has rows. */
export const initialOf = ({ initial }: Field): string =>
  initial === undefined || typeof initial === 'string' || initial.value === null
    ? ''
    : `default ${quoted(initial.value)}`

/** Parts of a text with a space between them, without those that are empty. */
export const spaced = (parts: readonly string[]): string =>
  parts.filter(part => part !== '').join(' ')

export type Term = {
  readonly column: string
  readonly nullable: boolean
  readonly descending: boolean
}

/** An index: `sorted` where it serves an order, in which null has a place of its own. */
export type Index = {
  readonly name: string
  readonly terms: readonly Term[]
  readonly unique: boolean
  readonly sorted: boolean
}

const termOf = (entity: Entity, signed: string): Term => {
  const descending = signed.startsWith('-')
  const field = descending ? signed.slice(1) : signed
  const { nullable = false } = entity.fields[field] ?? {}
  return { column: columnName(field), nullable, descending }
}

const indexOf = (
  entity: Entity,
  signed: readonly string[],
  { unique = false, sorted = false } = {},
): Index => {
  const terms = signed.map(term => termOf(entity, term))
  const label = terms
    .map(({ column, descending }) => `${column}${descending ? '_down' : ''}`)
    .join('_')
  return { name: `${entity.table}_by_${label}`, terms, unique, sorted }
}

/** The sorts that a list offers, each in the directions it has: ties are always by id ascending. */
const sortsOf = (entity: Entity): readonly string[] => {
  const { sort } = entity.rest.listing
  if (!sort) return []
  const fields = sort.fields.filter(field => field !== 'id')
  return sort.style === 'signed list' ? fields : fields.flatMap(field => [field, `-${field}`])
}

const askedIndexes = (entity: Entity): readonly Index[] => [
  ...Object.entries(entity.fields).flatMap(([key, { references, unique }]) =>
    references || unique !== undefined
      ? [indexOf(entity, [key], { unique: unique !== undefined })]
      : [],
  ),
  ...sortsOf(entity).map(sort => indexOf(entity, [sort], { sorted: true })),
  ...entity.indexes.map(terms => indexOf(entity, terms)),
  ...entity.sets.map(terms => indexOf(entity, terms, { unique: true })),
]

/** The indexes of an entity, of one name the first: of references and unique fields, of sorts, and what it lists itself. */
export const indexesOf = (entity: Entity): readonly Index[] =>
  askedIndexes(entity).filter(
    ({ name }, at, all) => all.findIndex(other => other.name === name) === at,
  )

/** The columns that a list is searched by. */
export const searchedColumns = (entity: Entity): readonly string[] => {
  const filters = Object.values(entity.rest.listing.filters ?? {})
  const searched = filters.filter(({ kind }) => kind === 'contains')
  return [...new Set(searched.map(({ field }) => columnName(field)))]
}
