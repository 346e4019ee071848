import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admin, editor, roles } from '../../test/support/roles.ts'
import { entity } from './entity.ts'
import { text } from './field.ts'
import {
  anonymous,
  anyone,
  creatorRole,
  givenOnlyBy,
  holders,
  inWords,
  judge,
  nobody,
  type Rule,
  refusal,
  self,
  signedIn,
  type Viewer,
  whileOpen,
  withRole,
} from './policy.ts'

const ben: Viewer = { id: 2, role: 'user' }
const eva: Viewer = { id: 3, role: 'editor' }
const ada: Viewer = { id: 1, role: 'admin' }

type Verdict = 'yes' | 'no' | 'row'

/** What each rule says to anonymous, a user, an editor and an admin; with sign-up open and closed where that matters. */
const table: readonly (readonly [string, Rule, boolean, readonly Verdict[]])[] = [
  ['anyone', anyone, true, ['yes', 'yes', 'yes', 'yes']],
  ['any token', signedIn, true, ['no', 'yes', 'yes', 'yes']],
  ['oneself', self('id'), true, ['no', 'row', 'row', 'yes']],
  ['an editor', editor, true, ['no', 'no', 'yes', 'yes']],
  ['an admin', admin, true, ['no', 'no', 'no', 'yes']],
  ['the default role', withRole(roles, 'user'), true, ['no', 'yes', 'no', 'yes']],
  ['anyone while sign-up is open', whileOpen('signup'), true, ['yes', 'yes', 'yes', 'yes']],
  ['anyone while sign-up is closed', whileOpen('signup'), false, ['no', 'no', 'no', 'yes']],
  ['nobody', nobody, true, ['no', 'no', 'no', 'no']],
]
for (const [who, rule, signup, verdicts] of table)
  test(`a rule for ${who} says ${verdicts.join(', ')} to anonymous, a user, an editor, an admin`, () => {
    const model = { settings: { switches: { signup } }, viewers: { roles } }
    assert.deepEqual(
      [anonymous, ben, eva, ada].map(viewer => judge(rule, viewer, model)),
      verdicts,
    )
  })

test('a rule for a role that is not declared does not compile', () => {
  // @ts-expect-error: there is no such role.
  withRole(roles, 'editr')
})

test('who made a row reads it in its own role, and without a token in the default one', () => {
  assert.deepEqual(
    [anonymous, ben, eva].map(({ role }) => creatorRole(role, roles)),
    ['user', 'user', 'editor'],
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
    signedIn,
    self('authorId', 'post.authorId'),
    editor,
    admin,
    whileOpen('signup'),
    nobody,
  ].map(rule => inWords(rule, roles))
  assert.equal(new Set(words).size, words.length)
  assert.equal(words[2], 'whoever authorId or post.authorId names, or an admin')
})

test('a fault names the holders of the right with their articles', () => {
  assert.deepEqual(
    [admin, editor, whileOpen('signup'), signedIn].map(rule => holders(rule, roles)),
    ['an admin', 'an editor or an admin', 'an admin', 'callers with a token'],
  )
})

test('who alone may give a field is said where not every caller with a token may', () => {
  const model = { settings: { switches: {} }, viewers: { roles } }
  assert.equal(givenOnlyBy(anyone, model), undefined)
  assert.equal(givenOnlyBy(signedIn, model), undefined)
  assert.equal(givenOnlyBy(admin, model), 'May be given by an admin only.')
})

test('a rule that is given as a text is refused with the names of the rules', () => {
  const made = () => entity({ fields: { a: text({ max: 9, settableBy: 'nobody' as never }) } })
  assert.throws(
    made,
    /settableBy is "nobody": it must be a rule, imported from duet\/model: anyone,/,
  )
})
