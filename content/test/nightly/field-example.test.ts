/** What content/test/field-example.test.ts does, with all tests on both engines. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { named, testsThatTell } from '../support/field-example.ts'

test('of all tests those that CONTRIBUTING names fail with an added field, and no other [I1]', async t => {
  const told = await testsThatTell([])
  for (const [file, names] of told) t.diagnostic(`${file}: ${names.join(' / ')}`)
  assert.deepEqual(
    [...told.keys()].filter(file => file !== 'content/test/field-example.test.ts').sort(),
    [...named].sort(),
  )
})
