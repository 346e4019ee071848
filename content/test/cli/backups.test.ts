/** Backups again and again, and backups that are tried before they are needed. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { before, test } from 'node:test'
import { backUpEvery, type Series } from '#cli/backup.ts'
import { replaceFile } from '#engines/shared/files.ts'
import { identityOf } from '#engines/sqlite/backup.ts'
import { command } from '#test/commands.ts'
import { duet, folderOf, type Settings, start } from '#test/duet.ts'
import { until } from '#test/support/wait.ts'
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
  copyFiles?: Series['copyFiles'],
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
      ...(copyFiles && { copyFiles }),
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

test('a series keeps the newest backups, survives one that fails, and ends on SIGTERM with 0 [A13]', async () => {
  const to = newFolder()
  const args = ['backup', '--every', '1s', '--keep', '2', '--to', to]
  const running = start(args, settings)
  const made = () =>
    running
      .stdout()
      .match(/^backed up to .+, [\d,]+ bytes, without .*--files FOLDER copies them$/gm)?.length ?? 0
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
    // One that was just being opened finds it gone later.
    /^(duet: a backup of \S+ failed: (there is no store|the store \S+ cannot be opened:) .+; the next is at \S+Z\n)+$/,
  )
  const names = readdirSync(to).filter(name => name.endsWith('.db'))
  assert.equal(names.length, 2)
  const sums = names.map(name => `${name}.sha256`)
  assert.deepEqual(readdirSync(to).sort(), [...names, ...sums].sort())
  for (const name of names) {
    assert.match(name, /^duet-\d{8}T\d{6}Z-[0-9a-f]{8}\.db$/)
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
  const left = join(to, `duet-20261122T090500Z-${identityOf(file)}.db.0123abcd.part`)
  const tried = async () => {
    writeFileSync(left, 'half')
    await until('another is tried', () => !existsSync(left) || hasEnded())
  }
  copyFileSync(file, `${file}.away`)
  const broken = new DatabaseSync(file, { enableForeignKeyConstraints: false })
  broken.exec('delete from users where id = 1')
  broken.close()
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
  const named = (time: string, name = 'duet') => `${name}-20261122T${time}Z-${identityOf(file)}.db`
  writeFileSync(join(to, named('090000')), 'old')
  writeFileSync(join(to, `${named('090000')}.sha256`), 'old')
  // In a container each process has the number of the one before.
  for (const left of [`${process.pid}-0123abcd`, '999999999-0123abcd', '0123abcd'])
    for (const ending of ['', '-journal', '.sha256'])
      writeFileSync(
        ending === '.sha256'
          ? join(to, `${named('090500')}${ending}.${left}.part`)
          : join(to, `${named('090500')}.${left}.part${ending}`),
        'half',
      )
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
    named('080000'),
    `${named('080000')}.sha256`,
    named('100000'),
    `${named('100000')}.sha256`,
    'duet-notes.db',
  ])
})

test('a series whose files cannot be copied deletes its oldest backups, none of another store of that file name, nor one whose name tells no store [A15]', async () => {
  const to = newFolder()
  const others = [
    // What another store made, and what a release made that put no store into the name.
    'duet-20261122T080000Z-00000000.db',
    'duet-20261122T080000Z-00000000.db.sha256',
    'duet-20261122T080000Z-00000000.db.0123abcd.part',
    'duet-20261122T090000Z.db',
    'duet-20261122T090000Z.db.0123abcd.part',
  ]
  for (const name of others) writeFileSync(join(to, name), 'of another store')
  const unreachable = () => Promise.reject(new Error('the bucket does not answer'))
  for (const hour of [10, 11, 12, 13]) {
    const now = `2026-11-22T${hour}:30:00Z`
    await seriesIn(to, new AbortController(), now, undefined, unreachable).ended
  }
  const made = ['12', '13'].map(hour => `duet-20261122T${hour}3000Z-${identityOf(file)}.db`)
  const sums = made.map(name => `${name}.sha256`)
  assert.deepEqual(readdirSync(to).sort(), [...others, ...made, ...sums].sort())
})

test('a store is told from one with other keys, and from its own copy at another path [A15]', async () => {
  const own = identityOf(file)
  const other = fresh()
  await storeWithContent(other.settings, other.file, 1)
  const copy = join(newFolder(), 'duet.db')
  const { code, stderr } = await command(['backup', copy], settings)
  assert.equal(code, 0, stderr)
  assert.equal(new Set([own, identityOf(other.file), identityOf(copy)]).size, 3)
  const byLink = join(newFolder(), 'link.db')
  symlinkSync(file, byLink)
  assert.equal(identityOf(byLink), own)
})

test('a flipped bit in a backup is found by the checksum beside it, which sha256sum knows too [A9]', async () => {
  const backup = join(newFolder(), 'store.db')
  assert.equal((await command(['backup', backup], settings)).code, 0)
  const bytes = readFileSync(backup)
  const sum = createHash('sha256').update(bytes).digest('hex')
  assert.equal(readFileSync(`${backup}.sha256`, 'utf8'), `${sum}  store.db\n`)
  const checked = await command(['restore', '--check', backup], settings)
  assert.match(checked.stdout, /a row, without the bytes of files: --files FOLDER looks for them/)
  assert.match(checked.stdout, /^its bytes are those of \S+store\.db\.sha256$/m)
  // Within a text, where neither the form of its page nor a reference shows it.
  const at = bytes.indexOf('@example.')
  assert.ok(at > 0)
  bytes[at + 1] = (bytes[at + 1] as number) ^ 1
  writeFileSync(backup, bytes)
  const changed = /is not good: it was changed since it was made, as \S+\.sha256 shows/
  const before = readFileSync(file)
  await refused(['restore', '--check', backup], settings, changed)
  await refused(['restore', '--force', backup], settings, changed)
  assert.deepEqual(readFileSync(file), before)
  writeFileSync(`${backup}.sha256`, 'none\n')
  await refused(['restore', '--check', backup], settings, /\.sha256 has no checksum/)
  rmSync(`${backup}.sha256`)
  const unknown = await command(['restore', '--check', backup], settings)
  assert.match(unknown.stdout, /^there is no \S+\.sha256: a value that was changed since/m)
  // A backup that takes the place of another has its own.
  writeFileSync(`${backup}.sha256`, `${sum}  store.db\n`)
  assert.equal((await command(['backup', backup, '--force'], settings)).code, 0)
  assert.equal((await command(['restore', '--check', backup], settings)).code, 0)
})

test('a backup whose checksum would take the place of the store is refused', async () => {
  const odd = join(newFolder(), 'store.sha256')
  copyFileSync(file, odd)
  const used = { ...settings, DUET_DATABASE_URL: `sqlite:${odd}` }
  const target = odd.slice(0, -'.sha256'.length)
  await refused(['backup', target, '--force'], used, /store\.sha256 is the store itself/)
  assert.deepEqual(readFileSync(odd), readFileSync(file))
})

test('a backup leaves alone what another process is writing under the same name', async () => {
  const to = join(newFolder(), 'store.db')
  await replaceFile(to, async part => {
    writeFileSync(part, 'by the other')
    const { code, stderr } = await duet(['backup', to], settings)
    assert.equal(code, 0, stderr)
    const names = ['store.db', 'store.db.sha256', basename(part)]
    assert.deepEqual(readdirSync(dirname(to)).toSorted(), names.toSorted())
  })
  assert.deepEqual(readdirSync(dirname(to)).toSorted(), ['store.db', 'store.db.sha256'])
  assert.equal(readFileSync(to, 'utf8'), 'by the other')
})

test('a series that is ended amid a backup leaves nothing of it [A14]', async () => {
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

test('a backup is tried aside: it says what is in it, and touches no store [A15]', async () => {
  const backup = join(folder, 'tried.db')
  assert.equal((await command(['backup', backup], settings)).code, 0)
  rmSync(`${backup}.sha256`)
  const database = new DatabaseSync(backup)
  database.exec('update posts set created_at = 4102444800000 where id = 7')
  database.close()
  const other = fresh()
  // A place for temporary folders of its own: other processes try backups meanwhile.
  const own = { ...settings, TMPDIR: newFolder() }
  const there = { ...own, ...other.settings }
  const { code, stdout, stderr } = await command(['restore', '--check', backup], there)
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^\S+ can be restored: it is whole and undamaged/)
  assert.match(stdout, /^users +50$/m)
  assert.match(stdout, /^posts +3,000$/m)
  assert.match(stdout, /^newest moment: 2100-01-01T00:00:00.000Z, in posts$/m)
  assert.deepEqual([existsSync(dirname(other.file)), readdirSync(own.TMPDIR)], [false, []])
  const cut = join(folder, 'cut.db')
  copyFileSync(backup, cut)
  truncateSync(cut, 40 * 4096)
  const dangling = join(folder, 'dangling.db')
  copyFileSync(backup, dangling)
  const broken = new DatabaseSync(dangling, { enableForeignKeyConstraints: false })
  broken.exec('delete from users where id = 1')
  broken.close()
  await refused(['restore', '--check', cut], own, /is not good: /)
  await refused(['restore', '--check', dangling], own, /rows refer to rows that are not there/)
  await refused(['restore', '--check'], settings, /FILE is missing/, 2)
  assert.deepEqual(readdirSync(own.TMPDIR), [])
})

test('a backup of an older release is tried with the migrations that a start would apply', async () => {
  const backup = join(folder, 'older.db')
  assert.equal((await command(['backup', backup], settings)).code, 0)
  rmSync(`${backup}.sha256`)
  const database = new DatabaseSync(backup)
  database.exec(
    "drop table version_notices; drop table version_uses; delete from migrations where name = 'duet/0002-usage'",
  )
  database.close()
  const { code, stdout, stderr } = await command(['restore', '--check', backup], settings)
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^a start applies what it lacks: duet\/0002-usage$/m)
})
