import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { exceptions, groups } from './groups.ts'

const grouped: readonly string[] = Object.values(groups).flat()
const excepted = Object.keys(exceptions)

/** The test files of these folders of test/, as groups name them. */
const filesIn = (...folders: readonly string[]) =>
  folders.flatMap(folder =>
    readdirSync(new URL(`../../${folder}/`, import.meta.url))
      .filter(name => name.endsWith('.test.ts'))
      .map(name => `${folder}/${name.slice(0, -'.test.ts'.length)}`),
  )

const there = filesIn('contract', 'store', 'model', 'cli')

test('every test file runs on PostgreSQL too, or says why not', () => {
  const forgotten = there.filter(name => !grouped.includes(name) && !excepted.includes(name))
  assert.deepEqual(forgotten, [], 'put it into a group or an exception of groups.ts')
})

test('no file is in two groups, or in a group and excepted, or gone', () => {
  const named = [...grouped, ...excepted]
  assert.equal(new Set(named).size, named.length)
  assert.deepEqual(
    named.filter(name => !there.includes(name)),
    [],
  )
})

test('no contract test is excepted', () => {
  assert.deepEqual(
    excepted.filter(name => name.startsWith('contract/')),
    [],
  )
})

test('each group is a test file that runs it', () => {
  const files = readdirSync(new URL('.', import.meta.url)).filter(name => name.endsWith('.test.ts'))
  assert.deepEqual(
    files.filter(name => name !== 'all.test.ts').toSorted(),
    Object.keys(groups)
      .map(name => `${name}.test.ts`)
      .toSorted(),
  )
})
