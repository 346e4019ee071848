/** The plain create, update and delete that every entity has unless its policy closes them, with the preconditions of a request. */
import { ApiError, peopleErrors } from '#errors.ts'
import { anyOf, isOfViewer, mappedParts, type Predicate } from '#model/condition.ts'
import type { Entity } from '#model/entity.ts'
import { columnName, entityOf, fieldOf, notFound } from '#model/model.ts'
import { isByRow, judge, type RowRight, type Rule, refusal, rowRights } from '#model/policy.ts'
import { type ColumnOf, columnsOf } from '#read/predicate.ts'
import type { Rows } from '#sql/engine.ts'
import {
  and,
  column,
  comma,
  givenKey,
  isSql,
  join,
  name,
  given as ownValue,
  type Sql,
  type SqlPart,
  type SqlValue,
  sql,
} from '#sql/sql.ts'
import {
  assignments,
  type Command,
  type CommandDraft,
  changesOf,
  commandOf,
  conditionOf,
  type GuardedStep,
  goneViewer,
  insertedValues,
  insertInto,
  lockedSql,
  looksAt,
  madeSlugs,
  type OwnValues,
  permit,
  rememberSubject,
  result,
  type Writing,
} from '#write/command.ts'
import { fieldsToReset, ruledAs, ruledIn, type Values } from '#write/input.ts'
import { ChangedMeanwhile } from '#write/merge-patch.ts'
import { effectSteps } from '#write/outbox.ts'
import { deleteSteps } from '#write/set-null.ts'
import { hookBefore } from '#write/steps.ts'

/** The condition that the viewer may see a row of an entity's table, if a rule hides rows of it; a row that is hidden does not exist. */
export const seenSql = (writing: Writing, entityName: string): readonly Sql[] => {
  const { read } = entityOf(writing.model, entityName).policy
  if (!read || judge(read, writing.viewer, writing.model) === 'yes' || !isByRow(read)) return []
  return [conditionOf(writing, entityName, read)]
}

/** A condition of a write beside the right to the row, and the error where it does not hold. */
type Demand = { readonly exists: Sql; readonly error: (own?: OwnValues) => ApiError }

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
  const found: (Demand & { key: string; value: SqlPart })[] = []
  for (const [key, value] of values) {
    const { references, readableBy } = fieldOf(entity, key)
    // A row of the same command is there.
    if (!references || value === null || (isSql(value) && givenKey(value) === undefined)) continue
    const { table } = entityOf(writing.model, references.entity)
    const seen = seenSql(writing, references.entity)
    const lock = seen.length > 0 ? writing.dialect.shareClause : sql``
    const isThere = sql`exists (select 1 from ${name(table)} where ${and([sql`id = ${value}`, ...seen])}${lock})`
    const own = column(entity.table, columnName(key))
    const isShown = judge(readableBy, writing.viewer, writing.model) === 'yes'
    const exists =
      isChange && isShown && seen.length > 0 ? sql`(${own} = ${value} or ${isThere})` : isThere
    found.push({
      key,
      value,
      exists,
      error: own => notFound(references.entity, valueIn(value, own)),
    })
  }
  return found
}

/** A predicate about a row that is not there yet: it has no id, no row refers to it, and what only the store knows of it counts against it. */
const asNew = (
  predicate: Predicate,
  isKnown: (field: string) => boolean,
  isNegated = false,
): Predicate => {
  const closed: Predicate = { kind: isNegated ? 'and' : 'or', of: [] }
  switch (predicate.kind) {
    case 'and':
    case 'or':
    case 'not':
      return mappedParts(predicate, part =>
        asNew(part, isKnown, predicate.kind === 'not' ? !isNegated : isNegated),
      )
    case 'across':
      if (predicate.rows !== 'one')
        return { kind: predicate.rows === 'none' ? 'and' : 'or', of: [] }
      return isKnown(predicate.by) ? predicate : closed
    case 'compare':
    case 'among':
      if (predicate.field === 'id') return { kind: 'or', of: [] }
      return isKnown(predicate.field) ? predicate : closed
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
    const exists = lockedSql(writing, isKnown ? asNew(rights, isKnown) : rights, columnOf)
    return { exists, error: () => refusal(viewer, `set the ${key} of this ${entityName}`) }
  })
}

/** What can be told of a row of which only some fields are known yet: where they do not decide, it counts as fitting. */
const asFarAsKnown = (
  predicate: Predicate,
  isKnown: (field: string) => boolean,
  isNegated = false,
): Predicate => {
  switch (predicate.kind) {
    case 'and':
    case 'or': {
      const of = predicate.of.map(part => asFarAsKnown(part, isKnown, isNegated))
      return { kind: predicate.kind, of }
    }
    case 'not':
      return { kind: 'not', of: asFarAsKnown(predicate.of, isKnown, !isNegated) }
    case 'finds':
    case 'has viewer':
      return predicate
    default: {
      const field = predicate.kind === 'across' ? predicate.by : predicate.field
      return isKnown(field) ? predicate : { kind: isNegated ? 'or' : 'and', of: [] }
    }
  }
}

/** The error for the first of them that does not exist, told for each whether it does. */
const absentOf = (
  demands: readonly Demand[],
  found: readonly unknown[],
  own?: OwnValues,
): ApiError | undefined => demands[found.findIndex(exists => !exists)]?.error(own)

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
  const right = isWhole ? demanded : asFarAsKnown(demanded, field => inserted.has(field))
  const columnOf = (field: string) =>
    inserted.get(field) ?? dialect.typed(null, fieldOf(entity, field).scalar)
  const allowed = verdict === 'row' ? [lockedSql(writing, right, columnOf)] : []
  const isOwn = (key: string) => fieldOf(entity, key).initial === 'viewer'
  // The viewer's own row is checked with the right to write.
  const references: readonly Demand[] = [
    ...referred(writing, entity, values).filter(
      ({ key, value }) => !isOwn(key) || value !== viewer.id,
    ),
    ...settable(writing, entityName, values, columnOf, field => inserted.has(field)),
  ]
  const conditions = [...references.map(({ exists }) => exists), ...allowed]
  const refused = (rows: Rows, own?: OwnValues): ApiError => {
    const found = rows[0] ?? []
    const absent = absentOf(references, found, own)
    if (absent) return absent
    if (allowed.length === 0 || found[references.length]) return new ApiError('CONFLICT')
    return refusal(
      viewer,
      rule?.kind === 'self' ? `${what} for somebody else` : `create this ${entityName}`,
    )
  }
  const explain = conditions.length > 0 ? { explain: sql`select ${join(conditions, comma)}` } : {}
  const isOfOwn = verdict === 'row' && rights.every(({ before }) => isOfViewer(before))
  const asSelf = isOfOwn || Object.keys(entity.fields).some(isOwn)
  return { inserted, where: and(conditions), guard: { ...explain, refused }, asSelf }
}

/**
 * Creates a row. The rows it refers to must exist, else `NOT_FOUND`, unless the same command makes them; a viewer who acts as itself must
 * exist, else 403.
 */
export const create = (
  writing: Writing,
  entityName: string,
  checked: ReadonlyMap<string, SqlPart>,
): CommandDraft => {
  const entity = entityOf(writing.model, entityName)
  const hook = entity.before.create && hookBefore(writing, entityName, 'create', 0, checked)
  const { values = checked, steps = [] } = hook ?? {}
  const { inserted, where, guard, asSelf } = createGuard(writing, entityName, values, true)
  const insert = sql`${insertInto(entity.table, inserted)} where ${where} returning id`
  // The row of a subject is made once and for all.
  const { service, subject } = writing.viewer
  const isViewers = subject !== undefined && entityName === writing.model.viewers.entity
  const remember: readonly GuardedStep[] =
    isViewers && service !== undefined
      ? [{ sql: rememberSubject(service), refused: () => goneViewer(writing) }]
      : []
  return {
    name: `create ${entityName}`,
    asSelf: asSelf || hook?.asSelf === true,
    isolated: hook?.isolated,
    steps: [
      ...steps,
      { name: 'insert', sql: insert, slugs: madeSlugs(entity, values), ...guard },
      ...remember,
      ...effectSteps(writing, entityName, 'create', result('insert')),
    ],
    makes: 'insert',
    status: 201,
  }
}

/** Checks whether a row could be created below these parents; run before the faults of an input are reported. */
export const createPrecheck = (writing: Writing, entityName: string, given: Values): Command => {
  const { where, guard, asSelf } = createGuard(writing, entityName, given, false)
  const step: GuardedStep = { sql: sql`select 1 where ${where}`, ...guard }
  return commandOf(writing, { name: `precheck create ${entityName}`, asSelf, steps: [step] })
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

/** A target whose id may be a value of its step. */
type TargetForm = Omit<Target, 'id'> & { readonly id: number | Sql }

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
const hasRevision = (table: string, revisions: readonly number[] | 'any'): Sql => {
  if (revisions === 'any') return sql`true`
  return revisions.length === 0
    ? sql`false`
    : sql`${column(table, 'revision')} in (${join(revisions, comma)})`
}

/**
 * The steps before an action on a row that check its revision, and hold the row as it is; none if any revision will do. A row that is
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
export const demandedOf = (
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
 * What an operation that gives these values demands of a row, as conditions on it: the right to it as it is, and as it becomes, and
 * that the rows that the values refer to exist; with the error for the first of those that does not. Throws 401 or 403. Only with the
 * changes of an update the row that it makes is judged.
 */
export const demandsOf = (
  writing: Writing,
  entityName: string,
  operation: keyof typeof verbs,
  values: ReadonlyMap<string, SqlPart> = new Map(),
  changes?: ReadonlyMap<string, Sql>,
) => {
  const { model, viewer } = writing
  const entity = entityOf(model, entityName)
  const rule = entity.policy[operation]
  const verdict = permit(writing, rule, `${verbs[operation]} ${entity.plural}`)
  const rights = verdict === 'row' && rule ? rowRights(model, entityName, rule, viewer) : []
  const [own, mine] =
    verdict === 'yes'
      ? [sql`true`, sql`true`]
      : demandedOf(writing, columnsOf(entity.table), rights, changes)
  const references: readonly Demand[] = [
    ...referred(writing, entity, values, true),
    ...settable(writing, entityName, values, columnsOf(entity.table)),
  ]
  const absent = (found: readonly unknown[], own?: OwnValues) => absentOf(references, found, own)
  return { own, mine, exist: references.map(({ exists }) => exists), absent }
}

/** The conditions of a target for an operation that gives it these values, and the error if they do not hold; throws 401 or 403. */
const targetGuard = (
  writing: Writing,
  target: TargetForm,
  operation: keyof typeof verbs,
  values: ReadonlyMap<string, SqlPart> = new Map(),
  changes?: ReadonlyMap<string, Sql>,
) => {
  const { dialect, model, viewer } = writing
  const entity = entityOf(model, target.entity)
  const { own, mine, exist, absent } = demandsOf(writing, target.entity, operation, values, changes)
  const of = entity.table
  const id = sql`${column(of, 'id')} = ${target.id}`
  const parent = target.below
    ? [sql`${column(of, columnName(target.below.field))} = ${target.below.id}`]
    : []
  // What is hidden does not exist, whoever may change it.
  const seen = seenSql(writing, target.entity)
  const current = hasRevision(of, target.revisions ?? 'any')
  const other = target.excluded ? sql`not ${hasRevision(of, target.excluded)}` : sql`true`
  const same = and(
    [...(target.unchanged ?? [])].map(
      ([key, value]) =>
        sql`${column(of, columnName(key))} is not distinct from ${dialect.typed(value, fieldOf(entity, key).scalar)}`,
    ),
  )
  // The rows that an update refers to are looked for before the row that it makes is judged.
  const explain = sql`select ${join([own, mine, current, same, ...exist], comma)}
    from ${name(of)} where ${and([id, ...parent, ...seen])}`
  const refused = (rows: Rows, own?: OwnValues): ApiError => {
    const [row] = rows
    if (!row) return notFound(target.entity, valueIn(target.id, own))
    const [isOwn, isAllowed, isCurrent, isSame, ...found] = row
    if (!isOwn) return refusal(viewer, `change this ${target.entity}`)
    // RFC 9110, section 13.2.1: the request itself is looked at after its preconditions.
    if (!isCurrent) return changedSince(target.entity, target.mismatch)
    if (!isSame) return new ChangedMeanwhile()
    const missing = absent(found, own)
    if (missing) return missing
    if (!isAllowed) return refusal(viewer, `change this ${target.entity} so`)
    return target.excluded === undefined
      ? changedSince(target.entity, target.mismatch)
      : stillThat(target.entity)
  }
  const where = and([id, ...parent, ...seen, mine, current, other, same, ...exist])
  return { entity, where, guard: { explain, refused } }
}

/** The steps of a hook before a write to a row, which come after the check of that row: a forbidden caller gets 403, whatever else holds. */
const hookSteps = (
  writing: Writing,
  target: TargetForm,
  operation: keyof typeof verbs,
  steps: readonly GuardedStep[],
): readonly GuardedStep[] =>
  steps.length > 0 ? [...targetSteps(writing, target, operation), ...steps] : []

/** So long a session may change the address that its person signs in by, in seconds. */
const freshFor = 600

/** The step before an update of such rows by a token of an older session, which may be in another's hands: the address, a way in, stays as it is. */
export const stepUp = (
  { model, viewer, now }: Writing,
  entity: string,
  row: Sql,
  values: ReadonlyMap<string, SqlPart>,
): readonly GuardedStep[] => {
  const { people } = model
  const key = people?.entity === entity ? people.emailKey : undefined
  const isOld = viewer.since !== undefined && now / 1000 - viewer.since > freshFor
  if (people === undefined || key === undefined || !isOld || !values.has(key)) return []
  const own = sql`select 1 from ${name(people.table)} where ${row}`
  return [
    {
      sql: sql`select 1 where not exists (${own} and ${name(columnName(key))} <> ${values.get(key) ?? null})`,
      refused: () =>
        new ApiError(
          peopleErrors.STEP_UP_NEEDED,
          `Sign in again: ${people.email} is changed with a session of the last ten minutes`,
        ),
    },
  ]
}

/**
 * Updates the fields in `values`. The rows that they refer to must exist, else `NOT_FOUND`. Without values nothing changes, not even the revision.
 * A replacement leaves fields as they are that the viewer may not read in this row: it cannot know what they were. One that is raised
 * counts as a change without values too.
 */
export const update = (
  writing: Writing,
  target: TargetForm,
  given: ReadonlyMap<string, SqlPart>,
  { isReplacement = false, isRaised = false } = {},
): CommandDraft => {
  const { dialect, model, viewer } = writing
  const entity = entityOf(model, target.entity)
  const hook =
    entity.before.update && hookBefore(writing, target.entity, 'update', Number(target.id), given)
  const { values = given } = hook ?? {}
  const table = name(entity.table)
  // Without values nothing is raised either.
  const changes =
    values.size > 0 || isRaised
      ? changesOf(writing, target.entity, values, writing)
      : new Map<string, Sql>()
  if (isReplacement)
    for (const key of values.keys()) {
      const { foldedFrom } = fieldOf(entity, key)
      const { readableBy, settableBy } = fieldOf(entity, foldedFrom ?? key)
      // A null may stand for what its caller may not read, and is no wish to set it.
      const rules = [
        readableBy,
        ...(ruledIn(values).includes(foldedFrom ?? key) ? [] : [settableBy]),
      ]
      const byRow = rules.filter(rule => isByRow(rule) && judge(rule, viewer, model) !== 'yes')
      if (byRow.length === 0) continue
      const isRead = and(byRow.map(rule => conditionOf(writing, target.entity, rule)))
      // What such a change resets stays too: else it would tell whether the value given is the stored one.
      const resets = [...fieldsToReset(entity, key).keys()].filter(reset => !values.has(reset))
      for (const kept of [key, ...resets]) {
        const own = column(entity.table, columnName(kept))
        changes.set(kept, sql`case when ${isRead} then ${changes.get(kept) ?? own} else ${own} end`)
      }
    }
  const { where, guard } = targetGuard(writing, target, 'update', values, changes)
  const change =
    changes.size === 0
      ? sql`select id from ${table} where ${where}${dialect.lockClause}`
      : sql`update ${table} set ${assignments(changes)}
          where ${where} returning id`
  return {
    name: `update ${target.entity}`,
    ...hook,
    steps: [
      ...(hook ? hookSteps(writing, target, 'update', hook.steps) : []),
      ...stepUp(writing, target.entity, sql`id = ${target.id}`, values),
      { name: 'target', sql: change, ...guard },
      ...(changes.size > 0 && entity.after.update
        ? effectSteps(writing, target.entity, 'update', target.id)
        : []),
    ],
    makes: 'target',
  }
}

/** Deletes a row, and the rows that belong to it; to those that refer to it and stay this is a change. */
export const remove = (writing: Writing, target: TargetForm): CommandDraft => {
  const { entity, where, guard } = targetGuard(writing, target, 'delete')
  const steps = deleteSteps(writing, target.entity, where, { name: 'target', ...guard })
  const hook =
    entity.before.delete &&
    hookBefore(writing, target.entity, 'delete', Number(target.id), new Map())
  return {
    name: `delete ${target.entity}`,
    ...hook,
    isolated: steps.length > 1 || hook?.isolated === true,
    steps: hook ? [...hookSteps(writing, target, 'delete', hook.steps), ...steps] : steps,
    status: 204,
    text: 'true',
    deletes: target.entity,
  }
}

/** The steps that check that the target exists and that the viewer may do this to it; they change nothing. */
export const targetSteps = (
  writing: Writing,
  target: TargetForm,
  operation: keyof typeof verbs,
): readonly GuardedStep[] => {
  const { revisions: _, excluded: __, unchanged: ___, ...anyRevision } = target
  const { entity, where, guard } = targetGuard(writing, anyRevision, operation)
  return [{ sql: sql`select id from ${name(entity.table)} where ${where}`, ...guard }]
}

/** Checks whether the viewer may change the target; run before the faults of an input, since 403 and 404 come before 422. */
export const precheck = (
  writing: Writing,
  target: Target,
  operation: keyof typeof verbs,
): Command =>
  commandOf(writing, {
    name: `precheck ${operation} ${target.entity}`,
    steps: targetSteps(writing, target, operation),
  })

/** The values that may differ among steps of one form stand in it by their names; its key has all else. */
const formOf = (entity: Entity, values: ReadonlyMap<string, SqlPart>) => {
  const form = new Map<string, SqlPart>()
  const own = new Map<string, SqlValue>()
  const slugs = new Set<string>()
  for (const key of values.keys()) {
    const { initial } = fieldOf(entity, key)
    if (typeof initial === 'object' && 'slugOf' in initial) slugs.add(key).add(initial.slugOf)
  }
  const keys: string[] = []
  for (const [key, value] of values) {
    const isPlain = value !== null && !isSql(value) && !slugs.has(key)
    if (isPlain && fieldOf(entity, key).initial !== 'viewer') {
      own.set(key, value)
      form.set(key, ownValue(key))
      keys.push(key)
    } else {
      form.set(key, value)
      keys.push(`${key}=${isSql(value) ? 'of a step' : JSON.stringify(value)}`)
    }
  }
  const ruled = ruledAs(values, form)
  return { key: `${keys.join()} ${ruled.ruled}`, form: ruled, own }
}

/** The commands of many rows below one: the statements of those of one form are made once, and each has its values. Those of hooks and effects are made one by one. */
export const createForms = (writing: Writing) => {
  const drafts = new Map<string, CommandDraft>()
  const formed = (key: string, own: OwnValues, make: () => CommandDraft): CommandDraft => {
    const draft = drafts.getOrInsertComputed(key, make)
    return { ...draft, steps: draft.steps.map(step => ({ ...step, given: own })) }
  }
  const isPlain = (entityName: string, operation: 'create' | 'update' | 'delete') => {
    const { before, after } = entityOf(writing.model, entityName)
    return !before[operation] && !after[operation]
  }
  const rowOf = ({ entity, id, below }: Target) => ({
    key: `${entity} below ${below?.id}`,
    target: { entity, id: ownValue('the row'), ...(below && { below }) },
    own: ['the row', id] as const,
  })
  return {
    formed,
    create: (entityName: string, values: ReadonlyMap<string, SqlPart>): CommandDraft => {
      if (!isPlain(entityName, 'create')) return create(writing, entityName, values)
      const { key, form, own } = formOf(entityOf(writing.model, entityName), values)
      return formed(`create ${entityName} ${key}`, own, () => create(writing, entityName, form))
    },
    update: (target: Target, values: Values, isRaised: boolean): CommandDraft => {
      if (!isPlain(target.entity, 'update') || target.unchanged)
        return update(writing, target, values, { isRaised })
      const row = rowOf(target)
      const { key, form, own } = formOf(entityOf(writing.model, target.entity), values)
      return formed(`update ${row.key} ${isRaised} ${key}`, new Map([...own, row.own]), () =>
        update(writing, row.target, form, { isRaised }),
      )
    },
    remove: (target: Target): CommandDraft => {
      if (!isPlain(target.entity, 'delete')) return remove(writing, target)
      const row = rowOf(target)
      return formed(`delete ${row.key}`, new Map([row.own]), () => remove(writing, row.target))
    },
  }
}

export type Forms = ReturnType<typeof createForms>
