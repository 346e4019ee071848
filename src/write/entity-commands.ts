/** The plain create, update and delete that every entity has unless its policy closes them, with the preconditions of a request. */
import { ApiError, peopleErrors } from '#errors.ts'
import { columnName, entityOf, fieldOf } from '#model/model.ts'
import { anonymous, judge } from '#model/policy.ts'
import { VIEWER } from '#read/selection.ts'
import {
  and,
  column,
  moment,
  name,
  given as ownValue,
  type Sql,
  type SqlPart,
  type SqlValue,
  slot,
  sql,
} from '#sql/sql.ts'
import { atOnce } from '#write/at-once.ts'
import { claims } from '#write/claims.ts'
import {
  type Command,
  type CommandDraft,
  commandOf,
  conditionOf,
  type GuardedStep,
  goneViewer,
  type OwnValues,
  preparedCommand,
  rememberSubject,
  result,
  type Writing,
} from '#write/command.ts'
import {
  createGuard,
  type Target,
  type TargetForm,
  targetGuard,
  targetSteps,
  type verbs,
} from '#write/guard.ts'
import { fieldsToReset, ruledAs, ruledIn, type Values } from '#write/input.ts'
import { effectSteps } from '#write/outbox.ts'
import { assignments, changesOf, insertInto, madeSlugs } from '#write/row-values.ts'
import { deleteSteps } from '#write/set-null.ts'
import { hookBefore } from '#write/steps/stating.ts'

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
  const insert = (rows = sql``, end = sql``) =>
    sql`${insertInto(entity.table, inserted)} ${rows} where ${where} ${end} returning id`
  const slugs = madeSlugs(entity, values)
  const many =
    slugs.length === 0 &&
    atOnce(writing, entityName, { does: 'create', conditions: [where] }, (rows, end) =>
      insert(sql`from ${rows}`, end),
    )
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
      { name: 'insert', sql: insert(), slugs, ...many, ...guard },
      ...remember,
      ...claims(writing, entityName, values),
      ...effectSteps(writing, entityName, 'create', result('insert')),
    ],
    makes: 'insert',
    status: 201,
  }
}

/** Guards that a row may be created below these parents; run before the faults of an input are reported. */
export const createPrecheck = (
  writing: Writing,
  entityName: string,
  given: Values,
): Command | undefined => {
  // Who has no row, and names none, is refused for none.
  if (given.size === 0 && writing.viewer.role === anonymous.role) return undefined
  const { where, guard, asSelf } = createGuard(writing, entityName, given, false)
  const step: GuardedStep = { sql: sql`select 1 where ${where}`, ...guard }
  return commandOf(writing, { name: `precheck create ${entityName}`, asSelf, steps: [step] })
}

/** The steps of a hook before a write to a row, which come after the guard of that row: a forbidden caller gets 403, whatever else holds. */
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
  const isOld = viewer.since !== undefined && Math.abs(now / 1000 - viewer.since) > freshFor
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
      ? changesOf({ model, dialect, now: moment }, target.entity, values, writing)
      : new Map<string, Sql>()
  if (isReplacement)
    for (const [key, value] of values) {
      // What a hook gives is no wish of the caller.
      if (value !== given.get(key)) continue
      const { foldedFrom } = fieldOf(entity, key)
      const { readableBy, settableBy } = fieldOf(entity, foldedFrom ?? key)
      // The caller may not be able to read the value and so send null for it: that is no wish to set it.
      const rules = [
        readableBy,
        ...(ruledIn(values).includes(foldedFrom ?? key) ? [] : [settableBy]),
      ]
      const byRow = rules.filter(rule => judge(rule, viewer, model) !== 'yes')
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
  const set = (rows = sql``) =>
    sql`update ${table} set ${assignments(changes)} ${rows} where ${where} returning id`
  const change =
    changes.size === 0 ? sql`select id from ${table} where ${where}${dialect.lockClause}` : set()
  const conditions = [where, ...changes.values()]
  const many =
    changes.size > 0 &&
    atOnce(writing, target.entity, { does: 'update', conditions, changes: changes.keys() }, rows =>
      set(sql`from ${rows}`),
    )
  return {
    name: `update ${target.entity}`,
    ...hook,
    steps: [
      ...(hook ? hookSteps(writing, target, 'update', hook.steps) : []),
      ...stepUp(writing, target.entity, sql`id = ${target.id}`, values),
      { name: 'target', sql: change, ...many, ...guard },
      ...claims(writing, target.entity, values, sql`id = ${target.id}`),
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
  const many = atOnce(
    writing,
    target.entity,
    { does: 'delete', conditions: [where] },
    rows => sql`delete from ${name(entity.table)} using ${rows} where ${where} returning id`,
  )
  const parts = deleteSteps(writing, target.entity, where, { name: 'target', ...guard })
  // What comes before the delete of a row is for it alone.
  const steps = parts.length === 1 ? parts.map(step => ({ ...step, ...many })) : parts
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

/** Guards that the viewer may change the target; run before the faults of an input, since 403 and 404 come before 422. */
export const precheck = (
  writing: Writing,
  target: Target,
  operation: keyof typeof verbs,
): Command =>
  commandOf(writing, {
    name: `precheck ${operation} ${target.entity}`,
    steps: targetSteps(writing, target, operation),
  })

/** What stands for a value of its own in a command, by its name. */
type ValueOf = Parameters<Parameters<typeof preparedCommand>[3]>[0]

/** The form of values, by its key: those that may differ in it are its own, by their fields. `isAnybodys`: no value is in the key, nor the viewer. */
const formOf = (
  { model, viewer }: Pick<Writing, 'model' | 'viewer'>,
  entityName: string,
  values: ReadonlyMap<string, SqlPart>,
  isNew: boolean,
) => {
  const entity = entityOf(model, entityName)
  const own = new Map<string, SqlValue>()
  const slugs = new Set<string>()
  for (const key of values.keys()) {
    const { initial } = fieldOf(entity, key)
    if (typeof initial === 'object' && 'slugOf' in initial) slugs.add(key).add(initial.slugOf)
  }
  const keys: string[] = []
  const viewers = new Set<string>()
  let isAnybodys = true
  for (const [key, value] of values) {
    const isPiece = typeof value === 'object' && !(value instanceof Uint8Array)
    // An upload is of one row.
    const { initial, file } = fieldOf(entity, key)
    // A new row of the viewer's own looks for no other row.
    const isViewer = isNew && initial === 'viewer' && value === viewer.id
    if (isPiece || slugs.has(key) || file || (isViewer && viewer.subject !== undefined)) {
      isAnybodys &&= value === null
      keys.push(`${key}=${isPiece && value !== null ? 'of a step' : JSON.stringify(value)}`)
    } else if (isViewer) {
      viewers.add(key)
      keys.push(`${key}=the viewer`)
    } else {
      own.set(key, value)
      keys.push(key)
    }
  }
  /** The values, with what stands for those that are its own. */
  const valuesBy = (ownValueOf: ValueOf) => {
    const form = new Map<string, SqlPart>()
    for (const [key, value] of values) {
      const other = viewers.has(key) ? slot(VIEWER) : value
      form.set(key, own.has(key) ? ownValueOf(key) : other)
    }
    return ruledAs(values, form)
  }
  return { key: `${keys.join()} ${ruledIn(values)}`, own, isAnybodys, valuesBy }
}

/** Whether nothing but a write's own statements belongs to it: no hook, and no effect. */
const isPlainWrite = (
  { model }: Pick<Writing, 'model'>,
  entityName: string,
  operation: 'create' | 'update' | 'delete',
): boolean => {
  const { before, after } = entityOf(model, entityName)
  return !before[operation] && !after[operation]
}

/** The command that creates a row. */
export const createCommand = (
  writing: Writing,
  entityName: string,
  values: ReadonlyMap<string, SqlPart>,
): Command => {
  const { key, own, isAnybodys, valuesBy } = formOf(writing, entityName, values, true)
  if (!isAnybodys || !isPlainWrite(writing, entityName, 'create'))
    return commandOf(writing, create(writing, entityName, values))
  return preparedCommand(writing, `create ${entityName} ${key}`, own, ownValueOf =>
    create(writing, entityName, valuesBy(ownValueOf)),
  )
}

/** A target whose ids and revisions are values of its own; undefined for one with more preconditions. */
const targetForm = (target: Target) => {
  const { entity, id, below, revisions = 'any', excluded, unchanged } = target
  if (excluded || unchanged) return undefined
  const own = new Map<string, SqlValue>([['the row', id]])
  if (below) own.set('the parent', below.id)
  const isAny = revisions === 'any'
  if (!isAny) for (const [at, revision] of revisions.entries()) own.set(`revision ${at}`, revision)
  const by = (ownValueOf: ValueOf): TargetForm => {
    const one = (key: string) => ownValueOf(key) as number | Sql
    return {
      ...target,
      id: one('the row'),
      ...(below && { below: { field: below.field, id: one('the parent') } }),
      revisions: isAny ? 'any' : revisions.map((_, at) => one(`revision ${at}`)),
    }
  }
  return { key: `${entity} ${below?.field} ${isAny ? '' : revisions.length}`, own, by }
}

/** The command that updates a row, or replaces all that its caller may set. */
export const updateCommand = (
  writing: Writing,
  target: Target,
  values: Values,
  isReplacement: boolean,
): Command => {
  const { people } = writing.model
  const row = targetForm(target)
  // Whoever signs in by an address may have to sign in again to change it.
  const isAddress = people?.entity === target.entity && values.has(people.emailKey)
  const { key, own, isAnybodys, valuesBy } = formOf(writing, target.entity, values, false)
  if (!row || isAddress || !isAnybodys || !isPlainWrite(writing, target.entity, 'update'))
    return commandOf(writing, update(writing, target, values, { isReplacement }))
  for (const [name, value] of row.own) own.set(name, value)
  return preparedCommand(writing, `update ${isReplacement} ${row.key} ${key}`, own, ownValueOf =>
    update(writing, row.by(ownValueOf), valuesBy(ownValueOf), { isReplacement }),
  )
}

/** The command that deletes a row. */
export const removeCommand = (writing: Writing, target: Target): Command => {
  const row = targetForm(target)
  if (!row || !isPlainWrite(writing, target.entity, 'delete'))
    return commandOf(writing, remove(writing, target))
  return preparedCommand(writing, `delete ${row.key}`, row.own, ownValueOf =>
    remove(writing, row.by(ownValueOf)),
  )
}

/** The commands of many rows below one: the statements of those of one form are made once, and each has its values. Those of hooks and effects are made one by one. */
export const createForms = (writing: Writing) => {
  const drafts = new Map<string, CommandDraft>()
  const formed = <Draft extends CommandDraft>(
    key: string,
    own: OwnValues,
    make: () => Draft,
  ): Draft => {
    const draft = drafts.getOrInsertComputed(key, make) as Draft
    return { ...draft, steps: draft.steps.map(step => ({ ...step, given: own })) }
  }
  return {
    formed,
    create: (entityName: string, values: ReadonlyMap<string, SqlPart>): CommandDraft => {
      if (!isPlainWrite(writing, entityName, 'create')) return create(writing, entityName, values)
      const { key, valuesBy, own } = formOf(writing, entityName, values, true)
      return formed(`create ${entityName} ${key}`, own, () =>
        create(writing, entityName, valuesBy(ownValue)),
      )
    },
    update: (target: Target, values: Values, isRaised: boolean): CommandDraft => {
      const row = targetForm(target)
      if (!row || !isPlainWrite(writing, target.entity, 'update'))
        return update(writing, target, values, { isRaised })
      const { key, valuesBy, own } = formOf(writing, target.entity, values, false)
      return formed(`update ${row.key} ${isRaised} ${key}`, new Map([...own, ...row.own]), () =>
        update(writing, row.by(ownValue), valuesBy(ownValue), { isRaised }),
      )
    },
    remove: (target: Target): CommandDraft => {
      const row = targetForm(target)
      if (!row || !isPlainWrite(writing, target.entity, 'delete')) return remove(writing, target)
      return formed(`delete ${row.key}`, row.own, () => remove(writing, row.by(ownValue)))
    },
  }
}

export type Forms = ReturnType<typeof createForms>
