/** Relations and rules that lead nowhere, each with the sentence that says so. */
import { viewer } from '#model/condition.ts'
import { many, one } from '#model/entity.ts'
import { int, reference } from '#model/field.ts'
import { anyone, nobody, ruleOf, self, signedIn } from '#model/policy.ts'
import { areTold, author, book, changed, closed } from '../../../test/support/model-faults.ts'

/** Books that may be read, made or changed where this holds; an entity itself checks the names, so these are not known to it. */
const where = (condition: object) => signedIn.where(condition as never)

areTold([
  [
    'a rule by what is not a field',
    'the read rule of book has or.1.genr, which is not a field or relation of book: did you mean genre?',
    { policy: { read: where({ or: [{ title: 'x' }, { genr: 'novel' }] }) } },
  ],
  [
    'a rule by what is not a field, in a list of rules',
    'the read rule of book has author.nam, which is not a field or relation of author: did you mean name?',
    {
      policy: { read: ruleOf([anyone.where({ inPrint: true }), where({ author: { nam: 'x' } })]) },
    },
  ],
  [
    'a rule by a word that a field never is',
    'the read rule of book has genre, which is "novell", which is not one of novel, poems: did you mean novel?',
    { policy: { read: where({ genre: 'novell' }) } },
  ],
  [
    'a rule that compares with the viewer what is no reference',
    'the read rule of book has title, which is compared with the viewer and is no id of a viewer: name a reference to one',
    { policy: { read: where({ title: viewer }) } },
  ],
  [
    'a condition that where() did not give',
    'the read rule of book has a condition that where() did not give it, which finds out whether it names the viewer: take signedIn.where()',
    { policy: { read: { kind: 'anyone', before: { not: { author: viewer } } } } },
  ],
  [
    'a rule for creates that looks at the id',
    'the create rule of book looks at an id, which is not known before the row is written: name other fields, or relations to one row',
    { policy: { ...book.policy, create: where({ id: { ne: 1 } }) } },
  ],
  [
    'a rule for deletes that says what the row is becoming',
    'the delete rule of book says what a row is becoming, which only an update does: leave it out',
    { policy: { ...book.policy, delete: signedIn.where({}).becoming({}) } },
  ],
  [
    'a relation to what is no entity',
    'book.writer leads to writer, which is not an entity: name one of author, book',
    { relations: { ...book.relations, writer: one('writer', 'authorId') } },
  ],
  [
    'a relation by what is not there',
    'book.author keys on writerId, which is not a field there: name a reference to author',
    { relations: { ...book.relations, author: one('author', 'writerId') } },
  ],
  [
    'a relation by what refers to something else',
    'book.author keys on authorId, which is not a reference to book: name one that is',
    { relations: { ...book.relations, author: one('book', 'authorId') } },
  ],
  [
    'a relation by what is no reference',
    'book.author keys on title, which is not a reference to author: name one that is',
    { relations: { ...book.relations, author: one('author', 'title') } },
  ],
  [
    'a relation through what links nothing',
    'author.editors leads through book, which has no references to author and to author that are never null: name an entity with both',
    {},
    { author: changed(author, { relations: { editors: many('author', { through: 'book' }) } }) },
  ],
  [
    'a relation through what is not there',
    'author.editors leads through bok, which is not an entity: did you mean book?',
    {},
    { author: changed(author, { relations: { editors: many('author', { through: 'bok' }) } }) },
  ],
  [
    'a relation by what refers to nothing that is there',
    'author.books keys on authorId, which refers to auhtor, which is not an entity: did you mean author?',
    { fields: { ...book.fields, authorId: reference('auhtor', { onDelete: 'cascade' }) } },
  ],
  [
    'a relation with the name of a field',
    'book.title is a relation and a field: rename one of them',
    { relations: { ...book.relations, title: one('author', 'authorId') } },
  ],
  [
    'a field with the name of the connection of a relation',
    'author.booksConnection has the name of the connection of books in GraphQL: rename one of them',
    {},
    {
      author: changed(author, {
        fields: { ...author.fields, booksConnection: int({ min: 0, max: 9, nullable: true }) },
      }),
    },
  ],
  [
    'a relation that is not named in camel case',
    'book.the-author is not named like lineItems: begin with a small letter and use only letters and digits',
    { relations: { ...book.relations, 'the-author': one('author', 'authorId') } },
  ],
  [
    'a relation that is called as a word of conditions',
    'book.or is a word of conditions: give the relation another name',
    { relations: { ...book.relations, or: one('author', 'authorId') } },
  ],
  [
    'a list of what nobody may read',
    'book.note leads to notes, which nobody may read: give them a read rule, or make it graphql: false and rest: false',
    {
      fields: {
        ...book.fields,
        noteId: reference('note', { onDelete: 'cascade', nullable: true }),
      },
      relations: { note: one('note', 'noteId') },
    },
    { note: changed(closed, { rest: { list: false, one: false }, graphql: { roots: false } }) },
  ],
  [
    'a list by cursors that is oldest first',
    "shelf.notes is oldest first, and the lists of notes go by cursors, newest first: choose paging: 'page' for them, or make it rest: false",
    {},
    {
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
  ],
  [
    'a rule about what is not there',
    'the update rule of book names writerId, which is not a field: name one of its own, or one over relations to one row',
    { policy: { ...book.policy, update: self('writerId') } },
  ],
  [
    'a rule through a relation that is not there',
    'the update rule of book names writer.id, which is not a field: name one of its own, or one over relations to one row',
    { policy: { ...book.policy, update: self('writer.id') } },
  ],
  [
    'a rule about no field',
    'the update rule of book is self() of no field: name the field that says whose a row is',
    { policy: { ...book.policy, update: self() } },
  ],
  [
    'a create rule about another row',
    'the create rule of book names author.id and can never hold: a new row is judged by its own values: name a field of its own',
    { policy: { ...book.policy, create: self('author.id') } },
  ],
  [
    'a create rule about the id',
    'the create rule of book names id and can never hold: a new row is judged by its own values: name a field of its own',
    { policy: { ...book.policy, create: self('id') } },
  ],
  [
    'a create rule about what nobody sets',
    "the create rule of book names editorId and can never hold: nobody may set that: let it be initial: 'viewer'",
    {
      fields: {
        ...book.fields,
        editorId: reference('author', { onDelete: 'cascade', settableBy: nobody, nullable: true }),
      },
      policy: { ...book.policy, create: self('editorId') },
    },
  ],
])
