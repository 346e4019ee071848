/** The schemas of objects. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entity, type Link } from '#model/entity.ts'
import { choice, id } from '#model/field.ts'
import type { Model } from '#model/model.ts'
import { anyone } from '#model/policy.ts'
import { resourceIn } from '#model/resource.ts'
import { objectSchema } from '#openapi/schemas.ts'
import { versions } from '../../test/support/library/versions.ts'

const self = '/things/{id}'

/** The links that an object is said to have always; its state may be `draft` or `published`. */
const neededWith = (cases: Readonly<Record<string, Readonly<Record<string, string | Link>>>>) => {
  const thing = entity({
    fields: { id: id(), state: choice(['draft', 'published']) },
    policy: { read: anyone },
    linksBy: { by: 'state', cases },
    rest: { list: true, one: true, listing: { paging: 'page', limit: 10 } },
  })
  const model = { entities: { thing } } as unknown as Model
  const { properties } = objectSchema(model, resourceIn('thing', thing, versions.newest))
  return (properties as Readonly<Record<string, { required?: readonly string[] }>>)._links?.required
}

test('a link is needed where it is there in every state, and in none where some state has no links', () => {
  assert.deepEqual(neededWith({ draft: { self }, published: { self, edit: self } }), ['self'])
  assert.equal(neededWith({ published: { self } }), undefined)
})
