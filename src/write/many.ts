/** Writes of many rows, all or none: new ones, and the changes and deletions of all that fit a condition. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isObject, type JsonObject } from '#base/object.ts'
import { ApiError, type FieldFault } from '#errors.ts'
import { type Operand, type Predicate, sameForAll, someOf } from '#model/condition.ts'
import type { Entity } from '#model/entity.ts'
import { entityOf } from '#model/model.ts'
import { refusal } from '#model/policy.ts'
import { type Asks, writtenRows } from '#read/access.ts'
import type { Asked } from '#read/asking.ts'
import { columnsOf, predicateSql } from '#read/predicate.ts'
import { VIEWER } from '#read/selection.ts'
import type { Rows } from '#sql/engine.ts'
import {
  and,
  column,
  comma,
  join,
  name,
  number,
  parameter,
  type Sql,
  sql,
  withParameters,
} from '#sql/sql.ts'
import {
  assignments,
  type Command,
  type CommandDraft,
  changesOf,
  commandOf,
  type GuardedStep,
  idsOf,
  type Writing,
} from '#write/command.ts'
import { create, demandsOf, update, verbs } from '#write/entity-commands.ts'
import { checkInput, type InputContext, invalid, type Values } from '#write/input.ts'
import { writePieces } from '#write/job.ts'
import { effectSteps } from '#write/outbox.ts'
import {
  checkWithParts,
  mostParts,
  type PartDraft,
  type PartsContext,
  placedAt,
  together,
  type WithParts,
  withParts,
} from '#write/parts.ts'
import { deleteSteps } from '#write/set-null.ts'
import { hookBefore } from '#write/steps.ts'
import { commit, type WriteContext } from '#write/write.ts'

/** The most rows of one write. */
const mostRows = mostParts

/** The most milliseconds for which many rows hold the thread at a time. */
const longestTurn = 5

/** A function that gives others a turn of the thread, if it has been held for long enough. */
const takingTurns = () => {
  let begun = performance.now()
  return async () => {
    if (performance.now() - begun < longestTurn) return
    await nextTurn()
    begun = performance.now()
  }
}

/** The values and parts of each of the new rows of a list, which its path names; rejects with `VALIDATION_ERROR` with all their faults. */
export const inputsWithParts = async (
  entityName: string,
  inputs: unknown,
  path: string,
  context: PartsContext,
): Promise<readonly WithParts[]> => {
  if (!Array.isArray(inputs)) throw invalid([{ field: path, message: 'must be a list' }])
  const left = { rows: mostParts - inputs.length }
  if (left.rows < 0)
    throw invalid([{ field: path, message: `has more than ${mostParts} rows: send them in parts` }])
  const faults: FieldFault[] = []
  const rows: WithParts[] = []
  const turn = takingTurns()
  for (const [index, input] of inputs.entries()) {
    await turn()
    const at = `${path}.${index}`
    if (!isObject(input)) {
      faults.push({ field: at, message: 'must be an object' })
      continue
    }
    const { faults: own, ...checked } = checkWithParts(entityName, input, context, left)
    for (const { field, message } of own) faults.push({ field: `${at}.${field}`, message })
    rows.push(checked)
  }
  if (faults.length > 0) throw invalid(faults)
  return rows
}

/** The command that creates many rows, all or none; its answer is the list of their ids. */
export const createMany = async (
  writing: Writing,
  entityName: string,
  rows: readonly WithParts[],
  path: string,
): Promise<Command> => {
  const drafts: (CommandDraft & { readonly made: string })[] = []
  const turn = takingTurns()
  for (const [index, { values, parts }] of rows.entries()) {
    await turn()
    const at = `${path}.${index}`
    const draft = withParts(writing, create(writing, entityName, values), parts)
    const steps = placedAt(at, draft.steps, undefined)
    drafts.push({ ...draft, steps, made: `${at} ${draft.makes}` })
  }
  const idsOf = drafts.map(({ made }) => made)
  const { plural } = entityOf(writing.model, entityName)
  const whole = { name: `create ${plural}`, status: 201, text: { idsOf } } as const
  await nextTurn()
  return commandOf(writing, { ...together(drafts), ...whole })
}

/** A change or a deletion of all rows that fit a condition. */
export type ManyWrite = {
  readonly does: 'update' | 'delete'
  readonly entity: string
  /** The rows, among those that the caller may read. */
  readonly rows: Pick<Asked, 'predicate' | 'values'>
  /** What a change gives them, and where the input has it. */
  readonly given: Values
  readonly path: string
}

/** The values of a change of many rows, whose faults have the path of its input. */
export const inputAt = (
  path: string,
  entity: Entity,
  input: JsonObject,
  context: InputContext,
): Values => {
  const { values, faults } = checkInput(entity, input, context)
  if (faults.length === 0) return values
  throw invalid(faults.map(({ field, message }) => ({ field: `${path}.${field}`, message })))
}

/** The first slot for the values of a condition on rows to write. */
export const firstWritten = VIEWER + 1

/** The rows that a caller may read and that fit its condition; throws `VALIDATION_ERROR` for one that by its form holds for each, or compares nothing, unless all are meant. */
export const rowsAsked = (
  { model, viewer }: Writing,
  entity: string,
  asked: Pick<Asked, 'predicate' | 'values'> | undefined,
  isAll: boolean,
  asks?: Asks,
): ManyWrite['rows'] => {
  const { predicate = { kind: 'and', of: [] } as const, values = [] } = asked ?? {}
  const operandValue = (to: Operand) =>
    to.kind === 'slot' ? values[to.slot - firstWritten] : to.kind === 'value' ? to.value : undefined
  const compares = ({ kind }: Predicate) => !['and', 'or', 'not'].includes(kind)
  const isForAll =
    sameForAll(model.entities, entityOf(model, entity), predicate, operandValue) === true
  if (!isAll && (isForAll || !someOf(predicate, compares))) {
    const does = isForAll ? 'holds for every row, whatever it has' : 'compares nothing'
    throw invalid([{ field: 'where', message: `${does}: say all: true to mean all rows` }])
  }
  return { predicate: writtenRows(model, viewer.role, entity, predicate, asks), values }
}

/** The condition of the rows, with its values; `isIndexed`: of rows with the alias `t`, which indexes of trigrams find. */
const fittingSql = (
  { dialect, model, viewer, now }: Writing,
  { entity, rows }: ManyWrite,
  isIndexed = false,
): Sql => {
  const { table } = entityOf(model, entity)
  const columnOf = columnsOf(isIndexed ? 't' : table)
  const indexed = isIndexed ? table : undefined
  const condition = predicateSql(rows.predicate, { dialect, columnOf, others: 'by key', indexed })
  return withParameters(condition, one => {
    if (one.kind === 'now') return { kind: 'value', value: now }
    if (one.kind !== 'slot') return one
    const value =
      one.slot === VIEWER ? (viewer.subject ?? viewer.id) : rows.values[one.slot - firstWritten]
    return { kind: 'value', value: value ?? null }
  })
}

/** A query for the ids of the rows, one more than a write may have at the most. */
const findSql = (writing: Writing, write: ManyWrite): Sql => {
  const { dialect, model } = writing
  const check = dialect.interruptCheck ? [dialect.interruptCheck] : []
  return sql`select ${column('t', 'id')} from ${name(entityOf(model, write.entity).table)} as "t"
    where ${and([...check, fittingSql(writing, write, true)])} limit ${number(mostRows + 1)}`
}

/** Other rows fit than those that the hooks before the write were called for. */
class RowsChanged extends ApiError {
  constructor() {
    super('CONFLICT', 'Other rows came to fit, or some fit no more, time after time: try again')
  }
}

/** The errors for rows by their ids, as one: it has the code and the message of the whole. */
const aboutRows = (
  whole: ApiError,
  plural: string,
  ids: readonly unknown[],
  message: string,
): ApiError =>
  new ApiError(whole, whole.message, {
    ...whole,
    details: ids.map(id => ({ field: `${plural}.${id}`, message })),
  })

/** How many rows a refusal names at the most. */
const mostNamed = 20

/** The steps that find the rows, hold them as they are, and refuse the write where the caller has no right to one of them. */
const rowSteps = (
  writing: Writing,
  write: ManyWrite,
  changes: ReadonlyMap<string, Sql> | undefined,
  known: readonly number[] | undefined,
): readonly GuardedStep[] => {
  const { dialect, model, viewer } = writing
  const { does, entity: entityName, given } = write
  const { table, plural } = entityOf(model, entityName)
  const from = name(table)
  const id = columnsOf(table)('id')
  const isHeld = dialect.among(id, idsOf(writing, 'held'))
  const isRow = dialect.among(id, idsOf(writing, 'rows'))
  const demands = demandsOf(writing, entityName, does, given, changes)
  const { own, mine, exist, absent } = demands
  const isRefused = sql`${isRow} and (${and([own, mine, ...exist])}) is not true`
  const refused = (rows: Rows): ApiError | undefined => {
    const [first] = rows
    if (!first) return undefined
    const [, isOwn, , ...found] = first
    const missing = isOwn ? absent(found) : undefined
    if (missing) return missing.aboutPart(write.path)
    const so = isOwn ? ' so' : ''
    const ids = rows.flatMap(([id, other]) => (Boolean(other) === Boolean(isOwn) ? [id] : []))
    const { message } = refusal(viewer, `${verbs[does]} this ${entityName}${so}`)
    return aboutRows(
      refusal(viewer, `${verbs[does]} all these ${plural}${so}`),
      plural,
      ids,
      message,
    )
  }
  return [
    // In the order of their ids, so that two such writes wait for each other and do not lock each other out.
    {
      name: 'held',
      sql: sql`select id from ${from} where ${dialect.among(id, findSql(writing, write))}
        order by id${dialect.lockClause}`,
      expect: 'any',
    },
    {
      sql: sql`select 1 where (select count(*) from (${idsOf(writing, 'held')}) as "held") <= ${number(mostRows)}`,
      refused: () =>
        invalid([
          { field: 'where', message: `fits more than ${mostRows} rows: ask for fewer at once` },
        ]),
    },
    // What others changed before it was held may fit no more, the rows that it leads to included.
    {
      name: 'rows',
      sql: sql`select id from ${from} where ${isHeld} and ${fittingSql(writing, write)} order by id`,
      expect: 'any',
    },
    ...(known
      ? [
          {
            sql: sql`select 1 where ${dialect.typed(parameter({ kind: 'result', step: 'rows', field: 'id', as: 'list' }), 'text')} = ${dialect.typed(JSON.stringify(known), 'text')}`,
            refused: () => new RowsChanged(),
          },
        ]
      : []),
    {
      sql: sql`select 1 where not exists (select 1 from ${from} where ${isRefused})`,
      explain: sql`select ${join([id, own, mine, ...exist], comma)} from ${from}
        where ${isRefused} order by ${id} limit ${number(mostNamed)}`,
      refused,
    },
  ]
}

/** The command of a write; `known` are the rows that the hooks before it are called for, each by itself. */
const commandFor = async (
  writing: Writing,
  write: ManyWrite,
  known: readonly number[] | undefined,
): Promise<Command> => {
  const { dialect, model } = writing
  const { does, entity: entityName, given, path } = write
  const { table, plural } = entityOf(model, entityName)
  const isRow = dialect.among(columnsOf(table)('id'), idsOf(writing, 'rows'))
  const whole = { name: `${does} ${plural}`, text: { idsOf: ['rows'] } } as const
  const drafts: PartDraft[] = []
  const turn = takingTurns()
  for (const id of known ?? []) {
    await turn()
    const draft =
      does === 'update'
        ? update(writing, { entity: entityName, id }, given)
        : hookBefore(writing, entityName, does, id, new Map())
    const steps = placedAt(`${plural}.${id}`, draft?.steps ?? [], undefined)
    drafts.push({ asSelf: draft?.asSelf === true, isolated: draft?.isolated, steps })
  }
  if (does === 'delete') {
    const all = together([
      { steps: rowSteps(writing, write, undefined, known) },
      ...drafts,
      {
        steps: deleteSteps(
          writing,
          entityName,
          isRow,
          { name: 'gone', expect: 'any' },
          sql`id`,
          true,
        ),
      },
    ])
    // In a snapshot a row that came below one of them meanwhile has the write done again.
    return commandOf(writing, { ...all, ...whole, isolated: true, deletes: entityName })
  }
  if (known) {
    const all = together([{ steps: rowSteps(writing, write, undefined, known) }, ...drafts])
    return commandOf(writing, { ...all, ...whole })
  }
  const changes = given.size > 0 ? changesOf(writing, entityName, given) : undefined
  const set = changes && sql`update ${name(table)} set ${assignments(changes)} where ${isRow}`
  const steps: readonly GuardedStep[] = [
    ...rowSteps(writing, write, changes ?? new Map(), undefined),
    ...(set ? [{ sql: set, expect: 'any', path } as const] : []),
    ...(set ? effectSteps(writing, entityName, 'update', idsOf(writing, 'rows'), true) : []),
  ]
  return commandOf(writing, { ...whole, steps })
}

/** How often a write is tried whose rows change between the hooks before it and the write. */
const mostTries = 5

/**
 * Changes or deletes all rows that fit, or none; gives their ids. Which rows those are is decided within the transaction: where hooks are called for
 * each of them before, the write is refused unless they are the same then, and is tried again.
 */
export const writeMany = async (
  store: Parameters<typeof commit>[0] & Parameters<typeof writePieces>[0],
  writing: Writing,
  write: ManyWrite,
  context: WriteContext,
) => {
  const { before } = entityOf(writing.model, write.entity)
  for (let tries = 1; ; tries++) {
    let known: readonly number[] | undefined
    if (before[write.does]) {
      const [rows = []] = await writePieces(store, findSql(writing, write))
      const ids = rows.map(([id]) => Number(id)).toSorted((a, b) => a - b)
      // Too many are refused by the first steps.
      known = ids.length > mostRows ? [] : ids
    }
    try {
      const done = await commit(store, await commandFor(writing, write, known), null, context)
      return { ...done, ids: idsIn(done.answer?.text) }
    } catch (error) {
      if (!(error instanceof RowsChanged) || tries === mostTries) throw error
    }
  }
}

/** The ids in the answer to a write of many rows. */
export const idsIn = (text = '[]'): readonly number[] => JSON.parse(text)
