/** Reads a plan with a statement for each level, where a call costs next to nothing. */
import { columnName } from '#model/names.ts'
import { budget, levelSql } from '#read/compile.ts'
import { type Fetch, type Run, tooMany, valuesOf } from '#read/fetch.ts'
import {
  hasRows,
  indexOf,
  keyOf,
  type Level,
  type Linked,
  levelsOf,
  type ReadPlan,
  type Results,
  type RowLevel,
} from '#read/level.ts'
import type { Limits } from '#read/stitch.ts'
import type { Dialect } from '#sql/dialect.ts'
import type { Query, Rows } from '#sql/engine.ts'
import { parameter, type Sql, type SqlValue, type Statement, sql, statement } from '#sql/sql.ts'

const keys = parameter({ kind: 'keys' })

// A bare parameter as the limit would make SQLite plan the statement anew in each run: up to half of its time.
const most = sql`${budget} + 0`

// Up to so many rows are fetched at once; above that their bytes are counted, which costs each row a little.
const fewRows = 500
const fewLongRows = 25

/** The distinct values of one column as a JSON list. */
const listOf = (rows: Rows, column: number): string => {
  const ids = new Set<SqlValue>()
  for (const row of rows) if (row[column] !== null) ids.add(row[column] as SqlValue)
  return `[${[...ids].join()}]`
}

/** The most rows that a level can have, by its page and the rows above it. */
const mostRows = (level: RowLevel, slots: readonly SqlValue[], parents: number): number => {
  if (level.kind === 'by ids') return parents
  return level.page === null
    ? Number.POSITIVE_INFINITY
    : Math.max(parents, 1) * (Number(slots[level.page.limit]) + 1)
}

/** What is read at once is all written as JSON before anybody else is served; so many characters take a few milliseconds. */
const mostAtOnce = 1_048_576

/** So many characters may all levels of a read hold together without being counted, which costs a quarter of a nested read. */
const mostUncounted = 3 * mostAtOnce

/** The most characters of long texts in the rows of a level. */
const mostText = (level: Level, slots: readonly SqlValue[], parents: number): number =>
  hasRows(level) && level.longText > 0 ? mostRows(level, slots, parents) * level.longText : 0

/** A run of a read, and how many characters its levels may still hold without being counted. */
type Counted = Run & { readonly uncounted: number }

/** How much text the rows of a level may hold, of which there is so much at the most. */
const boundsOf = (
  level: Level,
  text: number,
  { uncounted }: Counted,
  { bytes, isAtOnce }: ReadLimits,
): Pick<Query, 'bytes' | 'characters'> => {
  if (!hasRows(level) || text === 0) return {}
  const rows = text / level.longText
  const isLong = isAtOnce && text > uncounted
  return {
    ...(isLong && { characters: mostAtOnce }),
    ...(rows > (isLong ? fewLongRows : fewRows) && { bytes }),
  }
}

/** `isAtOnce`: others are served only after it, so long texts are read with `TooLong`. */
type ReadLimits = Limits & { readonly isAtOnce?: boolean }

type Step = Linked & {
  /** The column of the level above with the ids that lead to this one; null for a root. */
  readonly key: number | null
  readonly statement: Statement
  /** Its columnar text, where its rows may hold long texts. */
  readonly columnar: string | undefined
}

const columnarText = (
  level: Level,
  query: Sql,
  { columnar, placeholder }: Dialect,
): string | undefined => {
  if (!columnar || !hasRows(level) || level.longText === 0) return undefined
  const columns = level.fields.map(({ name }) => columnName(name))
  return statement(columnar(query, columns), placeholder).text
}

const stepOf = (linked: Linked, dialect: Dialect): Step => {
  const query = levelSql(linked.level, dialect, keys, most)
  return {
    ...linked,
    key: linked.above && indexOf(linked.above, keyOf(linked.level)),
    statement: statement(query, dialect.placeholder),
    columnar: columnarText(linked.level, query, dialect),
  }
}

/** Compiles a plan to a statement for each level; each takes the ids that the level above found. */
export const perLevel = (plan: ReadPlan, dialect: Dialect, limits: ReadLimits): Fetch => {
  const steps = levelsOf(plan).map(linked => stepOf(linked, dialect))
  const queryOf = ({ level, statement, columnar }: Step, run: Counted, text: number): Query => {
    const query = { text: statement.text, values: valuesOf(statement, run) }
    const bounds = boundsOf(level, text, run, limits)
    const isCounted = bounds.bytes !== undefined && columnar !== undefined
    return isCounted ? { ...query, ...bounds, columnar } : { ...query, ...bounds }
  }
  const work: Fetch['work'] = function* (slots) {
    const results: Results = new Map()
    let budget = limits.objects + 1
    let uncounted = mostUncounted
    for (const step of steps) {
      const { level, above, key } = step
      const parents = (above && results.get(above)) ?? []
      const keys = key === null ? null : listOf(parents, key)
      // Without rows above there are none below.
      const run = { slots, budget, keys, uncounted }
      const text = mostText(level, slots, parents.length)
      const rows = keys === '[]' ? [] : yield queryOf(step, run, text)
      results.set(level, rows)
      if (text <= uncounted) uncounted -= text
      if (hasRows(level)) budget -= rows.length
      if (budget <= 0) throw tooMany(limits)
    }
    return results
  }
  const [only, ...others] = steps
  const single: Fetch['single'] =
    only && others.length === 0
      ? {
          query: slots => {
            const run = { slots, budget: limits.objects + 1, keys: null, uncounted: mostUncounted }
            return queryOf(only, run, mostText(only.level, slots, 0))
          },
          results: rows => {
            if (rows.length > limits.objects) throw tooMany(limits)
            return new Map([[only.level, rows]])
          },
        }
      : null
  return { statements: steps.map(({ statement }) => statement), single, work }
}
