/** Connections, as Relay's Cursor Connections specification has them: of the roots of a read, and of the relations of a row. */
import type { FieldNode, GraphQLField, GraphQLObjectType } from 'graphql'
import { argumentFault, argumentOf, type Variables } from '#graphql/arguments.ts'
import {
  collectFields,
  conditionIn,
  queryField,
  type Selecting,
  startOf,
} from '#graphql/execution.ts'
import { orderIn } from '#graphql/order.ts'
import { searchIn, wordsIn } from '#graphql/search.ts'
import { conditionOf } from '#graphql/where.ts'
import type { Entity } from '#model/entity.ts'
import { entityOf, typeName } from '#model/model.ts'
import type { Viewer } from '#model/policy.ts'
import { boundForm, resolveCallerCondition } from '#read/caller-condition.ts'
import { openCursor, orderBound, sealOf } from '#read/cursor.ts'
import type { Answer } from '#read/read.ts'
import {
  type ConnectionMember,
  type Item,
  type Keyset,
  keysOf,
  mostPerPage,
  type PageFact,
  type ParameterValue,
  type Root,
  type Slot,
  type Sort,
} from '#read/selection.ts'
import { pageFact } from '#read/stitch.ts'

type AnyField = GraphQLField<unknown, unknown>

/** Gives the members of a row that the merged nodes of a field select. */
type ItemsOf = (
  selecting: Selecting,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
) => readonly Item[]

/** The order of a list without `orderBy`. */
export const defaultOrder = ({ graphql }: Entity): readonly Sort[] => [
  { field: 'id', descending: !graphql.paged },
]

/**
 * The page of a connection, with its search and its order. Its cursors are bound to `list`;
 * `usual` is its order otherwise, and `more` how many keys follow those of another one.
 */
const pagingOf = (
  selecting: Selecting,
  field: AnyField,
  node: FieldNode,
  {
    list,
    entity,
    usual,
    usualLimit,
    more = 0,
  }: {
    readonly list: string
    readonly entity: string
    readonly usual: readonly Sort[]
    readonly usualLimit: number
    readonly more?: number
  },
) => {
  const { core, schema, slots, variables } = selecting
  const fault = (name: string, message: string) => argumentFault(node, name, message)
  const order = orderIn(selecting, field, node)
  const searched = searchIn(slots, field, node, variables, order)
  const { sort = usual } = searched
  const words = wordsIn(field, node)
  const conditionFor = conditionOf(field, node)
  /** The condition that cursors are bound to; its faults are told where it is resolved for the read. */
  const boundFor = (variables: Variables): string => {
    const where = conditionFor(variables)
    if (where == null) return ''
    const found = resolveCallerCondition(core.model, entity, where, schema.vocabulary, 0)
    return 'faults' in found ? '' : boundForm(found.predicate, slot => found.values[slot])
  }
  const sealFor = (variables: Variables, { role, subject, id }: Viewer) => {
    const bound = [words(variables), boundFor(variables)]
    return sealOf(core.cursorKey, list, orderBound(sort), ...bound, role, subject ?? id)
  }
  const keys = keysOf(sort).length + (searched.sort ? more : 0)
  /** The slots of the place that a cursor names, which each request opens once. */
  const placeOf = (name: string): readonly Slot[] | undefined => {
    const given = argumentOf(field, node, name)
    if (given(variables) == null) return undefined
    const opened = new WeakMap<Variables, readonly ParameterValue[]>()
    const valuesOf = (variables: Variables, viewer: Viewer) =>
      opened.getOrInsertComputed(variables, () => {
        const values = openCursor(sealFor(variables, viewer), String(given(variables)))
        if (values) return values
        throw fault(
          name,
          'must be a cursor of this connection, with the same conditions and order, given to this caller',
        )
      })
    return Array.from({ length: keys }, (_, at) =>
      slots.take((variables, viewer) => valuesOf(variables, viewer)[at] ?? null),
    )
  }
  const [after, before] = [placeOf('after'), placeOf('before')]
  const [fromStart, fromEnd] = ['first', 'last'].map(name => argumentOf(field, node, name))
  const limit = slots.take(variables => {
    const given = { first: fromStart?.(variables), last: fromEnd?.(variables) }
    if (given.first != null && given.last != null)
      throw fault('last', 'cannot be given beside "first"')
    const size = Number(given.first ?? given.last ?? usualLimit)
    if (size < 0) throw fault(given.last == null ? 'first' : 'last', 'must not be negative')
    return Math.min(size, mostPerPage)
  })
  const backwards = fromEnd?.(variables) != null
  const keyset: Keyset = { seal: slots.take(sealFor), after, before, backwards }
  return { ...searched, keyset, page: { limit, offset: null } }
}

/** The members of a connection to objects of a type that the merged nodes of its field select. */
const membersOf = (
  selecting: Selecting,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
  itemsOf: ItemsOf,
): readonly ConnectionMember[] =>
  [...collectFields(nodes, selecting)].map(([key, nodes]): ConnectionMember => {
    const name = nodes[0]?.name.value
    if (name === 'totalCount') return { kind: 'total', key }
    const parts = [...collectFields(nodes, selecting)]
    if (name === 'pageInfo') {
      const facts = parts.map(([key, [node]]) => ({ key, of: node?.name.value as PageFact }))
      return { kind: 'page info', key, facts }
    }
    if (name !== 'edges') return { kind: 'text', key, json: `"${type.name}Connection"` }
    const items = parts.map(([part, nodes]): Item => {
      const name = nodes[0]?.name.value
      if (name === 'cursor') return { kind: 'cursor', key: part }
      if (name === 'node')
        return { kind: 'row', keys: [key, part], items: itemsOf(selecting, type, nodes) }
      return { kind: 'text', key: part, json: `"${type.name}Edge"` }
    })
    return { kind: 'edges', key, items }
  })

/** The relation of an entity that a field of the schema is the connection of, in its extensions. */
export type Connects = { readonly entity: string; readonly relation: string }

/** The connection of a relation, as a member of its row. */
export const connectionItem = (
  selecting: Selecting,
  { entity, relation }: Connects,
  field: AnyField,
  key: string,
  nodes: readonly FieldNode[],
  itemsOf: ItemsOf,
): Item => {
  const { model } = selecting.core
  const [node] = nodes as readonly [FieldNode]
  const {
    to = '',
    oldestFirst = false,
    through,
  } = entityOf(model, entity).relations[relation] ?? {}
  const usual: readonly Sort[] = [{ field: 'id', descending: !oldestFirst }]
  const { sort, ...paging } = pagingOf(selecting, field, node, {
    list: `${entity}.${node.name.value}`,
    entity: to,
    usual,
    usualLimit: entityOf(model, to).pageSize,
    more: through === undefined ? 0 : 1,
  })
  const type = selecting.schema.schema.getType(typeName(to)) as GraphQLObjectType
  const order = sort ?? (through === undefined ? usual : undefined)
  return {
    kind: 'connection',
    key,
    relation,
    ...paging,
    ...(order && { sort: order }),
    ...conditionIn(selecting, node),
    members: membersOf(selecting, type, nodes, itemsOf),
    ...startOf(node),
  }
}

/** How a connection is written, given the answers of its operation. */
export type WriteConnection = (answers: readonly Answer[]) => string

/**
 * The roots that a connection is read by, the first of which is number `first`, and how it is written: one for each `edges` that it
 * selects, which may be several under aliases, or one for the rest alone.
 */
export const connectionRoots = (
  selecting: Selecting,
  entityName: string,
  key: string,
  nodes: readonly FieldNode[],
  first: number,
  itemsOf: ItemsOf,
): { readonly roots: readonly Root[]; readonly write: WriteConnection } => {
  const { core, schema } = selecting
  const [node] = nodes as readonly [FieldNode]
  const field = queryField(schema, node.name.value)
  const entity = entityOf(core.model, entityName)
  const type = schema.schema.getType(typeName(entityName)) as GraphQLObjectType
  const usual = defaultOrder(entity)
  const { keyset, ...paging } = pagingOf(selecting, field, node, {
    list: node.name.value,
    entity: entityName,
    usual,
    usualLimit: entity.pageSize,
  })
  const roots: Root[] = []
  const read = (items: readonly Item[]): number =>
    roots.push({
      entity: entityName,
      items,
      where: [],
      exists: [],
      sort: usual,
      ...paging,
      ...conditionIn(selecting, node),
      keyset,
      many: true,
      fetchOneMore: true,
      total: false,
      key,
      ...startOf(node),
    }) -
    1 +
    first
  const members = membersOf(selecting, type, nodes, itemsOf).map(member => {
    const edges = member.kind === 'edges' ? read(member.items) : first
    const write = (answers: readonly Answer[]): string => {
      const { text, total, more, ends } = answers[edges] as Answer
      if (member.kind === 'edges') return text
      if (member.kind === 'total') return String(total)
      if (member.kind === 'text') return member.json
      const told = member.facts.map(({ key, of }) => [
        key,
        of === '__typename' ? 'PageInfo' : pageFact(of, keyset, more, end => ends?.[end] ?? null),
      ])
      return JSON.stringify(Object.fromEntries(told))
    }
    return { key: member.key, kind: member.kind, write }
  })
  if (roots.length === 0) read([])
  const total = members.some(({ kind }) => kind === 'total')
  return {
    roots: roots.map((root, at) => (at === 0 ? { ...root, total } : root)),
    write: answers =>
      `{${members.map(({ key, write }) => `${JSON.stringify(key)}:${write(answers)}`).join()}}`,
  }
}
