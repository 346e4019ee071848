/** Backups again and again, and backups that are tried before they are needed. */
import assert from 'node:assert/strict'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { before, test } from 'node:test'
import { backUpEvery } from '#cli/series.ts'
import { replaceFile } from '#engines/shared/files.ts'
import { command } from '../commands.ts'
import { duet, folderOf, type Settings, start } from '../duet.ts'
import { until } from '../support/wait.ts'
import { assertWhole, storeWithContent } from './backup-rounds.ts'

const { folder, fresh } = folderOf('backups')
const { file, settings } = fresh()
before(() => storeWithContent(settings, file, 3000))

let folders = 0
const newFolder = () => {
  const made = join(folder, `series-${++folders}`)
  mkdirSync(made)
  return made
}

/** A series of which a test ends the first backup at the latest, with a clock that stands still. */
const seriesIn = (
  to: string,
  end: AbortController,
  now: string,
  onNow: () => unknown = () => {},
) => {
  const lines: string[] = []
  const onLine = (line: string) => {
    lines.push(line)
    end.abort()
  }
  const ended = backUpEvery(
    {
      store: file,
      folder: to,
      every: 3_600_000,
      keep: 2,
      now: () => {
        onNow()
        return Date.parse(now)
      },
      onMade: onLine,
      onFailed: onLine,
    },
    end.signal,
  )
  return { lines, ended }
}

const refused = async (args: readonly string[], used: Settings, message: RegExp, status = 1) => {
  const { code, stdout, stderr } = await command(args, used)
  assert.deepEqual([code, stdout], [status, ''], stderr)
  assert.match(stderr, message)
}

test('a series keeps the newest backups, survives one that fails, and ends on SIGTERM with 0', async () => {
  const to = newFolder()
  const args = ['backup', '--every', '1s', '--keep', '2', '--to', to]
  const running = start(args, settings)
  const made = () => running.stdout().match(/^backed up to .+, [\d,]+ bytes$/gm)?.length ?? 0
  await until('three backups are made', () => made() >= 3)
  renameSync(file, `${file}.away`)
  await until('one fails', () => running.stderr() !== '')
  renameSync(`${file}.away`, file)
  const before = made()
  await until('more are made', () => made() > before + 1)
  running.child.kill('SIGTERM')
  assert.deepEqual(await running.closed, [0, null])
  assert.match(
    running.stderr(),
    /^(duet: a backup of \S+ failed: there is no store .+; the next is at \S+Z\n)+$/,
  )
  const names = readdirSync(to)
  assert.equal(names.length, 2)
  for (const name of names) {
    assert.match(name, /^duet-\d{8}T\d{6}Z\.db$/)
    assertWhole(join(to, name))
  }
})

test('a series goes on where nobody reads what it says', async () => {
  const to = newFolder()
  const running = start(['backup', '--every', '1s', '--keep', '99', '--to', to], settings)
  running.child.stdout.destroy()
  running.child.stderr.destroy()
  const made = () => readdirSync(to).filter(name => name.endsWith('.db')).length
  const hasEnded = () => running.child.exitCode !== null
  await until('two backups are made', () => made() > 1 || hasEnded())
  // What a killed one left goes when the next is tried.
  const tried = async () => {
    const left = join(to, 'duet-20261122T090500Z.db.0123abcd.part')
    writeFileSync(left, 'half')
    await until('another is tried', () => !existsSync(left) || hasEnded())
  }
  renameSync(file, `${file}.away`)
  await tried()
  await tried()
  renameSync(`${file}.away`, file)
  const before = made()
  await until('another is made', () => made() > before || hasEnded())
  running.child.kill('SIGTERM')
  assert.deepEqual(await running.closed, [0, null])
})

test('a restart makes no backup before its time, and what a killed one left is taken away', async () => {
  const to = newFolder()
  writeFileSync(join(to, 'duet-20261122T090000Z.db'), 'old')
  // In a container each process has the number of the one before.
  for (const left of [`${process.pid}-0123abcd`, '999999999-0123abcd', '0123abcd'])
    for (const ending of ['', '-journal'])
      writeFileSync(join(to, `duet-20261122T090500Z.db.${left}.part${ending}`), 'half')
  writeFileSync(join(to, 'duet-notes.db'), 'of somebody else')
  const early = new AbortController()
  const first = seriesIn(to, early, '2026-11-22T09:59:59Z')
  early.abort()
  await first.ended
  assert.deepEqual(first.lines, [])
  await seriesIn(to, new AbortController(), '2026-11-22T10:00:00Z').ended
  // A clock that went back: it is due at once, and not taken for the oldest.
  await seriesIn(to, new AbortController(), '2026-11-22T08:00:00Z').ended
  assert.deepEqual(readdirSync(to).sort(), [
    'duet-20261122T080000Z.db',
    'duet-20261122T100000Z.db',
    'duet-notes.db',
  ])
})

test('a backup leaves alone what another process is writing under the same name', async () => {
  const to = join(newFolder(), 'store.db')
  await replaceFile(to, async part => {
    writeFileSync(part, 'by the other')
    const { code, stderr } = await duet(['backup', to], settings)
    assert.equal(code, 0, stderr)
    assert.deepEqual(readdirSync(dirname(to)).toSorted(), ['store.db', basename(part)])
  })
  assert.deepEqual(readdirSync(dirname(to)), ['store.db'])
  assert.equal(readFileSync(to, 'utf8'), 'by the other')
})

test('a series that is ended amid a backup leaves nothing of it', async () => {
  const to = newFolder()
  const end = new AbortController()
  let halfway = false
  const { lines, ended } = seriesIn(to, end, '2026-11-22T10:00:00Z', () =>
    setImmediate(() => {
      halfway ||= readdirSync(to).length > 0
      if (halfway) end.abort()
    }),
  )
  await ended
  assert.deepEqual([halfway, lines, readdirSync(to)], [true, [], []])
})

test('what a series needs is said before it begins', async () => {
  const to = newFolder()
  const good = { every: '1h', keep: '48', to }
  const cases = [
    [{ ...good, every: '900ms' }, /--every must be such as 30m or 1h, from 1s to 168h/, 2],
    [{ ...good, every: 'hourly' }, /--every must be/, 2],
    [{ ...good, keep: '0' }, /--keep must be how many backups stay/, 2],
    [{ every: '1h', keep: '2' }, /--to must name the folder/, 2],
    [{ keep: '2', to }, /--every must be/, 2],
    [{ ...good, to: join(to, 'none') }, /there is no folder .+: make it, or mount its disk/, 1],
  ] as const
  for (const [options, message, status] of cases) {
    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
    await refused(['backup', ...args], settings, message, status)
  }
  const args = ['backup', 'a.db', '--every', '1h', '--keep', '2', '--to', to]
  await refused(args, settings, /leave out the rest/, 2)
})

test('a backup is tried aside: it says what is in it, and touches no store', async () => {
  const backup = join(folder, 'tried.db')
  assert.equal((await command(['backup', backup], settings)).code, 0)
  const database = new DatabaseSync(backup)
  database.exec('update posts set created_at = 4102444800000 where id = 7')
  database.close()
  const other = fresh()
  const trials = () => readdirSync(tmpdir()).filter(name => name.startsWith('duet-check-'))
  const already = trials()
  const { code, stdout, stderr } = await command(['restore', '--check', backup], other.settings)
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^\S+ can be restored: it is whole and undamaged/)
  assert.match(stdout, /^users +50$/m)
  assert.match(stdout, /^posts +3,000$/m)
  assert.match(stdout, /^newest moment: 2100-01-01T00:00:00.000Z, in posts$/m)
  assert.deepEqual([existsSync(dirname(other.file)), trials()], [false, already])
  const cut = join(folder, 'cut.db')
  copyFileSync(backup, cut)
  truncateSync(cut, 40 * 4096)
  const dangling = join(folder, 'dangling.db')
  copyFileSync(backup, dangling)
  const broken = new DatabaseSync(dangling, { enableForeignKeyConstraints: false })
  broken.exec('delete from users where id = 1')
  broken.close()
  await refused(['restore', '--check', cut], settings, /is not good: /)
  await refused(['restore', '--check', dangling], settings, /rows refer to rows that are not there/)
  await refused(['restore', '--check'], settings, /FILE is missing/, 2)
  assert.deepEqual(trials(), already)
})

test('a backup of an older release is tried with the migrations that a start would apply', async () => {
  const backup = join(folder, 'older.db')
  assert.equal((await command(['backup', backup], settings)).code, 0)
  const database = new DatabaseSync(backup)
  database.exec(
    "drop table version_notices; drop table version_uses; delete from migrations where name = 'duet/0002-usage'",
  )
  database.close()
  const { code, stdout, stderr } = await command(['restore', '--check', backup], settings)
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^a start applies what it lacks: duet\/0002-usage$/m)
})
