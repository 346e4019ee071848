/**
 * Steps: what an action or a hook does, as data. Each becomes one or two statements that decide by themselves: nothing is read first
 * and decided in TypeScript, so nobody else's write can come between.
 */
import { ApiError, type ErrorKind, type machineErrors } from '#errors.ts'
import {
  type Condition,
  namesViewer,
  now,
  OperandValue,
  resolveCondition,
  viewer,
} from '#model/condition.ts'
import { madeSlug } from '#model/field.ts'
import { columnName, entityOf, fieldOf, notFound } from '#model/model.ts'
import { digitsOf } from '#model/money.ts'
import { judge, type Rule, refusal, resolvingIn, rowRights, type Viewer } from '#model/policy.ts'
import { nfcKey } from '#model/words.ts'
import { columnsOf, predicateSql } from '#read/predicate.ts'
import { and, column, comma, isSql, join, name, type Sql, type SqlPart, sql } from '#sql/sql.ts'
import {
  assignments,
  type CommandDraft,
  changesOf,
  conditionOf,
  type GuardedStep,
  idsOf,
  insertedValues,
  insertInto,
  lockedSql,
  looksAt,
  madeSlugs,
  result,
  type Writing,
} from '#write/command.ts'
import { authorValue, checkInput, type InputValue, invalid, ruledAs } from '#write/input.ts'
import { effectSteps, type Occasion } from '#write/outbox.ts'
import { deleteSteps } from '#write/set-null.ts'

/** A number relative to what the row has. */
export class Added {
  readonly by: number | Sql
  constructor(by: number | Sql) {
    this.by = by
  }
}

/** What the row has, and so much more: `{ stock: add(-2) }`. A change that would leave the field's range is refused with `CONFLICT`. */
export const add = (by: number | Sql): Added => new Added(by)

/**
 * A value that a step gives to a field: as callers write it, times also as a Date; the `viewer` of the context, which stands for
 * its row, and then the caller must have one; `result(…)` of an earlier step, or another piece of SQL; `add(…)` in a change.
 */
type StepValue = InputValue | Viewer | typeof viewer | typeof now | Sql | Added

export type StepValues = Readonly<Record<string, StepValue | undefined>>

/** A condition of a step: one on rows, whose values may also be the `viewer` of the context and results of earlier steps. */
export type StepCondition = { readonly [member: string]: ConditionPart | undefined }
type ConditionPart = StepValue | StepCondition | readonly (StepValue | StepCondition)[]

/**
 * The error where a condition does not hold: a code, a code with its message, or a function of these fields of the row, which are
 * read then.
 */
export type Otherwise =
  | ErrorKind
  | keyof typeof machineErrors
  | { readonly error: ErrorKind | keyof typeof machineErrors; readonly message: string }
  | {
      readonly find: readonly string[]
      readonly error: (row: Readonly<Record<string, InputValue>>) => ApiError
    }

/**
 * The rows of a step. By its id: one row, which must be there, else the answer is 404; so it is where the caller may not read it, but
 * for a row of an earlier step. By a condition alone: all rows that fit, whoever may read them, or none.
 */
type StepRows = number | Sql | { readonly where: StepCondition }

type StepOptions = {
  /** By this name later steps refer to its row: `result('copy', 'id')`. */
  readonly name?: string
  /** What must hold of the row, beside its id. */
  readonly where?: StepCondition
  /** The error where the condition does not hold, or where no row fits it; `CONFLICT`, or none, if it is left out. */
  readonly otherwise?: Otherwise
}

type OnceOption = {
  /** Of an insert: a row with the values of its unique field or set is taken as it is. Of a change: a row that has the values already stays as it is, times aside. */
  readonly once?: boolean
}

/** A step as data. */
export type DataStep = {
  readonly does: 'change' | 'insert' | 'remove' | 'require'
  readonly entity: string
  readonly id?: number | Sql
  readonly values?: StepValues
} & StepOptions &
  OnceOption

/** A step of an action or a hook: one that these functions make, or a statement of SQL with its guard. */
export type DeclaredStep = DataStep | GuardedStep

/** The rows of a step with what its options demand of them; a plain error for no rows at all, which would be all of them. */
const rowsOf = (rows: StepRows, { where, ...options }: StepOptions) => {
  if (isSql(rows) || (typeof rows === 'number' && Number.isSafeInteger(rows)))
    return { id: rows, ...(where && { where }), ...options }
  if (typeof rows !== 'object' || rows?.where === undefined)
    throw new Error(
      `a step is about the row of the id ${rows}: give it a number, result(…) or { where: … }`,
    )
  return { where: where ? { and: [rows.where, where] } : rows.where, ...options }
}

/** Changes the row of an id, or all that fit a condition; raises their revision and `updatedAt` too. */
export const change = (
  entity: string,
  rows: StepRows,
  values: StepValues,
  options: StepOptions & OnceOption = {},
): DeclaredStep => ({ does: 'change', entity, ...rowsOf(rows, options), values })

/** Makes a row; fields that are left out get their initial values. */
export const insert = (
  entity: string,
  values: StepValues,
  options: Pick<StepOptions, 'name'> & OnceOption = {},
): DeclaredStep => ({ does: 'insert', entity, values, ...options })

/** Deletes the row of an id, with what belongs to it, or all rows that fit a condition. */
export const remove = (
  entity: string,
  rows: StepRows,
  options: StepOptions = {},
): DeclaredStep => ({ does: 'remove', entity, ...rowsOf(rows, options) })

/** Requires the row of an id, or one that fits a condition, and keeps it as it is until the write is done. */
export const require = (
  entity: string,
  rows: StepRows,
  otherwise?: Otherwise,
  options: Pick<StepOptions, 'name' | 'where'> = {},
): DeclaredStep => ({
  does: 'require',
  entity,
  ...rowsOf(rows, { ...options, ...(otherwise !== undefined && { otherwise }) }),
})

/** The row that an action is about: what its caller may not read is not there, and what the rule does not let through is 403. */
export type StepTarget = {
  readonly entity: string
  readonly id: number
  readonly rule: Rule | undefined
  /** What the row must be like beside it, and the error where it is not. */
  readonly when?: Condition | undefined
  readonly otherwise?: Otherwise | undefined
  /** A verb phrase for the refusal. */
  readonly what: string
  /** Whether what is done to it is no data, so that nothing tells what it touches. */
  readonly isByHand?: boolean
}

/** What an action's steps are made from. They are a pure function of it: what depends on rows is for the steps to say. */
export type StepContext = {
  /** The id in the path; 0 if there is none. */
  readonly id: number
  /** The checked input by field: as callers write it, times as a Date. */
  readonly input: Readonly<Record<string, InputValue>>
  readonly viewer: Viewer
  readonly now: Date
  /** The values of the content's own settings. */
  readonly settings: Readonly<Record<string, unknown>>
}

type ResolveContext = Pick<Writing, 'model' | 'viewer' | 'now'>

/** The values of a step by field, as they are stored or as pieces of SQL. */
export const valuesOf = (
  context: ResolveContext,
  { does, entity: entityName, values = {} }: DataStep,
): ReadonlyMap<string, SqlPart | Added> => {
  const entity = entityOf(context.model, entityName)
  const literal: Record<string, unknown> = {}
  const pieces = new Map<string, SqlPart | Added>()
  for (const [key, value] of Object.entries(values)) {
    const { scalar } = fieldOf(entity, key)
    if (isSql(value) || value instanceof Added) pieces.set(key, value)
    else if (value === viewer || value === context.viewer) pieces.set(key, context.viewer.id)
    else if (value === now) pieces.set(key, context.now)
    else if (value instanceof Uint8Array) pieces.set(key, value)
    else if (value instanceof Date)
      literal[key] = scalar === 'date' ? value.toISOString().slice(0, 10) : value.toISOString()
    else literal[key] = value
  }
  const { values: stored, faults } = checkInput(entity, literal, {
    ...context,
    mode: does === 'insert' ? 'create' : 'update',
    what: entityName,
    given: Object.fromEntries([...pieces.keys()].map(key => [key, null])),
    isService: true,
  })
  if (faults.length > 0) throw invalid(faults)
  return new Map([...stored, ...pieces])
}

/** The same condition with what only steps have in it as conditions know it. */
const plainCondition = (context: Pick<Writing, 'viewer'>, condition: unknown): unknown => {
  if (condition === context.viewer) return viewer
  if (condition instanceof OperandValue) return condition
  if (isSql(condition)) {
    const [from, ...others] = condition.parameters
    if (from?.kind !== 'result' || others.length > 0 || condition.texts.join('') !== '')
      throw new Error('a condition of a step takes result(…), and no other piece of SQL')
    return new OperandValue(from)
  }
  if (Array.isArray(condition)) return condition.map(one => plainCondition(context, one))
  if (typeof condition !== 'object' || condition === null || condition instanceof Date)
    return condition
  const entries = Object.entries(condition)
  return Object.fromEntries(entries.map(([key, one]) => [key, plainCondition(context, one)]))
}

/** The condition of a step resolved against the model, with its faults, and whether it names the viewer. */
export const resolvedCondition = (
  context: ResolveContext,
  entityName: string,
  condition: StepCondition,
) => {
  const { model } = context
  const { entity } = model.viewers
  const plain = plainCondition(context, condition)
  const against = { ...resolvingIn(model), ...(entity !== undefined && { viewers: entity }) }
  return { ...resolveCondition(against, entityName, plain), asSelf: namesViewer(plain) }
}

/** The pieces of SQL in a value, a condition or a step. */
export const piecesIn = (part: unknown): readonly Sql[] => {
  if (isSql(part)) return [part]
  if (part instanceof Added) return piecesIn(part.by)
  if (typeof part !== 'object' || part === null || part instanceof Uint8Array) return []
  return Object.values(part).flatMap(piecesIn)
}

/** The names of the steps that others refer to, each with the fields that they want. */
const wantedOf = (steps: readonly DeclaredStep[]): ReadonlyMap<string, ReadonlySet<string>> => {
  const wanted = new Map<string, Set<string>>()
  for (const { parameters } of piecesIn(steps))
    for (const one of parameters)
      if (one.kind === 'result')
        wanted.getOrInsertComputed(one.step, () => new Set()).add(one.field)
  return wanted
}

export const isData = (step: DeclaredStep): step is DataStep => 'does' in step

/** The unique field or set of an entity that these values fill; undefined if they fill none. */
export const uniqueAmong = (
  { model }: Pick<Writing, 'model'>,
  entityName: string,
  values: { readonly has: (key: string) => boolean },
): readonly string[] | undefined => {
  const { fields, sets } = entityOf(model, entityName)
  const single = Object.keys(fields).filter(key => fields[key]?.unique !== undefined)
  const all = [...single.map(key => [key]), ...sets.map(set => set.fields)]
  return all.find(keys => keys.every(key => values.has(key)))
}

/** The error of a step whose condition does not hold, and the fields of the row that it is made from. */
const refusedAs = (
  otherwise: Otherwise | undefined,
): {
  readonly find: readonly string[]
  readonly error: (row: Readonly<Record<string, InputValue>>) => ApiError | undefined
} => {
  if (otherwise === undefined) return { find: [], error: () => undefined }
  if (typeof otherwise === 'string' || 'code' in otherwise)
    return { find: [], error: () => new ApiError(otherwise) }
  if ('find' in otherwise) return otherwise
  return { find: [], error: () => new ApiError(otherwise.error, otherwise.message) }
}

/** The steps as statements; the row that they are about comes first. */
export const statedSteps = (
  writing: Writing,
  declared: readonly DeclaredStep[],
  target?: StepTarget,
) => {
  const { model, dialect, viewer: caller } = writing
  const wanted = wantedOf(declared)
  const steps: GuardedStep[] = []
  /** The rows that steps are about, and the answers with them. */
  const made: { entity: string; answer: Pick<CommandDraft, 'makes' | 'status'> }[] = []
  let asSelf = false
  let isolated = false
  let deletes: string | undefined

  const targetTable = target ? entityOf(model, target.entity).table : ''
  const mayDo = target?.rule && judge(target.rule, caller, model)
  const rights =
    target?.rule && mayDo === 'row' ? rowRights(model, target.entity, target.rule, caller) : []
  // What the steps touch, as far as data tells: where the rule looks at none of it, the row fits it afterwards too.
  const touched = new Set(
    declared.flatMap(step => {
      if (!isData(step) || step.does === 'require') return []
      return [entityOf(model, step.entity).table, ...Object.keys(step.values ?? {})]
    }),
  )
  const isGone = declared.some(
    step => isData(step) && step.does === 'remove' && step.id === target?.id,
  )
  // Of SQL nothing tells what it touches; what the row must be becoming is looked at all the same.
  const isByHand = target?.isByHand === true || declared.some(step => !isData(step))
  const looksAfter =
    !isGone &&
    rights.some(({ before, after }) => looksAt(after, touched) || (isByHand && after !== before))

  /** What a statement about the rows of a step demands of them, and the errors where it does not hold. */
  const guardOf = (
    { entity: entityName, id, where, otherwise }: DataStep,
    isTarget: boolean,
    more: readonly { readonly holds: Sql; readonly error: () => ApiError }[] = [],
  ): Pick<GuardedStep, 'expect' | 'explain' | 'refused'> & { readonly holds: Sql } => {
    const entity = entityOf(model, entityName)
    const { read } = entity.policy
    const columnOf = columnsOf(entity.table)
    const { find, error } = refusedAs(otherwise)
    const ranges = more.map(({ holds }) => holds)
    const conditions: Sql[] = []
    if (where) {
      const { predicate, faults, asSelf: isOwn } = resolvedCondition(writing, entityName, where)
      if (isOwn) asSelf = true
      if (faults.length > 0)
        throw invalid(faults.map(({ path, message }) => ({ field: path, message })))
      const rows = { dialect, columnOf, others: 'locked', isBound: true } as const
      conditions.push(predicateSql(predicate, rows))
    }
    if (id === undefined)
      return {
        holds: and([...conditions, ...ranges]),
        ...(otherwise === undefined ? { expect: 'any' } : { refused: () => error({}) }),
      }
    const found = [sql`${columnOf('id')} = ${id}`]
    const isHidden =
      !isSql(id) && read && read.kind !== 'nobody' && judge(read, caller, model) !== 'yes'
    if (isHidden) found.push(conditionOf(writing, entityName, read))
    const isRuled = isTarget && mayDo === 'row' && !(isHidden && target?.rule === read)
    const mine = isRuled ? conditionOf(writing, entityName, target?.rule) : sql`true`
    const held = [and(conditions), ...ranges].map(one => sql`(${one}) is true`)
    const explain = sql`select ${join([mine, ...held, ...find.map(columnOf)], comma)}
      from ${name(entity.table)} where ${and(found)}`
    return {
      holds: and([...found, mine, ...ranges, ...conditions]),
      explain,
      refused: ([row]) => {
        if (!row) return isSql(id) ? error({}) : notFound(entityName, id)
        const [isMine, isHeld, ...others] = row
        if (!isMine) return refusal(caller, target?.what ?? `change this ${entityName}`)
        const broken = more.find((_, at) => !others[at])
        if (isHeld && broken) return broken.error()
        const digits = model.settings.currency.digits
        const values = find.map((key, at) => [
          key,
          authorValue(fieldOf(entity, key), others[more.length + at] ?? null, digits),
        ])
        return error(Object.fromEntries(values))
      },
    }
  }

  /** The values of a step, those relative to the row as expressions, and that these stay in the ranges of their fields. */
  const piecesOf = (step: DataStep) => {
    const entity = entityOf(model, step.entity)
    const given = Object.values(step.values ?? {})
    if (given.some(value => value === viewer || value === caller)) asSelf = true
    const ranges: { holds: Sql; error: () => ApiError }[] = []
    const values = new Map<string, SqlPart>()
    for (const [key, value] of valuesOf(writing, step)) {
      if (!(value instanceof Added)) {
        values.set(key, value)
        continue
      }
      const field = fieldOf(entity, key)
      const unit = 10 ** digitsOf(field, model.settings.currency.digits)
      const by = isSql(value.by) ? value.by : Math.round(value.by * unit)
      const sum = sql`(${column(entity.table, columnName(key))} + ${dialect.typed(by, field.scalar)})`
      values.set(key, sum)
      if (!field.range) continue
      const { min, max } = field.range
      const inUnits = (amount: number) =>
        Math.min(Math.round(amount * unit), Number.MAX_SAFE_INTEGER)
      const message = `The ${key} of this ${step.entity} must stay within ${min} to ${max}`
      ranges.push({
        holds: sql`${sum} between ${inUnits(min)} and ${inUnits(max)}`,
        error: () => new ApiError('CONFLICT', message),
      })
    }
    return { values, ranges }
  }

  if (target) {
    const [first] = declared
    // The first step looks at the row itself if it is about it.
    const isFirst =
      first && isData(first) && first.entity === target.entity && first.id === target.id
    if (!isFirst || looksAfter || target.when) {
      const { entity, id, when, otherwise } = target
      const demanded = {
        ...(when && { where: when as StepCondition }),
        ...(otherwise !== undefined && { otherwise }),
      }
      const { holds, ...guard } = guardOf({ does: 'require', entity, id, ...demanded }, true)
      const held = looksAfter
        ? rights.map(({ before }) => lockedSql(writing, before, columnsOf(targetTable)))
        : []
      const facts = held.map(one => sql`case when ${one} then 1 else 0 end`)
      steps.push({
        name: 'the row',
        returns: ['id', ...held.map((_, at) => `right ${at}`)],
        sql: sql`select ${join([column(targetTable, 'id'), ...facts], comma)} from ${name(targetTable)}
          where ${holds}${rights.length > 0 || when ? dialect.lockClause : sql``}`,
        ...guard,
      })
      made.push({ entity: target.entity, answer: { makes: 'the row' } })
    }
  }

  for (const [index, step] of declared.entries()) {
    if (!isData(step)) {
      steps.push(step)
      continue
    }
    const { does, entity: entityName, id, once, name: own = `step ${index + 1}` } = step
    const entity = entityOf(model, entityName)
    const table = name(entity.table)
    const returns = [...new Set(['id', ...(wanted.get(own) ?? [])])]
    const returned = join(
      returns.map(key => name(columnName(key))),
      comma,
    )
    const isTarget =
      steps.length === 0 && entityName === target?.entity && id !== undefined && id === target.id
    const named = { name: own, returns }
    const put = once ? `${own}: put` : own
    const status = once ? { step: put, some: 201, none: 200 } : 201
    if (does === 'insert') made.push({ entity: entityName, answer: { makes: own, status } })
    else if (id !== undefined) made.push({ entity: entityName, answer: { makes: own } })
    switch (does) {
      case 'require': {
        const { holds, ...guard } = guardOf(step, isTarget)
        const found = sql`select ${returned} from ${table} where ${holds} limit 1${dialect.shareClause}`
        steps.push({ ...named, sql: found, ...guard })
        break
      }
      case 'insert': {
        const { values } = piecesOf(step)
        const isOwn = (key: string) =>
          fieldOf(entity, key).initial === 'viewer' && !fieldOf(entity, key).nullable
        if ([...values.keys()].some(key => isOwn(key) && !(key in (step.values ?? {}))))
          asSelf = true
        const given = insertedValues(writing, entityName, values)
        const into = sql`${insertInto(entity.table, given)} where true`
        const slugs = madeSlugs(entity, values)
        if (!once) steps.push({ ...named, sql: sql`${into} returning ${returned}`, slugs })
        else {
          const sole = sql`${into} on conflict do nothing returning id`
          steps.push({ name: put, sql: sole, expect: 'any' })
          // The row that it meets must not go before it is found. Of one that went while it waited the snapshot still has the row, with a lower id.
          isolated = true
          const keys = uniqueAmong(writing, entityName, values) ?? []
          const isEqual = (key: string) =>
            sql`${name(columnName(key))} = ${dialect.typed(values.get(key) ?? null, fieldOf(entity, key).scalar)}`
          // The row that it meets may have the text composed otherwise; one of before may have no copy yet.
          const same = keys.map(key =>
            values.has(nfcKey(key))
              ? sql`(${isEqual(key)} or ${isEqual(nfcKey(key))})`
              : isEqual(key),
          )
          const found = sql`select ${returned} from ${table} where ${and(same)} order by id desc limit 1`
          steps.push({ ...named, sql: found })
        }
        steps.push(...effectSteps(writing, entityName, 'create', result(put)))
        break
      }
      case 'change': {
        const { values, ranges } = piecesOf(step)
        const { holds, ...guard } = guardOf(step, isTarget, ranges)
        const all = assignments(changesOf(writing, entityName, values))
        if (!once) {
          const put = sql`update ${table} set ${all} where ${holds} returning ${returned}`
          steps.push({ ...named, sql: put, ...guard })
        } else {
          const timeless = [...values].filter(([, value]) => value !== writing.now)
          const isSo = and(
            timeless.map(
              ([key, value]) =>
                sql`${column(entity.table, columnName(key))} is not distinct from ${dialect.typed(value, fieldOf(entity, key).scalar)}`,
            ),
          )
          steps.push({
            name: put,
            sql: sql`update ${table} set ${all} where ${holds} and not (${isSo}) returning id`,
            expect: 'any',
          })
          const { where: _, ...bare } = step
          const { holds: is } = guardOf(bare, isTarget)
          const found = sql`select ${returned} from ${table} where ${is} and ${isSo}`
          steps.push({ ...named, ...guard, sql: found })
        }
        const changed = id === undefined ? idsOf(writing, put) : result(own)
        steps.push(...effectSteps(writing, entityName, 'update', changed, id === undefined))
        break
      }
      case 'remove': {
        const { holds, ...guard } = guardOf(step, isTarget)
        const all = { ...named, ...guard }
        const gone = deleteSteps(writing, entityName, holds, all, returned, id === undefined)
        steps.push(...gone)
        if (gone.length > 1) isolated = true
        deletes = entityName
        break
      }
      default:
        does satisfies never
    }
  }

  if (target && looksAfter) {
    const held = rights.map(({ after }, at) => {
      const was = dialect.typed(result('the row', `right ${at}`), 'int')
      return sql`(${was} = 1 and ${lockedSql(writing, after, columnsOf(targetTable))})`
    })
    steps.push({
      sql: sql`select id from ${name(targetTable)}
        where ${column(targetTable, 'id')} = ${target.id} and (${join(held, sql` or `)})`,
      refused: () => refusal(caller, target.what),
    })
  }

  // Others without a row of theirs are refused by the check of the viewer.
  if (asSelf && caller.role === 'anonymous') throw refusal(caller, target?.what ?? 'do this')
  return {
    steps,
    /** Whether they name the viewer's row, which must exist then. */
    asSelf,
    isolated,
    deletes,
    /** What is answered with the row of the last step about one of this entity. */
    about: (entityName: string) => made.findLast(({ entity }) => entity === entityName)?.answer,
  }
}

/** What the hook before a write gives: the values, with its own, and its steps; undefined if there is no hook. Throws its error. */
export const hookBefore = (
  writing: Writing,
  entityName: string,
  occasion: Occasion,
  id: number,
  values: ReadonlyMap<string, SqlPart>,
) => {
  const { model, viewer: caller } = writing
  const entity = entityOf(model, entityName)
  const hook = entity.before[occasion]
  if (!hook) return undefined
  const digits = model.settings.currency.digits
  const input = [...values].map(([key, value]) => [
    key,
    isSql(value) ? value : authorValue(fieldOf(entity, key), value, digits),
  ])
  const given = { id, input: Object.fromEntries(input), viewer: caller, now: new Date(writing.now) }
  const { values: own, error, message, steps = [] } = hook(given) ?? {}
  if (error) throw new ApiError(error, message)
  // Content types the steps; the model, which may not import them, says objects.
  const stated = statedSteps(writing, steps as readonly DeclaredStep[])
  if (!own) return { values, ...stated }
  const step = { does: 'change', entity: entityName, values: own as StepValues } as const
  const all = new Map([...values, ...valuesOf(writing, step)])
  // A slug that nobody gave follows the text that it is made of.
  for (const { key } of madeSlugs(entity, values)) {
    const field = fieldOf(entity, key)
    const { initial } = field
    const source = typeof initial === 'object' && 'slugOf' in initial && all.get(initial.slugOf)
    if (typeof source === 'string' && !Object.hasOwn(own, key))
      all.set(key, madeSlug(source, field) || (values.get(key) ?? null))
  }
  return { values: ruledAs(values, all as ReadonlyMap<string, SqlPart>), ...stated }
}
