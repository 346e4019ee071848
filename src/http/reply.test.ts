/** What every response carries, and what errors add to it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#errors.ts'
import { errorHeaders } from './reply.ts'

test('a missing token is answered by a challenge that names no error', () => {
  assert.deepEqual(errorHeaders(new ApiError('UNAUTHENTICATED')), {
    'WWW-Authenticate': 'Bearer realm="duet"',
  })
})

test('a bad token is answered by a challenge with its fault', () => {
  const error = new ApiError('UNAUTHENTICATED', 'The token has expired', { badToken: true })
  assert.deepEqual(errorHeaders(error), {
    'WWW-Authenticate':
      'Bearer realm="duet", error="invalid_token", error_description="The token has expired"',
  })
})

test('an error that is not about tokens has no challenge', () => {
  assert.deepEqual(errorHeaders(new ApiError('FORBIDDEN')), {})
})

test('Retry-After is in whole seconds, at least one', () => {
  const after = (retryAfter: number) =>
    errorHeaders(new ApiError('OVERLOADED', undefined, { retryAfter }))['Retry-After']
  assert.deepEqual([0, 0.2, 1, 1.1, 3600].map(after), ['1', '1', '1', '2', '3600'])
})

test('the headers of an error go with its other facts', () => {
  const error = new ApiError('RATE_LIMITED', undefined, { headers: { A: 'b' }, retryAfter: 2 })
  assert.deepEqual(errorHeaders(error), { A: 'b', 'Retry-After': '2' })
})
