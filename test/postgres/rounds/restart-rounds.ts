/** Two services behind a balancer, ended and started again in turn under load: no caller may notice. */
import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { duet, type Service, type Settings, serve } from '../../duet.ts'
import { secret } from '../../world.ts'
import { ask, until } from '../tools/ask.ts'
import { freshDatabase } from '../tools/database.ts'
import { freePort } from '../tools/guard.ts'
import { type Haproxy, startHaproxy } from '../tools/haproxy.ts'
import { tokenOf } from './voice.ts'

const perSecond = 300

/** Much longer than the balancer needs to see that a service drains, for a machine that is busy. */
const drainWait = 3000

type Sending = { readonly line: string; readonly body?: unknown; readonly expect: number }

/** Of ten requests seven read. */
const sendingOf = (number: number): Sending => {
  const email = `r${number}@example.org`
  // Not always the same one, for which its writers would wait in line.
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

/** Fails where a request failed; `tell` is told the figures. */
export const assertUnnoticed = (tally: Tally, tell: (figures: string) => void) => {
  const { sent, errors, refused, slowest } = tally
  tell(
    `${sent} requests, ${errors.length} errors, ${refused} refused, slowest ${Math.round(slowest)} ms`,
  )
  assert.deepEqual([...new Set(errors)].slice(0, 5), [])
  assert.ok(refused < sent / 100)
}

/** What became of the requests. */
type Tally = {
  sent: number
  readonly errors: string[]
  /** Those that a service refused because the machine was too busy, which is no matter of the restart. */
  refused: number
  readonly created: string[]
  slowest: number
}

/** Sends so many requests a second, whatever comes back and when, over connections that are kept. */
const startLoad = async ({ port }: Haproxy) => {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 64 })
  const authorization = `Bearer ${await tokenOf(1)}`
  const tally: Tally = { sent: 0, errors: [], refused: 0, created: [], slowest: 0 }
  const open = new Set<Promise<void>>()

  const send = ({ line, body, expect }: Sending): Promise<void> =>
    new Promise(resolve => {
      const begun = performance.now()
      const [method = 'GET', path = '/'] = line.split(' ')
      const end = (fault: string | undefined) => {
        if (fault !== undefined) tally.errors.push(`${line}: ${fault}`)
        tally.slowest = Math.max(tally.slowest, performance.now() - begun)
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
          if (/"OVERLOADED"/.test(text)) tally.refused++
          else if (!isRight) return end(`status ${response.statusCode} ${text}`)
          end(undefined)
        })
      })
      sent.setTimeout(10_000, () => sent.destroy(new Error('no answer')))
      sent.once('error', error => end(error.message))
      sent.end(text)
    })

  const begun = performance.now()
  const due = () => Math.floor(((performance.now() - begun) / 1000) * perSecond)
  const timer = setInterval(() => {
    while (tally.sent < due()) {
      const answered = send(sendingOf(tally.sent++)).then(() => void open.delete(answered))
      open.add(answered)
    }
  }, 5)
  const end = async (): Promise<Tally> => {
    clearInterval(timer)
    await Promise.all(open)
    agent.destroy()
    return tally
  }
  return { end }
}

/** Restarts the services in turn, so many restarts in all; gives what became of the requests meanwhile. */
export const rollingRounds = async (restarts: number, wait = drainWait): Promise<Tally> => {
  const { url, drop } = await freshDatabase()
  const settings: Settings = {
    DUET_DATABASE_URL: url,
    DUET_AUTH_SECRET: secret,
    DUET_DRAIN_WAIT: String(wait),
  }
  assert.equal((await duet(['migrate'], settings)).code, 0)
  const ports = [await freePort(), await freePort()]
  const starts = (port: number) => serve({ ...settings, DUET_PORT: String(port) })
  const services: Service[] = []
  for (const port of ports) services.push(await starts(port))
  const haproxy = await startHaproxy(ports)
  try {
    await until(async () => (await fetch(`${haproxy.url}/readyz`)).status === 200)
    const load = await startLoad(haproxy)
    for (let number = 0; number < restarts; number++) {
      await sleep(500)
      const oldest = services.shift() as Service
      assert.equal((await oldest.end('SIGTERM')).code, 0, oldest.stderr())
      services.push(await starts(oldest.port))
      await until(() => isReady(oldest.port))
    }
    await sleep(500)
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
