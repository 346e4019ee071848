/** Two services behind a balancer, ended and started again in turn under load: no caller may notice. */
import assert from 'node:assert/strict'
import { command } from '#test/commands.ts'
import { type Service, type Settings, serve } from '#test/duet.ts'
import { ask } from '#test/postgres/tools/ask.ts'
import { freshDatabase } from '#test/postgres/tools/database.ts'
import { startHaproxy } from '#test/postgres/tools/haproxy.ts'
import { freePort } from '#test/support/ports.ts'
import { until } from '#test/support/wait.ts'
import { type Sending, startLoad, type Tally } from '../../support/steady-load.ts'
import { secret } from '../../world.ts'
import { tokenOf } from './client.ts'

/** Much longer than the balancer needs to see that a service drains, for a machine that is busy. */
const drainWait = 3000

/** Of ten requests seven read; `onCreated` gets the address of each user whose making was acknowledged. */
const sendingOf = (number: number, onCreated: (email: string) => void): Sending => {
  const email = `r${number}@example.org`
  const creates = (name: string, email: string): Sending => ({
    line: 'POST /api/users',
    body: { name, email },
    expect: 201,
    onAnswer: () => onCreated(email),
  })
  // Not always the same row, or its writers would queue for it.
  const user = 1 + (Math.floor(number / 10) % 4)
  const query = '{ users(limit: 3) { name posts(limit: 2) { title comments { text } } } }'
  const all: readonly Sending[] = [
    { line: 'GET /api/products/1', expect: 200 },
    { line: 'GET /api/users/2', expect: 200 },
    creates('R', email),
    { line: 'GET /api/products?search=lamp', expect: 200 },
    { line: 'POST /graphql', body: { query }, expect: 200 },
    { line: `PATCH /api/users/${user}`, body: { name: `R ${number}` }, expect: 200 },
    { line: 'GET /api/posts?limit=3', expect: 200 },
    { line: 'GET /api/users/1/avatar', expect: 200 },
    { line: 'POST /graphql', body: { query }, expect: 200 },
    creates('S', `s${email}`),
  ]
  return all[number % all.length] as Sending
}

/**
 * Restarts the services in turn, so many restarts in all; gives the results of the requests meanwhile. Where no more requests are open than a
 * service has connections to its database, none waits for one, however busy the machine is.
 */
export const rollingRounds = async (
  restarts: number,
  { perSecond = 300, mostOpen = 32, wait = drainWait } = {},
): Promise<Tally> => {
  const { url, drop } = await freshDatabase()
  const settings: Settings = {
    DUET_DATABASE_URL: url,
    DUET_AUTH_SECRET: secret,
    DUET_DRAIN_WAIT: String(wait),
  }
  assert.equal((await command(['migrate'], settings)).code, 0)
  const ports = [await freePort(), await freePort()]
  const starts = (port: number) => serve({ ...settings, DUET_PORT: String(port) })
  const services: Service[] = []
  for (const port of ports) services.push(await starts(port))
  const haproxy = await startHaproxy(ports)
  try {
    await until(
      'HAProxy has a service',
      async () => (await fetch(`${haproxy.url}/readyz`)).status === 200,
    )
    const created: string[] = []
    const load = startLoad({
      port: haproxy.port,
      authorization: `Bearer ${await tokenOf(1)}`,
      next: number => sendingOf(number, email => created.push(email)),
      perSecond,
      mostOpen,
      mostFree: 64,
    })
    for (let number = 0; number < restarts; number++) {
      await load.more(perSecond / 2)
      const oldest = services.shift() as Service
      assert.equal((await oldest.end('SIGTERM')).code, 0, oldest.stderr())
      services.push(await starts(oldest.port))
      await until('the new service is ready', () => isReady(oldest.port))
    }
    await load.more(perSecond / 2)
    const tally = await load.end()
    const stored = `select count(*)::int from users where email in ('${created.join("','")}')`
    assert.equal(await ask(url, stored), created.length, 'acknowledged writes are lost')
    return tally
  } finally {
    await haproxy.end()
    await Promise.all(services.map(service => service.end('SIGKILL')))
    await drop()
  }
}

const isReady = async (port: number) =>
  (await fetch(`http://127.0.0.1:${port}/readyz`)).status === 200
