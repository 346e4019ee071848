/** Files of rows on the command line: looked for, backed up and put back. */
import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { copyFiles, copyIn } from '#cli/files.ts'
import { placeOf } from '#files/store.ts'
import { commandsOf } from '../commands.ts'
import { gallery, galleryRows, pdf } from '../support/gallery.ts'
import { startS3 } from '../support/s3.ts'
import { createWorld } from '../world.ts'

const command = commandsOf('gallery', 'test/support/gallery.ts')
const folder = mkdtempSync(join(tmpdir(), 'duet-files-cli-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const at = (name: string) => join(folder, name)
const settings = { DUET_DATABASE_URL: `sqlite:${at('duet.db')}` }
const paper = pdf('a letter')
let stored = ''

before(async () => {
  const options = {
    content: gallery,
    rows: galleryRows,
    on: 'sqlite',
    file: at('duet.db'),
  } as const
  const world = await createWorld(options)
  const headers = { 'Content-Type': 'application/pdf' }
  const put = await world.ask('PUT /api/applications/1/cv', { as: 2, raw: paper, headers })
  assert.equal(put.status, 201, put.text)
  assert.ok(world.core.files)
  // Beside the store is where the commands look.
  await copyFiles(world.core.files.store, copyIn(at('files')))
  const [row] = await world.rows('select digest from files')
  stored = join(at('files'), placeOf(String(row?.[0])))
  await world.close()
})

const duet = async (code: number, ...args: readonly string[]) => {
  const told = await command(args, settings)
  assert.equal(told.code, code, told.stderr)
  return code === 0 ? told.stdout : `${told.stdout}${told.stderr}`
}

test('files are verified, backed up with their store, damaged, found so, and put back', async () => {
  assert.match(await duet(0, 'files', 'verify'), /^1 files of rows are whole in the folder /)
  const [backup, copy] = [at('backup.db'), at('copy')]
  const made = await duet(0, 'backup', backup, '--files', copy)
  assert.match(
    made,
    /^backed up to .*\ncopied 1 files, \d+ bytes, from the folder .* which had 0 already\n$/,
  )
  const cutOff = join(copy, 'parts', 'cut-off.part')
  writeFileSync(cutOff, 'killed long ago')
  utimesSync(cutOff, 0, 0)
  assert.match(
    await duet(0, 'backup', '--files', copy),
    /^copied 0 files, .* which had 1 already\n$/,
  )
  assert.equal(existsSync(cutOff), false)
  assert.match(await duet(0, 'restore', '--check', backup, '--files', copy), /\nfiles +1\n/)

  writeFileSync(stored, Buffer.alloc(paper.length))
  const damaged = await duet(1, 'files', 'verify')
  assert.match(
    damaged,
    /^application 1, cv "cv.pdf": its bytes are damaged\n1 of 1 files of rows are not whole/,
  )
  assert.match(await duet(0, 'files', 'verify', '--sizes'), /^1 files of rows are whole/)
  assert.match(
    await duet(1, 'backup', '--files', at('other')),
    /are damaged: find the rows that name them/,
  )
  assert.match(await duet(0, 'restore', '--files', copy), /^copied 1 files/)
  assert.match(await duet(0, 'files', 'verify'), /^1 files of rows are whole/)

  writeFileSync(stored, 'short')
  assert.match(await duet(1, 'files', 'verify', '--sizes'), /it has 5 bytes in place of \d+/)
  rmSync(stored)
  assert.match(await duet(1, 'files', 'verify'), /cv "cv.pdf": its bytes are missing/)
  assert.match(await duet(0, 'restore', '--files', copy), /^copied 1 files/)
  assert.match(await duet(0, 'files', 'verify'), /^1 files of rows are whole/)
})

test('a bucket that is not there is told in place of each file of its rows', async () => {
  const s3 = await startS3(at('s3'))
  const DUET_FILES = s3.address.replace('duet', 'nowhere')
  const keys = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' }
  const verified = await command(['files', 'verify'], { ...settings, ...keys, DUET_FILES })
  await s3.close()
  assert.deepEqual([verified.code, verified.stdout], [1, ''])
  assert.match(verified.stderr, /no such bucket/)
})

test('a copy without a file of the rows cannot be restored, and says whose it is', async () => {
  const backup = at('alone.db')
  const { code, stderr } = await command(['backup', backup], { ...settings, DUET_FILES: 's3://b' })
  assert.equal(code, 0, stderr)
  mkdirSync(at('empty'))
  renameSync(stored, at('aside'))
  const put = await duet(1, 'restore', backup, '--force', '--files', at('empty'))
  assert.match(put, /restored .*\ncopying files 0\n.*lacks 1 of 1 files .*\n.*application 1, cv/)
  renameSync(at('aside'), stored)
  const told = await duet(1, 'restore', '--check', backup, '--files', at('empty'))
  assert.match(
    told,
    /empty lacks 1 of 1 files of rows, such as these:\nduet: application 1, cv "cv.pdf": its bytes are missing/,
  )
})

test('a store that has no file yet is backed up with none, and put back', async () => {
  const own = { DUET_DATABASE_URL: `sqlite:${at('new/duet.db')}` }
  const [backup, files] = [at('new.db'), ['--files', at('new/copy')]]
  for (const args of [['migrate'], ['backup', backup, ...files], ['restore', backup, ...files]]) {
    const { code, stderr } = await command(args, own)
    assert.equal(code, 0, stderr)
  }
})

test('a content without files has none to copy, which is no fault of a backup of all', async () => {
  const ofNothing = commandsOf('default', 'examples/empty/duet.config.ts')
  for (const name of ['backup', 'restore']) {
    const { code, stdout } = await ofNothing([name, '--files', at('none')], settings)
    const none = 'no entity of this content has a file: none are copied\n'
    assert.deepEqual([code, stdout], [0, none])
  }
})

test('what cannot be meant is told in a sentence', async () => {
  assert.match(await duet(2, 'files'), /say what to do: duet files verify/)
  assert.match(await duet(2, 'files', 'verifi'), /did you mean verify\?/)
  assert.match(await duet(2, 'restore', '--check', '--files', at('copy')), /FILE is missing/)
  writeFileSync(at('secret'), 'kept')
  for (const args of [
    ['backup', at('secret'), '--force'],
    ['backup', at('files/backup.db')],
    ['backup', '--keep', '1', '--to', at('files')],
    ['backup', '--files', at('files')],
    ['export', 'applications', at('duet.db'), '--format', 'csv'],
  ])
    assert.match(await duet(1, ...args), /is the store itself, its secret or among its files/)
})
