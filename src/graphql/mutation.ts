/** A mutation operation: its fields, all translated into changes first, then done in order; a failed one ends it and undoes none before. */
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
import { conditionsFor, filteredFieldsIn } from '#graphql/conditions.ts'
import {
  type Collected,
  collectFields,
  decidedBy,
  type Execution,
  locationOf,
  startOf,
} from '#graphql/execution.ts'
import { withIds } from '#graphql/parts.ts'
import type { RootField } from '#graphql/schema.ts'
import { itemsOf } from '#graphql/selection.ts'
import { conditionOf } from '#graphql/where.ts'
import type { HttpContext } from '#http/exchange.ts'
import type { WriteFacts } from '#http/reply.ts'
import { type Http, readOptionsOf } from '#http/request.ts'
import { countsFor, countWork } from '#http/rows.ts'
import { entityOf, notFound, typeName } from '#model/model.ts'
import { partRelations } from '#model/parts.ts'
import type { ComparisonCount } from '#read/access.ts'
import { resolveCallerCondition } from '#read/caller-condition.ts'
import { plan } from '#read/planner.ts'
import { oneRow, VIEWER } from '#read/selection.ts'
import type { Change, ChangeKind, ManyKind } from '#write/change.ts'
import { permit } from '#write/command.ts'
import { admit, carryOut, checkOf, rightTo } from '#write/door.ts'
import { idempotencyOf, type KeyedRequest } from '#write/idempotency.ts'
import { invalid } from '#write/input.ts'
import { firstWritten, fittingRows, idsIn, type ManyWrite, revisionsIn } from '#write/many.ts'
import { commit, type Reading } from '#write/write.ts'

type WriteField = {
  readonly key: string
  readonly kind: ChangeKind
  readonly change: Change
  /** The read of the row it writes; null for a field without a selection set. */
  readonly reading: Reading | null
  readonly answer: (text: string) => string
  /** The error for its row, whose id is none. */
  readonly absent?: ApiError | undefined
  readonly location: ErrorLocation
}

/** The result of a mutation: the text of `data`, and the error that ended it; whether all of it is a stored response, and the position after its last write. */
type Mutated = WriteFacts & {
  readonly data: string
  readonly error?: { readonly cause: unknown; readonly location: ErrorLocation }
}

type MutationRequest = {
  readonly c: Http
  readonly edge: HttpContext
  readonly keyed: KeyedRequest | undefined
}

/** Runs the fields one after another. Throws before anything is written if the viewer has no right to one of them. */
export const runMutation = async (
  execution: Execution,
  { c, edge, keyed }: MutationRequest,
): Promise<Mutated> => {
  const { core, schema, operation, viewer: caller } = execution
  const collected = collectFields([operation.node], execution)
  const names = [...collected.values()].map(([node]) => node?.name.value ?? '')
  // Each mutation of an operation counts as a request does; the first is counted already.
  await countWork(edge, c, caller, names.filter(name => schema.roots.has(name)).length - 1)
  const fields = planMutation(execution, collected, keyed)
  const writes = fields.filter(field => 'change' in field)
  const [first] = writes
  if (!first) return { data: dataOf(fields, []), replayed: false }
  const counts = () => countsFor(edge, c, caller, core.model.viewers.entity)
  const kinds = writes.map(({ kind }) => kind)
  const { viewer } = await admit(core, caller, kinds, counts).catch(error => {
    throw error instanceof ApiError ? error.locatedAt(first.location) : error
  })
  // A right to a row is known to the store only. Of a single field, its command says it.
  if (writes.length > 1) {
    const checks = writes.map(async ({ change }) => {
      const command = await checkOf(writingFor(core, viewer), change, await change.read())
      if (command) await commit(core, command, null)
    })
    for (const [index, check] of (await Promise.allSettled(checks)).entries()) {
      const error: unknown = check.status === 'rejected' ? check.reason : undefined
      if (error instanceof ApiError && error.code === 'FORBIDDEN')
        throw error.locatedAt((writes[index] as WriteField).location)
    }
  }
  const finding = { ...readOptionsOf(edge, c, caller), spent: 0 }
  const texts: string[] = []
  let left = core.limits.bytes
  let replayed = true
  let position: WriteFacts['position']
  for (const { change, kind, reading, absent, answer, location } of writes)
    try {
      if (absent) throw absent
      const terms = { counts, reading: reading && { ...reading, longest: left }, finding }
      const done = await carryOut(core, writingFor(core, viewer), change, terms)
      const text = answer(done.answer?.text ?? 'null')
      left -= text.length
      texts.push(text)
      replayed &&= done.replayed
      position = done.position ?? position
    } catch (cause) {
      const isGone = cause instanceof ApiError && cause.code === 'NOT_FOUND'
      if (isGone && kind.does === 'delete') {
        texts.push('false')
        replayed = false
        continue
      }
      // Every mutation's type is non-null, so its error leaves no data (section 6.4.4); earlier fields stay written.
      return { data: 'null', replayed: false, position, error: { cause, location } }
    }
  return { data: dataOf(fields, texts), replayed, position }
}

/** A member of the operation that writes nothing. */
type Plain = { readonly key: string; readonly json: string }

const dataOf = (fields: readonly (WriteField | Plain)[], texts: readonly string[]): string => {
  const written = texts.values()
  const members = fields.map(
    field => `${JSON.stringify(field.key)}:${'json' in field ? field.json : written.next().value}`,
  )
  return `{${members.join()}}`
}

/** As much of the change of a field as decides who may do it. */
const kindOf = (root: RootField): ChangeKind => {
  const { kind, entity } = root
  if (kind === 'action') return { does: 'action', action: root.action }
  if (kind === 'create' || kind === 'update' || kind === 'delete') return { does: kind, entity }
  return { does: 'many', entity, kinds: [kind.replace('Many', '') as ManyKind] }
}

/** The fields in order, `__typename` with its text; throws for a field that the viewer may not run, as far as that is known without the store. */
const planMutation = (
  execution: Execution,
  collected: Collected,
  keyed: KeyedRequest | undefined,
): readonly (WriteField | Plain)[] => {
  const { core, schema, operation, variables, viewer } = execution
  const counted: ComparisonCount = { comparisons: 0 }
  return [...collected].map(([key, nodes]) => {
    const node = nodes[0] as FieldNode
    const root = schema.roots.get(node.name.value)
    if (!root) return { key, json: '"Mutation"' }
    const { entity } = root
    const location = locationOf(key, node)
    const definition = schema.schema.getMutationType()?.getFields()[node.name.value]
    const kind = kindOf(root)
    let rows: ManyWrite['rows'] | undefined
    try {
      const { rule, what } = rightTo(core.model, kind)
      permit({ model: core.model, viewer }, rule, what)
      if (root.kind === 'updateMany' || root.kind === 'deleteMany')
        rows = rowsOf(execution, root, definition, node, counted)
    } catch (error) {
      throw error instanceof ApiError ? error.locatedAt(location) : error
    }
    const args = definition ? getArgumentValues(definition, node, variables) : {}
    const change = changeOf(execution, kind, args, rows, keyed && { ...keyed, part: key })
    const { about = undefined } = kind.does === 'action' ? kind.action : { about: entity }
    const isAbout = kind.does === 'update' || (kind.does === 'action' && about !== null)
    const absent =
      isAbout && idArgument(args.id) === 0 ? notFound(about ?? entity, args.id) : undefined
    const field = { key, kind, change, absent, location, reading: null }
    if (kind.does === 'many') {
      const shown = [...collectFields(nodes, execution)].map(
        ([key, [one]]) => [key, one?.name.value ?? ''] as const,
      )
      return { ...field, answer: text => bulkText(idsIn(text), shown) }
    }
    if (entity === '') return { ...field, answer: () => 'true' }
    if (kind.does === 'delete') return { ...field, answer: text => text }
    // The row is read without its id, which the write adds.
    const writtenId = VIEWER + 1
    const readOf = () => {
      const type = schema.schema.getType(typeName(entity)) as GraphQLObjectType
      const filtered = filteredFieldsIn(execution, type, collectFields(nodes, execution))
      const { predicates, values } = conditionsFor(execution, filtered, writtenId + 1)
      const slots = createSlots(writtenId + 1 + values.length)
      const row = oneRow(entity, itemsOf({ ...execution, slots, predicates }, type, nodes))
      const written = kind.does === 'create' ? 'created' : 'changed'
      const selected = { ...row, written, key, ...startOf(node) } as const
      const selection = { encoding: 'graphql', roots: [selected] } as const
      return { plan: plan(selection, core.model, viewer.role, counted), values, slots }
    }
    // Conditions are counted together in each request.
    const made = operation.hasConditions
      ? readOf()
      : operation.derived(`${viewer.role} ${decidedBy(execution)} ${key}`, variables, readOf)
    const own = viewer.subject ?? viewer.id
    const values = [own, ...made.values, ...made.slots.valuesOf(variables, viewer)]
    const reading = { plan: made.plan, values }
    return { ...field, reading, answer: text => text }
  })
}

const rowsOf = (
  { core, schema, variables, viewer }: Execution,
  { entity }: RootField,
  definition: GraphQLField<unknown, unknown> | undefined,
  node: FieldNode,
  counted: ComparisonCount,
): ManyWrite['rows'] => {
  const condition = definition && conditionOf(definition, node)(variables)
  const found =
    condition == null
      ? undefined
      : resolveCallerCondition(core.model, entity, condition, schema.vocabulary, firstWritten)
  if (found && 'faults' in found) throw argumentFaults(node, found.faults)
  const { all } = definition ? getArgumentValues(definition, node, variables) : {}
  return fittingRows(writingFor(core, viewer), entity, found, all === true, counted)
}

/** The change that a field with these arguments does; each field is a write of its own, so its response is stored by itself. */
const changeOf = (
  { core }: Execution,
  kind: ChangeKind,
  args: Readonly<Record<string, unknown>>,
  rows: ManyWrite['rows'] | undefined,
  keyed: (KeyedRequest & { readonly part: string }) | undefined,
): Change => {
  const { model } = core
  const keyOf = () => keyed && idempotencyOf(core.dialect, keyed, core.now(), keyed.part)
  const id = idArgument(args.id)
  const { expectedRevision } = args
  const revisions = expectedRevision == null ? undefined : [Number(expectedRevision)]
  const input = (args.input ?? {}) as JsonObject
  if (kind.does === 'action') {
    const { action } = kind
    const target = revisions && { entity: action.about ?? '', id, revisions }
    const read = () => ({
      input: withIds(model, { fields: action.input ?? {} }, input),
      hasBody: args.input != null,
      idempotency: keyOf(),
    })
    return { does: 'action', action, id, target, read }
  }
  const { entity } = kind
  const of = entityOf(model, entity)
  const target = { entity, id, revisions }
  if (kind.does === 'delete')
    return { does: 'delete', entity, target, read: () => ({ idempotency: keyOf() }) }
  if (kind.does === 'many') {
    const [does = 'create'] = kind.kinds
    const inputsOf = () =>
      (args.inputs as readonly JsonObject[]).map(one => withIds(model, of, one, entity))
    const rest = () =>
      does === 'create'
        ? { inputs: inputsOf(), isDry: args.dryRun === true }
        : {
            ...(rows && { rows }),
            revisions: expectedRevisions(args.expectedRevisions),
            input: does === 'update' ? withIds(model, of, input) : undefined,
            isDry: args.dryRun === true,
          }
    const path = does === 'create' ? 'inputs' : 'input'
    return { ...kind, read: () => ({ kind: does, path, idempotency: keyOf(), rest }) }
  }
  const does = kind.does === 'create' ? 'create' : 'update'
  const takesParts = partRelations(model, entity, does).length > 0
  const read = () => ({ input: withIds(model, of, input, entity), idempotency: keyOf() })
  return { does, entity, takesParts, target, read }
}

/** The revisions that rows must have, by their ids; throws for what is no id or no revision. */
const expectedRevisions = (given: unknown): ReadonlyMap<number, number> => {
  const all = (given ?? []) as readonly { readonly id: unknown; readonly revision: unknown }[]
  const entries = all.map(({ id, revision }, at) => [at, id, revision] as const)
  const { revisions, faults } = revisionsIn('expectedRevisions', entries)
  if (faults.length > 0) throw invalid(faults)
  return revisions
}

const bulkText = (
  written: readonly number[],
  shown: readonly (readonly [key: string, member: string])[],
): string => {
  const ids = written.map(String)
  const values = { count: ids.length, ids, __typename: 'BulkWrite' }
  const members = shown.map(([key, member]) => [key, values[member as keyof typeof values]])
  return JSON.stringify(Object.fromEntries(members))
}
