/** Files of rows go along in an export and an import: their bytes are in a folder beside the file of rows. */
import assert from 'node:assert/strict'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import sharp from 'sharp'
import { placeOf } from '#files/store.ts'
import { commandsOf } from '#test/commands.ts'
import { folderOf, serve } from '#test/duet.ts'
import { freshDatabase, noDatabase } from '#test/postgres/tools/database.ts'
import { sqliteTest as it, onPostgres } from '#test/stores.ts'
import { gallery, pdf, png } from '#test/support/gallery.ts'
import { filesIn } from '#test/support/transfer-files.ts'

const { folder, fresh, freshStore } = folderOf('files', gallery)
const { fileOf, nameFor } = filesIn(folder)
const command = commandsOf('gallery', 'test/support/gallery.ts')

const members = [{ id: 1, name: 'Ada' }]

/** A store with a member, and what a command does to it. */
const storeWithMember = async (name: string) => {
  const { rows, settings } = await freshStore()
  const own = { ...settings, DUET_FILES: join(folder, name) }
  const run = (...args: readonly string[]) => command(args, own)
  assert.equal((await run('import', 'members', fileOf(members))).code, 0)
  return { rows, run }
}

test('rows are imported with the files that they name, and exported with them into another store', async () => {
  const one = await storeWithMember('one')
  mkdirSync(join(folder, 'pictures'))
  writeFileSync(join(folder, 'pictures/soup.png'), png(12, 8))
  const albums = fileOf([
    { id: 1, title: 'With', memberId: 1, cover: 'pictures/soup.png' },
    { id: 2, title: 'Named', memberId: 1, cover: { path: 'pictures/soup.png', name: 'Suppe.png' } },
    { id: 3, title: 'Without', memberId: 1, cover: null },
  ])
  const imported = await one.run('import', 'albums', albums)
  assert.equal(imported.code, 0, imported.stderr)
  const covers = await one.rows('select cover from albums order by id')
  const [first, second] = covers.slice(0, 2).map(([cover]) => JSON.parse(String(cover)))
  assert.deepEqual([first.name, first.width, first.height], ['soup.png', 12, 8])
  assert.equal(second.name, 'Suppe.png')
  assert.equal(covers[2]?.[0], null)
  assert.deepEqual(await one.rows('select count(*) from files'), [[1]])

  for (const format of ['ndjson', 'csv'] as const) {
    const file = nameFor(format)
    const exported = await one.run('export', 'albums', file)
    assert.equal(exported.code, 0, exported.stderr)
    const beside = file.replace(/\.\w+$/, '.files')
    for (const path of [file, ...readdirSync(beside).map(name => join(beside, name))])
      assert.equal(statSync(path).mode & 0o777, 0o600, path)
    assert.equal(statSync(beside).mode & 0o777, 0o700)
    const bytes = readFileSync(join(`${file.replace(/\.\w+$/, '')}.files`, first.digest))
    assert.deepEqual(new Uint8Array(bytes), png(12, 8))
    const other = await storeWithMember(`other-${format}`)
    const again = await other.run('import', 'albums', file)
    assert.equal(again.code, 0, again.stderr)
    assert.deepEqual(await other.rows('select cover from albums order by id'), covers)
  }
  // There is no folder beside standard output.
  const { code, stderr } = await one.run('export', 'albums')
  assert.notEqual(code, 0)
  assert.match(stderr, /name a FILE/)
})

it('a file that is not there, above the folder, too large or of another type is a fault of its row', async () => {
  const { run } = await storeWithMember('faults')
  writeFileSync(join(folder, 'paper.pdf'), pdf('x'))
  writeFileSync(join(folder, 'large.png'), png(1, 1, 5000))
  // Links are followed within the folder, and not out of it.
  const outside = mkdtempSync(join(tmpdir(), 'duet-outside-'))
  writeFileSync(join(outside, 'secret.png'), png(1, 1))
  symlinkSync(outside, join(folder, 'elsewhere'))
  symlinkSync(join(outside, 'secret.png'), join(folder, 'linked.png'))
  writeFileSync(join(folder, 'own.png'), png(2, 2))
  symlinkSync('own.png', join(folder, 'alias.png'))
  const linked = await run(
    'import',
    'albums',
    fileOf([{ title: 'x', memberId: 1, cover: 'alias.png' }]),
  )
  assert.equal(linked.code, 0, linked.stderr)
  const through = await storeWithMember('own.png/store')
  const rows = fileOf([{ title: 'x', memberId: 1, cover: 'own.png' }])
  const needed = /cover \S+\/own\.png\S* leads through a file or is one, but a folder is needed/
  assert.match((await through.run('import', 'albums', rows)).stderr, needed)
  const covers = [
    'elsewhere/secret.png',
    'linked.png',
    'pictures/../../large.png',
    'none.png',
    '../large.png',
    '/etc/hostname',
    'paper.pdf',
    'large.png',
    7,
    'up_aaaaaaaaaaaaaaaaaaaaaa',
  ]
  const { code, stderr } = await run(
    'import',
    'albums',
    fileOf(covers.map(cover => ({ title: 'x', memberId: 1, cover }))),
  )
  rmSync(outside, { recursive: true })
  assert.equal(code, 1)
  const told = stderr.split('\n').flatMap(line => /cover (.*)$/.exec(line)?.[1] ?? [])
  assert.deepEqual(
    told.map(fault => fault.replace(/image\/.*, and/, 'TYPES, and')),
    [
      'names elsewhere/secret.png, which is not in the folder of the file of rows',
      'names linked.png, which is not in the folder of the file of rows',
      'names pictures/../../large.png, which is not in the folder of the file of rows',
      'names none.png, where no file is',
      'names ../large.png, which is not in the folder of the file of rows',
      'names /etc/hostname, which is not in the folder of the file of rows',
      'must be TYPES, and is application/pdf',
      'must be at most 1 kB',
      'must be the path of a file, from the file of rows on',
      'names up_aaaaaaaaaaaaaaaaaaaaaa, where no file is',
    ],
  )
})

test('a picture is cleaned as that of an upload is, and a damaged one is not exported', async () => {
  const { rows, run } = await storeWithMember('cleaned')
  const camera = await sharp({ create: { width: 60, height: 40, channels: 3, background: '#a22' } })
    .withExif({ IFD0: { Make: 'Camera' } })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer()
  // A path alone that could be a number is none.
  writeFileSync(join(folder, '7'), camera)
  writeFileSync(join(folder, 'torn.jpg'), camera.subarray(0, 200))
  const cells = (banner: string) => fileOf(`title,memberId,banner\nx,1,${banner}\n`, 'csv')
  const imported = await run('import', 'albums', cells('7'))
  assert.equal(imported.code, 0, imported.stderr)
  const [[text] = []] = await rows('select banner from albums')
  const { digest, name, width, height } = JSON.parse(String(text))
  assert.deepEqual([name, width, height], ['7', 40, 60])
  const kept = join(folder, 'cleaned', placeOf(digest))
  assert.equal((await sharp(kept).metadata()).exif, undefined)
  const torn = await run('import', 'albums', cells('torn.jpg'))
  assert.match(torn.stderr, /:2: banner cannot be read: .*; send one that is whole/s)

  writeFileSync(kept, readFileSync(kept).fill(0, 100))
  const file = nameFor('ndjson')
  const { code, stderr } = await run('export', 'albums', file)
  assert.equal(code, 1)
  assert.match(stderr, /the bytes of \w{64} in the folder \S+ are damaged: find the rows that name/)
  assert.deepEqual(readdirSync(file.replace('.ndjson', '.files')), [])
})

test('the pictures of an import are taken in before its rows, so that no writer waits for them', async () => {
  const { rows, run } = await storeWithMember('before')
  writeFileSync(join(folder, 'whole.png'), png(3, 3))
  const bad = [
    { title: 'x', memberId: 1, cover: 'whole.png' },
    { title: 'x', memberId: 1, cover: 'none.png' },
  ]
  assert.equal((await run('import', 'albums', fileOf(bad))).code, 1)
  assert.deepEqual(await rows('select id from albums'), [])
  // Nothing of its transaction is left, and the bytes are noted.
  assert.equal((await rows('select digest from files')).length, 1)
})

test('a move takes the bytes of files along where it is told to', {
  skip: onPostgres ? 'a move begins at a SQLite store' : noDatabase,
}, async () => {
  const { file, settings } = fresh()
  const run = (...args: readonly string[]) => command(args, settings)
  writeFileSync(join(folder, 'moved.png'), png(3, 2))
  const cover = 'moved.png'
  const albums = [{ id: 1, title: 'Moved', memberId: 1, cover }]
  for (const [plural, rows] of [['members', members] as const, ['albums', albums] as const]) {
    const filled = await run('import', plural, fileOf(rows))
    assert.equal(filled.code, 0, filled.stderr)
  }
  const { url } = await freshDatabase()
  const target = join(folder, 'target')
  const refused = await run('move', '--to', url, '--files', 's3://shop?endpont=http://x')
  assert.match(refused.stderr, /DUET_FILES must be a folder, or s3:/)
  const moved = await run('move', '--to', url, '--files', target)
  assert.equal(moved.code, 0, moved.stderr)
  const own = join(dirname(file), 'files')
  assert.match(moved.stdout, new RegExp(`^copied 1 files, ${png(3, 2).length} bytes, from `, 'm'))
  assert.ok(moved.stdout.includes(`, and DUET_FILES to ${target}, and start the server`))
  const names = (root: string) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(one => /\w{64}$/.test(one))
  assert.equal(names(own).length, 1)
  assert.deepEqual(names(target), names(own))
  const there = { ...settings, DUET_DATABASE_URL: url, DUET_FILES: target }
  const verified = await command(['files', 'verify'], there)
  assert.equal(verified.code, 0, verified.stderr)
  assert.match(verified.stdout, /^1 files of rows are whole in /)
})

test('a start on PostgreSQL without DUET_FILES says that its files are on one machine', async () => {
  const config = join(folder, 'duet.config.ts')
  const path = new URL('../support/gallery.ts', import.meta.url).href
  writeFileSync(config, `export { gallery as default } from '${path}'\n`)
  const { settings } = await freshStore()
  const sentence =
    /files are in the folder \S+ of this machine: where several machines serve this database, set DUET_FILES to a folder that all share/
  for (const own of [{}, { DUET_FILES: join(folder, 'shared') }]) {
    const service = await serve({ ...settings, DUET_LOG: 'info', ...own }, '--config', config)
    await service.end()
    const said = `${service.stderr()}${service.stdout()}`
    assert.equal(sentence.test(said), onPostgres && !('DUET_FILES' in own), said)
  }
})
