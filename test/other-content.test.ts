/** The house with another content in it: what is quick of it, as test/nightly/other-content.test.ts runs the rest. */
import { test } from 'node:test'
import { copyWithLibrary, passes } from './support/other-content.ts'

test('documents, contract and architecture are well with another content in the place of this one', async () => {
  const folder = await copyWithLibrary()
  const files = ['architecture', 'docs', 'engines'].map(name => `test/${name}.test.ts`)
  await Promise.all([
    passes(folder, 'scripts/contract.mjs'),
    passes(folder, 'scripts/test.mjs', ...files),
  ])
})
