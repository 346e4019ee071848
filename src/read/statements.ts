/** A plan as statements, and how the rows of its levels are fetched with them: a statement for each level, or one for all of them. */
import { ApiError } from '#errors.ts'
import { columnName } from '#model/names.ts'
import { budget, compileForMany, levelSql, mostPassed, passedSql } from '#read/compile.ts'
import {
  hasRows,
  indexOf,
  keyOf,
  type Level,
  type LinkedLevel,
  levelsOf,
  type ReadField,
  type ReadPlan,
  type Results,
} from '#read/plan.ts'
import { VIEWER } from '#read/selection.ts'
import type { Limits } from '#read/stitch.ts'
import type { Dialect, SingleStatement } from '#sql/dialect.ts'
import type { Query, QueryScript, Rows } from '#sql/engine.ts'
import {
  comma,
  join,
  name,
  number,
  parameter,
  type Sql,
  type SqlValue,
  type Statement,
  sql,
  statement,
} from '#sql/sql.ts'

/** A compiled plan: its statements, and how their rows are fetched, given the values of its parameters. */
export type Fetch = {
  readonly statements: readonly Statement[]
  /** For a plan of one statement: its query, which is a snapshot by itself, and the results from its rows; else null. */
  readonly single: {
    /** `isWhole`: after one whose rows were too few, for which `results` gave nothing. */
    readonly query: (parameters: readonly SqlValue[], isWhole?: boolean) => Query
    readonly results: (rows: Rows, query: Query) => Results | undefined
  } | null
  readonly script: (parameters: readonly SqlValue[]) => QueryScript<Results>
}

type StatementInput = {
  readonly parameters: readonly SqlValue[]
  readonly budget: number
  /** The time of the read, if it looks at it. */
  readonly now: number
  /** The ids that lead to the level, as a list. */
  readonly keys: string | null
}

const valuesOf = (
  statement: Statement,
  { parameters, budget, now, keys }: StatementInput,
): readonly SqlValue[] =>
  statement.parameters.map((parameter): SqlValue => {
    switch (parameter.kind) {
      case 'value':
        return parameter.value
      case 'slot':
        return parameters[parameter.slot] as SqlValue
      case 'keys':
        return keys
      case 'budget':
        return budget
      case 'now':
        return now
      case 'capped':
        return Math.min(Number(parameters[parameter.slot]), budget)
      case 'given':
      case 'result':
        throw new Error('a read has no steps')
      default:
        return parameter satisfies never
    }
  })

const areTimed = (statements: readonly Statement[]): boolean =>
  statements.some(({ parameters }) => parameters.some(({ kind }) => kind === 'now'))

const tooMany = (limits: Limits) =>
  new ApiError(
    'RESPONSE_TOO_LARGE',
    `The answer would hold more than ${limits.objects} objects; use \`limit\` on the lists in it`,
  )

const keysParameter = parameter({ kind: 'keys' })

// A bare parameter as the limit would make SQLite plan the statement anew in each run: up to half of its time.
const rowLimit = sql`${budget} + 0`

/** Up to this many rows are fetched at once; above that their bytes are counted, which costs each row a little. */
const fewRows = 500
const fewLongRows = 25

/** What is read at once is all written as JSON before anybody else is served; this many characters take a few milliseconds. */
const mostAtOnce = 1_048_576

/** All levels of a read together may hold this many characters without being counted, which costs a quarter of a nested read. */
const mostUncounted = 3 * mostAtOnce

/** The most characters of long texts in the rows of a level, by its page and the number of rows above it. */
const mostText = (level: Level, parameters: readonly SqlValue[], parents: number): number => {
  if (!('longText' in level) || level.longText === 0 || level.kind === 'counts of') return 0
  if (level.kind === 'by ids') return parents * level.longText
  if (level.page === null) return Number.POSITIVE_INFINITY
  return Math.max(parents, 1) * (Number(parameters[level.page.limit]) + 1) * level.longText
}

/** The input of a level's query; `text` is the most that its rows may hold, `uncounted` how much its read may still hold uncounted. */
type LevelInput = StatementInput & { readonly text: number; readonly uncounted: number }

/**
 * A statement for each level, for a database to which a call costs next to nothing; each takes the ids that the level above found.
 * `isAtOnce`: others are served only after it, so long texts are read with `TooLong`, and so are lists that may pass many rows
 * and leave them out, if `stopping` has a check for each row.
 */
export const perLevel = (
  plan: ReadPlan,
  dialect: Dialect,
  limits: Limits & { readonly isAtOnce?: boolean; readonly stopping?: Dialect },
): Fetch => {
  const { placeholder } = dialect
  const steps = levelsOf(plan).map(linked => {
    const { level, above } = linked
    // A list below a row may pass any number that its conditions leave out.
    const isStopping =
      level.kind === 'root'
        ? level.foundBy !== undefined || level.groups?.areFew === true
        : level.kind === 'children of' && level.where.length > 0
    const own = isStopping ? (limits.stopping ?? dialect) : dialect
    const query = levelSql(level, own, keysParameter, rowLimit)
    const isLong = hasRows(level) && level.longText > 0
    const columns = isLong ? level.fields.map(({ name }) => columnName(name)) : []
    return {
      ...linked,
      hasRows: hasRows(level),
      // The column of the level above with the ids that lead to this one; null for a root.
      key: above && indexOf(above, keyOf(level)),
      statement: statement(query, placeholder),
      // Its columnar text, if its rows may hold long texts.
      columnar:
        isLong && dialect.columnar
          ? statement(dialect.columnar(query, columns), placeholder).text
          : undefined,
    }
  })

  const isTimed = areTimed(steps.map(({ statement }) => statement))
  const queryOf = (
    { level, statement, columnar }: (typeof steps)[number],
    input: LevelInput,
  ): Query => {
    const query = { text: statement.text, values: valuesOf(statement, input) }
    const { text, uncounted } = input
    if (text === 0 || !('longText' in level)) return query
    const isLong = limits.isAtOnce === true && text > uncounted
    const isCounted = text / level.longText > (isLong ? fewLongRows : fewRows)
    return {
      ...query,
      ...(isLong && { characters: mostAtOnce }),
      ...(isCounted && { bytes: limits.bytes }),
      ...(isCounted && columnar !== undefined && { columnar }),
    }
  }

  const script: Fetch['script'] = function* (parameters) {
    const results: Results = new Map()
    let budget = limits.objects + 1
    let uncounted = mostUncounted
    const now = isTimed ? Date.now() : 0
    for (const step of steps) {
      const { level, above, key, hasRows } = step
      const parents = (above && results.get(above)) ?? []
      let keys: string | null = null
      if (key !== null) {
        const ids = new Set<SqlValue>()
        for (const row of parents) if (row[key] !== null) ids.add(row[key] as SqlValue)
        keys = `[${[...ids].join()}]`
      }
      const text = mostText(level, parameters, parents.length)
      // Without rows above there are none below.
      const rows =
        keys === '[]' ? [] : yield queryOf(step, { parameters, budget, now, keys, text, uncounted })
      results.set(level, rows)
      if (text <= uncounted) uncounted -= text
      if (hasRows) budget -= rows.length
      if (budget <= 0) throw tooMany(limits)
    }
    return results
  }

  const [only, ...others] = steps
  const single: Fetch['single'] =
    only && others.length === 0
      ? {
          query: parameters =>
            queryOf(only, {
              parameters,
              budget: limits.objects + 1,
              now: isTimed ? Date.now() : 0,
              keys: null,
              text: mostText(only.level, parameters, 0),
              uncounted: mostUncounted,
            }),
          results: rows => {
            if (rows.length > limits.objects) throw tooMany(limits)
            return new Map([[only.level, rows]])
          },
        }
      : null
  return { statements: steps.map(({ statement }) => statement), single, script }
}

// This limit only protects memory: the limit of the answer is in characters, and stitch enforces it.
const bytesPerCharacter = 4

/** The name of a level's rows. It has a capital letter, as no table has: a later level may be of any table. */
const cte = (index: number): Sql => name(`L${index}`)

const numberField: ReadField = { name: 'n', scalar: 'int', nullable: false }

/** The fields that a level's query gives; a count or a check gives one number. */
const columnsOf = (level: Level): readonly ReadField[] =>
  hasRows(level) ? level.fields : [numberField]

/**
 * One statement with a CTE for each level. It gives a row for each level: its number, and each column as one text. `isBounded`:
 * lists that pass rows look at their first rows; for each there is one row more, with how many it passed if they were too few.
 */
const statementOf = (
  { roots }: ReadPlan,
  levels: readonly LinkedLevel[],
  dialect: Dialect,
  { aggregate }: SingleStatement,
  isBounded: boolean,
): Statement => {
  const queries = levels.map(({ level, above }, index) => {
    const at = levels.findIndex(({ level }) => level === above)
    const keys = above ? sql`select ${name(columnName(keyOf(level)))} from ${cte(at)}` : sql``
    // The rest of the budget after the levels before this one; with one root each level is bounded by the one above it.
    const counts = levels
      .slice(0, index)
      .flatMap(({ level }, at) => (hasRows(level) ? [sql`(select count(*) from ${cte(at)})`] : []))
    const rest =
      roots.length === 1 || counts.length === 0
        ? budget
        : sql`greatest(${budget} - ${join(counts, sql` - `)}, 0)`
    return levelSql(level, dialect, keys, rest, isBounded)
  })
  const [only, ...others] = queries
  if (only && others.length === 0 && !isBounded) return statement(only, dialect.placeholder)
  const width = Math.max(...levels.map(({ level }) => columnsOf(level).length))
  const ctes = levels.map(({ level }, index) => {
    const labels = columnsOf(level).map(field => name(columnName(field.name)))
    return sql`${cte(index)} (${join(labels, comma)}) as (${queries[index] as Sql})`
  })
  const selects = levels.map(({ level }, index) => {
    const own = columnsOf(level).map(field => aggregate(name(columnName(field.name)), field.scalar))
    const padding = Array.from({ length: width - own.length }, () => sql`null`)
    return sql`select ${number(index)}, ${join([...own, ...padding], comma)} from ${cte(index)}`
  })
  if (isBounded)
    for (const [index, { level }] of levels.entries()) {
      if (level.kind !== 'root' || level.foundBy === undefined) continue
      const passed = sql`(${passedSql(level, dialect, cte(index))})::text`
      const padding = Array.from({ length: width - 1 }, () => sql`null`)
      selects.push(sql`select ${number(-1)}, ${join([passed, ...padding], comma)}`)
    }
  return statement(
    sql`with ${join(ctes, comma)} ${join(selects, sql` union all `)}`,
    dialect.placeholder,
  )
}

/** One statement for all levels, which is a snapshot by itself, for a database behind a network. */
export const inSingleStatement = (
  plan: ReadPlan,
  dialect: Dialect,
  singleStatement: SingleStatement,
  limits: Limits,
  isQuick: (parameters: readonly SqlValue[]) => boolean,
): Fetch => {
  const levels = levelsOf(plan)
  const whole = statementOf(plan, levels, dialect, singleStatement, false)
  // Lists that may look at their first rows alone.
  const bounded = levels.some(
    ({ level }) => level.kind === 'root' && level.foundBy !== undefined && level.page !== null,
  )
    ? statementOf(plan, levels, dialect, singleStatement, true)
    : undefined
  const forMany = compileForMany(plan, dialect)
  const isPaired = forMany?.parameters.length === 2
  const how = {
    text: whole.text,
    bytes: limits.bytes * bytesPerCharacter,
    ...(forMany !== undefined && { forMany: forMany.text }),
  }
  const budget = limits.objects + 1
  const isTimed = areTimed([whole])
  const query = (parameters: readonly SqlValue[], isWhole = false): Query => {
    const isAllowed = !isWhole && isQuick(parameters)
    const used = isAllowed && bounded ? bounded : whole
    return {
      ...how,
      text: used.text,
      isQuick: isAllowed,
      ...(isPaired && { viewer: parameters[VIEWER] ?? null }),
      values: valuesOf(used, { parameters, budget, now: isTimed ? Date.now() : 0, keys: null }),
    }
  }
  const results = (rows: Rows, { text }: Query): Results | undefined => {
    const found: Results = new Map()
    const [first] = levels
    if (first && levels.length === 1 && text === whole.text) found.set(first.level, rows)
    else
      for (const [at, ...texts] of rows) {
        const level = levels[Number(at)]?.level
        if (!level) {
          // There may be more behind the rows that it passed.
          if (Number(texts[0]) >= mostPassed) return undefined
          continue
        }
        const columns = columnsOf(level).map(({ scalar }, index) => {
          const text = texts[index]
          return typeof text === 'string' ? singleStatement.parse(text, scalar) : []
        })
        const parsed: (string | null)[][] = []
        for (let row = 0; row < (columns[0]?.length ?? 0); row++)
          parsed.push(columns.map(column => column[row] ?? null))
        found.set(level, parsed)
      }
    let objects = 0
    for (const [level, rows] of found) if (hasRows(level)) objects += rows.length
    if (objects > limits.objects) throw tooMany(limits)
    return found
  }
  const script: Fetch['script'] = function* (parameters) {
    const statement = query(parameters, true)
    return results(yield statement, statement) ?? new Map()
  }
  const statements = bounded ? [bounded, whole] : [whole]
  return { statements, single: { query, results }, script }
}
