/** What is exported and imported again, and what becomes of the files of an export. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, readlinkSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import content from '#content/duet.config.ts'
import { startService } from '#serve/temporary.ts'
import { command } from '#test/commands.ts'
import { folderOf, plain, type Settings } from '#test/duet.ts'
import { sqliteTest as it, notMade } from '#test/stores.ts'
import { type Format, filesIn } from '#test/support/transfer-files.ts'
import { importing, type Kind, kinds, odd, world } from './transfers.ts'

const { folder, freshStore } = folderOf('transfer')
const { nameFor, fileOf } = filesIn(folder)

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
  const service = await startService(content, { settings })
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
  await service.stop()
})

for (const [currency, price, amount] of [
  ['JPY', 1980, 5940],
  ['KWD', 1.005, 3.015],
] as const)
  it(`money in ${currency} keeps its decimals on the way`, async () => {
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

it('without a FILE the rows go to standard output, as NDJSON unless --format says CSV', async () => {
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

it('a reader that stops early ends an export quietly', async () => {
  const { settings } = await freshStore()
  await command(['seed', '--users', '5000'], settings)
  const main = fileURLToPath(new URL('../../../bin/duet', import.meta.url))
  const line = `"${process.execPath}" "${main}" export users | head -n 1`
  const { stdout, stderr } = await promisify(execFile)('sh', ['-c', line], {
    env: { ...plain, ...settings },
  })
  assert.equal(JSON.parse(stdout).id, 1)
  assert.equal(stderr, '')
})

it('an export into a file leaves its mode as it is, closed or open to others', async () => {
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

it('an export through a symbolic link that leads nowhere is refused with the remedy, and the link stays', async () => {
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
    [made.settings, ['users', join(folder, 'none', 'a.csv')], 1, /there is no folder/],
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
