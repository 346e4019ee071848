/** Resolves a selection against the model and checks it for a role: only here a read is refused. */
import { ApiError, type ErrorLocation } from '#errors.ts'
import type { Entity, Relation } from '#model/entity.ts'
import { longest } from '#model/field.ts'
import { isIndexed } from '#model/indexes.ts'
import { entityOf, fieldOf, type Model } from '#model/model.ts'
import { creatorRole, judge, type Role, type Rule, refusal } from '#model/policy.ts'
import { type Condition, selfCondition } from '#read/condition.ts'
import type {
  CountLevel,
  ExistsLevel,
  From,
  FromConditions,
  FromIds,
  FromParents,
  Order,
  Part,
  PlannedRoot,
  ReadField,
  ReadPlan,
  RowSet,
} from '#read/level.ts'
import { fieldsOf, linksParts, merged, objectParts, textPart } from '#read/parts.ts'
import type { Encoding, Item, Location, Page, Root, Selection } from '#read/selection.ts'

export type { ReadPlan } from '#read/level.ts'

type Context = {
  readonly model: Model
  /** The role for the rows of a level, and the viewer's own one, which is another for what the viewer has just created. */
  readonly role: Role
  readonly ownRole: Role
  /** The field of the rows that refers to the row above them, where they belong to that. */
  readonly above?: string | undefined
  readonly encoding: Encoding
}

const locationOf = (path: readonly string[], at: Location | undefined): ErrorLocation => ({
  path,
  ...(at && { at }),
})

/** Throws where the rule refuses this role; `row`: it depends on the row. */
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

/** The conditions for the rows that a rule lets the viewer read. */
const visible = (
  context: Context,
  entity: Entity,
  rule: Rule | undefined,
  location: ErrorLocation,
): readonly Condition[] =>
  allow(context, rule, `read ${entity.plural}`, location) === 'row' && rule
    ? [selfCondition(context.model, entity, rule)]
    : []

const readField = (entity: Entity, name: string): ReadField => {
  const { scalar, nullable } = fieldOf(entity, name)
  return { name, scalar, nullable }
}

/** Whether a root has a revision for an ETag: it is one row of an entity with revisions. */
const hasRevision = (entity: Entity, from: From): boolean =>
  from.kind === 'root' && !from.many && entity.fields.revision !== undefined

/** The fields that a level always has, whatever is selected. */
const ownFields = (entity: Entity, from: From): readonly string[] => {
  if (from.kind === 'children of') return ['id', from.by]
  return hasRevision(entity, from) ? ['id', 'revision'] : ['id']
}

/** The rows of one entity, with the levels below them. */
const rowLevel = <Source extends From>(
  context: Context,
  name: string,
  items: readonly Item[],
  path: readonly string[],
  { from, where }: { readonly from: Source; readonly where: readonly Condition[] },
): Source & RowSet => {
  const entity = entityOf(context.model, name)
  const members = items.map(item => [item.key, partsOf(context, name, item, path)] as const)
  const parts = merged(objectParts(members))
  const fields = [...new Set([...ownFields(entity, from), ...parts.flatMap(fieldsOf)])]
  const isOneRow = from.kind === 'root' && !from.many
  return {
    ...from,
    table: entity.table,
    where,
    fields: fields.map(field => readField(entity, field)),
    parts,
    longText: isOneRow ? 0 : fields.reduce((sum, name) => sum + longest(fieldOf(entity, name)), 0),
  }
}

/** The text of one member of an object, in parts. */
const partsOf = (
  context: Context,
  name: string,
  item: Item,
  path: readonly string[],
): readonly Part[] => {
  const location = locationOf([...path, item.key], item.kind === 'field' ? item.at : undefined)
  switch (item.kind) {
    case 'text':
      return [textPart(item.json)]
    case 'field': {
      const { readableBy } = fieldOf(entityOf(context.model, name), item.field)
      // A key of GraphQL may be an alias; one of REST is the member's name in the caller's version.
      const called = context.encoding === 'rest' ? item.key : item.field
      allow(context, readableBy, `read the ${called} of a ${name}`, location)
      return [{ kind: 'field', field: item.field, as: 'value', form: item.form }]
    }
    case 'links':
      return linksParts(item.links, item.prefix, entityOf(context.model, name))
    case 'relation':
      return [childPart(context, entityOf(context.model, name), item, path)]
    default:
      return item satisfies never
  }
}

/**
 * The context below a relation. What belongs to a new row is as new as that, and refers to it; what else rows refer to was there
 * before, and may be anybody's.
 */
const below = (context: Context, { kind, by }: Relation): Context => {
  if (kind === 'many') return { ...context, above: by }
  const role = by === context.above ? context.role : context.ownRole
  return { ...context, role, above: undefined }
}

const childPart = (
  above: Context,
  entity: Entity,
  item: Item & { kind: 'relation' },
  pathAbove: readonly string[],
): Part => {
  const relation = entity.relations[item.relation]
  if (!relation) throw new Error(`${entity.plural} have no relation ${item.relation}`)
  const context = below(above, relation)
  const target = entityOf(context.model, relation.to)
  const path = [...pathAbove, item.key]
  const where = visible(context, target, target.policy.read, locationOf(path, item.at))
  const from = fromAbove(relation, item.page)
  const level = rowLevel(context, relation.to, item.items, path, { from, where })
  return { kind: 'child', level }
}

const fromAbove = (relation: Relation, page: Page): FromIds | FromParents =>
  relation.kind === 'one'
    ? { kind: 'by ids', by: relation.by }
    : { kind: 'children of', by: relation.by, page, oldestFirst: relation.oldestFirst }

/** Throws where a root filters or sorts by a field that the viewer may not read. */
const allowChoice = (
  context: Context,
  entity: Entity,
  root: Root,
  location: ErrorLocation,
): void => {
  for (const { field, member = field } of [...root.where, ...root.sort]) {
    const what = `filter or sort ${entity.plural} by ${member}`
    allow(context, fieldOf(entity, field).readableBy, what, location)
  }
}

/** Whether the rows of a root come from an index: in its order, or as those of the viewer, who owns few. */
const isFound = (entity: Entity, { where, sort }: Root, isOwn: boolean): boolean => {
  const ranges = where.filter(({ is, field }) => !(is === 'less than' && field === 'id'))
  if (ranges.some(({ is }) => is !== 'equals')) return false
  const equal = ranges.map(({ field }) => field)
  return isOwn || isIndexed(entity, equal, sort)
}

const fromConditions = (entity: Entity, root: Root, isOwn: boolean): FromConditions => {
  const { sort, page, many, fetchOneMore } = root
  const order = sort.map(
    ({ field, descending }): Order => ({ field: readField(entity, field), descending }),
  )
  const isIndexed = isFound(entity, root, isOwn)
  return { kind: 'root', order, page, many, fetchOneMore, isIndexed }
}

/** The cached count that fits a root's filters; null where there is none. */
const cachedCount = (entity: Entity, { where }: Root): CountLevel['cached'] => {
  const [only] = where
  if (entity.counted === null || where.length > 1) return null
  if (only === undefined) return { field: '', slot: null }
  if (only.is !== 'equals' || !entity.counted.includes(only.field)) return null
  return { field: only.field, slot: only.slot }
}

/** The check that a row exists; one that the viewer may not read counts as missing. */
const existsLevel = (
  context: Context,
  { entity: name, slot }: Root['exists'][number],
  location: ErrorLocation,
): ExistsLevel => {
  const entity = entityOf(context.model, name)
  const where = visible(context, entity, entity.policy.read, location)
  return { kind: 'exists', entity: name, table: entity.table, where, slot }
}

/** The context of a root: a new row is read in the role of its creator. */
const contextOf = (context: Context, { written }: Root): Context => {
  const { model, ownRole } = context
  if (written !== 'created') return context
  return { ...context, role: creatorRole(ownRole, model.viewers.roles) }
}

const planRoot = (context: Context, root: Root): PlannedRoot => {
  const entity = entityOf(context.model, root.entity)
  const path = root.key === undefined ? [] : [root.key]
  const location = locationOf(path, root.at)
  const rule = entity.policy.enter ?? entity.policy.read
  const ownRows = root.written ? [] : visible(context, entity, rule, location)
  allowChoice(context, entity, root, location)
  const filters = root.where.map((filter): Condition => ({ kind: 'field', ...filter }))
  const where = [...filters, ...ownRows]
  const from = fromConditions(entity, root, ownRows.length > 0)
  const rows = rowLevel(context, root.entity, root.items, path, { from, where })
  const cached = ownRows.length > 0 ? null : cachedCount(entity, root)
  return {
    rows,
    hasRevision: hasRevision(entity, from),
    total: root.total ? { kind: 'count', table: entity.table, where, cached } : null,
    exists: root.exists.map(needed => existsLevel(context, needed, location)),
  }
}

/**
 * The plan of a selection for viewers of one role.
 * Throws `UNAUTHENTICATED` or `FORBIDDEN` for what they may not read; whose rows they may read becomes a condition.
 */
export const plan = (selection: Selection, model: Model, role: Role): ReadPlan => {
  if (selection.roots.length === 0) throw new ApiError('INTERNAL', 'The operation asks for nothing')
  const { encoding } = selection
  const context = { model, role, ownRole: role, encoding }
  const roots = selection.roots.map(root => planRoot(contextOf(context, root), root))
  return { encoding, roots }
}
