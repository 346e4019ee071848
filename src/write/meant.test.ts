/** The member that a misspelt one was meant for, as its caller may know it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entity } from '#model/entity.ts'
import { email, id, int, internal, text } from '#model/field.ts'
import { resourceIn } from '#model/resource.ts'
import type { Version } from '#model/version.ts'
import { checkInput } from '#write/input.ts'
import { use } from '../../test/support/inputs.ts'

const thing = entity({
  table: 'things',
  plural: 'things',
  description: 'A thing.',
  fields: {
    id: id(),
    name: text({ max: 9, nullable: true, since: 2 }),
    size: int({ min: 0, max: 9, nullable: true, last: 1, sunset: '2099-01-01' }),
    email: email({ nullable: true }),
    emailX: text({ max: 9, nullable: true, ...internal }),
  },
  relations: {},
  policy: {},
  links: {},
  rest: { list: false, one: false, listing: { paging: 'page', limit: 1 } },
})

const told = (member: string, version?: Version) => {
  const resource = version && resourceIn('thing', thing, version)
  const { faults } = checkInput(
    thing,
    { [member]: 'x' },
    use('update', resource ? { resource } : {}),
  )
  return faults[0]?.message
}

test('a misspelt member is told with the one of the version that is meant', () => {
  assert.equal(told('nam'), 'is not a member of a thing, but name is')
  assert.equal(told('nam', 2), 'is not a member of a thing, but name is')
  assert.equal(told('siez', 1), 'is not a member of a thing, but size is')
})

test('a member of another version only is not told', () => {
  for (const member of ['nam', 'name']) assert.equal(told(member, 1), 'is not a member of a thing')
  for (const member of ['siez', 'size']) assert.equal(told(member, 2), 'is not a member of a thing')
})

test('a hidden field is told as one that is not there', () => {
  const expected = 'is not a member of a thing, but email is'
  assert.deepEqual([told('emailX'), told('emailY')], [expected, expected])
})
