/** What a write demands of rows: the rights of its caller, the rows that it refers to, its preconditions; as conditions on them, with the query that explains a refusal, and its error. */
import { ApiError } from '#errors.ts'
import { anyOf, isOfViewer, mappedParts, type Predicate } from '#model/condition.ts'
import type { Entity } from '#model/entity.ts'
import { columnName, entityOf, fieldOf, notFound } from '#model/model.ts'
import { isByRow, judge, type RowRight, type Rule, refusal, rowRights } from '#model/policy.ts'
import { type ColumnOf, columnsOf, holdingClause } from '#read/predicate.ts'
import type { Rows } from '#sql/engine.ts'
import {
  and,
  column,
  comma,
  givenKey,
  isSql,
  join,
  name,
  type Sql,
  type SqlPart,
  type SqlValue,
  sql,
} from '#sql/sql.ts'
import {
  conditionOf,
  type GuardedStep,
  holding,
  lockedSql,
  looksAt,
  type OwnValues,
  permit,
  type Writing,
} from '#write/command.ts'
import { ruledIn, type Values } from '#write/input.ts'
import { ChangedMeanwhile } from '#write/merge-patch.ts'
import { insertedValues } from '#write/row-values.ts'

/** The condition that the viewer may see a row of an entity's table, if a rule hides rows of it; a row that is hidden does not exist. */
export const seenSql = (writing: Writing, entityName: string): readonly Sql[] => {
  const { read } = entityOf(writing.model, entityName).policy
  if (!read || judge(read, writing.viewer, writing.model) === 'yes' || !isByRow(read)) return []
  return [conditionOf(writing, entityName, read)]
}

/** A condition that a write puts on a row, and the error where it does not hold, by the columns that were read for it; undefined for the usual one. */
export type Demand = {
  readonly holds: Sql
  readonly error: (own?: OwnValues, columns?: readonly SqlValue[]) => ApiError | undefined
  /** Whether another demand holds only where this one does, so that this one is compared for the error alone. */
  readonly isImplied?: boolean
  /** Whether it is the caller's right to the row. */
  readonly isRight?: boolean
}

/** That the field of a row has this value, which may be null. */
export const hasValue = (
  { model, dialect }: Writing,
  entityName: string,
  key: string,
  value: SqlPart,
): Sql => {
  const entity = entityOf(model, entityName)
  const own = column(entity.table, columnName(key))
  return sql`${own} is not distinct from ${dialect.typed(value, fieldOf(entity, key).scalar)}`
}

/** The condition that all these demands are. */
export const allHold = (demands: readonly Demand[]): Sql =>
  and(demands.flatMap(({ holds, isImplied }) => (isImplied ? [] : [holds])))

/** The first demand that does not hold, told for each whether it does. */
export const brokenAmong = (
  demands: readonly Demand[],
  held: readonly unknown[],
): Demand | undefined => demands.find((_, at) => !held[at])

/** The row that a write demands something of. */
type DemandedRow = {
  readonly table: string
  /** What finds it: these hold of no other row. */
  readonly found: readonly Sql[]
  /** The error if there is none. */
  readonly absent: (own?: OwnValues) => ApiError | undefined
  /** What else errors are made from. */
  readonly columns?: readonly Sql[]
}

/**
 * The guard of a statement, wherever a write has one: the condition that finds a row of which all demands hold, or, where there is no row
 * yet, that they hold; with the query that explains a failure, and the error for the first demand that is broken. `otherwise` is the error
 * if none is, as another write came between.
 */
export const guardOf = (
  demands: readonly Demand[],
  row: DemandedRow | undefined,
  otherwise: Demand['error'],
) => {
  const told = [...demands.map(({ holds }) => holds), ...(row?.columns ?? [])]
  const from = row ? sql` from ${name(row.table)} where ${and(row.found)}` : sql``
  const refused = ([first]: Rows, own?: OwnValues): ApiError | undefined => {
    if (row && !first) return row.absent(own)
    const columns = first?.slice(demands.length) as readonly SqlValue[] | undefined
    return (brokenAmong(demands, first ?? []) ?? { error: otherwise }).error(own, columns)
  }
  return {
    where: and([...(row?.found ?? []), allHold(demands)]),
    guard: {
      ...(told.length > 0 && { explain: sql`select ${join(told, comma)}${from}` }),
      refused,
    },
  }
}

/**
 * The rows that must exist for these values, by the fields that refer to them, and the condition that each does. `isChange`: a row
 * that is hidden from the caller may be named again where it is named already, so that what was read can be sent back.
 */
const referred = (
  writing: Writing,
  entity: Entity,
  values: ReadonlyMap<string, SqlPart>,
  isChange = false,
) => {
  const found: (Demand & { readonly key: string; readonly value: SqlPart })[] = []
  for (const [key, value] of values) {
    const { references, readableBy } = fieldOf(entity, key)
    // A row of the same command is there.
    if (!references || value === null || (isSql(value) && givenKey(value) === undefined)) continue
    const { table } = entityOf(writing.model, references.entity)
    const seen = seenSql(writing, references.entity)
    const lock = seen.length > 0 ? holdingClause(table, holding(writing)) : sql``
    const isThere = sql`exists (select 1 from ${name(table)} where ${and([sql`id = ${value}`, ...seen])}${lock})`
    const own = column(entity.table, columnName(key))
    const isShown = judge(readableBy, writing.viewer, writing.model) === 'yes'
    const holds =
      isChange && isShown && seen.length > 0 ? sql`(${own} = ${value} or ${isThere})` : isThere
    found.push({
      key,
      value,
      holds,
      error: own => notFound(references.entity, valueIn(value, own)),
    })
  }
  return found
}

/**
 * A predicate about a row that is not there yet: it has no id, and no row refers to it. Of what is not known of it, a part counts as
 * `otherwise` says.
 */
const asNew = (
  predicate: Predicate,
  isKnown: (field: string) => boolean,
  otherwise: boolean,
): Predicate => {
  const constant = (holds: boolean): Predicate => ({ kind: holds ? 'and' : 'or', of: [] })
  switch (predicate.kind) {
    case 'and':
    case 'or':
    case 'not':
      return mappedParts(predicate, part =>
        asNew(part, isKnown, predicate.kind === 'not' ? !otherwise : otherwise),
      )
    case 'across':
      if (predicate.rows !== 'one') return constant(predicate.rows === 'none')
      return isKnown(predicate.by) ? predicate : constant(otherwise)
    case 'compare':
    case 'among':
      if (predicate.field === 'id') return constant(false)
      return isKnown(predicate.field) ? predicate : constant(otherwise)
    case 'finds':
    case 'has viewer':
      return predicate
    default:
      return predicate satisfies never
  }
}

/** What the fields that a caller gave demand of the row, where who may set them depends on it: of the row as it is, or of a new one with these fields. */
const settable = (
  writing: Writing,
  entityName: string,
  values: ReadonlyMap<string, SqlPart>,
  columnOf: ColumnOf,
  isKnown?: (field: string) => boolean,
): readonly Demand[] => {
  const { model, viewer } = writing
  return ruledIn(values).map(key => {
    const { settableBy } = fieldOf(entityOf(model, entityName), key)
    const rights = anyOf(rowRights(model, entityName, settableBy, viewer).map(one => one.before))
    const holds = lockedSql(writing, isKnown ? asNew(rights, isKnown, false) : rights, columnOf)
    return { holds, error: () => refusal(viewer, `set the ${key} of this ${entityName}`) }
  })
}

/** The value of a part of a statement, which may be one that each step of its form has of its own. */
const valueIn = (part: SqlPart, own: OwnValues | undefined): unknown => {
  const key = givenKey(part)
  return key === undefined ? part : own?.get(key)
}

/** The conditions of a create: the right to it, and that the rows it refers to exist. A precheck has only some of the values. */
export const createGuard = (
  writing: Writing,
  entityName: string,
  values: ReadonlyMap<string, SqlPart>,
  isWhole: boolean,
) => {
  const { model, viewer, dialect } = writing
  const entity = entityOf(model, entityName)
  const inserted = insertedValues(writing, entityName, values)
  const rule = entity.policy.create
  const what = `create ${entity.plural}`
  const verdict = permit(writing, rule, what)
  const rights = verdict === 'row' && rule ? rowRights(model, entityName, rule, viewer) : []
  const demanded = anyOf(rights.map(({ before }) => before))
  const isGiven = (field: string) => inserted.has(field)
  // A precheck refuses only what no other values could make right.
  const right = isWhole ? demanded : asNew(demanded, isGiven, true)
  const columnOf = (field: string) =>
    inserted.get(field) ?? dialect.typed(null, fieldOf(entity, field).scalar)
  const isOwn = (key: string) => fieldOf(entity, key).initial === 'viewer'
  const demands: readonly Demand[] = [
    // The viewer's own row is guarded with the right to write.
    ...referred(writing, entity, values).filter(
      ({ key, value }) => !isOwn(key) || value !== viewer.id,
    ),
    ...settable(writing, entityName, values, columnOf, isGiven),
    ...(verdict === 'row'
      ? [
          {
            holds: lockedSql(writing, right, columnOf),
            error: () =>
              refusal(
                viewer,
                rule?.kind === 'self' ? `${what} for somebody else` : `create this ${entityName}`,
              ),
          },
        ]
      : []),
  ]
  // A row of somebody else, whom a value names, is nothing that the viewer makes as itself.
  const isOther = (value: SqlPart | undefined) =>
    value !== undefined && value !== viewer.id && (!isSql(value) || givenKey(value) !== undefined)
  const isOfOwn = verdict === 'row' && rights.every(({ before }) => isOfViewer(before))
  const asSelf =
    isOfOwn || Object.keys(entity.fields).some(key => isOwn(key) && !isOther(values.get(key)))
  return { inserted, ...guardOf(demands, undefined, () => new ApiError('CONFLICT')), asSelf }
}

/** The row of an update or delete, and the conditions on it. */
export type Target = {
  readonly entity: string
  readonly id: number
  /** The parent that the path names: the row must be below it. */
  readonly below?: { readonly field: string; readonly id: number }
  /** The revisions that `If-Match` lists, or any; undefined without such a header. */
  readonly revisions?: readonly number[] | 'any' | undefined
  /** Why these revisions are none that there ever was. */
  readonly mismatch?: string | undefined
  /** The revisions that `If-None-Match` lists, or any; undefined without such a header. */
  readonly excluded?: readonly number[] | 'any' | undefined
  /** The values that fields must still have, as others were made from them. */
  readonly unchanged?: Values | undefined
}

/** A target whose ids and revisions may be values of its step. */
export type TargetForm = Omit<Target, 'id' | 'below' | 'revisions'> & {
  readonly id: number | Sql
  readonly below?: { readonly field: string; readonly id: number | Sql }
  readonly revisions?: readonly (number | Sql)[] | 'any' | undefined
}

/** The error for a row that does not fit `If-Match`, by the reason why none ever did if there is one. */
export const changedSince = (what: string, why?: string): ApiError =>
  why === undefined
    ? new ApiError(
        'PRECONDITION_FAILED',
        `The ${what} was changed since: read it again, then repeat the change`,
      )
    : new ApiError('PRECONDITION_FAILED', why)

/** The error for a row that does not fit `If-None-Match`. */
export const stillThat = (what: string): ApiError =>
  new ApiError(
    'PRECONDITION_FAILED',
    `If-None-Match is * or has the ETag that the ${what} has now: leave the header out to change the ${what} all the same`,
  )

/** Whether a row has one of the revisions that a header lists (RFC 9110, sections 13.1.1 and 13.1.2). */
const hasRevision = (table: string, revisions: readonly (number | Sql)[] | 'any'): Sql => {
  if (revisions === 'any') return sql`true`
  return revisions.length === 0
    ? sql`false`
    : sql`${column(table, 'revision')} in (${join(revisions, comma)})`
}

/**
 * The steps before an action on a row that guard its revision, and hold the row as it is; none if any revision will do. A row that is
 * not there, or not the viewer's, passes: the action's own steps say so.
 */
export const revisionSteps = (
  writing: Writing,
  target: Target,
  rule: Rule | undefined,
): readonly GuardedStep[] => {
  const { entity, id, revisions = 'any', excluded = [] } = target
  const { table } = entityOf(writing.model, entity)
  // Not even a revision is compared of a row that is hidden.
  const mine = and([conditionOf(writing, entity, rule), ...seenSql(writing, entity)])
  const step = (condition: Sql, refused: () => ApiError): GuardedStep => ({
    sql: sql`with found as (select ${column(table, 'revision')} from ${name(table)}
        where ${column(table, 'id')} = ${id} and ${mine}${writing.dialect.lockClause})
      select 1 where not exists (select 1 from found where not (${condition}))`,
    refused,
  })
  const matched = step(hasRevision('found', revisions), () => changedSince(entity, target.mismatch))
  const other = step(sql`not ${hasRevision('found', excluded)}`, () => stillThat(entity))
  return [...(revisions === 'any' ? [] : [matched]), ...(target.excluded ? [other] : [])]
}

/** What one of these rights demands of a row as it is, and as changes leave it too. */
const demandedOf = (
  writing: Writing,
  columnOf: ColumnOf,
  rights: readonly RowRight[],
  changes: ReadonlyMap<string, Sql> | undefined,
): readonly [own: Sql, whole: Sql] => {
  const own = lockedSql(writing, anyOf(rights.map(({ before }) => before)), columnOf)
  if (!changes) return [own, own]
  const isSame = ({ before, after }: RowRight) => after === before && !looksAt(after, changes)
  if (rights.every(isSame)) return [own, own]
  const either = rights.map(({ before, after }) => {
    const left = lockedSql(writing, after, field => changes.get(field) ?? columnOf(field))
    return sql`${lockedSql(writing, before, columnOf)} and ${left}`
  })
  return [own, sql`(${join(either, sql` or `)})`]
}

/** The words of the operations in refusals. */
export const verbs = { update: 'change', delete: 'delete' } as const

/**
 * What an operation that gives these values demands of a row: the right to it as it is, that the rows that the values refer to exist, and
 * the right to it as it becomes. Throws 401 or 403. Only with the changes of an update the row that it makes is judged.
 */
export const demandsOf = (
  writing: Writing,
  entityName: string,
  operation: keyof typeof verbs,
  values: ReadonlyMap<string, SqlPart> = new Map(),
  changes?: ReadonlyMap<string, Sql>,
): readonly Demand[] => {
  const { model, viewer } = writing
  const entity = entityOf(model, entityName)
  const rule = entity.policy[operation]
  const verdict = permit(writing, rule, `${verbs[operation]} ${entity.plural}`)
  const columnOf = columnsOf(entity.table)
  const may = `${verbs[operation]} this ${entityName}`
  const references = [
    ...referred(writing, entity, values, true),
    ...settable(writing, entityName, values, columnOf),
  ]
  if (verdict === 'yes' || !rule) return references
  const rights = rowRights(model, entityName, rule, viewer)
  const [own, whole] = demandedOf(writing, columnOf, rights, changes)
  const right = (holds: Sql, what: string) => ({
    holds,
    error: () => refusal(viewer, what),
    isRight: true,
  })
  if (own === whole) return [right(own, may), ...references]
  // The rows that an update refers to are looked for before the row that it makes is judged.
  return [{ ...right(own, may), isImplied: true }, ...references, right(whole, `${may} so`)]
}

/** The conditions of a target for an operation that gives it these values, and the error if they do not hold; throws 401 or 403. */
export const targetGuard = (
  writing: Writing,
  target: TargetForm,
  operation: keyof typeof verbs,
  values: ReadonlyMap<string, SqlPart> = new Map(),
  changes?: ReadonlyMap<string, Sql>,
) => {
  const entity = entityOf(writing.model, target.entity)
  const { id, below, revisions = 'any', excluded, unchanged } = target
  const of = entity.table
  const changed = () => changedSince(target.entity, target.mismatch)
  const demands = demandsOf(writing, target.entity, operation, values, changes)
  const [first, ...others] = demands
  const own = first?.isRight ? [first] : []
  // RFC 9110, section 13.2.1: the request itself is looked at after its preconditions.
  const all: readonly Demand[] = [
    ...own,
    ...(revisions === 'any' ? [] : [{ holds: hasRevision(of, revisions), error: changed }]),
    ...[...(unchanged ?? [])].map(([key, value]) => ({
      holds: hasValue(writing, target.entity, key, value),
      error: () => new ChangedMeanwhile(),
    })),
    ...(first?.isRight ? others : demands),
    ...(excluded
      ? [{ holds: sql`not ${hasRevision(of, excluded)}`, error: () => stillThat(target.entity) }]
      : []),
  ]
  const found = [
    sql`${column(of, 'id')} = ${id}`,
    ...(below ? [sql`${column(of, columnName(below.field))} = ${below.id}`] : []),
    // What is hidden does not exist, whoever may change it.
    ...seenSql(writing, target.entity),
  ]
  const absent = (own?: OwnValues) => notFound(target.entity, valueIn(id, own))
  return { entity, ...guardOf(all, { table: of, found, absent }, changed) }
}

/** The steps that guard that the target exists and that the viewer may do this to it; they change nothing. */
export const targetSteps = (
  writing: Writing,
  target: TargetForm,
  operation: keyof typeof verbs,
): readonly GuardedStep[] => {
  const { revisions: _, excluded: __, unchanged: ___, ...anyRevision } = target
  const { entity, where, guard } = targetGuard(writing, anyRevision, operation)
  return [{ sql: sql`select id from ${name(entity.table)} where ${where}`, ...guard }]
}
