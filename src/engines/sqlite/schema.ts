/** The tables, indexes and triggers of a model in SQLite: what migrations are drafted from and compared with. */
import {
  addTable,
  type MadeObject,
  type MadeObjects,
  outsideTexts,
} from '#engines/shared/catalogue.ts'
import { statementsOf } from '#engines/shared/migrations.ts'
import { type Ddl, type Definition, recount, shareOf } from '#engines/shared/schema.ts'
import { dialect } from '#engines/sqlite/dialect.ts'
import { queryWith, type Rows, type Session } from '#sql/engine.ts'

const trigger = (
  table: string,
  name: string,
  when: string,
  body: string,
  fill?: Definition['fill'],
): Definition => ({
  name,
  of: table,
  text: `create trigger ${name} ${when} begin\n  ${body}\nend`,
  ...(fill && { fill }),
})

const count = (table: string, field: string, value: string, by: string) =>
  `insert into counts (entity, field, value, n) values ('${table}', '${field}', ${value}, ${by})
    on conflict do update set n = n + excluded.n;`

/** The triggers that count rows, so that a list's total is one look-up. */
const countTriggers: Ddl['countTriggers'] = (table, columns) => {
  const all = (row: 'new' | 'old', by: string) => {
    const own = columns.map(column => count(table, column, `${row}.${column}`, by))
    return [count(table, '', "''", by), ...own].join('\n  ')
  }
  const moved = (column: string) =>
    `${count(table, column, `old.${column}`, '-1')}\n  ${count(table, column, `new.${column}`, '1')}`
  const start = `${table}_count_`
  return [
    trigger(
      table,
      `${start}insert`,
      `after insert on ${table}`,
      all('new', '1'),
      recount(table, null),
    ),
    trigger(table, `${start}delete`, `after delete on ${table}`, all('old', '-1')),
    ...columns.map(column => {
      const when = `after update of ${column} on ${table}`
      return trigger(table, start + column, when, moved(column), recount(table, column))
    }),
  ]
}

const keptTriggers: Ddl['keptTriggers'] = kept => {
  const { name, table, below, by, totals, columns, fill } = kept
  const add = (row: 'old' | 'new', sign: '+' | '-') => {
    const sets = totals.map(
      total => `${total.column} = ${total.column} ${sign} ${shareOf(total, `${row}.`)}`,
    )
    if (kept.hasRevision) sets.push('revision = revision + 1')
    return `update ${table} set ${sets.join(', ')} where id = ${row}.${by}${kept.holds(`${row}.`)};`
  }
  const isMoved = columns.map(column => `old.${column} is not new.${column}`).join(' or ')
  const moved = `after update of ${columns.join(', ')} on ${below} when ${isMoved}`
  return [
    trigger(below, `${name}_insert`, `after insert on ${below}`, add('new', '+'), fill),
    trigger(below, `${name}_delete`, `after delete on ${below}`, add('old', '-')),
    trigger(below, `${name}_update`, moved, `${add('old', '-')}\n  ${add('new', '+')}`),
  ]
}

/**
 * An index of trigrams or of words, updated by triggers; the texts themselves are only in the table. Words end at spaces only: they have no other ASCII sign, and this tokenizer takes all other signs for letters.
 */
const searchDdl: Ddl['searchDdl'] = ({ name, table, columns, by }) => {
  const list = columns.join(', ')
  const valuesOf = (row: string) => columns.map(column => `${row}.${column}`).join(', ')
  const put = `insert into ${name} (rowid, ${list}) values (new.id, ${valuesOf('new')});`
  const drop = `insert into ${name} (${name}, rowid, ${list}) values ('delete', old.id, ${valuesOf('old')});`
  // One or two letters begin thousands of words: without an index of beginnings those are put together for each search.
  const how =
    by === 'words'
      ? "detail = none, prefix = '1 2', tokenize = 'ascii'"
      : "tokenize = 'trigram case_sensitive 1'"
  return [
    {
      name,
      of: table,
      text: `create virtual table ${name} using fts5 (${list}, content = '${table}', content_rowid = 'id', columnsize = 0, ${how})`,
      fill: [`insert into ${name} (${name}) values ('rebuild')`],
    },
    trigger(table, `${name}_insert`, `after insert on ${table}`, put),
    trigger(table, `${name}_delete`, `after delete on ${table}`, drop),
    trigger(table, `${name}_update`, `after update of ${list} on ${table}`, `${drop}\n  ${put}`),
  ]
}

/** How SQLite writes its DDL. */
export const ddl: Ddl = {
  id: 'integer primary key autoincrement',
  idParts: [{ words: 'primary key' }, { words: 'autoincrement' }],
  typeOf: ({ scalar }) => dialect.columnType[scalar],
  checkOf: () => '',
  tableEnd: 'strict',
  indexTerms: ({ terms, sorted }) =>
    terms.map(({ column, nullable, descending }) => {
      const direction = descending ? ' desc' : ''
      const first = sorted && nullable ? `${column} is null${direction}, ` : ''
      return `${first}${column}${direction}`
    }),
  searchDdl,
  computed: 'virtual',
  keptTriggers,
  countTriggers,
  appendOnlyTriggers: table =>
    ['update', 'delete'].map(event =>
      trigger(
        table,
        `${table}_no_${event}`,
        `before ${event} on ${table}`,
        `select raise(abort, '${table} are only ever added');`,
      ),
    ),
}

/** The query for all that a file has. */
export const objectsText = `select type, name, tbl_name, sql from sqlite_schema where sql is not null`

/** What a file has, by the texts that SQLite keeps of it. */
export const objectsIn = (rows: Rows): MadeObjects => {
  const objects = new Map<string, MadeObject>()
  for (const [type, name, table, text] of rows.map(row => row.map(String)) as string[][]) {
    if (name === undefined || text === undefined) continue
    const [statement = ''] = type === 'table' ? statementsOf(text) : []
    const bare = outsideTexts(statement, /["`[\]]/)
    const [, body] = /^create table \S+?\s*\(([\s\S]*)$/i.exec(bare) ?? []
    if (body === undefined) objects.set(name, { text, of: name === table ? '' : String(table) })
    else {
      addTable(objects, name, body, text)
      const how = bare.slice(bare.lastIndexOf(')'))
      const flaw = (what: string, text: string) =>
        objects.set(`${name}!${what}`, { of: name, text })
      if (!/\bstrict\b/i.test(how))
        flaw('strict', 'is not strict, so that it takes values of any kind')
      if (/\bwithout rowid\b/i.test(how)) flaw('rowid', 'is without rowid, which searches need')
    }
  }
  return objects
}

/** What a file has. */
export const madeIn = async (query: Session['query']): Promise<MadeObjects> =>
  objectsIn(await query(queryWith(objectsText)))
