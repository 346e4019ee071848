/** A store and a log of which one byte is another, a thousand times each: as test/store/damage.test.ts, at any place. */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { randomFrom } from '#base/random.ts'
import { connect } from '#engines/sqlite/connection.ts'
import { openReader } from '#engines/sqlite/reader.ts'
import { command } from '#test/commands.ts'
import { folderOf } from '#test/duet.ts'
import { usualSeed } from '#test/support/rounds.ts'
import { inTime } from '#test/support/wait.ts'
import { createWorld, type World } from '../world.ts'

const rounds = Number(process.env.DUET_TEST_ROUNDS ?? 1000)
const seed = usualSeed(7)
const random = randomFrom(seed)
const below = (most: number) => Math.floor(random() * most)
const { fresh } = folderOf('bit-rot')
const { file, settings } = fresh()

let whole: Buffer
let world: World
/** The reader of the file as it is damaged now, which the service in this process asks instead of its own. */
let reader: ReturnType<typeof openReader>

before(async () => {
  const { code, stderr } = await command(['seed'], settings)
  assert.equal(code, 0, stderr)
  whole = readFileSync(file)
  world = await createWorld({ engine: { isWatched: false } })
  Object.assign(world.engine, {
    query: (...asked: Parameters<typeof reader.query>) => reader.query(...asked),
    snapshot: (begin: Parameters<typeof reader.snapshot>[0]) => reader.snapshot(begin),
    runInThread: undefined,
  })
})
after(() => world.close())

/** The same bytes but for the one at that place, which is another. */
const changedAt = (bytes: Buffer, place: number): Buffer => {
  const changed = Buffer.from(bytes)
  changed[place] = (changed[place] ?? 0) ^ (1 + below(255))
  return changed
}

const pageSize = 4096

/** The numbers of the pages that the reads come by: those of the schema and of the rows of these tables. */
const pagesRead = (): readonly number[] => {
  const database = new DatabaseSync(file)
  const pages = database
    .prepare(
      "select pageno from dbstat where name in ('sqlite_schema', 'products', 'posts', 'comments', 'likes', 'users')",
    )
    .all()
  database.close()
  return pages.map(({ pageno }) => Number(pageno))
}

const query = (text: string) => `/graphql?query=${encodeURIComponent(text)}`

/** What is asked of each damaged store, with the tables that the answer may come from. */
const reads: readonly (readonly [path: string, tables: readonly string[]])[] = [
  ...[1, 2, 3, 4, 5].map(page => [`/api/products?limit=100&page=${page}`, ['products']] as const),
  ...[1, 7, 20].flatMap(
    id =>
      [
        [`/api/products/${id}`, ['products']],
        [`/api/posts/${id}`, ['posts']],
        [`/api/posts/${id}/comments`, ['comments']],
        [`/api/comments/${id}/likes`, ['likes']],
      ] as const,
  ),
  [query('{ posts(limit: 500) { title content comments { text } } }'), ['posts', 'comments']],
  [query('{ users(limit: 100) { id name } }'), ['users']],
]

/** The texts that only one table has and that are long enough to be known again, each with its table. */
const ownersOfTexts = (): ReadonlyMap<string, string> => {
  const database = new DatabaseSync(file)
  const tables = database.prepare("select name from sqlite_schema where type = 'table'").all()
  const found = new Map<string, Set<string>>()
  for (const { name } of tables)
    for (const row of database.prepare(`select * from "${name}"`).all())
      for (const value of Object.values(row))
        if (typeof value === 'string' && value.length > 5)
          found.getOrInsertComputed(value, () => new Set()).add(String(name))
  database.close()
  const owned = [...found].filter(([, names]) => names.size === 1)
  return new Map(owned.map(([value, names]) => [value, [...names].join()]))
}

const stringsIn = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}

/** The value of a text; undefined where it is no JSON: a damaged number may be stored as a text. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const ask = async (path: string) => {
  world.events.length = 0
  const response = await inTime(`GET ${path} is answered`, (async () => world.app.request(path))())
  const text = await response.text()
  const reasons = world.events.map(event => (event.kind === 'bug' ? String(event.error) : ''))
  return { status: response.status, text, reason: reasons.join('') }
}

const damaged = /malformed|not a database/

/** Opens the store as it is now; undefined where it is refused as damaged. */
const opened = (onDamage: () => void) => {
  try {
    return openReader(file, onDamage)
  } catch (error) {
    assert.match(String(error), damaged)
    return undefined
  }
}

/** Asks all of a store of which a byte was changed, and fails where an answer is not as it may be; gives what became of it. */
const become = async (right: ReadonlyMap<string, string>, owners: ReadonlyMap<string, string>) => {
  let isDamaged = false
  const now = opened(() => {
    isDamaged = true
  })
  if (now === undefined) return 'refused'
  reader = now
  let isAlike = true
  for (const [path, tables] of reads) {
    const { status, text, reason } = await ask(path)
    isAlike &&= text === right.get(path)
    assert.ok([200, 404, 500].includes(status), `${status} ${text}`)
    if (damaged.test(reason)) assert.ok(isDamaged, reason)
    const owner = stringsIn(parsed(text)).map(value => owners.get(value) ?? tables[0])
    assert.deepEqual(
      owner.filter(table => !tables.includes(table ?? '')),
      [],
      path,
    )
  }
  reader.close()
  return isDamaged ? 'unwell' : isAlike ? 'alike' : 'garbled'
}

test(`${rounds} changed bytes of a store crash nothing, hold nobody up, and bring no row of another table [A9]`, async t => {
  t.diagnostic(`DUET_SEED=${seed}`)
  writeFileSync(file, whole)
  const [pages, owners, right] = [pagesRead(), ownersOfTexts(), new Map<string, string>()]
  reader = openReader(file, () => {})
  for (const [path] of reads) {
    const { status, text } = await ask(path)
    assert.equal(status, 200, text)
    right.set(path, text)
  }
  reader.close()
  const seen = { refused: 0, unwell: 0, garbled: 0, alike: 0 }
  for (let round = 0; round < rounds; round++) {
    const place = ((pages[below(pages.length)] ?? 1) - 1) * pageSize + below(pageSize)
    writeFileSync(file, changedAt(whole, place))
    seen[await become(right, owners).catch(cause => assert.fail(`byte ${place}: ${cause.stack}`))]++
  }
  assert.ok(seen.alike < rounds)
  t.diagnostic(JSON.stringify(seen))
})

const namesIn = (name: string): readonly unknown[] => {
  const connection = connect(name)
  const text = "select name from users where name like 'n%' order by id"
  const names = connection.query({ text, values: [] }).map(([value]) => value)
  assert.deepEqual(connection.query({ text: 'pragma integrity_check', values: [] }), [['ok']])
  connection.close()
  return names
}

/** Where the commits of a log end (its header has 32 bytes, a frame's 24), as https://www.sqlite.org/fileformat2.html#walformat has it. */
const commitsIn = (log: Buffer): readonly number[] => {
  const ends: number[] = []
  for (let at = 32; at < log.length; at += 24 + pageSize)
    if (log.readUInt32BE(at + 4) !== 0) ends.push(at + 24 + pageSize)
  return ends
}

test(`${rounds} changed bytes of the log each cost the writes from there on, and none before [A9]`, async t => {
  t.diagnostic(`DUET_SEED=${seed}`)
  const own = await createWorld()
  t.after(() => own.close())
  const names: string[] = []
  for (let n = 0; n < 50; n++) {
    const body = { name: `n${n}`, email: `n${n}@example.org` }
    assert.equal((await own.ask('POST /api/users', { body })).status, 201)
    names.push(body.name)
  }
  const [store, log] = [readFileSync(own.file), readFileSync(`${own.file}-wal`)]
  const copy = fresh().file
  mkdirSync(dirname(copy))
  const namesBy = (changed: Buffer): readonly unknown[] => {
    writeFileSync(copy, store)
    writeFileSync(`${copy}-wal`, changed)
    const found = namesIn(copy)
    for (const end of ['-wal', '-shm']) rmSync(`${copy}${end}`, { force: true })
    return found
  }
  // What is done behind an answer writes too, so the length after one tells no commit of its own.
  const kept = commitsIn(log).map(end => ({ end, names: namesBy(log.subarray(0, end)) }))
  assert.deepEqual(kept.at(-1)?.names, names)
  for (let round = 0; round < rounds; round++) {
    const place = below(log.length)
    const before = kept.findLast(({ end }) => end <= place)
    assert.deepEqual(namesBy(changedAt(log, place)), before?.names ?? [], `byte ${place}`)
  }
})
