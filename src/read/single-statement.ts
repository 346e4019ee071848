/** Reads a plan with one statement for all levels, which is a snapshot by itself, where a call goes over the network. */
import { columnName } from '#model/names.ts'
import { budget, compileForMany, levelSql } from '#read/compile.ts'
import { type Fetch, tooMany, valuesOf } from '#read/fetch.ts'
import type { Lane } from '#read/lane.ts'
import {
  hasRows,
  keyOf,
  type Level,
  type Linked,
  levelsOf,
  type ReadField,
  type ReadPlan,
  type Results,
} from '#read/level.ts'
import type { Limits } from '#read/stitch.ts'
import type { Dialect, SingleStatement } from '#sql/dialect.ts'
import type { Query, Row, Rows } from '#sql/engine.ts'
import {
  comma,
  join,
  name,
  number,
  type Sql,
  type SqlValue,
  type Statement,
  sql,
  statement,
} from '#sql/sql.ts'

// This limit only protects memory: the limit of the answer is in characters, and stitch enforces it.
const bytesPerCharacter = 4

/** The name of a level's rows. It has a capital letter, as no table has: a later level may be of any table. */
const cte = (index: number): Sql => name(`L${index}`)

const result: ReadField = { name: 'n', scalar: 'int', nullable: false }

/** The fields that a level's query gives; a count or a check gives one number. */
const fieldsOf = (level: Level): readonly ReadField[] => (hasRows(level) ? level.fields : [result])

/** The rest of the budget after the levels before this one; with one root each level is bounded by the one above it. */
const budgetAt = (levels: readonly Linked[], index: number, isOneTree: boolean): Sql => {
  const counts = levels
    .slice(0, index)
    .flatMap(({ level }, at) => (hasRows(level) ? [sql`(select count(*) from ${cte(at)})`] : []))
  if (isOneTree || counts.length === 0) return budget
  return sql`greatest(${budget} - ${join(counts, sql` - `)}, 0)`
}

/** The ids that lead to a level, as a query on the level above. */
const keysSql = (levels: readonly Linked[], linked: Linked): Sql => {
  const { level, above } = linked
  if (above === null) return sql``
  const at = levels.findIndex(({ level }) => level === above)
  return sql`select ${name(columnName(keyOf(level)))} from ${cte(at)}`
}

/** One statement with a CTE for each level. It gives a row for each level: its number, and each column as one text. */
const compile = (plan: ReadPlan, dialect: Dialect, { aggregate }: SingleStatement): Statement => {
  const levels = levelsOf(plan)
  const [only, ...others] = levels
  const isOneTree = plan.roots.length === 1
  const queryOf = (linked: Linked, index: number) =>
    levelSql(linked.level, dialect, keysSql(levels, linked), budgetAt(levels, index, isOneTree))
  if (only && others.length === 0) return statement(queryOf(only, 0), dialect.placeholder)
  const width = Math.max(...levels.map(({ level }) => fieldsOf(level).length))
  const ctes = levels.map((linked, index) => {
    const labels = fieldsOf(linked.level).map(field => name(columnName(field.name)))
    return sql`${cte(index)} (${join(labels, comma)}) as (${queryOf(linked, index)})`
  })
  const selects = levels.map(({ level }, index) => {
    const own = fieldsOf(level).map(field => aggregate(name(columnName(field.name)), field.scalar))
    const padding = Array.from({ length: width - own.length }, () => sql`null`)
    return sql`select ${number(index)}, ${join([...own, ...padding], comma)} from ${cte(index)}`
  })
  return statement(
    sql`with ${join(ctes, comma)} ${join(selects, sql` union all `)}`,
    dialect.placeholder,
  )
}

/** The rows of a level from the texts of its columns. */
const rowsOf = (level: Level, texts: Row, { parse }: SingleStatement): Rows => {
  const columns = fieldsOf(level).map(({ scalar }, index) => {
    const text = texts[index]
    return typeof text === 'string' ? parse(text, scalar) : []
  })
  const rows: (string | null)[][] = []
  for (let at = 0; at < (columns[0]?.length ?? 0); at++) {
    const row: (string | null)[] = []
    for (const column of columns) row.push(column[at] ?? null)
    rows.push(row)
  }
  return rows
}

/** The rows of all levels, from the rows of the statement. */
const resultsOf = (
  levels: readonly Linked[],
  rows: Rows,
  singleStatement: SingleStatement,
): Results => {
  const [first] = levels
  if (first && levels.length === 1) return new Map([[first.level, rows]])
  const results: Results = new Map()
  for (const [at, ...texts] of rows) {
    const level = levels[Number(at)]?.level
    if (level) results.set(level, rowsOf(level, texts, singleStatement))
  }
  return results
}

const objectsIn = (results: Results): number => {
  let objects = 0
  for (const [level, rows] of results) if (hasRows(level)) objects += rows.length
  return objects
}

/** Compiles a plan to one statement for all its levels. */
export const inSingleStatement = (
  plan: ReadPlan,
  dialect: Dialect,
  singleStatement: SingleStatement,
  limits: Limits,
  lane: (slots: readonly SqlValue[]) => Lane,
): Fetch => {
  const whole = compile(plan, dialect, singleStatement)
  const levels = levelsOf(plan)
  const forMany = compileForMany(plan, dialect)?.text
  const how = {
    text: whole.text,
    bytes: limits.bytes * bytesPerCharacter,
    ...(forMany !== undefined && { forMany }),
  }
  const budget = limits.objects + 1
  const query = (slots: readonly SqlValue[]): Query => ({
    ...how,
    isQuick: lane(slots) === 'quick',
    values: valuesOf(whole, { slots, budget, keys: null }),
  })
  const results = (rows: Rows): Results => {
    const found = resultsOf(levels, rows, singleStatement)
    if (objectsIn(found) > limits.objects) throw tooMany(limits)
    return found
  }
  const work: Fetch['work'] = function* (slots) {
    return results(yield query(slots))
  }
  return { statements: [whole], single: { query, results }, work }
}
