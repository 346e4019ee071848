/**
 * Steps: what an action or a hook does, as data. Each becomes one or two statements that decide by themselves: nothing is read first
 * and decided in TypeScript, so nobody else's write can come between.
 */
import type { ApiError, ErrorKind, machineErrors } from '#errors.ts'
import { namesViewer, now, OperandValue, resolveCondition, viewer } from '#model/condition.ts'
import { uniquesOf } from '#model/entity.ts'
import { entityOf, fieldOf } from '#model/model.ts'
import { resolvingIn, type Viewer } from '#model/policy.ts'
import { isSql, type Sql, type SqlPart } from '#sql/sql.ts'
import type { GuardedStep, Writing } from '#write/command.ts'
import { checkInput, type InputValue, invalid } from '#write/input.ts'

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

type PutOptions = {
  /** Of an insert: a row with the values of its unique field or set is taken as it is. Of a change: a row that has the values already stays as it is, times aside. */
  readonly once?: boolean
  /** What is done after the commit, by its name in `after` of the entity; that of a create or an update unless it says. */
  readonly after?: string
}

/** A step as data. */
export type DataStep = {
  readonly does: 'change' | 'insert' | 'remove' | 'require'
  readonly entity: string
  readonly id?: number | Sql
  readonly values?: StepValues
} & StepOptions &
  PutOptions

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
  options: StepOptions & PutOptions = {},
): DeclaredStep => ({ does: 'change', entity, ...rowsOf(rows, options), values })

/** Makes a row; fields that are left out get their initial values. */
export const insert = (
  entity: string,
  values: StepValues,
  options: Pick<StepOptions, 'name'> & PutOptions = {},
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

/** What an action's steps are made from. They are a pure function of it: what depends on rows is for the steps to say. */
export type StepContext = {
  /** The id in the path; 0 if there is none. */
  readonly id: number
  /** The validated input by field: as callers write it, times as a Date. */
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

export const isData = (step: DeclaredStep): step is DataStep => 'does' in step

/** The unique field or set of an entity that these values fill; undefined if they fill none. */
export const uniqueAmong = (
  { model }: Pick<Writing, 'model'>,
  entityName: string,
  values: { readonly has: (key: string) => boolean },
): readonly string[] | undefined => {
  return uniquesOf(entityOf(model, entityName)).find(keys => keys.every(key => values.has(key)))
}
