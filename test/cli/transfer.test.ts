import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { command } from '../commands.ts'
import { folderOf, plain, type Settings, serve } from '../duet.ts'
import { notMade } from '../stores.ts'

const { folder, freshStore } = folderOf('transfer')
const kinds = ['users', 'posts', 'comments', 'likes', 'products', 'customers', 'orders'] as const
type Kind = (typeof kinds)[number]
type Format = 'ndjson' | 'csv'

let files = 0
const nameFor = (ending: string) => join(folder, `file-${++files}.${ending}`)

const fileOf = (rows: readonly object[] | string, ending: Format = 'ndjson'): string => {
  const path = nameFor(ending)
  const text =
    typeof rows === 'string' ? rows : rows.map(row => `${JSON.stringify(row)}\n`).join('')
  writeFileSync(path, text)
  return path
}

const importing = async (settings: Settings, kind: Kind, path: string) => {
  const ended = await command(['import', kind, path], settings)
  assert.equal(ended.code, 0, ended.stderr)
  return ended
}

type Files = Partial<Record<Kind, string>>

/** The files of those kinds of a store, in that format. */
const exported = async (settings: Settings, format: Format, some: readonly Kind[]) => {
  const entries = await Promise.all(
    some.map(async kind => {
      const path = nameFor(format)
      const { code, stderr } = await command(['export', kind, path], settings)
      assert.equal(code, 0, stderr)
      return [kind, path] as const
    }),
  )
  return Object.fromEntries(entries) as Files
}

const contents = (paths: Files): Files =>
  Object.fromEntries(
    Object.entries(paths).map(([kind, path]) => [kind, readFileSync(path, 'utf8')]),
  )

/** Makes a store of exported files. */
const storeOf = async (paths: Files, more: Settings) => {
  const { rows, settings: plain } = await freshStore()
  const settings = { ...plain, ...more }
  for (const kind of kinds) {
    const path = paths[kind]
    if (path !== undefined) await importing(settings, kind, path)
  }
  return { rows, settings }
}

type Trip = {
  readonly some?: readonly Kind[]
  readonly formats?: readonly Format[]
  readonly more?: Settings
}

/** Imports an export in each format, and asserts that a new export has the same bytes. */
const roundTrip = async (
  settings: Settings,
  { some = kinds, formats = ['ndjson', 'csv'], more = {} }: Trip = {},
) => {
  const ndjson = contents(await exported(settings, 'ndjson', some))
  const stores = await Promise.all(
    formats.map(async format => storeOf(await exported(settings, format, some), more)),
  )
  for (const store of stores)
    assert.deepEqual(contents(await exported(store.settings, 'ndjson', some)), ndjson)
  return { stores, ndjson }
}

const time = (minute: number) => new Date(Date.UTC(2025, 2, 1, 12, minute, 7, 89)).toISOString()

const odd = [
  'a, "b", \'c\'\nnew line',
  'line ends \r\n of \r three \n kinds',
  ' outer space ',
  '👩‍🚀 emoji 🎉, שלום, e\u0301, \u2028 and \u00a0',
  '"',
  '=1+1',
  '007',
  'true',
  '\\n \t {"json": [1]}',
  'null',
]

const world: Record<Kind, readonly object[]> = {
  users: [
    { id: 3, name: 'Ada', email: 'Ada@Example.org', age: 0, role: 'admin', emailVerified: true },
    { id: 8, name: "O'Brien, Ben", email: 'ben@example.org', createdAt: time(1) },
    { id: 9, name: '"Q" 🎉', email: 'q@example.org', age: 150, status: 'suspended' },
  ],
  posts: odd.map((content, index) => ({
    id: 10 + index,
    authorId: index % 2 === 0 ? 3 : 8,
    title: content.replace(/\s+/g, ' '),
    content,
    createdAt: time(index),
  })),
  comments: odd.map((text, index) => ({ id: 100 + index, postId: 10, authorId: 9, text })),
  likes: [
    { userId: 9, commentId: 104 },
    { userId: 3, commentId: 100, createdAt: time(3) },
  ],
  products: [
    { id: 5, name: 'Lamp, "large"\n2', category: 'light', price: 19.99, stock: 4 },
    { id: 6, name: '7', category: '8', price: 0.1, image: 'https://example.org/a.jpg?b=1,2' },
    { id: 7, name: 'Much', category: 'x', price: 999_999_999.99, stock: 2_147_483_647 },
  ],
  customers: [
    { id: 1, name: 'Old, friend', createdAt: time(0) },
    { id: 2, name: 'Ada', email: 'ada@example.org', userId: 3 },
  ],
  orders: [
    {
      id: 50,
      customerId: 1,
      items: [
        { productId: 5, quantity: 3 },
        { productId: 6, quantity: 1, price: 0.2, name: 'Was "cheap", 🎉\n' },
      ],
      createdAt: time(1),
    },
    {
      id: 51,
      customerId: 2,
      status: 'pending',
      items: [{ productId: 999, quantity: 1000, price: 0, name: 'Gone' }],
    },
    {
      id: 52,
      customerId: 2,
      status: 'refunded',
      items: [{ productId: 7, quantity: 1000 }],
      createdAt: time(1),
      paidAt: time(2),
      refundedAt: time(3),
    },
    {
      id: 53,
      customerId: 2,
      status: 'cancelled',
      items: [{ productId: 5, quantity: 1 }],
      createdAt: time(1),
      cancelledAt: time(4),
    },
  ],
}

test('what is exported of every kind, as NDJSON or CSV, makes a store that exports the same bytes', async () => {
  const { rows: kept, settings } = await freshStore()
  for (const kind of kinds) await importing(settings, kind, fileOf(world[kind]))
  const { stores, ndjson } = await roundTrip(settings)
  const rows = (kind: Kind) =>
    (ndjson[kind] ?? '')
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
  assert.deepEqual(
    rows('posts').map(({ content }) => content),
    odd,
  )
  assert.deepEqual(
    rows('users').map(({ id, role, status, emailVerified, age }) => [
      id,
      role,
      status,
      emailVerified,
      age,
    ]),
    [
      [3, 'admin', 'active', true, 0],
      [8, 'user', 'active', false, null],
      [9, 'user', 'suspended', false, 150],
    ],
  )
  assert.deepEqual(
    rows('orders').map(({ id, status, amount }) => [id, status, amount]),
    [
      [50, 'paid', 60.17],
      [51, 'pending', 0],
      [52, 'refunded', 999_999_999_990],
      [53, 'cancelled', 19.99],
    ],
  )
  const record =
    'select order_id, at, by_user, from_status, to_status from order_events order by order_id, id'
  for (const store of stores) {
    assert.deepEqual(await store.rows(record), await kept(record))
    assert.deepEqual(await store.rows('select user_id from customers order by id'), [[null], [3]])
  }
})

test('orders that the API made come back from their export in the states they were in', async () => {
  const { settings } = await freshStore()
  for (const kind of ['users', 'products'] as const)
    await importing(settings, kind, fileOf(world[kind]))
  const service = await serve(settings)
  const { stdout: token } = await command(['token', '--user', '8'], settings)
  const post = async (path: string, body?: object) => {
    const response = await fetch(`${service.url}/api${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token.trim()}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    assert.ok(response.ok, await response.clone().text())
    return (await response.json()) as { id: number }
  }
  const steps = [[], ['pay'], ['cancel'], ['pay', 'refund']]
  for (const actions of steps) {
    const { id } = await post('/orders', { items: [{ productId: 7, quantity: 2 }] })
    for (const action of actions) await post(`/orders/${id}/${action}`)
  }
  // While it is served.
  const { stores, ndjson } = await roundTrip(settings, {
    some: ['users', 'products', 'customers', 'orders'],
    formats: ['ndjson'],
  })
  assert.deepEqual(
    [...(ndjson.orders ?? '').matchAll(/"status":"(\w+)"/g)].map(([, status]) => status),
    ['pending', 'paid', 'cancelled', 'refunded'],
  )
  assert.deepEqual(await stores[0]?.rows('select stock from products where id = 7'), [
    [2_147_483_647 - 4],
  ])
  await service.end()
})

for (const [currency, price, amount] of [
  ['JPY', 1980, 5940],
  ['KWD', 1.005, 3.015],
] as const)
  test(`money in ${currency} keeps its decimals on the way`, async () => {
    const more = { DUET_CURRENCY: currency }
    const settings = { ...(await freshStore()).settings, ...more }
    await importing(settings, 'customers', fileOf([{ id: 1, name: 'C' }]))
    const item = { productId: 1, quantity: 3, price, name: 'A' }
    const order = { customerId: 1, items: [item], amount, currency }
    await importing(settings, 'orders', fileOf([order]))
    const { ndjson } = await roundTrip(settings, {
      some: ['customers', 'orders'],
      formats: ['csv'],
      more,
    })
    assert.match(ndjson.orders ?? '', new RegExp(`"amount":${amount},"currency":"${currency}"`))
  })

const shop = async () => {
  const { rows, settings } = await freshStore()
  await importing(settings, 'products', fileOf(world.products))
  await importing(settings, 'customers', fileOf([{ id: 1, name: 'C' }]))
  return { rows, settings }
}

test('an imported order without status was paid when it was made, is recorded, and takes no stock', async () => {
  const { rows: kept, settings } = await shop()
  const items = [{ productId: 5, quantity: 3 }]
  await importing(settings, 'orders', fileOf([{ id: 4, customerId: 1, items, createdAt: time(5) }]))
  const at = Date.parse(time(5))
  assert.deepEqual(await kept('select status, amount, currency, created_at, paid_at from orders'), [
    ['paid', 5997, 'USD', at, at],
  ])
  assert.deepEqual(await kept('select name, quantity, price from order_items'), [
    ['Lamp, "large"\n2', 3, 1999],
  ])
  assert.deepEqual(
    await kept(
      'select order_id, at, by_user, from_status, to_status from order_events order by id',
    ),
    [
      [4, at, null, null, 'pending'],
      [4, at, null, 'pending', 'paid'],
    ],
  )
  assert.deepEqual(await kept('select stock from products where id = 5'), [[4]])
})

test('an order without status is in the state that its times imply', async () => {
  const { rows: kept, settings } = await shop()
  const order = { customerId: 1, items: [{ productId: 5, quantity: 1 }], createdAt: time(1) }
  const rows = [
    { ...order, paidAt: time(2) },
    { ...order, cancelledAt: time(2) },
    { ...order, refundedAt: time(2) },
  ]
  await importing(settings, 'orders', fileOf(rows))
  assert.deepEqual(await kept('select status, paid_at from orders order by id'), [
    ['paid', Date.parse(time(2))],
    ['cancelled', null],
    ['refunded', Date.parse(time(1))],
  ])
})

test('each fault of an order is named by its line and member, and nothing is imported', async () => {
  const { rows: kept, settings } = await shop()
  const items = [{ productId: 5, quantity: 1 }]
  const rows: readonly (readonly [object, ...string[]])[] = [
    [{ customerId: 1, items }],
    [{ customerId: 2, items }, 'customerId names customer 2, which does not exist'],
    [{ customerId: 1 }, 'items is required'],
    [{ customerId: 1, items: [] }, 'items must be a list of 1 to 100 items'],
    [{ customerId: 1, items: [7] }, 'items.0 must be an object with productId and quantity'],
    [
      { customerId: 1, items: [{ productId: 5 }, { quantity: 1001, productId: 6, colour: 1 }] },
      'items.0.quantity is required',
      'items.1.quantity must be a whole number from 1 to 1000',
      'items.1.colour is not a member of an order item',
    ],
    [
      { customerId: 1, items: [{ productId: 99, quantity: 1, price: 1 }] },
      'items.0.productId names product 99, which does not exist: import it first, or give name and price',
    ],
    [{ customerId: 1, items: [...items, ...items] }, 'items.1.productId names product 5 again'],
    [
      { customerId: 1, items: [{ productId: 5, quantity: 1, price: 1.999 }] },
      'items.0.price must have at most 2 decimals, as USD has',
    ],
    [{ customerId: 1, items, amount: 20 }, 'amount must be 19.99, the sum of the items'],
    [{ customerId: 1, items, currency: 'EUR' }, 'currency must be USD, the currency of the store'],
    [
      { customerId: 1, items, status: 'shipped' },
      'status must be one of pending, paid, cancelled, refunded',
    ],
    [
      { customerId: 1, items, status: 'refunded', refundedAt: time(1) },
      'paidAt is required where status is refunded',
    ],
    [
      { customerId: 1, items, status: 'pending', paidAt: time(1) },
      'paidAt must not be given where status is pending',
    ],
    [{ customerId: 1, items, note: 'x' }, 'note is not a member of an order'],
    [{ customerId: 1, items, revision: 4 }, 'revision is not a member of an order'],
    [
      { customerId: 1, items, createdAt: time(1), orderedAt: time(1) },
      'orderedAt stands for createdAt, which is given too',
    ],
  ]
  const path = fileOf(rows.map(([row]) => row))
  const { code, stderr } = await command(['import', 'orders', path], settings)
  assert.equal(code, 1)
  const told = stderr.split('\n').filter(line => line.startsWith(path))
  const expected = rows.flatMap(([, ...faults], index) =>
    faults.map(fault => `${path}:${index + 1}: ${fault}`),
  )
  assert.deepEqual(told, expected)
  for (const table of ['orders', 'order_items', 'order_events'])
    assert.deepEqual(await kept(`select count(*) from ${table}`), [[0]])
})

test('known members of other shops are renamed or left out, and one line says so', async () => {
  const { rows: kept, settings } = await shop()
  const people = await importing(
    settings,
    'customers',
    fileOf('id,code,name,company,country\n9,ALF,Maria,"A, B",Germany\n', 'csv'),
  )
  assert.match(people.stderr, /^.*: not kept: code, company, country$/m)
  assert.deepEqual(await kept('select name, email from customers where id = 9'), [['Maria', null]])
  const items = '"[{""productId"":5,""quantity"":2,""price"":1.5}]"'
  const orders = await importing(
    settings,
    'orders',
    fileOf(`id,customerId,orderedAt,shippedAt,items\n7,9,${time(1)},${time(2)},${items}\n`, 'csv'),
  )
  assert.match(orders.stderr, /^.*: orderedAt is kept as createdAt; not kept: shippedAt$/m)
  assert.deepEqual(await kept('select created_at, amount from orders'), [
    [Date.parse(time(1)), 300],
  ])
  const { code, stderr } = await command(
    ['import', 'customers', fileOf([{ name: 'X', phone: '1' }])],
    settings,
  )
  assert.equal(code, 1)
  assert.match(stderr, /:1: phone is not a member of a customer$/m)
})

test('CSV: items that are no JSON, and a user twice among customers, are reported', async () => {
  const { settings } = await shop()
  await importing(settings, 'users', fileOf(world.users))
  const orders = fileOf('customerId,items\n1,2x of 5\n', 'csv')
  const wrong = await command(['import', 'orders', orders], settings)
  assert.match(wrong.stderr, /:2: items must be a list of 1 to 100 items$/m)
  const customers = fileOf('name,userId\nA,3\nB,3\nC,77\n', 'csv')
  const twice = await command(['import', 'customers', customers], settings)
  assert.match(twice.stderr, /:3: userId is in use already$/m)
  assert.match(twice.stderr, /:4: userId names user 77, which does not exist$/m)
})

test('without a FILE the rows go to standard output, as NDJSON unless --format says CSV', async () => {
  const { settings } = await freshStore()
  await importing(settings, 'users', fileOf(world.users))
  const plain = await command(['export', 'users'], settings)
  assert.equal(plain.code, 0)
  assert.equal(plain.stdout.split('\n').length, 4)
  assert.match(plain.stderr, /exported 3 users\n$/)
  const csv = await command(['export', 'users', '--format', 'csv'], settings)
  assert.match(csv.stdout, /^id,name,email,age,role,status,emailVerified,createdAt\r\n3,Ada,/)
  const empty = await command(['export', 'likes', '--format', 'csv'], settings)
  assert.equal(empty.stdout, 'userId,commentId,createdAt\r\n')
})

test('a reader that stops early ends an export quietly', async () => {
  const { settings } = await freshStore()
  await command(['seed', '--users', '5000'], settings)
  const main = fileURLToPath(new URL('../../content/main.ts', import.meta.url))
  const line = `"${process.execPath}" "${main}" export users | head -n 1`
  const { stdout, stderr } = await promisify(execFile)('sh', ['-c', line], {
    env: { ...plain, ...settings },
  })
  assert.equal(JSON.parse(stdout).id, 1)
  assert.equal(stderr, '')
})

test('an export into a file leaves its mode as it is, closed or open to others', async () => {
  const { settings } = await freshStore()
  const path = fileOf(world.users)
  await importing(settings, 'users', path)
  for (const mode of [0o600, 0o640, 0o400, 0o666]) {
    chmodSync(path, mode)
    const { code, stderr } = await command(['export', 'users', path], settings)
    assert.equal(code, 0, stderr)
    // The owner may write what it replaced.
    assert.equal(statSync(path).mode & 0o777, mode | 0o600)
  }
})

test('an export through a symbolic link that leads nowhere is refused with the remedy, and the link stays', async () => {
  const { settings } = await freshStore()
  await importing(settings, 'users', fileOf(world.users))
  const path = nameFor('ndjson')
  symlinkSync(`${path}.away`, path)
  const { code, stderr } = await command(['export', 'users', path], settings)
  assert.equal(code, 1)
  assert.equal(
    stderr,
    `duet: ${path} is a symbolic link to a file that is not there; make that file, or remove the link\n`,
  )
  assert.equal(readlinkSync(path), `${path}.away`)
})

test('an export that cannot be is one line, and leaves no file', async () => {
  const { file, settings } = await freshStore({ bare: true })
  const made = await freshStore()
  await importing(made.settings, 'users', fileOf(world.users))
  const target = nameFor('txt')
  const cases = [
    [settings, ['users'], 1, notMade],
    [made.settings, ['avatars'], 2, /KIND must be one of users, .*orders, not avatars/],
    [made.settings, [], 2, /not nothing/],
    [made.settings, ['users', target], 2, /must end in \.ndjson or \.csv, or --format/],
    [made.settings, ['users', '--format', 'xml'], 2, /--format must be ndjson or csv, not xml/],
    [made.settings, ['users', join(folder, 'none', 'a.csv')], 1, /there is no such file/],
    [made.settings, ['users', folder, '--format', 'csv'], 1, /is not a file/],
    [
      made.settings,
      ['users', '/dev/null', '--format', 'csv'],
      1,
      /^duet: \/dev\/null is not a file$/m,
    ],
  ] as const
  for (const [used, args, status, message] of cases) {
    const { code, stdout, stderr } = await command(['export', ...args], used)
    assert.deepEqual([code, stdout], [status, ''], stderr)
    assert.match(stderr, /^duet: [^\n]+\n$/)
    assert.match(stderr, message)
  }
  assert.ok(!existsSync(target) && !existsSync(file))
})
