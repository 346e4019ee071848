/** Relations and rules that lead nowhere, each with the sentence that says so. */
import { viewer } from '#model/condition.ts'
import { many, one } from '#model/entity.ts'
import { int, reference } from '#model/field.ts'
import { anyone, nobody, ruleOf, self, signedIn } from '#model/policy.ts'
import {
  areTold,
  author,
  book,
  changed,
  closed,
  withFields,
} from '../../../test/support/model-faults.ts'

/** Books that may be read, made or changed where this holds; an entity itself checks the names, so these are not known to it. */
const where = (condition: object) => signedIn.where(condition as never)

areTold({
  'the read rule of book has or.1.genr, which is not a field or relation of book: did you mean genre?':
    { policy: { read: where({ or: [{ title: 'x' }, { genr: 'novel' }] }) } },
  'the read rule of book has author.nam, which is not a field or relation of author: did you mean name?':
    {
      policy: { read: ruleOf([anyone.where({ inPrint: true }), where({ author: { nam: 'x' } })]) },
    },
  'the read rule of book has genre, which is "novell", which is not one of novel, poems: did you mean novel?':
    { policy: { read: where({ genre: 'novell' }) } },
  'the read rule of book has title, which is compared with the viewer and is no id of a viewer: name a reference to one':
    { policy: { read: where({ title: viewer }) } },
  'the read rule of book has a condition that where() did not give it, which finds out whether it names the viewer: take signedIn.where()':
    { policy: { read: { kind: 'anyone', before: { not: { author: viewer } } } } },
  'the create rule of book looks at an id, which is not known before the row is written: name other fields, or relations to one row':
    { policy: { ...book.policy, create: where({ id: { ne: 1 } }) } },
  'the delete rule of book says what a row is becoming, which only an update does: leave it out': {
    policy: { ...book.policy, delete: signedIn.where({}).becoming({}) },
  },
  'book.writer leads to writer, which is not an entity: name one of author, book': {
    relations: { ...book.relations, writer: one('writer', 'authorId') },
  },
  'book.author keys on writerId, which is not a field there: name a reference to author': {
    relations: { ...book.relations, author: one('author', 'writerId') },
  },
  'book.author keys on authorId, which is not a reference to book: name one that is': {
    relations: { ...book.relations, author: one('book', 'authorId') },
  },
  'book.author keys on title, which is not a reference to author: name one that is': {
    relations: { ...book.relations, author: one('author', 'title') },
  },
  'author.editors leads through book, which has no references to author and to author that are never null: name an entity with both':
    {
      others: {
        author: changed(author, { relations: { editors: many('author', { through: 'book' }) } }),
      },
    },
  'author.editors leads through bok, which is not an entity: did you mean book?': {
    others: {
      author: changed(author, { relations: { editors: many('author', { through: 'bok' }) } }),
    },
  },
  'author.books keys on authorId, which refers to auhtor, which is not an entity: did you mean author?':
    withFields({ authorId: reference('auhtor', { onDelete: 'cascade' }) }),
  'book.title is a relation and a field: rename one of them': {
    relations: { ...book.relations, title: one('author', 'authorId') },
  },
  'author.booksConnection has the name of the connection of books in GraphQL: rename one of them': {
    others: {
      author: changed(author, {
        fields: { ...author.fields, booksConnection: int({ min: 0, max: 9, nullable: true }) },
      }),
    },
  },
  'book.the-author is not named like lineItems: begin with a small letter and use only letters and digits':
    { relations: { ...book.relations, 'the-author': one('author', 'authorId') } },
  'book.or is a word of conditions: give the relation another name': {
    relations: { ...book.relations, or: one('author', 'authorId') },
  },
  'book.note leads to notes, which nobody may read: give them a read rule, or make it graphql: false and rest: false':
    {
      fields: {
        ...book.fields,
        noteId: reference('note', { onDelete: 'cascade', nullable: true }),
      },
      relations: { note: one('note', 'noteId') },
      others: {
        note: changed(closed, { rest: { list: false, one: false }, graphql: { roots: false } }),
      },
    },
  "shelf.notes is oldest first, and the lists of notes go by cursors, newest first: choose paging: 'page' for them, or make it rest: false":
    {
      others: {
        shelf: changed(author, {
          table: 'shelves',
          plural: 'shelves',
          relations: { notes: many('note', 'shelfId', { oldestFirst: true }) },
        }),
        note: changed(closed, {
          policy: { read: anyone },
          fields: { ...author.fields, shelfId: reference('shelf', { onDelete: 'cascade' }) },
          rest: { list: true, listing: { paging: 'cursor' } },
        }),
      },
    },
  'the update rule of book names writerId, which is not a field: name one of its own, or one over relations to one row':
    { policy: { ...book.policy, update: self('writerId') } },
  'the update rule of book names writer.id, which is not a field: name one of its own, or one over relations to one row':
    { policy: { ...book.policy, update: self('writer.id') } },
  'the update rule of book is self() of no field: name the field that says whose a row is': {
    policy: { ...book.policy, update: self() },
  },
  'the create rule of book names author.id and can never hold: a new row is judged by its own values: name a field of its own':
    { policy: { ...book.policy, create: self('author.id') } },
  'the create rule of book names id and can never hold: a new row is judged by its own values: name a field of its own':
    { policy: { ...book.policy, create: self('id') } },
  "the create rule of book names editorId and can never hold: nobody may set that: let it be initial: 'viewer'":
    {
      fields: {
        ...book.fields,
        editorId: reference('author', { onDelete: 'cascade', settableBy: nobody, nullable: true }),
      },
      policy: { ...book.policy, create: self('editorId') },
    },
})
