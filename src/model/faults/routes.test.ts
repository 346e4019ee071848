import { bytes, choice, created, id, int, internal, reference, text } from '#model/field.ts'
import { anyone, signedIn, whileOpen, withRole } from '#model/policy.ts'
import {
  areTold,
  author,
  book,
  changed,
  closed,
  glad,
  hiddenInRest,
  linked,
  withFields,
  withMood,
} from '../../../test/support/model-faults.ts'
import { admin, editor, roles } from '../../../test/support/roles.ts'

areTold({
  'note is in the REST API, and nobody may read it: add a read rule, or make rest.list and rest.one false':
    { others: { note: changed(closed, { graphql: { type: false } }) } },
  'note is in the GraphQL API, and nobody may read it: add a read rule, or make it graphql: { type: false }':
    { others: { note: changed(closed, { rest: { list: false, one: false } }) } },
  "book.note may be read by fewer than book, whose answers have it: make it rest: false, give book an enter rule that is as strict, or change the field's rule to one by row, which gives others null":
    withFields({ note: text({ max: 9, nullable: true, readableBy: signedIn }) }),
  "box.remark may be read by fewer than may create a box, whose answers have it: make it rest: false, or change the field's rule to one by row, which gives others null":
    {
      others: {
        box: changed(closed, {
          table: 'boxes',
          plural: 'boxes',
          policy: { read: admin, create: anyone },
          fields: {
            ...author.fields,
            remark: text({ max: 9, nullable: true, settableBy: admin, readableBy: admin }),
          },
          rest: { list: false, one: false, writes: ['create'] },
        }),
      },
    },
  'rest.writes of book has replace, and its policy has no update rule: add the rule, or leave the write out':
    { policy: { read: anyone, create: signedIn, delete: admin } },
  'rest.writes of book has replace, and book has no revision: add revision: revision() to its fields':
    { fields: (({ revision: _, ...rest }) => rest)(book.fields) },
  'rest.writes of book has replace, and book is append-only: leave one of them out': {
    fields: {
      ...book.fields,
      authorId: reference('author', { onDelete: 'restrict' }),
      editorId: reference('author', { nullable: true, onDelete: 'restrict' }),
    },
    appendOnly: true,
  },
  "book.authorId changes rows that are append-only when the author is deleted: choose onDelete: 'restrict'":
    { appendOnly: true, rest: { writes: [] }, graphql: { mutations: [] } },
  'rest.writes of book has create, which needs note and cannot be given it: give note an initial value, or leave the create out':
    withFields({ note: text({ max: 9, ...internal }) }),
  'rest.writes of dot has create, and dot has no field but its id: add another one, or leave the create out':
    {
      others: {
        dot: changed(author, {
          table: 'dots',
          plural: 'dots',
          fields: { id: id() },
          relations: {},
          policy: { read: anyone, create: signedIn },
          rest: { writes: ['create'] },
        }),
      },
    },
  'rest.writes of book has create, which needs note, and fewer may set it than may create: give note an initial value, or change one of the rules':
    [
      // A create that anonymous callers may do and not give what it needs.
      {
        ...withFields({ note: text({ max: 9, settableBy: signedIn }) }),
        policy: { ...book.policy, create: anyone },
      },
      // A create that users may do and only admins give what it needs.
      withFields({ note: text({ max: 9, settableBy: admin }) }),
      // A create that any token may do and callers give what it needs only while a switch is open.
      {
        ...withFields({ note: text({ max: 9, settableBy: whileOpen('giving') }) }),
        policy: { ...book.policy, create: signedIn },
      },
      // A create while one switch is open and what it needs while another is.
      {
        ...withFields({ note: text({ max: 9, settableBy: whileOpen('giving') }) }),
        policy: { ...book.policy, create: whileOpen('making') },
      },
      // A create for one role and what it needs for another.
      {
        ...withFields({ note: text({ max: 9, settableBy: editor }) }),
        policy: { ...book.policy, create: withRole(roles, 'user') },
      },
    ],
  'rest.writes of book has create, which needs note, and fewer may read it, and so may set it, than may create: say settableBy: anyone if they may, or give note an initial value':
    {
      ...withFields({ note: text({ max: 9, readableBy: signedIn }) }),
      policy: { ...book.policy, enter: signedIn, create: anyone },
    },
  'rest.writes of book has create, which needs note, and its settableBy names the id of the row, which a new one has not: say settableBy: anyone, or give note an initial value':
    withFields({ note: text({ max: 9, settableBy: { id: 1 } }) }),
  "rest.nested of note has one, and no list leads to it: give a relation many('note', …) to its parent":
    { others: { note: changed(closed, { policy: { read: anyone }, rest: { nested: ['one'] } }) } },
  'the link by of book has {shelf}, which not everybody may read: name another field': {
    ...withFields({
      shelf: int({ min: 0, max: 9, nullable: true, rest: false, readableBy: admin }),
    }),
    ...linked({ by: { href: '/shelves/{shelf}' } }),
  },
  'the link self of book has {isbn}, which is not a field: name one of id, title, genre, authorId, editorId, inPrint, createdAt, revision':
    linked({ self: { href: '/books/{isbn}' } }),
  'the link self of book has {inPrint}, which is flag: name an id, a whole number or a text':
    linked({ self: { href: '/books/{inPrint}' } }),
  'the first link of book, editor, leads nowhere if its field is null: put one first that is always there, such as self':
    linked({ editor: { href: '/authors/{editorId}' } }),
  'the links of book are by title, which is not a choice that everybody may read: name one': {
    links: { by: 'title', cases: {} },
  },
  'the links of book have a case drama, which genre never is: name one of novel, poems': {
    links: { by: 'genre', cases: { drama: { self: { href: '/books/{id}' } } } },
  },
  'book has two members called createdAt in version 1 of the REST API: rename one of them': [
    // Two members of one name.
    withFields({ made: created({ until: { 1: { name: 'createdAt' } } }) }),
    // A hidden member with the name of another.
    withFields({ made: text({ ...hiddenInRest, until: { 1: { name: 'createdAt' } } }) }),
  ],
  'graphql.deprecated of book has makeBook, which is neither a root field nor a filter: name one of book, books, authorId, inPrint, createBook, updateBook, deleteBook':
    { graphql: { deprecated: { makeBook: 'Use createBook.' } } },
  "graphql.deprecated of book has no reason for books: say what to use in its place, like 'Use title.'":
    { graphql: { deprecated: { books: '' } } },
  "book.mood is the GraphQL enum Int: begin with a capital letter, use only letters and digits, and no type of GraphQL's own":
    withMood({ enum: { name: 'Int' } }),
  "book.mood is the GraphQL enum ourMood: begin with a capital letter, use only letters and digits, and no type of GraphQL's own":
    withMood({ enum: { name: 'ourMood' } }),
  'book.mood is a GraphQL enum with the value so-so, which GraphQL cannot name: use letters, digits and _, or leave enum out':
    withFields({ mood: choice(['glad', 'so-so'], { enum: { name: 'Mood' }, initial: glad }) }),
  'book.mood has the deprecated value angry, which it never is: name some of glad, sad': withMood({
    enum: { name: 'Mood', deprecated: { angry: 'Use sad.' } as never },
  }),
  'book.mood has no reason why sad is deprecated: say what to use in its place': withMood({
    enum: { name: 'Mood', deprecated: { sad: '' } },
  }),
  'book and book.mood have one GraphQL type, Book: give one of them another': withMood({
    enum: { name: 'Book' },
  }),
  'after.create of book wants mood, which is not a field: name one of id, title, genre, authorId, editorId, inPrint, createdAt, revision':
    { after: { create: { fields: ['mood'], run: () => {} } } },
  'after.create of book wants cover, which are bytes: leave them out, and read them when they are wanted':
    {
      ...withFields({ cover: bytes({ nullable: true, initial: { value: null } }) }),
      after: { create: { fields: ['cover'], run: () => {} } },
    },
  'after.create of book wants author.mood, which is not a field: name one of id, title, genre, authorId, editorId, inPrint, createdAt, revision':
    { after: { create: { fields: ['author.mood'], run: () => {} } } },
  'after of book has "to lend", which is no name: begin with a small letter, then letters and digits':
    { after: { 'to lend': { fields: ['title'], run: () => {} } } },
})
