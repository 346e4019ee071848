/** Runs a command and the read of the row it wrote, in one transaction; and after its commit the effect. */
import { jobs, traced } from '#channels.ts'
import { ApiError, type FieldFault } from '#errors.ts'
import { type Model, uniqueFields } from '#model/model.ts'
import { holdersOf } from '#model/references.ts'
import { resourceOf } from '#model/resource.ts'
import type { Version } from '#model/version.ts'
import type { ReadPlan } from '#read/plan.ts'
import type { SqlValue } from '#sql/sql.ts'
import type { Idempotency, Job, Outcome, Writer } from '#write/job.ts'
import type { Services } from '#write/services.ts'
import type { Command } from '#write/steps.ts'

export type Done = Outcome & { kind: 'done' }

/** The read of the row that a command wrote; its id goes into the plan's slot 1. */
export type Reading = { readonly plan: ReadPlan; readonly values: readonly SqlValue[] }

/** The key of the request, where it has one, and the version of the REST API that its caller speaks; none in GraphQL. */
export type WriteContext = {
  readonly idempotency?: Idempotency | undefined
  readonly version?: Version | undefined
}

/** The faults of the fields of a unique field or set whose values are taken. */
const takenFaults = (members: readonly string[]): readonly FieldFault[] =>
  members.map(field => {
    const others = members.filter(other => other !== field)
    const together = others.length > 0 ? ` together with ${others.join(' and ')}` : ''
    return { field, message: `is in use already${together}` }
  })

/** The error for values that are taken, which names members as the caller's version does, or as the fields are. */
const violated = (model: Model, target: string, version: Version | undefined): ApiError => {
  const [table, columns = ''] = target.split('.')
  const [name, entity] =
    Object.entries(model.entities).find(([, entity]) => entity.table === table) ?? []
  const keys = entity ? uniqueFields(entity, columns) : []
  const members = keys.map(key => {
    const field = entity?.fields[key]?.foldedFrom ?? key
    const isNamed = name !== undefined && version !== undefined
    return isNamed ? resourceOf(model, name, version).nameOf(field) : field
  })
  const [only, ...others] = keys
  const code = (others.length === 0 && only && entity?.fields[only]?.unique) || 'CONFLICT'
  const [first] = takenFaults(members)
  const message = first && `This ${first.field} ${first.message}`
  return new ApiError(code, message, first && { details: takenFaults(members) })
}

const conflicting = (
  { entities }: Model,
  { name, deletes }: Command,
  constraint: string,
): ApiError => {
  const heldBy = deletes === undefined ? [] : holdersOf(entities, deletes)
  const why =
    constraint === 'reference' && heldBy.length > 0
      ? `${heldBy.join(' or ')} refer to it or to what goes with it; it can be deleted once they are gone`
      : 'it conflicts with what is stored'
  return new ApiError('CONFLICT', `Cannot ${name}: ${why}`)
}

const failed = ({ message, ...kind }: Outcome & { kind: 'failed' }): Error =>
  kind.code === 'INTERNAL' ? new Error(message) : new ApiError(kind, message)

const errorOf = (
  model: Model,
  command: Command,
  outcome: Exclude<Outcome, { kind: 'done' }>,
  version: Version | undefined,
): Error => {
  switch (outcome.kind) {
    case 'refused':
      return command.refused(outcome.step, outcome.rows)
    case 'violation':
      return outcome.constraint === 'unique'
        ? violated(model, outcome.target, version)
        : conflicting(model, command, outcome.constraint)
    case 'reused':
      return new ApiError(
        'IDEMPOTENCY_KEY_REUSED',
        'This Idempotency-Key was used for another request; take a new key for a new request',
      )
    case 'failed':
      return failed(outcome)
    default:
      return outcome satisfies never
  }
}

/** Performs a job, and publishes it on the channel of writes. */
const perform = (writer: Writer, job: Job): Outcome | Promise<Outcome> => {
  if (!jobs.hasSubscribers) return writer.write(job)
  return traced(
    jobs,
    { statements: () => job.steps.map(({ statement }) => statement.text) },
    () => writer.write(job),
    (context, outcome) => {
      context.outcome = outcome.kind
      context.replayed = outcome.kind === 'done' && outcome.replayed
    },
  )
}

/** The parts of the service that commands need. */
type Target = { readonly writer: Writer; readonly model: Model; readonly services: Services }

/**
 * Runs the command, reads the row it wrote, and runs its effect, which a replay has not. Rejects with the error of the guard
 * that failed (404, 403, 409, 412), with `OVERLOADED` before anything is done, or with `UNAVAILABLE` where the outcome is unknown.
 */
export const commit = async (
  { writer, model, services }: Target,
  command: Command,
  reading: Reading | null,
  { idempotency, version }: WriteContext = {},
): Promise<Done> => {
  const { steps, makes, status, text, isolated } = command
  const [viewer = null, ...rest] = reading?.values ?? []
  const job: Job = {
    steps,
    status,
    ...(text !== undefined && { text }),
    ...(idempotency && { idempotency }),
    ...(isolated && { isolated }),
    answer: reading && {
      plan: reading.plan,
      values: [viewer, makes === null ? null : { step: makes, column: 0 }, ...rest],
    },
  }
  const outcome = await perform(writer, job)
  if (outcome.kind !== 'done') throw errorOf(model, command, outcome, version)
  if (!outcome.replayed) command.effect?.(outcome.rows, services)
  return outcome
}
