/** Faults of lists: filters, sorts, and the indexes and counts that serve them. */
import { own } from '#base/object.ts'
import { remedy } from '#base/shape.ts'
import { composedIn } from '#model/computed.ts'
import { type Entity, type Filter, mayNameField } from '#model/entity.ts'
import type { CheckedEntity, Faults } from '#model/faults/relations.ts'
import { type Field, isDerived } from '#model/field.ts'
import { type Index, purposeIndexes, searchesOf } from '#model/indexes.ts'
import { columnName, longestName } from '#model/names.ts'
import { isForAll, isSameRule } from '#model/policy.ts'
import { isComparable, type Scalar } from '#model/values.ts'
import { mostSearched, nfcKey, wordsIndex, wordsKey } from '#model/words.ts'

/** The scalars that each kind of filter can use. */
const filtered = {
  equals: ['id', 'text', 'int', 'money', 'decimal', 'date', 'time', 'flag'],
  'at least': ['int', 'money', 'decimal', 'date', 'time'],
  'at most': ['int', 'money', 'decimal', 'date', 'time'],
  'above zero': ['int', 'money', 'decimal'],
  contains: ['text'],
} satisfies Record<Filter['kind'], readonly Scalar[]>

/** The parameters of every list: for pages, sorting, members and the version. */
export const listParameters = [
  'page',
  'limit',
  'offset',
  'cursor',
  'sort',
  'order',
  'fields',
  'version',
]

/** The arguments of every list of GraphQL that a field may be called. */
export const listArguments = ['limit', 'offset', 'orderBy']

/** The same with those of conditions, searches and sums, whose names a filter of the content may have. */
const reserved = [...listParameters, 'where', 'search', 'group', 'having', 'tz']

const fieldNames = (self: Entity): string => Object.keys(self.fields).join(', ')

/** The rest of a sentence about a filter; undefined if nothing is wrong. */
const filterFault = (self: Entity, parameter: string, filter: Filter): string | undefined => {
  if (listParameters.includes(parameter) || !/^[a-zA-Z][a-zA-Z0-9_-]*$/.test(parameter))
    return 'has a name that every list uses, or that is not a word: give it another one'
  const field = own(self.fields, filter.field)
  if (!field)
    return `is about ${filter.field}, which is not a field: name one of ${fieldNames(self)}`
  const scalars: readonly Scalar[] = filtered[filter.kind]
  if (!scalars.includes(field.scalar))
    return `is of the kind ${filter.kind} and about ${filter.field}, which is ${field.scalar}: name one that is ${scalars.join(', ')}`
  if (filter.kind === 'contains' && filter.field === 'rank')
    return 'is of the kind contains and about rank, which a search has for itself: rename the field'
  if (filter.kind === 'contains' && field.foldedFrom === undefined)
    return `is of the kind contains and about ${filter.field}, which is not folded: name a field made with folded('${filter.field}', { indexed: true })`
  if (filter.kind === 'contains' && !field.indexed)
    return `is of the kind contains and about ${filter.field}, which no index finds: write folded('${field.foldedFrom}', { indexed: true })`
  return undefined
}

/** The kind of a field whose values cannot be compared; undefined for any other. */
const opaqueKind = (field: Field | undefined): Scalar | undefined =>
  field && !isComparable(field.scalar) ? field.scalar : undefined

/** PostgreSQL refuses an index entry with more bytes than this. */
const mostBytes = 2600

/**
 * The most bytes that a value may have in UTF-8. Folding can make a letter six bytes long, and twelve if it separates its accents. What
 * only composing makes longer are a few signs, which an index packs.
 */
const bytesOf = (self: Entity, key: string): number => {
  const { scalar, range, foldedFrom, accents, copied } = own(self.fields, key) as Field
  if (foldedFrom !== undefined) {
    const widest = accents ? 12 : 6
    return (copied ? 4 : widest) * (own(self.fields, foldedFrom)?.range?.max ?? 0)
  }
  return scalar === 'text' ? 4 * (range?.max ?? 0) : 8
}

/** The rest of a sentence about an index; undefined if nothing is wrong. */
const indexFault = (self: Entity, { terms, of }: Index): string | undefined => {
  const keys = terms.map(({ field }) => field)
  const unknown = keys.find(key => !own(self.fields, key))
  if (unknown !== undefined || keys.length === 0)
    return `${of} names ${unknown ?? 'nothing'}, which is not a field: name some of ${fieldNames(self)}`
  if (new Set(keys).size < keys.length) return `${of} names a field twice: leave one out`
  const [opaque] = keys.flatMap(key => opaqueKind(own(self.fields, key)) ?? [])
  if (opaque) return `${of} is about ${opaque}: leave it out`
  const bytes = keys.reduce((sum, key) => sum + bytesOf(self, key), 0)
  if (bytes > mostBytes)
    return `${of} needs an index of up to ${bytes} bytes a row, more than the ${mostBytes} that every database takes: let its text be shorter`
  return undefined
}

/** What SQLite adds to the name of a search for the tables that it keeps it in. */
const searchParts = ['', '_config', '_data', '_docsize', '_idx']

/** The names that a table takes among the names of tables: its own, and those of its key, its sequence, its indexes and searches. */
export const takenNames = (self: Entity): ReadonlySet<string> => {
  const { table } = self
  const searches = searchesOf(self).flatMap(({ name }) => searchParts.map(part => name + part))
  const parts = ['pkey', 'id_seq'].map(part => `${table}_${part}`)
  return new Set([table, ...parts, ...searches, ...purposeIndexes(self).map(index => index.name)])
}

/** The most that a word in one field counts for. */
const mostWeight = 100

/** The rest of a sentence about what callers search; undefined if nothing is wrong. */
const searchFault = (self: Entity): string | undefined => {
  const { fields, search, view, policy, rest, graphql } = self
  const keys = Object.keys(search)
  if (keys.length === 0) return undefined
  if (view) return 'is on a view, whose words nobody keeps: leave it out'
  if (keys.length > mostSearched)
    return `has ${keys.length} fields, more than the ${mostSearched} whose words fit in an index: leave some out`
  const taken = [
    own(rest.listing.filters ?? {}, 'search') && 'the filter search',
    (graphql.filters.includes('search') || own(fields, 'search')) && 'the field search',
    own(fields, 'relevance') && 'the field relevance',
    ...keys.map(key => !own(fields, wordsKey(key))?.copied && `the field ${wordsKey(key)}`),
  ].find(Boolean)
  for (const [key, weight] of Object.entries(search)) {
    const field = own(fields, key)
    if (field?.scalar !== 'text' || isDerived(field)) {
      const texts = Object.entries(fields).filter(
        ([, of]) => of.scalar === 'text' && !isDerived(of),
      )
      return `names ${key}, which is no text of its own: ${remedy(
        key,
        texts.map(([text]) => text),
      )}`
    }
    if (typeof field.initial === 'object' && 'slugOf' in field.initial)
      return `names ${key}, which is a slug, with the words of ${field.initial.slugOf}: name that`
    if (!field.rest && field.graphql !== 'shown')
      return `names ${key}, which no API shows, and whose words would be known by the rows that are found: leave it out`
    if (!isForAll(field.readableBy) && !(policy.read && isSameRule(field.readableBy, policy.read)))
      return `names ${key}, which fewer may read than its rows, and whose words they would know by the rows that are found: leave it out`
    if (!Number.isInteger(weight) || weight < 1 || weight > mostWeight)
      return `gives ${key} the weight ${weight}: give it one of 1 to ${mostWeight}`
  }
  if (taken) return `needs the name of ${taken}: rename that`
  const name = wordsIndex(self)?.name ?? ''
  if (name.length > longestName)
    return `needs an index with a name of more than ${longestName} letters, ${name}: use shorter names, or search fewer fields`
  return undefined
}

/** The faults of an entity's lists, indexes and counts. */
export const listFaults = function* ({ entities, name, self }: CheckedEntity): Faults {
  const { type, roots, filters, mutations } = self.graphql
  const { pageSize } = self
  const { sort, paging, filters: parameters = {} } = self.rest.listing
  const isTwice = (all: readonly string[], one: string) => all.indexOf(one) !== all.lastIndexOf(one)

  for (const [parameter, filter] of Object.entries(parameters)) {
    const fault = filterFault(self, parameter, filter)
    if (fault) yield `the filter ${parameter} of ${name} ${fault}`
  }

  if (filters.length > 0 && !(type && roots))
    yield `${name} has GraphQL filters and no list at the root: leave them out, or give it graphql.type and graphql.roots`
  if (mutations.length > 0 && !type)
    yield `${name} has GraphQL mutations and no type: leave them out, or give it graphql.type`
  for (const key of filters) {
    const field = own(self.fields, key)
    const subject = `the GraphQL filter ${key} of ${name}`
    if (!field) yield `${subject} is not a field: name one of ${fieldNames(self)}`
    else if (opaqueKind(field))
      yield `${subject} is ${opaqueKind(field)}, which nobody can ${field.scalar === 'bytes' ? 'give' : 'compare'}: leave it out`
    if (listArguments.includes(key))
      yield `${subject} has the name of an argument that every list has: rename the field`
    const referred = own(entities, field?.references?.entity ?? '')
    if (referred && referred.policy.read === undefined)
      yield `${subject} names ${referred.plural}, which nobody may read: leave it out, or give them a read rule`
  }

  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > 100)
    yield `the list of ${name} has the limit ${pageSize}: give one of 1 to 100`
  if (sort && paging === 'cursor')
    yield `the list of ${name} goes by cursors, newest first, and has a sort: leave the sort out, or choose paging: 'page'`
  for (const term of sort?.fields ?? []) {
    const field = own(self.fields, term.replace(/^-/, ''))
    const subject = `the sort of ${name} by ${term}`
    if (!field || (term.startsWith('-') && sort?.style === 'field and order'))
      yield `${subject} does not name a field: name some of ${fieldNames(self)}`
    else if (opaqueKind(field)) yield `${subject} is by ${opaqueKind(field)}: leave it out`
    if (isTwice(sort?.fields ?? [], term)) yield `${subject} is there twice: leave one out`
  }

  const searched = searchFault(self)
  if (searched) yield `the search of ${name} ${searched}`
  for (const key of self.filterable ?? []) {
    const field = own(self.fields, key)
    const subject = `${name} has the filterable ${key}`
    if (!field && !own(self.relations, key))
      yield `${subject}, which is not a field or relation: name some of ${fieldNames(self)}`
    else if (field && !mayNameField(self, key))
      yield `${subject}, which is ${field.foldedFrom === undefined ? field.scalar : 'a folded copy'}: leave it out`
    if (isTwice(self.filterable ?? [], key)) yield `${subject} twice: leave one out`
  }
  for (const key of Object.keys(self.fields))
    if (reserved.includes(key) && self.fields[key]?.rest && mayNameField(self, key))
      yield `${name} has the field ${key}, which is a parameter of lists: rename it, or name in filterable what callers may ask for, without it`

  for (const key of self.counted ?? []) {
    const field = own(self.fields, key)
    const subject = `${name} is counted by ${key}`
    if (!field) yield `${subject}, which is not a field: name some of ${fieldNames(self)}`
    else if (field.computed) yield `${subject}, which is computed: count by fields that are given`
    else if (field.nullable)
      yield `${subject}, which may be null: count by fields that always have a value`
    else if (opaqueKind(field)) yield `${subject}, which is ${opaqueKind(field)}: leave it out`
    else if (bytesOf(self, key) > mostBytes)
      yield `${subject}, which may be longer than the ${mostBytes} bytes that every database indexes: count by a shorter text`
    if (isTwice(self.counted ?? [], key)) yield `${subject} twice: leave one out`
  }

  const known = new Map<string, string>()
  const counts = (self.counted ?? []).map(key => `${self.table}_count_${columnName(key)}`)
  const names = [...searchesOf(self).map(search => search.name), ...counts]
  for (const index of purposeIndexes(self)) {
    const fault = indexFault(self, index)
    if (fault) yield `in ${name}, ${fault}`
    const other = known.get(index.name)
    // A sort by a unique field or a reference uses that field's own index.
    if (other !== undefined && !index.of.startsWith('the sort'))
      yield `${name} has one index for ${other} and for ${index.of}: leave one of them out`
    known.set(index.name, index.of)
    names.push(index.name)
  }
  for (const long of names.filter(({ length }) => length > longestName))
    yield `${name} has a part of its table with a name of more than ${longestName} letters, ${long}: use shorter names`
  for (const key of composedIn(self))
    if (own(self.fields, nfcKey(key)) && !own(self.fields, nfcKey(key))?.copied)
      yield `${name} has the field ${nfcKey(key)}, which is the name of a copy of ${key} that is unique for it: rename it`
  for (const { fields, error } of self.sets) {
    if (fields.length < 2)
      yield `${name} has a set of one field, ${fields.join()}: make it unique instead`
    if (error !== 'CONFLICT' && typeof error.code !== 'string')
      yield `${name} has a set of ${fields.join(', ')} with ${JSON.stringify(error)}, which is no error for a second row: leave it out, or name one of the content's own errors`
  }
}
