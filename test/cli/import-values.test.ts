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

let store: ReturnType<typeof freshStore> | undefined

/** What an import of a file says, without the name of the file, and the rows that it made. */
const importing = async (text: string | Uint8Array, columns: string, format: Format = 'csv') => {
  store ??= freshStore()
  const { rows, change, settings } = await store
  const path = fileOf(text, format)
  const { code, stderr } = await command(['import', 'notes', path], settings)
  const said = stderr.replaceAll(path, 'FILE').split('\n')
  const made = await rows(`select ${columns} from notes order by id`)
  // The next file is for an empty store, too.
  await change('delete from notes')
  return { code, said, rows: made }
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

const made = [
  ['Tea', 1],
  ['Pot', 0],
]

test('a file is read whichever marks end its lines, in UTF-8 and UTF-16, with a byte order mark and without', async () => {
  const lines = ['name,isDone', '"Tea",TRUE', 'Pot,False']
  const json = ['{"name":"Tea","isDone":true}', '', '{"name":"Pot"}']
  for (const end of ['\r', '\n', '\r\n'])
    for (const last of ['', end]) {
      const text = lines.join(end) + last
      const bigEndian = Buffer.from(`\ufeff${text}`, 'utf16le').swap16()
      for (const file of [
        text,
        `\ufeff${text}`,
        Buffer.from(`\ufeff${text}`, 'utf16le'),
        bigEndian,
        // Without a mark.
        bigEndian.subarray(2),
      ]) {
        const { code, said, rows } = await importing(file, 'name, is_done')
        assert.deepEqual([code, rows], [0, made], `${JSON.stringify(end)} ${said}`)
      }
      const { rows } = await importing(json.join(end) + last, 'name, is_done', 'ndjson')
      assert.deepEqual(rows, made, JSON.stringify(end))
    }
})

test('a fault is named with its line, whichever marks end the lines', async () => {
  for (const end of ['\r', '\n', '\r\n']) {
    const csv = ['name,rank', 'a,1', '"b', 'c",x', 'd,y', ''].join(end)
    const { said } = await importing(csv, 'name')
    assert.deepEqual(
      said.slice(0, 2).map(line => line.slice(0, 11)),
      ['FILE:3: ran', 'FILE:5: ran'],
      JSON.stringify(end),
    )
    const json = ['{"name":"a"}', '', '{"name":1}', ''].join(end)
    assert.match((await importing(json, 'name', 'ndjson')).said[0] ?? '', /^FILE:3: name must be/)
  }
})

test('a header that no row could fit is refused where there are none too', async () => {
  for (const [header, fault] of [
    ['name,colour', 'FILE:1: colour is not a member of a note'],
    ['id,rank', 'FILE:1: name is required'],
    ['name;rank', 'FILE: the values of the header have ; between them'],
    ['name\trank', 'FILE: the values of the header have tabs between them'],
    ['name,name', 'FILE: the header names name twice'],
    ['\n\n', 'FILE has no header'],
    ['"name";"rank"', 'FILE: the values of the header have ; between them'],
    ['"name"\t"rank"', 'FILE: the values of the header have tabs between them'],
    ['name, rank', 'FILE: the header has a space or another hidden sign beside rank'],
    ['\ufeff\ufeffname', 'FILE: the header has a space or another hidden sign beside name'],
    ['name,nameKey', 'FILE:1: nameKey is not a member of a note'],
  ] as const) {
    const { code, said } = await importing(header, 'name')
    assert.equal(code, 1, header)
    assert.ok(
      said.some(line => line.replace(/^(duet|import): /, '').includes(fault)),
      `${header}: ${said}`,
    )
  }
  assert.equal((await importing('id,name,createdAt,meta,\n', 'name')).code, 0)
})

test('rows and columns that a spreadsheet saves empty are left out, and a value without a name is told', async () => {
  const empty = 'name,rank,,\r\na,1,,\r\n,,,\r\nb,2,,\r\n,,,\r\n,\r\n'
  const { code, said, rows } = await importing(empty, 'name, rank')
  assert.deepEqual(
    [code, rows],
    [
      0,
      [
        ['a', 1],
        ['b', 2],
      ],
    ],
    said.join(),
  )
  const named = await importing('name,rank,,\n,,,\na,1,,x\n', 'name')
  assert.equal(named.said[0], 'FILE:3: has a value in column 4, which the header does not name')
  assert.deepEqual([named.code, named.rows], [1, []])
})

test('a JSON array is told in a sentence that helps', async () => {
  for (const text of ['[{"name":"a"}]', '\n [\n  {"name":"a"}\n]\n', '\ufeff[]']) {
    const { code, said } = await importing(text, 'name', 'ndjson')
    assert.equal(code, 1)
    assert.match(
      said.join(),
      /FILE is a JSON array, and an import reads one object per line.*jq -c/,
    )
  }
})

test('a long line is read in linear time', async () => {
  const long = `{"name":"${'x'.repeat(8_000_000)}"}\r\n{"name":"b"}`
  const { said } = await importing(long, 'name', 'ndjson')
  assert.match(said[0] ?? '', /^FILE:1: name must be 1 to 100 characters/)
})
