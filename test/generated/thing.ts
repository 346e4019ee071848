/** A thing of several kinds of fields. */
import { type Entity, entity, one } from '#model/entity.ts'
import { flag, id, reference, revision, time } from '#model/field.ts'
import { anyone, self, signedIn } from '#model/policy.ts'

/** An entity with many kinds of fields. */
export const thing: Entity = entity({
  table: 'things',
  plural: 'things',
  description: '',
  fields: {
    id: id(),
    featured: flag({ initial: { value: 0 } }),
    at: time({ nullable: true }),
    ownerId: reference('member', { onDelete: 'cascade', nullable: true }),
    revision: revision(),
  },
  relations: { owner: one('member', 'ownerId') },
  policy: { read: anyone, create: signedIn, update: self('ownerId') },
  links: { self: '/things/{id}', owner: '/members/{ownerId}' },
  rest: {
    list: true,
    one: true,
    writes: ['create'],
    listing: {
      paging: 'page',
      limit: 10,
      filters: {
        featured: { kind: 'equals', field: 'featured' },
        from: { kind: 'at least', field: 'at' },
      },
    },
  },
  graphql: { filters: ['at'], mutations: [] },
  sets: [['featured', 'at']],
})
