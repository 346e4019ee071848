/** `duet serve --processes`: one port, one store, and what the end of each process does to the others. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { command } from '#test/commands.ts'
import { duet, folderOf, type Service, type Settings } from '#test/duet.ts'
import { ask } from '#test/postgres/tools/ask.ts'
import { answersWithout, keptAlive } from '#test/postgres/tools/connections.ts'
import { freshDatabase, noDatabase } from '#test/postgres/tools/database.ts'
import { isAlive } from '#test/postgres/tools/family.ts'
import { othersOf, serveTwo as twoProcesses } from '#test/postgres/tools/several.ts'
import { type BoundSocket, boundSocket } from '#test/support/bound-socket.ts'
import { freePort } from '#test/support/ports.ts'
import { valuesIn } from '#test/support/prometheus.ts'
import { until } from '#test/support/wait.ts'
import { assertOneEffect, openLine, paysOf, prepareOrders, race, raceAll } from '../store/racer.ts'
import { busyClient } from '../support/busy-client.ts'
import { secret } from '../world.ts'
import { tokenOf } from './rounds/client.ts'

const skip = noDatabase
let url = ''
let settings: Settings = {}

const serveTwo = (more: Settings = {}, socket?: BoundSocket): Promise<Service> =>
  twoProcesses({ ...settings, ...more }, socket)

before(async () => {
  if (skip) return
  url = (await freshDatabase()).url
  // So many connections that none of the racers waits for one.
  settings = { DUET_DATABASE_URL: url, DUET_AUTH_SECRET: secret, DUET_PG_POOL: '60' }
  assert.equal((await command(['migrate'], settings)).code, 0)
})

describe('--processes is refused with exit code 2 and the reason', () => {
  const sqlite = folderOf('processes').fresh().settings
  const postgres = { DUET_DATABASE_URL: 'postgres://127.0.0.1/duet', DUET_AUTH_SECRET: secret }
  const cases: readonly (readonly [string, Settings, RegExp])[] = [
    ['2', sqlite, /^duet: --processes is for PostgreSQL: one process alone may write to SQLite/],
    ...['0', 'x', '257'].map(
      count => [count, postgres, /--processes must be a whole number/] as const,
    ),
  ]
  for (const [count, given, reason] of cases)
    test(`${count} on ${given === sqlite ? 'SQLite' : 'PostgreSQL'}`, async () => {
      const { code, stderr } = await command(['serve', `--processes=${count}`], given)
      assert.equal(code, 2, stderr)
      assert.match(stderr, reason)
      assert.equal(stderr.trim().split('\n').length, 1, stderr)
    })
})

describe('two processes', { skip }, () => {
  let service: Service
  let metricsPort = 0
  before(async () => {
    metricsPort = await freePort(2)
    const socket = boundSocket()
    service = await serveTwo({ DUET_METRICS_PORT: String(metricsPort) }, socket)
    assert.equal(service.port, socket.port)
    socket.close()
  })
  after(() => service?.end('SIGKILL'))

  /** Connections of which each process has half: one by one they are handed out in turn. */
  const inTurn = async <Line>(count: number, open: () => Promise<Line>): Promise<Line[]> => {
    const lines: Line[] = []
    while (lines.length < count) lines.push(await open())
    return lines
  }

  test('pays of an order at the same moment, over both: exactly one takes effect, 25 times [B11, C1]', async t => {
    const workload = await prepareOrders(service, 500)
    const orders = await workload.placeMany(25)
    let replays = 0
    const races = orders.map(order => paysOf(order, 20))
    await raceAll(service, workload.token, races, (contenders, answers) => {
      assertOneEffect(contenders, answers)
      replays += answers.filter(({ replayed }) => replayed).length
    })
    const paid = `select count(*)::int || ' of ' || count(distinct order_id)::int from order_events where to_status = 'paid'`
    assert.equal(await ask(url, paid), '25 of 25')
    t.diagnostic(`${replays} answers were replayed`)
  })

  test('one key at the same moment to both: one effect, and the same answer from each [C6]', async () => {
    const workload = await prepareOrders(service, 500)
    const lines = await inTurn(10, () => openLine(service.port))
    for (let round = 0; round < 10; round++) {
      const path = `/api/orders/${await workload.place()}/pay`
      const contenders = lines.map(() => ({ path, key: `round-${round}` }))
      const answers = await race(lines, workload.token, contenders)
      const different = new Set(answers.map(({ status, body }) => `${status} ${body}`))
      assert.equal(different.size, 1)
      assert.match([...different].join(), /^200 /)
      assert.equal(answers.filter(({ replayed }) => !replayed).length, 1)
    }
    for (const line of lines) line.close()
  })

  test('both serve, and one that is killed is started again while the other goes on', async () => {
    const first = await othersOf(service)
    assert.equal(first.length, 2)
    const [killed = 0, ...others] = first
    const sockets = await inTurn(10, () => keptAlive(service))
    process.kill(killed, 'SIGKILL')
    const closed = () => sockets.filter(({ isClosed }) => isClosed())
    await until('the half of the killed one is closed', () => closed().length === 5)
    for (const { asks, isClosed } of sockets)
      if (!isClosed()) assert.match(await asks(), /^HTTP\/1.1 200 /)
    // Until the first process has noticed, it may hand a connection to the one that is gone.
    await until('the end is noticed', () =>
      service.stderr().includes(`process ${killed} ended (SIGKILL)`),
    )
    for (const fresh of await inTurn(10, () => keptAlive(service))) fresh.close()
    await until('there are two again', async () => (await othersOf(service)).length === 2)
    for (const pid of others) await answersWithout(service, pid)
    for (const { close } of sockets) close()
  })

  test('each has its metrics on a port of its own, which the one that was started again took over', async () => {
    const startedAt = async (number: number) => {
      const answer = await fetch(`http://127.0.0.1:${metricsPort + number}/metrics`)
      return valuesIn(await answer.text()).get('process_start_time_seconds')
    }
    const [first, second] = await Promise.all([startedAt(0), startedAt(1)])
    assert.ok(first !== undefined && second !== undefined)
  })

  /** Clients that keep both processes busy, each for as long as its connection is not ended. */
  const busyClients = async () => {
    const clients = await inTurn(16, async () => busyClient(service, 0))
    await until('each has some answers', () => clients.every(({ seen }) => seen.answers > 3))
    return clients
  }

  test('SIGTERM to one of them cuts none of 16 busy clients: the others go on, and it is started again', async () => {
    const clients = await busyClients()
    const [ended = 0, other = 0] = await othersOf(service)
    process.kill(ended, 'SIGTERM')
    await until('its clients are told', () => clients.some(({ seen }) => seen.told))
    const noticed = `process ${ended} ended (exit code 0)`
    await until('its end is noticed', () => service.stderr().includes(noticed))
    await until('there are two again', async () => (await othersOf(service)).length === 2)
    await answersWithout(service, other)
    const rest = clients.filter(({ seen }) => !seen.told)
    assert.ok(rest.length > 0, 'the other process has none')
    for (const { leave } of rest) leave()
    await Promise.all(clients.map(({ closed }) => closed))
    assert.equal(clients.filter(({ seen }) => seen.cut).length, 0)
  })

  test('SIGTERM to the first ends all with exit code 0, cuts none of 16 busy clients and loses nothing acknowledged [H8]', async t => {
    const acknowledged: string[] = []
    const others = new Set<number>()
    const writing = Array.from({ length: 16 }, async (_, name) => {
      for (let count = 0; ; count++) {
        const email = `w${name}.${count}@example.org`
        try {
          const { status } = await fetch(`${service.url}/api/users`, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify({ name: 'W', email }),
          })
          if (status === 201) acknowledged.push(email)
          // On a busy machine some wait too long for their connection to the database.
          else if (status !== 503) others.add(status)
        } catch {
          return
        }
      }
    })
    const clients = await busyClients()
    await until('100 writes are acknowledged', () => acknowledged.length >= 100)
    const pids = await othersOf(service)
    const { code } = await service.end('SIGTERM')
    await Promise.all(writing)
    assert.equal(code, 0, service.stderr())
    await Promise.all(clients.map(({ closed }) => closed))
    assert.equal(clients.filter(({ seen }) => seen.cut).length, 0)
    assert.deepEqual(pids.filter(isAlive), [])
    assert.deepEqual([...others], [])
    const stored = `select count(*)::int from users where email in ('${acknowledged.join("','")}')`
    assert.equal(await ask(url, stored), acknowledged.length)
    t.diagnostic(`${acknowledged.length} writes were acknowledged`)
  })
})

describe('what is wrong from the start is told once, with exit code 1, and nothing is tried again', {
  skip,
}, () => {
  const failing = async (more: Settings, run: typeof command | typeof duet = duet) => {
    const { code, stderr } = await run(['serve', '--processes', '2'], { ...settings, ...more })
    assert.equal(code, 1, stderr)
    return stderr.trim().split('\n')
  }
  test('a setting', async () => {
    const told = await failing({ DUET_AUTH_SECRET: 'short' }, command)
    assert.equal(told.length, 1)
    assert.match(told[0] ?? '', /DUET_AUTH_SECRET/)
  })
  test('a port that is in use', async t => {
    const other = createServer().listen(0, '127.0.0.1')
    t.after(() => other.close())
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    const told = await failing({ DUET_PORT: String(port) })
    assert.deepEqual(told, [
      `duet: port ${port} is in use already; set DUET_PORT to another, or to 0 for a free one`,
      'duet: a process ended at its start (exit code 1)',
    ])
  })
})

describe('two processes with a limit', { skip }, () => {
  let service: Service
  before(async () => {
    service = await serveTwo({ DUET_RATE_LIMIT: '50' })
  })

  test('both count requests together: of 80 over both, eight at once, with a limit of 50, exactly 50 are let through', async () => {
    const statusesOf = async (user: number) => {
      const token = await tokenOf(user)
      const headers = { Authorization: `Bearer ${token}`, Connection: 'close' }
      const statuses: number[] = []
      let longest = 0
      while (statuses.length < 80) {
        const from = performance.now()
        const asked = Array.from({ length: 8 }, () =>
          fetch(`${service.url}/api/products`, { headers }),
        )
        statuses.push(...(await Promise.all(asked)).map(({ status }) => status))
        longest = Math.max(longest, performance.now() - from)
      }
      return { statuses, longest }
    }
    const minute = () => Math.floor(Date.now() / 60_000)
    // Counts are per minute, and a request that waits for the store for half a second is decided without it: another caller tries again.
    for (let user = 900; ; user++) {
      const begun = minute()
      const { statuses, longest } = await statusesOf(user)
      const counts = [200, 429].map(status => statuses.filter(is => is === status).length)
      const isUnsure = begun !== minute() || longest > 500
      if (isUnsure && user < 920 && counts[0] !== 50) continue
      assert.deepEqual(counts, [50, 30])
      break
    }
  })

  test('when the first process is killed outright the others end by themselves', async () => {
    const pids = await othersOf(service)
    assert.equal(pids.length, 2)
    const line = await keptAlive(service)
    await service.end('SIGKILL')
    await until('the others have ended', () => !pids.some(isAlive))
    await until('the connection is closed', line.isClosed)
  })
})
