/** What the service tells of its requests: events, diagnostics channels, `Server-Timing`. */
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import { tracingChannel } from 'node:diagnostics_channel'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { createAuthenticator } from '#auth/authenticate.ts'
import { jobs, onEnd, reads, requests } from '#channels.ts'
import type { RequestEvent } from '#observe.ts'
import { issuer, viewers } from '#test/support/tokens.ts'
import { createWorld, pluck } from '../world.ts'

const world = await createWorld({ edge: { sendsTiming: true } })
after(world.close)

/** The event of the only request that `work` sends. */
const eventOf = async (work: () => Promise<unknown>): Promise<RequestEvent> => {
  const before = world.events.length
  await work()
  const [event, ...others] = world.events.slice(before)
  assert.ok(event?.kind === 'request' && others.length === 0)
  return event
}

test('the event of a request has the pattern of its path, with the prefix and without ids', async () => {
  const routes = {
    'GET /api/posts/1': '/api/posts/:id',
    'GET /api/v2/posts/1/comments?limit=1': '/api/v2/posts/:parentId/comments',
    'GET /api/posts/none': '/api/posts/:id',
    'GET /openapi.json': '/openapi.json',
    'GET /graphql/schema.graphql': '/graphql/schema.graphql',
  }
  for (const [line, route] of Object.entries(routes))
    assert.equal((await eventOf(() => world.ask(line))).route, route)
  assert.equal((await eventOf(() => world.ask('GET /api/none/1'))).route, undefined)
})

test('the event of an operation has its name, the digest of its document, and the code of its first error', async () => {
  const document = 'query Titles { posts(limit: 2) { title } }'
  const { route, operation, code } = await eventOf(() => world.gql(document))
  assert.equal(route, '/graphql')
  assert.equal(code, undefined)
  assert.equal(operation?.name, 'Titles')
  assert.equal(operation?.hash(), createHash('sha256').update(document).digest('hex'))
  const refused = await eventOf(() => world.gql('{ nothing }'))
  assert.equal(refused.status, 200)
  assert.equal(refused.code, 'GRAPHQL_VALIDATION_FAILED')
})

test('the event of a read says what it did in the store, and no value is in its statements', async () => {
  const { work, bytes } = await eventOf(() => world.ask('GET /api/products?search=Snow_glo'))
  assert.ok(work)
  // The rows, and the total.
  assert.deepEqual([work.reads, work.writes, work.levels, work.rows], [1, 0, 2, 1])
  assert.ok(work.store > 0 && bytes > 0)
  assert.ok(work.statements.length > 0)
  for (const statement of work.statements) {
    assert.match(statement, /select/i)
    assert.doesNotMatch(statement, /snow/i)
  }
})

test('what a route asks of the store by itself is told too, with its lane', async () => {
  const { work } = await eventOf(() =>
    world.ask('POST /api/reports/generate', { as: 1, body: { type: 'users' } }),
  )
  assert.ok(work && work.store > 0 && work.statements.length > 0)
  assert.deepEqual([work.reads, work.slow, work.levels], [1, 1, work.statements.length])
  const search = await eventOf(() => world.ask('GET /api/products?search=globe'))
  assert.equal(search.work?.slow, 1)
  const picture = await eventOf(() => world.ask('GET /api/users/2/avatar', { as: 1 }))
  assert.deepEqual([picture.work?.reads, picture.work?.slow], [1, 0])
})

test('a write is counted as one, beside the reads of others that run at the same time', async () => {
  const body = { content: 'a remark that no statement may show' }
  const before = world.events.length
  await Promise.all([
    world.ask('POST /api/posts/1/comments', { as: 2, body }),
    world.ask('GET /api/products/1'),
  ])
  const events = world.events.slice(before).filter(event => event.kind === 'request')
  const works = Object.fromEntries(events.map(({ method, work }) => [method, work]))
  assert.deepEqual([works.POST?.writes, works.POST?.reads], [1, 0])
  assert.deepEqual([works.GET?.writes, works.GET?.reads, works.GET?.rows], [0, 1, 1])
  assert.ok(!JSON.stringify(works.POST?.statements).includes('remark'))
})

test('in development an answer says in Server-Timing where its time went', async () => {
  const { headers } = await world.ask('GET /api/posts?limit=2')
  const number = String.raw`\d+\.\d\d`
  const form = new RegExp(
    `^wait;dur=${number}, run;dur=${number}, store;dur=${number}, rows;desc=2, statements;desc=1, lane;desc=quick$`,
  )
  assert.match(headers.get('server-timing') ?? '', form)
})

test('a key set that is fetched for a request is asked for within its trace', async t => {
  const asked: unknown[] = []
  const server = createServer(({ headers }, response) => {
    asked.push(headers.traceparent)
    response.end('{"keys":[]}')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const jwksUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  await using other = await createWorld({
    on: 'sqlite',
    edge: { authenticate: createAuthenticator({ jwksUrl }, viewers, Date.now) },
  })
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  const Authorization = `Bearer ${issuer('EdDSA', 'one').token({ exp: 4_000_000_000, iat: 0 })}`
  const traceparent = `00-${traceId}-00f067aa0ba902b7-01`
  await other.ask('GET /api/users/1', { headers: { Authorization, traceparent } })
  const [event] = other.events.filter(event => event.kind === 'request')
  assert.deepEqual(asked, [`00-${traceId}-${event?.trace?.spanId}-01`])
})

/** What the channels tell while `work` runs, in order. */
const toldBy = async (work: () => Promise<unknown>) => {
  const told: { readonly of: string; readonly facts: object }[] = []
  const ends = [
    onEnd(requests, facts => void told.push({ of: 'request', facts: { ...facts } })),
    onEnd(reads, facts => void told.push({ of: 'read', facts: { ...facts } })),
    onEnd(jobs, facts => void told.push({ of: 'job', facts: { ...facts } })),
  ]
  try {
    await work()
  } finally {
    for (const end of ends) end()
  }
  return told
}

test('the channels tell of a read and its request, each once and when it has ended', async () => {
  const told = await toldBy(() => world.ask('GET /api/products/2'))
  assert.deepEqual(pluck(told, 'of'), ['read', 'request'])
  const [read, request] = told.map(({ facts }) => facts as Record<string, unknown>)
  assert.deepEqual([read?.levels, read?.rows], [1, 1])
  assert.deepEqual(
    [request?.method, request?.route, request?.status, request?.path],
    ['GET', '/api/products/:id', 200, '/api/products/2'],
  )
})

test('the channel of writes tells what came of each', async () => {
  const told = await toldBy(async () => {
    await world.ask('POST /api/posts/1/comments', { as: 2, body: { content: 'one' } })
    await world.ask('DELETE /api/posts/1', { as: 3 })
  })
  const outcomes = told.filter(({ of }) => of === 'job').map(({ facts }) => facts)
  assert.deepEqual(
    outcomes.map(facts => (facts as { outcome?: string }).outcome),
    ['done', 'refused'],
  )
})

test('a store that is bound to the start of a request is there in its reads, for each request its own', async () => {
  const span = new AsyncLocalStorage<string>()
  const found: unknown[] = []
  const look = () => void found.push(span.getStore())
  const { start } = tracingChannel<{ path: string }, string>('duet:request')
  start.bindStore(span, ({ path }) => path)
  const end = onEnd(reads, look)
  // What was asked for before may be answered from the cache.
  const paths = ['/api/posts/901', '/api/posts/902', '/api/products/903']
  await Promise.all(paths.map(path => world.ask(`GET ${path}`)))
  start.unbindStore(span)
  end()
  assert.deepEqual(found.sort(), paths)
})

test('a subscriber that traces by itself names the span that the log line shows', async () => {
  const [traceId, parentId, spanId] = ['1'.repeat(32), '2'.repeat(16), '3'.repeat(16)]
  const trace = { traceId, parentId, spanId, flags: '01' }
  const begin = (message: unknown) => void Object.assign(message as object, { trace })
  requests.start.subscribe(begin)
  const event = await eventOf(() => world.ask('GET /api/posts/1'))
  requests.start.unsubscribe(begin)
  assert.deepEqual(event.trace, trace)
})
