import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { command } from '#test/commands.ts'
import { folderOf } from '#test/duet.ts'
import { type Look, onPostgres } from '#test/stores.ts'

const { freshStore } = folderOf('seed')
const numbers = ['--users', '50', '--posts', '300', '--comments', '2000', '--products', '200']

const contentHash = async (rows: Look) => {
  const hash = createHash('sha256')
  for (const table of ['users', 'posts', 'comments', 'products'])
    hash.update(JSON.stringify(await rows(`select * from ${table} order by id`)))
  return hash.digest('hex')
}

test('the same numbers give the same content, other numbers other content', async () => {
  const stores = [await freshStore(), await freshStore(), await freshStore()] as const
  const [first, second, third] = await Promise.all([
    command(['seed', ...numbers], stores[0].settings),
    command(['seed', ...numbers], stores[1].settings),
    command(['seed', ...numbers.with(1, '51')], stores[2].settings),
  ])
  assert.deepEqual([first.code, second.code, third.code], [0, 0, 0])
  assert.equal(await contentHash(stores[0].rows), await contentHash(stores[1].rows))
  assert.notEqual(await contentHash(stores[0].rows), await contentHash(stores[2].rows))
})

test('what is asked for is there, whole and skewed as real content is', async () => {
  const { rows, settings } = await freshStore()
  await command(['seed', ...numbers], settings)
  for (const [table, count] of [
    ['users', 50],
    ['posts', 300],
    ['comments', 2000],
    ['products', 200],
  ] as const)
    assert.deepEqual(await rows(`select count(*) from ${table}`), [[count]])
  if (!onPostgres) assert.deepEqual(await rows('pragma foreign_key_check'), [])
  assert.deepEqual(
    await rows(
      "select cast(sum(n) as bigint) from counts where field = '' group by entity order by entity",
    ),
    [[200], [50]],
  )
  const perAuthor = await rows('select count(*) as n from posts group by author_id order by n desc')
  const top = perAuthor.slice(0, 5).reduce((sum, [n]) => sum + Number(n), 0)
  assert.ok(top > 300 * 0.3, `five of fifty users wrote ${top} of 300 posts`)
  // The search of SQLite is a table of its own.
  if (onPostgres) return
  const found = await rows(
    "select count(*) from products_name_key_search where products_name_key_search match 'oak'",
  )
  const plain = await rows("select count(*) from products where instr(name_key, 'oak') > 0")
  assert.deepEqual(found, plain)
})

test('a store with content is refused, by seed too, and keeps what it has', async () => {
  const { rows, settings } = await freshStore()
  await command(['seed', '--products', '3'], settings)
  const before = await contentHash(rows)
  const { code, stderr } = await command(['seed', '--users', '5'], settings)
  assert.equal(code, 1)
  assert.match(stderr, /^duet: \S+ has content already; seed fills an empty store only\n$/)
  assert.equal(await contentHash(rows), before)
})
