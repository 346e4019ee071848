/** Requests of several callers for the same things at once: each gets its own answer. */
import assert from 'node:assert/strict'
import { createWorld, type World } from '../world.ts'

const callers = ['anonymous', 2, 3, 1] as const

const shared = [
  ...['/api/users', '/api/users/2', '/api/users/3', '/api/posts', '/api/posts/1', '/api/orders'],
  ...[
    '/api/orders/1',
    '/api/orders/2',
    '/api/customers/2',
    '/api/customers/2/orders',
    '/api/nothing',
  ],
  ...['/api/v2/users', '/api/v2/orders', '/api/products?limit=2', '/api/comments/1/likes'],
  ...[
    '{ users { id name email } }',
    '{ posts { title author { email } } }',
    '{ user(id: 2) { age } }',
  ].map(query => `/graphql?query=${encodeURIComponent(query)}`),
]

/** What a caller may send of somebody else, or of a proxy that there is not. */
const foreign: readonly Record<string, string>[] = [
  {},
  { 'X-Forwarded-For': '127.0.0.1', Forwarded: 'for=127.0.0.1;host=evil.example.org' },
  { 'X-Forwarded-Host': 'evil.example.org', 'X-Forwarded-Proto': 'https' },
  { 'X-Original-URL': '/api/orders/1', 'X-Rewrite-URL': '/api/orders/1' },
  { 'X-User-Id': '1', 'X-Role': 'admin', Cookie: 'user=1; role=admin' },
]

type Caller = (typeof callers)[number]

const getFrom =
  (world: World) =>
  async (path: string, as: Caller, headers = {}) => {
    const asked = { as, headers: { 'X-Request-Id': 'same', ...headers } }
    const { status, text, headers: got } = await world.ask(`GET ${path}`, asked)
    return { status, text, etag: got.get('etag') ?? '', vary: got.get('vary') ?? '' }
  }

type Get = ReturnType<typeof getFrom>

/** The answers to each caller alone, by caller and path; fails where one ETag stands for two texts. */
const alone = async (get: Get) => {
  const expected = new Map<string, Awaited<ReturnType<Get>>>()
  for (const path of shared)
    for (const as of callers) expected.set(`${as} ${path}`, await get(path, as))
  const textOf = new Map<string, string>()
  for (const [key, { etag, text }] of expected) {
    const known = textOf.getOrInsert(`${key.replace(/^\S+ /, '')} ${etag}`, text)
    assert.ok(etag === '' || known === text, key)
  }
  const distinct = new Set([...expected.values()].map(({ status, text }) => status + text))
  assert.ok(distinct.size > shared.length, 'the callers see different things')
  for (const path of ['/api/users/2', '/api/orders/1'])
    assert.match(expected.get(`2 ${path}`)?.vary ?? '', /Authorization/, path)
  return expected
}

/** So many times all callers ask for all paths at once, with headers of others; gives how many requests that were. */
export const mixedAnswers = async (rounds: number): Promise<number> => {
  await using world = await createWorld()
  for (const as of [2, 3]) {
    const body = { items: [{ productId: as + 1, quantity: 1 }] }
    assert.equal((await world.ask('POST /api/orders', { as, body })).status, 201)
  }
  const get = getFrom(world)
  const expected = await alone(get)
  const all = shared.flatMap(path =>
    callers.flatMap(as => foreign.map(headers => ({ path, as, headers }))),
  )
  const one = async ({ path, as, headers }: (typeof all)[number], n: number) => {
    // The tag that another caller got.
    const other = expected.get(`${callers[n % callers.length]} ${path}`)?.etag ?? ''
    const tagged = other === '' ? headers : { ...headers, 'If-None-Match': other }
    const answer = await get(path, as, tagged)
    const mine = expected.get(`${as} ${path}`)
    if (answer.status === 304) assert.equal(other, mine?.etag, `${as} ${path}`)
    else assert.deepEqual(answer, mine, `${as} ${path}`)
  }
  for (let round = 0; round < rounds; round++)
    await Promise.all(all.map((asked, n) => one(asked, n + round)))
  return rounds * all.length
}
