/** A HAProxy before several services of a test: it sends requests to those that say they are ready. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { guarded, installed } from '../../support/guard.ts'
import { freePort, listening } from '../../support/ports.ts'

export type Haproxy = {
  readonly url: string
  readonly port: number
  readonly end: () => Promise<void>
}

const program = installed('haproxy')

/** Why there is no HAProxy here, for a test that needs one to skip with; false if there is. */
export const noHaproxy: string | false =
  program === undefined && 'HAProxy is not installed: apt-get install haproxy'

const configuration = (port: number, targets: readonly number[]) => `
defaults
  mode http
  retries 0
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  timeout check 10s
frontend all
  bind 127.0.0.1:${port}
  default_backend services
backend services
  balance roundrobin
  option httpchk GET /readyz
  http-check expect status 200
  default-server check inter 100ms fall 1 rise 1
${targets.map(target => `  server port${target} 127.0.0.1:${target}\n`).join('')}`

/**
 * Starts one that tries each request once, at the services on these ports in turn. One that says it is not
 * ready is left out at once; one that is slow to say anything is not.
 */
export const startHaproxy = async (targets: readonly number[]): Promise<Haproxy> => {
  if (program === undefined) throw new Error(String(noHaproxy))
  const guard = guarded('haproxy', 'TERM')
  const port = await freePort()
  const file = join(guard.folder, 'haproxy.cfg')
  writeFileSync(file, configuration(port, targets))
  await listening(guard.run(program, ['-db', '-f', file]), port).catch(async error => {
    await guard.end()
    throw error
  })
  return { url: `http://127.0.0.1:${port}`, port, end: guard.end }
}
