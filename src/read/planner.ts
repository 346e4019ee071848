/** Makes plans: a selection resolved against the model for a role. Only here a read is refused. */
import { ApiError, type ErrorLocation } from '#errors.ts'
import { type GroupValue, nameOf, typeOf } from '#model/aggregate.ts'
import { isOfViewer, type Predicate } from '#model/condition.ts'
import { isIndexed } from '#model/indexes.ts'
import type { Model } from '#model/model.ts'
import { entityOf } from '#model/names.ts'
import { creatorRole, type Role } from '#model/policy.ts'
import {
  type Access,
  accessOf,
  type ComparisonCount,
  callerConditions,
  findsIn,
  linkedTo,
  listedRows,
  locationOf,
  orderOf,
  readInEveryRow,
  visible,
} from '#read/access.ts'
import type {
  CountLevel,
  ExistsLevel,
  PlannedRoot,
  ReadField,
  ReadPlan,
  RootLevel,
  RowPart,
  RowSet,
} from '#read/plan.ts'
import { bare, objectWith, passesEqual, rowSet } from '#read/row-parts.ts'
import type { Aggregate, GroupItem, Root, Selection } from '#read/selection.ts'

/** The groups of a root's rows as a row set, whose fields are their values. A field that is not read in every row is in no value of a group. */
const groupSet = (
  access: Access,
  root: Root & { readonly aggregate: Aggregate },
  where: readonly Predicate[],
  location: ErrorLocation,
): RowSet & Pick<RootLevel, 'groups'> => {
  const entity = entityOf(access.model, root.entity)
  const { keys, items, timeZone, having, order, compared } = root.aggregate
  const fields = new Map<string, ReadField>()
  const add = (value: GroupValue): string => {
    const name = nameOf(value)
    if (fields.has(name)) return name
    const what = `group or sum ${entity.plural} by ${name}`
    if (value.kind !== 'count') readInEveryRow(access, entity, value.field, what, location)
    const { scalar, scale, exact } = typeOf(entity, value)
    fields.set(name, { name, scalar, scale, nullable: true, group: value, ...(exact && { exact }) })
    return name
  }
  // Keys are the first columns.
  for (const value of [...keys, ...order.map(({ value }) => value), ...compared]) add(value)
  const partsOf = (members: readonly GroupItem[]): readonly RowPart[] =>
    objectWith(members, item => {
      if (item.kind === 'text') return item.json
      if (item.kind === 'object') return partsOf(item.items)
      return [{ kind: 'field', field: add(item.value), as: 'value', form: item.form }]
    })
  const parts = partsOf(items)
  return {
    table: entity.table,
    where,
    fields: [...fields.values()],
    parts,
    longText: 0,
    groups: { timeZone, having, order },
  }
}

const planRoot = (viewers: Access, root: Root): PlannedRoot => {
  const { many, page, sort, fetchOneMore, keyset } = root
  const { model, ownRole } = viewers
  const entity = entityOf(model, root.entity)
  const path = root.key === undefined ? [] : [root.key]
  const location = locationOf(path, root.at)
  // A new row is read in the role of its creator.
  const role = root.written === 'created' ? creatorRole(ownRole, model.viewers.roles) : ownRole
  const access: Access = { ...viewers, role }
  const ownRows = root.written ? [] : listedRows(access, root.entity, location)
  const isOwn = ownRows.some(isOfViewer)
  for (const { field, member = field } of root.where)
    readInEveryRow(access, entity, field, `filter or sort ${entity.plural} by ${member}`, location)
  const order = many ? orderOf(access, root.entity, root, location) : []
  const linked = root.linked ? [linkedTo(access, root.linked, location)] : []
  const searched = findsIn(entity, root.search)
  const conditions = callerConditions(access, root.entity, root.condition, location)
  const granted = root.granted ? [root.granted] : []
  const filters: readonly Predicate[] = [...root.where, ...conditions, ...granted]
  const where = [...filters, ...searched, ...linked, ...ownRows]

  // Its rows are found in their order by an index, or as those of the viewer, who owns few.
  const ranges = [
    ...root.where.filter(({ is, field }) => !(is === 'lt' && field === 'id')),
    ...conditions,
    ...granted,
  ]
  const fixed = ownRows.map(bare).flatMap(one => (one.kind === 'and' ? one.of : [one]))
  const equalIn = (of: readonly Predicate[]) =>
    of.flatMap(one => {
      if (one.kind === 'across') return one.rows === 'one' && one.found === 'one' ? [one.by] : []
      return one.kind === 'compare' && one.is === 'eq' ? [one.field] : []
    })
  const equalByCaller = equalIn(ranges)
  const equal = [...equalByCaller, ...equalIn(fixed)]
  const areEqual = equalByCaller.length === ranges.length
  const isFound =
    linked.length + searched.length === 0 &&
    ((isOwn && areEqual) ||
      (equal.length === ranges.length + fixed.length && isIndexed(entity, equal, sort)))

  const isFoundButHidden =
    searched.length === 0 && areEqual && isIndexed(entity, equalByCaller, sort)

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
    ? groupSet(access, { ...root, aggregate }, where, location)
    : rowSet(access, root.entity, root.items, path, { where, own, made })

  // The store has a count of all rows, and of those with a value of some fields.
  const [only, ...others] = filters
  let cached: CountLevel['cached'] = null
  if (ownRows.length + linked.length + searched.length + others.length === 0 && entity.counted) {
    if (!only) cached = { field: '', slot: null }
    else if (only.kind === 'compare' && only.is === 'eq' && only.to.kind === 'slot')
      if (entity.counted.includes(only.field)) cached = { field: only.field, slot: only.to.slot }
  }

  const exists = root.exists.map(({ entity: name, slot }): ExistsLevel => {
    // One that the viewer may not read counts as missing.
    const where = visible(access, name, location)
    return { kind: 'exists', entity: name, table: entityOf(model, name).table, where, slot }
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
  { encoding, roots }: Selection,
  model: Model,
  role: Role,
  counted?: ComparisonCount,
): ReadPlan => {
  if (roots.length === 0) throw new ApiError('INTERNAL', 'The operation asks for nothing')
  const access = accessOf(model, role, encoding, counted)
  const planned = roots.map(root => planRoot(access, root))
  return { encoding, roots: planned, ...(access.facts.isByRow && { isByRow: true }) }
}
