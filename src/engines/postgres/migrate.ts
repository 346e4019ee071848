/** Brings a PostgreSQL store up to date, which may be in use meanwhile: one program at a time, each migration recorded as applied. */
import { setTimeout as sleep } from 'node:timers/promises'
import { withOpened } from '#base/with-opened.ts'
import { type PostgresConnection, rollBack } from '#engines/postgres/connection.ts'
import { dialect } from '#engines/postgres/dialect.ts'
import { codeOf, isLockTimeout } from '#engines/postgres/errors.ts'
import type { ConnectionOptions } from '#engines/postgres/options.ts'
import { connect } from '#engines/postgres/primary.ts'
import {
  appliedIn,
  failed,
  type Migration,
  makeSecrets,
  missingOf,
  outsideMark,
  recordOf,
  secretsIn,
  statementsOf,
} from '#engines/shared/migrations.ts'
import type { Secrets } from '#engines/shared/store.ts'
import { driveBy, type QueryScript, queryWith } from '#sql/engine.ts'

/** The options of a command's connection: its statements have no time limit. */
export const commandConnection = (url: string, prepare: boolean): ConnectionOptions => ({
  url,
  prepare,
  statementTimeout: 0,
  lockTimeout: 0,
  silenceLimit: 0,
})

/**
 * How long a migration waits for a table that is in use, in milliseconds. Queries on that table that come after it
 * wait as long, so it gives up soon, lets them pass, and tries again.
 */
const lockTimeout = 500
/** Milliseconds between two tries. */
const pause = 1000
const tries = 60
/** Milliseconds between two tries to take the lock of the program. */
const retryEvery = 100

/** A lock for each schema, as several services may have one each in a database. Any number that no other program is likely to take. */
const lockOf = (number: number): string =>
  `${number} + case current_schema() when 'public' then 0 else 2 * hashtext(current_schema())::bigint end`

/** The locks of migrations: of the program that runs them, and of each one's transaction. */
const locks = { program: lockOf(7_308_332_019_273), transaction: lockOf(7_308_332_019_274) }

/**
 * Takes the lock of the transaction of a migration. One of a program that was killed goes on until its statement is done, when the
 * server finds the program gone: the next program waits for that.
 */
export const waitForOthers = `select pg_advisory_xact_lock(${locks.transaction})`

const then = 'then run duet migrate again'

const absent = (extension: string) =>
  `this PostgreSQL has no extension ${extension}: install the package that has it (postgresql-contrib), ${then}`

/** Why an extension cannot be made, and the remedy, by SQLSTATE. */
const extensionRefusals: Readonly<Record<string, (extension: string) => string>> = {
  '42501': extension =>
    `this user may not create the extension ${extension}: let a superuser run \`create extension ${extension}\` in this database, ${then}`,
  '0A000': absent,
  '58P01': absent,
}

/** Drops the invalid index that an interrupted `create index concurrently` left, so that it can be made again. */
const dropBroken = async (
  { query, run }: PostgresConnection,
  index: string,
  table: string,
): Promise<void> => {
  // While the server still makes one on the table, for a program that was killed, each would wait for the other.
  const making = queryWith(
    'select 1 from pg_stat_progress_create_index where relid = to_regclass($1)',
    table,
  )
  for (let number = 1; (await query(making)).length > 0; number++) {
    if (number === tries)
      throw new Error(
        `an index on ${table} is still being made (pg_stat_progress_create_index tells how far it is): wait for its end, ${then}`,
      )
    await sleep(pause)
  }
  const broken = await query(
    queryWith(
      'select 1 from pg_index where indexrelid = to_regclass($1) and not indisvalid',
      index,
    ),
  )
  if (broken.length > 0) await run(`drop index concurrently ${index}`)
}

const migrationsTable =
  'create table if not exists migrations (name text primary key, applied_at bigint not null, checksum text)'

/** The schema of the extension of trigrams, as a name in SQL. */
const trigramsIn = queryWith(
  "select quote_ident(nspname) from pg_extension e join pg_namespace n on n.oid = e.extnamespace where extname = 'pg_trgm'",
)

/** The text of a migration where trigrams are in another schema than the store. */
const withTrigrams = async (text: string, { query }: PostgresConnection): Promise<string> => {
  if (!text.includes('gin_trgm_ops')) return text
  const [row] = await query(trigramsIn)
  return row ? text.replaceAll(/(?<!\.)\bgin_trgm_ops\b/g, `${row[0]}.gin_trgm_ops`) : text
}

const oneByOne = /^(?:create|drop) (?:unique )?index concurrently\b|^alter index\b|^alter table\b/i

/** Makes the extension that a statement asks for; an error for a missing right says who can. */
const makeExtension = (statement: string, run: PostgresConnection['run']): Promise<void> => {
  const [, extension] = /^create extension if not exists (\w+)/i.exec(statement) ?? []
  return run(statement).catch(cause => {
    const refusal = extension && extensionRefusals[codeOf(cause)]
    throw refusal ? new Error(refusal(extension), { cause }) : cause
  })
}

/**
 * Applies the first migrations of an empty store in one transaction, so that one that fails leaves nothing; gives their number.
 * Nobody uses an empty store, so its concurrent indexes are made plainly. A migration that must run outside a transaction ends it.
 */
const applyFirst = async (
  connection: PostgresConnection,
  migrations: readonly Migration[],
): Promise<number> => {
  const { query, run } = connection
  let done = 0
  let failing = migrations[0]
  await run(`begin isolation level read committed; ${waitForOthers}`)
  try {
    await run(migrationsTable)
    for (const migration of migrations) {
      failing = migration
      const statements = statementsOf(migration.text)
      const isOutside = migration.text.startsWith(outsideMark)
      if (isOutside && !statements.every(one => oneByOne.test(one))) break
      for (const statement of statements)
        if (/^create extension\b/i.test(statement)) await makeExtension(statement, run)
      const text = isOutside
        ? statements.map(one => one.replace(/ index concurrently /i, ' index ')).join(';\n')
        : migration.text
      await run(await withTrigrams(text, connection))
      await query(recordOf(dialect, migration, Date.now()))
      done++
    }
    await run('commit')
    return done
  } catch (error) {
    await rollBack(connection)
    throw failing ? failed(failing, error) : error
  }
}

/** Applies a migration whole or not at all, unless it is marked to run outside a transaction. */
const apply = async (connection: PostgresConnection, migration: Migration): Promise<void> => {
  const { query, run } = connection
  const text = await withTrigrams(migration.text, connection)
  const isWhole = !text.startsWith(outsideMark)
  const begin = `begin isolation level read committed; set local lock_timeout = ${lockTimeout}; ${waitForOthers}`
  for (let number = 1; ; number++)
    try {
      if (isWhole) await run(begin)
      for (const statement of statementsOf(text)) {
        const isExtension = /^create extension\b/i.test(statement)
        const [, index, table] =
          /^create (?:unique )?index concurrently if not exists (\w+)\s+on (\w+)/i.exec(
            statement,
          ) ?? []
        if (!isWhole && index && table) await dropBroken(connection, index, table)
        // Extensions first, each by itself: if one cannot be made, a person must act, and the error says how.
        if (isExtension) await makeExtension(statement, run)
        else if (!isWhole)
          await run(statement).catch(async cause => {
            // It would refuse rows, though nobody may use it.
            if (index && table) await dropBroken(connection, index, table).catch(() => {})
            throw cause
          })
      }
      if (isWhole) await run(text)
      await query(recordOf(dialect, migration, Date.now()))
      if (isWhole) await run('commit')
      return
    } catch (error) {
      if (isWhole) await rollBack(connection)
      if (!isLockTimeout(error)) throw failed(migration, error)
      if (number === tries) {
        const locked = `a table that it changes was locked at each try, or a migration of a program that is gone was still at work: end those transactions (pg_stat_activity lists them), ${then}`
        throw failed(migration, new Error(locked, { cause: error }))
      }
      await sleep(pause)
    }
}

const encoding = queryWith("select current_setting('server_encoding')")

const path = queryWith("select current_schema(), current_setting('search_path')")

/**
 * Applies the missing migrations; gives their names. Throws NewerStoreError before it changes anything. One that lacks none waits for
 * no other program.
 */
export const migratePostgres = (
  options: ConnectionOptions,
  migrations: readonly Migration[],
): Promise<readonly string[]> =>
  withOpened(connect(options), async guard => {
    const [[schema, searched] = []] = await guard.query(path)
    if (schema == null)
      throw new Error(
        `the search_path ${searched} names no schema that is there: make one (create schema NAME) that this user may use, or correct the search_path`,
      )
    if (missingOf(migrations, await driveBy(appliedIn(dialect), guard.query)).length === 0) {
      // A program that was killed after its last migration has left some out.
      await driveBy(makeSecrets(dialect), guard.query)
      return []
    }
    // So that no other program migrates this store. The lock belongs to a transaction on a connection of its own, and so
    // holds behind a pooler too, whatever the work does.
    for (;;) {
      await guard.run(
        'begin isolation level read committed; set local idle_in_transaction_session_timeout = 0; set local statement_timeout = 0',
      )
      // It does not wait: `create index concurrently` of the lock's holder waits for the end of every older statement and
      // snapshot, which would be a deadlock.
      const [row] = await guard.query(
        queryWith(`select pg_try_advisory_xact_lock(${locks.program})`),
      )
      if (row?.[0] === 1) break
      await guard.run('rollback')
      await sleep(retryEvery)
    }
    // In this isolation level a statement's snapshot lasts until the next one, or the end of the transaction.
    await guard.run('select 1')
    return withOpened(connect(options), async connection => {
      const drive = <Result>(work: QueryScript<Result>) => driveBy(work, connection.query)
      await connection.run(`begin isolation level read committed; ${waitForOthers}; commit`)
      const applied = await drive(appliedIn(dialect))
      const pending = missingOf(migrations, applied)
      // One that is to become a store must hold all texts, each with its number of characters.
      const [[found] = []] = applied.length === 0 ? await connection.query(encoding) : [['UTF8']]
      if (found !== 'UTF8')
        throw new Error(
          `the database has the encoding ${found}, and texts need UTF8: name one in DUET_DATABASE_URL that was made with encoding 'UTF8' template template0`,
        )
      const first = applied.length === 0 ? await applyFirst(connection, pending) : 0
      for (const migration of pending.slice(first)) await apply(connection, migration)
      await drive(makeSecrets(dialect))
      return pending.map(({ name }) => name)
    })
  })

/** The names of the missing migrations. Throws NewerStoreError. */
export const pendingOn = (
  options: ConnectionOptions,
  migrations: readonly Migration[],
): Promise<readonly string[]> =>
  withOpened(connect(options), async connection => {
    const applied = await driveBy(appliedIn(dialect), connection.query)
    return missingOf(migrations, applied).map(({ name }) => name)
  })

/** The keys of the store; throws if it was never migrated. */
export const secretsOn = (options: ConnectionOptions): Promise<Secrets> =>
  withOpened(connect(options), ({ query }) => driveBy(secretsIn(dialect), query))
