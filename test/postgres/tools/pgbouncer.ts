/** A PgBouncer in transaction mode before a test's server: each transaction may get another session. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { guarded, installed } from '../../support/guard.ts'
import { freePort, listening, urlAt } from '../../support/ports.ts'

export type Pgbouncer = {
  readonly port: number
  /** A server's address by way of this PgBouncer. */
  readonly through: (url: string) => string
  readonly end: () => Promise<void>
}

const program = installed('pgbouncer')

/** Why there is no PgBouncer here, for a test that needs one to skip with; false if there is. */
export const noPgbouncer: string | false =
  program === undefined && 'PgBouncer is not installed: apt-get install pgbouncer'

/** Starts one with ten sessions, before the server on a port of this machine. */
export const startPgbouncer = async (
  target: number,
  settings: Readonly<Record<string, string | number>> = {},
): Promise<Pgbouncer> => {
  if (program === undefined) throw new Error(String(noPgbouncer))
  const guard = guarded('pgbouncer', 'TERM')
  const port = await freePort()
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: 'transaction',
    default_pool_size: 10,
    max_client_conn: 1000,
    ...settings,
  }
  const file = join(guard.folder, 'pgbouncer.ini')
  writeFileSync(
    file,
    `[databases]
* = host=127.0.0.1 port=${target} user=postgres
[pgbouncer]
${Object.entries(all)
  .map(([name, value]) => `${name} = ${value}\n`)
  .join('')}`,
  )
  await listening(guard.run(program, [file]), port).catch(async error => {
    await guard.end()
    throw error
  })
  return { port, through: url => urlAt(url, port), end: guard.end }
}
