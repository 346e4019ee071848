/** The programs of docs/clients.md: compiled as the page says, and run against a service behind a bad network. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { mint } from '#auth/token.ts'
import { pluck } from '#test/asking.ts'
import { folderOf, plain, type Service, serve, start } from '#test/duet.ts'
import { typesOf } from '#test/support/typed.ts'
import { inTime } from '#test/support/wait.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const page = readFileSync(join(root, 'docs/clients.md'), 'utf8')
const { folder, fresh } = folderOf('clients')

let service: Service
let token: string

/** The program that the page says to save under a name, and what the page says that it prints. */
const partOf = (name: string) => {
  const [, after = ''] = page.split(`Save this as \`${name}\``)
  const [, program = ''] = /```ts\n(.*?)```\n/s.exec(after) ?? []
  const [, printed = ''] = /\n\n((?: {4}.*\n)+)/.exec(after.slice(after.indexOf('```sh'))) ?? []
  return { program, printed: printed.replace(/^ {4}/gm, '') }
}

/** The compiler's options that the page gives for a program. */
const optionsFor = (name: string): readonly string[] => {
  const [, options = ''] = new RegExp(`npx tsc (.*) ${name} &&`).exec(page) ?? []
  return options.split(' ')
}

before(async () => {
  const { settings } = fresh()
  service = await serve(settings)
  token = await mint({ sub: 1, role: 'admin', ttl: 3600 }, settings.DUET_AUTH_SECRET, Date.now())
  const document = await fetch(`${service.url}/api/v2/openapi.json`)
  writeFileSync(join(folder, 'duet.d.ts'), await typesOf((await document.json()) as object))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const name of ['patient.ts', 'rest.ts', 'graphql.ts'])
    writeFileSync(join(folder, name), partOf(name).program)
})

type Seen = {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly isWrite: boolean
  readonly status: number
}
type Meanwhile = (path: string) => Promise<unknown>

/** What the service says to a request that went to another port. */
const passedOn = ({ method = '', url = '', headers }: IncomingMessage, body: string) => {
  const { host, connection, 'content-length': length, ...sent } = headers
  return fetch(service.url + url, {
    method,
    headers: sent as Record<string, string>,
    ...(body === '' ? {} : { body }),
  })
}

/** Passes requests on: of the writes the first is refused as under load, and the answer to the second breaks off. */
const badNetwork = (seen: Seen[], meanwhile?: Meanwhile) => {
  let writes = 0
  let patches = 0
  return async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url: path = '', headers } = request
    const body = await text(request)
    const isWrite = method === 'POST' && !body.includes('query PageOfPosts')
    const nth = isWrite ? ++writes : 0
    if (nth === 1) {
      seen.push({ method, headers, isWrite, status: 503 })
      return response.writeHead(503, { 'Retry-After': '0' }).end()
    }
    if (method === 'PATCH' && ++patches === 1) await meanwhile?.(path)
    const answer = await passedOn(request, body)
    const whole = Buffer.from(await answer.arrayBuffer())
    seen.push({ method, headers, isWrite, status: answer.status })
    const told = Object.fromEntries(answer.headers)
    // As nginx does where it compresses.
    if (told.etag !== undefined) told.etag = `W/${told.etag}`
    response.writeHead(answer.status, { ...told, 'content-length': whole.length })
    if (nth !== 2) return response.end(whole)
    return response.write(whole.subarray(0, 20), () => response.destroy())
  }
}

/** Runs a program of the page behind such a network; gives what it printed and what it sent. */
const run = async (name: string, meanwhile?: Meanwhile) => {
  const seen: Seen[] = []
  const pass = badNetwork(seen, meanwhile)
  const server = createServer((request, response) => void pass(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const settings = { DUET_URL: `http://127.0.0.1:${port}`, TOKEN: token }
  const running = start([], settings, join(folder, name))
  await inTime(`${name} ends`, running.closed)
  server.close()
  assert.equal(running.stderr(), '')
  return { printed: running.stdout(), seen }
}

const postsNow = async (): Promise<readonly unknown[]> => {
  const answer = await fetch(`${service.url}/api/v2/posts?limit=100`)
  const { data } = (await answer.json()) as { data: readonly unknown[] }
  return data
}

/** Holds that one write came three times under one key. */
const wroteOnce = (seen: readonly Seen[], done: number) => {
  const writes = seen.filter(({ isWrite }) => isWrite)
  assert.deepEqual(pluck(writes.slice(0, 3), 'status'), [503, done, done])
  const keys = writes.map(({ headers }) => headers['idempotency-key'])
  // The fourth is the mistake, which is another request.
  assert.equal(keys.length, 4)
  assert.equal(new Set(keys.slice(0, 3)).size, 1)
  assert.notEqual(keys[2], keys[3])
}

test('both programs compile without a complaint', () => {
  assert.deepEqual(optionsFor('rest.ts'), optionsFor('graphql.ts'))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const args = [compiler, '--ignoreConfig', ...optionsFor('rest.ts'), 'rest.ts', 'graphql.ts']
  const { status, stdout } = spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: 'utf8',
    env: plain,
  })
  assert.deepEqual([status, stdout], [0, ''])
})

test('the program for REST reads all pages, writes once, gives way to a faster change, and prints what the page says', async () => {
  const before = await postsNow()
  const { printed, seen } = await run('rest.ts', path =>
    fetch(service.url + path, {
      method: 'PATCH',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: '{"title":"Retitled"}',
    }),
  )
  const expected = partOf('rest.ts').printed
  assert.match(expected, /Typed, and changed/)
  // Here somebody else was faster.
  assert.equal(printed, expected.replace('Typed, and changed', 'Retitled, and changed'))
  wroteOnce(seen, 201)
  const changes = seen.filter(({ method }) => method === 'PATCH')
  assert.deepEqual(pluck(changes, 'status'), [412, 200])
  const after = await postsNow()
  assert.equal(after.length, before.length + 1)
})

test('the program for GraphQL reads all pages, writes once, and prints what the page says', async () => {
  const before = await postsNow()
  const { printed, seen } = await run('graphql.ts')
  assert.equal(printed, partOf('graphql.ts').printed)
  wroteOnce(seen, 200)
  const after = await postsNow()
  assert.equal(after.length, before.length + 1)
})

test('the program for REST gives up where somebody else is faster each time', async () => {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    const { method = '', headers } = request
    const answer = await passedOn(request, await text(request))
    // Each PATCH is too late.
    const status = method === 'PATCH' ? 412 : answer.status
    seen.push({ method, headers, isWrite: method === 'POST', status })
    response.writeHead(status, Object.fromEntries(answer.headers)).end(await answer.text())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const settings = { DUET_URL: `http://127.0.0.1:${port}`, TOKEN: token }
  const running = start([], settings, join(folder, 'rest.ts'))
  await inTime('rest.ts ends', running.closed)
  server.close()
  assert.equal(seen.filter(({ method }) => method === 'PATCH').length, 5)
})

test('the ids that the page gives Relay tell rows of two types with one id apart', async () => {
  const [, code = ''] = /getDataID: (.*),\n/.exec(page) ?? []
  type DataId = (row: { id?: string | null }, typeName: string) => string | undefined
  const getDataID: DataId = new Function(`return ${code}`)()
  const query = `{ user(id: 1) { __typename id name } post(id: 1) { __typename id title }
    posts(limit: 5) { __typename id title author { __typename id name } }
    postsConnection(first: 1) { __typename } }`
  const response = await fetch(`${service.url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
    body: JSON.stringify({ query }),
  })
  const { data, errors } = (await response.json()) as { data: object; errors?: unknown }
  assert.equal(errors, undefined)
  // As Relay's store does: each object with an id is a record of its own, whose members are merged.
  const records = new Map<string, Record<string, unknown>>()
  const ids = new Map<string, Set<string>>()
  const keep = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const one of Object.values(value)) keep(one)
    const { __typename: type, id } = value as { __typename?: string; id?: string }
    if (type === undefined) return
    const key = getDataID(value, type)
    assert.equal(key === undefined, id === undefined)
    if (key === undefined || id === undefined) return
    const before = records.get(key)
    assert.deepEqual([before?.__typename ?? type, before?.id ?? id], [type, id])
    records.set(key, { ...before, ...value })
    ids.set(id, (ids.get(id) ?? new Set()).add(type))
  }
  keep(data)
  assert.ok([...ids.values()].some(types => types.size === 2))
  assert.equal(
    records.size,
    [...ids.values()].reduce((sum, types) => sum + types.size, 0),
  )
})
