/** Values of files in the forms that programs write them, and files in the forms that spreadsheets save. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandsOf } from '#test/commands.ts'
import { folderOf } from '#test/duet.ts'
import { notebook } from '#test/support/notebook.ts'
import { type Format, filesIn } from '#test/support/transfer-files.ts'

const { folder, freshStore } = folderOf('import-values', notebook)
const { fileOf } = filesIn(folder)
const command = commandsOf('notebook', 'test/support/notebook.ts')

/** What an import of a file says, without the name of the file, and the rows that it made. */
const importing = async (text: string | Uint8Array, columns: string, format: Format = 'csv') => {
  const { rows, settings } = await freshStore()
  const path = fileOf(text, format)
  const { code, stderr } = await command(['import', 'notes', path], settings)
  const said = stderr.replaceAll(path, 'FILE').split('\n')
  return { code, said, rows: await rows(`select ${columns} from notes order by id`) }
}

test('a number that would be read as another one is a fault of its row, in NDJSON and in CSV', async () => {
  const json = await importing(
    '{"name":"a","rank":9007199254740993}\n{"name":"b","meta":{"c":1e400}}\n{"name":"c","price":1.50}\n',
    'name',
    'ndjson',
  )
  const changed = (text: string) =>
    `is ${text}, which would be read as ${Number(text)}: send fewer digits, or a text if the field is one`
  assert.deepEqual(json.said.slice(0, 2), [
    `FILE:1: rank ${changed('9007199254740993')}`,
    `FILE:2: meta.c ${changed('1e400')}`,
  ])
  assert.deepEqual([json.code, json.rows], [1, []])
  const csv = await importing(
    'name,rank,price,meta\na,9007199254740993,1,\nb,1,19.990000000000000001,\nc,1,1,"{""c"":[1e400]}"\n',
    'name',
  )
  assert.deepEqual(csv.said.slice(0, 3), [
    `FILE:2: rank ${changed('9007199254740993')}`,
    `FILE:3: price ${changed('19.990000000000000001')}`,
    `FILE:4: meta has a value: c.0 ${changed('1e400')}`,
  ])
  assert.deepEqual([csv.code, csv.rows], [1, []])
})

test('rows without a slug get one each, whichever the rows before them have', async () => {
  const { code, said, rows } = await importing(
    'name,slug\nSoup,\nSoup!,\nTea,soup-4\nsoup,\n',
    'slug',
  )
  assert.equal(code, 0, said.join())
  assert.deepEqual(rows.flat(), ['soup', 'soup-2', 'soup-4', 'soup-5'])
})
