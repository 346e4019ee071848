/** The data that a store maintains beside the rows: counts, the search index and the next ids. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fold } from '#model/values.ts'
import { createWorld, filling, forAllTests, onPostgres, pluck } from '#test/market.ts'

const world = forAllTests(createWorld)

const admin = { as: 1 }

const rowsOf = (text: string) => world.rows(text)

const recounts = [
  ['users', ''],
  ['users', 'role'],
  ['users', 'status'],
  ['products', ''],
  ['products', 'category'],
] as const

const assertCounts = async () => {
  for (const [table, field] of recounts) {
    const by = field === '' ? "''" : field
    assert.deepEqual(
      await rowsOf(
        `select value, cast(sum(n) as bigint) from counts where entity = '${table}' and field = '${field}'
          group by value having sum(n) <> 0 order by value`,
      ),
      await rowsOf(`select ${by}, count(*) from ${table} group by 1 order by 1`),
      `${table} by ${field || 'all'}`,
    )
  }
}

test('the stored counts are those of a recount after any writes, dependent deletions included', async () => {
  const ids: number[] = [2, 3, 4]
  const nth = (n: number) => ids[n % ids.length] ?? 0
  let made = 0
  const pick = fc.nat(1000)
  const write = fc.oneof(
    fc.record({ kind: fc.constant('create' as const), role: fc.constantFrom('user', 'admin') }),
    fc.record({
      kind: fc.constant('promote' as const),
      pick,
      role: fc.constantFrom('user', 'admin'),
    }),
    fc.record({
      kind: fc.constant('suspend' as const),
      pick,
      status: fc.constantFrom('active', 'suspended'),
    }),
    fc.record({ kind: fc.constant('delete' as const), pick }),
    fc.record({ kind: fc.constant('post' as const), pick }),
    fc.record({ kind: fc.constant('comment' as const), pick }),
    fc.record({ kind: fc.constant('fail' as const) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 12 }), async writes => {
      await Promise.all(
        writes.map(async each => {
          switch (each.kind) {
            case 'create': {
              const email = `kept${++made}@example.org`
              const { json } = await world.ask('POST /api/users', {
                ...admin,
                body: { name: 'K', email, role: each.role },
              })
              ids.push(json.id)
              return
            }
            case 'promote':
              return world.ask(`PATCH /api/users/${nth(each.pick)}`, {
                ...admin,
                body: { role: each.role },
              })
            case 'suspend':
              return world.ask(`PATCH /api/users/${nth(each.pick)}`, {
                ...admin,
                body: { status: each.status },
              })
            case 'delete':
              return world.ask(`DELETE /api/users/${nth(each.pick)}`, admin)
            case 'post':
              return world.ask(`POST /api/users/${nth(each.pick)}/posts`, {
                ...admin,
                body: { title: 'T', content: 'C' },
              })
            case 'comment':
              return world.ask(`POST /api/posts/${each.pick % 20}/comments`, {
                ...admin,
                body: { text: 'T' },
              })
            case 'fail':
              return world.ask('POST /api/users', {
                ...admin,
                body: { name: 'K', email: 'ada@example.org' },
              })
            default:
              return each satisfies never
          }
        }),
      )
      await assertCounts()
    }),
    { numRuns: 30 },
  )
  const { json } = await world.ask('GET /api/users?role=admin&limit=1', admin)
  assert.equal(
    json.pagination.total,
    (await rowsOf("select count(*) from users where role = 'admin'"))[0]?.[0],
  )
  if (onPostgres) return
  assert.deepEqual(await rowsOf('pragma foreign_key_check'), [])
  assert.deepEqual(await rowsOf('pragma integrity_check'), [['ok']])
})

test('a search finds what its definition says after any writes, whatever is looked for [G12]', async () => {
  const letters = fc.constantFrom(
    'a',
    'A',
    'b',
    'é',
    'É',
    'e',
    'ß',
    'ẞ',
    's',
    '"',
    "'",
    '%',
    '_',
    '*',
    '(',
    ')',
    ' ',
    'AND',
    'NOT',
    '-',
    '\\',
    '😀',
    '松',
    '\u0301',
  )
  const name = fc.array(letters, { minLength: 1, maxLength: 7 }).map(parts => `x${parts.join('')}y`)
  const needle = fc.array(letters, { minLength: 1, maxLength: 4 }).map(parts => parts.join(''))
  const names = new Map<number, string>()
  for (const [id, text] of await rowsOf('select id, name from products'))
    names.set(Number(id), String(text))
  const step = fc.record({
    name,
    pick: fc.nat(1000),
    kind: fc.constantFrom('create', 'rename', 'restock', 'delete'),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 8 }),
      fc.array(needle, { maxLength: 8 }),
      async (steps, needles) => {
        for (const { kind, name, pick } of steps) {
          const id = [...names.keys()][pick % Math.max(names.size, 1)]
          if (kind === 'create' || id === undefined) {
            const { json } = await world.ask('POST /api/products', {
              ...admin,
              body: { name, category: `c${pick % 3}`, price: 1 },
            })
            names.set(json.id, name)
          } else if (kind === 'rename') {
            await world.ask(`PATCH /api/products/${id}`, {
              ...admin,
              body: { name, category: `c${pick % 3}` },
            })
            names.set(id, name)
          } else if (kind === 'restock') {
            await world.ask(`PATCH /api/products/${id}`, { ...admin, body: { stock: pick } })
          } else {
            await world.ask(`DELETE /api/products/${id}`, admin)
            names.delete(id)
          }
        }
        for (const each of [...needles, ...steps.slice(0, 2).map(({ name }) => name.slice(1, 5))]) {
          if (!each.isWellFormed()) continue
          const found = await world.ask(
            `GET /api/products?limit=100&fields=id&search=${encodeURIComponent(each)}`,
          )
          assert.deepEqual(
            pluck(found.json.data, 'id'),
            [...names]
              .filter(([, name]) => fold(name).includes(fold(each)))
              .map(([id]) => id)
              .sort((a, b) => a - b)
              .slice(0, 100),
            each,
          )
        }
        await assertCounts()
      },
    ),
    { numRuns: 40 },
  )
  if (onPostgres) return
  // Fails where the index and the table do not agree.
  await world.change(
    "insert into products_name_key_search (products_name_key_search) values ('integrity-check')",
  )
})

test('an id is not given out again after the newest was deleted', async () => {
  const makers = [
    ['/api/users', () => ({ name: 'A', email: `again${Math.random()}@example.org` })],
    ['/api/products', () => ({ name: 'A', category: 'c', price: 1 })],
    ['/api/users/1/posts', () => ({ title: 'A', content: 'a' })],
  ] as const
  for (const [path, body] of makers) {
    const own = path.endsWith('posts') ? '/api/posts' : path
    let last = 0
    for (let turn = 0; turn < 3; turn++) {
      const { json, status } = await world.ask(`POST ${path}`, { ...admin, body: body() })
      assert.equal(status, 201)
      assert.ok(json.id > last)
      last = json.id
      assert.equal((await world.ask(`DELETE ${own}/${last}`, admin)).status, 204)
    }
  }
})

test('an id is not used up by a write that failed, and ids ascend in the order of the writes', async () => {
  const before = await world.ask('POST /api/users', {
    body: { name: 'A', email: 'first@example.org' },
  })
  assert.equal(
    (await world.ask('POST /api/users', { body: { name: 'A', email: 'First@example.org' } }))
      .status,
    409,
  )
  const ids = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const { json } = await world.ask('POST /api/users', {
        body: { name: 'A', email: `row${index}@example.org` },
      })
      return Number(json.id)
    }),
  )
  // On PostgreSQL writes run concurrently, and a refused insert uses an id up.
  if (onPostgres) return assert.equal(new Set(ids).size, 20)
  assert.deepEqual(
    ids,
    [...ids].sort((a, b) => a - b),
  )
  assert.equal(ids[0], before.json.id + 1)
})

test('when the last id is given out the next creation is refused, and nothing is stored [G8]', async () => {
  await filling(world.store, async ({ session, dialect }) => {
    const text = `insert into products (id, name, category, price, created_at, name_key)
      values (${dialect.placeholder(1)}, 'last', 'c', 1, 1, 'last') returning id`
    await session.query({ text, values: [Number.MAX_SAFE_INTEGER] })
    await session.settleIds(['products'])
  })
  const { status } = await world.ask('POST /api/products', {
    ...admin,
    body: { name: 'next', category: 'c', price: 1 },
  })
  assert.equal(status, 409)
  assert.equal((await world.ask('GET /api/products/9007199254740991')).json.name, 'last')
  assert.deepEqual(await rowsOf("select count(*) from products where name = 'next'"), [[0]])
  await assertCounts()
})
