/** A mutation operation: its fields in order, each a command of its own; a failed one ends it and undoes none before. */
import { type FieldNode, type GraphQLObjectType, getArgumentValues } from 'graphql'
import { type Core, prepareFor } from '#core.ts'
import { ApiError } from '#errors.ts'
import {
  type Arguments,
  createSlots,
  idArgument,
  type Slots,
  type Variables,
} from '#graphql/arguments.ts'
import type { Operation } from '#graphql/document.ts'
import type { Where } from '#graphql/errors.ts'
import type { RootField, Schema } from '#graphql/schema.ts'
import { collectFields, itemsOf, locationOf, setsOf } from '#graphql/selection.ts'
import { entityOf, notFound, typeName } from '#model/model.ts'
import type { Role, Viewer } from '#model/viewer.ts'
import type { Position, Prepared } from '#read/read.ts'
import { oneRow } from '#read/selection.ts'
import type { Command } from '#write/command.ts'
import { commit } from '#write/commit.ts'
import { create, createPrecheck, precheck, remove, update } from '#write/derived.ts'
import { idempotencyOf, type KeyedRequest } from '#write/idempotency.ts'
import { inputValues, type Values } from '#write/input.ts'
import { permit, type Writing } from '#write/steps.ts'
import { type Done, write } from '#write/write.ts'

type Payload = { readonly prepared: Prepared; readonly slots: Slots }

/** A field that writes, allowed and planned before any of the operation runs. */
type Writes = {
  readonly key: string
  readonly root: RootField
  readonly node: FieldNode
  readonly args: Arguments
  readonly payload: Payload | null
}

type Planned = Writes | { readonly key: string; readonly json: string }

export type Mutating = {
  readonly core: Core
  readonly schema: Schema
  readonly operation: Operation
  readonly variables: Variables
  readonly viewer: Viewer
  /** The key under which the answers are kept, where the request has one. */
  readonly keyed: KeyedRequest | undefined
}

const writingOf = ({ core, viewer }: Mutating): Writing => ({
  model: core.model,
  dialect: core.dialect,
  viewer,
})

const argumentsOf = ({ schema, variables }: Mutating, node: FieldNode): Arguments => {
  const type = schema.schema.getMutationType() as GraphQLObjectType
  const field = type.getFields()[node.name.value]
  return field ? getArgumentValues(field, node, variables) : {}
}

/** Whoever signs up may select the whole of the user it made, as that user could. */
const payloadRole = (root: RootField, viewer: Viewer): Role =>
  root.kind === 'create' && viewer.role === 'anonymous' ? 'user' : viewer.role

const payloadOf = (
  mutating: Mutating,
  root: RootField,
  key: string,
  nodes: readonly FieldNode[],
): Payload => {
  const { core, schema, operation, variables, viewer } = mutating
  const slots = createSlots(1)
  const selecting = { schema, model: core.model, fragments: operation.fragments, variables, slots }
  const type = schema.schema.getType(typeName(root.entity)) as GraphQLObjectType
  const items = itemsOf(selecting, type, setsOf(nodes))
  const selected = {
    ...oneRow(root.entity, items),
    written: true,
    key,
    ...locationOf(nodes[0] as FieldNode),
  }
  const prepared = prepareFor(
    core,
    { encoding: 'graphql', roots: [selected] },
    payloadRole(root, viewer),
  )
  return { prepared, slots }
}

const planned = (mutating: Mutating): readonly Planned[] => {
  const { core, schema, operation, variables } = mutating
  const collected = collectFields([operation.node.selectionSet], operation.fragments, variables)
  return [...collected].map(([key, nodes]): Planned => {
    const node = nodes[0] as FieldNode
    const root = schema.roots.get(node.name.value)
    if (!root) return { key, json: '"Mutation"' }
    const { policy, plural } = entityOf(core.model, root.entity)
    try {
      permit(
        writingOf(mutating),
        policy[root.kind as 'create' | 'update' | 'delete'],
        `${root.kind} ${plural}`,
      )
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      throw error.at({ path: [key], ...locationOf(node) })
    }
    return {
      key,
      root,
      node,
      args: argumentsOf(mutating, node),
      payload: root.kind === 'delete' ? null : payloadOf(mutating, root, key, nodes),
    }
  })
}

type Input = Readonly<Record<string, unknown>>

/** Ids in an input come as text; one that names nothing is `NOT_FOUND`. */
const inputOf = (mutating: Mutating, { root, args }: Writes): Input => {
  const entity = entityOf(mutating.core.model, root.entity)
  return Object.fromEntries(
    Object.entries(args.input as Input).map(([key, value]) => {
      const { references } = entity.fields[key] ?? {}
      if (!references || value === null) return [key, value]
      const id = idArgument(value)
      if (id === 0) throw notFound(references.entity, value)
      return [key, id]
    }),
  )
}

const targetOf = ({ root, args }: Writes) => ({ entity: root.entity, id: idArgument(args.id) })

/** Whether the viewer may do it to what it names, asked without doing it. */
const look = async (mutating: Mutating, field: Writes): Promise<void> => {
  const { core } = mutating
  const { root } = field
  const ask = (command: Command) => write(core.writer, core.model, command, null)
  if (root.kind === 'update' || root.kind === 'delete') {
    await ask(precheck(writingOf(mutating), targetOf(field), root.kind))
    return
  }
  const { fields } = entityOf(core.model, root.entity)
  const named = Object.entries(inputOf(mutating, field)).filter(([key]) => fields[key]?.references)
  await ask(createPrecheck(writingOf(mutating), root.entity, new Map(named as [string, number][])))
}

/** The values of an input; whether it may be written at all comes before what is wrong with it. */
const valuesOf = async (mutating: Mutating, field: Writes): Promise<Values> => {
  const { core, viewer } = mutating
  const { root } = field
  const input = inputOf(mutating, field)
  try {
    return inputValues(entityOf(core.model, root.entity), input, {
      mode: root.kind === 'create' ? 'create' : 'update',
      viewer,
      settings: core.model.settings,
      now: core.now(),
      what: root.entity,
    })
  } catch (error) {
    await look(mutating, field)
    throw error
  }
}

/** Runs the field's command, and keeps its answer where the request has a key. */
const run = (mutating: Mutating, field: Writes, command: Command): Promise<Done> => {
  const { core, variables, viewer, keyed } = mutating
  const { payload, key } = field
  const reading = payload && {
    plan: payload.prepared.plan,
    values: withoutWritten(payload, viewer, variables),
  }
  // Each field is a write of its own, so its answer is kept by itself.
  const idempotency = keyed && idempotencyOf(core.dialect, keyed, core.now(), `#${key}`)
  return commit(core, command, reading, idempotency)
}

const commandOf = async (mutating: Mutating, field: Writes): Promise<Command> => {
  const { root, args } = field
  const writing = writingOf(mutating)
  const target = targetOf(field)
  if (root.kind === 'create') return create(writing, root.entity, await valuesOf(mutating, field))
  if (root.kind === 'delete') return remove(writing, target)
  if (target.id === 0) throw notFound(root.entity, args.id)
  return update(writing, target, await valuesOf(mutating, field))
}

/** What a field wrote, as its text; deleting what is not there is `false`. */
const runField = async (mutating: Mutating, field: Writes): Promise<Field> => {
  try {
    const done = await run(mutating, field, await commandOf(mutating, field))
    return { text: done.answer?.text ?? 'null', replayed: done.replayed, position: done.position }
  } catch (error) {
    const isGone = error instanceof ApiError && error.code === 'NOT_FOUND'
    if (isGone && field.root.kind === 'delete')
      return { text: 'false', replayed: false, position: undefined }
    throw error
  }
}

type Field = {
  readonly text: string
  readonly replayed: boolean
  readonly position: Position | undefined
}

/** The values of a payload's slots without the written id, which the write itself puts in. */
const withoutWritten = ({ slots }: Payload, viewer: Viewer, variables: Variables) => {
  const [first = null, , ...rest] = slots.fill(viewer.id, variables)
  return [first, ...rest]
}

const whereOf = (field: Writes): Where => ({ path: [field.key], ...locationOf(field.node) })

/** Of several fields none is run where one is refused by whose thing it is about, which only the store knows. */
const refuseEarly = async (mutating: Mutating, fields: readonly Writes[]): Promise<void> => {
  const looks = await Promise.allSettled(fields.map(field => look(mutating, field)))
  for (const [index, result] of looks.entries()) {
    const error: unknown = result.status === 'rejected' ? result.reason : undefined
    const field = fields[index]
    if (field && error instanceof ApiError && error.code === 'FORBIDDEN')
      throw error.at({ path: [field.key], ...locationOf(field.node) })
  }
}

/** What came of a mutation: the text of `data`, and the error that ended it with its place. */
export type Mutated = {
  readonly data: string
  /** Whether all of it is the kept answer of an earlier request. */
  readonly replayed: boolean
  /** Where the store stands with the last of what was written. */
  readonly position: Position | undefined
  readonly error?: { readonly cause: unknown; readonly where: Where }
}

/** Runs the fields one after another. Throws what the viewer may not do, before anything is written. */
export const runMutation = async (mutating: Mutating): Promise<Mutated> => {
  const fields = planned(mutating)
  const writes = fields.filter((field): field is Writes => 'root' in field)
  if (writes.length > 1) await refuseEarly(mutating, writes)
  let data = '{'
  let replayed = writes.length > 0
  let position: Position | undefined
  for (const field of fields) {
    if (data.length > 1) data += ','
    data += `${JSON.stringify(field.key)}:`
    if ('json' in field) {
      data += field.json
      continue
    }
    try {
      const written = await runField(mutating, field)
      data += written.text
      replayed &&= written.replayed
      position = written.position ?? position
    } catch (cause) {
      // Every mutation's type is non-null, so its error leaves no data (section 6.4.4); what came before is done.
      return {
        data: 'null',
        replayed: false,
        position,
        error: { cause, where: whereOf(field) },
      }
    }
  }
  return { data: `${data}}`, replayed, position }
}
