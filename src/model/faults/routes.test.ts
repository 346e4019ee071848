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
  withField,
  withMood,
} from '../../../test/support/model-faults.ts'
import { admin, editor, roles } from '../../../test/support/roles.ts'

areTold([
  [
    'reads that nobody may do',
    'note is in the REST API, and nobody may read it: add a read rule, or make rest.list and rest.one false',
    {},
    { note: changed(closed, { graphql: { type: false } }) },
  ],
  [
    'a GraphQL type that nobody may read',
    'note is in the GraphQL API, and nobody may read it: add a read rule, or make it graphql: { type: false }',
    {},
    { note: changed(closed, { rest: { list: false, one: false } }) },
  ],
  [
    'a member that fewer may read than the object',
    "book.note may be read by fewer than book, whose answers have it: make it rest: false, give book an enter rule that is as strict, or change the field's rule",
    withField('note', text({ max: 9, nullable: true, readableBy: signedIn })),
  ],
  [
    'a member that fewer may read than may create the object, whom the answer shows it to',
    "box.remark may be read by fewer than may create a box, whose answers have it: make it rest: false, or change the field's rule",
    {},
    {
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
  ],
  [
    'an update without a rule',
    'rest.writes of book has replace, and its policy has no update rule: add the rule, or leave the write out',
    { policy: { read: anyone, create: signedIn, delete: admin } },
  ],
  [
    'an update without a revision',
    'rest.writes of book has replace, and book has no revision: add revision: revision() to its fields',
    { fields: (({ revision: _, ...rest }) => rest)(book.fields) },
  ],
  [
    'an update of what is append-only',
    'rest.writes of book has replace, and book is append-only: leave one of them out',
    {
      fields: {
        ...book.fields,
        authorId: reference('author', { onDelete: 'restrict' }),
        editorId: reference('author', { nullable: true, onDelete: 'restrict' }),
      },
      appendOnly: true,
    },
  ],
  [
    'a cascade onto what is append-only',
    "book.authorId changes rows that are append-only when the author is deleted: choose onDelete: 'restrict'",
    { appendOnly: true, rest: { writes: [] }, graphql: { mutations: [] } },
  ],
  [
    'a create that cannot be given what it needs',
    'rest.writes of book has create, which needs note and cannot be given it: give note an initial value, or leave the create out',
    withField('note', text({ max: 9, ...internal })),
  ],
  [
    'a create of rows that have nothing but an id',
    'rest.writes of dot has create, and dot has no field but its id: add another one, or leave the create out',
    {},
    {
      dot: changed(author, {
        table: 'dots',
        plural: 'dots',
        fields: { id: id() },
        relations: {},
        policy: { read: anyone, create: signedIn },
        rest: { writes: ['create'] },
      }),
    },
  ],
  [
    'a create that anonymous callers may do and not give what it needs',
    'rest.writes of book has create, which needs note, and fewer may set it than may create: give note an initial value, or change one of the rules',
    {
      ...withField('note', text({ max: 9, settableBy: signedIn })),
      policy: { ...book.policy, create: anyone },
    },
  ],
  [
    'a create that anonymous callers may do and not read what it needs',
    'rest.writes of book has create, which needs note, and fewer may read it, and so may set it, than may create: say settableBy: anyone if they may, or give note an initial value',
    {
      ...withField('note', text({ max: 9, readableBy: signedIn })),
      policy: { ...book.policy, enter: signedIn, create: anyone },
    },
  ],
  [
    'a create of what only the row itself may set',
    'rest.writes of book has create, which needs note, and its settableBy names the id of the row, which a new one has not: say settableBy: anyone, or give note an initial value',
    withField('note', text({ max: 9, settableBy: { id: 1 } })),
  ],
  [
    'a create that users may do and only admins give what it needs',
    'rest.writes of book has create, which needs note, and fewer may set it than may create: give note an initial value, or change one of the rules',
    withField('note', text({ max: 9, settableBy: admin })),
  ],
  [
    'a create that any token may do and callers give what it needs only while a switch is open',
    'rest.writes of book has create, which needs note, and fewer may set it than may create: give note an initial value, or change one of the rules',
    {
      ...withField('note', text({ max: 9, settableBy: whileOpen('giving') })),
      policy: { ...book.policy, create: signedIn },
    },
  ],
  [
    'a create while one switch is open and what it needs while another is',
    'rest.writes of book has create, which needs note, and fewer may set it than may create: give note an initial value, or change one of the rules',
    {
      ...withField('note', text({ max: 9, settableBy: whileOpen('giving') })),
      policy: { ...book.policy, create: whileOpen('making') },
    },
  ],
  [
    'a create for one role and what it needs for another',
    'rest.writes of book has create, which needs note, and fewer may set it than may create: give note an initial value, or change one of the rules',
    {
      ...withField('note', text({ max: 9, settableBy: editor })),
      policy: { ...book.policy, create: withRole(roles, 'user') },
    },
  ],
  [
    'a nested route below nothing',
    "rest.nested of note has one, and no list leads to it: give a relation many('note', …) to its parent",
    {},
    { note: changed(closed, { policy: { read: anyone }, rest: { nested: ['one'] } }) },
  ],
  [
    'a link with what not everybody may read',
    'the link by of book has {shelf}, which not everybody may read: name another field',
    {
      ...withField(
        'shelf',
        int({ min: 0, max: 9, nullable: true, rest: false, readableBy: admin }),
      ),
      ...linked({ by: { href: '/shelves/{shelf}' } }),
    },
  ],
  [
    'a link by what is not there',
    'the link self of book has {isbn}, which is not a field: name one of id, title, genre, authorId, editorId, inPrint, createdAt, revision',
    linked({ self: { href: '/books/{isbn}' } }),
  ],
  [
    'a link by a flag',
    'the link self of book has {inPrint}, which is flag: name an id, a whole number or a text',
    linked({ self: { href: '/books/{inPrint}' } }),
  ],
  [
    'a first link that may be absent',
    'the first link of book, editor, leads nowhere if its field is null: put one first that is always there, such as self',
    linked({ editor: { href: '/authors/{editorId}' } }),
  ],
  [
    'links by what is no choice',
    'the links of book are by title, which is not a choice that everybody may read: name one',
    { links: { by: 'title', cases: {} } },
  ],
  [
    'links by a value that there is not',
    'the links of book have a case drama, which genre never is: name one of novel, poems',
    { links: { by: 'genre', cases: { drama: { self: { href: '/books/{id}' } } } } },
  ],
  [
    'two members of one name',
    'book has two members called createdAt in version 1 of the REST API: rename one of them',
    withField('made', created({ until: { 1: { name: 'createdAt' } } })),
  ],
  [
    'a hidden member with the name of another',
    'book has two members called createdAt in version 1 of the REST API: rename one of them',
    withField('made', text({ ...hiddenInRest, until: { 1: { name: 'createdAt' } } })),
  ],
  [
    'a deprecated root field that there is not',
    'graphql.deprecated of book has makeBook, which is neither a root field nor a filter: name one of book, books, authorId, inPrint, createBook, updateBook, deleteBook',
    { graphql: { deprecated: { makeBook: 'Use createBook.' } } },
  ],
  [
    'a deprecated root field without a reason',
    "graphql.deprecated of book has no reason for books: say what to use in its place, like 'Use title.'",
    { graphql: { deprecated: { books: '' } } },
  ],
  [
    'an enum that is no name',
    "book.mood is the GraphQL enum Int: begin with a capital letter, use only letters and digits, and no type of GraphQL's own",
    withMood({ enum: { name: 'Int' } }),
  ],
  [
    'an enum that begins with a small letter',
    "book.mood is the GraphQL enum ourMood: begin with a capital letter, use only letters and digits, and no type of GraphQL's own",
    withMood({ enum: { name: 'ourMood' } }),
  ],
  [
    'an enum of what GraphQL cannot name',
    'book.mood is a GraphQL enum with the value so-so, which GraphQL cannot name: use letters, digits and _, or leave enum out',
    withField('mood', choice(['glad', 'so-so'], { enum: { name: 'Mood' }, initial: glad })),
  ],
  [
    'a deprecated value that there is not',
    'book.mood has the deprecated value angry, which it never is: name some of glad, sad',
    withMood({ enum: { name: 'Mood', deprecated: { angry: 'Use sad.' } as never } }),
  ],
  [
    'a deprecated value without a reason',
    'book.mood has no reason why sad is deprecated: say what to use in its place',
    withMood({ enum: { name: 'Mood', deprecated: { sad: '' } } }),
  ],
  [
    'two types of one name',
    'book and book.mood have one GraphQL type, Book: give one of them another',
    withMood({ enum: { name: 'Book' } }),
  ],
  [
    'an effect with a field that is not there',
    'after.create of book wants mood, which is not a field: name one of id, title, genre, authorId, editorId, inPrint, createdAt, revision',
    { after: { create: { fields: ['mood'], run: () => {} } } },
  ],
  [
    'an effect with bytes',
    'after.create of book wants cover, which are bytes: leave them out, and read them when they are wanted',
    {
      ...withField('cover', bytes({ nullable: true, initial: { value: null } })),
      after: { create: { fields: ['cover'], run: () => {} } },
    },
  ],
  [
    'an effect with a field that the row it refers to has not',
    'after.create of book wants author.mood, which is not a field: name one of id, title, genre, authorId, editorId, inPrint, createdAt, revision',
    { after: { create: { fields: ['author.mood'], run: () => {} } } },
  ],
  [
    'an effect whose name is none',
    'after of book has "to lend", which is no name: begin with a small letter, then letters and digits',
    { after: { 'to lend': { fields: ['title'], run: () => {} } } },
  ],
])
