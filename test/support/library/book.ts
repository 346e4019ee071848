/** A book in the shelves. */
import { entity, many, one } from '#model/entity.ts'
import { choice, created, flag, folded, id, int, reference, revision, text } from '#model/field.ts'
import { anyone } from '#model/policy.ts'
import { errors } from './errors.ts'
import { librarian, shelver } from './roles.ts'

export const book = entity({
  table: 'books',
  plural: 'books',
  description: 'A book of the library.',
  fields: {
    id: id(),
    title: text({ max: 300, trimmed: true, description: 'Title, 1 to 300 characters.' }),
    isbn: text({ min: 10, max: 17, unique: errors.ISBN_KNOWN, description: 'Its number.' }),
    authorId: reference('author', { graphql: 'input', onDelete: 'restrict' }),
    language: choice(['en', 'fr', 'ja'], { initial: { value: 'en' } }),
    pages: int({ min: 1, max: 100_000, nullable: true, description: 'How many pages it has.' }),
    shelf: int({ min: 0, max: 500, initial: { value: 0 }, description: '0 is the cellar.' }),
    lendable: flag({
      initial: { value: 1 },
      settableBy: librarian,
      description: 'Whether it may leave the house.',
    }),
    shelvedAt: created({ until: { 1: { name: 'shelved_at' } } }),
    titleKey: folded('title'),
    revision: revision(),
  },
  relations: {
    author: one('author', 'authorId', { description: 'Who wrote it.' }),
    subjects: many('bookSubject', 'bookId', { description: 'What it is about.' }),
    loans: many('loan', 'bookId', { description: 'Who has it or had it.' }),
  },
  policy: { read: anyone, create: librarian, update: shelver, delete: librarian },
  links: {
    self: '/books/{id}',
    author: '/authors/{authorId}',
    lend: { href: '/books/{id}/loans', method: 'POST' },
  },
  rest: {
    list: true,
    one: true,
    selectable: true,
    writes: ['create', 'replace', 'update', 'delete'],
    nested: ['one'],
    listing: {
      paging: 'page or offset',
      limit: 4,
      sort: { style: 'signed list', fields: ['title', '-title', 'pages', '-pages', 'shelvedAt'] },
      filters: {
        language: { kind: 'equals', field: 'language' },
        author: { kind: 'equals', field: 'authorId' },
        min_pages: { kind: 'at least', field: 'pages' },
        max_pages: { kind: 'at most', field: 'pages' },
        upstairs: { kind: 'above zero', field: 'shelf' },
        q: { kind: 'contains', field: 'titleKey' },
      },
    },
  },
  graphql: { filters: ['authorId'], mutations: ['create', 'update', 'delete'] },
  counted: ['language'],
  indexes: [['language', '-pages']],
})
