/** Names that clash or that a database refuses, each with the sentence that says so. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { many } from '#model/entity.ts'
import { folded, int, reference } from '#model/field.ts'
import { anyone } from '#model/policy.ts'
import { versions } from '../../../test/support/library/versions.ts'
import { areTold, author, changed, former, withMood } from '../../../test/support/model-faults.ts'

const migrations = fileURLToPath(new URL('../../engines/', import.meta.url))
const machineTables = new Set(
  globSync('*/migrations/{,people/}*.sql', { cwd: migrations }).flatMap(file =>
    [
      ...readFileSync(join(migrations, file), 'utf8').matchAll(
        /^create table (?:if not exists )?(\w+)/gm,
      ),
    ].map(([, table = '']) => table),
  ),
)

areTold(
  Object.fromEntries(
    [...machineTables, 'order', 'Books', 'pg_books'].map(table => [
      `book has the table ${table}: use at most 40 small letters, digits and _, and no name that a database or Duet itself uses`,
      { table },
    ]),
  ),
)

areTold({
  'author and book have one table, authors: give one of them another': { table: 'authors' },
  'author and book both take the name authors_by_born in a database: give one of them another table':
    { table: 'authors_by_born', others: { author: changed(author, { indexes: [['born']] }) } },
  'author and book both take the name authors_by_genre_by_title in a database: give one of them another table':
    {
      table: 'authors_by_genre',
      indexes: [['title']],
      others: {
        author: changed(author, {
          fields: { ...author.fields, genreByTitle: int({ min: 0, max: 9, nullable: true }) },
          indexes: [['genreByTitle']],
        }),
      },
    },
  'author and book both take the name authors_id_seq in a database: give one of them another table':
    { table: 'authors_id_seq' },
  'author and book both take the name authors_name_key_search_data in a database: give one of them another table':
    {
      table: 'authors_name_key_search_data',
      others: {
        author: changed(author, {
          fields: { ...author.fields, nameKey: folded('name', { indexed: true }) },
          listing: { filters: { q: { kind: 'contains', field: 'nameKey' } } },
        }),
      },
    },
  'author and book have one plural, authors: give one of them another': { plural: 'authors' },
  'book has the plural 1books: use letters and digits, such as lineItems': { plural: '1books' },
  'book has the plural the-books: use letters and digits, such as lineItems': {
    plural: 'the-books',
  },
  'book has the plural v1, whose path is that of a version of the REST API: give it another one': {
    plural: 'v1',
  },
  "query cannot name an entity: use letters and digits, such as lineItem, and no type of GraphQL's own":
    { others: { query: changed(author, { table: 'queries', plural: 'queries', relations: {} }) } },
  'link cannot name an entity, since the documents of the REST API have a schema Link for something else: give it another name':
    { others: { link: changed(author, { table: 'links', plural: 'links', relations: {} }) } },
  'the list of book and bookList have one schema in the documents of the REST API, BookList: give one of them another':
    {
      others: {
        bookList: changed(author, { table: 'book_lists', plural: 'bookLists', relations: {} }),
      },
    },
  'book has the plural v10, whose path is that of a version of the REST API: give it another one': {
    plural: 'v10',
  },
  [`book.mood differs until version ${versions.newest}, which is not a former version: name one of ${former}`]:
    withMood({ until: { 1: { name: 'humour' }, [versions.newest]: { name: 'temper' } } }),
  'author and the list of book have one name in a GraphQL query, author: give one of them another':
    { plural: 'author' },
  'the parts author.bookList and the parts authorBook.list have one GraphQL type, AuthorBookListCreateInput: give one of them another':
    {
      others: {
        author: changed(author, {
          relations: { bookList: many('book', 'authorId', { nestedWrites: true }) },
        }),
        authorBook: changed(author, {
          table: 'author_books',
          plural: 'authorBooks',
          relations: { list: many('leaf', 'bookId', { nestedWrites: true }) },
        }),
        leaf: changed(author, {
          table: 'leaves',
          plural: 'leaves',
          policy: { read: anyone, create: anyone },
          fields: { ...author.fields, bookId: reference('authorBook', { onDelete: 'cascade' }) },
          relations: {},
        }),
      },
    },
  'left refers to right refers to left, so that no table can be made first: make one of these references an int':
    {
      others: {
        left: changed(author, {
          table: 'lefts',
          plural: 'lefts',
          relations: {},
          fields: {
            ...author.fields,
            rightId: reference('right', { onDelete: 'cascade', nullable: true }),
          },
        }),
        right: changed(author, {
          table: 'rights',
          plural: 'rights',
          relations: {},
          fields: {
            ...author.fields,
            leftId: reference('left', { onDelete: 'cascade', nullable: true }),
          },
        }),
      },
    },
})
