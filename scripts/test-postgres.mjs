// Gives a whole test run one PostgreSQL for all its files, unless the caller names one.
import { randomBytes } from 'node:crypto'

const run = randomBytes(4).toString('hex')
const isInner = process.env.DUET_TEST_RUN !== undefined // a test runs it, and has all it needs
let server

/** Tells the test files where the server is, or why there is none. */
export async function globalSetup() {
  if (isInner) return
  process.env.DUET_TEST_RUN = run
  if (process.env.DUET_TEST_POSTGRES_URL) return
  try {
    const { startPostgres } = await import('../test/postgres/tools/server.ts')
    server = await startPostgres()
    process.env.DUET_TEST_POSTGRES_URL = server.url
  } catch (error) {
    const [why] = error.message.split('\n')
    process.env.DUET_TEST_NO_POSTGRES = why
    console.error(`test: what needs PostgreSQL is skipped, as none could be started: ${why}`)
  }
}

/** Ends the server; the caller's own is left without what this run has put there. */
export async function globalTeardown() {
  if (isInner) return
  if (server) await server.end()
  else if (process.env.DUET_TEST_POSTGRES_URL) await dropAll(process.env.DUET_TEST_POSTGRES_URL)
}

async function dropAll(connectionString) {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString })
  try {
    await client.connect()
    const { rows } = await client.query(
      'select datname, datistemplate from pg_database where starts_with(datname, $1)',
      [`duet_${run}_`],
    )
    for (const { datname, datistemplate } of rows) {
      if (datistemplate) await client.query(`alter database ${datname} is_template false`)
      await client.query(`drop database ${datname} with (force)`)
    }
  } catch (error) {
    console.error(`test: databases named duet_${run}_… are left: ${error.message}`)
  } finally {
    await client.end()
  }
}
