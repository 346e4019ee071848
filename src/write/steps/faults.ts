/** Refuses faulty steps of actions and hooks before a service starts: they are made once for sample inputs, and looked at as data. */
import { mapped } from '#base/object.ts'
import { remedy } from '#base/shape.ts'
import { nearest } from '#base/text.ts'
import { ApiError, type ErrorKind } from '#errors.ts'
import { OperandValue, resolveCondition } from '#model/condition.ts'
import type { Model } from '#model/model.ts'
import { wrong } from '#model/names.ts'
import { alternativesOf, anonymous, resolvingIn, type Viewer } from '#model/policy.ts'
import type { Scalar } from '#model/values.ts'
import { isSql } from '#sql/sql.ts'
import type { InputValue } from '#write/input.ts'
import { type RuledAction, sampleInputs } from '#write/steps/action.ts'
import {
  Added,
  change,
  type DataStep,
  type DeclaredStep,
  isData,
  piecesIn,
  resolvedCondition,
  type StepCondition,
  type StepValues,
  uniqueAmong,
  valuesOf,
} from '#write/steps/steps.ts'

/** One of each kind of caller. */
const sampleViewers = ({ viewers }: Model): readonly Viewer[] => [
  ...viewers.roles.names.map(role => ({ id: 1, role })),
  anonymous,
]

const meant = (word: string, known: readonly string[]): string =>
  known.length === 0 ? 'name one of them first' : remedy(word, known)

type CheckContext = {
  readonly model: Model
  readonly errors: ReadonlyMap<string, ErrorKind>
  readonly viewer: Viewer
  /** The values of the sample, whose faults are none of the steps'. */
  readonly samples: ReadonlySet<unknown>
}

const isNumber = (value: unknown) => typeof value === 'number'
const isText = (value: unknown) => typeof value === 'string'
const isMoment = (value: unknown) => isText(value) || value instanceof Date

/** Whether a field of each kind may have a value at all that is of the type of this one. */
const isOfKind = {
  id: isNumber,
  int: isNumber,
  money: isNumber,
  decimal: isNumber,
  flag: value => typeof value === 'boolean',
  text: isText,
  file: isText,
  date: isMoment,
  time: isMoment,
  list: Array.isArray,
  json: value => typeof value === 'object',
  bytes: value => value instanceof Uint8Array,
} satisfies Record<Scalar, (value: unknown) => boolean>

/** A value that stands for what a request gives in its place, of which the type alone is known. */
class StandIn extends OperandValue {
  readonly sample: unknown
  constructor(sample: unknown) {
    super({ kind: 'value', value: null })
    this.sample = sample
  }
}

/** Operators that look at the value itself. */
const looking = ['contains', 'startsWith', 'isNull']

/** A condition whose values of the sample stand for those of any request. */
const withStandIns = ({ viewer, samples }: CheckContext, condition: unknown): unknown => {
  if (condition === viewer || isSql(condition)) return condition
  const isValue = typeof condition !== 'object' || condition instanceof Date
  if (isValue && samples.has(condition)) return new StandIn(condition)
  if (isValue || condition === null || condition instanceof Uint8Array) return condition
  const within = (one: unknown) => withStandIns({ viewer, samples } as CheckContext, one)
  if (Array.isArray(condition)) return condition.map(within)
  return mapped(condition as Readonly<Record<string, unknown>>, (one, key) =>
    looking.includes(key) && typeof one !== 'object' ? one : within(one),
  )
}

/** Where a stand-in is in a condition. */
const pathTo = (operand: OperandValue, condition: unknown, path: string): string | undefined => {
  if (condition === operand) return path
  if (typeof condition !== 'object' || condition === null || isSql(condition)) return undefined
  for (const [key, one] of Object.entries(condition)) {
    const found = pathTo(operand, one, `${path}.${key}`)
    if (found !== undefined) return found
  }
  return undefined
}

/** The faults of a step among those before it, as the end of a sentence. */
const faultsOf = function* (
  context: CheckContext,
  step: DataStep,
  before: ReadonlyMap<string, string | undefined>,
): Generator<string> {
  const { model, errors, viewer, samples } = context
  const { does, entity: name, id, where, values = {}, otherwise, once } = step
  const entity = model.entities[name]
  if (!entity) {
    const known = Object.keys(model.entities)
    return yield `is about ${name}, which is no entity: ${meant(name, known)}`
  }
  const keys = Object.keys(entity.fields)
  const find = typeof otherwise === 'object' && 'find' in otherwise ? otherwise.find : []
  for (const key of [...Object.keys(values), ...find])
    if (!entity.fields[key])
      return yield `names ${key}, which is no field of ${name}: ${meant(key, keys)}`
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) yield `gives ${key} nothing: give it a value, or null`
    const isFolded = keys.some(other => entity.fields[other]?.foldedFrom === key)
    if (isFolded && isSql(value))
      yield `gives ${key} a piece of SQL, which cannot be folded: give it a text`
  }
  for (const piece of piecesIn([values, where, id]))
    for (const one of piece.parameters) {
      if (one.kind !== 'result') continue
      if (!before.has(one.step))
        return yield `wants a result of ${one.step}, which is no step before it: ${meant(one.step, [...before.keys()])}`
      const of = model.entities[before.get(one.step) ?? '']
      if (of && !of.fields[one.field])
        yield `wants ${one.field} of ${one.step}, which it does not have: ${meant(one.field, Object.keys(of.fields))}`
    }
  const resolving = { model, viewer, now: 0 }
  if (does === 'insert' || does === 'change') {
    if (Object.keys(values).length === 0) yield 'gives no values: name some'
    try {
      valuesOf(resolving, step)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      for (const { field, message } of error.details ?? [])
        if (!samples.has(values[field]))
          yield `gives ${field}, which ${message}${values[field] === null ? ': give it viewer where it is viewer.id, or a value' : ''}`
    }
    for (const [key, value] of Object.entries(values)) {
      const scalar = entity.fields[key]?.scalar
      const isAny = value === null || value === undefined || !samples.has(value)
      if (scalar && !isAny && !isOfKind[scalar](value))
        yield `gives ${key} what no ${scalar} can be: give it another value of the input`
    }
  }
  if (where) {
    const standing = withStandIns(context, where) as StepCondition
    const { faults, operands } = resolvedCondition(resolving, name, standing)
    for (const { path, message } of faults) {
      let at: unknown = standing
      for (const part of path.split('.')) at = (at as Record<string, unknown> | undefined)?.[part]
      // A null of the sample is a value that other requests have.
      if (at !== null || !samples.has(null)) yield `has where.${path}, which ${message}`
    }
    for (const { operand, scalar, stored } of operands) {
      if (!(operand instanceof StandIn)) continue
      const { sample } = operand
      const found = stored(sample)
      // Another value of its type may be right.
      if ('fault' in found && !isOfKind[scalar](sample))
        yield `has ${pathTo(operand, standing, 'where')}, which ${found.fault}`
    }
  }
  if ('otherwise' in step) {
    const kind = typeof otherwise === 'object' && 'error' in otherwise ? otherwise.error : otherwise
    const code = typeof kind === 'object' ? kind.code : String(kind)
    if (typeof kind !== 'function' && !errors.has(code))
      yield nearest(code, [...errors.keys()]) === undefined
        ? `has the error ${code}, which the content does not list: add it to errors of defineContent`
        : `has the error ${code}, which is none of the content: ${meant(code, [...errors.keys()])}`
    if (find.length > 0 && id === undefined)
      yield 'finds fields of a row and has no id: take a code and a message'
  }
  if (once && does === 'insert' && !uniqueAmong({ model }, name, new Map(Object.entries(values))))
    yield `is done once, and ${name} has no unique field or set among its values: add it to sets`
  if (once && Object.values(values).some(value => value instanceof Added))
    yield 'is done once and adds to a value: take one of both'
  const known = Object.keys(entity.after)
  if (step.after !== undefined && !known.includes(step.after))
    yield `does ${step.after} after it, which is none of after of ${name}: ${meant(step.after, known)}`
}

/** The first fault of steps, as the end of a sentence; undefined if there is none. */
const faultOf = (
  context: Omit<CheckContext, 'viewer' | 'samples'>,
  inputs: readonly Readonly<Record<string, InputValue>>[],
  stepsOf: (given: {
    input: Readonly<Record<string, InputValue>>
    viewer: Viewer
    now: Date
  }) => readonly DeclaredStep[],
): string | undefined => {
  const { model } = context
  for (const input of inputs)
    for (const viewer of sampleViewers(model)) {
      const now = new Date(0)
      let steps: readonly DeclaredStep[]
      try {
        steps = stepsOf({ input, viewer, now })
      } catch (error) {
        // A refusal is an answer, too.
        if (error instanceof ApiError) continue
        const reason = error instanceof Error ? error.message : String(error)
        return `it cannot make its steps from ${JSON.stringify(input)}: ${reason}`
      }
      const samples = new Set<unknown>([...Object.values(input), 1])
      const before = new Map<string, string | undefined>()
      for (const [index, step] of steps.entries()) {
        const own = step.name ?? `step ${index + 1}`
        const place = isData(step) ? `its step ${index + 1}, ${step.does} ${step.entity},` : ''
        if (before.has(own)) return `it has two steps called ${own}: rename one of them`
        if (isData(step))
          for (const fault of faultsOf({ ...context, viewer, samples }, step, before))
            return `${place} ${fault}`
        before.set(own, isData(step) ? step.entity : undefined)
      }
    }
  return undefined
}

/** The first fault of the rule of an action, whose conditions are about its row, as the end of a sentence. */
const ruleFault = (model: Model, { rule, about }: RuledAction): string | undefined => {
  for (const { before, after } of rule ? alternativesOf(rule) : [])
    for (const condition of [before, after]) {
      if (condition === undefined) continue
      if (about === null) return 'its rule looks at a row, and it is about none: name it in about'
      const [fault] = resolveCondition(resolvingIn(model), about, condition).faults
      if (fault) return `its rule has ${fault.path}, which ${fault.message}`
    }
  return undefined
}

/** The first fault of `when`, its error, and of the rows whose screens leave an action out, as the end of a sentence. */
const whenFault = (
  { model, errors }: Omit<CheckContext, 'viewer' | 'samples'>,
  { about, when, otherwise, admin = {} }: RuledAction,
): string | undefined => {
  const { hiddenWhen } = admin
  if (otherwise !== undefined && when === undefined)
    return 'it has otherwise without when: leave it out, or say when'
  if (about === null)
    return when || hiddenWhen
      ? 'it says when, which is about a row, and it is about none: name it in about'
      : undefined
  const context = { model, errors, viewer: anonymous, samples: new Set() }
  for (const [place, where, more] of [
    ['when', when, otherwise === undefined ? {} : { otherwise }],
    ['admin.hiddenWhen', hiddenWhen, {}],
  ] as const) {
    if (where === undefined) continue
    const step = { does: 'require', entity: about, id: 1, where: where as StepCondition, ...more }
    for (const fault of faultsOf(context, step as DataStep, new Map()))
      return `its ${place} ${fault.replace(/^has where\./, 'has ')}`
  }
  return undefined
}

const occasions = ['create', 'update', 'delete'] as const

/** Throws a plain error, one sentence, for an action or a hook whose steps are misdeclared. */
export const checkSteps = (
  model: Model,
  actions: readonly RuledAction[],
  errors: ReadonlyMap<string, ErrorKind>,
): void => {
  const context = { model, errors }
  const settings = model.settings.values ?? {}
  for (const action of actions) {
    const { method, path, about, answers, steps, command, input = {} } = action
    const fail = (fault: string): never => {
      throw new Error(`The action ${method} ${path}: ${fault}`)
    }
    if (!steps === !command)
      fail('it has neither steps nor a command, or both: give it one of them')
    const broken = ruleFault(model, action)
    if (broken !== undefined) fail(broken)
    const unfit = whenFault(context, action)
    if (unfit !== undefined) fail(unfit)
    if (!steps) continue
    const id = about === null ? 0 : 1
    const fault = faultOf(context, sampleInputs(input), given => {
      const made = steps({ id, settings, ...given })
      const isAnswer = (step: DeclaredStep) =>
        isData(step) && step.entity === answers && (step.does === 'insert' || step.id !== undefined)
      if (answers !== null && answers !== about && !made.some(isAnswer))
        fail(
          `it answers with ${answers}, and none of its steps makes one or is about one by its id`,
        )
      return made
    })
    if (fault !== undefined) fail(fault)
  }
  for (const [name, { before, fields }] of Object.entries(model.entities))
    for (const occasion of occasions) {
      const hook = before[occasion]
      const inputs = occasion === 'delete' ? [{}] : sampleInputs(fields)
      const fault =
        hook &&
        faultOf(context, inputs, given => {
          const { values = {}, steps = [] } = hook({ id: 1, ...given }) ?? {}
          const made = steps as readonly DeclaredStep[]
          return Object.keys(values).length > 0
            ? [...made, change(name, 1, values as StepValues)]
            : made
        })
      if (fault !== undefined) wrong(`before.${occasion} of ${name}: ${fault}`)
    }
}
