/** A field of groups in the GraphQL API as the root of a read. */
import type { FieldNode } from 'graphql'
import { groupableFields } from '#graphql/aggregate.ts'
import {
  argumentFault,
  argumentFaults,
  argumentOf,
  decidingArgument,
  inputFault,
} from '#graphql/arguments.ts'
import type { WriteConnection } from '#graphql/connection.ts'
import { GraphqlErrors } from '#graphql/errors.ts'
import {
  collectFields,
  conditionIn,
  queryField,
  type Selecting,
  startOf,
} from '#graphql/execution.ts'
import type { RootField } from '#graphql/schema.ts'
import { filteredBy } from '#graphql/selection.ts'
import {
  type GroupValue,
  groupArguments,
  groupValues,
  measures,
  mostGroups,
  nameOf,
} from '#model/aggregate.ts'
import { entityOf, typeName } from '#model/model.ts'
import { type GroupQuery, resolveGroups, tooManyGroups } from '#read/grouping.ts'
import type { GroupItem, Root } from '#read/selection.ts'

type OrderInput = Readonly<Record<string, string | Readonly<Record<string, string>>>>

/** The root of the read for a field of groups; each variable in it, except the limit, decides the plan. */
export const aggregateRoot = (
  selecting: Selecting,
  { entity: entityName }: RootField,
  key: string,
  nodes: readonly FieldNode[],
  place: number,
): { readonly root: Root; readonly write: WriteConnection } => {
  const { core, schema, slots, variables } = selecting
  const node = nodes[0] as FieldNode
  const entity = entityOf(core.model, entityName)
  const field = queryField(schema, node.name.value)
  const given = (name: string) => decidingArgument(field, node, name, variables)
  const orderBy = ((given('orderBy') ?? []) as readonly OrderInput[]).map(term => {
    const [[name = '', by = ''] = []] = Object.entries(term)
    const [[of, way] = ['', '']] = typeof by === 'string' ? [[name, by]] : Object.entries(by)
    const called = typeof by === 'string' ? name : `${name}.${of}`
    const descending = way.startsWith('DESC')
    if (way.endsWith('_IGNORING_CASE')) {
      const message = `names ${called}, and groups have no order without case: take ${descending ? 'DESC' : 'ASC'}`
      throw argumentFault(node, 'orderBy', message)
    }
    return { name: called, descending }
  })
  const having = given('having') ?? undefined
  const timeZone = given('timeZone') as string | null | undefined
  const query: GroupQuery = {
    groupBy: (given('groupBy') ?? []) as readonly string[],
    orderBy,
    ...(having !== undefined && { having }),
    ...(timeZone != null && { timeZone }),
  }
  const called = { groupBy: 'groupBy', having: 'having', orderBy: 'orderBy', timeZone: 'timeZone' }
  const fields = groupableFields(entity)
  const resolved = resolveGroups(core.model, entityName, fields, query, called)
  if ('faults' in resolved) throw argumentFaults(node, resolved.faults)

  const refusal = (field: string, message: string) =>
    new GraphqlErrors('BAD_USER_INPUT', [
      inputFault(node, { field, message }, `${field} ${message}`),
    ])
  const values = groupValues(entity, fields)
  const keys = new Set(resolved.keys.map(nameOf))
  const itemsOf = (nodes: readonly FieldNode[], above: string): readonly GroupItem[] =>
    [...collectFields(nodes, selecting)].map(([key, nodes]): GroupItem => {
      const node = nodes[0] as FieldNode
      const name = node.name.value
      const isMeasure = above === '' && measures.some(measure => measure === name)
      if (name === '__typename') {
        const part = above === '' ? '' : above === 'sum' || above === 'avg' ? 'Numbers' : 'Range'
        return { kind: 'text', key, json: `"${typeName(entityName)}Aggregate${part}"` }
      }
      if (isMeasure) return { kind: 'object', key, items: itemsOf(nodes, name) }
      const value = values.get(above === '' ? name : `${above}.${name}`) as GroupValue
      if (value.kind === 'key' && !keys.has(nameOf(value)))
        throw refusal(name, 'is selected, and nothing is grouped by it: add it to groupBy.')
      return { kind: 'value', key, value, ...startOf(node) }
    })
  const limit = argumentOf(field, node, 'limit')
  const slot = slots.take(values => {
    return Math.min(Math.max(Number(limit(values) ?? mostGroups), 1), mostGroups)
  })
  const isLimited = limit(variables) != null
  return {
    write: answers => {
      const { text = '[]', more = false } = answers[place] ?? {}
      if (more && !isLimited) throw refusal(key, tooManyGroups)
      return text
    },
    root: {
      entity: entityName,
      aggregate: { ...resolved, items: itemsOf(nodes, '') },
      items: [],
      ...filteredBy(selecting, entityName, node, groupArguments),
      ...conditionIn(selecting, node),
      sort: [],
      many: true,
      page: { limit: slot, offset: null },
      fetchOneMore: true,
      total: false,
      key,
      ...startOf(node),
    },
  }
}
