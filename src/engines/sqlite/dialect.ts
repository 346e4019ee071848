/** SQLite's text where databases differ. */
import type { Among, Below, Dialect } from '#sql/dialect.ts'
import { column, name, sql, trusted } from '#sql/sql.ts'

const among = ({ table, columns, keys, where, budget }: Among) =>
  sql`select ${columns} from json_each(${keys}) as "k" cross join ${table} as "t"
    on "t"."id" = "k"."value" where ${where} limit ${budget}`

/**
 * The rows below many parents. With a page, each parent's ids come from its own index range,
 * so that a parent with a million rows costs what its page costs.
 */
const below = ({ table, columns, by, keys, where, order, page, budget }: Below) =>
  page === null
    ? sql`select ${columns} from json_each(${keys}) as "k" cross join ${table} as "t"
        on ${by} = "k"."value" where ${where} limit ${budget}`
    : sql`select ${columns} from json_each(${keys}) as "k" cross join ${table} as "t"
        on "t"."id" in (select "t"."id" from ${table} as "t" where ${by} = "k"."value" and ${where}
          order by ${order} limit ${page.limit} offset ${page.offset})
        limit ${budget}`

/** The name of the trigram index over a folded column. */
export const searchTable = (table: string, folded: string): string => `${table}_${folded}_search`

export const dialect: Dialect = {
  name: 'sqlite',
  placeholder: n => `?${n}`,
  columnType: {
    id: 'integer',
    text: 'text',
    int: 'integer',
    money: 'integer',
    time: 'integer',
    flag: 'integer',
    bytes: 'blob',
  },
  together: false,
  among,
  below,
  tick: trusted('duet_tick()'),
  // The index finds candidates by three letters each; `instr` is the definition, and decides.
  contains: (table, folded, needle, indexed) => {
    const plain = sql`instr(${folded}, ${needle}) > 0`
    if (!indexed) return plain
    const index = name(searchTable(table, folded.texts.join('').split('"').at(-2) ?? ''))
    return sql`${column('t', 'id')} in (select rowid from ${index}
      where ${index} match '"' || replace(${needle}, '"', '""') || '"') and ${plain}`
  },
  ordered: (by, nullable, descending) => {
    const direction = trusted(descending ? ' desc' : '')
    return nullable ? sql`${by} is null${direction}, ${by}${direction}` : sql`${by}${direction}`
  },
  typed: value => value,
  // Integer division cuts off towards zero: a moment before 1970 belongs to the day below.
  day: time => sql`(${time} - (${time} % 86400000 + 86400000) % 86400000) / 86400000`,
  holding: trusted(''),
}
