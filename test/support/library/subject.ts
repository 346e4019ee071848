/** What books are about: many subjects a book, many books a subject. */
import { anyone, created, entity, id, many, one, reference, text } from 'duet/model'
import { librarian } from './roles.ts'

export const subject = entity({
  description: 'Something that books are about.',
  fields: {
    id: id(),
    word: text({ max: 60, trimmed: true, unique: 'CONFLICT', description: 'The word for it.' }),
  },
  relations: {
    books: many('bookSubject', 'subjectId', {
      description: 'The books about it, in their order.',
      since: 2,
    }),
  },
  policy: { read: anyone, create: librarian, delete: librarian },
  rest: {
    list: true,
    one: true,
    writes: ['create', { kind: 'delete', last: 1, sunset: '2027-08-01' }],
    listing: { paging: 'cursor', limit: 2 },
  },
  graphql: { mutations: ['create'] },
})

export const bookSubject = entity({
  description: 'That a book is about a subject.',
  fields: {
    id: id(),
    bookId: reference('book', { onDelete: 'cascade', graphql: 'input' }),
    subjectId: reference('subject', { onDelete: 'cascade', graphql: 'input' }),
    filedAt: created(),
  },
  relations: {
    book: one('book', 'bookId', { description: 'The book.' }),
    subject: one('subject', 'subjectId', { description: 'What it is about.' }),
  },
  policy: { read: anyone, create: librarian, delete: librarian },
  rest: {
    list: false,
    one: false,
    nested: ['one', 'create', 'delete'],
    listing: { paging: 'cursor', limit: 2 },
  },
  graphql: { roots: false, mutations: ['create', 'delete'] },
  sets: [['bookId', 'subjectId']],
})
