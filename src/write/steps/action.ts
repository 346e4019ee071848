/** An action: a command that is no plain create, update or delete, declared once with its path. */

import { after } from '#base/after.ts'
import { keys, must, words } from '#base/shape.ts'
import { type AdminOfAction, adminOfActionShape } from '#model/admin.ts'
import type { Condition } from '#model/condition.ts'
import type { Entity } from '#model/entity.ts'
import { type Field, fieldShape } from '#model/field.ts'
import { entityOf, type Model } from '#model/model.ts'
import { type OperationDocs, operationDocsShape } from '#model/operation-docs.ts'
import { type DeclaredRule, declaredShape, type Rule } from '#model/policy.ts'
import type { Services } from '#model/services.ts'
import { type Lifetime, lifetimeShape } from '#model/version.ts'
import { type Command, commandOf, type Writing } from '#write/command.ts'
import { authorValue, type InputValue, inputValues, noMembers } from '#write/input.ts'
import { statedSteps } from '#write/steps/stating.ts'
import { type DeclaredStep, type Otherwise, require, type StepContext } from '#write/steps/steps.ts'

export type Action<R = DeclaredRule> = Lifetime & {
  readonly method: 'POST' | 'PUT' | 'DELETE'
  /** Its verb phrase in refusals and logs: `pay invoices`. */
  readonly name: string
  /** The rule for who may do it; its steps guard the rest. */
  readonly rule: R | undefined
  /** The condition that the row it is about must fit, beside the rule; the admin offers it for such rows alone. */
  readonly when?: Condition
  /** The error for a row that does not; 409 `CONFLICT` unless given. */
  readonly otherwise?: Otherwise
  /** Its path below the version's prefix, with `:id` for the row it is about. */
  readonly path: string
  /** The entity that `:id` names, for its 404. */
  readonly about: string | null
  /** The entity it answers with, or null for an empty 204. */
  readonly answers: string | null
  /** Only if the body is bytes instead of a JSON object: the most bytes it may have. */
  readonly bytes?: number
  /** Whether the thing at its path has an ETag of its own, of 16 or more letters, digits, `-` and `_`, which its command compares with `ifMatch` and `ifNoneMatch`. */
  readonly ownTag?: true
  /** The members of its body, by the kinds of fields that entities have; none unless it is given. */
  readonly input?: Readonly<Record<string, Field>>
  /** Whether it is a mutation of the GraphQL API too, called as its operationId is. */
  readonly graphql?: boolean
  /**
   * What it does: steps that are all done, or none. The row that it is about must be there, and one that the caller may read, else 404;
   * the rule must let the caller through for it, else 403. It answers with the row of its last step about the entity `answers`.
   */
  readonly steps?: (context: StepContext) => readonly DeclaredStep[]
  /**
   * Instead of steps: its command, made by hand, and the status of its answer; throws `VALIDATION_ERROR` for a bad body. The machine
   * guards the row and the rule as it does for steps, before the command's own steps; where the body is bytes it does before the command
   * is made too, which may keep them as a file.
   */
  readonly command?: (writing: Writing, given: Given) => Command | Promise<Command>
  /** With a command: guards more than the row and the rule before the faults of a body are reported. */
  readonly precheck?: (writing: Writing, id: number) => Command
  /** What the admin shows of it. */
  readonly admin?: AdminOfAction
  /** How the documents of the API describe it. */
  readonly described: OperationDocs
}

/** An action of a content that is made. */
export type RuledAction = Action<Rule>

export const actionShape = keys<Action>({
  ...lifetimeShape.keys,
  method: must(words<Action['method']>({ POST: 1, PUT: 1, DELETE: 1 })),
  name: must('text'),
  rule: declaredShape,
  when: 'anything',
  otherwise: 'anything',
  path: must('text'),
  about: must({ either: ['null', 'text'] }),
  answers: must({ either: ['null', 'text'] }),
  bytes: 'number',
  ownTag: 'flag',
  input: { named: fieldShape },
  graphql: 'flag',
  steps: 'function',
  command: 'function',
  precheck: 'function',
  admin: adminOfActionShape,
  described: must(operationDocsShape),
})

/** The entity whose revision `If-Match` and `If-None-Match` are compared with: the one that an action is about, if it answers with it; else null. */
export const guardedBy = (
  { about, answers }: Pick<Action, 'about' | 'answers'>,
  model: Model,
): string | null =>
  about !== null && about === answers && entityOf(model, about).fields.revision ? about : null

/** Whether a precondition of an action is refused, as its steps have no ETag to compare it with; a POST that makes something ignores them, and a command is given them. */
export const refusesTags = (action: RuledAction, model: Model): boolean => {
  const { answers, about, method, steps } = action
  if (steps === undefined || guardedBy(action, model) !== null) return false
  return method !== 'POST' || answers === null || answers === about
}

/** The input of an action: the id in its path (0 if there is none), the body in one of two forms, the moment, the services. */
export type Given = {
  readonly id: number
  readonly body: Readonly<Record<string, unknown>>
  /** False if the request had no body, which is not the same as an empty object. */
  readonly hasBody: boolean
  readonly bytes: Uint8Array
  /** These headers; if the action answers with the row it is about, its revision is compared already. */
  readonly ifMatch: string | undefined
  readonly ifNoneMatch: string | undefined
  readonly now: number
  readonly services: Services
}

/** A value that a field may have. */
const sampleOf = ({ scalar, values, range, format, nullable }: Field): InputValue => {
  switch (scalar) {
    case 'id':
      return 1
    case 'int':
    case 'money':
    case 'decimal':
      return range?.min ?? 1
    case 'text':
      if (values) return values[0] ?? null
      if (format) return format === 'email' ? 'a@example.org' : 'https://example.org'
      return 'a'.repeat(Math.max(range?.min ?? 1, 1))
    case 'date':
      return '2000-01-01'
    case 'time':
      return new Date(0)
    case 'flag':
      return true
    case 'json':
      return {}
    case 'list':
      return []
    case 'file':
      return nullable ? null : `up_${'a'.repeat(22)}`
    case 'bytes':
      return nullable ? null : new Uint8Array()
    default:
      return scalar satisfies never
  }
}

/** Inputs of these fields: with all of them, and with those alone that must be given. */
export const sampleInputs = (fields: Readonly<Record<string, Field>>) =>
  [true, false].map(isWhole =>
    Object.fromEntries(
      Object.entries(fields).map(([key, field]) => {
        return [key, !isWhole && field.nullable ? null : sampleOf(field)] as const
      }),
    ),
  )

/** What the steps of an action are made from, with this input. */
const contextOf = (
  { model, viewer, now }: Writing,
  id: number,
  input: StepContext['input'],
): StepContext => {
  return { id, input, viewer, now: new Date(now), settings: model.settings.values ?? {} }
}

/** The validated input of an action; throws `VALIDATION_ERROR` for one that is at fault. */
const checkedInput = (action: Action, writing: Writing, { body }: Given): StepContext['input'] => {
  const { input, method } = action
  if (!input) {
    if (method !== 'DELETE') noMembers(body)
    return {}
  }
  const { model, viewer, now } = writing
  // Validated as an entity of these fields would be.
  const entity = { fields: input, plural: action.described.operationId } as unknown as Entity
  const values = inputValues(entity, body, { mode: 'create', what: 'body', model, viewer, now })
  const { digits } = model.settings.currency
  return Object.fromEntries(
    Object.entries(input).map(([key, field]) => [
      key,
      authorValue(field, values.get(key) ?? null, digits),
    ]),
  )
}

/** The row that an action is about. */
const targetOf = ({ about, rule, when, otherwise, name, command }: RuledAction, id: number) =>
  about === null
    ? undefined
    : { entity: about, id, rule, when, otherwise, what: name, isByHand: command !== undefined }

/** The context of a command by hand, with the guards of the row that its action is about around its steps. */
const guardedWriting = (action: RuledAction, writing: Writing, id: number): Writing => {
  if (action.about === null) return writing
  const { before = [] } = writing
  const [row, ...becoming] = statedSteps(writing, [], targetOf(action, id)).steps
  return { ...writing, before: [...before, ...(row ? [row] : [])], after: becoming }
}

/** The command of an action; throws `VALIDATION_ERROR` for a bad body. */
export const actionCommand = (
  action: RuledAction,
  writing: Writing,
  given: Given,
): Command | Promise<Command> => {
  const { steps, command, input = {}, answers, name } = action
  if (command) {
    const guarded = guardedWriting(action, writing, given.id)
    return after(command(guarded, given), made => {
      if (made.before !== guarded.before)
        throw new Error(
          `${name} has no guard of its rule: make its command of the writing it is given`,
        )
      return made
    })
  }
  const context = contextOf(writing, given.id, checkedInput(action, writing, given))
  // A row that the input names must be one that the caller may read.
  const referred = Object.entries(input).flatMap(([key, { references }]) => {
    const id = context.input[key]
    return references && typeof id === 'number' ? [require(references.entity, id)] : []
  })
  const declared = [...referred, ...(steps?.(context) ?? [])]
  const stated = statedSteps(writing, declared, targetOf(action, given.id))
  const answer = answers === null ? { status: 204 } : stated.about(answers)
  if (!answer)
    throw new Error(`none of the steps of ${name} is about the ${answers} it answers with`)
  return commandOf(writing, { name, ...stated, ...answer })
}

/** The guard of the row that an action is about, run before the faults of its body are reported; undefined if there is none. */
export const actionPrecheck = (
  action: RuledAction,
  writing: Writing,
  id: number,
): (() => Command) | undefined => {
  const { precheck, steps, about, input = {}, name } = action
  const target = targetOf(action, id)
  // What the row must be like is a fault of state, which comes after those of the body.
  const row = target && { ...target, when: undefined, isByHand: false }
  if (precheck)
    return () => {
      const { before = [] } = writing
      const { steps: checks } = statedSteps(writing, [], row)
      return precheck({ ...writing, before: [...before, ...checks] }, id)
    }
  if (!steps && about === null) return undefined
  return () => {
    const stated = statedSteps(writing, [], row)
    // Whether the viewer acts as itself only the steps say.
    const asSelf = sampleInputs(input).some(sample => {
      try {
        const declared = steps?.(contextOf(writing, id, sample)) ?? []
        return statedSteps(writing, declared).asSelf
      } catch {
        return false
      }
    })
    return commandOf(writing, { name: `precheck ${name}`, ...stated, asSelf })
  }
}
