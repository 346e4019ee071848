/** Writes of many rows, all or none: new ones, and the changes and deletions of all that fit a condition. */
import { isObject, type JsonObject } from '#base/object.ts'
import { ApiError, type FieldFault } from '#errors.ts'
import { constantTruth, type Operand, type Predicate, someOf } from '#model/condition.ts'
import type { Entity } from '#model/entity.ts'
import { entityOf } from '#model/model.ts'
import { refusal } from '#model/policy.ts'
import { parseId } from '#model/values.ts'
import { type ComparisonCount, writtenRows } from '#read/access.ts'
import type { CallerCondition } from '#read/caller-condition.ts'
import { columnsOf, predicateSql } from '#read/predicate.ts'
import type { PlanReader } from '#read/read.ts'
import { VIEWER } from '#read/selection.ts'
import { type QueryScript, queryOf, type Rows } from '#sql/engine.ts'
import { column, comma, filled, join, name, number, parameter, type Sql, sql } from '#sql/sql.ts'
import { claims } from '#write/claims.ts'
import {
  type Command,
  type CommandDraft,
  commandOf,
  type GuardedStep,
  idsOf,
  type Writing,
} from '#write/command.ts'
import { createForms, stepUp, update } from '#write/entity-commands.ts'
import { allHold, brokenAmong, demandsOf, verbs } from '#write/guard.ts'
import { checkInput, type InputContext, invalid, type Values } from '#write/input.ts'
import { effectSteps } from '#write/outbox.ts'
import {
  checkWithParts,
  inTurn,
  madeAt,
  mostParts,
  type PartDraft,
  type PartsContext,
  placedAt,
  type RowsToWrite,
  takingTurns,
  type WithParts,
  withParts,
} from '#write/parts.ts'
import { assignments, changesOf } from '#write/row-values.ts'
import { deleteSteps } from '#write/set-null.ts'
import { hookBefore } from '#write/steps/stating.ts'
import { commit, type Done, type Finding, type WriteContext } from '#write/write.ts'

/** The most rows of one write. */
const mostRows = mostParts

/** The values and parts of each of the new rows of a list, which its path names; rejects with `VALIDATION_ERROR` with all their faults. */
export const inputsWithParts = async (
  entityName: string,
  inputs: unknown,
  path: string,
  context: PartsContext,
): Promise<readonly WithParts[]> => {
  if (!Array.isArray(inputs)) throw invalid([{ field: path, message: 'must be a list' }])
  const turn = takingTurns()
  const left = { rows: mostParts - inputs.length, turn }
  if (left.rows < 0)
    throw invalid([{ field: path, message: `has more than ${mostParts} rows: send them in parts` }])
  const faults: FieldFault[] = []
  const rows: WithParts[] = []
  for (const [index, input] of inputs.entries()) {
    await turn()
    const at = `${path}.${index}`
    if (!isObject(input)) {
      faults.push({ field: at, message: 'must be an object' })
      continue
    }
    const { faults: own, ...checked } = await checkWithParts(entityName, input, context, left)
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
  const forms = createForms(writing)
  for (const [index, { values, parts }] of rows.entries()) {
    await turn()
    const at = `${path}.${index}`
    const draft = await madeAt(at, () =>
      withParts(writing, forms.create(entityName, values), parts, undefined, forms, turn),
    )
    const steps = placedAt(at, draft.steps, undefined)
    drafts.push({ ...draft, steps, made: `${at} ${draft.makes}` })
  }
  const idsOf = drafts.map(({ made }) => made)
  const { plural } = entityOf(writing.model, entityName)
  const whole = { name: `create ${plural}`, status: 201, text: { idsOf } } as const
  await turn()
  return commandOf(writing, { ...inTurn(drafts), ...whole })
}

/** A change or a deletion of all rows that fit a condition. */
export type ManyWrite = {
  readonly does: 'update' | 'delete'
  readonly entity: string
  /** The rows, among those that the caller may read. */
  readonly rows: Pick<CallerCondition, 'predicate' | 'values'>
  /** The revisions that rows must have, by their ids; any other row that fits may have any. */
  readonly revisions?: ReadonlyMap<number, number> | undefined
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

/**
 * The revisions that rows must have, by their ids, as a member named `field` gives them, each at a place of its own; and what is wrong with them, as
 * with what is no id or no revision nothing would be compared.
 */
export const revisionsIn = (
  field: string,
  given: readonly (readonly [place: string | number, id: unknown, revision: unknown])[],
): { readonly revisions: ReadonlyMap<number, number>; readonly faults: readonly FieldFault[] } => {
  const revisions = new Map<number, number>()
  if (given.length > mostRows)
    return { revisions, faults: [{ field, message: `has more than ${mostRows} rows` }] }
  const faults: FieldFault[] = []
  for (const [place, id, revision] of given) {
    const row = parseId(String(id))
    const at = `${field}.${place}`
    if (row === undefined || !Number.isSafeInteger(revision) || Number(revision) < 1)
      faults.push({ field: at, message: 'must be an id with its revision' })
    else if (revisions.has(row)) faults.push({ field: at, message: `names the id ${row} again` })
    else revisions.set(row, Number(revision))
  }
  return { revisions, faults }
}

/** The rows that a caller may read and that fit its condition; throws `VALIDATION_ERROR` for one that by its form holds for each, or compares nothing, unless all are meant. */
export const fittingRows = (
  { model, viewer }: Writing,
  entity: string,
  condition: Pick<CallerCondition, 'predicate' | 'values'> | undefined,
  isAll: boolean,
  counted?: ComparisonCount,
): ManyWrite['rows'] => {
  const { predicate = { kind: 'and', of: [] } as const, values = [] } = condition ?? {}
  const operandValue = (to: Operand) =>
    to.kind === 'slot' ? values[to.slot - firstWritten] : to.kind === 'value' ? to.value : undefined
  const compares = ({ kind }: Predicate) => !['and', 'or', 'not'].includes(kind)
  const isForAll =
    constantTruth(model.entities, entityOf(model, entity), predicate, operandValue) === true
  if (!isAll && (isForAll || !someOf(predicate, compares))) {
    const does = isForAll ? 'holds for every row, whatever it has' : 'compares nothing'
    throw invalid([{ field: 'where', message: `${does}: say all: true to mean all rows` }])
  }
  return { predicate: writtenRows(model, viewer.role, entity, predicate, counted), values }
}

/** The condition of the rows, with its values: of rows with the alias `t` that are looked for, which indexes find, or of rows that are known, one by one. */
const fittingSql = (
  { dialect, model, viewer, now }: Writing,
  { entity, rows }: ManyWrite,
  isSearch: boolean,
): Sql => {
  const { table } = entityOf(model, entity)
  const { interruptCheck: check } = dialect
  const where = isSearch
    ? ({ columnOf: columnsOf('t'), others: 'by key', indexed: table } as const)
    : ({ columnOf: columnsOf(table), others: 'by row' } as const)
  const condition = predicateSql(rows.predicate, { dialect, check, ...where })
  return filled(check ? sql`${check} and ${condition}` : condition, one => {
    if (one.kind === 'now') return sql`${now}`
    if (one.kind !== 'slot') return parameter(one)
    const value =
      one.slot === VIEWER ? (viewer.subject ?? viewer.id) : rows.values[one.slot - firstWritten]
    return sql`${value ?? null}`
  })
}

/** The most milliseconds for which the rows of all writes of a request are looked for. */
const longestFinding = 5000

/** The ids of the rows that fit now, in their order, one more than a write may have at the most: looked for beside all writes, which they hold up no more than any slow read. */
const findRows = async (
  { reader }: { readonly reader: PlanReader },
  writing: Writing,
  write: ManyWrite,
  finding: Finding = { spent: 0 },
): Promise<readonly number[]> => {
  const { dialect, model } = writing
  const { table } = entityOf(model, write.entity)
  const found = sql`select ${column('t', 'id')} from ${name(table)} as "t"
    where ${fittingSql(writing, write, true)} limit ${number(mostRows + 1)}`
  if (finding.spent > longestFinding)
    throw new ApiError('TIMEOUT', 'Looking for the rows of all its writes took too long', {
      retryAfter: 5,
    })
  const begun = performance.now()
  const script = function* (): QueryScript<Rows> {
    return yield queryOf(found, dialect)
  }
  try {
    const rows = await reader.slowly(script, { ...finding, isPresent: true })
    return rows.map(([id]) => Number(id)).toSorted((a, b) => a - b)
  } finally {
    finding.spent += performance.now() - begun
  }
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

/** So many revisions are compared in one statement. */
const comparedAtOnce = 100

/** The steps that refuse the write where a row has another revision than its caller read. */
const revisedSteps = (
  { dialect, model }: Writing,
  { entity, revisions = new Map() }: ManyWrite,
  isRow: Sql,
): readonly GuardedStep[] => {
  const { table, plural } = entityOf(model, entity)
  const id = columnsOf(table)('id')
  const byRevision = Map.groupBy(revisions, ([, revision]) => revision)
  const differ = [...byRevision].map(([revision, rows]) => {
    const among = dialect.valuesIn(sql`${JSON.stringify(rows.map(([row]) => row))}`)
    return sql`${column(table, 'revision')} <> ${revision} and ${dialect.among(id, among)}`
  })
  const steps: GuardedStep[] = []
  for (let at = 0; at < differ.length; at += comparedAtOnce) {
    const some = join(differ.slice(at, at + comparedAtOnce), sql` or `)
    const found = sql`from ${name(table)} where ${isRow} and (${some})`
    steps.push({
      sql: sql`select 1 where not exists (select 1 ${found})`,
      explain: sql`select ${id} ${found} order by ${id} limit ${number(mostNamed)}`,
      refused: rows => {
        const message = `The ${plural} were changed since: read them again, then repeat the write`
        const whole = new ApiError('PRECONDITION_FAILED', message)
        return aboutRows(whole, plural, rows.flat(), 'has another revision')
      },
    })
  }
  return steps
}

/** How many rows a refusal names at the most. */
const mostNamed = 20

/** The steps that hold the rows as they are, compare them again, and refuse the write where the caller has no right to one of them; `isExact`: or where one fits no more. */
const rowSteps = (
  writing: Writing,
  write: ManyWrite,
  changes: ReadonlyMap<string, Sql> | undefined,
  ids: readonly number[],
  isExact: boolean,
): readonly GuardedStep[] => {
  const { dialect, model, viewer } = writing
  const { does, entity: entityName, given } = write
  const { table, plural } = entityOf(model, entityName)
  const from = name(table)
  const id = columnsOf(table)('id')
  const isHeld = dialect.among(id, idsOf(writing, 'held'))
  const isRow = dialect.among(id, idsOf(writing, 'rows'))
  const demands = demandsOf(writing, entityName, does, given, changes)
  const isRefused = sql`${isRow} and (${allHold(demands)}) is not true`
  const refused = (rows: Rows): ApiError | undefined => {
    const brokenOf = ([, ...held]: Rows[number]) => brokenAmong(demands, held)
    const broken = rows[0] && brokenOf(rows[0])
    const error = broken?.error()
    if (!broken?.isRight) return error?.aboutPart(write.path)
    const so = broken.isImplied || broken === demands[0] ? '' : ' so'
    const all = refusal(viewer, `${verbs[does]} all these ${plural}${so}`)
    const ids = rows.flatMap(row => (brokenOf(row) === broken ? [row[0]] : []))
    return aboutRows(all, plural, ids, error?.message ?? '')
  }
  return [
    // In the order of their ids, so that two such writes wait for each other and do not lock each other out.
    {
      name: 'held',
      sql: sql`select id from ${from} where ${dialect.among(id, dialect.valuesIn(sql`${JSON.stringify(ids)}`))}
        order by id${dialect.lockClause}`,
      expect: 'any',
    },
    // What others changed before it was held may fit no more, the rows that it leads to included.
    {
      name: 'rows',
      sql: sql`select id from ${from} where ${isHeld} and ${fittingSql(writing, write, false)} order by id`,
      expect: 'any',
    },
    ...(isExact
      ? [
          {
            sql: sql`select 1 where ${dialect.typed(parameter({ kind: 'result', step: 'rows', field: 'id', as: 'list' }), 'text')} = ${dialect.typed(JSON.stringify(ids), 'text')}`,
            refused: () => new RowsChanged(),
          },
        ]
      : []),
    {
      sql: sql`select 1 where not exists (select 1 from ${from} where ${isRefused})`,
      explain: sql`select ${join([id, ...demands.map(({ holds }) => holds)], comma)} from ${from}
        where ${isRefused} order by ${id} limit ${number(mostNamed)}`,
      refused,
    },
    ...revisedSteps(writing, write, isRow),
  ]
}

/** The command of a write of the rows with these ids, for each of which the hooks before it are called by itself. */
const commandFor = async (
  writing: Writing,
  write: ManyWrite,
  ids: readonly number[],
): Promise<Command> => {
  const { dialect, model } = writing
  const { does, entity: entityName, given, path } = write
  const { table, plural, before } = entityOf(model, entityName)
  const isRow = dialect.among(columnsOf(table)('id'), idsOf(writing, 'rows'))
  const whole = { name: `${does} ${plural}`, text: { idsOf: ['rows'] } } as const
  if (ids.length > mostRows) {
    const message = `fits more than ${mostRows} rows: ask for fewer at once`
    const refused = () => invalid([{ field: 'where', message }])
    const steps = [{ name: 'rows', sql: sql`select 1 where false`, refused }]
    return commandOf(writing, { ...whole, steps })
  }
  const isExact = before[does] !== undefined
  const drafts: PartDraft[] = []
  const turn = takingTurns()
  for (const id of isExact ? ids : []) {
    await turn()
    const at = `${plural}.${id}`
    const draft = await madeAt(at, () =>
      does === 'update'
        ? update(writing, { entity: entityName, id }, given)
        : hookBefore(writing, entityName, does, id, new Map()),
    )
    const steps = placedAt(at, draft?.steps ?? [], undefined)
    drafts.push({ asSelf: draft?.asSelf === true, isolated: draft?.isolated, steps })
  }
  if (does === 'delete') {
    const all = inTurn([
      { steps: rowSteps(writing, write, undefined, ids, isExact) },
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
  if (isExact) {
    const all = inTurn([{ steps: rowSteps(writing, write, undefined, ids, true) }, ...drafts])
    return commandOf(writing, { ...all, ...whole })
  }
  const changes = given.size > 0 ? changesOf(writing, entityName, given, writing) : undefined
  const set = changes && sql`update ${name(table)} set ${assignments(changes)} where ${isRow}`
  const steps: readonly GuardedStep[] = [
    ...rowSteps(writing, write, changes ?? new Map(), ids, false),
    ...stepUp(writing, entityName, isRow, given),
    ...(set ? [{ sql: set, expect: 'any', path } as const] : []),
    ...claims(writing, entityName, given).map(step => ({ ...step, path })),
    ...(set ? effectSteps(writing, entityName, 'update', idsOf(writing, 'rows'), true) : []),
  ]
  return commandOf(writing, { ...whole, steps })
}

/** How often a write is tried whose rows change between the hooks before it and the write. */
const mostTries = 5

/**
 * Changes or deletes all rows that fit, or none; its answer is the list of their ids. `begin` is told how much it is. They are looked for first, as a
 * slow read is, and compared again within the transaction: those that fit no more stay as they are. Where hooks are called for each of them before, the write is refused unless
 * all fit still, and is tried again.
 */
export const writeMany = async (
  store: Parameters<typeof commit>[0] & Parameters<typeof findRows>[0],
  writing: Writing,
  write: ManyWrite,
  context: WriteContext,
  begin: (size: RowsToWrite) => Promise<void>,
): Promise<Done> => {
  for (let tries = 1; ; tries++) {
    const ids = await findRows(store, writing, write, context.finding)
    const rows = Math.min(ids.length, mostRows)
    await begin({ rows, values: rows * write.given.size })
    try {
      return await commit(store, await commandFor(writing, write, ids), null, context)
    } catch (error) {
      if (!(error instanceof RowsChanged) || tries === mostTries) throw error
    }
  }
}

/** The ids in the answer to a write of many rows. */
export const idsIn = (text = '[]'): readonly number[] => JSON.parse(text)
