/** The house with another content in it: what is quick of it, as test/nightly/other-content.test.ts runs the rest. */
import { test } from 'node:test'
import { copyWithLibrary, passes } from './support/other-content.ts'

test('documents, contract and architecture are well with another content in the place of this one', async () => {
  // The contract is compared when it is written.
  const folder = await copyWithLibrary()
  const files = ['architecture', 'docs', 'engines'].map(name => `test/${name}.test.ts`)
  // In one process, and without the database that a test run begins with.
  const alone = ['--import=./src/base/resolve-imports.ts', '--test', '--test-isolation=none']
  await passes(folder, ...alone, ...files)
})
