/** Predicates as SQL: of the rows that a query gives, of one row that a write is about, and of a row that does not exist yet. */
import { isOfViewer, type Operand, type Predicate, type ViewersTable } from '#model/condition.ts'
import { columnName } from '#model/names.ts'
import { VIEWER } from '#read/selection.ts'
import type { Dialect } from '#sql/dialect.ts'
import {
  column,
  comma,
  join,
  literal,
  moment,
  name,
  number,
  parameter,
  type Sql,
  slot,
  sql,
} from '#sql/sql.ts'

/** The SQL of a field in a predicate. */
export type ColumnOf = (field: string) => Sql

const bare: ColumnOf = field => name(columnName(field))

/** The fields of a table or an alias. */
export const columnsOf =
  (table: string): ColumnOf =>
  field =>
    column(table, columnName(field))

/** The rows that a predicate is about. */
export type PredicateRows = {
  readonly dialect: Dialect
  readonly columnOf: ColumnOf
  /**
   * How other rows are found: `by key` the viewer's are looked up first, in the index of the viewer's key, so that a list of theirs
   * needs no scan; `by row` each is looked up from its row, which costs the same however many the viewer has; `locked` does so too,
   * and keeps them as they are until the end of the transaction.
   */
  readonly others: 'by key' | 'by row' | 'locked'
  /** Tables whose rows keep counts of others. */
  readonly counting?: ReadonlySet<string>
  /** The table whose rows have the alias `t`, so that its indexes of trigrams may be used. */
  readonly indexed?: string | undefined
  /** Whether values come from callers, so that the text of a statement must not have them. */
  readonly isBound?: boolean
  /** A check for each of the other rows that is passed, which ends the statement where it has taken too long. */
  readonly check?: Sql | null
  /** How many queries this one is within, for their aliases: two of them may be of one table. */
  readonly hop?: number
  /** Whether rows may be found without it: it is one of several to choose from, or what is not to hold. */
  readonly isChoice?: boolean
}

const signs = { eq: sql`=`, lt: sql`<`, lte: sql`<=`, gt: sql`>`, gte: sql`>=` }

/** The id of the viewer: in its slot, or that of the row with the subject that is there, null if there is none. */
const viewerSql = ({ from }: { readonly from?: ViewersTable | undefined }): Sql =>
  from
    ? sql`(select "id" from ${name(from.table)} where ${bare(from.by)} = ${slot(VIEWER)})`
    : slot(VIEWER)

/** The SQL of an operand; whole numbers and words stand in the text, unless they come from callers. */
const operandSql = (operand: Operand, isBound = false): Sql => {
  switch (operand.kind) {
    case 'value':
      if (isBound) return sql`${operand.value}`
      if (typeof operand.value === 'string') return literal(operand.value) ?? sql`${operand.value}`
      return Number.isSafeInteger(operand.value)
        ? number(Number(operand.value))
        : sql`${operand.value}`
    case 'slot':
      return slot(operand.slot)
    case 'viewer':
      return viewerSql(operand)
    case 'now':
      return moment
    case 'result':
      return parameter(operand)
    default:
      return operand satisfies never
  }
}

/** Whether it is one comparison, of the row itself or at the end of a path of relations to one row. */
const isPath = (predicate: Predicate): boolean =>
  predicate.kind === 'across'
    ? predicate.rows === 'one' && isPath(predicate.where)
    : predicate.kind === 'compare' &&
      !(predicate.to.kind === 'value' && predicate.to.value === null)

const compareSql = (
  left: Sql,
  { field, is, to }: Predicate & { kind: 'compare' },
  { dialect, indexed, isBound }: PredicateRows,
): Sql => {
  if (is === 'eq' && to.kind === 'value' && to.value === null) return sql`${left} is null`
  const right = operandSql(to, isBound)
  switch (is) {
    case 'contains':
      return indexed === undefined
        ? dialect.holds(left, right)
        : dialect.contains(indexed, columnName(field), right)
    case 'contains short':
      return dialect.holds(left, right)
    case 'has':
    case 'has number':
      return dialect.has(left, right, is === 'has')
    case 'startsWith':
      return sql`substr(${left}, 1, length(${right})) = ${right}`
    default:
      return sql`${left} ${signs[is]} ${right}`
  }
}

/** A path's comparison, with the field at its end as a query: the look-up stays one that the planner cannot turn around. */
const pathSql = (
  predicate: Predicate,
  rows: PredicateRows,
  around: (left: Sql) => Sql = left => left,
): Sql => {
  const { columnOf, hop = 1 } = rows
  if (predicate.kind === 'compare')
    return compareSql(around(columnOf(predicate.field)), predicate, { ...rows, indexed: undefined })
  if (predicate.kind !== 'across') throw new Error('not a path')
  const { table, by, where } = predicate
  const to = `t${hop}`
  const inner = { ...rows, columnOf: columnsOf(to), hop: hop + 1 }
  return pathSql(where, inner, left =>
    around(sql`(select ${left} from ${name(table)} as ${name(to)}
    where ${column(to, 'id')} = ${columnOf(by)})`),
  )
}

const checked = (condition: Sql, { check }: PredicateRows): Sql =>
  check ? sql`${check} and ${condition}` : condition

/** What holds a row that is looked at. One that counts others is held against their writers from the start: two that shared it would wait for each other. */
export const holdingClause = (table: string, rows: Pick<PredicateRows, 'dialect' | 'counting'>) =>
  sql`${rows.dialect.shareClause}${rows.counting?.has(table) ? rows.dialect.lockClause : sql``}`

const acrossSql = (predicate: Predicate & { kind: 'across' }, rows: PredicateRows): Sql => {
  const { rows: which, table, by, where, found } = predicate
  const { dialect, columnOf, others, hop = 1 } = rows
  const other = { ...rows, indexed: undefined, isChoice: false, hop: hop + 1 }
  const isOne = which === 'one'
  const isViewers = isOfViewer(where)
  if (others === 'by key' && which !== 'none' && (found || isViewers)) {
    const to = `t${hop}`
    const [from, inner] = isPath(where)
      ? [name(table), bare]
      : [sql`${name(table)} as ${name(to)}`, columnsOf(to)]
    const key = isOne ? inner('id') : inner(by)
    const left = columnOf(isOne ? by : 'id')
    const query = sql`select ${key} from ${from}
    where ${checked(predicateSql(where, { ...other, columnOf: inner }), rows)}`
    // The index of the reference then gives the rows in their order.
    if (isOne && found === 'one') return sql`${left} = (${query})`
    // PostgreSQL knows how many rows a comparison finds, so it may choose to join; it does not know it of a list or of a choice.
    const hasList = (where.kind === 'and' ? where.of : [where]).some(({ kind }) => kind === 'among')
    const mayJoin = isViewers || !(hasList || rows.isChoice)
    return mayJoin ? sql`${left} in (${query})` : dialect.among(left, query)
  }
  if (others !== 'locked' && isPath(predicate)) return pathSql(predicate, rows)
  const to = `t${hop}`
  const link = isOne
    ? sql`${column(to, 'id')} = ${columnOf(by)}`
    : sql`${column(to, columnName(by))} = ${columnOf('id')}`
  const inner = { ...other, columnOf: columnsOf(to) }
  const fits = checked(predicateSql(where, inner), rows)
  const lock = others === 'locked' ? holdingClause(table, rows) : sql``
  // The one row is kept as it is also where it does not fit, since that may be what lets a write through.
  if (isOne && others === 'locked')
    return sql`exists (select 1 from (select * from ${name(table)} as ${name(to)} where ${link}${lock}) as ${name(to)}
    where ${fits})`
  const exists = sql`exists (select 1 from ${name(table)} as ${name(to)}
    where ${link} and ${fits}${lock})`
  return which === 'none' ? sql`not ${exists}` : exists
}

/** The condition that a predicate is of some rows. It is true where the predicate holds, and false or null where it does not. */
export const predicateSql = (predicate: Predicate, rows: PredicateRows): Sql => {
  switch (predicate.kind) {
    case 'and':
    case 'or': {
      const { kind, of } = predicate
      const within = kind === 'or' ? { ...rows, isChoice: true } : rows
      const parts = of.map(part => predicateSql(part, within))
      if (parts.length === 0) return kind === 'and' ? sql`true` : sql`false`
      return sql`(${join(parts, kind === 'and' ? sql` and ` : sql` or `)})`
    }
    case 'not':
      return sql`(${predicateSql(predicate.of, { ...rows, isChoice: true })}) is not true`
    case 'compare':
      return compareSql(rows.columnOf(predicate.field), predicate, rows)
    case 'among': {
      const { field, values, list } = predicate
      if (values.length === 0) return sql`false`
      const all = values.map(value => operandSql(value, rows.isBound))
      if (list)
        return rows.dialect.among(
          rows.columnOf(field),
          rows.dialect.valuesIn(join(all, comma), list),
        )
      return sql`${rows.columnOf(field)} in (${join(all, comma)})`
    }
    case 'across':
      return acrossSql(predicate, rows)
    case 'finds': {
      const { index, to } = predicate
      return rows.dialect.finds(index, rows.columnOf('id'), operandSql(to, rows.isBound))
    }
    case 'has viewer':
      return predicate.from
        ? sql`${viewerSql(predicate)} is not null`
        : sql`${rows.dialect.typed(slot(VIEWER), 'id')} is not null`
    default:
      return predicate satisfies never
  }
}

/** What rows count for in an order by relevance: the words that they were found by, and the fields that have words, the weightiest first. */
export type Relevance = {
  readonly to: Operand
  readonly weights: readonly { readonly field: string; readonly weight: number }[]
}

/** The number that a row counts for: for each word the weight of the best field that has it. */
export const relevanceSql = (
  { to, weights }: Relevance,
  columnOf: ColumnOf,
  dialect: Dialect,
): Sql => {
  const cases = weights.map(({ field, weight }) => {
    const has = dialect.holds(sql`' ' || ${columnOf(field)} || ' '`, sql`word`)
    return sql` when ${has} then ${number(weight)}`
  })
  return sql`(select sum(case${join(cases, sql``)} else 0 end) from ${dialect.eachWord(operandSql(to))} as "w")`
}
