import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { command } from '#test/commands.ts'
import { folderOf, type Settings, serve } from '#test/duet.ts'
import {
  assertWhole,
  backupsUnderWrites,
  killedBackups,
  partsOf,
  rowsOf,
  storeWithContent,
} from './backup-rounds.ts'

const { folder, fresh } = folderOf('backup')
let files = 0
const nameFor = () => join(folder, `copy-${++files}.db`)

const filled = async (posts = 20) => {
  const { file, settings } = fresh()
  await storeWithContent(settings, file, posts)
  return { file, settings }
}

const ran = async (args: readonly string[], settings: Settings) => {
  const ended = await command(args, settings)
  assert.equal(ended.code, 0, ended.stderr)
  return ended
}

const refused = async (
  args: readonly string[],
  settings: Settings,
  message: RegExp,
  status = 1,
) => {
  const { code, stdout, stderr } = await command(args, settings)
  assert.deepEqual([code, stdout], [status, ''], stderr)
  assert.match(stderr, /(^|\n)duet: [^\n]+\n$/)
  assert.match(stderr, message)
}

/** A hash of the rows of each table. */
const hashes = (file: string) =>
  Object.fromEntries(
    rowsOf(file, "select name from sqlite_schema where type = 'table' order by name").map(
      ({ name }) => [
        name,
        createHash('sha256')
          .update(JSON.stringify(rowsOf(file, `select * from "${name}"`)))
          .digest('hex'),
      ],
    ),
  )

test('backups of a store under writes are consistent, and the writes go on [A13]', async () => {
  const { file, settings } = await filled(3000)
  const copies = [nameFor(), nameFor(), nameFor()]
  const counts = await backupsUnderWrites(3, round => copies[round] as string, settings)
  assert.ok((counts[0] ?? 0) < (counts[2] ?? 0), 'nothing was written meanwhile')
  assertWhole(file)
  // The check above finds what it looks for.
  const database = new DatabaseSync(copies[0] as string)
  database.exec('update orders set amount = amount + 1 where id = 1')
  database.close()
  assert.throws(() => assertWhole(copies[0] as string), /amount is not the sum/)
})

test('five backups ended by kill -9 leave no half file under the final name [A14]', async () => {
  const { settings } = await filled(15_000)
  const target = nameFor()
  const names: string[] = []
  const seen = await killedBackups(
    5,
    round => {
      names.push(`${target}-${round}`)
      return names.at(-1) as string
    },
    settings,
  )
  assert.ok(seen.halfway > 0, JSON.stringify(seen))
  const leftBy = names.find(name => partsOf(name).length > 0 && !existsSync(name)) as string
  await ran(['backup', leftBy], settings)
  assertWhole(leftBy)
  // The next backup takes away what the killed one left.
  assert.deepEqual(partsOf(leftBy), [])
})

test('a backup says its size, is one file, may be read by whom the store may, and replaces none unasked', async () => {
  const { file, settings } = await filled()
  chmodSync(file, 0o600)
  const target = nameFor()
  const { stdout } = await ran(['backup', target], settings)
  const { size, mode } = statSync(target)
  const lacks = 'without the bytes of files: --files FOLDER copies them'
  assert.equal(stdout, `backed up to ${target}, ${size.toLocaleString('en')} bytes, ${lacks}\n`)
  assert.equal(mode & 0o777, 0o600)
  assert.deepEqual(hashes(target), hashes(file))
  assert.deepEqual(partsOf(target), [])
  writeFileSync(target, 'precious')
  await refused(['backup', target], settings, /is there already; --force replaces it/)
  assert.equal(readFileSync(target, 'utf8'), 'precious')
  await ran(['backup', target, '--force'], settings)
  assertWhole(target)
})

test('a backup that cannot be is one line, and leaves nothing', async () => {
  const { file, settings } = await filled()
  await refused(['backup'], settings, /FILE is missing/, 2)
  await refused(['backup', nameFor(), 'more'], settings, /unexpected argument: more/, 2)
  for (const own of [file, `${file}-wal`])
    await refused(['backup', own, '--force'], settings, /is the store itself/)
  const link = nameFor()
  symlinkSync(file, link)
  const byLink = { ...settings, DUET_DATABASE_URL: `sqlite:${link}` }
  for (const own of [file, `${file}-wal`])
    await refused(['backup', own, '--force'], byLink, /is the store itself/)
  await refused(['backup', join(folder, 'none', 'a.db')], settings, /there is no folder/)
  await refused(['backup', folder, '--force'], settings, /is not a file/)
  await refused(['backup', nameFor()], fresh().settings, /there is no store/)
  const damaged = await filled(500)
  const bytes = readFileSync(damaged.file)
  bytes.fill(0xff, bytes.length - 30 * 4096, bytes.length - 20 * 4096)
  writeFileSync(damaged.file, bytes)
  const target = nameFor()
  await refused(['backup', target], damaged.settings, /the copy is not good/)
  assert.deepEqual([existsSync(target), partsOf(target)], [false, []])
})

test('a restored store has every row of the backup, and is served again [A15]', async () => {
  const { file, settings } = await filled()
  const target = nameFor()
  await ran(['backup', target], settings)
  const before = hashes(file)
  const service = await serve(settings)
  await fetch(`${service.url}/api/users`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'Late', email: 'late@example.org' }),
  })
  await refused(['restore', target, '--force'], settings, /is served by another process/)
  // Killed, so that its last writes are in the -wal file, which must not come back.
  await service.end('SIGKILL')
  assert.ok(statSync(`${file}-wal`).size > 0)
  await refused(['restore', target], settings, /has content already; --force replaces it/)
  assert.equal(rowsOf(file, "select 1 from users where name = 'Late'").length, 1)
  const { stdout } = await ran(['restore', target, '--force'], settings)
  assert.match(
    stdout,
    /^restored .*, [\d,]+ bytes, without .*: duet files verify looks for them\n$/,
  )
  const there = readdirSync(dirname(file)).filter(name => name !== 'files')
  assert.deepEqual(there.sort(), ['duet.db', 'people-secret'])
  assert.deepEqual(hashes(file), before)
  const again = await serve(settings)
  const response = await fetch(`${again.url}/api/products/20`)
  assert.equal(response.status, 200)
  await again.end()
})

test('a backup is restored where there is no store, or an empty one [A15]', async () => {
  const { file, settings } = await filled()
  const target = nameFor()
  await ran(['backup', target], settings)
  const none = fresh()
  await ran(['restore', target], none.settings)
  assert.deepEqual(hashes(none.file), hashes(file))
  const empty = fresh()
  await ran(['migrate'], empty.settings)
  await ran(['restore', target], empty.settings)
  assert.deepEqual(hashes(empty.file), hashes(file))
})

test('a store that root restores is of the user whose it was, or whose its folder is', {
  skip: process.geteuid?.() !== 0 && 'NOT TESTED: only root may give files to others',
}, async () => {
  const { file, settings } = await filled()
  const target = nameFor()
  await ran(['backup', target], settings)
  const [uid, gid] = [12_345, 12_346]
  const ownerOf = (path: string) => {
    const { uid, gid, mode } = statSync(path)
    return [uid, gid, mode & 0o777]
  }
  chownSync(file, uid, gid)
  chmodSync(file, 0o640)
  await ran(['restore', target, '--force'], settings)
  assert.deepEqual(ownerOf(file), [uid, gid, 0o640])
  const none = fresh()
  mkdirSync(dirname(none.file))
  chownSync(dirname(none.file), uid, gid)
  await ran(['restore', target], none.settings)
  assert.deepEqual(ownerOf(none.file).slice(0, 2), [uid, gid])
})

test('what is no good backup is refused, and the store stays as it was [A9]', async () => {
  const { file, settings } = await filled(500)
  const before = hashes(file)
  const good = nameFor()
  await ran(['backup', good], settings)
  const copy = (change: (path: string) => void) => {
    const path = nameFor()
    copyFileSync(good, path)
    change(path)
    return path
  }
  const altered = (text: string) => (path: string) => {
    const database = new DatabaseSync(path, { enableForeignKeyConstraints: false })
    database.exec(text)
    database.close()
  }
  const half = copy(path => truncateSync(path, 40 * 4096))
  const text = copy(path => writeFileSync(path, 'no database at all'.repeat(1000)))
  const foreign = copy(altered('drop table migrations'))
  const newer = copy(altered("insert into migrations (name, applied_at) values ('9999-later', 0)"))
  const dangling = copy(altered('delete from users where id = 1'))
  const live = copy(path => writeFileSync(`${path}-wal`, 'more'))
  const linked = nameFor()
  symlinkSync(live, linked)
  const other = join(folder, 'empty-folder')
  mkdirSync(other)
  const cases = [
    [half, /is not good: .*malformed|is not good: it is damaged/],
    [text, /is not good: file is not a database/],
    [foreign, /is not good: it is not a store of Duet/],
    [newer, /has the migration 9999-later, which this program does not know/],
    [dangling, /is not good: it is damaged: rows refer to rows that are not there/],
    [live, /has a -wal file beside it/],
    [linked, /has a -wal file beside it/],
    [other, /is not a file/],
    [join(folder, 'none.db'), /there is no such file/],
    [file, /is the store itself/],
  ] as const
  for (const [path, message] of cases)
    await refused(['restore', path, '--force'], settings, message)
  await refused(['restore'], settings, /FILE is missing/, 2)
  await refused(['restore', '--files', `${file}.none`], settings, /there is no folder .*none/)
  assert.deepEqual(hashes(file), before)
  assert.deepEqual(
    partsOf(file).filter(name => name.endsWith('.part')),
    [],
  )
})

test('a store that is damaged beyond reading is replaced with --force only [A9]', async () => {
  const { file, settings } = await filled()
  const good = nameFor()
  await ran(['backup', good], settings)
  const before = hashes(good)
  writeFileSync(file, 'damaged'.repeat(4096))
  await refused(['restore', good], settings, /--force replaces it/)
  await ran(['restore', good, '--force'], settings)
  assert.deepEqual(hashes(file), before)
})

test('a store that another command writes at the moment is not replaced', async () => {
  const { file, settings } = await filled()
  const good = nameFor()
  await ran(['backup', good], settings)
  const writer = new DatabaseSync(file)
  writer.exec('begin immediate')
  await refused(['restore', good, '--force'], settings, /is being written by another process/)
  writer.exec('rollback')
  writer.close()
})
