/** What the members of an entity are called in the versions of the REST API. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entity } from '#model/entity.ts'
import { id, text, webUrl } from '#model/field.ts'
import { anyone } from '#model/policy.ts'
import { fieldNamedEver } from '#model/resource.ts'

test('a name in a file is that of the field which has it now, and then of one that had it in some version', () => {
  const thing = entity({
    fields: {
      id: id(),
      oldImage: text({
        max: 200,
        nullable: true,
        until: { 1: { name: 'image' } },
        last: 1,
        sunset: '2027-08-01',
      }),
      image: webUrl({ since: 2, nullable: true }),
      title: text({ max: 9, until: { 1: { name: 'heading' } } }),
    },
    policy: { read: anyone },
    rest: { list: true, one: true, listing: { paging: 'page', limit: 10 } },
  })
  const named = (member: string) => fieldNamedEver(thing, member)
  assert.deepEqual(['image', 'oldImage', 'heading', 'title'].map(named), [
    'image',
    'oldImage',
    'title',
    'title',
  ])
  assert.equal(named('toString'), undefined)
})
