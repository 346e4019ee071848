/** The door of the read core: a plan made ready once, then run with values as often as asked. */
import { ApiError } from '#errors.ts'
import { typeName } from '#model/model.ts'
import { compile, compileForMany, scans } from '#read/compile.ts'
import type { Level, PlannedRoot, ReadPlan } from '#read/plan.ts'
import { type Limits, stitcher } from '#read/stitch.ts'
import type { Dialect, Together } from '#sql/dialect.ts'
import type { Position, Reader, Row, Rows, Work } from '#sql/engine.ts'
import type { SqlValue, Statement } from '#sql/sql.ts'

export type { Position } from '#sql/engine.ts'

/** What one root came to. */
export type Answer = {
  /** JSON text: an object, `null` or a list. */
  readonly text: string
  readonly objects: number
  /** The number of all rows that fit, where it was asked for. */
  readonly total: number | undefined
  /** The id of the last row written, and whether there are more: what a cursor is made of. */
  readonly last: number | undefined
  readonly more: boolean
  /** The revision of the one row asked for. */
  readonly revision: number | undefined
  /** What must exist and does not: then the answer means nothing. */
  readonly missing: { readonly entity: string; readonly id: SqlValue } | undefined
}

/** A plan ready to run on one database. */
export type Prepared = {
  readonly plan: ReadPlan
  readonly statements: readonly Statement[]
  readonly work: (values: readonly SqlValue[]) => Work<readonly Answer[]>
}

const keysJson = (rows: Rows, column: number): string => {
  const keys = new Set<SqlValue>()
  for (const row of rows) if (row[column] !== null) keys.add(row[column] as SqlValue)
  return `[${[...keys].join()}]`
}

/** The values of a statement's places, from the run's slots and what earlier levels found; undefined: no keys. */
const valuesOf = (
  statement: Statement,
  slots: readonly SqlValue[],
  results: readonly Rows[],
  budget: number,
): SqlValue[] | undefined => {
  const values: SqlValue[] = []
  for (const parameter of statement.parameters) {
    switch (parameter.kind) {
      case 'value':
        values.push(parameter.value)
        break
      case 'slot':
        values.push(slots[parameter.slot] as SqlValue)
        break
      case 'keys': {
        const keys = keysJson(results[parameter.level] as Rows, parameter.column)
        if (keys === '[]') return undefined
        values.push(keys)
        break
      }
      case 'budget':
        values.push(budget)
        break
      case 'capped':
        values.push(Math.min(Number(slots[parameter.slot]), budget))
        break
      case 'result':
      case 'named result':
        throw new Error('a read has no earlier steps')
      default:
        parameter satisfies never
    }
  }
  return values
}

const missingOf = (root: PlannedRoot, slots: readonly SqlValue[], results: readonly Rows[]) => {
  const absent = root.exists.find(({ level }) => results[level]?.length === 0)
  return absent && { entity: absent.entity, id: slots[absent.slot] as SqlValue }
}

const revisionOf = (root: PlannedRoot, results: readonly Rows[]): number | undefined => {
  const row = results[root.level]?.[0]
  return root.revision === null || row === undefined ? undefined : Number(row[root.revision])
}

/** Cuts off the row that was read only to know whether there is a next page. */
const pageOf = (root: PlannedRoot, slots: readonly SqlValue[], results: Rows[]) => {
  const rows = results[root.level] as Rows
  const limit = root.peek && root.page ? Number(slots[root.page.limit]) : rows.length
  const more = rows.length > limit
  const page = more ? rows.slice(0, limit) : rows
  results[root.level] = page
  const last = page.at(-1)?.[0]
  return { more, last: last == null ? undefined : Number(last) }
}

// So many rows are fetched at once however long their texts are; more are counted by bytes, which costs each a little.
const fewRows = 500

/** How many rows a level can have at the most, by its page and the rows above it. */
const mostRows = (
  { source }: Level,
  slots: readonly SqlValue[],
  results: readonly Rows[],
): number => {
  if (source.kind === 'one') return results[source.parent]?.length ?? 0
  if (source.kind !== 'root' && source.kind !== 'many') return 1
  const parents = source.kind === 'many' ? (results[source.parent]?.length ?? 0) : 1
  return source.page === null
    ? Number.POSITIVE_INFINITY
    : parents * (Number(slots[source.page.limit]) + 1)
}

const tooMany = (limits: Limits) =>
  new ApiError(
    'RESPONSE_TOO_LARGE',
    `The answer would hold more than ${limits.objects} objects; use \`limit\` on the lists in it`,
  )

/** How the rows of a plan's levels are fetched, with the values of its slots. */
type Fetch = (slots: readonly SqlValue[]) => Work<Rows[]>

/** A statement a level, each with the keys that the ones before it found. */
const levelByLevel = (plan: ReadPlan, statements: readonly Statement[], limits: Limits): Fetch =>
  function* (slots) {
    const results: Rows[] = []
    let budget = limits.objects + 1
    for (const [index, statement] of statements.entries()) {
      const { bulky, parts } = plan.levels[index] as Level
      const values = valuesOf(statement, slots, results, budget)
      // Nothing above it: nothing below it.
      if (values === undefined) {
        results[index] = []
        continue
      }
      const rows = yield bulky && mostRows(plan.levels[index] as Level, slots, results) > fewRows
        ? { text: statement.text, values, bytes: limits.bytes }
        : { text: statement.text, values }
      results[index] = rows
      if (parts.length > 0) budget -= rows.length
      if (budget <= 0) throw tooMany(limits)
    }
    return results
  }

// A guard of memory only: how long the answer may be is said in characters, and is for stitch to decide.
const bytesPerCharacter = 4

/** The rows of a level from the texts of its columns. */
const rowsOf = ({ columns }: Level, texts: Row, { spread }: Together): Row[] => {
  const lists = columns.map(({ scalar }, index) => {
    const text = texts[index]
    return typeof text === 'string' ? spread(text, scalar) : []
  })
  const rows: SqlValue[][] = []
  for (let at = 0; at < (lists[0]?.length ?? 0); at++) {
    const row: SqlValue[] = []
    for (const list of lists) row.push(list[at] as SqlValue)
    rows.push(row)
  }
  return rows
}

/** All levels in one statement, which is a snapshot by itself. */
const allAtOnce = (
  plan: ReadPlan,
  [statement]: readonly Statement[],
  limits: Limits,
  dialect: Dialect,
  together: Together,
): Fetch => {
  const { text } = statement as Statement
  const { levels } = plan
  const alone = levels.some(scans) ? 'slow' : 'quick'
  const bytes = limits.bytes * bytesPerCharacter
  const forMany = compileForMany(plan, dialect)?.text
  const how = { bytes, alone, ...(forMany !== undefined && { forMany }) } as const
  return function* (slots) {
    const values = valuesOf(statement as Statement, slots, [], limits.objects + 1) as SqlValue[]
    const rows = yield { text, values, ...how }
    const results: Rows[] = levels.length === 1 ? [rows] : []
    if (levels.length > 1)
      for (const [at, ...texts] of rows)
        results[Number(at)] = rowsOf(levels[Number(at)] as Level, texts, together)
    const objects = results.reduce(
      (sum, rows, at) => sum + (levels[at]?.parts.length ? rows.length : 0),
      0,
    )
    if (objects > limits.objects) throw tooMany(limits)
    return results
  }
}

/** Makes a plan ready for a database: compiled, with its stitcher; both are made once. */
export const prepare = (
  plan: ReadPlan,
  dialect: Dialect,
  digits: number,
  limits: Limits,
): Prepared => {
  const statements = compile(plan, dialect)
  const stitch = stitcher(plan, digits, limits)
  const fetch =
    dialect.levels.are === 'apart'
      ? levelByLevel(plan, statements, limits)
      : allAtOnce(plan, statements, limits, dialect, dialect.levels)
  const work = function* (slots: readonly SqlValue[]): Work<readonly Answer[]> {
    const results = yield* fetch(slots)
    const missing = plan.roots.map(root => missingOf(root, slots, results))
    const pages = plan.roots.map(root => pageOf(root, slots, results))
    return stitch(results).map((written, index) => {
      const root = plan.roots[index] as PlannedRoot
      return {
        ...written,
        total: root.total === null ? undefined : Number(results[root.total]?.[0]?.[0] ?? 0),
        last: pages[index]?.last,
        more: pages[index]?.more ?? false,
        revision: revisionOf(root, results),
        missing: missing[index],
      }
    })
  }
  return { plan, statements, work }
}

/** Runs a prepared read in one snapshot, not before `after`; at once where the database answers at once. */
export const read = (
  reader: Reader,
  prepared: Prepared,
  values: readonly SqlValue[],
  after?: Position,
): readonly Answer[] | Promise<readonly Answer[]> =>
  reader.snapshot(() => prepared.work(values), after)

/** The error for a thing that is not there; its message contains "not found". */
export const notFound = (entity: string, id: unknown, place?: ApiError['place']): ApiError =>
  new ApiError('NOT_FOUND', `${typeName(entity)} ${String(id)} not found`, place && { place })
