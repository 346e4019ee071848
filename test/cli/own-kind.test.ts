/** Rows that refer to their own kind: exported, imported and moved whatever their order. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { commandsOf } from '../commands.ts'
import { folderOf, type Settings } from '../duet.ts'
import { filesIn } from '../support/transfer-files.ts'

const command = commandsOf('library', 'test/support/library/index.ts')
const { folder, freshStore } = folderOf('own-kind')
const { fileOf, nameFor } = filesIn(folder)

/** A store of the library without rows. */
const empty = async () => {
  const { settings } = await freshStore({ bare: true })
  assert.equal((await command(['migrate'], settings)).code, 0)
  return settings
}

/** The file of all authors of a store. */
const exported = async (settings: Settings, format: 'ndjson' | 'csv'): Promise<string> => {
  const path = nameFor(format)
  const { code, stderr } = await command(['export', 'authors', path], settings)
  assert.equal(code, 0, stderr)
  return path
}

/** One taught by the next, the last by the first, one by nobody, one by themselves. */
const circle = [
  { id: 1, name: 'A', teacherId: 2 },
  { id: 2, name: 'B', teacherId: 4 },
  { id: 3, name: 'C' },
  { id: 4, name: 'D', teacherId: 1 },
  { id: 5, name: 'E', teacherId: 5 },
]

test('rows may refer to themselves and to later rows, and an export of them is imported as it was', async () => {
  const first = await empty()
  const { code, stdout, stderr } = await command(['import', 'authors', fileOf(circle)], first)
  assert.equal(code, 0, stderr)
  assert.equal(stdout, 'imported 5 authors\n')
  const ndjson = readFileSync(await exported(first, 'ndjson'), 'utf8')
  const rows = ndjson
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  assert.deepEqual(
    rows.map(({ id, teacherId }) => [id, teacherId]),
    circle.map(({ id, teacherId = null }) => [id, teacherId]),
  )
  for (const format of ['ndjson', 'csv'] as const) {
    const copy = await empty()
    const ended = await command(['import', 'authors', await exported(first, format)], copy)
    assert.equal(ended.code, 0, ended.stderr)
    assert.equal(readFileSync(await exported(copy, 'ndjson'), 'utf8'), ndjson, format)
  }
})

test('what a row of a file refers to in the end is told by its line, and is left out with all that leads to it', async () => {
  const settings = await empty()
  const path = fileOf([
    { id: 1, name: 'A', teacherId: 2 },
    { id: 2, name: 'B', teacherId: 77 },
    { id: 3, name: 'C', teacherId: 1 },
    { id: 4, name: 'D', teacherId: 6 },
    { id: 5, name: '', teacherId: 6 },
    { id: 6, name: 'F' },
  ])
  const refused = await command(['import', 'authors', path], settings)
  assert.equal(refused.code, 1)
  const told = (stderr: string) => stderr.split('\n').filter(line => line.startsWith(path))
  const faults = [
    `${path}:5: name must be 1 to 120 characters`,
    `${path}:1: teacherId names author 2, which does not exist`,
    `${path}:2: teacherId names author 77, which does not exist`,
    `${path}:3: teacherId names author 1, which does not exist`,
  ]
  assert.deepEqual(told(refused.stderr), faults)
  const { code, stdout, stderr } = await command(
    ['import', 'authors', path, '--skip-bad'],
    settings,
  )
  assert.equal(code, 0, stderr)
  assert.deepEqual(told(stderr), faults)
  assert.equal(stdout, 'imported 2 authors, left out 4\n')
  const rest = readFileSync(await exported(settings, 'ndjson'), 'utf8')
  assert.deepEqual(
    rest
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line).teacherId),
    [6, null],
  )
})
