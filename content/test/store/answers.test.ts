import assert from 'node:assert/strict'
import { test } from 'node:test'
import { usualSeed } from '#test/support/rounds.ts'
import { countReads, raceAnswers } from '../support/answers-race.ts'
import { createWorld, forAllTests, pluck, type World } from '../world.ts'

let reads = () => 0
const world = forAllTests(async () => {
  const world = await createWorld({ engine: { isWatched: true } })
  reads = countReads(world)
  return world
})

/** How often the store was read by `work`. */
const readsBy = async (work: () => Promise<unknown>): Promise<number> => {
  const before = reads()
  await work()
  return reads() - before
}

const tree =
  '{ users(limit: 10) { id name posts(limit: 3) { title comments { text author { name } } } } }'

/** The reads of both APIs that these tests repeat. */
const asked: readonly (readonly [string, () => ReturnType<World['ask']>])[] = [
  ['one thing', () => world.ask('GET /api/users/2', { as: 2 })],
  ['one thing with chosen members', () => world.ask('GET /api/users/2?fields=name', { as: 2 })],
  ['one thing in version 2', () => world.ask('GET /api/v2/products/1')],
  ['a list', () => world.ask('GET /api/products?category=lighting&sort=price')],
  ['a list with cursors', () => world.ask('GET /api/posts?limit=1')],
  ['a nested list', () => world.ask('GET /api/users/2/posts', { as: 2 })],
  ['a list below what is not there', () => world.ask('GET /api/posts/999/comments')],
  ['a thing that is not there', () => world.ask('GET /api/posts/999')],
  ['a query by POST', () => world.gql(tree, { as: 2 })],
  [
    'a query by GET',
    () =>
      world.ask(`GET /graphql?query=${encodeURIComponent(tree)}`, {
        as: 2,
        headers: { Accept: 'application/json' },
      }),
  ],
]

/** What callers see of an answer, without what belongs to each request. */
const seen = async (answer: ReturnType<World['ask']>) => {
  const { status, text, headers } = await answer
  const own = ['x-request-id', 'server-timing']
  const all = [...headers].filter(([name]) => !own.includes(name))
  return { status, text: text.replace(/"requestId":"[^"]*"/, ''), headers: all }
}

for (const [what, ask] of asked)
  test(`${what} is read twice and then answered without a read, the same to the byte`, async () => {
    let first: Awaited<ReturnType<typeof seen>>
    const atFirst = await readsBy(async () => {
      await ask()
      first = await seen(ask())
    })
    const again = await readsBy(async () => assert.deepEqual(await seen(ask()), first))
    assert.deepEqual([atFirst, again], [2, 0])
  })

test('304 is answered without a read, with the headers that a read gives', async () => {
  await world.ask('GET /api/products?sort=price')
  const { headers } = await world.ask('GET /api/products?sort=price')
  const tag = headers.get('etag') ?? ''
  const again = await readsBy(async () => {
    const { status, text, headers } = await world.ask('GET /api/products?sort=price', {
      headers: { 'If-None-Match': tag },
    })
    assert.deepEqual([status, text, headers.get('etag')], [304, '', tag])
    assert.match(headers.get('link') ?? '', /rel="first"/)
  })
  assert.equal(again, 0)
})

test('a write shows at once in all that it changes, by cascades too, and what it does not change is not read again', async () => {
  const create = { name: 'Eve', email: 'eve@example.org' }
  const { json: eve } = await world.ask('POST /api/users', { as: 1, body: create })
  const body = { title: 'Mine', content: 'x' }
  await world.ask(`POST /api/users/${eve.id}/posts`, { as: eve.id, role: 'user', body })
  const posts = async () => (await world.ask('GET /api/posts')).text
  const product = () => world.ask('GET /api/products/1')
  for (const _ of [1, 2]) assert.match(await posts(), /Mine/)
  for (const _ of [1, 2]) await product()
  await world.ask(`DELETE /api/users/${eve.id}`, { as: 1 })
  assert.doesNotMatch(await posts(), /Mine/)
  assert.equal(await readsBy(product), 0)
})

/** Which of these are read again after a write: each was asked for twice before it. */
const readAgain = async (
  asks: Readonly<Record<string, () => Promise<unknown>>>,
  write: () => Promise<unknown>,
): Promise<readonly string[]> => {
  for (const ask of Object.values(asks)) for (const _ of [1, 2]) await ask()
  await write()
  const again: string[] = []
  for (const [what, ask] of Object.entries(asks)) if ((await readsBy(ask)) > 0) again.push(what)
  return again
}

const get = (path: string) => () => world.ask(`GET /api/${path}`, { as: 2 })

test('after a write only what shows its rows is read again: by id, by reference, and in lists by an indexed text', async () => {
  const products = {
    'product 1': get('products/1'),
    'product 2': get('products/2'),
    lighting: get('products?category=lighting&sort=price'),
    office: get('products?category=office&sort=price'),
    all: get('products?sort=price'),
  }
  const change = (body: unknown) => () => world.ask('PATCH /api/products/1', { as: 1, body })
  const changed = ['product 1', 'lighting', 'all']
  assert.deepEqual(await readAgain(products, change({ stock: 99 })), changed)
  const moved = await readAgain(products, change({ category: 'office' }))
  assert.deepEqual(moved, ['product 1', 'lighting', 'office', 'all'])
  await change({ category: 'lighting' })()
  const comments = {
    'post 1': get('posts/1/comments'),
    'post 4': get('posts/4/comments'),
    'one of post 1': get('posts/1/comments/1'),
  }
  const comment = () => world.ask('POST /api/posts/1/comments', { as: 2, body: { text: 'x' } })
  assert.deepEqual(await readAgain(comments, comment), ['post 1'])
})

test('a nested query is read again when a row that it shows changes at any level, or one comes to a list in it', async () => {
  const nested = (id: number) => () =>
    world.gql(
      'query ($id: ID!) { user(id: $id) { posts { title comments { author { name } } } } }',
      {
        as: 1,
        variables: { id },
      },
    )
  const users = { ben: nested(2), cleo: nested(3) }
  const write = (line: string, body: unknown) => () => world.ask(line, { as: 1, body })
  // Ben wrote post 1 and a comment on post 4, which is Cleo's; a comment of Ada's is on post 1.
  const after = (line: string, body: unknown) => readAgain(users, write(line, body))
  assert.deepEqual(await after('PATCH /api/users/1', { name: 'Ada' }), ['ben'])
  assert.deepEqual(await after('PATCH /api/users/2', { name: 'Ben' }), ['ben', 'cleo'])
  assert.deepEqual(await after('PATCH /api/posts/4', { title: 'Fourth' }), ['cleo'])
  assert.deepEqual(await after('POST /api/posts/4/comments', { text: 'x' }), ['cleo'])
  assert.deepEqual(await after('PATCH /api/users/4', { name: 'Dan' }), [])
})

test('the total of a list, which triggers keep, is never an older one', async () => {
  const total = async () => (await world.ask('GET /api/products?limit=1')).json.pagination.total
  await total()
  const before = await total()
  const body = { name: 'Lamp', category: 'lighting', price: 3 }
  const { json } = await world.ask('POST /api/products', { as: 1, body })
  assert.equal(await total(), before + 1)
  await world.ask(`DELETE /api/products/${json.id}`, { as: 1 })
  assert.equal(await total(), before)
})

test('a write that is refused drops nothing', async () => {
  const ask = () => world.ask('GET /api/users/2', { as: 2 })
  for (const _ of [1, 2]) await ask()
  const { status } = await world.ask('PATCH /api/users/2', { as: 3, body: { name: 'X' } })
  assert.equal(status, 403)
  assert.equal(await readsBy(ask), 0)
})

test('a trigger of the content that writes its own table does so once, as it does where nothing is cached', async () => {
  const title = async () => (await world.ask('GET /api/posts/1')).json.title
  const before = await title()
  await world.change(
    "create trigger posts_touched after update of title on posts begin update posts set title = title || '!' where id = new.id; end",
  )
  const write = (title: string) => world.ask('PATCH /api/posts/1', { as: 2, body: { title } })
  assert.equal((await write('Touched')).status, 200)
  assert.equal(await title(), 'Touched!')
  await world.change('drop trigger posts_touched')
  await write(before)
  assert.equal(await title(), before)
})

test('what another program writes shows in the next answer', async () => {
  const name = async () => (await world.ask('GET /api/users/3', { as: 2 })).json.name
  await name()
  const before = await name()
  for (const other of ['Clea', before]) {
    await world.change('update users set name = ?1 where id = 3', other)
    assert.equal(await name(), other)
  }
})

test('callers with other rights have answers of their own, and each viewer its own rows', async () => {
  const item = { productId: 1, quantity: 1 }
  for (const as of [2, 3]) await world.ask('POST /api/orders', { as, body: { items: [item] } })
  const customers = async (as: number) => {
    const { json } = await world.ask('GET /api/orders', { as })
    return [...new Set(pluck(json.data, 'customerId'))].length
  }
  for (const _ of [1, 2, 3])
    assert.deepEqual([await customers(2), await customers(3), await customers(1)], [1, 1, 2])
  for (const _ of [1, 2, 3]) {
    assert.equal((await world.ask('GET /api/users/2', { as: 2 })).status, 200)
    assert.equal((await world.ask('GET /api/users/2')).status, 401)
  }
})

test('how the caller named a missing row is told as each caller wrote it', async () => {
  const missing = async (id: string) => {
    const { json } = await world.gql('query ($id: ID!) { posts(authorId: $id) { id } }', {
      as: 2,
      variables: { id },
    })
    return json.errors[0].message
  }
  for (const id of ['nobody', 'no one', 'nobody'])
    assert.match(await missing(id), new RegExp(`${id} not found`))
})

test('introspection beside a read goes by the variables of its own request', async () => {
  const named = async (name: string) => {
    const query = 'query ($name: String!) { __type(name: $name) { name } user(id: 2) { id } }'
    const { json } = await world.gql(query, { as: 2, variables: { name } })
    return json.data.__type.name
  }
  for (const name of ['User', 'Post', 'User']) assert.equal(await named(name), name)
})

test('a store that is not to be watched tells no changes, and each answer is read', async () => {
  await using other = await createWorld({ engine: { isWatched: false } })
  assert.equal(other.core.reader.cache, undefined)
  assert.equal(other.engine.changes, undefined)
})

test('of 3,000 answers from the cache beside writes none is older than it may be', async t => {
  const seed = usualSeed(7)
  t.diagnostic(`DUET_SEED=${seed}`)
  const { hits, writes, faults } = await raceAnswers({
    hits: 3000,
    most: 30_000,
    seed,
    readsPerWrite: 40,
  })
  assert.deepEqual(faults, [])
  assert.ok(hits >= 3000 && writes > 60, `${hits} answers from the cache beside ${writes} writes`)
})
