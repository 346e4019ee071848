/** Backups one after another, and backups that are tried before they are needed. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { before, test } from 'node:test'
import { backUpNext } from '#cli/backup.ts'
import { replaceFile } from '#engines/shared/files.ts'
import { identityOf } from '#engines/sqlite/backup.ts'
import { command } from '#test/commands.ts'
import { duet, folderOf, type Settings } from '#test/duet.ts'
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

/** The next backup of a series of two, made at a moment. */
const nextIn = (to: string, at: string) =>
  backUpNext(file, { folder: to, keep: 2, onPages: () => {} }, Date.parse(at))

const refused = async (args: readonly string[], used: Settings, message: RegExp, status = 1) => {
  const { code, stdout, stderr } = await command(args, used)
  assert.deepEqual([code, stdout], [status, ''], stderr)
  assert.match(stderr, message)
}

test('a backup of a series is named by its time and its store, and one that fails says why [A13]', async () => {
  const to = newFolder()
  const args = ['backup', '--keep', '2', '--to', to]
  const { code, stdout, stderr } = await command(args, settings)
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^backed up to .+, [\d,]+ bytes, without .*--files FOLDER copies them$/m)
  const [name = '', sum, ...others] = readdirSync(to).sort()
  assert.match(name, /^duet-\d{8}T\d{6}Z-[0-9a-f]{8}\.db$/)
  assert.deepEqual([sum, others], [`${name}.sha256`, []])
  assertWhole(join(to, name))
  await refused(args, fresh().settings, /there is no store/)
})

test('a series keeps the newest backups, whatever the clock says, and takes away what a killed one left [A14]', async () => {
  const to = newFolder()
  const named = (time: string, name = 'duet') => `${name}-20261122T${time}Z-${identityOf(file)}.db`
  writeFileSync(join(to, named('090000')), 'old')
  writeFileSync(join(to, `${named('090000')}.sha256`), 'old')
  for (const left of ['.0123abcd.part', '.0123abcd.part-journal', '.sha256.0123abcd.part'])
    writeFileSync(join(to, named('090500') + left), 'half')
  writeFileSync(join(to, 'duet-notes.db'), 'of somebody else')
  await nextIn(to, '2026-11-22T10:00:00Z')
  // A clock that went back: it is not taken for the oldest.
  await nextIn(to, '2026-11-22T08:00:00Z')
  assert.deepEqual(readdirSync(to).sort(), [
    named('080000'),
    `${named('080000')}.sha256`,
    named('100000'),
    `${named('100000')}.sha256`,
    'duet-notes.db',
  ])
})

test('a series deletes its oldest backups, none of another store of that file name, nor one whose name tells no store [A15]', async () => {
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
  for (const hour of [10, 11, 12, 13]) await nextIn(to, `2026-11-22T${hour}:30:00Z`)
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

test('what a series needs is said before it begins', async () => {
  const to = newFolder()
  const good = { keep: '48', to }
  const cases = [
    [{ ...good, every: '1h' }, /no --every any more: have a timer/, 2],
    [{ ...good, keep: '0' }, /--keep must be how many backups stay/, 2],
    [{ to }, /--keep must be how many/, 2],
    [{ keep: '2' }, /--to must name the folder/, 2],
    [{ ...good, to: join(to, 'none') }, /there is no folder .+: make it, or mount its disk/, 1],
  ] as const
  for (const [options, message, status] of cases) {
    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
    await refused(['backup', ...args], settings, message, status)
  }
  await refused(['backup', 'a.db', '--keep', '2', '--to', to], settings, /leave out the rest/, 2)
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
