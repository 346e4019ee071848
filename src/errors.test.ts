/** Error codes: those of the machine, and how more are defined. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, defineErrors, machineErrors, mergeErrors } from '#errors.ts'

const own = defineErrors({ OUT_OF_INK: { status: 409, title: 'There is no ink left' } })

test('an error of a defined code has its status and title', () => {
  const { code, status, message } = new ApiError(own.OUT_OF_INK)
  assert.deepEqual([code, status, message], ['OUT_OF_INK', 409, 'There is no ink left'])
})

test('tables are merged into one by code', () => {
  const all = mergeErrors(machineErrors, own)
  assert.equal(all.get('OUT_OF_INK'), own.OUT_OF_INK)
  assert.equal(all.get('NOT_FOUND'), machineErrors.NOT_FOUND)
})

test('a code that is defined twice is refused', () => {
  const again = defineErrors({ NOT_FOUND: { status: 404, title: 'No such page' } })
  assert.throws(() => mergeErrors(machineErrors, own, again), /NOT_FOUND is defined twice/)
})

test('a code that is not in capitals is refused, and one that is not there is named', () => {
  assert.throws(() => Reflect.get(own, 'OUT_OF_INC'), /OUT_OF_INC is no error: name one of OUT_OF/)
  assert.throws(() => defineErrors({ outOfInk: { status: 409, title: 'x' } }), /outOfInk/)
})

for (const status of [200, 399, 600, 409.5])
  test(`a code with the status ${status} is refused`, () => {
    assert.throws(() => defineErrors({ NO_ERROR: { status, title: 'x' } }), /NO_ERROR/)
  })

test('an error that is given a location keeps everything else', () => {
  const error = new ApiError('RATE_LIMITED', 'Too many', { retryAfter: 7, headers: { A: 'b' } })
  const located = error.locatedAt({ path: ['a', 0] })
  assert.deepEqual(
    { ...located, message: located.message },
    { ...error, message: 'Too many', location: { path: ['a', 0] } },
  )
})
