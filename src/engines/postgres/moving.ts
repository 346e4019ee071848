/** A PostgreSQL store into which another one is moved: batch by batch, each committed with the key of its last row. */
import { setTimeout as sleep } from 'node:timers/promises'
import { dialect } from '#engines/postgres/dialect.ts'
import { migratePostgres } from '#engines/postgres/migrate.ts'
import type { ConnectionOptions } from '#engines/postgres/options.ts'
import { appendOnlyTrigger } from '#engines/postgres/schema.ts'
import { openSession, raiseIds } from '#engines/postgres/store.ts'
import type { Migration } from '#engines/shared/migrations.ts'
import { keyOf, type MovedTable, type RowKey } from '#engines/shared/moving.ts'
import { type Query, queryOf, queryWith, type Row, type Rows, type Session } from '#sql/engine.ts'
import { column, comma, join, name, type Sql, type SqlValue, sql, trusted } from '#sql/sql.ts'

const otherSessions = queryWith(`select 1 from pg_stat_activity
  where datname = current_database() and application_name = 'duet' and pid <> pg_backend_pid()`)

/** Throws where another Duet is connected. The session of a killed process gets two seconds to end. */
const checkNoOtherDuet = async (session: Session): Promise<void> => {
  for (let tries = 20; (await session.query(otherSessions)).length > 0; tries--) {
    if (tries === 0)
      throw new Error('another Duet is connected to the target: stop it first, then move again')
    await sleep(100)
  }
}

/** Tables that are emptied with those of the content: the counts of their rows, and the progress of the move. */
const otherTables = ['counts', 'moves']

// Triggers protect an append-only table from being emptied; this copy of it was never in use.
const truncate = async (session: Session, tables: readonly string[]): Promise<void> => {
  const run = (piece: Sql) => session.query(queryOf(piece, dialect))
  for (const table of tables) await run(sql`alter table ${name(table)} disable trigger user`)
  await run(sql`truncate ${join([...tables, ...otherTables].map(name), comma)} restart identity`)
  for (const table of tables) await run(sql`alter table ${name(table)} enable trigger user`)
}

const checkEmpty = async (session: Session, tables: readonly string[]): Promise<void> => {
  for (const table of tables) {
    const [row] = await session.query(queryOf(sql`select 1 from ${name(table)} limit 1`, dialect))
    if (row)
      throw new Error(
        `the target has content already (${table}) that is not of an unfinished move; name an empty database`,
      )
  }
}

const jsonValue = (value: SqlValue) =>
  value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value

const jsonOf = (columns: readonly string[], rows: Rows): string =>
  JSON.stringify(
    rows.map(row =>
      Object.fromEntries(columns.map((column, index) => [column, jsonValue(row[index] ?? null)])),
    ),
  )

/** The rows without their references to rows of the same table that come after the last of them. */
const withoutLater = ({ own, columns }: MovedTable, rows: Rows, last: Row): Rows => {
  if (own.length === 0) return rows
  const names = Object.keys(columns)
  const referring = own.map(column => names.indexOf(column))
  const highest = Number(last[names.indexOf('id')])
  return rows.map(row =>
    row.map((value, index) =>
      referring.includes(index) && Number(value) > highest ? null : value,
    ),
  )
}

/** The statement that sets references of rows to rows of the same table; each row has its id first. */
const referStatement = ({ name: table, own }: MovedTable, rows: Rows): Query => {
  const given = ['id', ...own].map(key => sql`${name(key)} bigint`)
  const sets = own.map(key => sql`${name(key)} = ${column('r', key)}`)
  const differs = own.map(key => sql`${column(table, key)} is distinct from ${column('r', key)}`)
  return queryOf(
    sql`update ${name(table)} set ${join(sets, comma)}
      from json_to_recordset(${jsonOf(['id', ...own], rows)}::json) as r (${join(given, comma)})
      where ${column(table, 'id')} = r.id and (${join(differs, trusted(' or '))})`,
    dialect,
  )
}

/** Sets references of rows to rows of the same table; of an append-only one too, whose rows are not all there before. */
const referOn =
  (session: Session) =>
  async (table: MovedTable, rows: Rows): Promise<void> => {
    const set = () => session.query(referStatement(table, rows))
    if (!table.appendOnly) return void (await set())
    const trigger = name(appendOnlyTrigger(table.name))
    const turn = (piece: Sql) =>
      session.query(
        queryOf(sql`alter table ${name(table.name)} ${piece} trigger ${trigger}`, dialect),
      )
    await session.transaction(async () => {
      await turn(sql`disable`)
      await set()
      await turn(sql`enable`)
    })
  }

const keyText = (key: RowKey | null): string | null => (key === null ? null : JSON.stringify(key))

/**
 * The statement that inserts rows and records the key of the last one. It gives the number of rows: 0 where the move is
 * no longer at `after`, since a batch that a killed run sent may be committed after the next run has started.
 */
const putStatement = (table: MovedTable, after: RowKey | null, rows: Rows, last: Row): Query => {
  const columns = Object.entries(table.columns)
  const names = columns.map(([column]) => name(column))
  const given = columns.map(
    ([column, scalar]) =>
      sql`${name(column)} ${trusted(scalar === 'bytes' ? 'text' : dialect.columnType[scalar])}`,
  )
  const values = columns.map(([column, scalar]) =>
    scalar === 'bytes' ? sql`decode(${name(column)}, 'base64')` : name(column),
  )
  // Commits without waiting for the disk: a crash loses only the newest rows, with their record, and the last commit
  // of the move waits for all before it.
  return queryOf(
    sql`with recorded as (
      update moves set last = ${keyText(keyOf(table, last))}
      where name = ${table.name} and last is not distinct from ${keyText(after)} returning 1
    ), put as (
      insert into ${name(table.name)} (${join(names, comma)}) select ${join(values, comma)}
      from json_to_recordset(${jsonOf(Object.keys(table.columns), withoutLater(table, rows, last))}::json) as r (${join(given, comma)})
      where exists (select 1 from recorded) returning 1
    ) select count(*), set_config('synchronous_commit', 'off', true) from put`,
    dialect,
  )
}

type Beginning = {
  /** The identity of the store that is moved. */
  readonly source: string
  /** The tables in an order in which they can be filled. */
  readonly tables: readonly MovedTable[]
  /** Whether the rows of an unfinished move are deleted first. */
  readonly restarts: boolean
}

const beginOn =
  (session: Session) =>
  ({ source, tables, restarts }: Beginning): Promise<void> =>
    session.transaction(async () => {
      const names = tables.map(table => table.name)
      const known = () => session.query(queryWith('select distinct source from moves'))
      if (restarts && (await known()).length > 0) await truncate(session, names)
      const [unfinished] = await known()
      if (unfinished && unfinished[0] !== source)
        throw new Error(
          'a move of another store into the target is unfinished: finish that one, or start this one over with --restart',
        )
      if (!unfinished) {
        await checkEmpty(
          session,
          names.filter(table => table !== 'secrets'),
        )
        // The keys of the source replace the target's own, which were never used.
        await session.query(queryWith('delete from secrets'))
      }
      const insert = 'insert into moves (name, source) values ($1, $2) on conflict do nothing'
      for (const table of names) await session.query(queryWith(insert, table, source))
    })

/** Opens and migrates a database to move a store into. */
export const openTarget = async (options: ConnectionOptions, migrations: readonly Migration[]) => {
  await migratePostgres(options, migrations)
  const session = await openSession(options, 'filling')
  // Behind a pooler, connections outlive the processes that used them.
  if (options.prepare) await checkNoOtherDuet(session)
  return {
    dialect,
    query: session.query,
    /** Begins a move or resumes an unfinished one. Throws where the database has content of its own. */
    begin: beginOn(session),
    /** The key of the last row that was put into a table; null before the first. */
    reached: async (table: MovedTable): Promise<RowKey | null> => {
      const [row] = await session.query(
        queryWith('select last from moves where name = $1', table.name),
      )
      return row?.[0] == null ? null : JSON.parse(String(row[0]))
    },
    /** Puts in the rows after the key `after`, without references to later rows of the same table; false, with nothing put in, where the move has passed that key. */
    put: async (table: MovedTable, after: RowKey | null, rows: Rows): Promise<boolean> => {
      const last = rows.at(-1)
      if (!last) return true
      const [row] = await session.query(putStatement(table, after, rows, last))
      return Number(row?.[0]) === rows.length
    },
    /** Sets references to rows of the same table, given rows with their ids and the columns that refer. */
    refer: referOn(session),
    analyze: session.analyze,
    /** Ends the move: the tables' next ids are above all that were ever given out, and the store may be served. */
    finish: async (highestIds: ReadonlyMap<string, number>): Promise<void> => {
      for (const [table, id] of highestIds) await session.query(raiseIds(table, sql`${id}::bigint`))
      await session.query(queryWith('delete from moves'))
    },
    close: session.close,
  }
}

export type MoveTarget = Awaited<ReturnType<typeof openTarget>>
