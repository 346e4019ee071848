import assert from 'node:assert/strict'
import fs, { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { watchDisk } from '#engines/sqlite/file.ts'
import { sqliteStore } from '#engines/sqlite/store.ts'
import { ApiError } from '#errors.ts'
import type { Query, Rows } from '#sql/engine.ts'
import {
  createWorld,
  folderOf,
  historyFor,
  pluck,
  serve,
  type World,
  type WorldOptions,
} from '#test/market.ts'
import { inTime, longest, until } from '#test/support/wait.ts'
import type { Job } from '#write/job.ts'
import { keysIn } from './writing.ts'

const { folder, fresh } = folderOf('warning')
const worlds: World[] = []
after(() => Promise.all(worlds.map(world => world.close())))

const worldWith = async (options: WorldOptions['engine'] = {}, file?: string) => {
  const problems: string[] = []
  const notices: string[] = []
  const fatal: string[] = []
  const world = await createWorld({
    ...(file && { file }),
    engine: {
      onProblem: message => void problems.push(message),
      onNotice: message => void notices.push(message),
      onFatal: message => void fatal.push(message),
      ...options,
    },
  })
  worlds.push(world)
  return { world, problems, notices, fatal }
}

const job = (...texts: readonly string[]): Job => ({
  steps: texts.map(text => ({ statement: { text, values: [] }, expect: 'any' })),
  status: 200,
  answer: null,
})
const insert = (name: string) =>
  `insert into users (name, email, created_at, email_key) values ('A', '${name}', 1, '${name}') returning id`

const unavailable = (pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ApiError)
  assert.equal(error.code, 'UNAVAILABLE')
  assert.ok((error.retryAfter ?? 0) > 0)
  assert.match(error.message, pattern)
  return true
}

test('a group whose transaction ends under it is written not at all, and the next one is written [H13]', async () => {
  const { world, problems, fatal } = await worldWith()
  const group = [job(insert('before')), job('rollback'), job(insert('after'))]
  for (const result of await Promise.allSettled(group.map(each => world.engine.write(each)))) {
    assert.equal(result.status, 'rejected')
    if (result.status === 'rejected') unavailable(/nothing was written/)(result.reason)
  }
  assert.equal((await world.engine.write(job(insert('later@example.org')))).kind, 'done')
  const found = await world.ask('GET /api/users?limit=100&fields=email', { as: 1 })
  const emails = pluck(found.json.data, 'email')
  assert.ok(
    emails.includes('later@example.org') && !emails.includes('before') && !emails.includes('after'),
  )
  assert.equal(problems.length, 1)
  assert.deepEqual(fatal, [])
})

test('a snapshot that ends under its reads is their failure alone, and the next one is read [H13]', async () => {
  const { world } = await worldWith()
  const work = function* (text: string): Generator<Query, Rows, Rows> {
    return yield { text, values: [] }
  }
  world.engine.snapshot(() => work('rollback'))
  await new Promise(resolve => setImmediate(() => setImmediate(resolve)))
  assert.deepEqual(
    world.engine.snapshot(() => work('select count(*) > 0 from users')),
    [[1]],
  )
  assert.equal((await world.ask('GET /api/products/1')).status, 200)
})

test('with less room than the least, writes are refused in both APIs and reads go on, until there is room', async t => {
  const { world, problems, notices } = await worldWith({ minDisk: 1e18 })
  const body = { name: 'A', email: 'low@example.org' }
  const rest = await world.ask('POST /api/users', { body })
  assert.equal(rest.status, 503)
  assert.equal(rest.json.error.code, 'UNAVAILABLE')
  assert.match(rest.json.error.message, /almost full: nothing was written/)
  assert.ok(Number(rest.headers.get('retry-after')) > 0)
  const graphql = await world.gql(
    'mutation { createUser(input: {name: "A", email: "low@example.org"}) { id } }',
  )
  assert.equal(graphql.json.errors[0].extensions.code, 'UNAVAILABLE')
  assert.equal((await world.ask('GET /api/products/1')).status, 200)
  assert.match(world.engine.readOnly() ?? '', /less than/)
  const room = { bavail: 1e18, bsize: 4096 } as fs.StatsFs
  const stat = t.mock.method(fs, 'statfsSync', () => room)
  syncBuiltinESMExports()
  await until('there is room', () => notices.length > 0)
  stat.mock.restore()
  syncBuiltinESMExports()
  assert.deepEqual(notices, ['the disk has space again: the store accepts writes'])
  assert.equal(problems.length, 1)
})

test('the disk that is looked at is that of the file, where a symbolic link leads to it from another', async t => {
  const file = join(mkdtempSync(join(realpathSync(folder), 'file-')), 'duet.db')
  const link = join(mkdtempSync(join(folder, 'link-')), 'duet.db')
  symlinkSync(file, link)
  const asked = new Set<unknown>()
  const stat = t.mock.method(fs, 'statfsSync', (path: unknown) => {
    asked.add(path)
    return { bavail: 1e18, bsize: 4096 } as fs.StatsFs
  })
  syncBuiltinESMExports()
  await worldWith({ minDisk: 1 }, link)
  stat.mock.restore()
  syncBuiltinESMExports()
  assert.deepEqual([asked.has(dirname(file)), asked.has(dirname(link))], [true, false])
})

test('a service on a disk with too little room says that it is read-only, and still reads [A7]', async () => {
  const service = await serve({ ...fresh().settings, DUET_MIN_DISK: '999999999999' })
  const ready = await fetch(`${service.url}/readyz`)
  assert.equal(ready.status, 200)
  assert.match(await ready.text(), /^read-only: the disk has less than 999999999999 bytes free/)
  assert.equal((await fetch(`${service.url}/api/products`)).status, 200)
  assert.equal((await service.end()).code, 0)
})

test('a disk that was full is looked at until it has room, and no longer', async () => {
  const changes: (string | null)[] = []
  const disk = watchDisk({ folder, min: 0, onChange: reason => changes.push(reason), every: 20 })
  assert.equal(disk.readOnly(), null)
  disk.wasFull()
  disk.wasFull()
  assert.equal(disk.readOnly(), 'the disk is full')
  assert.equal(disk.isLow(), false)
  await until('the disk has room', () => disk.readOnly() === null)
  disk.close()
  assert.deepEqual(changes, ['the disk is full', null])
})

test('a file that is deleted before the writer has opened it is told as deleted, and not as a fault of the writer', async t => {
  const { world } = await worldWith()
  const fatal = Promise.withResolvers<string>()
  // The watch of the file looks at it now and then, and would tell it as well.
  t.mock.timers.enable({ apis: ['setInterval'] })
  const early = world.store.open({
    digits: 2,
    limits: world.core.limits,
    readTimeout: longest,
    queue: 10,
    isWatched: true,
    onFatal: fatal.resolve,
  })
  t.after(() => early.close())
  // In the same turn, in which the thread has not begun.
  rmSync(world.file)
  assert.match(await inTime('it stops', fatal.promise), /was deleted, moved or replaced/)
})

test('a store that is closed before its writer has opened it takes the writes before, and its log is not called lost', async () => {
  const file = join(folder, 'early.db')
  const store = sqliteStore({ file, migrations: historyFor('sqlite') })
  await store.migrate()
  const fatal: string[] = []
  const engine = store.open({
    digits: 2,
    limits: { objects: 10, bytes: 1e6 },
    readTimeout: longest,
    queue: 10,
    onFatal: message => fatal.push(message),
  })
  const written = engine.write(job(insert('early')))
  const closed = engine.close()
  // Takes the inode that a log would leave which is removed too early.
  writeFileSync(`${file}.other`, '')
  await closed
  assert.equal((await written).kind, 'done')
  assert.deepEqual([fatal, keysIn(file)], [[], ['early']])
})
