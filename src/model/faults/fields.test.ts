/** Fields that no API or database could serve, each with the sentence that says so. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { viewer } from '#model/condition.ts'
import { many, one } from '#model/entity.ts'
import {
  bytes,
  choice,
  computed,
  count,
  decimal,
  file,
  fixed,
  flag,
  folded,
  id,
  int,
  list,
  money,
  reference,
  revision,
  slug,
  text,
  time,
} from '#model/field.ts'
import {
  anyone,
  type DeclaredRule,
  nobody,
  type Rule,
  ruleOf,
  self,
  signedIn,
} from '#model/policy.ts'
import {
  areTold,
  author,
  book,
  changed,
  faultsOf,
  glad,
  withFields,
} from '../../../test/support/model-faults.ts'
import { admin } from '../../../test/support/roles.ts'

/** What only an admin may read, of each book. */
const loan = changed(author, {
  table: 'loans',
  plural: 'loans',
  fields: { id: id(), bookId: reference('book', { onDelete: 'cascade' }) },
  relations: {},
  policy: { read: admin },
})

const mood = choice(['a', 'b'])
const label = computed({ as: choice(['ax', 'bx']), from: { concat: ['mood', { text: 'x' }] } })

/** A book that counts its loans, which are read by a rule. */
const counting = (options: Parameters<typeof count>[1], read: DeclaredRule, ofBook?: Rule) => ({
  fields: { ...book.fields, lent: count('loans', { rest: false, ...options }) },
  relations: { ...book.relations, loans: many('loan', 'bookId') },
  ...(ofBook && { policy: { ...book.policy, read: ofBook, update: ofBook } }),
  others: {
    loan: changed(loan, {
      fields: { ...loan.fields, isOpen: flag(), mood, label },
      relations: { book: one('book', 'bookId') },
      policy: { read: ruleOf(read) },
    }),
  },
})

/** Files that were bytes of another table. */
const former = (table: string) => ({ table, row: 'id', bytes: 'bytes', type: 'type' })

areTold({
  'book.sub_title is not named like createdAt: begin with a small letter and use only letters and digits':
    withFields({ sub_title: text({ max: 9 }) }),
  'book.order has a name that databases reserve: give it another one': withFields({
    order: int({ min: 0, max: 9 }),
  }),
  'book.raise has a name that databases reserve: give it another one': withFields({
    raise: int({ min: 0, max: 9 }),
  }),
  'book.constructor has a name that databases reserve: give it another one': withFields({
    constructor: int({ min: 0, max: 9 }),
  }),
  // A column, and the check of a choice, that PostgreSQL would call otherwise.
  [`book.${'c'.repeat(64)} needs names of more than 63 letters in a database: use a shorter one`]:
    withFields({ ['c'.repeat(64)]: int({ min: 0, max: 9 }) }),
  [`book.${'c'.repeat(57)} needs names of more than 63 letters in a database: use a shorter one`]:
    withFields({ ['c'.repeat(57)]: choice(['a']) }),
  'book has no id: add id: id() to its fields': {
    fields: (({ id: _, ...rest }) => rest)(book.fields),
  },
  'book.id must be made with id() and without other options': [
    // An id that is a number.
    withFields({ id: int({ min: 0, max: 9 }) }),
    // An id that may be null.
    withFields({ id: { ...id(), nullable: true } }),
  ],
  'book.revision must be made with revision(), since each write raises it': [
    // A revision that is a text.
    withFields({ revision: { ...text({ max: 9 }), ...fixed, initial: { value: '' } } }),
    // A revision that is unique.
    withFields({ revision: { ...revision(), unique: 'CONFLICT' } }),
    // A revision that callers may set.
    withFields({ revision: int({ min: 0, max: 9 }) }),
  ],
  "book.note is unique: true, which is no error for a second row: make it unique: 'CONFLICT', or one of the content's own errors":
    withFields({ note: { ...text({ max: 9, nullable: true }), unique: true as never } }),
  'book.note goes from -1 to 9: give whole numbers, the least first': withFields({
    note: text({ min: -1, max: 9 }),
  }),
  'book.otherId is made with id(), which is for the id of the row itself: use reference()':
    withFields({ otherId: id() }),
  'book.writerId refers to writer, which is not an entity: name one of author, book': withFields({
    writerId: reference('writer', { onDelete: 'cascade' }),
  }),
  'book.partOfId refers to its own entity and may not be null, so that no first book can be made: make it nullable':
    withFields({ partOfId: reference('book', { onDelete: 'cascade' }) }),
  "book.writerId is set to null when its row is deleted and may not be null: make it nullable or choose onDelete: 'cascade'":
    withFields({ writerId: reference('author', { onDelete: 'set null' }) }),
  'book.key is folded from subtitle, which is not a field: name one of text': withFields({
    key: folded('subtitle'),
  }),
  'book.key is folded from inPrint, which is not a text of its own: name one that is': withFields({
    key: folded('inPrint'),
  }),
  'book.key is folded from note, which may be null: make both nullable': withFields({
    note: text({ max: 9, nullable: true }),
    key: folded('note'),
  }),
  'book.seen is reset by text, which is not another field: name one whose change takes it back':
    withFields({ seen: flag({ initial: { value: 0 }, resetBy: 'text' }) }),
  'book.seen is reset by mood, which is reset itself: name title, or another field': withFields({
    mood: choice(['glad', 'sad'], { initial: glad, resetBy: 'title' }),
    seen: flag({ initial: { value: 0 }, resetBy: 'mood' }),
  }),
  'book.seen is reset by title to nothing: give it an initial value': withFields({
    seen: flag({ resetBy: 'title' }),
  }),
  'book.seen has the initial value true, which its own rule refuses: give one that it takes, as it is stored, 1 or 0':
    withFields({ seen: flag({ initial: { value: true as unknown as 1 } }) }),
  'book.mood has the initial value "good", which its own rule refuses: give one that it takes, as it is stored':
    withFields({ mood: text({ max: 3, initial: { value: 'good' } }) }),
  'book.mood has the initial value " good", which its own rule refuses: give one that it takes, as it is stored':
    withFields({ mood: text({ max: 9, trimmed: true, initial: { value: ' good' } }) }),
  'book.size has the initial value 6, which its own rule refuses: give one that it takes, as it is stored':
    withFields({ size: int({ min: 0, max: 5, initial: { value: 6 } }) }),
  'book.price has the initial value 1.5, which its own rule refuses: give one that it takes, as it is stored':
    withFields({ price: money({ max: 5, initial: { value: 1.5 } }) }),
  'book.mood has the initial value "bad", which its own rule refuses: give one that it takes, as it is stored':
    withFields({ mood: { ...choice(['good']), initial: { value: 'bad' } } }),
  'book.at has the initial value "2026", which its own rule refuses: give one that it takes, as it is stored':
    withFields({ at: { ...time(), initial: { value: '2026' } } }),
  'book.seen has the initial value 2, which its own rule refuses: give one that it takes, as it is stored, 1 or 0':
    withFields({ seen: { ...flag(), initial: { value: 2 } } }),
  'book.writerId has the initial value 1, which its own rule refuses: give one that it takes, as it is stored':
    withFields({
      writerId: {
        ...reference('author', { onDelete: 'cascade' }),
        initial: { value: 1 },
      },
    }),
  'book.mood is null at first and may not be null: give it another initial value': withFields({
    mood: text({ max: 9, initial: { value: null } }),
  }),
  "book.size is not a time, so it cannot be 'now' at first": withFields({
    size: {
      ...int({ min: 0, max: 5 }),
      initial: 'now',
    },
  }),
  "book.size is not a reference, so it cannot be 'viewer' at first": withFields({
    size: {
      ...int({ min: 0, max: 5 }),
      initial: 'viewer',
    },
  }),
  'book.writerId is the viewer at first, and anonymous callers may create it: let only callers with a token create it, or make the field nullable':
    {
      ...withFields({ writerId: reference('author', { onDelete: 'cascade', initial: 'viewer' }) }),
      policy: { ...book.policy, create: anyone },
    },
  'the rule of book.note has authrId, which is not a field or relation of book: did you mean authorId?':
    withFields({ note: text({ max: 9, readableBy: { authrId: viewer } }) }),
  'settableBy of book.note has authrId, which is not a field or relation of book: did you mean authorId?':
    withFields({ note: text({ max: 9, settableBy: { authrId: viewer } }) }),
  'book.cover is bytes, which no API shows or takes: leave its options as bytes() has them':
    withFields({ cover: bytes({ rest: true }) }),
  'book.size goes from 5 to 0: give whole numbers, the least first': withFields({
    size: int({ min: 5, max: 0, initial: { value: null }, nullable: true }),
  }),
  'book.size goes from 0 to 1152921504606847000: give whole numbers, the least first': withFields({
    size: int({ min: 0, max: 2 ** 60, nullable: true }),
  }),
  'book.price goes up to 9007199254740991, and amounts are exact up to 9007199254740: give a smaller max':
    withFields({ price: money({ max: Number.MAX_SAFE_INTEGER, nullable: true }) }),
  'book.mood is a choice of nothing: give it values': withFields({
    mood: {
      ...choice(['good'], { nullable: true }),
      values: [],
    },
  }),
  'book.mood has the value good twice: leave one out': withFields({
    mood: choice(['good', 'good'], { nullable: true }),
  }),
  'book.mood has the value "go\\u0000od", and not every database stores NUL or a lone surrogate: give another value':
    withFields({ mood: choice(['go\0od'], { nullable: true }) }),
  'book.mood has the value "\\ud800", and not every database stores NUL or a lone surrogate: give another value':
    withFields({ mood: choice(['\ud800'], { nullable: true }) }),
  "book.mood is in the GraphQL API as input only, and nobody may set it: make it graphql: 'hidden'":
    withFields({ mood: text({ max: 9, nullable: true, graphql: 'input', settableBy: nobody }) }),
  'book has texts of up to 2000060 bytes together, more than the 2000000 of a row: let them be shorter':
    withFields({ story: text({ max: 500_000, nullable: true }) }),
  'book is on a view, whose rows are only read: leave out counted, rest.writes, writes in rest.nested, graphql.mutations, rules for writes':
    { view: true, counted: ['genre'] },
  'book.mood goes from 0 to 100000 with 10 decimals, more than the 15 digits that are exact: give a smaller range or scale':
    withFields({ mood: decimal({ scale: 10, min: 0, max: 100_000, nullable: true }) }),
  'book.mood has a pattern with the flags i, which documents of the API cannot tell: use none but u or v':
    withFields({ mood: text({ max: 9, nullable: true, pattern: /^a$/i }) }),
  'book.mood is a list of what no list can have: let its items be texts, numbers, days, times or flags, without nulls and initial values':
    withFields({ mood: list(money({ max: 9 }), { max: 3, nullable: true }) }),
  'book.slug is made of inPrint, which is not another text: name one of its fields that is':
    withFields({ slug: slug({ from: 'inPrint' }) }),
  'book.slug is too short for the suffix of a second one: let its max be 20 or more': withFields({
    slug: slug({ from: 'title', max: 10 }),
  }),
  'book.sum has mood in its formula, which is no field with a value of its own: name texts, numbers, amounts, days or times of its entity':
    withFields({
      sum: computed({ as: int({ min: 0, max: 9 }), from: { plus: ['mood', 'mood'] } }),
    }),
  'book.slug is made of title, which fewer may read: give what it is the same readableBy':
    withFields({
      title: text({ max: 20, readableBy: { inPrint: true } }),
      slug: slug({ from: 'title' }),
    }),
  'book.sum is computed of pages, which fewer may read: give its as the same readableBy':
    withFields({
      pages: int({ min: 0, max: 9, nullable: true, readableBy: nobody }),
      sum: computed({ as: int({ min: 0, max: 9, nullable: true }), from: { plus: ['pages'] } }),
    }),
  'book.sum is int with 0 decimals, and its formula gives a text: make it one': withFields({
    sum: computed({ as: int({ min: 0, max: 9 }), from: { concat: ['title'] } }),
  }),
  'book.label may be from 0 to 12 by its formula: let its range hold that': withFields({
    label: computed({ as: text({ max: 11 }), from: { concat: ['title', { text: '!!' }] } }),
  }),
  'book.sum may be null by its formula: make what it is in `as` nullable, or let coalesce give a value':
    withFields({
      pages: int({ min: 0, max: 9, nullable: true }),
      sum: computed({ as: int({ min: 0, max: 18 }), from: { plus: ['pages', 'pages'] } }),
    }),
  'book.loans counts readers, and readers is no relation to many rows: name one of its entity':
    withFields({ loans: count('readers') }),
  'book.lent counts loans, which fewer may read: give what it keeps the same readableBy': [
    counting({}, admin),
    { ...counting({}, signedIn), policy: { ...book.policy, read: signedIn, enter: anyone } },
    { ...counting({}, admin), policy: { ...book.policy, read: admin } },
  ],
  "book.lent counts loans, some of which are hidden from readers of it, among them those who update its row: let where say what those are that all its readers see, such as where: { state: 'public' }, narrow its readableBy, or count what each caller sees by totalCount and aggregate":
    [
      counting({}, [anyone.where({ isOpen: true }), admin]),
      counting({ where: { isOpen: false } }, [anyone.where({ isOpen: true }), admin]),
      counting({ where: { isOpen: true } }, [signedIn.where({ isOpen: true }), admin]),
      counting({}, anyone.where({ book: { title: 'a' } })),
      {
        ...counting({}, anyone.where({ book: { title: 'a' } })),
        policy: { ...book.policy, read: anyone.where({ title: 'a' }) },
      },
    ],
  'book.lent counts loans where label is "ax": name a choice or a flag of loan that is not computed, and a value of it':
    counting({ where: { label: 'ax' } }, anyone),
  'book.lent counts loans where isOpen is "yes": name a choice or a flag of loan that is not computed, and a value of it':
    counting({ where: { isOpen: 'yes' } }, anyone),
  'book.lent counts loans where it is null: name a choice or a flag of loan that is not computed, and a value of it':
    counting({ where: null as never }, anyone),
  "book.cover accepts no file: give it media types, as accept: ['image/png']": withFields({
    cover: file({ accept: [], max: '1 MB', nullable: true }),
  }),
  'book.cover accepts "png", which is no media type: write it as image/png, or image/* for all of a kind':
    withFields({ cover: file({ accept: ['png'], max: '1 MB', nullable: true }) }),
  "book.cover has a max that is no size: give whole bytes, or a text such as '5 MB', up to 2 GB": (
    ['5 mb', '', 'much', -1, 0, 1.5, '3 GB', Number.NaN] as const
  ).map(max => withFields({ cover: file({ accept: ['image/png'], max, nullable: true }) })),
  'book.cover has the size 0: give widths in whole pixels, 16 to 4096': withFields({
    cover: file({ accept: ['image/png'], max: 9, sizes: [320, 0], nullable: true }),
  }),
  'book.cover has a size twice: leave one out': withFields({
    cover: file({ accept: ['image/png'], max: 9, sizes: [32, 32], nullable: true }),
  }),
  'book.cover has sizes, which are of pictures, and accepts other files: let it accept image types only':
    withFields({
      cover: file({
        accept: ['image/png', 'application/pdf'],
        max: 9,
        sizes: [32],
        nullable: true,
      }),
    }),
  'book.cover has exif, which is of pictures, and accepts none: leave exif out': withFields({
    cover: file({ accept: ['application/pdf'], max: 9, exif: 'kept', nullable: true }),
  }),
  'book.cover is a file, which no other row can have the same of: leave unique out': withFields({
    cover: file({ accept: ['image/*'], max: 1, nullable: true, unique: true }),
  }),
  'book.cover is moved from pictures, and callers set it meanwhile: let an action write it, with settableBy: nobody':
    withFields({
      cover: file({ accept: ['image/*'], max: 9, nullable: true, movedFrom: former('pictures') }),
    }),
  'book.cover is moved from authors, the table of author, which is dropped in the end: leave that entity out':
    withFields({
      cover: file({
        ...{ accept: ['image/*'], max: 9, nullable: true },
        ...{ movedFrom: former('authors'), settableBy: nobody },
      }),
    }),
  'book.cover is a file, which has one address in all versions: leave until and from out':
    withFields({
      cover: file({ accept: ['image/*'], max: 9, nullable: true, until: { 1: { name: 'image' } } }),
    }),
  'book.cover is a file, and loan has the path /files, to which files are sent: give loan another plural':
    {
      ...withFields({ cover: file({ accept: ['image/*'], max: 9, nullable: true }) }),
      others: { loan: changed(loan, { plural: 'files' }) },
    },
})

test('a count is of rows that all its readers may read, by the form of the rules', () => {
  const isOpen = { isOpen: true }
  const own = self('authorId')
  for (const { others, ...one } of [
    counting({ readableBy: admin }, admin),
    counting({ where: isOpen }, [anyone.where(isOpen), admin]),
    counting(
      {},
      signedIn.where({ book: { title: 'a' } }),
      ruleOf([signedIn.where({ title: 'a' }), admin]),
    ),
    counting({ readableBy: nobody }, nobody),
    counting({ readableBy: own }, [anyone.where(isOpen), self('book.authorId')]),
  ])
    assert.deepEqual(faultsOf(one, others), [])
})
