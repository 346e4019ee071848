/** Filters of lists: equality, price, stock and search, each against a plain definition. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import content from '#content/duet.config.ts'
import { modelOf } from '#content.ts'
import { rounds } from '#test/support/rounds.ts'
import { refusesInput } from '../rest.ts'
import { createWorld, forAllTests, pluck } from '../world.ts'
import { categories, contains, rows, type Thing, things, where } from './rest-filter-rows.ts'
import { folded, needles, words } from './searches.ts'

const world = forAllTests(() => createWorld({ rows }))

const get = (path: string) => world.ask(`GET ${path}`, { as: 1 })

/** The ids that a query of products keeps; its total has to be their number. */
const kept = async (parameters: Record<string, string>): Promise<number[]> => {
  const query = new URLSearchParams({ limit: '100', fields: 'id', ...parameters })
  const answer = await get(`/api/products?${query}`)
  assert.equal(answer.status, 200, answer.text)
  const ids = pluck(answer.json.data, 'id')
  assert.equal(answer.json.pagination.total, ids.length)
  return ids
}

test('users are filtered by role, by status, and by both', async () => {
  const ids = async (query: string) => pluck((await get(`/api/users?${query}`)).json.data, 'id')
  assert.deepEqual(await ids('role=admin'), [1, 4])
  assert.deepEqual(await ids('status=suspended'), [3, 4])
  assert.deepEqual(await ids('status=suspended&role=admin'), [4])
  assert.deepEqual(await ids('role=nobody'), [])
  assert.deepEqual(await ids('role=ADMIN'), [])
  assert.deepEqual(await ids('role=&status='), [1, 2, 3, 4])
  assert.equal((await get('/api/users?role=admin')).json.pagination.total, 2)
  assert.equal((await get('/api/users?status=suspended&role=admin')).json.pagination.total, 1)
})

test('a category is compared to the letter', async () => {
  for (const category of [...categories, 'LIGHTING', 'CAFÉ', 'lighting ', 'light', '_', 'x'])
    assert.deepEqual(
      await kept({ category }),
      where(thing => thing.category === category),
    )
})

test('an empty category or search is as if absent', async () => {
  assert.equal((await kept({ category: '', search: '' })).length, things.length)
})

test('only the value true of in_stock has an effect', async () => {
  assert.deepEqual(
    await kept({ in_stock: 'true' }),
    where(({ stock }) => stock > 0),
  )
  for (const value of ['false', 'TRUE', 'True', '1', 'yes', '', ' true', 'x'])
    assert.equal((await kept({ in_stock: value })).length, things.length)
})

test('a price keeps its bound, and a fraction of a minor unit is compared exactly', async () => {
  for (const [text, value] of [
    ...['0', '0.01', '1', '1.00', '1.000', '9.99', '10', '14.5', '14.50', '999999999.99'],
    ...['0.001', '0.009', '0.011', '14.499', '14.5001', '14.499999999999', '1e1', '1E-2', '145e-1'],
    ...['-0', '-0.0', '-0.001', '-0.005', '-0.01', '-5', '1e12', '-1e12', '1e300', '1e999'],
    ...[
      '0000010',
      '9007199254740993',
      '9223372036854775807',
      '92233720368547758.08',
      `0.${'0'.repeat(300)}1`,
      '99999999999999999999999999',
    ],
  ].map(text => [text, Number(text)] as const)) {
    assert.deepEqual(
      await kept({ min_price: text }),
      where(({ price }) => price >= value),
      text,
    )
    assert.deepEqual(
      await kept({ max_price: text }),
      where(({ price }) => price <= value),
      text,
    )
  }
})

test('a price that is no number is 422 and named', async () => {
  for (const text of [
    '',
    '%20',
    'abc',
    'NaN',
    'Infinity',
    '-Infinity',
    '1,5',
    '1.2.3',
    '0x10',
    '1e',
    'e1',
    '--1',
    '1%20',
    '%2B1',
    '$5',
    '5%E2%82%AC',
    '1_000',
    '%D9%A1',
    '1e9999',
    '1/2',
  ])
    for (const name of ['min_price', 'max_price'])
      refusesInput(await get(`/api/products?${name}=${text}`), [name])
})

test('a fraction of a minor unit follows the currency', async () => {
  for (const [code, digits, list, expected] of [
    ['JPY', 0, [14, 15], { '14.5': [2], '14': [1, 2], '14.0': [1, 2], '-0.5': [1, 2] }],
    ['KWD', 3, [14.499, 14.5], { '14.5': [2], '14.4991': [2], '14.499': [1, 2] }],
  ] as const) {
    const model = modelOf(content, { switches: { signup: true }, currency: { code, digits } })
    const product = list.map(price => ({ name: 'x', category: 'y', price }))
    await using other = await createWorld({ model, rows: { product } })
    for (const [bound, ids] of Object.entries(expected)) {
      const { json } = await other.ask(`GET /api/products?min_price=${bound}`)
      assert.deepEqual(pluck(json.data, 'id'), ids, `${code} ${bound}`)
    }
  }
})

test('search folds case for all of Unicode', async () => {
  for (const needle of [
    'LAMP',
    'lAmP',
    'CAFÉ',
    'café',
    'straße',
    'STRASSE',
    'σίσυφοσ',
    'Изба',
    'ÄÖÜ',
    'K',
    'å',
    'S',
    'FIN',
    'ǆ',
  ])
    assert.deepEqual(await kept({ search: needle }), contains(needle), needle)
  assert.deepEqual(
    await kept({ search: 'ΣΊΣΥΦΟΣ' }),
    where(({ name }) => /^Σίσυφος$/i.test(name)),
  )
})

test('accents count in a search', async () => {
  assert.deepEqual(
    await kept({ search: 'cafe' }),
    where(({ name }) => name.normalize().startsWith('cafe')),
  )
  assert.deepEqual(
    await kept({ search: 'é' }),
    where(({ name }) => /É/i.test(name.normalize())),
  )
})

test('% and _ are letters in a search, and so is what a full-text index has for operators [G12]', async () => {
  for (const needle of [
    '%',
    '%%%',
    '100%',
    '_',
    '___',
    'w_g',
    '\\',
    'a\\b',
    '"',
    '"quoted"',
    "'",
    "it's",
    'a AND b',
    'OR NOT',
    'NEAR(',
    'name_key:',
    '*',
    'lam*',
    '^la',
    '(',
    'a-b',
    'a+b',
    '{',
    '""',
    "';--",
  ])
    assert.deepEqual(
      await kept({ search: needle }),
      where(({ name }) => folded(name).includes(folded(needle))),
      needle,
    )
  assert.equal(
    (await kept({ search: '%' })).length,
    words.filter(name => name.includes('%')).length,
  )
})

test('one letter, two letters and three find alike', async () => {
  for (const { name } of things)
    for (const length of [1, 2, 3, 4]) {
      const needle = [...name].slice(0, length).join('')
      assert.deepEqual(await kept({ search: needle }), contains(needle), needle)
    }
})

test('a long search is compared to its last letter', async () => {
  const long = words.find(word => word.length > 100) ?? ''
  for (const search of [long, long.slice(20), `${long}x`, `${long.slice(0, -1)}x`])
    assert.deepEqual(await kept({ search }), contains(search), search)
  assert.equal((await kept({ search: long })).length, 1)
})

test('hundreds of random searches equal the plain definition [G12]', async () => {
  await fc.assert(
    fc.asyncProperty(needles, async search => {
      assert.deepEqual(await kept({ search }), contains(search))
    }),
    { numRuns: rounds(67, 500) },
  )
})

test('filters are all true at once, in any mixture and under any sort', async () => {
  const mixture = fc.record(
    {
      category: fc.constantFrom(...categories, 'x'),
      min_price: fc.constantFrom('0', '0.995', '1', '10'),
      max_price: fc.constantFrom('0.5', '10', '14.5', '1e10'),
      in_stock: fc.constantFrom('true', 'false'),
      search: fc.constantFrom('a', 'CA', 'caf', 'ß', '%', 'name', '😀'),
      sort: fc.constantFrom('price', '-price', 'name', '-name', 'created_at', 'x'),
    },
    { requiredKeys: [] },
  )
  const fits = (asked: Record<string, string>) => (thing: Thing) =>
    (asked.category === undefined || thing.category === asked.category) &&
    (asked.min_price === undefined || thing.price >= Number(asked.min_price)) &&
    (asked.max_price === undefined || thing.price <= Number(asked.max_price)) &&
    (asked.in_stock !== 'true' || thing.stock > 0) &&
    (asked.search === undefined || folded(thing.name).includes(folded(asked.search)))
  await fc.assert(
    fc.asyncProperty(mixture, async asked => {
      const ids = await kept(asked as Record<string, string>)
      assert.deepEqual(
        ids.toSorted((a, b) => a - b),
        where(fits(asked as Record<string, string>)),
      )
    }),
    { numRuns: rounds(34, 1000) },
  )
})

test('a search or category that could not be stored is 422 and named', async () => {
  refusesInput(await get('/api/products?search=%00'), ['search'])
  refusesInput(await get('/api/products?search=lam%00p'), ['search'])
  refusesInput(await get('/api/products?category=%00'), ['category'])
  refusesInput(await get('/api/users?role=%00'), ['role'])
})

test('a parameter in bytes that are no UTF-8 is 400 and named; U+FFFD itself is a letter, and what is not read is passed over', async () => {
  const { status, json } = await get('/api/products?search=lam%ff')
  assert.deepEqual([status, json.error.code], [400, 'MALFORMED_REQUEST'])
  assert.equal(json.error.message, 'The parameter search is not UTF-8')
  for (const fine of ['search=%EF%BF%BD', 'search=lam&utm=%ff'])
    assert.equal((await get(`/api/products?${fine}`)).status, 200)
})

test('injections are searches and filters that find nothing [G13]', async () => {
  for (const text of [
    "' or 1=1 --",
    "'; drop table products; --",
    '" or ""="',
    "x' union select 1",
    '1) or (1=1',
    '$1',
    '?1',
    ':zz',
    '@p',
  ]) {
    for (const name of ['search', 'category']) assert.deepEqual(await kept({ [name]: text }), [])
  }
  assert.equal((await kept({})).length, things.length)
})
