import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bodyTag, isNotModified, preconditionOf, revisionTag } from '#http/conditional.ts'
import { tableForm } from '#model/names.ts'

const mark = { table: 'users', id: 7, revision: 3 }
const tag = revisionTag(mark, '{"id":7}')
const of = { table: 'users', id: 7 }

const allowedRevisions = (header: string | undefined, thing: typeof of) =>
  preconditionOf(header, undefined, 'user', thing).revisions

test('one text has one tag, and another text another', () => {
  assert.equal(bodyTag('a'), bodyTag('a'))
  assert.notEqual(bodyTag('a'), bodyTag('b'))
  assert.match(bodyTag('a'), /^"[\w-]{16}"$/)
})

test('a tag differs where the revision does, and where the same revision is shown otherwise', () => {
  assert.match(tag, /^"users-7-3-[\w-]{16}"$/)
  assert.notEqual(tag, revisionTag({ ...mark, revision: 4 }, '{"id":7}'))
  assert.notEqual(tag, revisionTag(mark, '{"id":7,"name":"A"}'))
})

const hits: readonly (readonly [string, boolean])[] = [
  ['"x"', true],
  ['W/"x"', true],
  ['"y", "x"', true],
  ['"y",W/"x"', true],
  [', "y",, "x" ,', true],
  [',', false],
  ['*', true],
  [' * ', true],
  ['"y"', false],
  ['"X"', false],
  ['x', false],
  ['"x', false],
  ['w/"x"', false],
  ['', false],
  ['"a, "x"', false],
]
for (const [header, hit] of hits)
  test(`If-None-Match ${header || 'without a tag'} ${hit ? 'finds' : 'does not find'} the tag "x"`, () => {
    assert.equal(isNotModified(header, '"x"'), hit)
  })

test('no If-None-Match finds no tag', () => {
  assert.equal(isNotModified(undefined, '"x"'), false)
})

test('If-Match names the revisions of this very thing', () => {
  assert.deepEqual(allowedRevisions(tag, of), [3])
  assert.deepEqual(
    allowedRevisions(`${tag}, ${revisionTag({ ...mark, revision: 5 }, '')}`, of),
    [3, 5],
  )
  assert.deepEqual(allowedRevisions(`"x",, ${tag},`, of), [3])
  assert.equal(allowedRevisions('*', of), 'any')
  assert.equal(allowedRevisions(undefined, of), undefined)
})

test('If-Match names the revision of a thing in a table of any name that a table may have', () => {
  const tables = fc.stringMatching(new RegExp(`^${tableForm}$`))
  fc.assert(
    fc.property(tables, table => {
      const sent = revisionTag({ ...mark, table }, '{}')
      assert.deepEqual(allowedRevisions(sent, { table, id: 7 }), [3])
    }),
    { examples: [['mp3_files'], ['a1']] },
  )
})

test('If-Match with a weak tag, another thing’s tag or a tag of somebody else allows no revision', () => {
  assert.deepEqual(allowedRevisions(`W/${tag}`, of), [])
  assert.deepEqual(allowedRevisions(tag, { table: 'users', id: 8 }), [])
  assert.deepEqual(allowedRevisions(tag, { table: 'posts', id: 7 }), [])
  assert.deepEqual(allowedRevisions('"abc"', of), [])
})

test('If-Match with a revision beyond every number of ours allows none', () => {
  assert.deepEqual(allowedRevisions(tag.replace('-3-', '-99999999999999999999-'), of), [])
})

for (const header of ['abc', '"a" "b"', `${tag} x`, '"a', `${tag}, b`, 'W/ "a"', ''])
  test(`If-Match ${header} is no list of tags and allows no revision`, () => {
    assert.deepEqual(allowedRevisions(header, of), [])
  })
