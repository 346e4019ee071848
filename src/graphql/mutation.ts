/** A mutation operation: its fields, all planned first, then run in order, each a command of its own; a failed one ends it and undoes none before. */
import {
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  getArgumentValues,
} from 'graphql'
import type { JsonObject } from '#base/object.ts'
import { writingFor } from '#core.ts'
import { ApiError, type ErrorLocation } from '#errors.ts'
import { argumentFaults, createSlots, idArgument } from '#graphql/arguments.ts'
import { askedFor, askingIn } from '#graphql/asked.ts'
import { collectFields, type Execution, locationOf, startOf } from '#graphql/execution.ts'
import { withIds } from '#graphql/parts.ts'
import type { RootField } from '#graphql/schema.ts'
import { itemsOf } from '#graphql/selection.ts'
import { conditionOf } from '#graphql/where.ts'
import type { WriteFacts } from '#http/reply.ts'
import { entityOf, type Model, notFound, typeName } from '#model/model.ts'
import { partRelations } from '#model/parts.ts'
import type { Asks } from '#read/access.ts'
import { resolveAsked } from '#read/asking.ts'
import { plan } from '#read/planner.ts'
import { oneRow, VIEWER } from '#read/selection.ts'
import { actionCommand, actionPrecheck } from '#write/action.ts'
import { type Command, commandOf, permit, type Writing } from '#write/command.ts'
import {
  type AskedChange,
  admit,
  type CallerCounts,
  countMade,
  changeOf as plainChange,
  readThen,
  referencesIn,
} from '#write/door.ts'
import { create, createPrecheck, precheck, remove, update } from '#write/entity-commands.ts'
import { revisionSteps, type Target } from '#write/guard.ts'
import { idempotencyOf, type KeyedRequest } from '#write/idempotency.ts'
import { inputValues } from '#write/input.ts'
import {
  createMany,
  firstWritten,
  idsIn,
  inputAt,
  inputsWithParts,
  type ManyWrite,
  rowsAsked,
  writeMany,
} from '#write/many.ts'
import { inputWithParts, madeBy, rowsIn, rowsOfMany, withParts } from '#write/parts.ts'
import { commit, type Finding, type Reading } from '#write/write.ts'

/** A field of the operation that writes. */
type WriteField = {
  readonly key: string
  readonly root: RootField
  readonly args: Readonly<Record<string, unknown>>
  /** The read of the row it writes; null for a field without a selection set. */
  readonly reading: Reading | null
  /** The rows that it changes or deletes, if it does so by a condition. */
  readonly rows?: ManyWrite['rows'] | undefined
  /** The members of its answer by their keys, if it is about many rows. */
  readonly shown?: readonly (readonly [key: string, member: string])[]
  readonly location: ErrorLocation
}

/** The result of a mutation: the text of `data`, and the error that ended it; whether all of it is a stored response, and the position after its last write. */
type Mutated = WriteFacts & {
  readonly data: string
  readonly error?: { readonly cause: unknown; readonly location: ErrorLocation }
}

/** What counts rows before they are made: that of the viewer, and those of an entity that are parts of others. */
type Counting = CallerCounts & {
  /** Begins the rows of a field. */
  readonly rows: (rows: number) => Promise<void>
}

/** Runs the fields one after another. Throws before anything is written if the viewer has no right to one of them. */
export const runMutation = async (
  asked: Execution,
  keyed: KeyedRequest | undefined,
  counting: Counting,
  finding: Finding,
): Promise<Mutated> => {
  const fields = planMutation(asked)
  const writes = fields.filter(field => 'root' in field)
  const { viewer } = await admitted(asked, writes, counting)
  const execution = { ...asked, viewer }
  // A right to a row is known to the store only. Of a single field, its command says it.
  const checks =
    writes.length > 1
      ? await Promise.allSettled(
          writes.map(async field => {
            const command = precheckOf(execution, field)()
            if (command) await commit(execution.core, command, null)
          }),
        )
      : []
  for (const [index, check] of checks.entries()) {
    const error: unknown = check.status === 'rejected' ? check.reason : undefined
    if (error instanceof ApiError && error.code === 'FORBIDDEN')
      throw error.locatedAt((writes[index] as WriteField).location)
  }
  const members: string[] = []
  let replayed = writes.length > 0
  let position: WriteFacts['position']
  for (const field of fields) {
    const name = JSON.stringify(field.key)
    if ('json' in field) {
      members.push(`${name}:${field.json}`)
      continue
    }
    try {
      const written = await runField(execution, field, keyed, counting, finding)
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

/** The context of the fields' writes; an error is about the first of them. */
const admitted = async (
  { core, viewer }: Execution,
  writes: readonly WriteField[],
  counting: Counting,
): Promise<Writing> => {
  const [first] = writes
  if (!first) return writingFor(core, viewer)
  try {
    const changes = writes.map(({ root }) => changeOf(core.model, root))
    return await admit(core, viewer, changes, counting)
  } catch (error) {
    throw error instanceof ApiError ? error.locatedAt(first.location) : error
  }
}

/** What a field asks to be done. */
const changeOf = (model: Model, root: RootField): AskedChange => {
  const { kind, entity } = root
  if (kind === 'action') return { rule: root.action.rule, what: root.action.name }
  const operation = kind.replace('Many', '') as 'create' | 'update' | 'delete'
  const makes = operation === 'create' ? entity : undefined
  return {
    ...plainChange(entityOf(model, entity), operation),
    makes,
    isMany: kind === 'createMany',
  }
}

/** The fields in order, `__typename` with its text; throws for a field that the viewer may not run, as far as that is known without the store. */
const planMutation = (
  execution: Execution,
): readonly (WriteField | { readonly key: string; readonly json: string })[] => {
  const { core, schema, operation, variables, viewer } = execution
  const collected = collectFields([operation.node.selectionSet], operation, variables)
  const asks: Asks = { comparisons: 0 }
  return [...collected].map(([key, nodes]) => {
    const node = nodes[0] as FieldNode
    const root = schema.roots.get(node.name.value)
    if (!root) return { key, json: '"Mutation"' }
    const { kind, entity } = root
    const location = locationOf(key, node)
    const definition = schema.schema.getMutationType()?.getFields()[node.name.value]
    let rows: ManyWrite['rows'] | undefined
    try {
      const { rule, what } = changeOf(core.model, root)
      permit(writingFor(core, viewer), rule, what)
      if (kind === 'updateMany' || kind === 'deleteMany')
        rows = rowsOf(execution, root, definition, node, asks)
    } catch (error) {
      throw error instanceof ApiError ? error.locatedAt(location) : error
    }
    const args = definition ? getArgumentValues(definition, node, variables) : {}
    if (kind.endsWith('Many')) {
      const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
      const members = collectFields(sets, operation, variables)
      const shown = [...members].map(([key, [one]]) => [key, one?.name.value ?? ''] as const)
      return { key, root, args, rows, reading: null, shown, location }
    }
    if (kind === 'delete' || entity === '') return { key, root, args, reading: null, location }
    // The row is read without its id, which the write adds.
    const writtenId = VIEWER + 1
    const type = schema.schema.getType(typeName(entity)) as GraphQLObjectType
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
    const asking = askingIn(execution, type, collectFields(sets, operation, variables))
    const { asked, values } = askedFor(execution, asking, writtenId + 1)
    const slots = createSlots(writtenId + 1 + values.length)
    const row = oneRow(entity, itemsOf({ ...execution, slots, asked }, type, nodes))
    const written = kind === 'create' ? 'created' : 'changed'
    const selected = { ...row, written, key, ...startOf(node) } as const
    const reading = {
      plan: plan({ encoding: 'graphql', roots: [selected] }, core.model, viewer.role, asks),
      values: [viewer.subject ?? viewer.id, ...values, ...slots.valuesOf(variables, viewer)],
    }
    return { key, root, args, reading, location }
  })
}

/** The rows that a field changes or deletes. */
const rowsOf = (
  { core, schema, variables, viewer }: Execution,
  { entity }: RootField,
  definition: GraphQLField<unknown, unknown> | undefined,
  node: FieldNode,
  asks: Asks,
): ManyWrite['rows'] => {
  const condition = definition && conditionOf(definition, node)(variables)
  const asked =
    condition == null
      ? undefined
      : resolveAsked(core.model, entity, condition, schema.words, firstWritten)
  if (asked && 'faults' in asked) throw argumentFaults(node, asked.faults)
  const { all } = definition ? getArgumentValues(definition, node, variables) : {}
  return rowsAsked(writingFor(core, viewer), entity, asked, all === true, asks)
}

/** Runs the field's command, and stores its response if the request has a key; deleting a row that is not there is `false`. */
const runField = async (
  execution: Execution,
  field: WriteField,
  keyed: KeyedRequest | undefined,
  counting: Counting,
  finding: Finding,
): Promise<WriteFacts & { readonly text: string }> => {
  const { core, viewer } = execution
  const { key, root, args, rows, reading, shown } = field
  const { kind, entity } = root
  const writing = writingFor(core, viewer)
  const target = targetOf(field)
  try {
    if (kind === 'update' && target.id === 0) throw notFound(entity, args.id)
    // Each field is a write of its own, so its response is stored by itself.
    const idempotency = keyed && idempotencyOf(core.dialect, keyed, core.now(), key)
    if (kind === 'updateMany' || kind === 'deleteMany') {
      const does = kind === 'updateMany' ? 'update' : 'delete'
      const given = does === 'update' ? changesOf(execution, field) : new Map()
      const write = { does, entity, rows: rows as ManyWrite['rows'], given, path: 'input' } as const
      const context = { idempotency, isDry: args.dryRun === true, finding }
      const { ids, replayed, position } = await writeMany(core, writing, write, context)
      return { text: bulkText(ids, shown ?? []), replayed, position }
    }
    let command: Command
    if (kind === 'delete') command = commandOf(writing, remove(writing, target))
    else if (kind === 'createMany') {
      await counting.rows(rowsOfMany(core.model, entity, args.inputs))
      const inputs = await checked(execution, field, inputsOf)
      const made = inputs.flatMap(({ parts }) => [entity, ...madeBy(parts)])
      await countMade(counting, viewer, made)
      command = await createMany(writing, entity, inputs, 'inputs')
    } else if (kind === 'create' || kind === 'update') {
      await counting.rows(rowsIn(core.model, entity, args.input, kind))
      const { values, parts } = await checked(execution, field, valuesOf)
      await countMade(counting, viewer, madeBy(parts))
      const isRaised = parts.length > 0
      const draft =
        kind === 'create'
          ? create(writing, entity, values)
          : update(writing, target, values, { isRaised })
      const id = kind === 'create' ? undefined : target.id
      command = commandOf(writing, await withParts(writing, draft, parts, id))
    } else command = await checked(execution, field, commandFor)
    const { answer, replayed, position } = await commit(core, command, reading, { idempotency })
    const text = answer?.text ?? 'null'
    return { text: shown ? bulkText(idsIn(text), shown) : text, replayed, position }
  } catch (error) {
    const isGone = error instanceof ApiError && error.code === 'NOT_FOUND'
    if (isGone && kind === 'delete') return { text: 'false', replayed: false }
    throw error
  }
}

const targetOf = ({ root, args }: WriteField): Target => ({
  entity: root.kind === 'action' ? (root.action.about ?? '') : root.entity,
  id: idArgument(args.id),
  revisions: args.expectedRevision == null ? undefined : [Number(args.expectedRevision)],
})

/** The input with its ids as numbers; throws `NOT_FOUND` for a text that is no id. */
const inputOf = ({ core }: Execution, { root, args }: WriteField) => {
  const { kind, entity } = root
  const fields = kind === 'action' ? root.action.input : entityOf(core.model, entity).fields
  const input = (args.input ?? {}) as JsonObject
  return withIds(
    core.model,
    { fields: fields ?? {} },
    input,
    kind === 'action' ? undefined : entity,
  )
}

/** What is made of the input of a field; a missing right is reported before the faults of the input. */
const checked = async <Made>(
  execution: Execution,
  field: WriteField,
  make: (execution: Execution, field: WriteField, input: JsonObject) => Made | Promise<Made>,
): Promise<Made> => {
  const input = inputOf(execution, field)
  return readThen(execution.core, precheckOf(execution, field), () => make(execution, field, input))
}

/** The answer about many rows, of these ids. */
const bulkText = (written: readonly number[], shown: NonNullable<WriteField['shown']>): string => {
  const ids = written.map(String)
  const values = { count: ids.length, ids, __typename: 'BulkWrite' }
  const members = shown.map(([key, member]) => [key, values[member as keyof typeof values]])
  return JSON.stringify(Object.fromEntries(members))
}

/** The values and parts of each of many inputs. */
const inputsOf = (execution: Execution, field: WriteField) => {
  const { core, viewer } = execution
  const { model } = core
  const { entity } = field.root
  const inputs = (field.args.inputs as readonly JsonObject[]).map(input =>
    withIds(model, entityOf(model, entity), input, entity),
  )
  const context = { mode: 'create', viewer, model, now: core.now(), what: entity } as const
  return inputsWithParts(entity, inputs, 'inputs', context)
}

/** What a change of many rows gives them. */
const changesOf = ({ core, viewer }: Execution, { root, args }: WriteField) => {
  const { model } = core
  const { entity: what } = root
  const entity = entityOf(model, what)
  const input = withIds(model, entity, args.input as JsonObject)
  const context = { mode: 'update', viewer, model, now: core.now(), what } as const
  return inputAt('input', entity, input, context)
}

/** The values and parts of the input of a create or an update. */
const valuesOf = (execution: Execution, field: WriteField, input: JsonObject) => {
  const { core, viewer } = execution
  const { kind, entity } = field.root
  const mode = kind === 'create' ? 'create' : 'update'
  const { model } = core
  const context = { mode, viewer, model, now: core.now(), what: entity } as const
  return partRelations(model, entity, mode).length > 0
    ? inputWithParts(entity, input, context)
    : { values: inputValues(entityOf(model, entity), input, context), parts: [] }
}

/** The command of an action, which compares the expected revision first. */
const commandFor = (execution: Execution, field: WriteField, body: JsonObject): Command => {
  const { core, viewer } = execution
  const { root, args } = field
  if (root.kind !== 'action') throw new Error(`${root.kind} is no action`)
  const { action } = root
  const target = targetOf(field)
  if (action.about !== null && target.id === 0) throw notFound(action.about, args.id)
  const writing = writingFor(core, viewer)
  const before = target.revisions ? revisionSteps(writing, target, action.rule) : []
  const { now, services } = core
  const given = {
    id: target.id,
    body,
    hasBody: args.input != null,
    bytes: new Uint8Array(),
    ifMatch: undefined,
    ifNoneMatch: undefined,
    now: now(),
    services,
  }
  const command = actionCommand(action, { ...writing, before }, given)
  return action.answers === null ? { ...command, text: 'true' } : command
}

/** Makes the command that finds out whether the viewer may do this to the rows that the field names, and changes nothing. */
const precheckOf = (execution: Execution, field: WriteField) => (): Command | undefined => {
  const { core, viewer } = execution
  const { kind, entity } = field.root
  const writing = writingFor(core, viewer)
  if (field.root.kind === 'action')
    return actionPrecheck(field.root.action, writing, targetOf(field).id)?.()
  if (kind === 'update' || kind === 'delete') return precheck(writing, targetOf(field), kind)
  // Whatever their rows are, the role may change or delete some.
  if (kind === 'updateMany' || kind === 'deleteMany') return undefined
  const references = referencesIn(entityOf(core.model, entity), inputOf(execution, field))
  return createPrecheck(writing, entity, references)
}
