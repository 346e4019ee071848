/** The plan of a read: a selection resolved against the model and checked for a role. Only here a read is refused. */
import { isDeepStrictEqual } from 'node:util'
import { mapped } from '#base/object.ts'
import { ApiError, type ErrorLocation } from '#errors.ts'
import { type GroupType, type GroupValue, nameOf, typeOf } from '#model/aggregate.ts'
import { allOf, anyOf, isOfViewer, type Predicate, someOf } from '#model/condition.ts'
import type { Entity, Links, Relation } from '#model/entity.ts'
import { type Field, longest } from '#model/field.ts'
import { foundIn, isIndexed } from '#model/indexes.ts'
import type { Model } from '#model/model.ts'
// Not by way of the model's checks, which the threads of a store need not load.
import { entityOf, fieldOf, linkOf, wrong } from '#model/names.ts'
import {
  creatorRole,
  isByRow,
  judge,
  type Role,
  type Rule,
  refusal,
  rowRights,
} from '#model/policy.ts'
import type { Form } from '#model/version.ts'
import { weightsOf, wordsIndex } from '#model/words.ts'
import type { Relevance } from '#read/predicate.ts'
import {
  type Aggregate,
  comparing,
  type Encoding,
  type GroupItem,
  type Item,
  type Keyset,
  keysOf,
  type Location,
  type Page,
  type PageFact,
  type Related,
  type Root,
  type Selection,
  type Slot,
} from '#read/selection.ts'
import type { Rows } from '#sql/engine.ts'

/** A field of an entity, with the facts that reading it needs. */
export type ReadField = Pick<Field, 'scalar' | 'nullable'> & {
  readonly name: string
  /** How many decimals it has, if it is a decimal. */
  readonly scale?: number
  /** The field whose value it has in the rows of a predicate; it is null in others. */
  readonly shown?: { readonly field: string; readonly in: Predicate }
  /** The field that it is of the row at the end of a path, or the relevance of that; null where there is none. */
  readonly across?: {
    readonly hops: readonly Hop[]
    readonly field: string
    readonly relevance?: Relevance
  }
  /** The order that it is the number of the row in, from its end if it is read backwards. */
  readonly rank?: { readonly order: readonly OrderKey[]; readonly backwards?: boolean }
  /** The value of a group of rows that it is. */
  readonly group?: GroupValue
  /** Whether it is a sum or a mean, which comes as two numbers and is written exactly. */
  readonly exact?: GroupType['exact']
}

/** A row that another leads to by its field `by`, if it fits the conditions. */
type Hop = {
  readonly table: string
  readonly by: string
  readonly where: readonly Predicate[]
}

/** A key of an order, by its column. */
export type OrderKey = {
  readonly column: ReadField
  readonly descending: boolean
  readonly nullsLast: boolean
}

/** A part of the text of a row: given text, a field's value, or the text of a level below for this row. */
export type RowPart =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'field'
      readonly field: string
      readonly as: 'value' | 'path'
      readonly form?: Form | undefined
    }
  /** Other parts by the value of a field; none for a value without a case. */
  | {
      readonly kind: 'case'
      readonly field: string
      readonly cases: Readonly<Record<string, readonly RowPart[]>>
    }
  /** Other parts if none of these fields is null. */
  | {
      readonly kind: 'present'
      readonly fields: readonly string[]
      readonly parts: readonly RowPart[]
    }
  | { readonly kind: 'child'; readonly level: ChildLevel }
  /** What is told of the page of a level below for this row. */
  | { readonly kind: 'page'; readonly level: PagedChildren; readonly of: PageFact }
  /** The cursor of the row. */
  | { readonly kind: 'cursor' }

/** The common members of all levels with rows: rows of one table, each distinct row once. Field 0 is the id. */
export type RowSet = {
  readonly table: string
  readonly where: readonly Predicate[]
  readonly fields: readonly ReadField[]
  readonly parts: readonly RowPart[]
  /** The most characters that the long texts of a row may have; 0 if it has none, and for one row alone. */
  readonly longText: number
}

/** The rows that fit the conditions. */
export type RootLevel = RowSet &
  Pick<Root, 'page' | 'many' | 'fetchOneMore'> & {
    readonly kind: 'root'
    /** The last key is the id, or follows it. */
    readonly order: readonly OrderKey[]
    /** For a list with cursors, whose values are those of the order. */
    readonly keyset?: Keyset
    /** Whether they are found in their order, without passing others or sorting. */
    readonly isIndexed: boolean
    /** How many conditions find them so, if rows are passed that the others leave out, or that a cursor does, whose equals they are. */
    readonly foundBy?: number
    /** Groups of the rows, whose values are the fields, in place of the rows; `areFew`: an index finds those, and they may be few. */
    readonly groups?: Pick<Aggregate, 'timeZone' | 'having' | 'order'> & {
      readonly areFew?: boolean
    }
  }

/** The rows whose field `by`, their field 1, is an id of the level above. */
type Children = RowSet & {
  readonly kind: 'children of'
  readonly by: string
  readonly page: Page
  readonly oldestFirst: boolean
  /** Instead of the order by id; the rows then have their rank in it. */
  readonly order?: readonly OrderKey[]
  /** For a list with cursors, whose values are those of the order. */
  readonly keyset?: Keyset
  /** Whether the page of a parent is found only by sorting all its rows, their words or a caller's condition that looks beyond their values. */
  readonly isSorted?: boolean
}

export type PagedChildren = Children & Required<Pick<Children, 'keyset' | 'order'>>

export type ChildLevel =
  /** The rows whose ids are in field `by` of the level above. */
  | (RowSet & { readonly kind: 'by ids'; readonly by: string })
  | Children
  /** How many there are of those for each id: it is field 0, and their number field 1. */
  | (RowSet & { readonly kind: 'counts of'; readonly by: string })

export type RowLevel = RootLevel | ChildLevel

/** The number of rows that fit the conditions; `cached`: the store has a count by this field, for the value in the slot. */
type CountLevel = {
  readonly kind: 'count'
  readonly table: string
  readonly where: readonly Predicate[]
  readonly cached: { readonly field: string; readonly slot: Slot | null } | null
}

/** Whether there is a row with the id in the slot. */
type ExistsLevel = {
  readonly kind: 'exists'
  readonly entity: string
  readonly table: string
  readonly where: readonly Predicate[]
  readonly slot: Slot
}

export type Level = RowLevel | CountLevel | ExistsLevel

export type PlannedRoot = {
  readonly rows: RootLevel
  /** Whether field 1 is the revision of the one row asked for. */
  readonly hasRevision: boolean
  readonly total: CountLevel | null
  readonly exists: readonly ExistsLevel[]
}

/** Plain data with the model's field names, so that it can be sent to a worker thread: levels hold those below them in their parts. */
export type ReadPlan = {
  readonly encoding: Encoding
  readonly roots: readonly PlannedRoot[]
  /** Whether a rule that it passed looks at rows, so that not even callers without a token share its answers. */
  readonly isByRow?: boolean
}

/** A level with the one above it. */
export type LinkedLevel =
  | { readonly level: ChildLevel; readonly above: RowLevel }
  | { readonly level: RootLevel | CountLevel | ExistsLevel; readonly above: null }

/** The rows that were found for each level. */
export type Results = Map<Level, Rows>

/** Whether a level has rows that become objects of the answer. */
export const hasRows = (level: Level): level is RowLevel => 'parts' in level

/** The levels directly below one, in the order in which its text holds them. */
export const levelsBelow = ({ parts }: RowLevel): readonly ChildLevel[] => {
  const levels = parts.flatMap(part =>
    part.kind === 'child' || part.kind === 'page' ? [part.level] : [],
  )
  return [...new Set(levels)]
}

const descendants = (above: RowLevel): readonly LinkedLevel[] =>
  levelsBelow(above).flatMap(level => [{ level, above }, ...descendants(level)])

/** All levels of a plan: each root's rows, parents before their children, then its count and what must exist. */
export const levelsOf = ({ roots }: ReadPlan): readonly LinkedLevel[] =>
  roots.flatMap(({ rows, total, exists }) => [
    { level: rows, above: null },
    ...descendants(rows),
    ...(total ? [{ level: total, above: null }] : []),
    ...exists.map(level => ({ level, above: null })),
  ])

/** The field of the level above whose values lead to this one. */
export const keyOf = (level: ChildLevel): string => (level.kind === 'by ids' ? level.by : 'id')

/** The index in a level's rows of one of its fields. */
export const indexOf = ({ fields }: RowLevel, field: string): number => {
  const index = fields.findIndex(({ name }) => name === field)
  if (index < 0) throw new Error(`${field} is not among the fields that are read`)
  return index
}

/** The fields that a part needs. */
const fieldsOf = (part: RowPart): readonly string[] => {
  switch (part.kind) {
    case 'text':
    case 'cursor':
      return []
    case 'field':
      return [part.field]
    case 'case':
      return [...Object.values(part.cases).flat().flatMap(fieldsOf), part.field]
    case 'present':
      return [...part.parts.flatMap(fieldsOf), ...part.fields]
    case 'child':
    case 'page':
      return [keyOf(part.level)]
    default:
      return part satisfies never
  }
}

const textPart = (text: string): RowPart => ({ kind: 'text', text })

/** The parts with adjacent texts merged, so that stitching has fewer to join. */
const merged = (parts: readonly RowPart[]): readonly RowPart[] => {
  const result: RowPart[] = []
  for (const part of parts) {
    const last = result.at(-1)
    if (part.kind === 'text' && last?.kind === 'text')
      result[result.length - 1] = textPart(last.text + part.text)
    else result.push(part)
  }
  return result
}

type Context = {
  readonly model: Model
  /** The role for the rows of a level, and the viewer's own one: the two differ for a row that the viewer has just created. */
  readonly role: Role
  readonly ownRole: Role
  /** The field of the rows that refers to the row above them, if they belong to it. */
  readonly above?: string | undefined
  readonly encoding: Encoding
  /** What is found on the way: whether a rule looked at rows, and how many comparisons the caller asks for. */
  readonly facts: { isByRow: boolean }
  readonly asks: Asks
}

const locationOf = (path: readonly string[], at: Location | undefined): ErrorLocation => ({
  path,
  ...(at && { at }),
})

/** Throws if the rule refuses this role; `row`: it depends on the row. */
const allow = (
  { model, role }: Context,
  rule: Rule | undefined,
  what: string,
  location: ErrorLocation,
): 'yes' | 'row' => {
  const viewer = { id: null, role }
  const verdict = rule === undefined ? 'no' : judge(rule, viewer, model)
  if (verdict === 'no') throw refusal(viewer, what, location)
  return verdict
}

/** The condition for the rows that a rule lets the viewer read; none if it lets all be read. */
const visible = (
  context: Context,
  name: string,
  rule: Rule | undefined,
  location: ErrorLocation,
): Predicate[] => {
  const what = `read ${entityOf(context.model, name).plural}`
  if (allow(context, rule, what, location) !== 'row' || !rule) return []
  context.facts.isByRow = true
  return [rowsOf(context, name, rule)]
}

/** The conditions for the rows that the viewer may read as the root of a read. */
const listedRows = (context: Context, name: string, location: ErrorLocation): Predicate[] => {
  const { enter, read } = entityOf(context.model, name).policy
  const rows = visible(context, name, enter ?? read, location)
  // A row that its rule for reads hides is in no list either, whoever may enter.
  if (enter && enter !== read && isByRow(read)) rows.push(...visible(context, name, read, location))
  return rows
}

/** The most comparisons in the conditions of one request. */
export const mostAsked = 100

/** How many comparisons a request asks for: one with several plans or writes counts them together. */
export type Asks = { comparisons: number }

/** Throws if the caller may not read a field in every row: its values in other rows would be known by the rows that are found. */
const readInEveryRow = (
  context: Context,
  entity: Entity,
  field: string,
  what: string,
  location: ErrorLocation,
): void => {
  const { foldedFrom = field } = fieldOf(entity, field)
  for (const key of new Set([field, foldedFrom])) {
    const verdict = allow(context, fieldOf(entity, key).readableBy, what, location)
    if (verdict === 'row') throw refusal({ id: null, role: context.role }, what, location)
  }
}

/**
 * A caller's condition with what rules hide: its relations see only the rows that the caller may read, and a row that is hidden is
 * one that there is not. Throws for what the caller may not read.
 */
const askedRows = (
  context: Context,
  name: string,
  predicate: Predicate,
  location: ErrorLocation,
): Predicate => {
  const { model, ownRole, asks } = context
  const entity = entityOf(model, name)
  switch (predicate.kind) {
    case 'and':
    case 'or': {
      const of = predicate.of.map(one => askedRows(context, name, one, location))
      return { kind: predicate.kind, of }
    }
    case 'not':
      return { kind: 'not', of: askedRows(context, name, predicate.of, location) }
    case 'compare':
    case 'among': {
      const { field, path = field } = predicate
      readInEveryRow(context, entity, field, `filter or sort ${entity.plural} by ${path}`, location)
      if (++asks.comparisons > mostAsked)
        throw new ApiError(
          'QUERY_TOO_COMPLEX',
          `The conditions have more than ${mostAsked} comparisons together: ask for less at once`,
          { location },
        )
      return predicate
    }
    case 'across': {
      const { rows, table, by, path = by } = predicate
      const [to = ''] = Object.entries(model.entities).find(([, one]) => one.table === table) ?? []
      const target = entityOf(model, to)
      // What a new row refers to was there before, and may be anybody's.
      const below: Context = { ...context, role: ownRole, above: undefined }
      const [of, held] = rows === 'one' ? [context, entity] : [below, target]
      readInEveryRow(of, held, by, `filter or sort ${held.plural} by ${path}`, location)
      const asked = askedRows(below, to, predicate.where, location)
      const seen = visible(below, to, target.policy.read, location)
      const found = foundIn(target, asked)
      return { ...predicate, where: allOf([asked, ...seen]), found }
    }
    case 'finds':
    case 'has viewer':
      return predicate
    default:
      return predicate satisfies never
  }
}

/** The rows of an entity that a role may read as those of a list and that fit a caller's condition, for a write of them; throws for what it may not read. */
export const writtenRows = (
  model: Model,
  role: Role,
  name: string,
  asked: Predicate,
  asks: Asks = { comparisons: 0 },
): Predicate => {
  const facts = { isByRow: false }
  const location = { path: [] }
  const context: Context = { model, role, ownRole: role, encoding: 'graphql', facts, asks }
  return allOf([
    ...listedRows(context, name, location),
    ...partsOfAll(askedRows(context, name, asked, location)),
  ])
}

/** The parts of a condition of which all must hold. */
const partsOfAll = (predicate: Predicate): readonly Predicate[] =>
  predicate.kind === 'and' ? predicate.of.flatMap(partsOfAll) : [predicate]

/** The context of the members of a level's rows: its conditions, and the columns that show a field in some rows only, by their names. */
type RowContext = Context & {
  readonly where: readonly Predicate[]
  readonly shown: Map<string, ReadField>
}

/** The column that has a field's value in the rows of a predicate, and null in others. */
const shownIn = (
  { shown }: RowContext,
  entity: Entity,
  field: string,
  predicate: Predicate,
  name: string,
): string => {
  shown.set(name, { ...readField(entity, field), name, shown: { field, in: predicate } })
  return name
}

/** The rows in which a role passes a rule that looks at rows; none if it passes in no row. */
const rowsOf = ({ model, role }: Context, name: string, rule: Rule): Predicate =>
  anyOf(rowRights(model, name, rule, { id: null, role }).map(({ before }) => before))

const bare = (one: Predicate): Predicate =>
  (one.kind === 'and' || one.kind === 'or') && one.of.length === 1
    ? bare(one.of[0] as Predicate)
    : one

/** The column that leads to a row by a reference: the field itself, or one that is null where the caller may not see that row. */
const seenReference = (context: RowContext, entity: Entity, key: string): string => {
  const { references } = fieldOf(entity, key)
  const rule = references && entityOf(context.model, references.entity).policy.read
  if (!references || !rule || !isByRow(rule)) return key
  if (judge(rule, { id: null, role: context.role }, context.model) === 'yes') return key
  context.facts.isByRow = true
  const { table } = entityOf(context.model, references.entity)
  const where = rowsOf(context, references.entity, rule)
  const isSeen = context.where.map(bare).some(
    // The rows of this level are those whose reference is seen.
    one =>
      one.kind === 'across' &&
      one.rows === 'one' &&
      one.by === key &&
      isDeepStrictEqual(bare(one.where), bare(where)),
  )
  if (isSeen) return key
  const across: Predicate = { kind: 'across', rows: 'one', table, by: key, where }
  return shownIn(context, entity, key, across, `${key} seen`)
}

/**
 * The object of links below a prefix, by state if they differ by it. A link is left out while a field in its path is null, or
 * leads to a row that is hidden; the model's check makes sure that the first one never is.
 */
const linksParts = (
  context: RowContext,
  entityName: string,
  links: Links,
  prefix: string,
): readonly RowPart[] => {
  const entity = entityOf(context.model, entityName)
  const cases = mapped(links.cases, named => {
    const members = Object.entries(named).flatMap(([name, { href, method }], place) => {
      const parts: RowPart[] = [textPart(`${place === 0 ? '' : ','}${JSON.stringify(name)}:`)]
      const nullable: string[] = []
      parts.push(textPart('{"href":"'))
      // `/things/{id}/parts`: text and fields take turns.
      for (const [index, piece] of `${prefix}${href}`.split(/\{(\w+)\}/).entries()) {
        const isText = index % 2 === 0
        if (isText) {
          parts.push(textPart(JSON.stringify(piece).slice(1, -1)))
          continue
        }
        const field = seenReference(context, entity, piece)
        parts.push({ kind: 'field', field, as: 'path' })
        if (entity.fields[piece]?.nullable || field !== piece) nullable.push(field)
      }
      parts.push(textPart(method === undefined ? '"}' : `","method":"${method}"}`))
      const present: RowPart = { kind: 'present', fields: nullable, parts: merged(parts) }
      return nullable.length > 0 ? [present] : parts
    })
    return merged([textPart('{'), ...members, textPart('}')])
  })
  return links.by === null
    ? Object.values(cases).flat()
    : [{ kind: 'case', field: links.by, cases }]
}

const readField = (entity: Entity, name: string): ReadField => {
  const { scalar, nullable, scale } = fieldOf(entity, name)
  return { name, scalar, nullable, ...(scale > 0 && { scale }) }
}

/** The rows of one entity, with the levels below them. The `own` fields of a level come first, whatever is selected, and `made` ones. */
const rowSet = (
  context: Context,
  entityName: string,
  items: readonly Item[],
  path: readonly string[],
  {
    where,
    own,
    made = [],
  }: Pick<RowSet, 'where'> & {
    readonly own: readonly string[]
    readonly made?: readonly ReadField[]
  },
): RowSet => {
  const entity = entityOf(context.model, entityName)
  const shown = new Map(made.map(field => [field.name, field]))
  const row: RowContext = { ...context, where, shown }
  const parts = merged(objectParts(row, entityName, items, path))
  const fields = [...new Set([...own, ...made.map(({ name }) => name), ...parts.flatMap(fieldsOf)])]
  return {
    table: entity.table,
    where,
    fields: fields.map(field => shown.get(field) ?? readField(entity, field)),
    parts,
    longText: fields.reduce((sum, name) => {
      const field = entity.fields[shown.get(name)?.shown?.field ?? name]
      return sum + (field ? longest(field) : 0)
    }, 0),
  }
}

/** The column with a field's values: the field itself, or one that is null in the rows in which the caller may not read it, maybe all. */
const readColumn = (
  context: RowContext,
  entityName: string,
  field: string,
  what: string,
  location: ErrorLocation,
): string => {
  const { model, role, facts } = context
  const entity = entityOf(model, entityName)
  const { readableBy } = fieldOf(entity, field)
  if (!isByRow(readableBy)) allow(context, readableBy, what, location)
  else if (judge(readableBy, { id: null, role }, model) !== 'yes') {
    facts.isByRow = true
    const rows = rowsOf(context, entityName, readableBy)
    return shownIn(context, entity, field, rows, `${field} shown`)
  }
  return field
}

/** The text of an object, in parts. */
const objectParts = (
  context: RowContext,
  entityName: string,
  items: readonly Item[],
  path: readonly string[],
): readonly RowPart[] => {
  const members = items.flatMap((item, place) => {
    const key = item.kind === 'row' ? item.keys.at(-1) : item.key
    return [
      textPart(`${place === 0 ? '' : ','}${JSON.stringify(key)}:`),
      ...memberParts(context, entityName, item, path),
    ]
  })
  return [textPart('{'), ...members, textPart('}')]
}

/** The text of one member of an object, in parts. */
const memberParts = (
  context: RowContext,
  entityName: string,
  item: Item,
  pathAbove: readonly string[],
): readonly RowPart[] => {
  const entity = entityOf(context.model, entityName)
  if (item.kind === 'cursor') return [{ kind: 'cursor' }]
  if (item.kind === 'row')
    return objectParts(context, entityName, item.items, [...pathAbove, ...item.keys])
  const path = [...pathAbove, item.key]
  switch (item.kind) {
    case 'text':
      return [textPart(item.json)]
    case 'links':
      return linksParts(context, entityName, item.links, item.prefix)
    case 'field': {
      // A key of GraphQL may be an alias; one of REST is the member's name in the caller's version.
      const called = context.encoding === 'rest' ? item.key : item.field
      const what = `read the ${called} of a ${entityName}`
      const field = readColumn(context, entityName, item.field, what, locationOf(path, item.at))
      return [{ kind: 'field', field, as: 'value', form: item.form }]
    }
    case 'relation':
    case 'connection': {
      const relation = entity.relations[item.relation]
      if (!relation) throw new Error(`${entity.plural} have no relation ${item.relation}`)
      if (relation.kind === 'many' || item.kind === 'connection')
        return manyParts(context, entityName, relation, item, path)
      const { by, to } = relation
      const location = locationOf(path, item.at)
      // What belongs to a new row is as new as that, and refers to it; other rows were there before, and may be anybody's.
      const role = by === context.above ? context.role : context.ownRole
      const below: Context = { ...context, role, above: undefined }
      const where = visible(below, to, entityOf(context.model, to).policy.read, location)
      // Whom a reference names is known by the row that it leads to.
      const what = `read the ${item.relation} of a ${entityName}`
      const key = readColumn(context, entityName, by, what, location)
      const rows = rowSet(below, to, item.items, path, { where, own: ['id'] })
      return [{ kind: 'child', level: { ...rows, kind: 'by ids', by: key } }]
    }
    default:
      return item satisfies never
  }
}

/** The rows below a row, as they are found, and the row set of them with given members. */
type Below = {
  readonly level: Pick<Children, 'table' | 'where' | 'by' | 'order' | 'isSorted'>
  readonly by: ReadField
  readonly rowsWith: (items: readonly Item[], own: readonly ReadField[]) => RowSet
}

/** The text of a list of many rows, or of a connection to them, in parts. */
const manyParts = (
  context: Context,
  entityName: string,
  relation: Relation,
  item: Extract<Item, { kind: 'relation' | 'connection' }>,
  path: readonly string[],
): readonly RowPart[] => {
  const below = (relation.through === undefined ? belowRows : linkedRows)(
    context,
    entityName,
    relation,
    item,
    path,
  )
  const { table, where, by, order } = below.level
  const { page } = item
  const { oldestFirst } = relation
  const levelOf = (items: readonly Item[], keyset?: Keyset): Children => {
    const rank = order ? [rankIn(order, keyset?.backwards)] : []
    const keys = keyset ? (order ?? []).map(({ column }) => column) : []
    const rows = below.rowsWith(items, [...keys, ...rank])
    return { ...rows, ...below.level, kind: 'children of', page, oldestFirst }
  }
  if (item.kind === 'relation') return [{ kind: 'child', level: levelOf(item.items) }]
  const { keyset, members } = item
  const paged = (items: readonly Item[]) =>
    ({ ...levelOf(items, keyset), order: order ?? [], keyset }) satisfies PagedChildren
  const edges = members.flatMap(one =>
    one.kind === 'edges' ? [[one.key, paged(one.items)] as const] : [],
  )
  const levels = new Map(edges)
  const isTold = members.some(one => one.kind === 'page info')
  // All of them have one page.
  const first = edges[0]?.[1] ?? (isTold ? paged([]) : undefined)
  const count = (): ChildLevel => {
    const n: ReadField = { name: 'n', scalar: 'int', nullable: false }
    const parts: RowPart[] = [{ kind: 'field', field: 'n', as: 'value' }]
    return { kind: 'counts of', table, where, by, fields: [below.by, n], parts, longText: 0 }
  }
  const parts = members.flatMap((member, place): readonly RowPart[] => {
    const label = textPart(`${place === 0 ? '' : ','}${JSON.stringify(member.key)}:`)
    switch (member.kind) {
      case 'text':
        return [label, textPart(member.json)]
      case 'total':
        return [label, { kind: 'child', level: count() }]
      case 'edges':
        return [label, { kind: 'child', level: levels.get(member.key) as PagedChildren }]
      case 'page info': {
        const facts = member.facts.flatMap(({ key, of }, at): readonly RowPart[] => {
          const told: RowPart =
            of === '__typename'
              ? textPart('"PageInfo"')
              : { kind: 'page', level: first as PagedChildren, of }
          return [textPart(`${at === 0 ? '' : ','}${JSON.stringify(key)}:`), told]
        })
        return [label, textPart('{'), ...facts, textPart('}')]
      }
      default:
        return member satisfies never
    }
  })
  return [textPart('{'), ...parts, textPart('}')]
}

/** The rows of another entity that refer to a row. */
const belowRows = (
  context: Context,
  _entityName: string,
  { by, to }: Relation,
  item: Related & { readonly keyset?: Keyset },
  path: readonly string[],
): Below => {
  const location = locationOf(path, item.at)
  // They are as new as the row, if that is new.
  const below: Context = { ...context, above: by }
  const target = entityOf(context.model, to)
  const where = visible(below, to, target.policy.read, location)
  // Whom a reference names is known by the list that a row is in, too.
  where.push(...visible(below, to, fieldOf(target, by).readableBy, location))
  where.push(...findsIn(target, item.search))
  const { page, asked, sort } = item
  if (asked) where.push(...partsOfAll(askedRows(below, to, asked, location)))
  const order = sort && orderOf(below, to, item, location)
  const isFound =
    (!sort || page === null || isIndexed(target, [by], sort)) &&
    !passesEqual(item.keyset, order) &&
    item.search === undefined &&
    !(asked && looksFurther(asked))
  return {
    level: {
      table: target.table,
      where,
      by,
      ...(order && { order }),
      ...(!isFound && { isSorted: true }),
    },
    by: readField(target, by),
    rowsWith: (items, fields) => {
      const made = fields.filter(({ across, rank }) => across || rank)
      const own = fields.flatMap(({ name, across, rank }) => (across || rank ? [] : [name]))
      return rowSet(below, to, items, path, { where, own: ['id', by, ...own], made })
    },
  }
}

/** Whether a page goes on from a row, and may pass those with the same values as that one. */
const passesEqual = (keyset: Keyset | undefined, order: readonly OrderKey[] | undefined) =>
  (keyset?.after ?? keyset?.before) !== undefined && order?.[0]?.column.name !== 'id'

/** Whether a condition looks at more than the values of its row, or looks through a text or a list. */
const looksFurther = (asked: Predicate): boolean =>
  someOf(
    asked,
    one =>
      one.kind === 'across' ||
      (one.kind === 'compare' && !['eq', 'lt', 'lte', 'gt', 'gte'].includes(one.is)),
  )

/**
 * The rows that others link with a row, one after another: those are the level below it, and each has the text of the row that it
 * leads to in its place. A link to a row that the viewer may not read is left out.
 */
const linkedRows = (
  context: Context,
  entityName: string,
  relation: Relation,
  item: Related & { readonly keyset?: Keyset },
  path: readonly string[],
): Below => {
  const { model, role, ownRole } = context
  const { through = '', to, oldestFirst } = relation
  const { by, of } =
    linkOf(model.entities, entityName, relation) ?? wrong(`${through} links nothing`)
  const location = locationOf(path, item.at)
  const link = entityOf(model, through)
  const target = entityOf(model, to)
  // A link belongs to the row, as new as that is; what it leads to was there before.
  const links: Context = { ...context, role, above: by }
  const below: Context = { ...context, role: ownRole, above: undefined }
  for (const key of [by, of])
    allow(links, fieldOf(link, key).readableBy, `read the ${key} of a ${through}`, location)
  const seen = visible(below, to, target.policy.read, location)
  const fits = [
    ...(item.asked ? [askedRows(below, to, item.asked, location)] : []),
    ...findsIn(target, item.search),
    ...seen,
  ]
  const isSeen: readonly Predicate[] =
    fits.length === 0
      ? []
      : [{ kind: 'across', rows: 'one', table: target.table, by: of, where: allOf(fits) }]
  // In the order of the rows that they lead to, or their own.
  const hop: Hop = { table: target.table, by: of, where: seen }
  const own = { column: readField(link, 'id'), descending: !oldestFirst, nullsLast: false }
  const unordered = item.keyset && [own]
  const order = item.sort ? orderOf(below, to, item, location, [hop]) : unordered
  const fields = ['id', by, of].map(key => readField(link, key))
  const rowOf = (items: readonly Item[], at: readonly string[]): RowPart => {
    const rows = rowSet(below, to, items, at, { where: seen, own: ['id'] })
    return { kind: 'child', level: { ...rows, kind: 'by ids', by: of } }
  }
  const isSorted =
    (item.sort && item.page !== null) || item.search !== undefined || item.asked !== undefined
  return {
    level: {
      table: link.table,
      where: [...visible(links, through, link.policy.read, location), ...isSeen],
      by,
      ...(order && { order }),
      ...(isSorted && { isSorted }),
    },
    by: readField(link, by),
    rowsWith: (items, keys) => {
      // An edge has the row as one of its members; a list has nothing else.
      const members = items.flatMap((one, place): readonly RowPart[] => {
        const key = one.kind === 'row' ? one.keys.at(-1) : one.key
        const label = textPart(`${place === 0 ? '' : ','}${JSON.stringify(key)}:`)
        if (one.kind === 'row') return [label, rowOf(one.items, [...path, ...one.keys])]
        return [label, one.kind === 'text' ? textPart(one.json) : { kind: 'cursor' }]
      })
      const parts = item.keyset
        ? merged([textPart('{'), ...members, textPart('}')])
        : [rowOf(items, path)]
      const named = new Map([...fields, ...keys].map(field => [field.name, field]))
      return { table: link.table, where: [], fields: [...named.values()], parts, longText: 0 }
    },
  }
}

/**
 * The keys of an order of an entity's rows, with the id at its end; `first` leads to those rows from the ones that are ordered. A row
 * that the caller may not see is missing.
 */
const orderOf = (
  context: Context,
  entityName: string,
  { sort = [], search }: Pick<Related, 'sort' | 'search'>,
  location: ErrorLocation,
  first: readonly Hop[] = [],
): readonly OrderKey[] => {
  const { model, ownRole } = context
  const root = entityOf(model, entityName)
  const keys = keysOf(sort).map(
    ({ path = [], field, descending, nullsLast = false, isRelevance, member = field }, at) => {
      if (isRelevance && search !== undefined) {
        const to = { kind: 'slot', slot: search } as const
        const across = { hops: first, field: '', relevance: { to, weights: weightsOf(root) } }
        const column = { name: `in order ${at}`, scalar: 'int', nullable: false, across } as const
        return { column, descending, nullsLast }
      }
      const what = `filter or sort ${root.plural} by ${member}`
      const hops: Hop[] = [...first]
      let isNullable = false
      let own: Context = context
      let entity = root
      for (const relation of path) {
        const { by, to } =
          entity.relations[relation] ?? wrong(`${entity.plural} have no ${relation}`)
        readInEveryRow(own, entity, by, what, location)
        own = { ...own, role: ownRole }
        const where = visible(own, to, entityOf(model, to).policy.read, location)
        isNullable ||= fieldOf(entity, by).nullable || where.length > 0
        hops.push({ table: entityOf(model, to).table, by, where })
        entity = entityOf(model, to)
      }
      // The id that ends it tells nothing.
      if (at < sort.length) readInEveryRow(own, entity, field, what, location)
      const read = readField(entity, field)
      const nullable = isNullable || read.nullable
      const across = { ...read, name: `in order ${at}`, nullable, across: { hops, field } }
      return { column: hops.length > 0 ? across : read, descending, nullsLast }
    },
  )
  const byId = { column: readField(root, 'id'), descending: false, nullsLast: false }
  return first.length > 0 ? [...keys, byId] : keys
}

/** The column with the rank of each row in an order. */
const rankIn = (order: readonly OrderKey[], backwards = false): ReadField => ({
  name: 'in order',
  scalar: 'int',
  nullable: false,
  rank: { order, backwards },
})

/** The condition that a row is linked with the one that a root names, by links that the viewer may read. */
const linkedTo = (
  context: Context,
  { entity, by, of, slot }: NonNullable<Root['linked']>,
  location: ErrorLocation,
): Predicate => {
  const { table, policy, fields } = entityOf(context.model, entity)
  const seen = visible(context, entity, policy.read, location)
  for (const key of [by, of]) visible(context, entity, fields[key]?.readableBy, location)
  const where = allOf([comparing(by, 'eq', slot), ...seen])
  return { kind: 'across', rows: 'some', table, by: of, where }
}

/** The condition that rows of an entity have the words in a slot; none without a slot. */
const findsIn = (entity: Entity, slot: Slot | undefined): readonly Predicate[] => {
  const index = slot === undefined ? undefined : wordsIndex(entity)
  return index && slot !== undefined ? [{ kind: 'finds', index, to: { kind: 'slot', slot } }] : []
}

/** The groups of a root's rows as a row set: their values are its fields. Fields that are not read in every row are in no value of a group. */
const groupSet = (
  context: Context,
  root: Root & { readonly aggregate: Aggregate },
  where: readonly Predicate[],
  location: ErrorLocation,
): RowSet & Pick<RootLevel, 'groups'> => {
  const entity = entityOf(context.model, root.entity)
  const { keys, items, timeZone, having, order, compared } = root.aggregate
  const fields = new Map<string, ReadField>()
  const add = (value: GroupValue): string => {
    const name = nameOf(value)
    if (fields.has(name)) return name
    if (value.kind !== 'count')
      readInEveryRow(
        context,
        entity,
        value.field,
        `group or sum ${entity.plural} by ${name}`,
        location,
      )
    const { scalar, scale, exact } = typeOf(entity, value)
    fields.set(name, { name, scalar, scale, nullable: true, group: value, ...(exact && { exact }) })
    return name
  }
  // Keys are the first columns.
  for (const value of [...keys, ...order.map(({ value }) => value), ...compared]) add(value)
  const partsOf = (members: readonly GroupItem[]): readonly RowPart[] => {
    const parts = members.flatMap((item, place): readonly RowPart[] => {
      const label = textPart(`${place === 0 ? '' : ','}${JSON.stringify(item.key)}:`)
      if (item.kind === 'text') return [label, textPart(item.json)]
      if (item.kind === 'object') return [label, ...partsOf(item.items)]
      return [label, { kind: 'field', field: add(item.value), as: 'value', form: item.form }]
    })
    return [textPart('{'), ...parts, textPart('}')]
  }
  const parts = merged(partsOf(items))
  return {
    table: entity.table,
    where,
    fields: [...fields.values()],
    parts,
    longText: 0,
    groups: { timeZone, having, order },
  }
}

const planRoot = (viewers: Context, root: Root): PlannedRoot => {
  const { many, page, sort, fetchOneMore, keyset } = root
  const { model, ownRole } = viewers
  const entity = entityOf(model, root.entity)
  const path = root.key === undefined ? [] : [root.key]
  const location = locationOf(path, root.at)
  // A new row is read in the role of its creator.
  const role = root.written === 'created' ? creatorRole(ownRole, model.viewers.roles) : ownRole
  const context: Context = { ...viewers, role }
  const ownRows = root.written ? [] : listedRows(context, root.entity, location)
  const isOwn = ownRows.some(isOfViewer)
  for (const { field, member = field } of root.where)
    readInEveryRow(context, entity, field, `filter or sort ${entity.plural} by ${member}`, location)
  const order = many ? orderOf(context, root.entity, root, location) : []
  const linked = root.linked ? [linkedTo(context, root.linked, location)] : []
  const searched = findsIn(entity, root.search)
  const asked = root.asked ? partsOfAll(askedRows(context, root.entity, root.asked, location)) : []
  const filters: readonly Predicate[] = [...root.where, ...asked]
  const where = [...filters, ...searched, ...linked, ...ownRows]

  // Its rows are found in their order by an index, or as those of the viewer, who owns few.
  const ranges = [
    ...root.where.filter(({ is, field }) => !(is === 'lt' && field === 'id')),
    ...asked,
  ]
  const fixed = ownRows.map(bare).flatMap(one => (one.kind === 'and' ? one.of : [one]))
  const equalIn = (of: readonly Predicate[]) =>
    of.flatMap(one => {
      if (one.kind === 'across') return one.rows === 'one' && one.found === 'one' ? [one.by] : []
      return one.kind === 'compare' && one.is === 'eq' ? [one.field] : []
    })
  const asksEqual = equalIn(ranges)
  const equal = [...asksEqual, ...equalIn(fixed)]
  const areEqual = asksEqual.length === ranges.length
  const isFound =
    linked.length + searched.length === 0 &&
    ((isOwn && areEqual) ||
      (equal.length === ranges.length + fixed.length && isIndexed(entity, equal, sort)))

  const isFoundButHidden = searched.length === 0 && areEqual && isIndexed(entity, asksEqual, sort)

  const passes = passesEqual(keyset, order)

  // One row of an entity with revisions has one for its ETag.
  const hasRevision = !many && entity.fields.revision !== undefined
  const own = hasRevision ? ['id', 'revision'] : ['id']
  const made: ReadField[] = []
  if (keyset)
    for (const { column } of order)
      if (column.across) made.push(column)
      else own.push(column.name)
  const { aggregate } = root
  const rows: RowSet & Pick<RootLevel, 'groups'> = aggregate
    ? groupSet(context, { ...root, aggregate }, where, location)
    : rowSet(context, root.entity, root.items, path, { where, own, made })

  // The store has a count of all rows, and of those with a value of some fields.
  const [only, ...others] = filters
  const isCounted =
    ownRows.length === 0 &&
    linked.length + searched.length === 0 &&
    others.length === 0 &&
    entity.counted !== null &&
    (only === undefined ||
      (only.kind === 'compare' &&
        only.is === 'eq' &&
        only.to.kind === 'slot' &&
        entity.counted.includes(only.field)))
  const counted =
    only?.kind === 'compare' && only.to.kind === 'slot'
      ? { field: only.field, slot: only.to.slot }
      : { field: '', slot: null }
  const cached = isCounted ? counted : null

  const exists = root.exists.map(({ entity: name, slot }): ExistsLevel => {
    const needed = entityOf(model, name)
    // One that the viewer may not read counts as missing.
    const where = visible(context, name, needed.policy.read, location)
    return { kind: 'exists', entity: name, table: needed.table, where, slot }
  })
  return {
    rows: {
      ...rows,
      longText: many ? rows.longText : 0,
      kind: 'root',
      order,
      page,
      many,
      fetchOneMore,
      ...(keyset && { keyset }),
      isIndexed: isFound && !passes && !aggregate,
      ...(isFound && passes && { foundBy: where.length }),
      ...(!isFound && isFoundButHidden && !aggregate && { foundBy: filters.length }),
      ...(rows.groups && { groups: { ...rows.groups, areFew: isFound && equal.length > 0 } }),
    },
    hasRevision,
    total: root.total ? { kind: 'count', table: entity.table, where, cached } : null,
    exists,
  }
}

/**
 * The plan of a selection for viewers of one role.
 * Throws `UNAUTHENTICATED` or `FORBIDDEN` for entities and fields that they may not read; a rule about whose rows they may read becomes a condition.
 */
export const plan = (
  selection: Selection,
  model: Model,
  role: Role,
  asks: Asks = { comparisons: 0 },
): ReadPlan => {
  if (selection.roots.length === 0) throw new ApiError('INTERNAL', 'The operation asks for nothing')
  const { encoding, roots } = selection
  const facts = { isByRow: false }
  const context = { model, role, ownRole: role, encoding, facts, asks }
  const planned = roots.map(root => planRoot(context, root))
  return { encoding, roots: planned, ...(facts.isByRow && { isByRow: true }) }
}
