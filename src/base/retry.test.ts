import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endsWithin } from '#base/retry.ts'

test('work that ends in time did, work that does not did not, and an error in time is thrown', async () => {
  assert.equal(await endsWithin(1000, Promise.resolve()), true)
  assert.equal(await endsWithin(5, new Promise(() => {})), false)
  await assert.rejects(endsWithin(1000, Promise.reject(new Error('in time'))), /in time/)
})

test('an error that comes too late is nobody’s', async () => {
  const late = Promise.withResolvers<never>()
  assert.equal(await endsWithin(5, late.promise), false)
  late.reject(new Error('late'))
  // An unhandled rejection is reported after this turn, and would fail the test.
  await new Promise(resolve => setImmediate(resolve))
})
