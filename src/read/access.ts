/** What a role may read, as conditions and orders of a plan: rules become conditions on rows, and what may not be read is refused. */
import { ApiError, type ErrorLocation } from '#errors.ts'
import { allOf, anyOf, mappedParts, type Predicate } from '#model/condition.ts'
import type { Entity } from '#model/entity.ts'
import { foundIn } from '#model/indexes.ts'
import type { Model } from '#model/model.ts'
// The model's checks are not loaded with them: threads of a store need none.
import { entityOf, fieldOf, wrong } from '#model/names.ts'
import { isByRow, judge, type Role, type Rule, refusal, rowRights } from '#model/policy.ts'
import { weightsOf, wordsIndex } from '#model/words.ts'
import type { Hop, OrderKey, ReadField } from '#read/plan.ts'
import {
  comparing,
  type Encoding,
  keysOf,
  type Location,
  type Related,
  type Root,
  type Slot,
} from '#read/selection.ts'

/** The number of comparisons in a request: one with several plans or writes counts them together. */
export type ComparisonCount = { comparisons: number }

/** The most comparisons in the conditions of one request. */
export const mostComparisonsOfRequest = 100

/** Who reads the rows of a level. */
export type Access = {
  readonly model: Model
  /** The role for the rows of the level, and the caller's own one: the two differ for a row that the caller has just created. */
  readonly role: Role
  readonly ownRole: Role
  /** The field of the rows that refers to the row above them, if they belong to it. */
  readonly above?: string | undefined
  readonly encoding: Encoding
  /** Whether a rule was found to look at rows. */
  readonly facts: { isByRow: boolean }
  readonly counted: ComparisonCount
}

/** The access of a caller of a role. */
export const accessOf = (
  model: Model,
  role: Role,
  encoding: Encoding,
  counted: ComparisonCount = { comparisons: 0 },
): Access => ({ model, role, ownRole: role, encoding, facts: { isByRow: false }, counted })

/** The access to rows that were there before and may be anybody's, whatever a new row is that refers to them. */
export const ofOthers = (access: Access): Access => ({
  ...access,
  role: access.ownRole,
  above: undefined,
})

export const locationOf = (path: readonly string[], at: Location | undefined): ErrorLocation => ({
  path,
  ...(at && { at }),
})

/** Throws if the rule refuses this role; `row`: it depends on the row. */
export const allow = (
  { model, role }: Access,
  rule: Rule | undefined,
  what: string,
  location: ErrorLocation,
): 'yes' | 'row' => {
  const viewer = { id: null, role }
  const verdict = rule === undefined ? 'no' : judge(rule, viewer, model)
  if (verdict === 'no') throw refusal(viewer, what, location)
  return verdict
}

/** The rows in which a role passes a rule that looks at rows; none if it passes in no row. */
export const rowsOf = ({ model, role, facts }: Access, name: string, rule: Rule): Predicate => {
  facts.isByRow = true
  return anyOf(rowRights(model, name, rule, { id: null, role }).map(({ before }) => before))
}

/** The condition for the rows of an entity that a rule lets the role read, its rule for reads unless another is given; none if that is all. */
export const visible = (
  access: Access,
  name: string,
  location: ErrorLocation,
  rule = entityOf(access.model, name).policy.read,
): Predicate[] => {
  const what = `read ${entityOf(access.model, name).plural}`
  const verdict = allow(access, rule, what, location)
  return verdict === 'row' && rule ? [rowsOf(access, name, rule)] : []
}

/** The conditions for the rows that the role may read as the root of a read. */
export const listedRows = (access: Access, name: string, location: ErrorLocation): Predicate[] => {
  const { enter, read } = entityOf(access.model, name).policy
  const rows = visible(access, name, location, enter ?? read)
  // A row that its rule for reads hides is in no list either, whoever may enter.
  if (enter && enter !== read && isByRow(read)) rows.push(...visible(access, name, location))
  return rows
}

/** Throws if the role may not read a field in every row: its values in other rows would be known by the rows that are found. */
export const readInEveryRow = (
  access: Access,
  entity: Entity,
  field: string,
  what: string,
  location: ErrorLocation,
): void => {
  const { foldedFrom = field } = fieldOf(entity, field)
  for (const key of new Set([field, foldedFrom])) {
    const verdict = allow(access, fieldOf(entity, key).readableBy, what, location)
    if (verdict === 'row') throw refusal({ id: null, role: access.role }, what, location)
  }
}

/**
 * A caller's condition with what rules hide: its relations see only the rows that the caller may read, and a hidden
 * row counts as absent. Throws where it names what the caller may not read.
 */
const withHidden = (
  access: Access,
  name: string,
  predicate: Predicate,
  location: ErrorLocation,
): Predicate => {
  const { model, counted } = access
  const entity = entityOf(model, name)
  switch (predicate.kind) {
    case 'compare':
    case 'among': {
      const { field, path = field } = predicate
      readInEveryRow(access, entity, field, `filter or sort ${entity.plural} by ${path}`, location)
      if (++counted.comparisons > mostComparisonsOfRequest)
        throw new ApiError(
          'QUERY_TOO_COMPLEX',
          `The conditions have more than ${mostComparisonsOfRequest} comparisons together: ask for less at once`,
          { location },
        )
      return predicate
    }
    case 'across': {
      const { rows, table, by, path = by } = predicate
      const [to = ''] = Object.entries(model.entities).find(([, one]) => one.table === table) ?? []
      const target = entityOf(model, to)
      const below = ofOthers(access)
      const [of, held] = rows === 'one' ? [access, entity] : [below, target]
      readInEveryRow(of, held, by, `filter or sort ${held.plural} by ${path}`, location)
      const fitting = withHidden(below, to, predicate.where, location)
      const seen = visible(below, to, location)
      return { ...predicate, where: allOf([fitting, ...seen]), found: foundIn(target, fitting) }
    }
    case 'and':
    case 'or':
    case 'not':
      return mappedParts(predicate, one => withHidden(access, name, one, location))
    case 'finds':
    case 'has viewer':
      return predicate
    default:
      return predicate satisfies never
  }
}

/** The parts of a condition of which all must hold. */
const partsOfAll = (predicate: Predicate): readonly Predicate[] =>
  predicate.kind === 'and' ? predicate.of.flatMap(partsOfAll) : [predicate]

/** The conditions that a caller's condition makes; none without one. Throws where it names what the caller may not read. */
export const callerConditions = (
  access: Access,
  name: string,
  condition: Predicate | undefined,
  location: ErrorLocation,
): readonly Predicate[] =>
  condition ? partsOfAll(withHidden(access, name, condition, location)) : []

/** The rows of an entity that a role may read as those of a list and that fit a caller's condition, for a write of them; throws for what it may not read. */
export const writtenRows = (
  model: Model,
  role: Role,
  name: string,
  condition: Predicate,
  counted?: ComparisonCount,
): Predicate => {
  const access = accessOf(model, role, 'graphql', counted)
  const location = { path: [] }
  return allOf([
    ...listedRows(access, name, location),
    ...callerConditions(access, name, condition, location),
  ])
}

/** The condition that a row is linked with the one that a root names, by links that the role may read. */
export const linkedTo = (
  access: Access,
  { entity, by, of, slot }: NonNullable<Root['linked']>,
  location: ErrorLocation,
): Predicate => {
  const link = entityOf(access.model, entity)
  const seen = visible(access, entity, location)
  for (const key of [by, of]) visible(access, entity, location, fieldOf(link, key).readableBy)
  const where = allOf([comparing(by, 'eq', slot), ...seen])
  return { kind: 'across', rows: 'some', table: link.table, by: of, where }
}

/** The condition that rows of an entity have the words in a slot; none without a slot. */
export const findsIn = (entity: Entity, slot: Slot | undefined): readonly Predicate[] => {
  const index = slot === undefined ? undefined : wordsIndex(entity)
  return index && slot !== undefined ? [{ kind: 'finds', index, to: { kind: 'slot', slot } }] : []
}

/** A field as a column that is read. */
export const readField = (entity: Entity, name: string): ReadField => {
  const { scalar, nullable, scale } = fieldOf(entity, name)
  return { name, scalar, nullable, ...(scale > 0 && { scale }) }
}

/**
 * The keys of an order of an entity's rows, with the id at its end; `first` leads to those rows from the ones that are ordered. A row
 * that the caller may not see is missing.
 */
export const orderOf = (
  access: Access,
  entityName: string,
  { sort = [], search }: Pick<Related, 'sort' | 'search'>,
  location: ErrorLocation,
  first: readonly Hop[] = [],
): readonly OrderKey[] => {
  const { model } = access
  const root = entityOf(model, entityName)
  const keys = keysOf(sort).map(
    ({ path = [], field, descending, nullsLast = false, isRelevance, member = field }, at) => {
      const name = `in order ${at}`
      if (isRelevance && search !== undefined) {
        const to = { kind: 'slot', slot: search } as const
        const across = { hops: first, field: '', relevance: { to, weights: weightsOf(root) } }
        const column = { name, scalar: 'int', nullable: false, across } as const
        return { column, descending, nullsLast }
      }
      const what = `filter or sort ${root.plural} by ${member}`
      const hops: Hop[] = [...first]
      let isNullable = false
      let own = access
      let entity = root
      for (const relation of path) {
        const { by, to } =
          entity.relations[relation] ?? wrong(`${entity.plural} have no ${relation}`)
        readInEveryRow(own, entity, by, what, location)
        own = ofOthers(own)
        const where = visible(own, to, location)
        isNullable ||= fieldOf(entity, by).nullable || where.length > 0
        entity = entityOf(model, to)
        hops.push({ table: entity.table, by, where })
      }
      // The id that ends it tells nothing.
      if (at < sort.length) readInEveryRow(own, entity, field, what, location)
      const read = readField(entity, field)
      const nullable = isNullable || read.nullable
      const across = { ...read, name, nullable, across: { hops, field } }
      return { column: hops.length > 0 ? across : read, descending, nullsLast }
    },
  )
  const byId = { column: readField(root, 'id'), descending: false, nullsLast: false }
  return first.length > 0 ? [...keys, byId] : keys
}
