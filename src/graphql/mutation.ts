/** A mutation operation: its fields in order, each a command of its own; a failed one ends it and undoes none before. */
import { ApiError, type ErrorLocation } from '#errors.ts'
import { idArgument } from '#graphql/arguments.ts'
import { planMutation, type WriteField, writingOf } from '#graphql/mutation-plan.ts'
import type { Execution } from '#graphql/selection.ts'
import { entityOf, notFound } from '#model/model.ts'
import type { Position } from '#read/read.ts'
import { create, createPrecheck, precheck, remove, update } from '#write/derived.ts'
import { idempotencyOf, type KeyedRequest } from '#write/idempotency.ts'
import { inputValues, type Values } from '#write/input.ts'
import type { Command } from '#write/steps.ts'
import { commit } from '#write/write.ts'

type Input = Readonly<Record<string, unknown>>

/** The input with its ids as numbers; throws `NOT_FOUND` for a text that is no id. */
const inputOf = ({ core }: Execution, { root, args }: WriteField): Input => {
  const { fields } = entityOf(core.model, root.entity)
  return Object.fromEntries(
    Object.entries(args.input as Input).map(([key, value]) => {
      const { references } = fields[key] ?? {}
      if (!references || value === null) return [key, value]
      const id = idArgument(value)
      if (id === 0) throw notFound(references.entity, value)
      return [key, id]
    }),
  )
}

const targetOf = ({ root, args }: WriteField) => ({ entity: root.entity, id: idArgument(args.id) })

/** The command that checks whether the viewer may do this to the rows that the field names, and changes nothing. */
const precheckOf = (execution: Execution, field: WriteField): Command => {
  const { root } = field
  const writing = writingOf(execution)
  if (root.kind === 'update' || root.kind === 'delete')
    return precheck(writing, targetOf(field), root.kind)
  const { fields } = entityOf(execution.core.model, root.entity)
  const named = Object.entries(inputOf(execution, field)).filter(([key]) => fields[key]?.references)
  return createPrecheck(writing, root.entity, new Map(named as [string, number][]))
}

const runPrecheck = async (execution: Execution, field: WriteField): Promise<void> => {
  await commit(execution.core, precheckOf(execution, field), null)
}

/** The values of an input; a missing right is reported before the faults of the input. */
const valuesOf = async (execution: Execution, field: WriteField): Promise<Values> => {
  const { core, viewer } = execution
  const { kind, entity } = field.root
  const input = inputOf(execution, field)
  try {
    return inputValues(entityOf(core.model, entity), input, {
      mode: kind === 'create' ? 'create' : 'update',
      viewer,
      model: core.model,
      now: core.now(),
      what: entity,
    })
  } catch (error) {
    await runPrecheck(execution, field)
    throw error
  }
}

const commandOf = async (execution: Execution, field: WriteField): Promise<Command> => {
  const { root, args } = field
  const writing = writingOf(execution)
  const target = targetOf(field)
  if (root.kind === 'delete') return remove(writing, target)
  if (root.kind === 'create') return create(writing, root.entity, await valuesOf(execution, field))
  if (target.id === 0) throw notFound(root.entity, args.id)
  return update(writing, target, await valuesOf(execution, field))
}

/** The text of the row that a field wrote. */
type Written = {
  readonly text: string
  readonly replayed: boolean
  readonly position?: Position | undefined
}

/** Runs the field's command, and stores its response where the request has a key; deleting what is not there is `false`. */
const runField = async (
  execution: Execution,
  field: WriteField,
  keyed: KeyedRequest | undefined,
): Promise<Written> => {
  const { core } = execution
  try {
    const command = await commandOf(execution, field)
    // Each field is a write of its own, so its response is stored by itself.
    const idempotency = keyed && idempotencyOf(core.dialect, keyed, core.now(), `#${field.key}`)
    const { answer, replayed, position } = await commit(core, command, field.reading, {
      idempotency,
    })
    return { text: answer?.text ?? 'null', replayed, position }
  } catch (error) {
    const isGone = error instanceof ApiError && error.code === 'NOT_FOUND'
    if (isGone && field.root.kind === 'delete') return { text: 'false', replayed: false }
    throw error
  }
}

/** Throws before any field is run where the viewer has no right to a row of one of them, which only the store knows. */
const refuseEarly = async (execution: Execution, fields: readonly WriteField[]): Promise<void> => {
  const checks = await Promise.allSettled(fields.map(field => runPrecheck(execution, field)))
  for (const [index, { location }] of fields.entries()) {
    const check = checks[index]
    const error: unknown = check?.status === 'rejected' ? check.reason : undefined
    if (error instanceof ApiError && error.code === 'FORBIDDEN') throw error.locatedAt(location)
  }
}

/** The result of a mutation: the text of `data`, and the error that ended it with its location. */
export type Mutated = {
  readonly data: string
  /** Whether all of it is the stored response of an earlier request. */
  readonly replayed: boolean
  /** The store's position after the last write. */
  readonly position: Position | undefined
  readonly error?: { readonly cause: unknown; readonly location: ErrorLocation }
}

/** Runs the fields one after another. Throws before anything is written where the viewer has no right to one of them. */
export const runMutation = async (
  execution: Execution,
  keyed: KeyedRequest | undefined,
): Promise<Mutated> => {
  const fields = planMutation(execution)
  const writes = fields.filter(field => 'root' in field)
  if (writes.length > 1) await refuseEarly(execution, writes)
  const members: string[] = []
  let replayed = writes.length > 0
  let position: Position | undefined
  for (const field of fields) {
    const name = JSON.stringify(field.key)
    if ('json' in field) {
      members.push(`${name}:${field.json}`)
      continue
    }
    try {
      const written = await runField(execution, field, keyed)
      members.push(`${name}:${written.text}`)
      replayed &&= written.replayed
      position = written.position ?? position
    } catch (cause) {
      // Every mutation's type is non-null, so its error leaves no data (section 6.4.4); earlier fields stay written.
      const error = { cause, location: field.location }
      return { data: 'null', replayed: false, position, error }
    }
  }
  return { data: `{${members.join()}}`, replayed, position }
}
