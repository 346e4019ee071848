/** A PostgreSQL store into which another one is moved: batch by batch, in one transaction. */
import { setTimeout as sleep } from 'node:timers/promises'
import { dialect } from '#engines/postgres/dialect.ts'
import { migratePostgres } from '#engines/postgres/migrate.ts'
import type { ConnectionOptions } from '#engines/postgres/options.ts'
import { appendOnlyTrigger } from '#engines/postgres/schema.ts'
import { openSession, raiseIds } from '#engines/postgres/store.ts'
import type { Migration } from '#engines/shared/migrations.ts'
import type { MovedTable } from '#engines/shared/moving.ts'
import { queryOf, queryWith, type Rows } from '#sql/engine.ts'
import { column, comma, join, name, type Sql, type SqlValue, sql, trusted } from '#sql/sql.ts'

/** Rows as JSON of these columns, bytes as Base64. */
const jsonOf = (columns: readonly string[], rows: Rows): string =>
  JSON.stringify(
    rows.map(row =>
      Object.fromEntries(
        columns.map((column, index) => {
          const value: SqlValue = row[index] ?? null
          return [
            column,
            value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
          ]
        }),
      ),
    ),
  )

/** Opens a database to move a store into. */
export const openTarget = async (options: ConnectionOptions, migrations: readonly Migration[]) => {
  const session = await openSession(options, 'filling')
  const run = (piece: Sql) => session.query(queryOf(piece, dialect))
  /** Throws if the database has content of its own in one of these tables, of which it may lack some. */
  const checkEmpty = async (tables: readonly MovedTable[]): Promise<void> => {
    for (const { name: table } of tables) {
      if (table === 'secrets' || (await run(dialect.columnsOf(table))).length === 0) continue
      if ((await run(sql`select 1 from ${name(table)} limit 1`)).length > 0)
        throw new Error(`the target has content already (${table}): name an empty database`)
    }
  }
  /** Throws if it is served, or has rows in the tables of the content, as the wrong database may. */
  const check = async (content: readonly MovedTable[]): Promise<void> => {
    // The session of a killed process gets two seconds to end. Behind a pooler, connections outlive the processes that used them.
    const others = sql`select 1 from pg_stat_activity
      where datname = current_database() and application_name = 'duet' and pid <> pg_backend_pid()`
    for (let tries = 20; options.prepare && (await run(others)).length > 0; tries--) {
      if (tries === 0)
        throw new Error('another Duet is connected to the target: stop it first, then move again')
      await sleep(100)
    }
    await checkEmpty(content)
  }
  return {
    ...session,
    dialect,
    check,
    migrate: () => migratePostgres(options, migrations),
    /** Begins with these tables, which must be empty. */
    begin: async (tables: readonly MovedTable[]): Promise<void> => {
      // The source may take long for a page, or to be compared.
      await session.query(queryWith('set local idle_in_transaction_session_timeout = 0'))
      await checkEmpty(tables)
      // The keys of the source replace the target's own, which were never used.
      await run(sql`delete from secrets`)
    },
    /** Puts rows in, without references to later rows of the same table. */
    put: async (table: MovedTable, rows: Rows): Promise<void> => {
      const columns = Object.entries(table.columns)
      const keys = Object.keys(table.columns)
      const highest = Number(rows.at(-1)?.[keys.indexOf('id')])
      const early = rows.map(row =>
        row.map((value, index) =>
          table.own.includes(keys[index] ?? '') && Number(value) > highest ? null : value,
        ),
      )
      const given = columns.map(
        ([column, scalar]) =>
          sql`${name(column)} ${trusted(scalar === 'bytes' ? 'text' : dialect.columnType[scalar])}`,
      )
      const values = columns.map(([column, scalar]) =>
        scalar === 'bytes' ? sql`decode(${name(column)}, 'base64')` : name(column),
      )
      await run(
        sql`insert into ${name(table.name)} (${join(keys.map(name), comma)}) select ${join(values, comma)}
          from json_to_recordset(${jsonOf(keys, early)}::json) as r (${join(given, comma)})`,
      )
    },
    /**
     * Sets references to rows of the same table, given rows with their ids and the columns that refer; of an append-only
     * table too, whose rows are not all there before.
     */
    refer: async ({ name: table, own, appendOnly }: MovedTable, rows: Rows): Promise<void> => {
      const given = ['id', ...own].map(key => sql`${name(key)} bigint`)
      const sets = own.map(key => sql`${name(key)} = ${column('r', key)}`)
      const differs = own.map(
        key => sql`${column(table, key)} is distinct from ${column('r', key)}`,
      )
      const set = sql`update ${name(table)} set ${join(sets, comma)}
        from json_to_recordset(${jsonOf(['id', ...own], rows)}::json) as r (${join(given, comma)})
        where ${column(table, 'id')} = r.id and (${join(differs, trusted(' or '))})`
      const trigger = sql`trigger ${name(appendOnlyTrigger(table))}`
      if (appendOnly) await run(sql`alter table ${name(table)} disable ${trigger}`)
      await run(set)
      if (appendOnly) await run(sql`alter table ${name(table)} enable ${trigger}`)
    },
    /** Has the tables' next ids above all that were ever given out. */
    raise: async (highestIds: ReadonlyMap<string, number>): Promise<void> => {
      for (const [table, id] of highestIds) await session.query(raiseIds(table, sql`${id}::bigint`))
    },
  }
}

export type MoveTarget = Awaited<ReturnType<typeof openTarget>>
