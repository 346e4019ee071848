/** An author of books. */
import {
  anyone,
  created,
  entity,
  id,
  int,
  many,
  reference,
  revision,
  signedIn,
  text,
} from 'duet/model'
import { librarian } from './roles.ts'

export const author = entity({
  description: 'Somebody who wrote books.',
  fields: {
    id: id(),
    name: text({ max: 120, trimmed: true, description: 'Name as it stands on the cover.' }),
    born: int({
      min: -3000,
      max: 2100,
      nullable: true,
      description: 'Year; below 0 is B.C.',
      from: { 2: { name: 'bornIn' } },
    }),
    biography: text({
      max: 20_000,
      min: 0,
      initial: { value: '' },
      description: 'Their life.',
      deprecated: { reason: 'Write about the books.', on: '2027-01-01' },
    }),
    teacherId: reference('author', {
      nullable: true,
      onDelete: 'set null',
      description: 'Who taught them to write.',
    }),
    notedAt: created({
      graphql: 'hidden',
      until: { 1: { name: 'noted', form: 'as seconds' } },
    }),
    revision: revision(),
  },
  relations: {
    books: many('book', 'authorId', { description: 'What they wrote, newest first.' }),
  },
  policy: { read: anyone, create: signedIn, update: librarian, delete: librarian },
  links: { self: '/authors/{id}', books: { href: '/authors/{id}/books', since: 2 } },
  rest: {
    list: true,
    one: true,
    selectable: true,
    writes: ['create', 'update', { kind: 'delete', since: 2 }],
    listing: {
      paging: 'page',
      limit: 3,
      sort: { style: 'field and order', fields: ['id', 'name', { by: 'born', since: 2 }] },
    },
  },
  graphql: { paged: true, mutations: ['create', 'update'] },
  counted: [],
})
