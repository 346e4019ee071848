/** Applies one migration to a PostgreSQL store, which may be in use meanwhile, and records it as applied. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, rollBack } from '#engines/postgres/connection/connection.ts'
import { codeOf, isLockTimeout } from '#engines/postgres/connection/errors.ts'
import { dialect } from '#engines/postgres/dialect.ts'
import {
  failed,
  type Migration,
  outsideMark,
  recordOf,
  statementsOf,
} from '#engines/shared/migrations.ts'
import { type Query, queryWith } from '#sql/engine.ts'

/**
 * How long a migration waits for a table that is in use, in milliseconds. Queries on that table that come after it
 * wait as long, so it gives up soon, lets them pass, and tries again.
 */
const lockTimeout = 500
/** Milliseconds between two tries. */
const pause = 1000
const tries = 60

/** The locks of migrations: of the program that runs them, and of each one's transaction. Any numbers that no other program is likely to take. */
export const locks = { program: 7_308_332_019_273, transaction: 7_308_332_019_274 }

/**
 * Takes the lock of the transaction of a migration. One of a program that was killed goes on until its statement is done, when the
 * server finds the program gone: the next program waits for that.
 */
export const waitForOthers = `select pg_advisory_xact_lock(${locks.transaction})`

const then = 'then run duet migrate again'

const absent = (extension: string) =>
  `this PostgreSQL has no extension ${extension}: install the package that has it (postgresql-contrib), ${then}`

/** Why an extension cannot be made, and the remedy, by SQLSTATE. */
const refusals: Readonly<Record<string, (extension: string) => string>> = {
  '42501': extension =>
    `this user may not create the extension ${extension}: let a superuser run \`create extension ${extension}\` in this database, ${then}`,
  '0A000': absent,
  '58P01': absent,
}

/** Makes the extensions in the statements, each by itself: where one fails, a person must act, and the error says how. */
const makeExtensions = async (
  connection: Connection,
  statements: readonly string[],
): Promise<void> => {
  for (const statement of statements) {
    const [, extension] = /^create extension if not exists (\w+)/i.exec(statement) ?? []
    if (extension === undefined) continue
    try {
      await connection.run(statement)
    } catch (cause) {
      const refusal = refusals[codeOf(cause)]
      throw refusal ? new Error(refusal(extension), { cause }) : cause
    }
  }
}

const applyInside = async (connection: Connection, text: string, record: Query): Promise<void> => {
  try {
    await connection.run(
      `begin isolation level read committed; set local lock_timeout = ${lockTimeout}; ${waitForOthers}`,
    )
    await makeExtensions(connection, statementsOf(text))
    await connection.run(text)
    await connection.query(record)
    await connection.run('commit')
  } catch (error) {
    await rollBack(connection)
    throw error
  }
}

/** Waits while the server makes an index on the table of another, for a program that was killed: each would wait for the other. */
const waitForIndexes = async (connection: Connection, table: string): Promise<void> => {
  const making = queryWith(
    'select 1 from pg_stat_progress_create_index where relid = to_regclass($1)',
    table,
  )
  for (let number = 1; (await connection.query(making)).length > 0; number++) {
    if (number === tries)
      throw new Error(
        `an index on ${table} is still being made (pg_stat_progress_create_index tells how far it is): wait for its end, then run duet migrate again`,
      )
    await sleep(pause)
  }
}

/** Drops the invalid index that an interrupted `create index concurrently` left, so that it can be made again. */
const dropBroken = async (connection: Connection, statement: string): Promise<void> => {
  const [, index, table] =
    /^create (?:unique )?index concurrently if not exists (\w+)\s+on (\w+)/i.exec(statement) ?? []
  if (index === undefined || table === undefined) return
  await waitForIndexes(connection, table)
  const broken = await connection.query(
    queryWith(
      'select 1 from pg_index where indexrelid = to_regclass($1) and not indisvalid',
      index,
    ),
  )
  if (broken.length > 0) await connection.run(`drop index concurrently ${index}`)
}

const applyOutside = async (connection: Connection, text: string, record: Query): Promise<void> => {
  for (const statement of statementsOf(text)) {
    await dropBroken(connection, statement)
    await connection.run(statement)
  }
  await connection.query(record)
}

const retryWhileLocked = async (work: () => Promise<void>): Promise<void> => {
  for (let number = 1; ; number++)
    try {
      return await work()
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      if (number === tries)
        throw new Error(
          'a table that it changes was locked at each try, or a migration of a program that is gone was still at work: end those transactions (pg_stat_activity lists them), then run duet migrate again',
          { cause: error },
        )
      await sleep(pause)
    }
}

/** Applies a migration whole or not at all, unless it is marked to run outside a transaction. */
export const apply = async (connection: Connection, migration: Migration): Promise<void> => {
  const { text } = migration
  const record = recordOf(dialect, migration, Date.now())
  const applyText = text.startsWith(outsideMark) ? applyOutside : applyInside
  try {
    await retryWhileLocked(() => applyText(connection, text, record))
  } catch (error) {
    throw failed(migration, error)
  }
}
