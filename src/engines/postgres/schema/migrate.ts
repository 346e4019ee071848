/** Brings a PostgreSQL store up to date: one program at a time, each migration recorded as applied. */
import { setTimeout as sleep } from 'node:timers/promises'
import { closing } from '#base/closing.ts'
import type { Connection } from '#engines/postgres/connection/connection.ts'
import { connect } from '#engines/postgres/connection/hosts.ts'
import type { ConnectionOptions } from '#engines/postgres/connection/settings.ts'
import { dialect } from '#engines/postgres/dialect.ts'
import { apply, locks, waitForOthers } from '#engines/postgres/schema/apply.ts'
import {
  appliedIn,
  type Migration,
  makeMigrationsTable,
  makeSecrets,
  missingOf,
  recordChecksums,
  secretIn,
} from '#engines/shared/migrations.ts'
import type { Secret } from '#engines/shared/store.ts'
import { driveBy, type QueryScript, queryWith } from '#sql/engine.ts'

/** The options of a command's connection: its statements have no time limit. */
export const commandConnection = (url: string, prepare: boolean): ConnectionOptions => ({
  url,
  prepare,
  statementTimeout: 0,
  lockTimeout: 0,
  silenceLimit: 0,
})

const migrationsTable =
  'create table if not exists migrations (name text primary key, applied_at bigint not null, checksum text)'

/** Milliseconds between two tries to take the lock. */
const retryEvery = 100

/**
 * Tries to take the lock, in a transaction that holds it; true where it did. It does not wait: `create index
 * concurrently` of the lock's holder waits for the end of every older statement and snapshot, which would be a deadlock.
 */
const tryLock = async (guard: Connection): Promise<boolean> => {
  await guard.run(
    'begin isolation level read committed; set local idle_in_transaction_session_timeout = 0; set local statement_timeout = 0',
  )
  const [row] = await guard.query(queryWith('select pg_try_advisory_xact_lock($1)', locks.program))
  const isTaken = row?.[0] === 1
  // In this isolation level a statement's snapshot lasts until the next one, or the end of the transaction.
  await guard.run(isTaken ? 'select 1' : 'rollback')
  return isTaken
}

/**
 * Runs work under a lock, so that no other program migrates this store. The lock belongs to a transaction on a connection of its own,
 * so that it holds behind a pooler too, whatever the work does.
 */
const withMigrationLock = <Result>(
  options: ConnectionOptions,
  work: () => Promise<Result>,
): Promise<Result> =>
  closing(connect(options), async guard => {
    while (!(await tryLock(guard))) await sleep(retryEvery)
    return work()
  })

const encoding = queryWith("select current_setting('server_encoding')")

/** Throws where a database that is to become a store could not hold all texts, each with its number of characters. */
const checkEncoding = async ({ query }: Connection): Promise<void> => {
  const found = (await query(encoding))[0]?.[0]
  if (found !== 'UTF8')
    throw new Error(
      `the database has the encoding ${found}, and texts need UTF8: name one in DUET_DATABASE_URL that was made with encoding 'UTF8' template template0`,
    )
}

const migrateOn = async (
  connection: Connection,
  migrations: readonly Migration[],
): Promise<readonly string[]> => {
  const drive = <Result>(work: QueryScript<Result>) => driveBy(work, connection.query)
  await connection.run(`begin isolation level read committed; ${waitForOthers}; commit`)
  const applied = await drive(appliedIn(dialect))
  const pending = missingOf(migrations, applied)
  if (pending.length > 0 || applied.some(({ checksum }) => checksum === null)) {
    if (applied.length === 0) await checkEncoding(connection)
    await drive(makeMigrationsTable(dialect, migrationsTable))
    for (const migration of pending) await apply(connection, migration)
    await drive(recordChecksums(dialect, migrations, applied))
  }
  // A program that was killed after its last migration has left some out.
  await drive(makeSecrets(dialect))
  return pending.map(({ name }) => name)
}

type Check = (connection: Connection) => Promise<void>

/**
 * Applies the missing migrations; gives their names. Throws NewerStoreError, or what `check` throws on the same
 * connection, before it changes anything.
 */
export const migratePostgres = (
  options: ConnectionOptions,
  migrations: readonly Migration[],
  check?: Check,
): Promise<readonly string[]> =>
  withMigrationLock(options, () =>
    closing(connect(options), async connection => {
      await check?.(connection)
      return migrateOn(connection, migrations)
    }),
  )

/** The names of the missing migrations. Throws NewerStoreError, or what `check` throws on the same connection. */
export const pendingOn = (
  options: ConnectionOptions,
  migrations: readonly Migration[],
  check: Check,
): Promise<readonly string[]> =>
  closing(connect(options), async connection => {
    await check(connection)
    const applied = await driveBy(appliedIn(dialect), connection.query)
    return missingOf(migrations, applied).map(({ name }) => name)
  })

/** A key of the store; throws where it was never migrated. */
export const secretOn = (options: ConnectionOptions, name: Secret): Promise<Uint8Array> =>
  closing(connect(options), ({ query }) => driveBy(secretIn(dialect, name), query))
