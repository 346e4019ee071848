/** Two services behind a balancer, ended and started again in turn under load: no caller may notice. */
import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { command } from '../../commands.ts'
import { type Service, type Settings, serve } from '../../duet.ts'
import { longest, until } from '../../support/wait.ts'
import { secret } from '../../world.ts'
import { ask } from '../tools/ask.ts'
import { freshDatabase } from '../tools/database.ts'
import { freePort } from '../tools/guard.ts'
import { type Haproxy, startHaproxy } from '../tools/haproxy.ts'
import { tokenOf } from './client.ts'

const perSecond = 300

/** So many requests wait for their answers at the most: a machine that is too busy for all of them is sent fewer. */
const mostOpen = 32

/** Much longer than the balancer needs to see that a service drains, for a machine that is busy. */
const drainWait = 3000

type Sending = { readonly line: string; readonly body?: unknown; readonly expect: number }

/** Of ten requests seven read. */
const sendingOf = (number: number): Sending => {
  const email = `r${number}@example.org`
  // Not always the same row, or its writers would queue for it.
  const user = 1 + (Math.floor(number / 10) % 4)
  const query = '{ users(limit: 3) { name posts(limit: 2) { title comments { text } } } }'
  const all: readonly Sending[] = [
    { line: 'GET /api/products/1', expect: 200 },
    { line: 'GET /api/users/2', expect: 200 },
    { line: 'POST /api/users', body: { name: 'R', email }, expect: 201 },
    { line: 'GET /api/products?search=lamp', expect: 200 },
    { line: 'POST /graphql', body: { query }, expect: 200 },
    { line: `PATCH /api/users/${user}`, body: { name: `R ${number}` }, expect: 200 },
    { line: 'GET /api/posts?limit=3', expect: 200 },
    { line: 'GET /api/users/1/avatar', expect: 200 },
    { line: 'POST /graphql', body: { query }, expect: 200 },
    { line: 'POST /api/users', body: { name: 'S', email: `s${email}` }, expect: 201 },
  ]
  return all[number % all.length] as Sending
}

/** Fails where a request failed; passes the figures to `tell`. */
export const assertUnnoticed = (tally: Tally, tell: (figures: string) => void) => {
  const { sent, errors } = tally
  tell(`${sent} requests, ${errors.length} errors`)
  assert.deepEqual([...new Set(errors)].slice(0, 5), [])
}

/** The results of the requests. */
type Tally = {
  sent: number
  readonly errors: string[]
  readonly created: string[]
}

/** Sends requests over connections that are kept. */
const startLoad = async ({ port }: Haproxy) => {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 64 })
  const authorization = `Bearer ${await tokenOf(1)}`
  const tally: Tally = { sent: 0, errors: [], created: [] }
  const open = new Set<Promise<void>>()

  const send = ({ line, body, expect }: Sending): Promise<void> =>
    new Promise(resolve => {
      const [method = 'GET', path = '/'] = line.split(' ')
      const end = (fault: string | undefined) => {
        if (fault !== undefined) tally.errors.push(`${line}: ${fault}`)
        resolve()
      }
      const text = body === undefined ? undefined : JSON.stringify(body)
      const headers = {
        authorization,
        ...(text !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
        }),
      }
      const sent = request({ agent, port, host: '127.0.0.1', method, path, headers }, response => {
        let text = ''
        response.setEncoding('utf8').on('data', part => {
          text += part
        })
        response.once('error', error => end(error.message))
        response.once('end', () => {
          const isRight = response.statusCode === expect
          if (isRight && expect === 201) tally.created.push((body as { email: string }).email)
          if (!isRight) return end(`status ${response.statusCode} ${text}`)
          end(undefined)
        })
      })
      sent.setTimeout(longest, () => sent.destroy(new Error('no answer')))
      sent.once('error', error => end(error.message))
      sent.end(text)
    })

  const timer = setInterval(() => {
    if (open.size >= mostOpen) return
    const answered = send(sendingOf(tally.sent++)).then(() => void open.delete(answered))
    open.add(answered)
  }, 1000 / perSecond)
  const more = async () => {
    const enough = tally.sent + perSecond / 2
    await until('more requests are sent', () => tally.sent >= enough)
  }
  const end = async (): Promise<Tally> => {
    clearInterval(timer)
    await Promise.all(open)
    agent.destroy()
    return tally
  }
  return { more, end }
}

/** Restarts the services in turn, so many restarts in all; gives the results of the requests meanwhile. */
export const rollingRounds = async (restarts: number, wait = drainWait): Promise<Tally> => {
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
    const load = await startLoad(haproxy)
    for (let number = 0; number < restarts; number++) {
      await load.more()
      const oldest = services.shift() as Service
      assert.equal((await oldest.end('SIGTERM')).code, 0, oldest.stderr())
      services.push(await starts(oldest.port))
      await until('the new service is ready', () => isReady(oldest.port))
    }
    await load.more()
    const tally = await load.end()
    const stored = `select count(*)::int from users where email in ('${tally.created.join("','")}')`
    assert.equal(await ask(url, stored), tally.created.length, 'acknowledged writes are lost')
    return tally
  } finally {
    await haproxy.end()
    await Promise.all(services.map(service => service.end('SIGKILL')))
    await drop()
  }
}

const isReady = async (port: number) =>
  (await fetch(`http://127.0.0.1:${port}/readyz`)).status === 200
