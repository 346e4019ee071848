import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { duet, folderOf } from '../duet.ts'

const { fresh } = folderOf('seed')
const numbers = ['--users', '50', '--posts', '300', '--comments', '2000', '--products', '200']

const query = (file: string, text: string) => {
  const database = new DatabaseSync(file, { readOnly: true })
  const rows = database.prepare(text).all()
  database.close()
  return rows
}

const contentHash = (file: string) => {
  const hash = createHash('sha256')
  for (const table of ['users', 'posts', 'comments', 'products', 'counts'])
    hash.update(JSON.stringify(query(file, `select * from ${table}`)))
  return hash.digest('hex')
}

test('the same numbers give the same content, other numbers other content', async () => {
  const stores = [fresh(), fresh(), fresh()] as const
  const [first, second, third] = await Promise.all([
    duet(['seed', ...numbers], stores[0].settings),
    duet(['seed', ...numbers], stores[1].settings),
    duet(['seed', ...numbers.with(1, '51')], stores[2].settings),
  ])
  assert.deepEqual([first.code, second.code, third.code], [0, 0, 0])
  assert.equal(contentHash(stores[0].file), contentHash(stores[1].file))
  assert.notEqual(contentHash(stores[0].file), contentHash(stores[2].file))
})

test('what is asked for is there, whole and skewed as real content is', async () => {
  const { file, settings } = fresh()
  await duet(['seed', ...numbers], settings)
  const count = (table: string) => query(file, `select count(*) as n from ${table}`)[0]?.n
  assert.deepEqual(['users', 'posts', 'comments', 'products'].map(count), [50, 300, 2000, 200])
  assert.deepEqual(query(file, 'pragma foreign_key_check'), [])
  assert.deepEqual(
    query(file, "select n from counts where field = '' order by entity").map(({ n }) => n),
    [200, 50],
  )
  const perAuthor = query(
    file,
    'select count(*) as n from posts group by author_id order by n desc',
  )
  const top = perAuthor.slice(0, 5).reduce((sum, { n }) => sum + Number(n), 0)
  assert.ok(top > 300 * 0.3, `five of fifty users wrote ${top} of 300 posts`)
  const found = query(
    file,
    "select count(*) as n from products_name_key_search where products_name_key_search match 'oak'",
  )
  const plain = query(file, "select count(*) as n from products where instr(name_key, 'oak') > 0")
  assert.deepEqual(found, plain)
})

test('a store with content is refused, by seed too, and keeps what it has', async () => {
  const { file, settings } = fresh()
  await duet(['seed', '--products', '3'], settings)
  const before = contentHash(file)
  const { code, stderr } = await duet(['seed', '--users', '5'], settings)
  assert.equal(code, 1)
  assert.equal(stderr, `duet: ${file} has content already; seed fills an empty store only\n`)
  assert.equal(contentHash(file), before)
})
