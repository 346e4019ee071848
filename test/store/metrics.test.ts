/** The metrics and the log of a service, as its operator reads them. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { loadConfig } from '#config.ts'
import { createMemory } from '#http/memory.ts'
import { createMetrics } from '#metrics/metrics.ts'
import { serveMetrics } from '#serve/metrics.ts'
import { ConfigError } from '#settings.ts'
import { createWorld, folderOf, isCached, type Service, serve } from '#test/market.ts'
import { onPostgres } from '#test/stores.ts'
import { valuesIn } from '#test/support/prometheus.ts'
import { until } from '#test/support/wait.ts'

let service: Service
let address = ''

before(async () => {
  const { settings } = await folderOf('metrics').freshStore()
  const seen = {
    DUET_METRICS_PORT: '0',
    DUET_SLOW: '0ms',
    DUET_LOG: 'info',
    NODE_OPTIONS: `--import=${new URL('../support/spans.mjs', import.meta.url)}`,
  }
  service = await serve({ ...settings, ...seen })
  address = / with metrics on (\S+)/.exec(service.stderr())?.[1] ?? ''
})
after(() => service?.end())

const scrape = async () => valuesIn(await (await fetch(address)).text())

const trace = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', parentId: '00f067aa0ba902b7' }
const traceparent = `00-${trace.traceId}-${trace.parentId}-01`
const document = 'query Cheap { posts(limit: 1) { title } }'

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

test('the metrics are in the text format of Prometheus, at one path of a port of their own', async () => {
  const found = await fetch(address)
  assert.equal(found.status, 200)
  assert.match(found.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
  assert.equal((await fetch(address, { method: 'HEAD' })).status, 200)
  assert.equal((await fetch(address, { method: 'POST' })).status, 405)
  assert.equal((await fetch(new URL('/', address))).status, 404)
  assert.equal(new URL(address).hostname, '127.0.0.1')
})

test('requests are counted by method, pattern and status, and errors by code', async () => {
  for (const id of [7001, 7002, 7003]) await fetch(`${service.url}/api/products/${id}`)
  await fetch(`${service.url}/api/users/1`)
  for (const path of ['/nowhere/7004', '/metrics']) await fetch(`${service.url}${path}`)
  await post('/graphql', { query: '{ nothing }' })
  const key = { 'Idempotency-Key': 'one-key' }
  const person = { name: 'Nia Metric', email: 'nia.metric@example.org' }
  for (const status of [201, 201])
    assert.equal((await post('/api/users', person, key)).status, status)
  const values = await scrape()
  const requests = (method: string, route: string, status: number) =>
    values.get(
      `http_server_request_duration_seconds_count{http_request_method="${method}",http_route="${route}",http_response_status_code="${status}"}`,
    )
  assert.equal(requests('GET', '/api/products/:id', 404), 3)
  assert.equal(requests('GET', '/api/users/:id', 401), 1)
  assert.equal(requests('GET', '', 404), 2)
  assert.equal(requests('POST', '/graphql', 200), 1)
  assert.equal(requests('POST', '/api/users', 201), 2)
  assert.equal(values.get('duet_refusals_total{code="NOT_FOUND"}'), 5)
  assert.equal(values.get('duet_refusals_total{code="UNAUTHENTICATED"}'), 1)
  assert.equal(values.get('duet_refusals_total{code="GRAPHQL_VALIDATION_FAILED"}'), 1)
  assert.equal(values.get('duet_refusals_total{code="INTERNAL"}'), 0)
  assert.equal(values.get('duet_stored_responses_total'), 1)
  assert.equal(values.get('http_server_active_requests{http_request_method="GET"}'), 0)
  assert.ok(![...values.keys()].some(key => /700\d|Metric/i.test(key)))
})

test('reads, writes and commits of the store are timed', async () => {
  const before = await scrape()
  await fetch(`${service.url}/api/products?limit=1`)
  await post('/api/users', { name: 'Two', email: 'two.metric@example.org' })
  const values = await scrape()
  const grown = (key: string) => (values.get(key) ?? 0) - (before.get(key) ?? 0)
  const system = onPostgres ? 'postgresql' : 'sqlite'
  const operations = (operation: string, lane: string) =>
    grown(
      `db_client_operation_duration_seconds_count{db_system_name="${system}",db_operation_name="${operation}",duet_lane="${lane}"}`,
    )
  const found = [operations('read', 'quick'), operations('read', 'slow'), operations('write', '')]
  assert.deepEqual(found, [1, 0, 1])
  assert.ok(grown('duet_commit_duration_seconds_count') >= 1)
  assert.ok(grown('duet_commit_writes_sum') >= 1)
  assert.equal(grown('duet_queue_wait_seconds_count'), 2)
  assert.equal((values.get('duet_wal_bytes') ?? 0) > 0, !onPostgres)
  assert.ok((values.get('nodejs_heap_size_used_bytes') ?? 0) > 0)
})

test('the memory that documents take up is told beside its budget', async () => {
  const documents = async () => (await scrape()).get('duet_memory_bytes{purpose="documents"}') ?? 0
  const before = await documents()
  await post('/graphql', { query: '{ counted: posts(limit: 1) { id } }' })
  assert.ok((await documents()) > before)
  assert.equal(
    (await scrape()).get('duet_memory_budget_bytes{purpose="documents"}'),
    createMemory().documents.budget,
  )
})

test('what is asked for again is counted as found among the cached answers', {
  skip: (onPostgres || !isCached) && 'nothing is cached',
}, async () => {
  const lookups = (values: ReadonlyMap<string, number>) =>
    ['hit', 'miss'].map(result => values.get(`duet_cache_lookups_total{result="${result}"}`) ?? -1)
  const [hits = 0, misses = 0] = lookups(await scrape())
  for (let n = 0; n < 4; n++) await fetch(`${service.url}/api/products?limit=7`)
  assert.deepEqual(lookups(await scrape()), [hits + 2, misses + 2])
})

/** The lines of the log that have a request id. */
const linesOf = async (requestId: string, count: number) => {
  const found = () =>
    service
      .stdout()
      .split('\n')
      .filter(line => line.includes(`"requestId":"${requestId}"`))
      .map(line => JSON.parse(line))
  await until(`the log has ${count} lines of ${requestId}`, () => found().length === count)
  return found()
}

test('a slow request has a second line that says where its time went, and its trace is in both', async () => {
  await fetch(`${service.url}/api/products/7005`, {
    headers: { 'X-Request-Id': 'slow-read', traceparent },
  })
  const [line, slow] = await linesOf('slow-read', 2)
  assert.deepEqual([line.msg, line.level, slow.msg, slow.level], ['request', 30, 'slow', 40])
  for (const { trace_id, parent_id, span_id } of [line, slow]) {
    assert.deepEqual([trace_id, parent_id], [trace.traceId, trace.parentId])
    assert.match(span_id, /^[\da-f]{16}$/)
  }
  assert.deepEqual([slow.route, slow.status, slow.path], ['/api/products/:id', 404, undefined])
  assert.deepEqual([slow.reads, slow.writes, slow.levels, slow.rows], [1, 0, 1, 0])
  assert.ok(Math.abs(slow.wait + slow.run - slow.ms) < 0.02 && slow.store <= slow.run)
  assert.match(slow.statements[0], /^select .* from "?products"?/)
  assert.doesNotMatch(JSON.stringify(slow.statements), /7005/)
})

test('a slow operation has its name and the digest of its document, and no value of its variables', async () => {
  const headers = { 'X-Request-Id': 'slow-operation' }
  const secretText = 'nobody-may-read-this'
  const mutation = `mutation Join($input: CreateUserInput!) { createUser(input: $input) { id } }`
  const input = { name: secretText, email: `${secretText}@example.org` }
  await post('/graphql', { query: mutation, variables: { input } }, headers)
  await post('/graphql', { query: document }, { ...headers, traceparent: 'not one' })
  const lines = await linesOf('slow-operation', 4)
  const [joined, cheap] = lines.filter(({ msg }) => msg === 'slow')
  assert.deepEqual([joined.operation.name, joined.writes], ['Join', 1])
  assert.equal(cheap.operation.name, 'Cheap')
  assert.match(cheap.operation.hash, /^[\da-f]{64}$/)
  assert.equal(cheap.parent_id, undefined)
  assert.ok(!JSON.stringify(lines).includes(secretText))
})

type Span = {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parent?: string
  readonly attributes: Readonly<Record<string, unknown>>
}

/** The spans of a trace, in the order in which they ended. */
const spansOf = async (traceId: string, count: number): Promise<readonly Span[]> => {
  const found = () =>
    [...service.stderr().matchAll(/^span (.*)$/gm)]
      .map(([, text = '']): Span => JSON.parse(text))
      .filter(span => span.traceId === traceId)
  await until(`the trace ${traceId} has ${count} spans`, () => found().length === count)
  return found()
}

test('an SDK of OpenTelemetry gets spans of a request and its reads and writes, in the trace of the caller', async () => {
  const traceId = 'a'.repeat(32)
  const headers = {
    traceparent: `00-${traceId}-${trace.parentId}-01`,
    'X-Request-Id': 'spans-of-this',
  }
  await fetch(`${service.url}/api/products/7006`, { headers })
  const person = { name: 'Three', email: 'three.metric@example.org' }
  await post('/api/users', person, { ...headers, 'X-Request-Id': 'spans-of-that' })
  const [read, got, write, created] = await spansOf(traceId, 4)
  assert.ok(read && got && write && created)
  assert.deepEqual([got.name, got.parent], ['GET /api/products/:id', trace.parentId])
  assert.deepEqual([read.name, read.parent], ['read', got.spanId])
  assert.deepEqual([created.name, created.parent], ['POST /api/users', trace.parentId])
  assert.deepEqual([write.name, write.parent], ['write', created.spanId])
  assert.equal(got.attributes['http.response.status_code'], 404)
  assert.equal(got.attributes['error.type'], 'NOT_FOUND')
  assert.match(String(read.attributes['db.query.text']), /select/)
  assert.equal(write.attributes['duet.outcome'], 'done')
  const [line] = await linesOf('spans-of-this', 2)
  assert.equal(line.span_id, got.spanId)
})

test('a port for metrics that is taken is named with its setting', async t => {
  const taken = createServer()
  await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve))
  t.after(() => taken.close())
  const { port } = taken.address() as AddressInfo
  await using world = await createWorld({ on: 'sqlite' })
  const config = loadConfig({ DUET_METRICS_PORT: String(port) })
  const metrics = createMetrics('sqlite', '0')
  t.after(metrics.close)
  await assert.rejects(
    serveMetrics(metrics, config, world),
    error =>
      error instanceof ConfigError && /in use already; set DUET_METRICS_PORT/.test(error.message),
  )
})

test('what is loaded before the program is loaded by it alone, and not by the threads of the store', async () => {
  const query = 'mutation { createUser(input: { name: "A", email: "a@example.org" }) { id } }'
  assert.equal((await post('/graphql', { query })).status, 200)
  const threads = Array.from(
    service.stderr().matchAll(/spans begin in thread (\d+)/g),
    ([, id]) => id,
  )
  assert.deepEqual(new Set(threads), new Set(['0']))
})
