/** Lists with numbered pages: how many, which page, and the links between the pages. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noWholeNumbers, refuses, refusesInput } from '../rest.ts'
import { createWorld, forAllTests, pluck } from '../world.ts'
import { from, listsOf, product, user } from './rest-list-rows.ts'

const world = forAllTests(() => createWorld({ rows: { user, product } }))

const { get, list, idsOf } = listsOf(world)

/** The targets of a `Link` header by relation. */
const linksOf = (header: string | null): Record<string, string> =>
  Object.fromEntries(
    (header ?? '').split(', ').map(link => {
      const [, target, rel] = /^<([^>]*)>; rel="(\w+)"$/.exec(link) ?? []
      assert.ok(target && rel, `a link is of the form of RFC 8288: ${link}`)
      return [rel, target]
    }),
  )

test('users come by ten and products by twenty, by id ascending', async () => {
  assert.deepEqual(await idsOf('/api/users'), from(1, 10))
  assert.deepEqual(await idsOf('/api/products'), from(1, 20))
})

test('a limit above 100 is 100, one below 1 is 1', async () => {
  for (const [limit, expected] of [
    ['1', 1],
    ['100', 100],
    ['101', 100],
    ['99999999999999999999', 100],
    ['0', 1],
    ['-0', 1],
    ['-5', 1],
    ['-99999999999999999999', 1],
    ['007', 7],
  ]) {
    const { data, pagination } = await list(`/api/products?limit=${limit}`)
    assert.equal(pagination.limit, expected)
    assert.equal(data.length, expected)
    assert.equal((await list(`/api/users?limit=${limit}`)).pagination.limit, expected)
  }
})

test('a page below 1 is 1, one after the last is empty and says so', async () => {
  for (const page of ['0', '-1', '-99999999999999999999'])
    for (const path of ['/api/products', '/api/users'])
      assert.equal((await list(`${path}?page=${page}`)).pagination.page, 1)
  const { data, pagination } = await list('/api/products?page=8')
  assert.deepEqual(data, [])
  assert.deepEqual(pagination, {
    page: 8,
    limit: 20,
    total: 130,
    totalPages: 7,
    hasNext: false,
    hasPrev: true,
  })
  for (const path of ['/api/products', '/api/users'])
    assert.deepEqual((await list(`${path}?page=99999999999999999999`)).data, [])
})

test('page n starts after (n - 1) × limit rows, and hasNext is page × limit < total', async () => {
  for (const limit of [1, 7, 13, 43, 65, 100])
    for (const page of [1, 2, 3]) {
      const { data, pagination } = await list(`/api/products?limit=${limit}&page=${page}`)
      const start = (page - 1) * limit
      const expected = from(start + 1, Math.max(Math.min(limit, 130 - start), 0))
      assert.deepEqual(pluck(data, 'id'), expected)
      assert.deepEqual(pagination, {
        page,
        limit,
        total: 130,
        totalPages: Math.ceil(130 / limit),
        hasNext: page * limit < 130,
        hasPrev: page > 1,
      })
    }
})

test('an offset wins over the page, which is then floor(offset / limit) + 1', async () => {
  for (const [offset, limit, page] of [
    [0, 20, 1],
    [19, 20, 1],
    [20, 20, 2],
    [45, 10, 5],
    [129, 20, 7],
    [130, 20, 7],
    [-3, 20, 1],
  ]) {
    const path = `/api/products?page=3&limit=${limit}&offset=${offset}`
    const { data, pagination } = await list(path)
    assert.equal(pagination.page, page)
    assert.equal(data[0]?.id, offset === 130 ? undefined : Math.max(offset ?? 0, 0) + 1)
  }
  assert.deepEqual((await list('/api/products?offset=9007199254740993')).data, [])
  assert.deepEqual((await list('/api/products?offset=99999999999999999999')).data, [])
})

test('users know no offset', async () => {
  assert.deepEqual(await idsOf('/api/users?offset=5&limit=2'), [1, 2])
  assert.deepEqual(await idsOf('/api/users?offset=abc&limit=2'), [1, 2])
})

for (const [path, parameters] of [
  ['/api/users', ['limit', 'page']],
  ['/api/products', ['limit', 'page', 'offset']],
  ['/api/posts', ['limit']],
] as const)
  test(`a ${parameters.join(', ')} of ${path} that is no whole number is 422 and named [G9]`, async () => {
    for (const name of parameters)
      for (const form of noWholeNumbers) {
        const answer = await get(`${path}?${name}=${form}`)
        refusesInput(answer)
        for (const { field } of answer.json.error.details) assert.equal(field, name)
      }
  })

test('all the parameters at fault are named at once', async () => {
  refusesInput(await get('/api/users?limit=a&page=b&sort=c&order=d&fields=e'), [
    ...['limit', 'page', 'sort', 'order', 'fields'],
  ])
  const faulty = 'limit=a&page=b&offset=c&min_price=d&max_price=e&fields=f'
  refusesInput(await get(`/api/products?${faulty}`), [
    ...['limit', 'page', 'offset', 'min_price', 'max_price', 'fields'],
  ])
})

test('a parameter given twice is 422, even with the same value', async () => {
  for (const name of ['limit', 'page', 'offset', 'min_price', 'max_price'])
    refusesInput(await get(`/api/products?${name}=1&${name}=1`), [name])
  for (const name of ['category', 'in_stock', 'search', 'sort'])
    refusesInput(await get(`/api/products?${name}=name&x=1&${name}=name`), [name])
  refusesInput(await get('/api/products?fields=id&fields=id'), ['fields'])
  for (const [name, value] of Object.entries({ role: 'user', status: 'active', sort: 'id' }))
    refusesInput(await get(`/api/users?${name}=${value}&${name}=${value}`), [name])
})

test('fields with a comma too many says so', async () => {
  for (const fields of ['id,', ',id', 'id,,name', ',', ' '])
    for (const path of ['/api/users', '/api/users/1']) {
      const { json } = await get(`${path}?fields=${encodeURIComponent(fields)}`)
      assert.match(json.error.message, /^fields has a comma with no name beside it; there are id, /)
    }
})

const twice = 'The parameter version is given twice; give it once'

test('a version given twice is 400, even the same one', async () => {
  for (const path of ['/api/users', '/api/users/1', '/api/v2/users/1', '/api/nothing']) {
    const answer = await get(`${path}?version=2&version=2`)
    if (path === '/api/nothing') refuses(answer, 404, 'NOT_FOUND')
    else assert.equal(answer.json.error?.message ?? answer.json.detail, twice)
    assert.equal(answer.headers.get('api-version'), '2')
  }
})

test('unknown parameters are ignored, those of other lists too', async () => {
  const plain = (await get('/api/users')).text
  for (const query of [
    'x=1',
    'x=1&x=2',
    'cursor=zzz',
    'search=%00',
    'min_price=x',
    '&&=&',
    'Limit=a',
  ])
    assert.equal((await get(`/api/users?${query}`)).text, plain, query)
  const posts = (await get('/api/posts')).text
  for (const query of [
    'page=abc',
    'offset=',
    'sort=x',
    'fields=nothing',
    'order=z',
    'page=1&page=2',
  ])
    assert.equal((await get(`/api/posts?${query}`)).text, posts, query)
})

test('a number that is none is refused below a parent as well', async () => {
  for (const query of ['limit=1.5', 'limit=x', 'limit=', 'limit=1e3'])
    refusesInput(await get(`/api/users/1/posts?${query}`), ['limit'])
})

test('Link leads from the first page over every next one to the last, and back', async () => {
  const start = '/api/products?limit=30&sort=-price&category=even&x=%26%3E&fields=id'
  const seen: number[] = []
  let path: string | undefined = start
  let last = ''
  const visited: string[] = []
  while (path) {
    const answer = await get(path)
    const links = linksOf(answer.headers.get('link'))
    seen.push(...pluck(answer.json.data, 'id'))
    visited.push(path)
    for (const target of Object.values(links))
      assert.match(target, /limit=30&sort=-price&category=even&x=%26%3E&fields=id/)
    assert.equal('prev' in links, visited.length > 1)
    last = links.last ?? ''
    path = links.next
  }
  assert.equal(visited.length, 3)
  assert.equal(visited.at(-1), last)
  assert.deepEqual(
    seen.toSorted((a, b) => a - b),
    from(0, 65).map(n => 2 * n + 1),
  )
  const second = linksOf((await get(last)).headers.get('link')).prev ?? ''
  assert.equal(second, visited[1])
  const first = linksOf((await get(second)).headers.get('link'))
  assert.equal(first.prev, first.first)
  assert.equal((await get(first.first ?? '')).text, (await get(start)).text)
})

test('Link keeps to offsets where an offset was given', async () => {
  const links = linksOf((await get('/api/products?offset=25&limit=20&page=9')).headers.get('link'))
  assert.deepEqual(links, {
    first: '/api/products?limit=20&offset=0',
    prev: '/api/products?limit=20&offset=5',
    next: '/api/products?limit=20&offset=45',
    last: '/api/products?limit=20&offset=120',
  })
})

test('Link keeps the version prefix', async () => {
  const { first } = linksOf((await get('/api/v1/users?limit=1')).headers.get('link'))
  assert.equal(first, '/api/v1/users?limit=1&page=1')
})

test('Link takes up at most 8 KiB, since clients refuse longer heads: next is kept the longest', async () => {
  const relationsOf = async (letters: number) => {
    const answer = await get(`/api/products?page=2&x=${'a'.repeat(letters)}`)
    assert.equal(answer.status, 200)
    const link = answer.headers.get('link') ?? ''
    assert.ok(link.length <= 8192)
    return Object.keys(linksOf(link))
  }
  assert.deepEqual(await relationsOf(1900), ['first', 'prev', 'next', 'last'])
  assert.deepEqual(await relationsOf(2100), ['first', 'prev', 'next'])
  assert.deepEqual(await relationsOf(3000), ['prev', 'next'])
})

test('a list without rows links to its first page alone', async () => {
  const links = linksOf((await get('/api/products?category=none')).headers.get('link'))
  assert.deepEqual(Object.keys(links), ['first'])
})

test('a page far behind the last links back to the last [G9]', async () => {
  const links = linksOf((await get('/api/products?page=500')).headers.get('link'))
  assert.deepEqual(links.prev, '/api/products?page=7')
  assert.equal(links.next, undefined)
})
