// Gives a whole test run one PostgreSQL for all its files, unless the caller names one.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Gives the environment for the test files (the server's address, or the reason why there is none) its
 * process where it is started here, how many sessions it had, and the function that ends it.
 */
export async function testServer() {
  if (process.env.DUET_TEST_RUN !== undefined) return { env: {}, end: async () => {} } // a test runs it
  const run = randomBytes(4).toString('hex')
  const own = { DUET_TEST_RUN: run }
  const given = process.env.DUET_TEST_POSTGRES_URL
  if (given) return { env: own, end: () => dropAll(given, run) }
  try {
    const { startPostgres } = await import('../test/postgres/tools/server.ts')
    // Its many small databases last for a test each, and need no care meanwhile; nobody follows it.
    const alone = { wal_keep_size: 0, wal_level: 'minimal', max_wal_senders: 0 }
    const server = await startPostgres({
      settings: { ...alone, autovacuum: 'off', shared_buffers: '32MB', log_connections: 'on' },
      keepsEmpty: true,
    })
    const env = {
      ...own,
      DUET_TEST_POSTGRES_URL: bySocket(server),
      DUET_TEST_POSTGRES_EMPTY: join(server.folder, 'empty'),
    }
    const log = join(server.folder, 'log')
    const sessions = () => readFileSync(log, 'utf8').split('connection authorized').length - 1
    return { env, pid: server.pid, sessions, end: server.end }
  } catch (error) {
    const [why] = error.message.split('\n')
    console.error(`test: what needs PostgreSQL is skipped, as none could be started: ${why}`)
    return { env: { ...own, DUET_TEST_NO_POSTGRES: why }, end: async () => {} }
  }
}

/** Its address by the socket in its folder, which takes half of what a loopback connection takes. */
function bySocket({ url, folder }) {
  const address = new URL(url)
  address.searchParams.set('host', folder)
  return address.href
}

async function dropAll(connectionString, run) {
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
