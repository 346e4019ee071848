import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inFolder, root } from '../support/checkout-copy.ts'

test('callers get the same from a service that caches no answers', async () => {
  const env = { DUET_TEST_CACHE: '0', DUET_TEST_STORE: 'sqlite' }
  const ofStore = ['lanes', 'problems'].map(name => `test/store/${name}.test.ts`)
  const suites = ['content/test', 'test/generic', 'test/generated', ...ofStore]
  const { failed, stdout, stderr } = await inFolder(root, env, 'scripts/test.mjs', ...suites)
  assert.equal(failed, false, stdout.slice(-10_000) + stderr)
})
