/** The parts of the text of a row: its fields, its links, and the levels of the rows below it. */
import { isDeepStrictEqual } from 'node:util'
import { mapped } from '#base/object.ts'
import type { ErrorLocation } from '#errors.ts'
import { allOf, type Predicate, someOf } from '#model/condition.ts'
import type { Entity, Links, Relation } from '#model/entity.ts'
import { longest } from '#model/field.ts'
import { isIndexed } from '#model/indexes.ts'
import { entityOf, fieldOf, linkOf, withArticle, wrong } from '#model/names.ts'
import { isByRow, judge } from '#model/policy.ts'
import {
  type Access,
  allow,
  callerConditions,
  findsIn,
  locationOf,
  ofOthers,
  orderOf,
  readField,
  rowsOf,
  visible,
} from '#read/access.ts'
import {
  type ChildLevel,
  type Children,
  keyOf,
  type OrderKey,
  type PagedChildren,
  type ReadField,
  type RowPart,
  type RowSet,
} from '#read/plan.ts'
import type { ConnectionMember, Item, Keyset, Related, Sort } from '#read/selection.ts'

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

/** A member at a place in its object: its key, and its value in parts, or as JSON. */
const memberAt = (
  place: number,
  key: string | undefined,
  value: readonly RowPart[] | string,
): readonly RowPart[] => [
  textPart(`${place === 0 ? '' : ','}${JSON.stringify(key)}:`),
  ...(typeof value === 'string' ? [textPart(value)] : value),
]

const objectOf = (members: readonly (readonly RowPart[])[]): readonly RowPart[] =>
  merged([textPart('{'), ...members.flat(), textPart('}')])

/** The text of an object with a member for each of these items. */
export const objectWith = <
  One extends { readonly key: string } | { readonly keys: readonly string[] },
>(
  items: readonly One[],
  textOf: (item: One) => readonly RowPart[] | string,
): readonly RowPart[] =>
  objectOf(
    items.map((item, place) =>
      memberAt(place, 'key' in item ? item.key : item.keys.at(-1), textOf(item)),
    ),
  )

/** The access to a level's rows, with its conditions, and the columns that show a field in some rows only, by their names. */
type RowAccess = Access & {
  readonly where: readonly Predicate[]
  readonly shown: Map<string, ReadField>
}

/** The column that has a field's value in the rows of a predicate, and null in others. */
const shownIn = (
  { shown }: RowAccess,
  entity: Entity,
  field: string,
  predicate: Predicate,
  name: string,
): string => {
  shown.set(name, { ...readField(entity, field), name, shown: { field, in: predicate } })
  return name
}

/** The same predicate without an `and` or `or` of one part around it. */
export const bare = (one: Predicate): Predicate =>
  (one.kind === 'and' || one.kind === 'or') && one.of.length === 1
    ? bare(one.of[0] as Predicate)
    : one

/** The column that leads to a row by a reference: the field itself, or one that is null if the caller may not see that row. */
const seenReference = (access: RowAccess, entity: Entity, key: string): string => {
  const { model, role } = access
  const { references } = fieldOf(entity, key)
  if (!references) return key
  const { table, policy } = entityOf(model, references.entity)
  if (!policy.read || !isByRow(policy.read)) return key
  if (judge(policy.read, { id: null, role }, model) === 'yes') return key
  const where = rowsOf(access, references.entity, policy.read)
  const isSeen = access.where.map(bare).some(
    // The rows of this level are those whose reference is seen.
    one =>
      one.kind === 'across' &&
      one.rows === 'one' &&
      one.by === key &&
      isDeepStrictEqual(bare(one.where), bare(where)),
  )
  if (isSeen) return key
  const across: Predicate = { kind: 'across', rows: 'one', table, by: key, where }
  return shownIn(access, entity, key, across, `${key} seen`)
}

/**
 * The object of links below a prefix, by state if they differ by it. A link is left out while a field in its path is null, or
 * leads to a row that is hidden; the model's check makes sure that the first one never is.
 */
const linksParts = (
  access: RowAccess,
  entity: Entity,
  links: Links,
  prefix: string,
): readonly RowPart[] => {
  const cases = mapped(links.cases, named => {
    const members = Object.entries(named).map(([name, { href, method }], place) => {
      const nullable: string[] = []
      // `/things/{id}/parts`: text and fields take turns.
      const path = `${prefix}${href}`.split(/\{(\w+)\}/).map((piece, index): RowPart => {
        if (index % 2 === 0) return textPart(JSON.stringify(piece).slice(1, -1))
        const field = seenReference(access, entity, piece)
        if (entity.fields[piece]?.nullable || field !== piece) nullable.push(field)
        return { kind: 'field', field, as: 'path' }
      })
      const end = textPart(method === undefined ? '"}' : `","method":"${method}"}`)
      const parts = memberAt(place, name, [textPart('{"href":"'), ...path, end])
      if (nullable.length === 0) return parts
      return [{ kind: 'present', fields: nullable, parts: merged(parts) } as const]
    })
    return objectOf(members)
  })
  return links.by === null
    ? Object.values(cases).flat()
    : [{ kind: 'case', field: links.by, cases }]
}

/** The rows of one entity, with the levels below them. The `own` fields of a level come first, whatever is selected, and `made` ones. */
export const rowSet = (
  access: Access,
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
  const entity = entityOf(access.model, entityName)
  const shown = new Map(made.map(field => [field.name, field]))
  const parts = objectParts({ ...access, where, shown }, entityName, items, path)
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
  access: RowAccess,
  entityName: string,
  field: string,
  called: string,
  location: ErrorLocation,
): string => {
  const { model, role } = access
  const entity = entityOf(model, entityName)
  const { readableBy } = fieldOf(entity, field)
  if (!isByRow(readableBy))
    allow(access, readableBy, `read the ${called} of ${withArticle(entityName)}`, location)
  else if (judge(readableBy, { id: null, role }, model) !== 'yes')
    return shownIn(access, entity, field, rowsOf(access, entityName, readableBy), `${field} shown`)
  return field
}

const objectParts = (
  access: RowAccess,
  entityName: string,
  items: readonly Item[],
  path: readonly string[],
): readonly RowPart[] => objectWith(items, item => memberParts(access, entityName, item, path))

const memberParts = (
  access: RowAccess,
  entityName: string,
  item: Item,
  pathAbove: readonly string[],
): readonly RowPart[] | string => {
  const entity = entityOf(access.model, entityName)
  if (item.kind === 'cursor') return [{ kind: 'cursor' }]
  if (item.kind === 'row')
    return objectParts(access, entityName, item.items, [...pathAbove, ...item.keys])
  const path = [...pathAbove, item.key]
  switch (item.kind) {
    case 'text':
      return item.json
    case 'links':
      return linksParts(access, entity, item.links, item.prefix)
    case 'field': {
      // A key of GraphQL may be an alias; one of REST is the member's name in the caller's version.
      const called = access.encoding === 'rest' ? item.key : item.field
      const field = readColumn(access, entityName, item.field, called, locationOf(path, item.at))
      return [{ kind: 'field', field, as: 'value', form: item.form, file: item.file }]
    }
    case 'relation':
    case 'connection': {
      const relation = entity.relations[item.relation]
      if (!relation) throw new Error(`${entity.plural} have no relation ${item.relation}`)
      if (relation.kind === 'many' || item.kind === 'connection')
        return manyParts(access, entityName, relation, item, path)
      const { by, to } = relation
      const location = locationOf(path, item.at)
      // What belongs to a new row is as new as that, and refers to it.
      const below = by === access.above ? { ...access, above: undefined } : ofOthers(access)
      const where = visible(below, to, location)
      // Whom a reference names is known by the row that it leads to.
      const key = readColumn(access, entityName, by, item.relation, location)
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
  access: Access,
  entityName: string,
  relation: Relation,
  item: Extract<Item, { kind: 'relation' | 'connection' }>,
  path: readonly string[],
): readonly RowPart[] => {
  const isLinked = relation.through !== undefined
  const below = isLinked
    ? linkedRows(access, entityName, relation, item, path)
    : belowRows(access, relation, item, path)
  const { table, where, by, order } = below.level
  const { page } = item
  const { oldestFirst } = relation
  const levelOf = (items: readonly Item[], keyset?: Keyset): Children => {
    // The number of the row in the order, from its end if it is read backwards.
    const rank: readonly ReadField[] = order
      ? [
          {
            name: 'in order',
            scalar: 'int',
            nullable: false,
            rank: { order, backwards: keyset?.backwards ?? false },
          },
        ]
      : []
    const keys = keyset ? (order ?? []).map(({ column }) => column) : []
    const rows = below.rowsWith(items, [...keys, ...rank])
    return { ...rows, ...below.level, kind: 'children of', page, oldestFirst }
  }
  if (item.kind === 'relation') return [{ kind: 'child', level: levelOf(item.items) }]
  const { keyset, members } = item
  const paged = (items: readonly Item[]) =>
    ({ ...levelOf(items, keyset), order: order ?? [], keyset }) satisfies PagedChildren
  const levels = new Map<ConnectionMember, PagedChildren>()
  for (const one of members) if (one.kind === 'edges') levels.set(one, paged(one.items))
  const isTold = members.some(one => one.kind === 'page info')
  // All of them have one page.
  const [first = isTold ? paged([]) : undefined] = levels.values()
  const count = (): ChildLevel => {
    const n: ReadField = { name: 'n', scalar: 'int', nullable: false }
    const parts: RowPart[] = [{ kind: 'field', field: 'n', as: 'value' }]
    return { kind: 'counts of', table, where, by, fields: [below.by, n], parts, longText: 0 }
  }
  return objectWith(members, member => {
    switch (member.kind) {
      case 'text':
        return member.json
      case 'total':
        return [{ kind: 'child', level: count() }]
      case 'edges':
        return [{ kind: 'child', level: levels.get(member) as PagedChildren }]
      case 'page info':
        return objectWith(member.facts, ({ of }) =>
          of === '__typename'
            ? '"PageInfo"'
            : [{ kind: 'page', level: first as PagedChildren, of }],
        )
      default:
        return member satisfies never
    }
  })
}

const oldest: readonly Sort[] = [{ field: 'id', descending: false }]

/** The rows of another entity that refer to a row. */
const belowRows = (
  access: Access,
  { by, to, oldestFirst }: Relation,
  item: Related & { readonly keyset?: Keyset },
  path: readonly string[],
): Below => {
  const location = locationOf(path, item.at)
  // They are as new as the row, if that is new.
  const below: Access = { ...access, above: by }
  const target = entityOf(access.model, to)
  const { page, condition, search, keyset } = item
  // Pages are newest first unless they have an order.
  const sort = item.sort ?? (oldestFirst && page ? oldest : undefined)
  const where = [
    ...visible(below, to, location),
    // Whom a reference names is known by the list that a row is in, too.
    ...visible(below, to, location, fieldOf(target, by).readableBy),
    ...findsIn(target, search),
    ...callerConditions(below, to, condition, location),
  ]
  const order = sort && orderOf(below, to, { ...item, sort }, location)
  const isFound =
    (!sort || page === null || isIndexed(target, [by], sort)) &&
    !passesEqual(keyset, order) &&
    search === undefined &&
    !(condition && looksFurther(condition))
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
export const passesEqual = (keyset: Keyset | undefined, order: readonly OrderKey[] | undefined) =>
  (keyset?.after ?? keyset?.before) !== undefined && order?.[0]?.column.name !== 'id'

/** Whether a condition looks at more than the values of its row, or looks through a text or a list. */
const looksFurther = (condition: Predicate): boolean =>
  someOf(
    condition,
    one =>
      one.kind === 'across' ||
      (one.kind === 'compare' && !['eq', 'lt', 'lte', 'gt', 'gte'].includes(one.is)),
  )

/**
 * The rows that others link with a row, one after another: those are the level below it, and each has the text of the row that it
 * leads to in its place. A link to a row that the caller may not read is left out.
 */
const linkedRows = (
  access: Access,
  entityName: string,
  relation: Relation,
  item: Related & { readonly keyset?: Keyset },
  path: readonly string[],
): Below => {
  const { model } = access
  const { through = '', to, oldestFirst } = relation
  const { by, of } =
    linkOf(model.entities, entityName, relation) ?? wrong(`${through} links nothing`)
  const location = locationOf(path, item.at)
  const link = entityOf(model, through)
  const target = entityOf(model, to)
  // A link belongs to the row, as new as that is; what it leads to was there before.
  const links: Access = { ...access, above: by }
  const below = ofOthers(access)
  for (const key of [by, of])
    allow(
      links,
      fieldOf(link, key).readableBy,
      `read the ${key} of ${withArticle(through)}`,
      location,
    )
  const seen = visible(below, to, location)
  const { condition, search, sort, keyset, page } = item
  const fits = [
    ...callerConditions(below, to, condition, location),
    ...findsIn(target, search),
    ...seen,
  ]
  const isSeen: readonly Predicate[] =
    fits.length === 0
      ? []
      : [{ kind: 'across', rows: 'one', table: target.table, by: of, where: allOf(fits) }]
  // Links are in the order of the rows that they lead to, or in their own.
  const hop = { table: target.table, by: of, where: seen }
  const own = { column: readField(link, 'id'), descending: !oldestFirst, nullsLast: false }
  const isOwn = keyset || (oldestFirst && page)
  const order = sort ? orderOf(below, to, item, location, [hop]) : isOwn ? [own] : undefined
  const fields = ['id', by, of].map(key => readField(link, key))
  const rowOf = (items: readonly Item[], at: readonly string[]): readonly RowPart[] => {
    const rows = rowSet(below, to, items, at, { where: seen, own: ['id'] })
    return [{ kind: 'child', level: { ...rows, kind: 'by ids', by: of } }]
  }
  const isSorted = (sort && page !== null) || search !== undefined || condition !== undefined
  return {
    level: {
      table: link.table,
      where: [...visible(links, through, location), ...isSeen],
      by,
      ...(order && { order }),
      ...(isSorted && { isSorted }),
    },
    by: readField(link, by),
    rowsWith: (items, keys) => {
      // An edge has the row as one of its members; a list has nothing else.
      const edge = (one: Item) => {
        if (one.kind === 'row') return rowOf(one.items, [...path, ...one.keys])
        return one.kind === 'text' ? one.json : ([{ kind: 'cursor' }] as const)
      }
      const parts = keyset ? objectWith(items, edge) : rowOf(items, path)
      const named = new Map([...fields, ...keys].map(field => [field.name, field]))
      return { table: link.table, where: [], fields: [...named.values()], parts, longText: 0 }
    },
  }
}
