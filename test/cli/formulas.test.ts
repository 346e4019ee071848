/** Texts that a spreadsheet would run, in exported CSV and back. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { command, folderOf } from '#test/market.ts'

const { folder, freshStore } = folderOf('formulas')

/** The start of a text, and whether a spreadsheet would run it. */
const titles: readonly (readonly [string, boolean])[] = [
  ['=1+1', true],
  ['+1', true],
  ['-1', true],
  ['@SUM(A1)', true],
  ['＝1', true],
  ['＋1', true],
  ['－1', true],
  ['＠x', true],
  ["'=1+1", true],
  ["''@x", true],
  ["'quoted'", false],
  ['1=1', false],
  ['a,"=1"', false],
]

test('a text that a spreadsheet would run begins with a mark in CSV, import takes it off, and --raw does neither', async () => {
  const { settings } = await freshStore()
  const run = async (...args: readonly string[]) => {
    const ended = await command(args, settings)
    assert.equal(ended.code, 0, ended.stderr)
  }
  const users = join(folder, 'users.ndjson')
  writeFileSync(users, '{"id":1,"name":"Ada","email":"ada@example.org"}\n')
  await run('import', 'users', users)
  const posts = join(folder, 'posts.ndjson')
  // Titles lose outer white space, and contents keep it.
  const blank = ['', '\t', '\n', '\r', "'\n"]
  const rows = titles.map(([title], n) => ({
    id: n + 1,
    authorId: 1,
    title,
    content: `${blank[n] ?? ''}=${n}`,
  }))
  writeFileSync(posts, rows.map(row => JSON.stringify(row)).join('\n'))
  await run('import', 'posts', posts)
  for (const raw of [[], ['--raw']]) {
    const file = join(folder, `posts${raw.length}.csv`)
    await run('export', 'posts', file, ...raw)
    const text = readFileSync(file, 'utf8')
    for (const [title, runs] of titles) {
      const shown = runs && raw.length === 0 ? `'${title}` : title
      assert.ok(
        text.includes(`,${/["']a,|"/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown},`),
        shown,
      )
    }
    for (const start of [`,'=0,`, `,'\t=1,`, `,"'\n=2",`, `,"'\r=3",`, `,"''\n=4",`])
      assert.equal(text.includes(start), raw.length === 0, JSON.stringify(start))
    const other = await freshStore()
    for (const args of [
      ['import', 'users', users],
      ['import', 'posts', file, ...raw],
    ])
      assert.equal((await command(args, other.settings)).code, 0)
    const kept = await other.rows('select title, content from posts order by id')
    assert.deepEqual(
      kept.map(row => [...row]),
      rows.map(({ title, content }) => [title, content]),
    )
  }
  const refused = await command(['export', 'posts', '--raw'], settings)
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /--raw is for CSV/)
})
