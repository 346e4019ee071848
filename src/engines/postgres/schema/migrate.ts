/** Brings a PostgreSQL store up to date: one program at a time, each migration with the note that it was. */
import { randomBytes } from 'node:crypto'
import {
  type Applied,
  checksumOf,
  type Migration,
  missingOf,
  uncheckedOf,
} from '#engines/migrations.ts'
import { type Connection, connect } from '#engines/postgres/connection/connection.ts'
import type { ConnectionOptions } from '#engines/postgres/connection/settings.ts'
import { apply } from '#engines/postgres/schema/apply.ts'
import { type Secret, secrets } from '#engines/store.ts'

/** A command waits for a statement as long as it takes; `prepare` as the store has it. */
export const commandConnection = (url: string, prepare: boolean): ConnectionOptions => ({
  url,
  prepare,
  statementTimeout: 0,
  lockTimeout: 0,
  patience: 0,
})

const isThere = async ({ query }: Connection): Promise<boolean> => {
  const [found] = await query({ text: `select to_regclass('migrations') is not null`, values: [] })
  return found?.[0] === 1
}

const hasChecksums = async ({ query }: Connection): Promise<boolean> => {
  const found = await query({
    text: `select 1 from pg_attribute where attrelid = to_regclass('migrations') and attname = 'checksum' and not attisdropped`,
    values: [],
  })
  return found.length > 0
}

const appliedIn = async (connection: Connection): Promise<readonly Applied[]> => {
  if (!(await isThere(connection))) return []
  const text = (await hasChecksums(connection))
    ? 'select name, checksum from migrations order by name'
    : 'select name, null from migrations order by name'
  const rows = await connection.query({ text, values: [] })
  return rows.map(([name, checksum]) => ({
    name: String(name),
    checksum: checksum == null ? null : String(checksum),
  }))
}

const makeNotes = async (connection: Connection): Promise<void> => {
  await connection.run(
    'create table if not exists migrations (name text primary key, applied_at bigint not null, checksum text)',
  )
  // Stores of older programs have none.
  if (!(await hasChecksums(connection)))
    await connection.run('alter table migrations add column checksum text')
}

// Any number that no other program is likely to take.
const lockKey = 7_308_332_019_273

/** How often it is asked for, in milliseconds. */
const every = 100

/**
 * Takes the lock if it can be had, in a transaction that holds it. A statement that waited for it would be one that an
 * index made concurrently waits for in turn, and so would an old snapshot.
 */
const locks = async (guard: Connection): Promise<boolean> => {
  await guard.run(
    'begin; set local idle_in_transaction_session_timeout = 0; set local statement_timeout = 0',
  )
  const rows = await guard.query({
    text: 'select pg_try_advisory_xact_lock($1)',
    values: [lockKey],
  })
  const isOurs = rows[0]?.[0] === 1
  // A question keeps its snapshot until the next one, or the end of the transaction.
  await guard.run(isOurs ? 'select 1' : 'rollback')
  return isOurs
}

/**
 * Works while no other program migrates this store. The lock belongs to a transaction on a connection of its own, so
 * that it holds behind a pooler too, and whatever the work does.
 */
const alone = async <Result>(
  options: ConnectionOptions,
  work: () => Promise<Result>,
): Promise<Result> => {
  const guard = await connect(options)
  try {
    while (!(await locks(guard))) await new Promise(resolve => setTimeout(resolve, every))
    return await work()
  } finally {
    await guard.end()
  }
}

const makeSecrets = async (connection: Connection): Promise<void> => {
  for (const name of secrets)
    await connection.query({
      text: 'insert into secrets (name, value) values ($1, $2) on conflict do nothing',
      values: [name, randomBytes(32)],
    })
}

/** Works on a connection of its own. */
export const asking = async <Result>(
  options: ConnectionOptions,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> => {
  const connection = await connect(options)
  try {
    return await work(connection)
  } finally {
    await connection.end()
  }
}

const migrateOn = async (
  connection: Connection,
  migrations: readonly Migration[],
  now: number,
): Promise<readonly string[]> => {
  const applied = await appliedIn(connection)
  const pending = missingOf(migrations, applied)
  const unchecked = uncheckedOf(migrations, applied)
  if (pending.length === 0 && unchecked.length === 0) return []
  await makeNotes(connection)
  for (const migration of pending) await apply(connection, migration, now)
  for (const migration of unchecked)
    await connection.query({
      text: 'update migrations set checksum = $2 where name = $1',
      values: [migration.name, checksumOf(migration)],
    })
  await makeSecrets(connection)
  return pending.map(({ name }) => name)
}

/** Applies what is missing; gives the names of what it applied. Throws NewerStoreError before it touches anything. */
export const migratePostgres = (
  options: ConnectionOptions,
  migrations: readonly Migration[],
  now = Date.now(),
): Promise<readonly string[]> =>
  alone(options, () => asking(options, connection => migrateOn(connection, migrations, now)))

/** What is not applied yet. */
export const pendingOn = (
  options: ConnectionOptions,
  migrations: readonly Migration[],
): Promise<readonly string[]> =>
  asking(options, async connection =>
    missingOf(migrations, await appliedIn(connection)).map(({ name }) => name),
  )

/** A key of the store. */
export const secretOn = (options: ConnectionOptions, name: Secret): Promise<Uint8Array> =>
  asking(options, async connection => {
    const [isMigrated] = await connection.query({
      text: `select to_regclass('secrets') is not null`,
      values: [],
    })
    const text = 'select value from secrets where name = $1'
    const rows = isMigrated?.[0] === 1 ? await connection.query({ text, values: [name] }) : []
    const key = rows[0]?.[0]
    if (!(key instanceof Uint8Array))
      throw new Error(`the store has no ${name} key; run \`duet migrate\``)
    return key
  })
