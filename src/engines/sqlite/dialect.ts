/** SQLite's text where databases differ. */
import { containsIndex } from '#model/words.ts'
import { afterYears, type Dialect } from '#sql/dialect.ts'
import { column, comma, join, name, number, type Sql, sql, trusted } from '#sql/sql.ts'

/**
 * The most letters of a needle that the index looks up: each takes it another pass through the places of a trigram, so that a long
 * needle of one letter would take seconds, in which nothing ends the search. The rest of the needle is compared with the rows found.
 */
const mostLookedUp = 16

const dateForms = { day: "'%Y-%m-%d'", month: "'%Y-%m'", year: "'%Y'" }

export const dialect: Dialect = {
  name: 'sqlite',
  placeholder: n => `?${n}`,
  columnType: {
    id: 'integer',
    text: 'text',
    int: 'integer',
    money: 'integer',
    decimal: 'integer',
    date: 'text',
    time: 'integer',
    flag: 'integer',
    json: 'text',
    list: 'text',
    file: 'text',
    bytes: 'blob',
  },
  columnsOf: table => sql`select name from pragma_table_info(${table})`,
  singleStatement: null,
  columnar: (query, columns) => {
    const lists = columns.map(column => sql`json_group_array(${name(column)})`)
    return sql`select ${join(lists, comma)} from (${query})`
  },
  byIds: ({ table, columns, keys, where, budget }) =>
    sql`select ${columns} from json_each(${keys}) as "k" cross join ${table} as "t"
    on "t"."id" = "k"."value" where ${where} limit ${budget}`,
  childrenOf: ({ table, columns, by, keys, where, page, budget, order }) => {
    const from = sql`select ${columns} from json_each(${keys}) as "k" cross join ${table} as "t"
    on ${by} = "k"."value"`
    if (page === null) return sql`${from} where ${where} limit ${budget}`
    if (order) {
      const { limit, offset } = page
      const ids = sql`select "t"."id" from ${table} as "t" where ${by} = "k"."value" and ${where}
    order by ${order} limit ${limit} + 0${offset ? sql` offset ${offset}` : sql``}`
      return sql`select ${columns} from json_each(${keys}) as "k" cross join ${table} as "t"
    on "t"."id" in (${ids}) limit ${budget}`
    }
    // A look-up in the index for each parent finds the id that the page ends with: a parent with a million rows costs only its page.
    const idAt = (offset: Sql) => sql`(select "t"."id" from ${table} as "t"
    where ${by} = "k"."value" and ${where} order by "t"."id" desc limit 1 offset ${offset})`
    const { limit, offset } = page
    const last = idAt(offset ? sql`${limit} + ${offset} - 1` : sql`${limit} - 1`)
    const first = offset ? sql` and "t"."id" <= ${idAt(offset)}` : sql``
    return sql`${from} and "t"."id" >= coalesce(${last}, 0)${first} where ${where} limit ${budget}`
  },
  plans: {
    explain: 'explain query plan',
    usesOf: (rows, statement) =>
      rows.flatMap(row => {
        const line = String(row.at(-1)).trim()
        const [, index] = /\bUSING (?:COVERING )?INDEX (\w+)/.exec(line) ?? []
        if (index !== undefined) return [index]
        const [, scanned] = /^SCAN (\w+)$/.exec(line) ?? []
        // It may be an alias.
        const [, table = scanned] = new RegExp(`"(\\w+)" as "${scanned}"`).exec(statement) ?? []
        return scanned === undefined ? [] : [`scan of ${table}`]
      }),
  },
  interruptCheck: trusted('duet_interrupt_check()'),
  // The index finds candidates by trigrams; `instr` decides.
  contains: (table, folded, needle) => {
    const index = name(containsIndex(table, folded).name)
    return sql`${column('t', 'id')} in (select rowid from ${index}
      where ${index} match '"' || replace(substr(${needle}, 1, ${number(mostLookedUp)}), '"', '""') || '"')
      and instr(${column('t', folded)}, ${needle}) > 0`
  },
  finds: ({ name: own }, id, words) =>
    sql`${id} in (select rowid from ${name(own)} where ${name(own)} match '"' || replace(${words}, ' ', '" "') || '"*')`,
  eachWord: words =>
    sql`(select value as word from json_each('[" ' || replace(${words}, ' ', ' "," ') || '"]'))`,
  has: (list, item) => sql`exists (select 1 from json_each(${list}) where value = ${item})`,
  holds: (text, needle) => sql`instr(${text}, ${needle}) > 0`,
  ordered: (by, nullable, descending, nullLast) => {
    const value = sql`${by}${trusted(descending ? ' desc' : '')}`
    return nullable ? sql`${by} is null${trusted(nullLast ? '' : ' desc')}, ${value}` : value
  },
  among: (column, query) => sql`${column} in (${query})`,
  valuesIn: list => sql`select value from json_each(${list})`,
  eachOf: null,
  typed: value => sql`${value}`,
  highestId: table => sql`(select seq from sqlite_sequence where name = ${table})`,
  // One choice in the middle of others: a dozen comparisons find the place among thousands.
  stepwise: (value, steps, results) => {
    const among = (from: number, to: number): Sql => {
      const middle = (from + to) >> 1
      return from === to
        ? number(results[from] as number)
        : sql`case when ${value} < ${number(steps[middle] as number)} then ${among(from, middle)} else ${among(middle + 1, to)} end`
    }
    return among(0, steps.length)
  },
  // It has no year after 9999, and writes the one before 0 as -001.
  calendar: (seconds, part) => {
    const written = sql`strftime(${trusted(dateForms[part])}, ${seconds}, 'unixepoch')`
    return sql`replace(coalesce(${written}, ${trusted(`'${afterYears[part]}'`)}), '-001', '-000001')`
  },
  clock: trusted("cast(unixepoch('subsec') * 1000 as integer)"),
  jsonObject: members =>
    sql`json_object(${join(
      members.map(([key, value]) => sql`${key}, ${value}`),
      comma,
    )})`,
  lockClause: trusted(''),
  shareClause: trusted(''),
  oneByOne: trusted('select 1'),
}
