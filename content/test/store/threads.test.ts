/** Several threads that serve one store on one port, as callers and operators see them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { request } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { after, before, test } from 'node:test'
import { createTallies } from '#base/tallies.ts'
import type { EngineOptions } from '#engines/shared/store.ts'
import { connect as connectTo } from '#engines/sqlite/connection.ts'
import { sqliteStore } from '#engines/sqlite/store.ts'
import { queryWith, type Rows } from '#sql/engine.ts'
import { duet, folderOf, type Service, serve, serveOn, start } from '#test/duet.ts'
import { historyFor } from '#test/history.ts'
import { boundSocket } from '#test/support/bound-socket.ts'
import { valuesIn } from '#test/support/prometheus.ts'
import { usualSeed } from '#test/support/rounds.ts'
import { longest, standStill, until } from '#test/support/wait.ts'
import { raceThreads } from '../support/threads-race.ts'
import { isCached } from '../world.ts'

const { fresh } = folderOf('threads')
const seed = usualSeed(7)
const two = { DUET_THREADS: '2' }

for (const [name, cache] of [
  ['cached', '33554432'],
  ['read anew', '0'],
] as const)
  test(`where answers are ${name}, what one thread told is not older on another (DUET_SEED=${seed})`, async t => {
    const settings = { ...fresh().settings, DUET_CACHE: cache }
    const { faults, hits, writes, asked, spread } = await raceThreads({
      settings,
      threads: 2,
      reads: 300,
      seed,
    })
    assert.deepEqual(faults, [])
    assert.ok(spread.every(Boolean), `the connections of the threads: ${spread}`)
    if (cache !== '0') assert.ok(hits > 0)
    t.diagnostic(`${asked} reads, ${hits} of them cached, beside ${writes} writes`)
  })

test('a thread that has a snapshot open when another one is told of a commit shows that commit', async () => {
  const { file } = fresh()
  const store = sqliteStore({ file, migrations: historyFor('sqlite'), sync: 'normal' })
  await store.migrate()
  const options: EngineOptions = {
    ...{ digits: 2, limits: { objects: 1000, bytes: 1_000_000 }, readTimeout: 5000, queue: 100 },
    onFatal: message => assert.fail(message),
  }
  const host = store.open({ ...options, isHost: true })
  const tallies = createTallies(2)
  const [one, other] = [1, 2].map(number => {
    const share = host.shareWith?.(number)
    assert.ok(share)
    return store.open({ ...options, thread: { number, share, tallies } })
  })
  assert.ok(one && other)
  await Promise.all([one.ready(), other.ready()])
  const look = queryWith("select count(*) from secrets where name = 'threads'")
  const shown = () => (other.query(look) as Rows)[0]?.[0]
  const insert = "insert into secrets (name, value) values ('threads', x'00') returning name"
  // The writer waits for the lock until the snapshot is open.
  const lock = connectTo(file)
  lock.run('begin immediate')
  const write = one.write({
    steps: [{ statement: { text: insert, values: [] }, expect: 'row' }],
    status: 200,
    answer: null,
  })
  const seen = await new Promise<unknown[]>(resolve => {
    setImmediate(() => {
      const before = shown()
      lock.run('rollback')
      for (let tries = 0; tries < longest / 5 && shown() === 0; tries++) standStill(5)
      resolve([before, shown()])
    })
  })
  lock.close()
  assert.equal((await write).kind, 'done')
  assert.deepEqual(seen, [0, 1])
  await Promise.all([one.close(), other.close()])
  await host.close()
})

/** A connection of its own for each request, so that requests go to all threads. */
const ask = (port: number, line: string, headers: Record<string, string> = {}, body?: string) => {
  const [method = '', path = ''] = line.split(' ')
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request(
      { agent: false, host: '127.0.0.1', port, method, path, headers },
      async answer => {
        let text = ''
        for await (const part of answer.setEncoding('utf8')) text += part
        resolve({ status: answer.statusCode ?? 0, text })
      },
    )
    sent.once('error', reject)
    sent.end(body)
  })
}

const statusOf = (port: number, line: string) =>
  ask(port, line).then(
    ({ status }) => status,
    () => 0,
  )

const dying = `--import=${new URL('../../../test/support/dying-thread.mjs', import.meta.url)}`

let service: Service
let metrics = ''
before(async () => {
  service = await serve({
    ...fresh().settings,
    ...two,
    DUET_LOG: 'info',
    DUET_METRICS_PORT: '0',
    NODE_OPTIONS: `--max-old-space-size=96 ${dying}`,
  })
  metrics = / with metrics on (\S+)/.exec(service.stderr())?.[1] ?? ''
})
after(() => service?.end())

const scrape = async () => valuesIn(await (await fetch(metrics)).text())
const answered = (values: ReadonlyMap<string, number>, path: string) =>
  [...values]
    .filter(([name]) => name.startsWith('http_server_request_duration_seconds_count{'))
    .filter(([name]) => name.includes(`http_route="${path}",http_response_status_code="200"`))
    .reduce((sum, [, n]) => sum + n, 0)

test('the service says how many threads it has, and its metrics are those of all of them', async () => {
  assert.match(service.stderr(), / in 2 threads$/m)
  const before = answered(await scrape(), '/api/products/:id')
  for (let n = 0; n < 40; n++)
    assert.equal(await statusOf(service.port, 'GET /api/products/1'), 200)
  const values = await scrape()
  assert.equal(answered(values, '/api/products/:id') - before, 40)
  assert.equal(
    values.get('duet_memory_budget_bytes{purpose="cached"}') || 0,
    isCached ? 33_554_432 : 0,
  )
  for (const thread of ['1', '2'])
    assert.ok(values.has(`nodejs_eventloop_lag_mean_seconds{thread="${thread}"}`))
  assert.ok(Number(values.get('process_resident_memory_bytes')) > 0)
})

test('each request has a line of the log, whole, whichever thread answers it', async () => {
  const path = '/api/products?limit=7'
  await Promise.all(Array.from({ length: 60 }, () => statusOf(service.port, `GET ${path}`)))
  const lines = () =>
    service
      .stdout()
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line) as { readonly msg: string })
  await until(
    'all requests are in the log',
    () => lines().filter(({ msg }) => msg === 'request').length >= 100,
  )
})

for (const [how, why] of [
  ['die', 'asked to die'],
  ['starve', 'memory limit'],
] as const)
  test(`a thread that ends (${how}) is started again, and its counts stay`, async () => {
    const before = answered(await scrape(), '/api/products/:id')
    const ended = () =>
      service.stderr().length + (service.stdout().match(/a serving thread ended/g)?.length ?? 0)
    const told = ended()
    await ask(service.port, `GET /api/${how}`).catch(() => {})
    // The other one goes on.
    const statuses = await Promise.all(
      Array.from({ length: 20 }, () => statusOf(service.port, 'GET /api/products/1')),
    )
    assert.ok(statuses.includes(200), `${statuses}`)
    await until('the log says why', () =>
      new RegExp(`a serving thread ended \\([^)]*${why}`).test(service.stdout()),
    )
    assert.ok(ended() > told)
    await until('both threads take connections again', async () => {
      const open = await Promise.all(
        Array.from({ length: 16 }, async () => {
          const socket = connect(service.port, '127.0.0.1')
          await once(socket, 'connect')
          return socket
        }),
      )
      const values = await scrape()
      for (const socket of open) socket.destroy()
      return ['1', '2'].every(
        thread => Number(values.get(`duet_thread_connections{thread="${thread}"}`)) > 0,
      )
    })
    assert.ok(answered(await scrape(), '/api/products/:id') >= before)
  })

test('the third death within a minute ends the process, and the log says why', async () => {
  await ask(service.port, 'GET /api/die').catch(() => {})
  await service.gone
  assert.equal(service.child.exitCode, 1, `${service.child.signalCode} ${service.stderr()}`)
  assert.match(
    service.stdout(),
    /3 serving threads ended within a minute, the last one for this reason: asked to die/,
  )
})

test('what a dead thread had read and begun keeps nobody from the log and the disk: it is empty in the end', async () => {
  const { file, settings } = fresh()
  const own = await serve({ ...settings, ...two, NODE_OPTIONS: dying })
  await ask(own.port, 'GET /api/die').catch(() => {})
  await until('both serve', async () =>
    (
      await Promise.all(Array.from({ length: 10 }, () => statusOf(own.port, 'GET /api/products/1')))
    ).every(status => status === 200),
  )
  assert.equal((await own.end()).code, 0)
  assert.equal(existsSync(`${file}-wal`), false)
})

test('a caller has one limit, whichever threads answer, and so has who signs up', async () => {
  const own = await serve({
    ...fresh().settings,
    ...two,
    DUET_RATE_LIMIT: '200',
    DUET_SIGNUP_RATE: '20',
    DUET_TRUSTED_PROXIES: '127.0.0.1',
    NODE_OPTIONS: dying,
  })
  const limit = 200
  const minute = () => Math.floor(Date.now() / 60_000)
  const shapes: readonly (readonly [name: string, wave: number, isLate: boolean])[] = [
    ['all at once', 300, false],
    ['in waves', 30, false],
    ['one thread late', 300, true],
    ['one thread late again and again', 50, true],
  ]
  for (const [at, [name, wave, isLate]] of shapes.entries()) {
    const headers = { 'x-forwarded-for': `203.0.113.${at}` }
    const began = minute()
    const statuses: (number | undefined)[] = []
    for (let n = 0; n < 300; n += wave) {
      const held = isLate ? ask(own.port, 'GET /api/late') : undefined
      const line = 'GET /api/products/1'
      const one = async () => (await ask(own.port, line, headers)).status
      statuses.push(...(await Promise.all(Array.from({ length: wave }, one))))
      await held
    }
    const served = statuses.filter(status => status === 200).length
    const refused = statuses.filter(status => status === 429).length
    // However long they took: the count begins anew with each minute of the clock.
    if (minute() === began) assert.deepEqual([served, refused], [limit, 300 - limit], name)
    else assert.ok(served >= limit && served + refused === 300, `${name}: ${served}, ${refused}`)
  }

  const began = minute()
  const signUp = (n: number) =>
    ask(
      own.port,
      'POST /api/users',
      { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.9' },
      JSON.stringify({ name: 'A', email: `a${n}@example.org` }),
    )
  const statuses = (await Promise.all(Array.from({ length: 40 }, (_, n) => signUp(n)))).map(
    ({ status }) => status,
  )
  const made = statuses.filter(status => status === 201).length
  // However long they took: the count begins anew with each minute of the clock.
  assert.ok(minute() === began ? made === 20 : made >= 20, `${made}`)
  assert.equal(statuses.filter(status => status === 429).length, 40 - made)
  // In development a mail is shown by the thread that has them all.
  const shown = () => own.stderr().match(/^ +To: /gm)?.length ?? 0
  await until('the mails are shown', () => shown() >= made)
  await own.end()
})

test('all threads together have as many connections as one would', async () => {
  const own = await serve({ ...fresh().settings, ...two, DUET_MAX_CONNECTIONS: '10' })
  const sockets = Array.from({ length: 30 }, () => connect(own.port, '127.0.0.1'))
  let closed = 0
  for (const socket of sockets) socket.on('error', () => {}).on('close', () => closed++)
  // Two threads may take their last one at the same moment.
  await until('those above the limit are closed', () => closed >= 19)
  for (const socket of sockets) socket.destroy()
  await own.end()
})

test('a port that another program serves is refused, though threads could share it', async () => {
  const other = createServer().listen({ port: 0, host: '127.0.0.1', reusePort: true })
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const { code, stderr } = await duet(['serve', '--threads', '2'], {
    ...fresh().settings,
    DUET_PORT: String(port),
  })
  other.close()
  assert.equal(code, 1)
  assert.match(stderr, new RegExp(`port ${port} is in use already`))
})

test('each thread serves a socket that was handed over, and another number of them is refused', async () => {
  const sockets = boundSocket(2)
  const own = await serveOn(sockets, fresh().settings)
  assert.equal(own.port, sockets.port)
  assert.match(own.stderr(), / in 2 threads$/m)
  for (let n = 0; n < 20; n++) assert.equal(await statusOf(own.port, 'GET /healthz'), 200)
  assert.equal((await own.end()).code, 0)
  sockets.close()
  const socket = boundSocket()
  const { child, closed, stderr } = start(
    ['serve', '--threads', '2'],
    fresh().settings,
    undefined,
    socket,
  )
  await closed
  socket.close()
  assert.equal(child.exitCode, 1)
  assert.match(
    stderr(),
    /LISTEN_FDS is 1 and DUET_THREADS 2: each thread serves a socket of its own/,
  )
})
