/** A mutation operation: its fields in order, each a command of its own; a failed one ends it and undoes none before. */
import { type FieldNode, type GraphQLObjectType, getArgumentValues } from 'graphql'
import { ApiError } from '#errors.ts'
import type { Operation } from '#graphql/document.ts'
import type { Where } from '#graphql/errors.ts'
import type { RootField, Schema } from '#graphql/schema.ts'
import {
  type Arguments,
  collectFields,
  createSlots,
  idArgument,
  itemsOf,
  placeOf,
  type Slots,
  type Variables,
} from '#graphql/selection.ts'
import { entityOf, typeName } from '#model/model.ts'
import type { Role, Viewer } from '#model/viewer.ts'
import { notFound, type Prepared } from '#read/read.ts'
import type { Command } from '#write/command.ts'
import { type Core, prepareFor } from '#write/core.ts'
import { create, permit, remove, standingOf, update, type Writing } from '#write/derived.ts'
import { inputValues, type Values } from '#write/input.ts'
import { write } from '#write/write.ts'

/** Slot 1 of a payload's read holds the id of what was written. */
const writtenSlot = 1

type Payload = { readonly prepared: Prepared; readonly slots: Slots }

/** A field that writes, allowed and planned before any of the operation runs. */
type Writes = {
  readonly key: string
  readonly root: RootField
  readonly node: FieldNode
  readonly payload: Payload | null
}

type Planned = Writes | { readonly key: string; readonly json: string }

type Mutating = {
  readonly core: Core
  readonly schema: Schema
  readonly operation: Operation
  readonly variables: Variables
  readonly viewer: Viewer
}

const mutationType = (schema: Schema): GraphQLObjectType =>
  schema.schema.getMutationType() as GraphQLObjectType

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
  const items = itemsOf(
    selecting,
    type,
    nodes.flatMap(({ selectionSet }) => selectionSet ?? []),
  )
  const selected = {
    entity: root.entity,
    items,
    where: [{ field: 'id', is: 'equals', slot: writtenSlot }] as const,
    exists: [],
    sort: [],
    many: false,
    page: null,
    peek: false,
    total: false,
    key,
    ...placeOf(nodes[0] as FieldNode),
  }
  const prepared = prepareFor(
    core,
    { encoding: 'graphql', roots: [selected] },
    payloadRole(root, viewer),
  )
  return { prepared, slots }
}

const planned = (mutating: Mutating): readonly Planned[] => {
  const { core, schema, operation, variables, viewer } = mutating
  const writing: Writing = { model: core.model, dialect: core.dialect, viewer }
  const collected = collectFields([operation.node.selectionSet], operation.fragments, variables)
  return [...collected].map(([key, nodes]): Planned => {
    const node = nodes[0] as FieldNode
    const root = schema.roots.get(node.name.value)
    if (!root) return { key, json: '"Mutation"' }
    const { policy, plural } = entityOf(core.model, root.entity)
    try {
      permit(
        writing,
        policy[root.kind as 'create' | 'update' | 'delete'],
        `${root.kind} of ${plural}`,
      )
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      throw new ApiError(error.code, error.message, {
        headers: error.headers,
        place: { path: [key], ...placeOf(node) },
      })
    }
    return {
      key,
      root,
      node,
      payload: root.kind === 'delete' ? null : payloadOf(mutating, root, key, nodes),
    }
  })
}

/** Ids in an input come as text; one that names nothing is `NOT_FOUND`. */
const inputOf = (
  mutating: Mutating,
  root: RootField,
  args: Arguments,
): Readonly<Record<string, unknown>> => {
  const entity = entityOf(mutating.core.model, root.entity)
  const input = args.input as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => {
      const { references } = entity.fields[key] ?? {}
      if (!references || value === null) return [key, value]
      const id = idArgument(value)
      if (id === 0) throw notFound(references.entity, value)
      return [key, id]
    }),
  )
}

const runField = async (mutating: Mutating, field: Writes): Promise<string> => {
  const { core, schema, variables, viewer } = mutating
  const { root, node, payload } = field
  const writing: Writing = { model: core.model, dialect: core.dialect, viewer }
  const definition = mutationType(schema).getFields()[node.name.value]
  const args: Arguments = definition ? getArgumentValues(definition, node, variables) : {}
  const target = { entity: root.entity, id: idArgument(args.id) }
  const entity = entityOf(core.model, root.entity)
  const run = (command: Command) =>
    write(
      core.writer,
      core.model,
      command,
      payload && {
        plan: payload.prepared.plan,
        values: withoutWritten(payload, viewer, variables),
      },
    )
  const values = (mode: 'create' | 'update'): Values =>
    inputValues(entity, inputOf(mutating, root, args), {
      mode,
      viewer,
      settings: core.model.settings,
      now: core.now(),
      what: root.entity,
    })
  switch (root.kind) {
    case 'create':
      return (await run(create(writing, root.entity, values('create')))).answer?.text ?? 'null'
    case 'update': {
      if (target.id === 0) throw notFound(root.entity, args.id)
      let changes: Values
      try {
        changes = values('update')
      } catch (error) {
        // Whether it may be changed at all comes before what is wrong with the change.
        await write(core.writer, core.model, standingOf(writing, target, 'update'), null)
        throw error
      }
      return (await run(update(writing, target, changes))).answer?.text ?? 'null'
    }
    case 'delete':
      return await deleted(core, writing, target)
    default:
      throw new Error(`${root.kind} is not a mutation`)
  }
}

/** `true`; for an unknown id `false`. */
const deleted = async (
  core: Core,
  writing: Writing,
  target: { entity: string; id: number },
): Promise<string> => {
  try {
    await write(core.writer, core.model, remove(writing, target), null)
    return 'true'
  } catch (error) {
    if (error instanceof ApiError && error.code === 'NOT_FOUND') return 'false'
    throw error
  }
}

/** The values of a payload's slots without the written id, which the write itself puts in. */
const withoutWritten = ({ slots }: Payload, viewer: Viewer, variables: Variables) => {
  const [first = null, , ...rest] = slots.fill(viewer.id, variables)
  return [first, ...rest]
}

/** What came of a mutation: the text of `data`, and the error that ended it with its place. */
export type Mutated = {
  readonly data: string
  readonly error?: { readonly cause: unknown; readonly where: Where }
}

/** Runs the fields one after another. Throws what the viewer may not do, before anything is written. */
export const runMutation = async (mutating: Mutating): Promise<Mutated> => {
  const fields = planned(mutating)
  let data = '{'
  for (const field of fields) {
    if (data.length > 1) data += ','
    data += `${JSON.stringify(field.key)}:`
    if ('json' in field) {
      data += field.json
      continue
    }
    try {
      data += await runField(mutating, field)
    } catch (cause) {
      // Every mutation's type is non-null, so its error leaves no data (section 6.4.4); what came before is done.
      return {
        data: 'null',
        error: { cause, where: { path: [field.key], ...placeOf(field.node) } },
      }
    }
  }
  return { data: `${data}}` }
}
