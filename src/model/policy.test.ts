import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  admin,
  anyone,
  inWords,
  judge,
  nobody,
  type Rule,
  refusal,
  self,
  user,
  whileOpen,
} from '#model/policy.ts'
import { anonymous, type Viewer } from '#model/viewer.ts'

const ben: Viewer = { id: 2, role: 'user' }
const ada: Viewer = { id: 1, role: 'admin' }

/** What each rule says to anonymous, a user and an admin; with sign-up open and closed where that matters. */
const table: readonly (readonly [string, Rule, boolean, readonly ('yes' | 'no' | 'row')[]])[] = [
  ['anyone', anyone, true, ['yes', 'yes', 'yes']],
  ['a user', user, true, ['no', 'yes', 'yes']],
  ['oneself', self('id'), true, ['no', 'row', 'yes']],
  ['an admin', admin, true, ['no', 'no', 'yes']],
  ['anyone while sign-up is open', whileOpen('signup'), true, ['yes', 'yes', 'yes']],
  ['anyone while sign-up is closed', whileOpen('signup'), false, ['no', 'no', 'yes']],
  ['nobody', nobody, true, ['no', 'no', 'no']],
]
for (const [who, rule, signup, verdicts] of table)
  test(`a rule for ${who} says ${verdicts.join(', ')} to anonymous, a user, an admin`, () => {
    assert.deepEqual(
      [anonymous, ben, ada].map(viewer => judge(rule, viewer, { switches: { signup } })),
      verdicts,
    )
  })

test('without a token the refusal is 401 with a challenge that names no error', () => {
  const error = refusal(anonymous, 'read users')
  assert.equal(error.code, 'UNAUTHENTICATED')
  assert.equal(error.status, 401)
  assert.match(error.message, /to read users/)
})

test('with a token the refusal is 403 and says what is refused, without a challenge', () => {
  const error = refusal(ben, 'create products', { path: ['createProduct'] })
  assert.equal(error.code, 'FORBIDDEN')
  assert.deepEqual(error.location, { path: ['createProduct'] })
  assert.match(error.message, /create products/)
})

test('every rule has words of its own', () => {
  const words = [
    anyone,
    user,
    self('authorId', 'post.authorId'),
    admin,
    whileOpen('signup'),
    nobody,
  ].map(inWords)
  assert.equal(new Set(words).size, words.length)
  assert.equal(words[2], 'self (authorId or post.authorId), admin')
})
