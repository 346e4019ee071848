/** Checks that the example of CONTRIBUTING's "Add a field" is true; content/test/nightly/field-example.test.ts runs all tests for it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { named, testsThatTell } from './support/field-example.ts'

/** Tests about fields and migrations that a new field must not break. */
const silent = [
  'test/model/field.test.ts',
  'test/model/drafts.test.ts',
  'test/store/draft.test.ts',
  'test/store/connection.test.ts',
]

test('a field that is added as CONTRIBUTING says breaks the tests that it names, and no other', async t => {
  const told = await testsThatTell([...named, ...silent], { DUET_TEST_STORE: 'sqlite' })
  for (const [file, names] of told) t.diagnostic(`${file}: ${names.join(' / ')}`)
  assert.deepEqual([...told.keys()].sort(), [...named].sort())
})
