/**
 * The door through which every change of a caller goes, in both APIs. It is guarded in this order, and refused by the first that fails:
 *
 * 1. right: may its role do such a thing at all (401, 403);
 * 2. the caller's row, looked up or made where tokens have subjects (a sign-up counts: 429);
 * 3. what it makes, as far as that is known without its input, counts against the caller's limits (429);
 * 4. its input is read (422); if that is at fault, the row that it is about is guarded first (403, 404);
 * 5. what the input makes beside it counts too (429, after the row as before);
 * 6. it is committed: its steps guard the viewer first, then row, revision, references, unique values (403, 404, 409, 412).
 */
import type { JsonObject } from '#base/object.ts'
import { ApiError } from '#errors.ts'
import type { Entity } from '#model/entity.ts'
import { entityOf, type Model } from '#model/model.ts'
import { nobody, type Rule, type Viewer } from '#model/policy.ts'
import type { Services } from '#model/services.ts'
import type { Version } from '#model/version.ts'
import { sql } from '#sql/sql.ts'
import type {
  Act,
  Change,
  ChangeKind,
  Create,
  Delete,
  LinkChange,
  Many,
  ManyKind,
  Update,
} from '#write/change.ts'
import { type Command, commandOf, permit, type Writing } from '#write/command.ts'
import {
  create,
  createCommand,
  createPrecheck,
  precheck,
  removeCommand,
  update,
  updateCommand,
} from '#write/entity-commands.ts'
import { revisionSteps } from '#write/guard.ts'
import { inputValues } from '#write/input.ts'
import type { Idempotency } from '#write/job.ts'
import { createMany, inputAt, inputsWithParts, type ManyWrite, writeMany } from '#write/many.ts'
import { mergesIn, merging, type StoredJson, storedJson } from '#write/merge-patch.ts'
import {
  inputWithParts,
  linkChange,
  madeBy,
  type PartsContext,
  type RowsToWrite,
  sizeIn,
  sizeOfMany,
  type WithParts,
  withParts,
} from '#write/parts.ts'
import { actionCommand, actionPrecheck } from '#write/steps/action.ts'
import { actingViewer, type ViewerStore } from '#write/viewer.ts'
import { commit, type Done, type Finding, type Reading } from '#write/write.ts'

/** What a write counts against its caller; each throws or rejects where there were too many. */
export type CallerCounts = {
  /** The row that the first write of a token makes. */
  readonly signUp: () => unknown
  /** A row of an entity. */
  readonly creation: (viewer: Viewer, entity: string) => unknown
  /** The rows of an input, whatever is done to them. */
  readonly rows: (size: RowsToWrite) => Promise<void>
}

/** What changes are done on and with: a core has it. */
type ChangeStore = ViewerStore & {
  readonly services: Services
  /** Brings the files of a row where this release writes them. */
  readonly files?:
    | {
        readonly former?:
          | { readonly move: (entity: string, id: number) => Promise<void> }
          | undefined
      }
    | undefined
}

/** What a request brings to its changes beside them. */
type Terms = {
  readonly counts: () => CallerCounts
  /** The read that answers; null if nothing of the row is shown. */
  readonly reading: Reading | null
  /** The version of the REST API; none in GraphQL. */
  readonly version?: Version | undefined
  /** For whom rows are looked for that fit a condition. */
  readonly finding?: Finding | undefined
}

/** The rule for who may do a change, its verb phrase, and the entity that it makes a row of. */
export const rightTo = (
  model: Pick<Model, 'entities'>,
  change: ChangeKind,
): { readonly rule: Rule | undefined; readonly what: string; readonly makes?: string } => {
  const { does } = change
  if (does === 'action') return { rule: change.action.rule, what: change.action.name }
  const { entity } = change
  const { policy, plural } = entityOf(model, entity)
  const kinds = does === 'many' ? change.kinds : [operations[does]]
  const [kind = 'create'] = kinds
  const makes = kinds.includes('create') ? { makes: entity } : {}
  if (kinds.length === 1)
    return {
      rule: policy[kind],
      what: `${kind === 'update' ? 'change' : kind} ${plural}`,
      ...makes,
    }
  const rules = kinds.map(one => policy[one] ?? nobody)
  return { rule: { kind: 'any of', rules }, what: `write ${plural}`, ...makes }
}

const operations = {
  create: 'create',
  replace: 'update',
  update: 'update',
  delete: 'delete',
  link: 'create',
  unlink: 'delete',
} as const

/** The context of changes that a caller may do, as the row of its token: steps 1 to 3. */
export const admit = async (
  store: ViewerStore,
  caller: Viewer,
  changes: readonly ChangeKind[],
  counts: () => CallerCounts,
): Promise<Writing> => {
  const { model, dialect } = store
  const made: string[] = []
  let makesOwn = false
  for (const change of changes) {
    const { rule, what, makes } = rightTo(model, change)
    permit({ model, viewer: caller }, rule, what)
    // Who makes its row by one of them has none made for it.
    makesOwn ||= makes !== undefined && makes === model.viewers.entity
    // The rows of many are counted by its input.
    if (makes !== undefined && change.does !== 'many') made.push(makes)
  }
  const viewer =
    caller.subject === undefined
      ? caller
      : await actingViewer(store, caller, makesOwn ? undefined : counts().signUp)
  for (const entity of made) await counts().creation(viewer, entity)
  return { model, dialect, viewer, now: store.now() }
}

/** What is known of the input of a change while it is read. */
type Heard = {
  readonly input?: JsonObject
  readonly kind?: ManyKind
  readonly idempotency?: Idempotency | undefined
}

/** The references that an input names, as far as it is right: a row that is not there is told before its faults. */
const referencesIn = (
  { fields }: Pick<Entity, 'fields'>,
  input: JsonObject,
  fieldNamed: (member: string) => string | undefined = member => member,
): ReadonlyMap<string, number> => {
  const found = new Map<string, number>()
  for (const [member, value] of Object.entries(input)) {
    const key = fieldNamed(member)
    if (key === undefined || !fields[key]?.references) continue
    if (Number.isSafeInteger(value) && Number(value) > 0) found.set(key, Number(value))
  }
  return found
}

/** The command that finds out whether the caller may write the rows that a change is about, and changes nothing; undefined if there is nothing to find out. */
export const checkOf = (
  writing: Writing,
  change: Change,
  { input = {}, kind }: Heard,
): Command | undefined | Promise<Command> => {
  switch (change.does) {
    case 'create': {
      const { entity, resource, given = {} } = change
      const named = referencesIn(entityOf(writing.model, entity), input, resource?.fieldNamed)
      return createPrecheck(writing, entity, new Map([...named, ...Object.entries(given)]))
    }
    case 'replace':
    case 'update':
      return precheck(writing, change.target, 'update')
    case 'delete':
      return precheck(writing, change.target, 'delete')
    case 'many': {
      const { entity, kinds } = change
      const { plural } = entityOf(writing.model, entity)
      if ((kind ?? (kinds.length === 1 ? kinds[0] : undefined)) === 'create')
        return createPrecheck(writing, entity, new Map())
      // Whatever their rows are, the role may change or delete some.
      return commandOf(writing, { name: `precheck ${plural}`, steps: [] })
    }
    case 'link':
    case 'unlink':
      return linkChange(writing, change, true).then(draft => commandOf(writing, draft))
    case 'action':
      return actionPrecheck(change.action, writing, change.id)?.()
    default:
      return change satisfies never
  }
}

/** A change on its way through the door. */
type Doing<Does extends Change = Change> = {
  readonly store: ChangeStore
  readonly writing: Writing
  readonly change: Does
  readonly terms: Terms
  /** What is known of its input so far. */
  heard: Heard
}

/** A change whose input is right: what is committed, or what finishes it. */
type Ready =
  | { readonly command: Command; readonly idempotency?: Idempotency | undefined; isDry?: boolean }
  | { readonly finish: () => Promise<Done> }

/** Throws what is wrong with a change once it is known that the caller may write its rows: who may not is told that first. Under a key, its answer comes before both. */
const refuse = async (
  { store, writing, change, terms, heard }: Doing,
  error: unknown,
  idempotency?: Idempotency,
): Promise<Done> => {
  const isExpired = error instanceof ApiError && error.code === 'UNAUTHENTICATED'
  const keyed = error instanceof ApiError && idempotency ? { error, idempotency } : undefined
  const after = keyed && [{ sql: sql`select 1 where false`, refused: () => keyed.error }]
  const checked = { ...writing, ...(after && { after }) }
  const command = isExpired ? undefined : await checkOf(checked, change, heard)
  const { version } = terms
  const done =
    command && (await commit(store, command, null, { idempotency: keyed?.idempotency, version }))
  if (done?.kind === 'done' && done.replayed) return done
  throw error
}

/** The values and the parts of an input for one row; `more` are the JSON values that it is merged into. */
const inputFor = async (
  { writing, change }: Doing<Create | Update>,
  input: JsonObject,
  more: Partial<PartsContext> = {},
): Promise<WithParts> => {
  const { model, viewer, now } = writing
  const { entity: what, resource, takesParts, does: mode } = change
  const context = { mode, viewer, model, now, what, ...(resource && { resource }), ...more }
  return takesParts && mode !== 'replace'
    ? inputWithParts(what, input, { ...context, mode })
    : { values: inputValues(entityOf(model, what), input, context), parts: [] }
}

/** Counts the rows that an input makes: step 5. */
const count = async ({ writing, terms }: Doing, made: readonly string[]): Promise<void> => {
  for (const entity of made) await terms.counts().creation(writing.viewer, entity)
}

const readCreate = async (doing: Doing<Create>): Promise<Ready> => {
  const { writing, change, terms } = doing
  const { entity, takesParts, given } = change
  const { input, idempotency } = await change.read()
  doing.heard = { input }
  if (takesParts) await terms.counts().rows(sizeIn(writing.model, entity, input, 'create'))
  const { values, parts } = await inputFor(doing, input, given && { given })
  if (parts.length === 0) return { command: createCommand(writing, entity, values), idempotency }
  const draft = create(writing, entity, values)
  await count(doing, madeBy(parts))
  return { command: commandOf(writing, await withParts(writing, draft, parts)), idempotency }
}

const readUpdate = async (doing: Doing<Update>): Promise<Ready> => {
  const { store, writing, change, terms } = doing
  const { entity, resource, takesParts, does, target } = change
  const { input, idempotency } = await change.read()
  if (takesParts) await terms.counts().rows(sizeIn(writing.model, entity, input, 'update'))
  let isCounted = false
  const updated = async (storedOf?: StoredJson): Promise<Command> => {
    const unchanged = storedOf?.(entity, target.id)
    const { values, parts } = await inputFor(doing, input, { stored: unchanged, storedOf })
    const row = { ...target, unchanged }
    const isReplacement = does === 'replace'
    if (parts.length === 0) return updateCommand(writing, row, values, isReplacement)
    const draft = update(writing, row, values, { isReplacement, isRaised: true })
    if (!isCounted) await count(doing, madeBy(parts))
    isCounted = true
    return commandOf(writing, await withParts(writing, draft, parts, target.id))
  }
  const merges =
    change.merges && resource
      ? mergesIn(writing.model, resource.version, entity, target.id, input)
      : []
  if (merges.length === 0) return { command: await updated(), idempotency }
  const merge = async (): Promise<Done> => {
    const storedOf = await storedJson(store, merges)
    return updated(storedOf).then(
      command => commit(store, command, terms.reading, { idempotency, version: terms.version }),
      // What others changed meanwhile may refuse what was done already.
      error => refuse(doing, error, idempotency),
    )
  }
  return { finish: () => merging(store, `${entity} ${target.id}`, merge) }
}

const readDelete = async ({ writing, change }: Doing<Delete>): Promise<Ready> => {
  const { idempotency } = await change.read()
  return { command: removeCommand(writing, change.target), idempotency }
}

const readMany = async (doing: Doing<Many>): Promise<Ready> => {
  const { store, writing, change, terms } = doing
  const { model, viewer, now } = writing
  const { entity: what, kinds, resource } = change
  const { kind, path, idempotency, rest } = await change.read()
  doing.heard = { kind }
  if (kinds.length > 1) {
    const { rule, what: does } = rightTo(model, { does: 'many', entity: what, kinds: [kind] })
    permit(writing, rule, does)
  }
  const { inputs, rows, revisions, input, isDry = false } = rest()
  const checked = { viewer, model, now, what, ...(resource && { resource }) }
  if (kind === 'create') {
    await terms.counts().rows(sizeOfMany(model, what, inputs))
    const made = await inputsWithParts(what, inputs, path, { ...checked, mode: kind })
    await count(
      doing,
      made.flatMap(({ parts }) => [what, ...madeBy(parts)]),
    )
    return { command: await createMany(writing, what, made, path), idempotency, isDry }
  }
  const given = input
    ? inputAt(path, entityOf(model, what), input, { ...checked, mode: 'update' })
    : new Map()
  const those = { rows: rows as ManyWrite['rows'], revisions }
  const write = { does: kind, entity: what, ...those, given, path }
  const { version, finding } = terms
  const context = { idempotency, isDry, version, finding }
  return { finish: () => writeMany(store, writing, write, context, terms.counts().rows) }
}

const readLink = async ({ writing, change }: Doing<LinkChange>): Promise<Ready> => {
  const { idempotency } = await change.read()
  return { command: commandOf(writing, await linkChange(writing, change)), idempotency }
}

const noBytes = new Uint8Array()

const readAction = async (doing: Doing<Act>): Promise<Ready> => {
  const { store, writing, change, terms } = doing
  const { action, id, target } = change
  const { input, idempotency, hasBody, bytes = noBytes, ifMatch, ifNoneMatch } = await change.read()
  // The steps that compare the row's revision come first.
  const before = target ? revisionSteps(writing, target, action.rule) : []
  const own = { now: writing.now, services: store.services }
  const given = { id, body: input, hasBody, bytes, ifMatch, ifNoneMatch, ...own }
  const check = action.bytes === undefined ? undefined : actionPrecheck(action, writing, id)
  // Bytes of who may not write the row are kept nowhere.
  try {
    if (check) await commit(store, check(), null, { version: terms.version })
  } catch (error) {
    return { finish: () => refuse(doing, error, idempotency) }
  }
  if (action.about !== null) await store.files?.former?.move(action.about, id)
  return { command: await actionCommand(action, { ...writing, before }, given), idempotency }
}

/** What reads the input of each change, counts what it makes, and makes its command. */
const readers = {
  create: readCreate,
  replace: readUpdate,
  update: readUpdate,
  delete: readDelete,
  many: readMany,
  link: readLink,
  unlink: readLink,
  action: readAction,
} as const satisfies Readonly<Record<Change['does'], (doing: never) => Promise<Ready>>>

/** Does a change of a caller who was admitted: steps 4 to 6. */
export const carryOut = async (
  store: ChangeStore,
  writing: Writing,
  change: Change,
  terms: Terms,
): Promise<Done> => {
  const doing = { store, writing, change, terms, heard: {} }
  let ready: Ready
  try {
    ready = await readers[change.does](doing as never)
  } catch (error) {
    return refuse(doing, error)
  }
  if ('finish' in ready) return ready.finish()
  return commit(store, ready.command, terms.reading, { ...ready, version: terms.version })
}
