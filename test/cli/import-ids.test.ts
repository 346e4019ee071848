/** The ids that imported rows bring, those that are left for later rows, and the slugs that rows get. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandsOf } from '#test/commands.ts'
import * as any from '#test/duet.ts'
import { command, folderOf } from '#test/market.ts'
import { notebook } from '#test/support/notebook.ts'
import { filesIn } from '#test/support/transfer-files.ts'

const { folder, freshStore } = folderOf('import-ids')
const { fileOf } = filesIn(folder)

const person = (name: string, id?: number) => ({ id, name, email: `${name}@example.org` })
const add = ['import', 'users', fileOf([person('Last')])]

test('a row whose id would leave none for later rows is refused, and the table takes others as before', async () => {
  const { rows, settings } = await freshStore()
  const path = fileOf([person('ann', Number.MAX_SAFE_INTEGER), person('bob')])
  const { code, stderr } = await command(['import', 'users', path], settings)
  assert.equal(code, 1)
  assert.ok(
    stderr.startsWith(`${path}:1: id must be at most 4503599627370496, so that ids are left`),
    stderr,
  )
  assert.equal((await command(add, settings)).code, 0)
  const [[id] = []] = await rows("select id from users where name = 'Last'")
  assert.ok(Number(id) < 10, String(id))
})

test('the rows after the highest id that a file may bring have ids above it', async () => {
  const { rows, settings } = await freshStore()
  const path = fileOf([person('ann', 2 ** 52), person('bob')])
  const { code, stderr } = await command(['import', 'users', path], settings)
  assert.equal(code, 0, stderr)
  assert.equal((await command(add, settings)).code, 0)
  assert.deepEqual(await rows('select name, id from users order by id'), [
    ['ann', 2 ** 52],
    ['bob', 2 ** 52 + 1],
    ['Last', 2 ** 52 + 2],
  ])
})

test('rows without a slug get one each, whichever the rows before them have', async () => {
  const { rows, settings } = await any.folderOf('import-slugs', notebook).freshStore()
  const slugs = fileOf('name,slug\nSoup,\nSoup!,\nTea,soup-4\nsoup,\n', 'csv')
  const importing = commandsOf('notebook', 'test/support/notebook.ts')
  const { code, stderr } = await importing(['import', 'notes', slugs], settings)
  assert.equal(code, 0, stderr)
  const made = await rows('select slug from notes order by id')
  assert.deepEqual(made.flat(), ['soup', 'soup-2', 'soup-4', 'soup-5'])
})
