import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modelFaults } from '#model/check/faults.ts'
import { type Entity, entity, type Link, many, one } from '#model/entity.ts'
import {
  bytes,
  choice,
  created,
  type Field,
  fixed,
  flag,
  folded,
  id,
  int,
  internal,
  money,
  reference,
  revision,
  text,
  time,
  webUrl,
} from '#model/field.ts'
import { anyone, nobody, self, signedIn, whileOpen, withRole } from '#model/policy.ts'
import { newest, versions } from '#model/version.ts'
import { admin, editor, roles } from '../../../test/support/roles.ts'

const former = versions.slice(0, -1).join(', ')

const author: Entity = entity({
  table: 'authors',
  plural: 'authors',
  description: '',
  fields: { id: id(), name: text({ max: 10 }), born: int({ min: 0, max: 9, nullable: true }) },
  relations: { books: many('book', 'authorId') },
  policy: { read: anyone },
  rest: { list: true, one: true, listing: { paging: 'page', limit: 10 } },
})
const book: Entity = entity({
  table: 'books',
  plural: 'books',
  description: '',
  fields: {
    id: id(),
    title: text({ max: 10 }),
    genre: choice(['novel', 'poems']),
    authorId: reference('author'),
    editorId: reference('author', { nullable: true }),
    inPrint: flag({ initial: { value: 1 } }),
    createdAt: created(),
    revision: revision(),
  },
  relations: { author: one('author', 'authorId'), editor: one('author', 'editorId') },
  policy: { read: anyone, create: self('authorId'), update: signedIn, delete: admin },
  links: { self: '/books/{id}', editor: '/authors/{editorId}' },
  rest: {
    list: true,
    one: true,
    listing: { paging: 'page', limit: 10 },
    writes: ['create', 'replace', 'update', 'delete'],
    nested: ['one', 'create'],
  },
  graphql: { filters: ['authorId', 'inPrint'], mutations: ['create', 'update', 'delete'] },
})

type Changes = Partial<Omit<Entity, 'rest' | 'graphql'>> & {
  readonly rest?: Partial<Entity['rest']>
  readonly graphql?: Partial<Entity['graphql']>
  readonly listing?: Partial<Entity['rest']['listing']>
}

/** The entity with other members. */
const changed = (of: Entity, { rest, graphql, listing, ...own }: Changes): Entity => ({
  ...of,
  ...own,
  rest: { ...of.rest, ...rest, listing: { ...of.rest.listing, ...rest?.listing, ...listing } },
  graphql: { ...of.graphql, ...graphql },
})

/** The faults of the two with other books, and further entities. */
const faultsOf = (changes: Changes, others: Readonly<Record<string, Entity>> = {}) => [
  ...modelFaults({ author, book: changed(book, changes), ...others }),
]
const withField = (key: string, field: Field): Changes => ({
  fields: { ...book.fields, [key]: field },
})
const glad = { value: 'glad' } as const
/** A choice that is glad at first, with other options. */
const withMood = (options: Parameters<typeof choice<'glad' | 'sad'>>[1]): Changes =>
  withField('mood', choice(['glad', 'sad'], { initial: glad, ...options }))
const sunset = '2027-08-01'
const linked = (all: Readonly<Record<string, Link>>): Changes => ({ links: { by: null, all } })
const hiddenInRest = { max: 9, rest: false, nullable: true } as const

test('a model without mistakes has no faults', () => assert.deepEqual(faultsOf({}), []))

const right: Readonly<Record<string, Changes>> = {
  'a table with what others may not begin with': { table: 'old_pg_books' },
  'a number below zero': withField('floor', int({ min: -3, max: 3, nullable: true })),
  'a create rule about what only the path gives': withField(
    'authorId',
    reference('author', { settableBy: nobody, nullable: true }),
  ),
  'no links': linked({}),
  'a needed field of one API that only that one creates by': {
    ...withField('code', text({ max: 9, graphql: 'hidden' })),
    graphql: { mutations: [] },
  },
  'what only the service makes, with its viewer at first': {
    ...withField('writerId', reference('author', { initial: 'viewer' })),
    policy: { read: anyone },
    rest: { writes: [], nested: ['one'] },
    graphql: { mutations: [] },
  },
}
for (const [what, changes] of Object.entries(right))
  test(`${what} is no fault`, () => assert.deepEqual(faultsOf(changes), []))

const closed = changed(author, { table: 'notes', plural: 'notes', relations: {}, policy: {} })

test('an entity that is only read by those who may enter is no fault, in either API', () =>
  assert.deepEqual(faultsOf({}, { note: changed(closed, { policy: { enter: admin } }) }), []))

test('a needed field that only a nested create does not know is no fault where REST has no list above it', () => {
  const changes = withField('mood', choice(['glad', 'sad'], { since: 2 }))
  const below = { writes: ['update'], nested: ['create'] } as const
  const shelf = changed(author, { relations: { books: many('book', 'authorId', { rest: false }) } })
  const faults = faultsOf({ ...changes, rest: below }, { author: shelf })
  assert.deepEqual(
    faults.filter(fault => fault.includes('mood')),
    [],
  )
})

const wrong: readonly (readonly [
  what: string,
  sentence: string,
  changes: Changes,
  others?: Record<string, Entity>,
])[] = [
  // Fields
  [
    'a field that is not named in camel case',
    'book.sub_title is not named like createdAt: begin with a small letter and use only letters and digits',
    withField('sub_title', text({ max: 9 })),
  ],
  [
    'a field with a word of SQL as its name',
    'book.order has a name that databases reserve: give it another one',
    withField('order', int({ min: 0, max: 9 })),
  ],
  [
    'a field that every object has',
    'book.constructor has a name that databases reserve: give it another one',
    withField('constructor', int({ min: 0, max: 9 })),
  ],
  [
    'an entity without id',
    'book has no id: add id: id() to its fields',
    { fields: (({ id: _, ...rest }) => rest)(book.fields) },
  ],
  [
    'an id that is a number',
    'book.id must be made with id() and without other options',
    withField('id', int({ min: 0, max: 9 })),
  ],
  [
    'an id that may be null',
    'book.id must be made with id() and without other options',
    withField('id', { ...id(), nullable: true }),
  ],
  [
    'a revision that is a text',
    'book.revision must be made with revision(), since each write raises it',
    withField('revision', { ...text({ max: 9 }), ...fixed, initial: { value: '' } }),
  ],
  [
    'a revision that is unique',
    'book.revision must be made with revision(), since each write raises it',
    withField('revision', { ...revision(), unique: 'CONFLICT' }),
  ],
  [
    'a unique field without an error for a second row',
    "book.note is unique: true, which is no error for a second row: make it unique: 'CONFLICT', or one of the content's own errors",
    withField('note', { ...text({ max: 9, nullable: true }), unique: true as never }),
  ],
  [
    'a text with fewer than no characters',
    'book.note goes from -1 to 9: give whole numbers, the least first',
    withField('note', text({ min: -1, max: 9 })),
  ],
  [
    'a second id',
    'book.otherId is made with id(), which is for the id of the row itself: use reference()',
    withField('otherId', id()),
  ],
  [
    'a revision that callers may set',
    'book.revision must be made with revision(), since each write raises it',
    withField('revision', int({ min: 0, max: 9 })),
  ],
  [
    'a reference to what is no entity',
    'book.writerId refers to writer, which is not an entity: name one of author, book',
    withField('writerId', reference('writer')),
  ],
  [
    'a reference to its own entity that may not be null',
    'book.partOfId refers to its own entity and may not be null, so that no first book can be made: make it nullable',
    withField('partOfId', reference('book')),
  ],
  [
    'a reference that becomes null and may not',
    "book.writerId is set to null when its row is deleted and may not be null: make it nullable or choose onDelete: 'cascade'",
    withField('writerId', reference('author', { onDelete: 'set null' })),
  ],
  [
    'a folded copy of what is not there',
    'book.key is folded from subtitle, which is not a field: name one of text',
    withField('key', folded('subtitle')),
  ],
  [
    'a folded copy of a number',
    'book.key is folded from inPrint, which is not a text of its own: name one that is',
    withField('key', folded('inPrint')),
  ],
  [
    'a folded copy of what may be null',
    'book.key is folded from note, which may be null: make both nullable',
    { fields: { ...book.fields, note: text({ max: 9, nullable: true }), key: folded('note') } },
  ],
  [
    'a field that is reset by what is not there',
    'book.seen is reset by text, which is not another field: name one whose change takes it back',
    withField('seen', flag({ initial: { value: 0 }, resetBy: 'text' })),
  ],
  [
    'a field that is reset to nothing',
    'book.seen is reset by title to nothing: give it an initial value',
    withField('seen', flag({ resetBy: 'title' })),
  ],
  [
    'an initial text that is too long',
    'book.mood has the initial value "good", which its own rule refuses: give one that it takes, as it is stored',
    withField('mood', text({ max: 3, initial: { value: 'good' } })),
  ],
  [
    'an initial text that would be trimmed',
    'book.mood has the initial value " good", which its own rule refuses: give one that it takes, as it is stored',
    withField('mood', text({ max: 9, trimmed: true, initial: { value: ' good' } })),
  ],
  [
    'an initial number that is too large',
    'book.size has the initial value 6, which its own rule refuses: give one that it takes, as it is stored',
    withField('size', int({ min: 0, max: 5, initial: { value: 6 } })),
  ],
  [
    'an initial amount that is no whole number of minor units',
    'book.price has the initial value 1.5, which its own rule refuses: give one that it takes, as it is stored',
    withField('price', money({ max: 5, initial: { value: 1.5 } })),
  ],
  [
    'an initial choice that there is not',
    'book.mood has the initial value "bad", which its own rule refuses: give one that it takes, as it is stored',
    withField('mood', { ...choice(['good']), initial: { value: 'bad' } }),
  ],
  [
    'an initial time that is no number',
    'book.at has the initial value "2026", which its own rule refuses: give one that it takes, as it is stored',
    withField('at', { ...time(), initial: { value: '2026' } }),
  ],
  [
    'an initial flag that is neither 0 nor 1',
    'book.seen has the initial value 2, which its own rule refuses: give one that it takes, as it is stored',
    withField('seen', { ...flag(), initial: { value: 2 } }),
  ],
  [
    'an initial reference',
    'book.writerId has the initial value 1, which its own rule refuses: give one that it takes, as it is stored',
    withField('writerId', { ...reference('author'), initial: { value: 1 } }),
  ],
  [
    'an initial null that may not be',
    'book.mood is null at first and may not be null: give it another initial value',
    withField('mood', text({ max: 9, initial: { value: null } })),
  ],
  [
    "a number that is 'now' at first",
    "book.size is not a time, so it cannot be 'now' at first",
    withField('size', { ...int({ min: 0, max: 5 }), initial: 'now' }),
  ],
  [
    "a number that is 'viewer' at first",
    "book.size is not a reference, so it cannot be 'viewer' at first",
    withField('size', { ...int({ min: 0, max: 5 }), initial: 'viewer' }),
  ],
  [
    "a field that is 'viewer' at first where anonymous callers create",
    'book.writerId is the viewer at first, and anonymous callers may create it: let only callers with a token create it, or make the field nullable',
    {
      ...withField('writerId', reference('author', { initial: 'viewer' })),
      policy: { ...book.policy, create: anyone },
    },
  ],
  [
    'a field that only its owner may read',
    'book.note has a self rule as readableBy, and whose a row is decides about rows only: use anyone, signedIn, withRole() or nobody',
    withField('note', text({ max: 9, readableBy: self('authorId') })),
  ],
  [
    'a field that only its owner may set',
    'book.note has a self rule as settableBy, and whose a row is decides about rows only: use anyone, signedIn, withRole() or nobody',
    withField('note', text({ max: 9, settableBy: self('authorId') })),
  ],
  [
    'bytes that an API shows',
    'book.cover is bytes, which no API shows or takes: leave its options as bytes() has them',
    withField('cover', bytes({ rest: true })),
  ],
  [
    'a range that ends before it begins',
    'book.size goes from 5 to 0: give whole numbers, the least first',
    withField('size', int({ min: 5, max: 0, initial: { value: null }, nullable: true })),
  ],
  [
    'a range beyond exact numbers',
    'book.size goes from 0 to 1152921504606847000: give whole numbers, the least first',
    withField('size', int({ min: 0, max: 2 ** 60, nullable: true })),
  ],
  [
    'amounts beyond exact numbers',
    'book.price goes up to 9007199254740991, and amounts are exact up to 9007199254740: give a smaller max',
    withField('price', money({ max: Number.MAX_SAFE_INTEGER, nullable: true })),
  ],
  [
    'a choice of nothing',
    'book.mood is a choice of nothing: give it values',
    withField('mood', choice([], { nullable: true })),
  ],
  [
    'a choice with a value twice',
    'book.mood has the value good twice: leave one out',
    withField('mood', choice(['good', 'good'], { nullable: true })),
  ],
  [
    'a choice with NUL in a value',
    'book.mood has the value "go\\u0000od", and not every database stores NUL or a lone surrogate: give another value',
    withField('mood', choice(['go\0od'], { nullable: true })),
  ],
  [
    'a choice with a lone surrogate in a value',
    'book.mood has the value "\\ud800", and not every database stores NUL or a lone surrogate: give another value',
    withField('mood', choice(['\ud800'], { nullable: true })),
  ],
  [
    'an input that nobody may set',
    "book.mood is in the GraphQL API as input only, and nobody may set it: make it graphql: 'hidden'",
    withField('mood', text({ max: 9, nullable: true, graphql: 'input', settableBy: nobody })),
  ],
  [
    'texts too long for a row',
    'book has texts of up to 2000060 bytes together, more than the 2000000 of a row: let them be shorter',
    withField('story', text({ max: 500_000, nullable: true })),
  ],
  // Relations and rules
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
    'a relation with the name of a field',
    'book.title is a relation and a field: rename one of them',
    { relations: { ...book.relations, title: one('author', 'authorId') } },
  ],
  [
    'a relation that is not named in camel case',
    'book.the-author is not named like lineItems: begin with a small letter and use only letters and digits',
    { relations: { ...book.relations, 'the-author': one('author', 'authorId') } },
  ],
  [
    'a list of what nobody may read',
    'book.note leads to notes, which nobody may read: give them a read rule, or make it graphql: false and rest: false',
    {
      fields: { ...book.fields, noteId: reference('note', { nullable: true }) },
      relations: { note: one('note', 'noteId') },
    },
    { note: changed(closed, { rest: { list: false, one: false }, graphql: { roots: false } }) },
  ],
  [
    'a list with pages that is oldest first',
    'shelf.notes is oldest first and a list with pages, which are newest first: make it graphql: false and rest: false',
    {},
    {
      shelf: changed(author, {
        table: 'shelves',
        plural: 'shelves',
        relations: { notes: many('note', 'shelfId', { oldestFirst: true }) },
      }),
      note: changed(closed, {
        policy: { read: anyone },
        fields: { ...author.fields, shelfId: reference('shelf') },
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
        editorId: reference('author', { settableBy: nobody, nullable: true }),
      },
      policy: { ...book.policy, create: self('editorId') },
    },
  ],
  // Lists
  [
    'a filter by what is not there',
    'the filter mood of book is about mood, which is not a field: name one of id, title, genre, authorId, editorId, inPrint, createdAt, revision',
    { listing: { filters: { mood: { kind: 'equals', field: 'mood' } } } },
  ],
  [
    'a filter by bytes',
    'the filter cover of book is of the kind equals and about cover, which is bytes: name one that is id, text, int, money, time, flag',
    {
      ...withField('cover', bytes()),
      listing: { filters: { cover: { kind: 'equals', field: 'cover' } } },
    },
  ],
  [
    'a lower bound of a text',
    'the filter from of book is of the kind at least and about title, which is text: name one that is int, money, time',
    { listing: { filters: { from: { kind: 'at least', field: 'title' } } } },
  ],
  [
    'a search in a text that is not folded',
    "the filter search of book is of the kind contains and about title, which is not folded: name a field made with folded('title')",
    { listing: { filters: { search: { kind: 'contains', field: 'title' } } } },
  ],
  [
    'a filter with the name of a parameter of pages',
    'the filter limit of book has a name that every list uses, or that is not a word: give it another one',
    { listing: { filters: { limit: { kind: 'equals', field: 'title' } } } },
  ],
  [
    'a GraphQL filter by what is not there',
    'the GraphQL filter mood of book is not a field: name one of id, title, genre, authorId, editorId, inPrint, createdAt, revision',
    { graphql: { filters: ['mood'] } },
  ],
  [
    'GraphQL filters without a list',
    'book has GraphQL filters and no list at the root: leave them out, or give it graphql.type and graphql.roots',
    { graphql: { roots: false } },
  ],
  [
    'GraphQL mutations without a type',
    'book has GraphQL mutations and no type: leave them out, or give it graphql.type',
    { graphql: { type: false, filters: [] } },
  ],
  [
    'a sort by what is not there',
    'the sort of book by mood does not name a field: name some of id, title, genre, authorId, editorId, inPrint, createdAt, revision',
    { listing: { sort: { style: 'field and order', fields: ['mood'] } } },
  ],
  [
    'a signed sort where the order has a parameter',
    'the sort of book by -title does not name a field: name some of id, title, genre, authorId, editorId, inPrint, createdAt, revision',
    { listing: { sort: { style: 'field and order', fields: ['-title'] } } },
  ],
  [
    'a sort of a list that goes by cursors',
    "the list of book goes by cursors, newest first, and has a sort: leave the sort out, or choose paging: 'page'",
    { listing: { paging: 'cursor', sort: { style: 'signed list', fields: ['title'] } } },
  ],
  [
    'a sort that is there twice',
    'the sort of book by title is there twice: leave one out',
    { listing: { sort: { style: 'signed list', fields: ['title', 'title'] } } },
  ],
  [
    'a limit above the largest page',
    'the list of book has the limit 101: give one of 1 to 100',
    { listing: { limit: 101 } },
  ],
  [
    'a count by what may be null',
    'book is counted by editorId, which may be null: count by fields that always have a value',
    { counted: ['editorId'] },
  ],
  [
    'a count by what is not there',
    'book is counted by mood, which is not a field: name some of id, title, genre, authorId, editorId, inPrint, createdAt, revision',
    { counted: ['mood'] },
  ],
  [
    'a count that is there twice',
    'book is counted by genre twice: leave one out',
    { counted: ['genre', 'genre'] },
  ],
  [
    'an index of what is not there',
    'in book, the index of mood names mood, which is not a field: name some of id, title, genre, authorId, editorId, inPrint, createdAt, revision',
    { indexes: [['mood']] },
  ],
  [
    'an index with a field twice',
    'in book, the index of title, -title names a field twice: leave one out',
    { indexes: [['title', '-title']] },
  ],
  [
    'an index that a reference brings already',
    'book has one index for the field authorId and for the index of authorId: leave one of them out',
    { indexes: [['authorId']] },
  ],
  [
    'a sort by a text too long for an index',
    'in book, the sort by page needs an index of up to 8192 bytes a row, more than the 2600 that every database takes: let its text be shorter',
    {
      ...withField('page', webUrl({ nullable: true })),
      listing: { sort: { style: 'signed list', fields: ['page'] } },
    },
  ],
  [
    'an index with too long a name',
    'book has an index with a name of more than 63 letters, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb_by_created_at_in_print_genre_title: use shorter names',
    { table: 'b'.repeat(40), indexes: [['createdAt', 'inPrint', 'genre', 'title']] },
  ],
  [
    'a set of one field',
    'book has a set of one field, title: make it unique instead',
    { sets: [['title']] },
  ],
  [
    'a set of what is not there',
    'in book, the set of title, mood names mood, which is not a field: name some of id, title, genre, authorId, editorId, inPrint, createdAt, revision',
    { sets: [['title', 'mood']] },
  ],
  // Routes and links
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
    'a create that anonymous callers may do and not give what it needs',
    'rest.writes of book has create, which needs note, and fewer may set it than may create: give note an initial value, or change one of the rules',
    {
      ...withField('note', text({ max: 9, settableBy: signedIn })),
      policy: { ...book.policy, create: anyone },
    },
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
    'an embedded relation that is not there',
    'rest.embedded of book has pages, which is not a relation: name one',
    { rest: { embedded: { pages: { after: 'title' } } } },
  ],
  [
    'an embedded relation after what is not there',
    'rest.embedded of book has author after mood, which is not a field that the REST API shows: name one',
    { rest: { embedded: { author: { after: 'mood' } } } },
  ],
  [
    'a link with what not everybody may read',
    'the link by of book has {shelf}, which not everybody may read: name another field',
    {
      ...withField(
        'shelf',
        int({ min: 0, max: 9, nullable: true, rest: false, readableBy: admin }),
      ),
      ...linked({ by: '/shelves/{shelf}' }),
    },
  ],
  [
    'an object embedded in itself',
    'rest.embedded of book leads back to book: leave one of the relations out',
    {
      fields: { ...book.fields, partOfId: reference('book', { nullable: true }) },
      relations: { ...book.relations, partOf: one('book', 'partOfId') },
      rest: { embedded: { partOf: { after: 'title' } } },
    },
  ],
  [
    'a link by what is not there',
    'the link self of book has {isbn}, which is not a field: name one of id, title, genre, authorId, editorId, inPrint, createdAt, revision',
    { links: { by: null, all: { self: '/books/{isbn}' } } },
  ],
  [
    'a link by a flag',
    'the link self of book has {inPrint}, which is flag: name an id, a whole number or a text',
    { links: { by: null, all: { self: '/books/{inPrint}' } } },
  ],
  [
    'a first link that may be absent',
    'the first link of book, editor, leads nowhere where its field is null: put one first that is always there, such as self',
    { links: { by: null, all: { editor: '/authors/{editorId}' } } },
  ],
  [
    'links by what is no choice',
    'the links of book are by title, which is not a choice that everybody may read: name one',
    { links: { by: 'title', cases: {} } },
  ],
  [
    'links by a value that there is not',
    'the links of book have a case drama, which genre never is: name one of novel, poems',
    { links: { by: 'genre', cases: { drama: { self: '/books/{id}' } } } },
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
  // Versions
  [
    'a version that there is not',
    `book.mood names version 99, which is not one of ${versions.join(', ')}: name one of these`,
    withMood({ since: 99 as never }),
  ],
  [
    'a first version after the last',
    'book.mood begins with version 2 and ends with version 1: change one of them',
    withMood({ since: 2, last: 1, sunset }),
  ],
  [
    'a last version that is the newest',
    `book.mood ends with version ${newest}, the newest: leave last out, or name the version before`,
    withMood({ last: newest, sunset }),
  ],
  [
    'a last version without a sunset',
    "book.mood ends with version 1 and has no sunset: say on which day it goes, like sunset: '2027-08-01'",
    withMood({ last: 1 }),
  ],
  [
    'a sunset that is no day',
    'book.mood has the sunset 2027-02-29, which is not a day: write it like 2027-08-01',
    withMood({ last: 1, sunset: '2027-02-29' }),
  ],
  [
    'a deprecation on what is no day',
    'book.mood has the day of deprecation soon, which is not a day: write it like 2027-08-01',
    withMood({ deprecated: { reason: 'Use genre.', on: 'soon' } }),
  ],
  [
    'a sunset less than six months after the deprecation',
    'book.mood is deprecated on 2027-08-31 and goes on 2028-02-28, less than 6 months later: choose 2028-02-29 or a later day',
    withMood({ last: 1, sunset: '2028-02-28', deprecated: { reason: 'x', on: '2027-08-31' } }),
  ],
  [
    'a deprecation without a reason',
    "book.mood is deprecated without a reason: say what to use in its place, like 'Use title.'",
    withMood({ deprecated: ' ' }),
  ],
  [
    'a list with a faulty lifetime',
    "the relation books of author ends with version 1 and has no sunset: say on which day it goes, like sunset: '2027-08-01'",
    {},
    {
      author: changed(author, { relations: { books: many('book', 'authorId', { last: 1 }) } }),
    },
  ],
  [
    'a route with a faulty lifetime',
    `the route update of book ends with version ${newest}, the newest: leave last out, or name the version before`,
    { rest: { lifetimes: { update: { last: newest } } } },
  ],
  [
    'a REST API with a faulty lifetime',
    `the REST API of book names version 0, which is not one of ${versions.join(', ')}: name one of these`,
    { rest: { lifetimes: { all: { since: 0 as never } } } },
  ],
  [
    'an embedded list with a faulty lifetime',
    `the embedded author of book ends with version ${newest}, the newest: leave last out, or name the version before`,
    { rest: { embedded: { author: { after: 'title', last: newest } } } },
  ],
  [
    'a filter with a faulty lifetime',
    "the filter by of book ends with version 1 and has no sunset: say on which day it goes, like sunset: '2027-08-01'",
    { listing: { filters: { by: { kind: 'equals', field: 'authorId', last: 1 } } } },
  ],
  [
    'a sort with a faulty lifetime',
    "the sort of book by title ends with version 1 and has no sunset: say on which day it goes, like sunset: '2027-08-01'",
    {
      listing: {
        sort: { style: 'field and order', fields: ['title'], lifetimes: { title: { last: 1 } } },
      },
    },
  ],
  [
    'a link with a faulty lifetime',
    `the link author of book ends with version ${newest}, the newest: leave last out, or name the version before`,
    linked({ self: '/books/{id}', author: { href: '/authors/{authorId}', last: newest } }),
  ],
  [
    'a first link that not every version has',
    'the first link of book, self, is not in every version: put one first that is always there, such as self',
    linked({ self: { href: '/books/{id}', since: 2 } }),
  ],
  [
    'a difference until a version that there is not',
    `book.mood differs until version 99, which is not a former version: name one of ${former}`,
    withMood({ until: { 99: { name: 'x' } } as never }),
  ],
  [
    'a difference until the newest version',
    `book.mood differs until version ${newest}, which is not a former version: name one of ${former}`,
    withMood({ until: { [newest]: { name: 'x' } } }),
  ],
  [
    'a difference until a version that has it not',
    'book.mood differs until version 1, which does not have it: leave that out, or change its since or last',
    withMood({ since: 2, until: { 1: { name: 'humour' } } }),
  ],
  [
    'a difference in nothing',
    'book.mood differs until version 1 in nothing: give it a name or a form there',
    withMood({ until: { 1: {} } }),
  ],
  [
    'a former name that is none',
    'book.mood is called the mood until version 1: use letters, digits and _',
    withMood({ until: { 1: { name: 'the mood' } } }),
  ],
  [
    'a difference from a version on that there is not',
    `book.mood differs from version 99 on, which is not one of ${versions.join(', ')}: name one of these`,
    withMood({ from: { 99: { name: 'x' } } as never }),
  ],
  [
    'a difference from a version on that has it not',
    'book.mood differs from version 2 on, which does not have it: leave that out, or change its since or last',
    withMood({ last: 1, sunset, from: { 2: { name: 'humour' } } }),
  ],
  [
    'a difference from a version on until which it differs otherwise',
    'book.mood differs from version 1 on, and until version 1: name a later version in from, or an earlier one in until',
    withMood({ until: { 1: { name: 'humour' } }, from: { 1: { name: 'temper' } } }),
  ],
  [
    'a difference in nothing from a version on',
    'book.mood differs from version 2 on in nothing: give it a name or a form there',
    withMood({ from: { 2: {} } }),
  ],
  [
    'a later name that is none',
    'book.mood is called the mood from version 2 on: use letters, digits and _',
    withMood({ from: { 2: { name: 'the mood' } } }),
  ],
  [
    'a later name that another member has',
    'book has two members called title in version 2 of the REST API: rename one of them',
    withMood({ from: { 2: { name: 'title' } } }),
  ],
  [
    'a later form that cannot be turned back in an input',
    'book.mood in version 2 is written there in a form that cannot be turned back, and callers may give it: use another form, or let only the service set it',
    withMood({ from: { 2: { form: { words: { glad: 'sad' } } } } }),
  ],
  [
    'a text in a form of numbers',
    'book.mood in version 1 is as text, which it cannot be since it is text: use it for int or money',
    withField('mood', text({ max: 9, until: { 1: { form: 'as text' } } })),
  ],
  [
    'a number in a form of moments',
    'book.mood in version 1 is as seconds, which it cannot be since it is int: use it for time',
    withField('mood', int({ min: 0, max: 9, until: { 1: { form: 'as seconds' } } })),
  ],
  [
    'other words of what is no choice',
    'book.mood in version 1 has other words, and is not a choice: make it one, or leave the form out',
    withField('mood', text({ max: 9, until: { 1: { form: { words: {} } } } })),
  ],
  [
    'another word for what it never is',
    'book.mood in version 1 has another word for angry, which it never is: name some of glad, sad',
    withMood({ until: { 1: { form: { words: { angry: 'cross' } } } } }),
  ],
  [
    'a form that cannot be turned back in an input',
    'book.mood in version 1 is written there in a form that cannot be turned back, and callers may give it: use another form, or let only the service set it',
    withMood({ until: { 1: { form: { words: { glad: 'sad' } } } } }),
  ],
  [
    'seconds in an input',
    'book.mood in version 1 is written there in a form that cannot be turned back, and callers may give it: use another form, or let only the service set it',
    withField('mood', time({ nullable: true, until: { 1: { form: 'as seconds' } } })),
  ],
  [
    'a form that cannot be turned back in a filter',
    'book.mood in version 1 is written there in a form that cannot be turned back, and a filter compares it: use another form, or give the filter since: 2',
    {
      ...withMood({ settableBy: nobody, until: { 1: { form: { words: { glad: 'sad' } } } } }),
      listing: { filters: { mood: { kind: 'equals', field: 'mood' } } },
    },
  ],
  [
    'a form that changes the order of a sort',
    'book.mood in version 1 is written there in a form of another order, and lists are sorted or ranged by it: use another form, or give the sort or filter since: 2',
    {
      ...withMood({ until: { 1: { form: { words: { glad: 'zealous' } } } } }),
      listing: { sort: { style: 'signed list', fields: ['-mood'] } },
    },
  ],
  [
    'a form that changes the order of a range',
    'book.pages in version 1 is written there in a form of another order, and lists are sorted or ranged by it: use another form, or give the sort or filter since: 2',
    {
      ...withField(
        'pages',
        int({ min: 0, max: 99, nullable: true, until: { 1: { form: 'as text' } } }),
      ),
      listing: { filters: { least: { kind: 'at least', field: 'pages' } } },
    },
  ],
  [
    'a needed field that the create of a version does not know',
    'book.mood is needed by a create and not in version 1, which has one: give mood an initial value',
    withField('mood', choice(['glad', 'sad'], { since: 2 })),
  ],
  [
    'a needed field that the nested create of a version does not know',
    'book.mood is needed by a create and not in version 1, which has one: give mood an initial value',
    { ...withField('mood', choice(['glad', 'sad'], { since: 2 })), rest: { writes: ['update'] } },
  ],
  [
    'a nested route of other versions than its list',
    'the route nested one of book is below a list that no version has with it: change since or last of one of them',
    { rest: { lifetimes: { 'nested one': { since: 2 } } } },
    {
      author: changed(author, {
        relations: { books: many('book', 'authorId', { last: 1, sunset }) },
      }),
    },
  ],
  // The GraphQL API
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
    'afterCreate of book wants mood, which is not a field: name one of id, title, genre, authorId, editorId, inPrint, createdAt, revision',
    { afterCreate: { fields: ['mood'], run: () => {} } },
  ],
  // Names
  [
    'two entities with one table',
    'author and book have one table, authors: give one of them another',
    { table: 'authors' },
  ],
  [
    'two entities with one plural',
    'author and book have one plural, authors: give one of them another',
    { plural: 'authors' },
  ],
  [
    "a table of Duet's own",
    'book has the table replies: use at most 40 small letters, digits and _, and no name that a database or Duet itself uses',
    { table: 'replies' },
  ],
  [
    'a table that a database reserves',
    'book has the table order: use at most 40 small letters, digits and _, and no name that a database or Duet itself uses',
    { table: 'order' },
  ],
  [
    'a table with a capital letter',
    'book has the table Books: use at most 40 small letters, digits and _, and no name that a database or Duet itself uses',
    { table: 'Books' },
  ],
  [
    'a table that is named as those of a database are',
    'book has the table pg_books: use at most 40 small letters, digits and _, and no name that a database or Duet itself uses',
    { table: 'pg_books' },
  ],
  [
    'a plural that begins with a digit',
    'book has the plural 1books: use letters and digits, such as lineItems',
    { plural: '1books' },
  ],
  [
    'a plural that is no name',
    'book has the plural the-books: use letters and digits, such as lineItems',
    { plural: 'the-books' },
  ],
  [
    'a plural that is a version',
    'book has the plural v1, whose path is that of a version of the REST API: give it another one',
    { plural: 'v1' },
  ],
  [
    'an entity called as a type of GraphQL',
    "query cannot name an entity: use letters and digits, such as lineItem, and no type of GraphQL's own",
    {},
    { query: changed(author, { table: 'queries', plural: 'queries', relations: {} }) },
  ],
  [
    'a plural that is a version of two digits',
    'book has the plural v10, whose path is that of a version of the REST API: give it another one',
    { plural: 'v10' },
  ],
  [
    'a field that differs until the newest version, after one that is right',
    `book.mood differs until version ${newest}, which is not a former version: name one of ${former}`,
    withMood({ until: { 1: { name: 'humour' }, [newest]: { name: 'temper' } } }),
  ],
  [
    'a plural that is an entity',
    'author and the list of book have one name in a GraphQL query, author: give one of them another',
    { plural: 'author' },
  ],
  [
    'references in a circle',
    'left refers to right refers to left, so that no table can be made first: make one of these references an int',
    {},
    {
      left: changed(author, {
        table: 'lefts',
        plural: 'lefts',
        relations: {},
        fields: { ...author.fields, rightId: reference('right', { nullable: true }) },
      }),
      right: changed(author, {
        table: 'rights',
        plural: 'rights',
        relations: {},
        fields: { ...author.fields, leftId: reference('left', { nullable: true }) },
      }),
    },
  ],
]

for (const [what, sentence, changes, others] of wrong)
  test(`${what} is told in one sentence with its remedy`, () => {
    assert.equal(faultsOf(changes, others)[0], sentence)
  })

test('many is for lists and one for a single row, so options of the other do not compile', () => {
  // @ts-expect-error: one row has no order.
  one('author', 'authorId', { oldestFirst: true })
  many('book', 'authorId', { oldestFirst: true })
})

test('the compiler refuses names of fields that are not there', () => {
  const { fields, policy } = { fields: { id: id(), name: text({ max: 9 }) }, policy: {} }
  const names = { table: 'a', plural: 'a', description: '', fields, policy }
  const listing = { paging: 'page', limit: 10 } as const
  const rest = { list: false, one: false, listing }
  entity({ ...names, rest, counted: ['name'], graphql: { filters: ['name'] } })
  // @ts-expect-error: counted by what is not there.
  entity({ ...names, rest, counted: ['nam'] })
  // @ts-expect-error: a GraphQL filter by what is not there.
  entity({ ...names, rest, graphql: { filters: ['nam'] } })
  const sort = { style: 'field and order', fields: ['nam'] } as const
  // @ts-expect-error: a sort by what is not there.
  entity({ ...names, rest: { ...rest, listing: { ...listing, sort } } })
  const filters = { name: { kind: 'equals', field: 'nam' } } as const
  // @ts-expect-error: a filter by what is not there.
  entity({ ...names, rest: { ...rest, listing: { ...listing, filters } } })
  const relations = { books: many('book', 'authorId') }
  entity({ ...names, relations, rest: { ...rest, embedded: { books: { after: 'name' } } } })
  // @ts-expect-error: an embedded relation that is not there.
  entity({ ...names, relations, rest: { ...rest, embedded: { book: { after: 'name' } } } })
})

test('the compiler refuses initial values of another kind', () => {
  // @ts-expect-error: a text is no number.
  text({ max: 9, initial: { value: 1 } })
  // @ts-expect-error: a choice is one of its values.
  choice(['good'], { initial: { value: 'bad' } })
  // @ts-expect-error: only times can be the moment.
  int({ min: 0, max: 9, initial: 'now' })
  // @ts-expect-error: a flag is stored as 0 or 1.
  flag({ initial: { value: 2 } })
})
