/** A selection, resolved against the model and allowed for a kind of viewer: the only place where a read is refused. */
import { ApiError } from '#errors.ts'
import type { Entity } from '#model/entity.ts'
import { columnName, entityOf, fieldOf, type Model } from '#model/model.ts'
import { judge, type Rule, refusal } from '#model/policy.ts'
import type { Role } from '#model/viewer.ts'
import { type Column, type Condition, selfCondition } from '#read/condition.ts'
import { linksParts, merged, objectParts, type Part, textPart } from '#read/parts.ts'
import type { Encoding, Item, Page, Place, Root, Selection, Slot } from '#read/selection.ts'

export type Order = { readonly column: Column; readonly descending: boolean }

/** Where the rows of a level come from. */
export type Source =
  | {
      readonly kind: 'root'
      readonly order: readonly Order[]
      readonly page: Page
      readonly many: boolean
      readonly peek: boolean
    }
  /** The rows whose ids column `column` of level `parent` holds. */
  | { readonly kind: 'one'; readonly parent: number; readonly column: number }
  /** The rows whose column `by` holds an id of level `parent`. */
  | {
      readonly kind: 'many'
      readonly parent: number
      readonly by: string
      readonly page: Page
      readonly oldestFirst: boolean
    }
  /** How many rows fit; `kept`: the store counts by this field already, with the value in the slot. */
  | {
      readonly kind: 'total'
      readonly kept: { readonly field: string; readonly slot: Slot | null } | null
    }
  /** Whether there is a row of that id. */
  | { readonly kind: 'exists'; readonly slot: Slot }

/** One CTE's worth of the tree: each distinct row of it once. Column 0 is the id; column 1 the parent's key below a `many`. */
export type Level = {
  readonly table: string
  readonly columns: readonly Column[]
  readonly where: readonly Condition[]
  readonly source: Source
  readonly parts: readonly Part[]
  /** Whether its rows may be too many bytes, so that they are counted while they are read. */
  readonly bulky: boolean
}

export type PlannedRoot = {
  readonly level: number
  readonly many: boolean
  readonly page: Page
  readonly peek: boolean
  readonly total: number | null
  readonly exists: readonly {
    readonly level: number
    readonly entity: string
    readonly slot: Slot
  }[]
  /** The column of the row's revision, where one row with a revision is asked for. */
  readonly revision: number | null
  readonly key: string | undefined
  readonly at: Place | undefined
}

/** Plain data, so that it can be sent to a worker thread. Parents come before their children in `levels`. */
export type ReadPlan = {
  readonly encoding: Encoding
  readonly levels: readonly Level[]
  readonly roots: readonly PlannedRoot[]
}

type Context = {
  readonly model: Model
  readonly role: Role
  readonly encoding: Encoding
  readonly levels: Level[]
}

const spot = (path: readonly string[], at: Place | undefined) => ({ path, ...(at && { at }) })

/** Refuses what the rule does not give this kind of viewer; what depends on the row becomes a condition. */
const allow = (
  context: Context,
  rule: Rule | undefined,
  what: string,
  where: ReturnType<typeof spot>,
): readonly Rule[] => {
  const viewer = { id: null, role: context.role }
  const verdict = rule === undefined ? 'no' : judge(rule, viewer, context.model.settings)
  if (verdict === 'no') throw refusal(viewer, what, where)
  return verdict === 'row' && rule ? [rule] : []
}

const columnOf = (entity: Entity, field: string): Column => {
  const { scalar, nullable } = fieldOf(entity, field)
  return { name: columnName(field), scalar, nullable }
}

/** The columns of a level while it is planned: each is fetched once. */
const columnSet = (entity: Entity, first: readonly string[]) => {
  const fields = [...first]
  const indexOf = (field: string) => {
    const found = fields.indexOf(field)
    return found >= 0 ? found : fields.push(field) - 1
  }
  return {
    indexOf,
    columns: () => fields.map(field => columnOf(entity, field)),
    isLong: () => fields.some(field => fieldOf(entity, field).long),
  }
}

type Draft = {
  readonly entity: string
  readonly items: readonly Item[]
  readonly source: Source
  readonly where: readonly Condition[]
  readonly path: readonly string[]
}

/** Plans one level and those below it; gives its index. */
const planLevel = (context: Context, draft: Draft): number => {
  const entity = entityOf(context.model, draft.entity)
  const { source } = draft
  const set = columnSet(entity, ['id'])
  if (source.kind === 'root' && hasRevision(entity, source.many)) set.indexOf('revision')
  if (source.kind === 'many') set.indexOf(fieldNameOf(entity, source.by))
  const index = context.levels.length
  // Its place is taken first: parents come before children.
  context.levels.push({
    table: entity.table,
    columns: [],
    where: draft.where,
    source,
    parts: [],
    bulky: false,
  })
  const partsOf = (item: Item): readonly Part[] => {
    switch (item.kind) {
      case 'text':
        return [textPart(item.json)]
      case 'field': {
        const field = fieldOf(entity, item.field)
        const what = `read the ${item.field} of a ${draft.entity}`
        allow(context, field.readableBy, what, spot([...draft.path, item.key], item.at))
        return [{ kind: 'column', column: set.indexOf(item.field), as: 'value' }]
      }
      case 'links':
        return linksParts(item.links, item.prefix, set.indexOf)
      case 'relation':
        return [planRelation(context, entity, index, set.indexOf, item, draft.path)]
      default:
        return item satisfies never
    }
  }
  const members = draft.items.map(item => [item.key, partsOf(item)] as const)
  context.levels[index] = {
    table: entity.table,
    columns: set.columns(),
    where: draft.where,
    source,
    parts: merged(objectParts(members)),
    bulky: !(source.kind === 'root' && !source.many) && set.isLong(),
  }
  return index
}

/** Column 1 of a single root row, which an ETag is made of. */
const hasRevision = (entity: Entity, many: boolean): boolean =>
  !many && entity.fields.revision !== undefined

const fieldNameOf = (entity: Entity, column: string): string =>
  Object.keys(entity.fields).find(field => columnName(field) === column) ?? column

const planRelation = (
  context: Context,
  entity: Entity,
  parent: number,
  indexOf: (field: string) => number,
  item: Item & { kind: 'relation' },
  path: readonly string[],
): Part => {
  const relation = entity.relations[item.relation]
  if (!relation) throw new Error(`${entity.plural} have no relation ${item.relation}`)
  const target = entityOf(context.model, relation.to)
  const below = [...path, item.key]
  const rules = allow(context, target.policy.read, `read ${target.plural}`, spot(below, item.at))
  const where = rules.map(rule => selfCondition(context.model, target, rule))
  const key = relation.kind === 'one' ? indexOf(relation.by) : 0
  const source: Source =
    relation.kind === 'one'
      ? { kind: 'one', parent, column: key }
      : {
          kind: 'many',
          parent,
          by: columnName(relation.by),
          page: item.page,
          oldestFirst: relation.oldestFirst,
        }
  const level = planLevel(context, {
    entity: relation.to,
    items: item.items,
    source,
    where,
    path: below,
  })
  return { kind: 'child', level, key, many: relation.kind === 'many' }
}

/** The field by which the store already counts what this root's conditions keep, if it does. */
const keptCount = (entity: Entity, root: Root, rules: readonly Rule[]) => {
  if (entity.counted === null || rules.length > 0 || root.where.length > 1) return null
  const [only] = root.where
  if (only === undefined) return { field: '', slot: null }
  if (only.is !== 'equals' || !entity.counted.includes(only.field)) return null
  return { field: columnName(only.field), slot: only.slot }
}

const planRoot = (context: Context, root: Root): PlannedRoot => {
  const { model, levels } = context
  const entity = entityOf(model, root.entity)
  const path = root.key === undefined ? [] : [root.key]
  const where = spot(path, root.at)
  const rules = allow(
    context,
    entity.policy.enter ?? entity.policy.read,
    `read ${entity.plural}`,
    where,
  )
  // What a viewer may not read, he may not filter or sort by either.
  for (const field of [...root.where, ...root.sort].map(use => use.field))
    allow(
      context,
      fieldOf(entity, field).readableBy,
      `filter or sort ${entity.plural} by ${field}`,
      where,
    )
  const conditions: Condition[] = [
    ...root.where.map(
      ({ field, is, slot }): Condition => ({
        kind: 'field',
        column: columnOf(entity, field),
        is,
        slot,
      }),
    ),
    ...rules.map(rule => selfCondition(model, entity, rule)),
  ]
  const order = root.sort.map(({ field, descending }) => ({
    column: columnOf(entity, field),
    descending,
  }))
  const { many, page, peek } = root
  const source: Source = { kind: 'root', order, page, many, peek }
  const level = planLevel(context, {
    entity: root.entity,
    items: root.items,
    source,
    where: conditions,
    path,
  })
  const aside = (table: string, from: Source, where: readonly Condition[]) =>
    levels.push({
      table,
      columns: [{ name: 'n', scalar: 'int', nullable: false }],
      where,
      source: from,
      parts: [],
      bulky: false,
    }) - 1
  const total = root.total
    ? aside(entity.table, { kind: 'total', kept: keptCount(entity, root, rules) }, conditions)
    : null
  const exists = root.exists.map(({ entity: parent, slot }) => {
    const above = entityOf(model, parent)
    // Whose thing it is counts here as well: for a stranger it is not there.
    const rules = allow(context, above.policy.read, `read ${above.plural}`, where)
    const mine = rules.map(rule => selfCondition(model, above, rule))
    return { level: aside(above.table, { kind: 'exists', slot }, mine), entity: parent, slot }
  })
  const revision = hasRevision(entity, many) ? 1 : null
  return { level, many, page, peek, total, exists, revision, key: root.key, at: root.at }
}

/**
 * The plan of a selection for viewers of one role.
 * Throws `UNAUTHENTICATED` or `FORBIDDEN` for what they may not read; whose rows they may read becomes a condition.
 */
export const plan = (selection: Selection, model: Model, role: Role): ReadPlan => {
  const context: Context = { model, role, encoding: selection.encoding, levels: [] }
  if (selection.roots.length === 0) throw new ApiError('INTERNAL', 'The operation asks for nothing')
  const roots = selection.roots.map(root => planRoot(context, root))
  return { encoding: selection.encoding, levels: context.levels, roots }
}
