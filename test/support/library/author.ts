/** An author of books. */
import { entity, many } from '#model/entity.ts'
import { created, id, int, reference, revision, text } from '#model/field.ts'
import { anyone, signedIn } from '#model/policy.ts'
import { librarian } from './roles.ts'

export const author = entity({
  table: 'authors',
  plural: 'authors',
  description: 'Somebody who wrote books.',
  fields: {
    id: id(),
    name: text({ max: 120, trimmed: true, description: 'Name as it stands on the cover.' }),
    born: int({ min: -3000, max: 2100, nullable: true, description: 'Year; below 0 is B.C.' }),
    biography: text({ max: 20_000, min: 0, initial: { value: '' }, description: 'Their life.' }),
    teacherId: reference('author', {
      nullable: true,
      onDelete: 'set null',
      description: 'Who taught them to write.',
    }),
    notedAt: created({ graphql: 'hidden' }),
    revision: revision(),
  },
  relations: {
    books: many('book', 'authorId', { description: 'What they wrote, newest first.' }),
  },
  policy: { read: anyone, create: signedIn, update: librarian, delete: librarian },
  links: { self: '/authors/{id}', books: '/authors/{id}/books' },
  rest: {
    list: true,
    one: true,
    selectable: true,
    writes: ['create', 'update', 'delete'],
    listing: {
      paging: 'page',
      limit: 3,
      sort: { style: 'field and order', fields: ['id', 'name', 'born'] },
    },
  },
  graphql: { paged: true, mutations: ['create', 'update'] },
  counted: [],
})
