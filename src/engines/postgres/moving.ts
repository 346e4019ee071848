/** A PostgreSQL store into which another one is moved: batch by batch, each committed with the key of its last row. */
import { setTimeout as sleep } from 'node:timers/promises'
import { dialect } from '#engines/postgres/dialect.ts'
import { migratePostgres } from '#engines/postgres/migrate.ts'
import type { ConnectionOptions } from '#engines/postgres/options.ts'
import { appendOnlyTrigger } from '#engines/postgres/schema.ts'
import { openSession, raiseIds } from '#engines/postgres/store.ts'
import type { Migration } from '#engines/shared/migrations.ts'
import { keyOf, type MovedTable, type RowKey } from '#engines/shared/moving.ts'
import { queryOf, type Rows } from '#sql/engine.ts'
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

/** Says for this transaction that rows come with their revisions, which what is kept of others does not raise. */
const filling = sql`set_config('duet.counting', 'moved', true)`

type Begun = {
  readonly source: string
  readonly tables: readonly MovedTable[]
  readonly restarts: boolean
  /** Tables that the migrations make, and that nothing is moved into. */
  readonly former?: readonly string[]
}

/** Notes that a move begins or goes on, within a transaction; one that restarts empties the tables first. */
const noteMove = async (
  run: (piece: Sql) => Promise<Rows>,
  { source, tables, restarts, former = [] }: Begun,
): Promise<void> => {
  const known = () => run(sql`select distinct source from moves`)
  if (restarts && (await known()).length > 0) {
    // Triggers protect an append-only table from being emptied; this copy of it was never in use.
    for (const table of tables) await run(sql`alter table ${name(table.name)} disable trigger user`)
    // The counts of their rows and the progress of the move are emptied too.
    const emptied = [...tables.map(table => table.name), 'counts', 'moves']
    // One that refers to another can only be emptied with it.
    for (const table of former)
      if ((await run(dialect.columnsOf(table))).length > 0) emptied.push(table)
    await run(sql`truncate ${join(emptied.map(name), comma)} restart identity`)
    for (const table of tables) await run(sql`alter table ${name(table.name)} enable trigger user`)
  }
  const [unfinished] = await known()
  if (unfinished && unfinished[0] !== source)
    throw new Error(
      'a move of another store into the target is unfinished: finish that one, or start this one over with --restart',
    )
  if (!unfinished) {
    for (const table of tables) {
      if (table.name === 'secrets') continue
      if ((await run(sql`select 1 from ${name(table.name)} limit 1`)).length > 0)
        throw new Error(
          `the target has content already (${table.name}) that is not of an unfinished move; name an empty database`,
        )
    }
    // The keys of the source replace the target's own, which were never used.
    await run(sql`delete from secrets`)
  }
  for (const table of tables)
    await run(
      sql`insert into moves (name, source) values (${table.name}, ${source}) on conflict do nothing`,
    )
}

/** Opens and migrates a database to move a store into. */
export const openTarget = async (options: ConnectionOptions, migrations: readonly Migration[]) => {
  await migratePostgres(options, migrations)
  const { query, transaction, analyze, close } = await openSession(options, 'filling')
  const run = (piece: Sql) => query(queryOf(piece, dialect))
  // No other Duet may be connected; the session of a killed process gets two seconds to end. Behind a pooler, connections
  // outlive the processes that used them.
  const others = sql`select 1 from pg_stat_activity
    where datname = current_database() and application_name = 'duet' and pid <> pg_backend_pid()`
  for (let tries = 20; options.prepare && (await run(others)).length > 0; tries--) {
    if (tries === 0)
      throw new Error('another Duet is connected to the target: stop it first, then move again')
    await sleep(100)
  }
  return {
    dialect,
    query,
    /**
     * Begins a move of the store with an identity or resumes an unfinished one, whose rows are deleted first if it
     * restarts; the tables are in an order in which they can be filled. Throws if the database has content of its own.
     */
    begin: (move: Begun): Promise<void> => transaction(() => noteMove(run, move)),
    /** The key of the last row that was put into a table; null before the first. */
    reached: async (table: MovedTable): Promise<RowKey | null> => {
      const [row] = await run(sql`select last from moves where name = ${table.name}`)
      return row?.[0] == null ? null : JSON.parse(String(row[0]))
    },
    /**
     * Puts in the rows after the key `after`, without references to later rows of the same table, and records the key of the
     * last one. False, with nothing put in, if the move is no longer at `after`: a batch that a killed run sent may be
     * committed after the next run has started.
     */
    put: async (table: MovedTable, after: RowKey | null, rows: Rows): Promise<boolean> => {
      const last = rows.at(-1)
      if (!last) return true
      const { own } = table
      const columns = Object.entries(table.columns)
      const keys = Object.keys(table.columns)
      const highest = Number(last[keys.indexOf('id')])
      const early = rows.map(row =>
        row.map((value, index) =>
          own.includes(keys[index] ?? '') && Number(value) > highest ? null : value,
        ),
      )
      const given = columns.map(
        ([column, scalar]) =>
          sql`${name(column)} ${trusted(scalar === 'bytes' ? 'text' : dialect.columnType[scalar])}`,
      )
      const values = columns.map(([column, scalar]) =>
        scalar === 'bytes' ? sql`decode(${name(column)}, 'base64')` : name(column),
      )
      const reached = after === null ? null : JSON.stringify(after)
      // Commits without waiting for the disk: a crash loses only the newest rows, with their record, and the last commit
      // of the move waits for all before it.
      const [row] = await run(
        sql`with recorded as (
          update moves set last = ${JSON.stringify(keyOf(table, last))}
          where name = ${table.name} and last is not distinct from ${reached} returning 1
        ), put as (
          insert into ${name(table.name)} (${join(keys.map(name), comma)}) select ${join(values, comma)}
          from json_to_recordset(${jsonOf(keys, early)}::json) as r (${join(given, comma)})
          where exists (select 1 from recorded) returning 1
        ) select count(*), set_config('synchronous_commit', 'off', true), ${filling} from put`,
      )
      return Number(row?.[0]) === rows.length
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
      await transaction(async () => {
        await run(sql`select ${filling}`)
        if (!appendOnly) return run(set)
        await run(sql`alter table ${name(table)} disable ${trigger}`)
        await run(set)
        return run(sql`alter table ${name(table)} enable ${trigger}`)
      })
    },
    analyze,
    /** Ends the move: the tables' next ids are above all that were ever given out, and the store may be served. */
    finish: async (highestIds: ReadonlyMap<string, number>): Promise<void> => {
      for (const [table, id] of highestIds) await query(raiseIds(table, sql`${id}::bigint`))
      await run(sql`delete from moves`)
    },
    close,
  }
}

export type MoveTarget = Awaited<ReturnType<typeof openTarget>>
