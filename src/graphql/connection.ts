/** The pages of connections, as Relay's Cursor Connections specification has them, as roots of a read. */
import { type FieldNode, GraphQLError, type GraphQLObjectType } from 'graphql'
import { argumentOf, type Variables } from '#graphql/arguments.ts'
import { GraphqlErrors } from '#graphql/errors.ts'
import { orderIn } from '#graphql/order.ts'
import { searchIn } from '#graphql/search.ts'
import {
  askedOf,
  type Collected,
  collectFields,
  defaultOrder,
  itemsOf,
  queryField,
  type Selecting,
  startOf,
} from '#graphql/selection.ts'
import { conditionOf } from '#graphql/where.ts'
import { entityOf, typeName } from '#model/model.ts'
import type { Viewer } from '#model/policy.ts'
import { openCursor, sealOf } from '#read/cursor.ts'
import type { Answer } from '#read/read.ts'
import {
  type Item,
  keysOf,
  mostPerPage,
  type ParameterValue,
  type Root,
  type Slot,
} from '#read/selection.ts'

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
): { readonly roots: readonly Root[]; readonly write: WriteConnection } => {
  const { core, schema, slots, operation, variables } = selecting
  const { model, cursorKey } = core
  const [node] = nodes as readonly [FieldNode]
  const field = queryField(schema, node.name.value)
  const entity = entityOf(model, entityName)
  const type = schema.schema.getType(typeName(entityName)) as GraphQLObjectType
  const membersOf = (of: readonly FieldNode[]): Collected =>
    collectFields(
      of.flatMap(({ selectionSet }) => selectionSet ?? []),
      operation,
      variables,
    )
  const fault = (name: string, message: string) => {
    const given = node.arguments?.find(argument => argument.name.value === name)
    const error = new GraphQLError(`Argument "${name}" ${message}.`, { nodes: given?.value })
    return new GraphqlErrors('BAD_USER_INPUT', [error])
  }

  const order = orderIn(field, node, variables)
  const { search, sort = defaultOrder(entity) } = searchIn(slots, field, node, variables, order)
  const searched = argumentOf(field, node, 'search')
  const conditionFor = conditionOf(field, node)
  const sealFor = (variables: Variables, { role, subject, id }: Viewer) => {
    const where = conditionFor(variables)
    const asks = [searched(variables), ...(where == null ? [] : [{ where }])]
    return sealOf(cursorKey, node.name.value, sort, ...asks, role, subject ?? id)
  }
  /** The slots of the place that a cursor names, which each request opens once. */
  const placeOf = (name: string): readonly Slot[] | undefined => {
    const given = argumentOf(field, node, name)
    if (given(variables) == null) return undefined
    const opened = new WeakMap<Variables, readonly ParameterValue[]>()
    const valuesOf = (variables: Variables, viewer: Viewer) =>
      opened.getOrInsertComputed(variables, () => {
        const values = openCursor(sealFor(variables, viewer), String(given(variables)))
        if (values) return values
        throw fault(name, 'must be a cursor of this connection, in this order, for this caller')
      })
    return keysOf(sort).map((_, at) =>
      slots.take((variables, viewer) => valuesOf(variables, viewer)[at] ?? null),
    )
  }
  const [after, before] = [placeOf('after'), placeOf('before')]
  const [fromStart, fromEnd] = ['first', 'last'].map(name => argumentOf(field, node, name))
  const limit = slots.take(variables => {
    const given = { first: fromStart?.(variables), last: fromEnd?.(variables) }
    if (given.first != null && given.last != null)
      throw fault('last', 'cannot be given beside "first"')
    const size = Number(given.first ?? given.last ?? entity.rest.listing.limit)
    if (size < 0) throw fault(given.last == null ? 'first' : 'last', 'must not be negative')
    return Math.min(size, mostPerPage)
  })
  const backwards = fromEnd?.(variables) != null
  const seal = slots.take(sealFor)

  const roots: Root[] = []
  const read = (items: readonly Item[]): number =>
    roots.push({
      entity: entityName,
      items,
      where: [],
      exists: [],
      search,
      ...askedOf(selecting, node),
      sort,
      keyset: { seal, after, before, backwards },
      many: true,
      page: { limit, offset: null },
      fetchOneMore: true,
      total: false,
      key,
      ...startOf(node),
    }) -
    1 +
    first
  const edgeItem = ([key, nodes]: readonly [string, readonly FieldNode[]], edges: string): Item => {
    const name = nodes[0]?.name.value
    if (name === 'cursor') return { kind: 'cursor', key }
    if (name === 'node')
      return { kind: 'row', keys: [edges, key], items: itemsOf(selecting, type, nodes) }
    return { kind: 'text', key, json: `"${type.name}Edge"` }
  }
  const pageValue = (name: string | undefined, { more, ends }: Answer): unknown => {
    switch (name) {
      case 'hasNextPage':
        return backwards ? before !== undefined : more
      case 'hasPreviousPage':
        return backwards ? more : after !== undefined
      case 'startCursor':
        return ends?.first ?? null
      case 'endCursor':
        return ends?.last ?? null
      default:
        return 'PageInfo'
    }
  }
  const members = [...membersOf(nodes)].map(([key, nodes]) => {
    const name = nodes[0]?.name.value
    const parts = [...membersOf(nodes)]
    const edges = name === 'edges' ? read(parts.map(part => edgeItem(part, key))) : undefined
    const write = (answers: readonly Answer[]): string => {
      if (edges !== undefined) return answers[edges]?.text ?? '[]'
      const answer = answers[first] as Answer
      if (name === 'totalCount') return String(answer.total)
      if (name !== 'pageInfo') return `"${type.name}Connection"`
      const values = parts.map(([key, [node]]) => [key, pageValue(node?.name.value, answer)])
      return JSON.stringify(Object.fromEntries(values))
    }
    return { key, name, write }
  })
  if (roots.length === 0) read([])
  const total = members.some(({ name }) => name === 'totalCount')
  return {
    roots: roots.map((root, at) => (at === 0 ? { ...root, total } : root)),
    write: answers =>
      `{${members.map(({ key, write }) => `${JSON.stringify(key)}:${write(answers)}`).join()}}`,
  }
}
