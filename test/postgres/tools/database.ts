/** New databases for tests on the PostgreSQL that the whole test run shares. */
import { createHash } from 'node:crypto'
import { after } from 'node:test'
import { Pool } from 'pg'

export type Database = {
  readonly url: string
  /** Drops it before the test file ends, and with it the sessions in it. */
  readonly drop: () => Promise<void>
}

const server = process.env.DUET_TEST_POSTGRES_URL
// scripts/test-postgres.mjs names the run, and drops in the end what bears its name.
const prefix = `duet_${process.env.DUET_TEST_RUN ?? process.ppid}`

/** Why there is no server to ask, for a test that needs one to skip with; false if there is. */
export const noDatabase: string | false =
  !server &&
  (process.env.DUET_TEST_NO_POSTGRES ??
    'no PostgreSQL: npm test starts one, or set DUET_TEST_POSTGRES_URL')

const pool = new Pool({ connectionString: server, max: 4, allowExitOnIdle: true })
pool.on('error', () => {})
const alive = new Set<Database>()
after(async () => {
  for (const database of alive) await database.drop()
  await pool.end()
})

const urlOf = (name: string) => {
  if (noDatabase) throw new Error(noDatabase)
  const url = new URL(server ?? '')
  url.pathname = name
  return url.href
}

let count = 0

/** A new database: an empty one, or a copy of a template. It is dropped when the test file ends. */
export const freshDatabase = async ({
  template = 'template0',
  encoding = '',
} = {}): Promise<Database> => {
  const name = `${prefix}_${process.pid}_${++count}`
  const url = urlOf(name)
  // Copied as files: to write the copy to the log takes three times as long.
  const how = encoding && `encoding '${encoding}' locale 'C'`
  await pool.query(`create database ${name} template ${template} strategy file_copy ${how}`)
  const drop = async () => {
    alive.delete(database)
    await pool.query(`drop database if exists ${name} with (force)`)
  }
  const database = { url, drop }
  alive.add(database)
  return database
}

/** A new database with defaults of its own for settings; gives its URL. */
export const databaseWith = async (...settings: readonly string[]): Promise<string> => {
  const { url } = await freshDatabase()
  const name = new URL(url).pathname.slice(1)
  for (const setting of settings) await pool.query(`alter database ${name} set ${setting}`)
  return url
}

const templates = new Map<string, Promise<string>>()

/**
 * The name of a template database that `make` fills, once in a whole test run for all its processes.
 * `make` must have closed its connections when it resolves.
 */
export const templateFor = (key: string, make: (url: string) => Promise<void>): Promise<string> => {
  const known = templates.get(key) ?? madeOnce(key, make)
  templates.set(key, known)
  known.catch(() => templates.delete(key))
  return known
}

async function madeOnce(key: string, make: (url: string) => Promise<void>): Promise<string> {
  const name = `${prefix}_template_${createHash('sha256').update(key).digest('hex').slice(0, 12)}`
  const url = urlOf(name)
  const client = await pool.connect()
  try {
    await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [name])
    const { rows } = await client.query(
      'select 1 from pg_database where datname = $1 and datistemplate',
      [name],
    )
    if (rows.length > 0) return name
    // One that another process began to make and could not finish.
    await client.query(`drop database if exists ${name} with (force)`)
    await client.query(`create database ${name} template template0 strategy file_copy`)
    await make(url)
    await client.query(`alter database ${name} is_template true allow_connections false`)
    return name
  } finally {
    client.release(true) // the lock ends with the session
  }
}
