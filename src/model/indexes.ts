/** The indexes that an entity needs: for its references and unique fields, its sorts, and those that it lists itself. */
import type { Predicate } from '#model/condition.ts'
import type { Entity } from '#model/entity.ts'
import { columnName } from '#model/names.ts'
import { containsIndex, type SearchIndex, wordsIndex } from '#model/words.ts'

type Term = {
  readonly field: string
  readonly column: string
  readonly nullable: boolean
  readonly descending: boolean
}

/** An index; `sorted`: it serves an order, so it also says on which end nulls come. */
export type Index = {
  readonly name: string
  readonly terms: readonly Term[]
  readonly unique: boolean
  readonly sorted: boolean
  /** What it is for, in a sentence: `the field key`. */
  readonly of: string
}

const indexOf = (
  entity: Entity,
  signed: readonly string[],
  of: string,
  { unique = false, sorted = false } = {},
): Index => {
  const terms = signed.map(term => {
    const descending = term.startsWith('-')
    const field = descending ? term.slice(1) : term
    const { nullable = false } = entity.fields[field] ?? {}
    return { field, column: columnName(field), nullable, descending }
  })
  const label = terms
    .map(({ column, descending }) => `${column}${descending ? '_down' : ''}`)
    .join('_')
  return { name: `${entity.table}_by_${label}`, terms, unique, sorted, of }
}

/** The indexes of an entity by their purposes; some may be the same. */
export const purposeIndexes = (entity: Entity): readonly Index[] => {
  // Ties are always broken by id ascending.
  const sorts = entity.sorts.filter(sort => sort !== 'id')
  return [
    ...Object.entries(entity.fields).flatMap(([key, { references, unique }]) =>
      references || unique !== undefined
        ? [indexOf(entity, [key], `the field ${key}`, { unique: unique !== undefined })]
        : [],
    ),
    ...sorts.map(sort => indexOf(entity, [sort], `the sort by ${sort}`, { sorted: true })),
    ...entity.indexes.map(terms => indexOf(entity, terms, `the index of ${terms.join(', ')}`)),
    ...entity.sets.map(({ fields }) =>
      indexOf(entity, fields, `the set of ${fields.join(', ')}`, { unique: true }),
    ),
  ]
}

/** The indexes of an entity, without duplicates: for references and unique fields, for sorts, and those it lists itself. */
export const indexesOf = (entity: Entity): readonly Index[] =>
  purposeIndexes(entity).filter(
    ({ name }, at, all) => all.findIndex(other => other.name === name) === at,
  )

/** What an entity needs to find rows by texts. */
export const searchesOf = (entity: Entity): readonly SearchIndex[] => {
  const contained = Object.entries(entity.fields).flatMap(([key, { indexed }]) =>
    indexed ? [containsIndex(entity.table, columnName(key))] : [],
  )
  const words = wordsIndex(entity)
  return words ? [...contained, words] : contained
}

type OrderTerm = {
  readonly path?: readonly string[]
  readonly field: string
  readonly descending: boolean
  readonly nullsLast?: boolean
}

/**
 * Whether an index gives the rows with these fields equal to given values in this order, one after another, so that a page of
 * them costs no more than its rows. Ties, and rows without an order, are by id.
 */
export const isIndexed = (
  entity: Entity,
  equal: readonly string[],
  order: readonly OrderTerm[],
): boolean => {
  if (equal.includes('id')) return true
  const byId = order.findIndex(({ field, path = [] }) => field === 'id' && path.length === 0)
  if (byId > 0 && order[byId]?.descending) return false
  const terms = byId < 0 ? order : order.slice(0, byId)
  if (equal.length + terms.length === 0) return true
  return indexesOf(entity).some(
    index =>
      index.terms.length === equal.length + terms.length &&
      index.terms.slice(0, equal.length).every(({ field }) => equal.includes(field)) &&
      terms.every((by, at) => {
        const term = index.terms[equal.length + at]
        if (term?.field !== by.field || term.descending !== by.descending) return false
        // Only declared sorts have null first when they descend; none of them has a path.
        const hasNulls = index.sorted && !(by.nullsLast && by.descending)
        return !by.path?.length && (hasNulls || !term.nullable)
      }),
  )
}

/** Whether an index finds the rows that fit a condition: at most one, or few, as by a reference; undefined if none does. */
export const foundIn = (entity: Entity, predicate: Predicate): 'one' | 'few' | undefined => {
  const { kind } = predicate
  if (kind === 'and') {
    const all = predicate.of.map(one => foundIn(entity, one))
    return all.includes('one') ? 'one' : all.includes('few') ? 'few' : undefined
  }
  if (kind === 'or') return predicate.of.every(one => foundIn(entity, one)) ? 'few' : undefined
  if (kind === 'across') return predicate.rows === 'none' ? undefined : predicate.found && 'few'
  const isEqual = kind === 'compare' && predicate.is === 'eq'
  if (entity.view || !(isEqual || kind === 'among')) return undefined
  if (isEqual && predicate.to.kind === 'value') return undefined
  const { unique, values, scalar } = entity.fields[predicate.field] ?? {}
  if (predicate.field === 'id' || unique !== undefined) return isEqual ? 'one' : 'few'
  // Each of a few words, or of two flags, has many rows.
  const isIndexed = indexesOf(entity).some(({ terms: [first] }) => first?.field === predicate.field)
  return isIndexed && !values && scalar !== 'flag' ? 'few' : undefined
}
