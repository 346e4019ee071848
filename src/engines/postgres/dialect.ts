/** PostgreSQL's text where databases differ. */
import type { Scalar } from '#model/values.ts'
import { afterYears, type Dialect } from '#sql/dialect.ts'
import { column, comma, join, name, type Sql, sql, trusted } from '#sql/sql.ts'

// A list of keys, not a join: the planner then looks each key up in the index, whatever it guesses about their number.
const keyed = (keys: Sql): Sql => sql`any (array(${keys}))`

const columnType = {
  id: 'bigint',
  text: 'text',
  int: 'bigint',
  money: 'bigint',
  decimal: 'bigint',
  date: 'text',
  time: 'bigint',
  flag: 'smallint',
  json: 'text',
  list: 'text',
  file: 'text',
  bytes: 'bytea',
} satisfies Record<Scalar, string>

/** The pattern of a `like` that finds the needle anywhere, its wildcards escaped, whatever the server's `standard_conforming_strings`. */
const anywhere = (needle: Sql): Sql =>
  sql`'%' || replace(replace(replace(${needle}, E'\\\\', E'\\\\\\\\'), '%', E'\\\\%'), '_', E'\\\\_') || '%'`

/**
 * The words in some columns as PostgreSQL indexes them. Its own parsers would split them at signs, and by languages; these were cut, so
 * they stay as they are.
 */
export const wordsVector = (columns: readonly Sql[]): Sql => {
  const filled = columns.map(column => sql`coalesce(${column}, '')`)
  return sql`array_to_tsvector(array_remove(string_to_array(${join(filled, sql` || ' ' || `)}, ' '), ''))`
}

/** A node of a plan, as `explain` writes it. */
type PlanNode = {
  readonly 'Node Type': string
  readonly 'Index Name'?: string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly PlanNode[]
}

const usesIn = (node: PlanNode): readonly string[] => {
  const { 'Index Name': index, 'Relation Name': table, Plans: below = [] } = node
  const own = node['Node Type'] === 'Seq Scan' ? `scan of ${table}` : index
  return [...(own === undefined ? [] : [own]), ...below.flatMap(usesIn)]
}

const dateForms = { day: "'YYYY-MM-DD'", month: "'YYYY-MM'", year: "'YYYY'" }

export const dialect: Dialect = {
  name: 'postgres',
  placeholder: n => `$${n}`,
  columnType,
  columnsOf: table => sql`select attname from pg_attribute
    where attrelid = to_regclass(${table}) and attnum > 0 and not attisdropped`,
  columnar: null,
  singleStatement: {
    // One long text for each column: sending a tree row by row costs more than finding the rows.
    aggregate: (column, scalar) =>
      columnType[scalar] === 'text'
        ? sql`json_agg(${column})::text`
        : sql`array_agg(${column})::text`,
    parse: (text, scalar) =>
      columnType[scalar] === 'text'
        ? JSON.parse(text)
        : // In the text of an array null is the word NULL, which no number is.
          text
            .slice(1, -1)
            .split(',')
            .map(value => (value === 'NULL' ? null : value)),
    isIn: (column, list) => sql`${column} = any (${list})`,
    pairs: (ids, viewers, bySubject) =>
      sql`unnest(${ids}::bigint[], ${viewers}::${trusted(columnType[bySubject ? 'text' : 'id'])}[]) with ordinality`,
  },
  byIds: ({ table, columns, keys, where, budget }) =>
    sql`select ${columns} from ${table} as "t" where "t"."id" = ${keyed(keys)} and ${where} limit ${budget}`,
  childrenOf: ({ table, columns, by, keys, where, page, budget, order }) => {
    if (page === null)
      return sql`select ${columns} from ${table} as "t" where ${by} = ${keyed(keys)} and ${where} limit ${budget}`
    // One index scan for each parent, so that a parent with a million rows costs only its page.
    const { limit, offset } = page
    const rows = sql`select ${columns} from ${table} as "t" where ${by} = "k"."id" and ${where}
    order by ${order ?? trusted('"t"."id" desc')} limit ${limit}`
    const paged = offset ? sql`${rows} offset ${offset}` : rows
    return sql`select "t".* from (${keys}) as "k" ("id") cross join lateral (${paged}) as "t" limit ${budget}`
  },
  plans: {
    explain: 'explain (format json)',
    usesOf: ([row]) => usesIn(JSON.parse(String(row?.[0]))[0].Plan),
  },
  // The server's own statement_timeout.
  interruptCheck: null,
  contains: (_table, folded, needle) => sql`${column('t', folded)} like ${anywhere(needle)}`,
  // A list of ids of their own: with a limit the planner, which knows nothing of the words, would look at row after row in their order.
  finds: ({ table, columns }, id, words) =>
    sql`${id} = ${keyed(sql`select "id" from ${name(table)}
    where ${wordsVector(columns.map(name))} @@ ('''' || replace(${words}, ' ', ''' & ''') || ''':*')::tsquery`)}`,
  eachWord: words =>
    sql`(select word from unnest(string_to_array(' ' || replace(${words}, ' ', E' \n ') , E'\n')) as w (word))`,
  has: (list, item, isText) =>
    sql`${list}::jsonb @> to_jsonb(${item}${trusted(isText ? '::text' : '::bigint')})`,
  holds: (text, needle) => sql`strpos(${text}, ${needle}) > 0`,
  // PostgreSQL's default is null after every value ascending, before it descending.
  ordered: (by, nullable, descending, nullLast) => {
    const value = descending ? sql`${by} desc` : by
    if (!nullable || nullLast !== descending) return value
    return sql`${value}${trusted(nullLast ? ' nulls last' : ' nulls first')}`
  },
  among: (column, query) => sql`${column} = ${keyed(query)}`,
  valuesIn: (list, scalar = 'id') =>
    sql`select value::${trusted(columnType[scalar])} from json_array_elements_text(${list}::json)`,
  eachOf: (lists, table, columns) => {
    const each = lists.map(list => sql`json_array_elements_text(${list}::json)`)
    return sql`rows from (${join(each, comma)}) with ordinality
      as ${name(table)} (${join([...columns, 'its place'].map(name), comma)})`
  },
  typed: (value, scalar) => sql`${value}::${trusted(columnType[scalar])}`,
  highestId: table => sql`pg_sequence_last_value(pg_get_serial_sequence(${table}, 'id')::regclass)`,
  // Lists, which are searched by halves: the planner takes each choice of a long `case` for work that every row costs.
  stepwise: (value, steps, results) =>
    sql`(${`{${results}}`}::bigint[])[width_bucket(${value}, ${`{${steps}}`}::bigint[]) + 1]`,
  calendar: (seconds, part) => {
    const written = sql`to_char(to_timestamp(${seconds}) at time zone 'UTC', ${trusted(dateForms[part])})`
    // Years below 1 are those before Christ here, which it counts from 1. Other collations pass over the signs.
    return sql`(case when ${seconds} > 253402300799 then ${trusted(`'${afterYears[part]}'`)}
    when ${seconds} >= -62135596800 then ${written}
    when ${seconds} >= -62167219200 then '0000' || substr(${written}, 5)
    else '-000001' || substr(${written}, 5) end) collate "C"`
  },
  clock: trusted('(extract(epoch from clock_timestamp()) * 1000)::bigint'),
  jsonObject: members =>
    sql`json_build_object(${join(
      members.map(([key, value]) => sql`${key}::text, ${value}`),
      comma,
    )})::text`,
  lockClause: trusted(' for no key update'),
  // The offset keeps conditions around the query from being tested before its rows are locked.
  shareClause: trusted(' offset 0 for share'),
  oneByOne: trusted('select pg_advisory_xact_lock(7308332, hashtext(current_schema()))'),
}
