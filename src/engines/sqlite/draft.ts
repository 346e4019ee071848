/** Reads what the migrations make in SQLite from a store in memory that they are applied to. */
import { DatabaseSync } from 'node:sqlite'
import type { Drafting } from '#engines/shared/draft.ts'
import { ddl } from '#engines/sqlite/ddl.ts'

const columns = `select s.name || '.' || c.name as name, '' as text
  from sqlite_schema s, pragma_table_info(s.name) c where s.type = 'table'`

export const sqliteDrafting: Drafting = {
  engine: 'sqlite',
  madeBy: migrations => {
    const database = new DatabaseSync(':memory:')
    for (const { text } of migrations) database.exec(text)
    const rows = database
      .prepare(`select name, coalesce(sql, '') as text from sqlite_schema union all ${columns}`)
      .all()
    database.close()
    return new Map(rows.map(({ name, text }) => [String(name), String(text)]))
  },
  ddl,
  replace: ({ name, text }) => [`drop trigger ${name}`, text],
  outside: () => null,
  replaceIndex: ({ name, text }) => ({ inside: [`drop index ${name}`, text], outside: [] }),
  dropTrigger: name => [`drop trigger ${name}`],
}
