/** The end of a write, whose whole life ARCHITECTURE.md tells: its command as a job, with the read that answers it, and the error of the guard that failed. */
import { type JobFacts, jobs, traced } from '#channels.ts'
import { ApiError } from '#errors.ts'
import { choiceOf, type Model, uniqueOf } from '#model/model.ts'
import { callerOf, judge, nobody } from '#model/policy.ts'
import { holdersOf } from '#model/references.ts'
import { resourceOf } from '#model/resource.ts'
import type { Version } from '#model/version.ts'
import type { ReadPlan } from '#read/plan.ts'
import type { ReadOptions } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'
import type { Command } from '#write/command.ts'
import { type Idempotency, type Job, lostSlug, type Outcome, type Writer } from '#write/job.ts'

export type Done = Extract<Outcome, { kind: 'done' | 'tried' }>

/** The read of the row that a command wrote; its id goes into the plan's slot 1. `longest`: the characters that are left for it in its operation. */
export type Reading = {
  readonly plan: ReadPlan
  readonly values: readonly SqlValue[]
  readonly longest?: number
}

/** How rows are looked for, and the milliseconds that this took of the request so far. */
export type Finding = ReadOptions & { spent: number }

/** The key of the request, if it has one, and the version of the REST API that its caller speaks; none in GraphQL. */
export type WriteContext = {
  readonly idempotency?: Idempotency | undefined
  readonly version?: Version | undefined
  /** Whether it is only tried. */
  readonly isDry?: boolean | undefined
  /** For whom rows are looked for that fit a condition, in the caller's share of the slow lane. */
  readonly finding?: Finding | undefined
}

/** The texts of the statements that do a job whose steps all hold. */
const statementsOf = ({ steps, together }: Pick<Job, 'steps' | 'together'>) => {
  const texts: string[] = []
  for (let at = 0; at < steps.length; at += together?.get(at)?.rows ?? 1)
    texts.push((together?.get(at) ?? steps[at])?.statement.text ?? '')
  return texts
}

/**
 * Runs the command, reads the row it wrote, and wakes the outbox if it put something in. Rejects with the error of the guard
 * that failed (404, 403, 409, 412), with `OVERLOADED` before anything is done, or with `UNAVAILABLE` if the outcome is unknown.
 */
export const commit = async (
  {
    writer,
    model,
    wakeOutbox,
  }: { readonly writer: Writer; readonly model: Model; readonly wakeOutbox: () => void },
  command: Command,
  reading: Reading | null,
  { idempotency, version, isDry }: WriteContext = {},
): Promise<Done> => {
  const { steps, own, together, makes, status, text, isolated } = command
  const [viewer = null, ...rest] = reading?.values ?? []
  const job: Job = {
    caller: callerOf(command.viewer) ?? 'anonymous',
    steps,
    own,
    together,
    status,
    text,
    idempotency,
    isolated,
    isDry,
    answer: reading && {
      plan: reading.plan,
      longest: reading.longest,
      values: [viewer, makes === null ? null : { step: makes, column: 0 }, ...rest],
    },
  }
  const facts: JobFacts = { statements: () => statementsOf(job) }
  const write = () => writer.write(job)
  // Performed and committed.
  const outcome = await (jobs.hasSubscribers
    ? traced(jobs, facts, write, (facts, outcome) => {
        facts.outcome = outcome.kind
        facts.replayed = outcome.kind === 'done' && outcome.replayed
      })
    : write())
  if (outcome.kind !== 'done' && outcome.kind !== 'tried') {
    const error = errorOf(model, command, outcome, version)
    const path = 'step' in outcome ? steps[outcome.step]?.path : undefined
    throw path !== undefined && error instanceof ApiError ? error.aboutPart(path) : error
  }
  if (command.hasEffect && !isDry) wakeOutbox()
  return outcome
}

const errorOf = (
  model: Model,
  command: Command,
  outcome: Exclude<Outcome, Done>,
  version: Version | undefined,
): Error => {
  const { name, viewer, deletes, refused } = command
  switch (outcome.kind) {
    case 'refused':
      return refused(outcome.step, outcome.rows)
    case 'reused':
      return new ApiError(
        'IDEMPOTENCY_KEY_REUSED',
        'This Idempotency-Key was used for another request; take a new key for a new request',
      )
    case 'failed': {
      const { message, ...kind } = outcome
      const facts = kind.status === 503 ? { retryAfter: 2 } : {}
      return kind.code === 'INTERNAL' ? new Error(message) : new ApiError(kind, message, facts)
    }
    case 'violation': {
      const { constraint, target, text } = outcome
      if (lostSlug(command, outcome))
        return new ApiError(
          'OVERLOADED',
          `Too many try to ${name} of the same name at this moment; try again soon`,
          { retryAfter: 1 },
        )
      const taken = constraint === 'unique' ? takenError(model, target, version) : undefined
      if (taken) return taken
      const isReference = constraint === 'reference'
      const lost = constraint === 'check' ? lostValue(model, target, version) : undefined
      if (lost) return lost
      const heldBy = isReference && deletes !== undefined ? holdersOf(model.entities, deletes) : []
      // The row that it refers to was deleted meanwhile, or the table has given its last id.
      const isLate = isReference && deletes === undefined
      const isLast = constraint === 'check' && /_id_check$|^id between /.test(target)
      // Rows that may be hidden from the caller are not named.
      const named = heldBy.map(({ plural, policy: { read } }) =>
        judge(read ?? nobody, viewer, model) === 'yes' ? plural : 'others',
      )
      const why =
        heldBy.length > 0
          ? `${[...new Set(named)].join(' or ')} refer to it or to what goes with it; it can be deleted once they are gone`
          : 'it conflicts with what is stored'
      if (heldBy.length > 0 || isLate || isLast)
        return new ApiError('CONFLICT', `Cannot ${name}: ${why}`)
      return new Error(`a constraint of the store that no rule of the model explains: ${text}`)
    }
    default:
      return outcome satisfies never
  }
}

/** The entity of a table, with its name. */
const entityAt = (model: Model, table: string | undefined) =>
  Object.entries(model.entities).find(([, entity]) => entity.table === table)

/** The error for a value of a choice that the store of a newer release no longer takes; undefined if the constraint is about something else. */
const lostValue = (
  model: Model,
  target: string,
  version: Version | undefined,
): ApiError | undefined => {
  // SQLite names no table.
  const [constraint = '', table] = target.split('.').toReversed()
  const entities = table === undefined ? Object.entries(model.entities) : [entityAt(model, table)]
  for (const [name, entity] of entities.flatMap(one => (one ? [one] : []))) {
    const key = choiceOf(entity, constraint)
    if (key === undefined) continue
    const field = version === undefined ? key : resourceOf(model, name, version).nameOf(key)
    const message = 'is a value that the store does not take any more'
    return new ApiError(
      'CONFLICT',
      `The ${field} ${message}: send another one, or try again once all of the service is up to date`,
      { details: [{ field, message }] },
    )
  }
  return undefined
}

/** The error for values of a unique field or set that are taken, undefined if the model has no such; it names members as the caller's version does, or as the fields are. */
const takenError = (
  model: Model,
  target: string,
  version: Version | undefined,
): ApiError | undefined => {
  const [table, columns = ''] = target.split('.')
  const [name, entity] = entityAt(model, table) ?? []
  const { fields: keys = [], error = 'CONFLICT' as const } = entity ? uniqueOf(entity, columns) : {}
  if (keys.length === 0) return undefined
  const members = keys.map(key => {
    const field = entity?.fields[key]?.foldedFrom ?? key
    const isNamed = name !== undefined && version !== undefined
    return isNamed ? resourceOf(model, name, version).nameOf(field) : field
  })
  const details = members.map(field => {
    const others = members.filter(other => other !== field)
    const together = others.length > 0 ? ` together with ${others.join(' and ')}` : ''
    return { field, message: `is in use already${together}` }
  })
  const [first] = details
  // What the content says of its own error tells more than names of members.
  const derived = first && `This ${first.field} ${first.message}`
  const message = typeof error === 'string' ? derived : error.detail
  return new ApiError(error, message, first && { details })
}
