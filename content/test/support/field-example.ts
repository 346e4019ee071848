/** The example of CONTRIBUTING's "Add a field", done in a copy of the checkout as it is written there. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { copyOfCheckout, inFolder, root } from '#test/support/checkout-copy.ts'

const section =
  /\n## Add a field\n(.*?)\n## /s.exec(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8'))?.[1] ??
  ''

const inSection = (pattern: RegExp): string =>
  pattern.exec(section)?.[1] ?? assert.fail(`CONTRIBUTING has no ${pattern}`)

const entity = inSection(/A line in `([^`]+)`/)
const line = inSection(/\n( +subtitle: .*)\n/).trim()
const draft = inSection(/`bin\/duet migrate --draft "([^"]+)"`/)

/** The test files that CONTRIBUTING says will fail. */
export const named: readonly string[] = [
  ...section.matchAll(/`((?:src|(?:content\/)?test)\/\S+\.test\.ts)` \(/g),
].map(([, file]) => file ?? '')

/** A copy of the checkout that has the field and its migration. */
const copyWithField = async (): Promise<string> => {
  const folder = copyOfCheckout()
  const file = join(folder, entity)
  const text = readFileSync(file, 'utf8')
  // Below the title, which it belongs to.
  const added = text.replace(/\n( +)title: .*\n/, (title, indent) => `${title}${indent}${line}\n`)
  assert.notEqual(added, text)
  writeFileSync(file, added)
  const drafted = await inFolder(folder, {}, 'bin/duet', 'migrate', '--draft', draft)
  assert.equal(drafted.failed, false, drafted.stderr)
  return folder
}

/** Adds the field and runs the files, or all of them with the documents made anew; gives the names of the tests that failed, by file. */
export const testsThatTell = async (
  files: readonly string[],
  store: NodeJS.ProcessEnv = {},
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const run = process.env.DUET_TEST_RUN
  const folder = await copyWithField()
  if (files.length === 0) {
    const documented = await inFolder(folder, {}, 'scripts/docs.mjs')
    assert.equal(documented.failed, false, documented.stderr)
  }
  const told = await inFolder(
    folder,
    // Databases of its own: they have a column more.
    { ...store, ...(run !== undefined && { DUET_TEST_RUN: `${run}_field` }) },
    'scripts/test.mjs',
    '--test-reporter=./test/support/failures.ts',
    ...(files.length > 0 ? files : ['--all']),
  )
  const failures = new Map<string, string[]>()
  for (const line of told.stdout.split('\n').filter(line => line.startsWith('['))) {
    const [file, name]: [string, string] = JSON.parse(line)
    failures.set(file, [...(failures.get(file) ?? []), name])
  }
  assert.equal(told.failed, failures.size > 0, told.stderr)
  return failures
}
