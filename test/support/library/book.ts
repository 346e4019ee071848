/** A book in the shelves. */
import {
  anyone,
  choice,
  created,
  entity,
  flag,
  folded,
  id,
  int,
  many,
  one,
  reference,
  revision,
  text,
} from 'duet/model'
import { errors } from './errors.ts'
import { librarian, shelver } from './roles.ts'

/** The day on which version 1 loses what version 2 has no longer. */
const sunset = '2027-08-01'

export const book = entity({
  description: 'A book of the library.',
  fields: {
    id: id(),
    title: text({ max: 300, trimmed: true, description: 'Title, 1 to 300 characters.' }),
    subtitle: text({ max: 300, nullable: true, since: 2, description: 'Below the title.' }),
    isbn: text({ min: 10, max: 17, unique: errors.ISBN_KNOWN, description: 'Its number.' }),
    authorId: reference('author', {
      graphql: 'input',
      onDelete: 'restrict',
      until: { 1: { name: 'author' } },
    }),
    language: choice(['en', 'fr', 'ja'], {
      initial: { value: 'en' },
      enum: { name: 'BookLanguage', deprecated: { fr: 'Use en, there are no more of them.' } },
      until: { 1: { form: { values: { en: 'english', fr: 'ja', ja: 'japanese' } } } },
    }),
    pages: int({ min: 1, max: 100_000, nullable: true, description: 'How many pages it has.' }),
    shelf: int({
      min: 0,
      max: 500,
      initial: { value: 0 },
      description: '0 is the cellar.',
      until: { 1: { form: 'as text' } },
    }),
    donor: text({
      max: 120,
      nullable: true,
      description: 'Who gave it.',
      last: 1,
      sunset,
      deprecated: 'Ask the house.',
    }),
    lendable: flag({
      initial: { value: 1 },
      settableBy: librarian,
      description: 'Whether it may leave the house.',
    }),
    shelvedAt: created({ until: { 1: { name: 'shelved_at' } } }),
    titleKey: folded('title', { indexed: true }),
    revision: revision(),
  },
  relations: {
    author: one('author', 'authorId', { description: 'Who wrote it.' }),
    subjects: many('bookSubject', 'bookId', { description: 'What it is about.' }),
    loans: many('loan', 'bookId', {
      description: 'Who has it or had it.',
      deprecated: 'Use loans(bookId:).',
    }),
  },
  policy: { read: anyone, create: librarian, update: shelver, delete: librarian },
  links: {
    self: '/books/{id}',
    author: '/authors/{authorId}',
    spine: { href: '/books/{id}/spine', last: 1, sunset },
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
      sort: {
        style: 'signed list',
        fields: [
          'title',
          '-title',
          'pages',
          { by: '-pages', last: 1, sunset },
          'shelvedAt',
          { by: '-shelvedAt', since: 2 },
        ],
      },
      filters: {
        language: { kind: 'equals', field: 'language' },
        author: { kind: 'equals', field: 'authorId', last: 1, sunset },
        authorId: { kind: 'equals', field: 'authorId', since: 2 },
        donor: { kind: 'equals', field: 'donor' },
        shelf: { kind: 'equals', field: 'shelf', deprecated: 'Use upstairs.' },
        min_pages: { kind: 'at least', field: 'pages' },
        max_pages: { kind: 'at most', field: 'pages' },
        upstairs: { kind: 'above zero', field: 'shelf' },
        q: { kind: 'contains', field: 'titleKey' },
      },
    },
  },
  graphql: {
    filters: ['authorId'],
    mutations: ['create', 'update', 'delete'],
    deprecated: { authorId: 'Use Author.books.', deleteBook: 'Books are kept.' },
  },
  counted: ['language'],
  indexes: [['language', '-pages']],
})
