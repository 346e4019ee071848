/** Members and prototypes: as content/test/http/odd-bodies.test.ts, for long, and with a Node that lets nobody use `__proto__`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inFolder, root } from '#test/support/checkout-copy.ts'
import { oddBodies } from '../http/odd-bodies.ts'

test('of 5,000 bodies none changes what objects inherit, whatever its members are called [G7]', () =>
  oddBodies(5000))

test('callers get the same from a service in which whoever uses __proto__ fails [G7]', async () => {
  const strict = { NODE_OPTIONS: '--disable-proto=throw' }
  const used = await inFolder(root, strict, '-e', '({}).__proto__')
  assert.match(used.stderr, /ERR_PROTO_ACCESS/)
  const env = { ...strict, DUET_TEST_STORE: 'sqlite' }
  const { failed, stdout } = await inFolder(root, env, 'scripts/test.mjs', 'content/test/contract')
  assert.equal(failed, false, stdout.slice(-10_000))
})
