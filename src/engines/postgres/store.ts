/** A PostgreSQL database as a store, with its replicas for reads, and the sessions of commands on it. */
import { placeIn } from '#base/database-url.ts'
import { withOpened } from '#base/with-opened.ts'
import { dialect } from '#engines/postgres/dialect.ts'
import { openPostgres } from '#engines/postgres/engine.ts'
import { UnreachableError, withRight } from '#engines/postgres/errors.ts'
import {
  commandConnection,
  migratePostgres,
  pendingOn,
  secretsOn,
} from '#engines/postgres/migrate.ts'
import type { ConnectionOptions, PostgresOptions } from '#engines/postgres/options.ts'
import { connect, primaryWithin } from '#engines/postgres/primary.ts'
import { ddl, objectsIn } from '#engines/postgres/schema.ts'
import { type Store, transactionsOf } from '#engines/shared/store.ts'
import { type Query, queryOf, type Session } from '#sql/engine.ts'
import { name, type Sql, sql } from '#sql/sql.ts'

// Ids of imported rows must not collide with ids that a running service assigns during the import. Who may only insert may not lock so.
const lockTables = `do $$
declare t text;
begin
  for t in select c.relname from pg_class c
    where c.relnamespace = (select oid from pg_namespace where nspname = current_schema()) and c.relkind in ('r', 'p')
      and exists (select from pg_attribute a where a.attrelid = c.oid and a.attidentity in ('a', 'd'))
      and has_table_privilege(c.oid, 'update, delete, truncate') order by 1
  loop execute format('lock table %I in share row exclusive mode', t); end loop;
end $$`

// While a store is filled each statement adds to a part of its own (see schema.ts); in the end they become one.
const foldCounts = `with added as (delete from counts where part >= 16 returning entity, field, value, n)
  insert into counts as c (entity, field, value, part, n)
  select entity, field, value, 0, sum(n) from added group by 1, 2, 3
  on conflict (entity, field, value, part) do update set n = c.n + excluded.n`

const frames = {
  reading: {
    // Whoever takes what is read may pause for as long as it wants.
    begin:
      'begin isolation level repeatable read, read only; set local idle_in_transaction_session_timeout = 0',
    end: 'commit',
  },
  filling: {
    begin: `begin isolation level read committed; set local duet.counting = 'apart'; ${lockTables}`,
    end: `${foldCounts}; commit`,
  },
} as const

/** The query that makes a table's next id larger than `least` and all ids given out before; no effect if `least` is null. */
export const raiseIds = (table: string, least: Sql): Query =>
  queryOf(
    sql`select setval(s, greatest(m, coalesce(pg_sequence_last_value(s::regclass), 0)))::text
      from (select pg_get_serial_sequence(${table}, 'id') as s, ${least} as m) as x
      where m is not null`,
    dialect,
  )

/** Opens a session: for reading, with one snapshot for each transaction, or for filling the store while nobody else writes. */
export const openSession = async (
  options: ConnectionOptions,
  purpose: keyof typeof frames,
): Promise<Session> => {
  const connection = await connect({ ...options, readOnly: purpose === 'reading' })
  const { query, run, isOpen, close } = connection
  const { begin, end } = frames[purpose]
  const commit = async (text: string): Promise<void> => {
    const isSent = isOpen()
    try {
      await run(text)
    } catch (cause) {
      const isUnknown = purpose === 'filling' && isSent && cause instanceof UnreachableError
      if (!isUnknown) throw cause
      throw new Error(
        'the connection to the database was lost during the commit, so it is unknown whether this was written; see what is there before you run the command again',
        { cause },
      )
    }
  }
  return {
    query,
    ...transactionsOf(run, begin, end, commit),
    settleIds: async tables => {
      for (const table of tables)
        await query(raiseIds(table, sql`(select max(id) from ${name(table)})`))
    },
    analyze: () => run('analyze'),
    close,
  }
}

/** The store in a database; nothing is opened yet. */
export const postgresStore = (options: PostgresOptions): Store => {
  const connection = commandConnection(options.url, options.prepare)
  const { url, migrations } = options
  return {
    label: placeIn(options.url),
    dialect,
    ddl,
    made: validated =>
      withOpened(openSession(connection, 'reading'), ({ query }) => objectsIn(query, validated)),
    // Any number of processes may serve it, as soon as there is a primary.
    hold: async (wait, onWait) => {
      await primaryWithin(connection, wait, onWait)
      return () => {}
    },
    migrate: () => withRight(url, () => migratePostgres(connection, migrations)),
    pending: () => withRight(url, () => pendingOn(connection, migrations)),
    secrets: () => withRight(url, () => secretsOn(connection)),
    session: purpose => openSession(connection, purpose),
    open: serving => openPostgres({ ...options, ...serving }),
  }
}
