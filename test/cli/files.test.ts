/** Files of rows go along in an export and an import: their bytes are in a folder beside the file of rows. */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { commandsOf } from '#test/commands.ts'
import { folderOf } from '#test/duet.ts'
import { gallery, pdf, png } from '#test/support/gallery.ts'
import { filesIn } from '#test/support/transfer-files.ts'

const { folder, freshStore } = folderOf('files', gallery)
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

test('a file that is not there, above the folder, too large or of another type is a fault of its row', async () => {
  const { run } = await storeWithMember('faults')
  writeFileSync(join(folder, 'paper.pdf'), pdf('x'))
  writeFileSync(join(folder, 'large.png'), png(1, 1, 5000))
  const covers = [
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
  assert.equal(code, 1)
  const told = stderr.split('\n').flatMap(line => /cover (.*)$/.exec(line)?.[1] ?? [])
  assert.deepEqual(
    told.map(fault => fault.replace(/image\/.*, and/, 'TYPES, and')),
    [
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
