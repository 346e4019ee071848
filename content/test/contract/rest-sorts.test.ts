/** In which order lists come, and which members their things show. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusesInput } from '../rest.ts'
import { createWorld, forAllTests } from '../world.ts'
import { ages, from, listsOf, names, product, user } from './rest-list-rows.ts'

const world = forAllTests(() => createWorld({ rows: { user, product } }))

const { get, list, idsOf } = listsOf(world)

const sorted = (by: (index: number) => string | number | null, descending: boolean) =>
  from(0, 12)
    .sort((a, b) => {
      const [x, y] = [by(a), by(b)]
      if (x === y) return a - b
      if (x === null || y === null) return (x === null ? 1 : -1) * (descending ? -1 : 1)
      const order =
        typeof x === 'number'
          ? x - (y as number)
          : Buffer.compare(Buffer.from(x), Buffer.from(y as string))
      return descending ? -order : order
    })
    .map(index => index + 1)

for (const [field, by] of [
  ['id', index => index],
  ['name', index => names[index] ?? ''],
  ['email', index => user[index]?.email ?? ''],
  ['age', index => ages[index] ?? null],
  ['role', index => user[index]?.role ?? ''],
  ['status', index => user[index]?.status ?? ''],
  ['createdAt', index => index],
] as [string, (index: number) => string | number | null][]) {
  test(`users sort by ${field}, ties by id ascending in either direction`, async () => {
    const path = `/api/users?limit=100&sort=${field}`
    assert.deepEqual(await idsOf(path), sorted(by, false))
    assert.deepEqual(await idsOf(`${path}&order=asc`), sorted(by, false))
    assert.deepEqual(await idsOf(`${path}&order=desc`), sorted(by, true))
  })
  test(`no page of users sorted by ${field} repeats or skips a row`, async () => {
    for (const order of ['asc', 'desc']) {
      const pages = await Promise.all(
        [1, 2, 3, 4, 5].map(page =>
          idsOf(`/api/users?limit=3&page=${page}&sort=${field}&order=${order}`),
        ),
      )
      assert.deepEqual(pages.flat(), sorted(by, order === 'desc'))
    }
  })
}

test('a user without an age stands after every age ascending, before it descending', async () => {
  assert.deepEqual((await idsOf('/api/users?limit=100&sort=age')).slice(-3), [2, 5, 9])
  assert.deepEqual((await idsOf('/api/users?limit=100&sort=age&order=desc')).slice(0, 3), [2, 5, 9])
})

test('order without sort is the order by id', async () => {
  assert.deepEqual(await idsOf('/api/users?order=desc&limit=3'), [12, 11, 10])
})

test('version 2 sorts users by several members too, and an order goes with one alone', async () => {
  const path = '/api/v2/users?limit=100&sort=-role,id'
  const byRole = sorted(index => user[index]?.role ?? '', true)
  assert.deepEqual(await idsOf(path), byRole)
  assert.equal((await get(`${path}&order=asc`)).status, 422)
})

test('a sort of users outside the whitelist is 422, and so is another order', async () => {
  const unknown = [
    '',
    'posts',
    'emailVerified',
    'emailKey',
    'Name',
    '-name',
    'name,id',
    'name%20',
    'created_at',
    'revision',
    '1',
    'id;--',
    'constructor',
    '__proto__',
  ]
  for (const sort of unknown) refusesInput(await get(`/api/users?sort=${sort}`), ['sort'])
  for (const order of ['', 'ASC', 'up', 'asc,desc', 'ascending'])
    refusesInput(await get(`/api/users?order=${order}`), ['order'])
})

type Thing = (typeof product)[number] & { id: number }
const things: Thing[] = product.map((row, index) => ({ ...row, id: index + 1 }))
const byPrice = (a: Thing, b: Thing) => a.price - b.price || a.id - b.id
const byPriceDown = (a: Thing, b: Thing) => b.price - a.price || a.id - b.id
const byName = (a: Thing, b: Thing) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.id - b.id)
const byNameDown = (a: Thing, b: Thing) =>
  a.name > b.name ? -1 : a.name < b.name ? 1 : a.id - b.id
const byNamePrice = (a: Thing, b: Thing) => (a.name === b.name ? byPrice(a, b) : byName(a, b))
const byPriceDownName = (a: Thing, b: Thing) => b.price - a.price || byName(a, b)
const byId = (a: Thing, b: Thing) => a.id - b.id

for (const [sort, order] of [
  ['price', byPrice],
  ['-price', byPriceDown],
  ['name', byName],
  ['-name', byNameDown],
  ['created_at', byId],
  ['name,price', byNamePrice],
  ['-price,name', byPriceDownName],
  ['price,-price', byPrice],
  // An unknown value stands for id ascending, after which nothing decides.
  ['x', byId],
  ['', byId],
  ['x,price', byId],
  ['price,x', byPrice],
  ['price,x,-name', byPrice],
  ['-created_at', byId],
  ['createdAt', byId],
  ['stock', byId],
  ['category', byId],
  ['id', byId],
  ['-id', byId],
  ['Price', byId],
  ['--price', byId],
  ['-price%20', byId],
  ['name,,-price', byName],
] as const)
  test(`products sort by "${sort}" and then by id, over all pages`, async () => {
    const expected = things.toSorted(order).map(({ id }) => id)
    const pages = [1, 2, 3].map(page => idsOf(`/api/products?limit=50&page=${page}&sort=${sort}`))
    assert.deepEqual((await Promise.all(pages)).flat(), expected)
    assert.deepEqual(
      await idsOf(`/api/products?limit=100&category=odd&sort=${sort}`),
      things
        .filter(({ category }) => category === 'odd')
        .toSorted(order)
        .map(({ id }) => id),
    )
  })

test('fields keeps the order of the object and adds no id', async () => {
  const { data } = await list('/api/users?fields=createdAt,name,id&limit=1')
  assert.deepEqual(Object.keys(data[0]), ['id', 'name', 'createdAt'])
  assert.deepEqual(Object.keys(await list('/api/users/1?fields=email,name')), ['name', 'email'])
  assert.deepEqual(await list('/api/products/1?fields=created_at,stock'), {
    stock: 0,
    created_at: '2026-01-01T00:13:00.000Z',
  })
  assert.deepEqual((await list('/api/products?fields=image&limit=2')).data, [
    { image: null },
    { image: null },
  ])
})

test('fields may name links, name twice, and have white space around names', async () => {
  assert.deepEqual(Object.keys(await list('/api/users/1?fields=_links')), ['_links'])
  assert.deepEqual(await list('/api/users/1?fields=name,%20name%20,+id'), { id: 1, name: 'Ada' })
})

test('every member can be asked for by itself, and all of them together are the whole', async () => {
  for (const path of ['/api/users/1', '/api/products/1']) {
    const whole = await get(path)
    for (const [member, value] of Object.entries(whole.json))
      assert.deepEqual(await list(`${path}?fields=${member}`), { [member]: value })
    const all = Object.keys(whole.json).toReversed().join()
    assert.equal((await get(`${path}?fields=${all}`)).text, whole.text)
  }
})

test('fields that are empty or unknown are 422', async () => {
  const unknown = [
    '',
    ',',
    'id,',
    'bogus',
    'id,bogus',
    'ID',
    'revision',
    'emailKey',
    'nameKey',
    'createdAt%00',
    '*',
    'constructor',
    '__proto__',
    'id;name',
  ]
  for (const fields of unknown)
    for (const path of ['/api/users', '/api/users/1', '/api/products', '/api/products/1'])
      refusesInput(await get(`${path}?fields=${fields}`))
  refusesInput(await get('/api/products?fields=createdAt'), ['fields'])
  refusesInput(await get('/api/users?fields=created_at'), ['fields'])
  refusesInput(await get('/api/products?fields=_links'), ['fields'])
})
