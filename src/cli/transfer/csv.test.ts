/** Rows that are written as CSV and read again. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { InputRow } from '#content.ts'
import { entity } from '#model/entity.ts'
import { choice, decimal, id, int, text, time } from '#model/field.ts'
import { anyone } from '#model/policy.ts'
import { rowsIn, writers } from './format.ts'

const folder = mkdtempSync(join(tmpdir(), 'duet-csv-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const kind = { entity: 'thing', also: [], foreign: {} }
const thing = entity({
  fields: {
    id: id(),
    rating: int({ min: 1, max: 5, nullable: true, initial: { value: 3 } }),
    at: time({ nullable: true, initial: 'now' }),
    note: text({ min: 0, max: 50 }),
    remark: text({ min: 0, max: 50, nullable: true }),
    name: text({ max: 9, nullable: true }),
    size: choice(['', 'large']),
    share: decimal({ scale: 15, min: -0.5, max: 0.5, initial: { value: 0 } }),
  },
  policy: { read: anyone },
  rest: { list: true, one: true, listing: { paging: 'page', limit: 10 } },
})

const readFrom = async (csv: string): Promise<readonly (InputRow | string | undefined)[]> => {
  const file = join(folder, 'things.csv')
  writeFileSync(file, csv)
  const rows = await Array.fromAsync(rowsIn(file, 'csv', kind, thing, false))
  return rows.map(({ row, fault }) => row ?? fault)
}

const { head, row: textOf } = writers.csv

test('a line of any length is one row, wherever the pieces of the file end', async () => {
  const file = join(folder, 'long.ndjson')
  const rows = [1, 65_535, 65_536, 300_000, 0, 70_000].map(length => ({ note: 'é'.repeat(length) }))
  writeFileSync(file, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  const read = await Array.fromAsync(rowsIn(file, 'ndjson', kind, thing, false))
  assert.deepEqual(
    read,
    rows.map((row, index) => ({ line: index + 1, row })),
  )
})

test('a row is read as it was, whatever of it is null or an empty text', async () => {
  const full = {
    id: 1,
    rating: 2,
    at: '2026-01-31T09:30:00.000Z',
    note: 'a',
    remark: 'b,"c"',
    name: 'd',
    size: 'large',
    share: -1.5e-7,
  }
  const none = { ...full, rating: null, at: null, note: '', remark: null, name: null, size: '' }
  const rows = [full, none, { ...none, remark: '', share: 1e-15 }]
  const csv = head(Object.keys(full)) + rows.map(row => textOf(row)).join('')
  assert.deepEqual(await readFrom(csv), rows)
})

test('an empty cell that cannot be an empty text is null, or left out; with quotes, in which some programs put all values, and without', async () => {
  for (const [csv, row] of [
    [
      '"id","name","rating","share","other"\n"7","","","",""\n',
      { id: 7, name: null, rating: null },
    ],
    ['id,name,note,share,other\n7,,,,\n', { id: 7, name: null, note: '' }],
    ['"id","note"\n"7",""\n', { id: 7, note: '' }],
  ] as const)
    assert.deepEqual(await readFrom(csv), [row])
})
