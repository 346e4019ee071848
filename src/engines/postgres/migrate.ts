/** Brings a PostgreSQL store up to date: one program at a time, each migration with the note that it was. */
import { randomBytes } from 'node:crypto'
import { type Migration, migrationsOf, missingOf } from '#engines/migrations.ts'
import { connect, type Line, type LineOptions } from '#engines/postgres/line.ts'
import { isLocked } from '#engines/postgres/trouble.ts'
import { type Secret, secrets } from '#engines/store.ts'

/** A command waits for a statement as long as it takes; `prepare` as the store has it. */
export const commandLine = (url: string, prepare: boolean): LineOptions => ({
  url,
  prepare,
  statementTimeout: 0,
  lockTimeout: 0,
  patience: 0,
})

const appliedNames = async (line: Line): Promise<readonly string[]> => {
  const found = await line.query({
    text: `select to_regclass('migrations') is not null`,
    values: [],
  })
  if (found[0]?.[0] !== 1) return []
  const rows = await line.query({ text: 'select name from migrations order by name', values: [] })
  return rows.map(([name]) => String(name))
}

// Any number that no other program is likely to take.
const lockKey = 7_308_332_019_273

/**
 * Works while no other program migrates this store. The lock belongs to a transaction on a connection of its own, so
 * that it holds behind a pooler too, and whatever the work does.
 */
const alone = async <Result>(
  options: LineOptions,
  work: () => Promise<Result>,
): Promise<Result> => {
  const guard = await connect(options)
  try {
    await guard.run(
      'begin; set local idle_in_transaction_session_timeout = 0; set local statement_timeout = 0',
    )
    await guard.query({ text: 'select pg_advisory_xact_lock($1)::text', values: [lockKey] })
    return await work()
  } finally {
    await guard.end()
  }
}

/** How long a migration waits for a table that is in use, in milliseconds: who comes behind it waits as long. */
const lockTimeout = 3000
const tries = 20

/** Such a migration is one statement, one that can be run again: what PostgreSQL does not do in a transaction. */
const outside = /^-- outside a transaction\n/

const apply = async (line: Line, { name, text }: Migration, now: number): Promise<void> => {
  const note = {
    text: 'insert into migrations (name, applied_at) values ($1, $2)',
    values: [name, now],
  }
  if (outside.test(text)) {
    await line.run(text)
    await line.query(note)
    return
  }
  await line.run(`begin; set local lock_timeout = ${lockTimeout}`)
  try {
    await line.run(text)
    await line.query(note)
    await line.run('commit')
  } catch (error) {
    await line.run('rollback')
    throw error
  }
}

const patiently = async (work: () => Promise<void>): Promise<void> => {
  for (let number = 1; ; number++)
    try {
      return await work()
    } catch (error) {
      if (!isLocked(error) || number === tries) throw error
      await new Promise(resolve => setTimeout(resolve, 500))
    }
}

const makeSecrets = async (line: Line): Promise<void> => {
  for (const name of secrets)
    await line.query({
      text: 'insert into secrets (name, value) values ($1, $2) on conflict do nothing',
      values: [name, randomBytes(32)],
    })
}

/** Applies what is missing; gives the names of what it applied. Throws NewerStoreError before it touches anything. */
export const migratePostgres = (
  options: LineOptions,
  migrations: readonly Migration[] = migrationsOf('postgres'),
  now = Date.now(),
): Promise<readonly string[]> =>
  alone(options, async () => {
    const line = await connect(options)
    try {
      const pending = missingOf(migrations, await appliedNames(line))
      if (pending.length === 0) return []
      await line.run(
        'create table if not exists migrations (name text primary key, applied_at bigint not null)',
      )
      for (const migration of pending) await patiently(() => apply(line, migration, now))
      await makeSecrets(line)
      return pending.map(({ name }) => name)
    } finally {
      await line.end()
    }
  })

/** Works on a connection of its own. */
export const asking = async <Result>(
  options: LineOptions,
  work: (line: Line) => Promise<Result>,
): Promise<Result> => {
  const line = await connect(options)
  try {
    return await work(line)
  } finally {
    await line.end()
  }
}

/** What is not applied yet. */
export const pendingOn = (options: LineOptions): Promise<readonly string[]> =>
  asking(options, async line =>
    missingOf(migrationsOf('postgres'), await appliedNames(line)).map(({ name }) => name),
  )

/** A key of the store. */
export const secretOn = (options: LineOptions, name: Secret): Promise<Uint8Array> =>
  asking(options, async line => {
    const rows = await line
      .query({ text: 'select value from secrets where name = $1', values: [name] })
      .catch(() => [])
    const key = rows[0]?.[0]
    if (!(key instanceof Uint8Array))
      throw new Error(`the store has no ${name} key; run \`duet migrate\``)
    return key
  })
