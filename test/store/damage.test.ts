/** A file of the store that was damaged: what the service and the commands make of it. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { before, test } from 'node:test'
import { command, duet, folderOf, pluck, serve } from '#test/market.ts'
import { until } from '#test/support/wait.ts'

const { fresh } = folderOf('damage')
const { file, settings } = fresh()
const pageSize = 4096
let whole: Buffer
before(async () => {
  const { code, stderr } = await command(['seed'], settings)
  assert.equal(code, 0, stderr)
  // The first start of a release may read all texts, to fold them anew.
  assert.equal((await command(['migrate'], settings)).code, 0)
  whole = readFileSync(file)
})

/** The numbers of the pages that the rows of a table and its indexes are on. */
const pagesOf = (table: string): readonly number[] => {
  using database = new DatabaseSync(file)
  const rows = database
    .prepare(
      'select pageno from dbstat where name in (select name from sqlite_schema where tbl_name = ?)',
    )
    .all(table)
  return rows.map(({ pageno }) => Number(pageno))
}

/** Writes the store anew with these bytes of it destroyed. */
const destroy = (...ranges: readonly (readonly [from: number, to: number])[]) => {
  const bytes = Buffer.from(whole)
  for (const [from, to] of ranges) bytes.fill(0xff, from, to)
  writeFileSync(file, bytes)
}

test('damaged pages cost what is on them: the rest is served, nothing crashes, and the service says that it is not well [A9]', async () => {
  destroy(...pagesOf('posts').map(page => [(page - 1) * pageSize, page * pageSize] as const))
  const service = await serve(settings)
  const ask = async (path: string) => (await fetch(`${service.url}${path}`)).status
  assert.equal(await ask('/readyz'), 200)
  const paths = ['/api/posts', '/api/posts/1', '/api/posts?search=a&limit=50', '/api/products/1']
  for (let round = 0; round < 3; round++) {
    const statuses: number[] = []
    for (const path of paths) statuses.push(await ask(path))
    assert.deepEqual(statuses, [500, 500, 500, 200])
  }
  const unwell = await fetch(`${service.url}/readyz`)
  assert.equal(unwell.status, 503)
  assert.match(await unwell.text(), /is damaged .+ restore a backup/)
  await until('the log has it', () => /"level":50.*is damaged/.test(service.stdout()))
  const target = `${file}.backup`
  const { code, stderr } = await duet(['backup', target], settings)
  assert.equal(code, 1)
  assert.match(stderr, /^duet: the copy is not good: it is damaged/)
  assert.equal(existsSync(target), false)
  assert.equal((await service.end()).code, 0)
})

test('a damaged page that a slow read meets makes the service unwell too', async () => {
  destroy(...pagesOf('products').map(page => [(page - 1) * pageSize, page * pageSize] as const))
  const service = await serve(settings)
  const ask = async (path: string) => (await fetch(`${service.url}${path}`)).status
  assert.equal(await ask('/readyz'), 200)
  assert.equal(await ask('/api/products?min_price=1&sort=-price,name'), 500)
  assert.equal(await ask('/readyz'), 503)
  assert.equal((await service.end()).code, 0)
})

test('a store that cannot be read from its beginning is refused with a line, by serve and by backup [A9]', async () => {
  const refusals = {
    header: [
      () => destroy([0, 100]),
      /^duet: the store \S+ cannot be opened.*not a (SQLite )?database/,
    ],
    schema: [() => destroy([200, pageSize]), /^duet: the store \S+ cannot be opened: .*malformed/],
    end: [() => truncateSync(file, 20 * pageSize), /^duet: .*(malformed|damaged)/],
  } as const
  for (const [what, [damage, message]] of Object.entries(refusals)) {
    writeFileSync(file, whole)
    damage()
    for (const args of [['serve'], ['backup', `${file}.${what}`]]) {
      const { code, stderr } = await duet(args, { ...settings, DUET_PORT: '0' })
      assert.equal(code, 1, `${what}: ${stderr}`)
      assert.match(stderr, message, what)
    }
  }
})

test('a damaged byte in the log costs the writes from there on, and none before [A9]', async () => {
  writeFileSync(file, whole)
  const service = await serve(settings)
  const signUp = async (name: string) => {
    const response = await fetch(`${service.url}/api/users`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name, email: `${name}@example.org` }),
    })
    assert.equal(response.status, 201)
    return readFileSync(`${file}-wal`).length
  }
  const before = await signUp('before')
  await signUp('after')
  await service.end('SIGKILL')
  const log = readFileSync(`${file}-wal`)
  log[before + 100] = ~(log[before + 100] ?? 0) & 0xff
  writeFileSync(`${file}-wal`, log)
  const again = await serve(settings)
  assert.equal((await again.end()).code, 0)
  using database = new DatabaseSync(file)
  const named = database.prepare("select name from users where name in ('before', 'after')").all()
  assert.deepEqual(pluck(named, 'name'), ['before'])
  assert.equal(database.prepare('pragma integrity_check').get()?.integrity_check, 'ok')
})
