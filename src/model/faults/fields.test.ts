/** Fields that no API or database could serve, each with the sentence that says so. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { viewer } from '#model/condition.ts'
import { many } from '#model/entity.ts'
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
import { anyone, nobody } from '#model/policy.ts'
import {
  areTold,
  author,
  book,
  changed,
  faultsOf,
  glad,
  withField,
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

areTold([
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
    'a field with a word of which SQLite can make no index',
    'book.raise has a name that databases reserve: give it another one',
    withField('raise', int({ min: 0, max: 9 })),
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
    withField('writerId', reference('writer', { onDelete: 'cascade' })),
  ],
  [
    'a reference to its own entity that may not be null',
    'book.partOfId refers to its own entity and may not be null, so that no first book can be made: make it nullable',
    withField('partOfId', reference('book', { onDelete: 'cascade' })),
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
    'a field that is reset by one that is reset itself',
    'book.seen is reset by mood, which is reset itself: name title, or another field',
    {
      fields: {
        ...book.fields,
        mood: choice(['glad', 'sad'], { initial: glad, resetBy: 'title' }),
        seen: flag({ initial: { value: 0 }, resetBy: 'mood' }),
      },
    },
  ],
  [
    'a field that is reset to nothing',
    'book.seen is reset by title to nothing: give it an initial value',
    withField('seen', flag({ resetBy: 'title' })),
  ],
  [
    'an initial flag as callers give it',
    'book.seen has the initial value true, which its own rule refuses: give one that it takes, as it is stored, 1 or 0',
    withField('seen', flag({ initial: { value: true as unknown as 1 } })),
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
    'book.seen has the initial value 2, which its own rule refuses: give one that it takes, as it is stored, 1 or 0',
    withField('seen', { ...flag(), initial: { value: 2 } }),
  ],
  [
    'an initial reference',
    'book.writerId has the initial value 1, which its own rule refuses: give one that it takes, as it is stored',
    withField('writerId', {
      ...reference('author', { onDelete: 'cascade' }),
      initial: { value: 1 },
    }),
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
      ...withField('writerId', reference('author', { onDelete: 'cascade', initial: 'viewer' })),
      policy: { ...book.policy, create: anyone },
    },
  ],
  [
    'a field that only its owner may read, by what is not a field',
    'the rule of book.note has authrId, which is not a field or relation of book: did you mean authorId?',
    withField('note', text({ max: 9, readableBy: { authrId: viewer } })),
  ],
  [
    'a field that only its owner may set, by what is not a field',
    'settableBy of book.note has authrId, which is not a field or relation of book: did you mean authorId?',
    withField('note', text({ max: 9, settableBy: { authrId: viewer } })),
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
    withField('mood', { ...choice(['good'], { nullable: true }), values: [] }),
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
  [
    'a view that is written',
    'book is on a view, whose rows are only read: leave out counted, rest.writes, writes in rest.nested, graphql.mutations, rules for writes',
    { view: true, counted: ['genre'] },
  ],
  [
    'a decimal of more digits than are exact',
    'book.mood goes from 0 to 100000 with 10 decimals, more than the 15 digits that are exact: give a smaller range or scale',
    withField('mood', decimal({ scale: 10, min: 0, max: 100_000, nullable: true })),
  ],
  [
    'a pattern with a flag',
    'book.mood has a pattern with the flags i, which documents of the API cannot tell: use none but u or v',
    withField('mood', text({ max: 9, nullable: true, pattern: /^a$/i })),
  ],
  [
    'a list of amounts',
    'book.mood is a list of what no list can have: let its items be texts, numbers, days, times or flags, without nulls and initial values',
    withField('mood', list(money({ max: 9 }), { max: 3, nullable: true })),
  ],
  [
    'a slug of a number',
    'book.slug is made of inPrint, which is not another text: name one of its fields that is',
    withField('slug', slug({ from: 'inPrint' })),
  ],
  [
    'a slug without room for a suffix',
    'book.slug is too short for the suffix of a second one: let its max be 20 or more',
    withField('slug', slug({ from: 'title', max: 10 })),
  ],
  [
    'a formula of what is not there',
    'book.sum has mood in its formula, which is no field with a value of its own: name texts, numbers, amounts, days or times of its entity',
    withField('sum', computed({ as: int({ min: 0, max: 9 }), from: { plus: ['mood', 'mood'] } })),
  ],
  [
    'a slug of what is read by row',
    'book.slug is made of title, which fewer may read: give what it is the same readableBy',
    {
      fields: {
        ...book.fields,
        title: text({ max: 20, readableBy: { inPrint: true } }),
        slug: slug({ from: 'title' }),
      },
    },
  ],
  [
    'a formula of what fewer may read',
    'book.sum is computed of pages, which fewer may read: give what it is the same readableBy',
    {
      fields: {
        ...book.fields,
        pages: int({ min: 0, max: 9, nullable: true, readableBy: nobody }),
        sum: computed({ as: int({ min: 0, max: 9, nullable: true }), from: { plus: ['pages'] } }),
      },
    },
  ],
  [
    'a formula of another kind',
    'book.sum is int with 0 decimals, and its formula gives a text: make it one',
    withField('sum', computed({ as: int({ min: 0, max: 9 }), from: { concat: ['title'] } })),
  ],
  [
    'a formula beyond the range of its field',
    'book.label may be from 0 to 12 by its formula: let its range hold that',
    withField(
      'label',
      computed({ as: text({ max: 11 }), from: { concat: ['title', { text: '!!' }] } }),
    ),
  ],
  [
    'a formula that may be null',
    'book.sum may be null by its formula: make it nullable',
    {
      fields: {
        ...book.fields,
        pages: int({ min: 0, max: 9, nullable: true }),
        sum: computed({ as: int({ min: 0, max: 18 }), from: { plus: ['pages', 'pages'] } }),
      },
    },
  ],
  [
    'a count of no relation',
    'book.loans counts readers, and readers is no relation to many rows: name one of its entity',
    withField('loans', count('readers')),
  ],
  [
    'a count of rows that fewer may read',
    'book.lent counts loans, which fewer may read: give what it keeps the same readableBy',
    {
      fields: { ...book.fields, lent: count('loans') },
      relations: { ...book.relations, loans: many('loan', 'bookId') },
    },
    { loan },
  ],
  [
    'a file of no type',
    "book.cover accepts no file: give it media types, as accept: ['image/png']",
    withField('cover', file({ accept: [], max: '1 MB', nullable: true })),
  ],
  [
    'a file of what is no type',
    'book.cover accepts "png", which is no media type: write it as image/png, or image/* for all of a kind',
    withField('cover', file({ accept: ['png'], max: '1 MB', nullable: true })),
  ],
  ...(['5 mb', '', 'much', -1, 0, 1.5, '3 GB', Number.NaN] as const).map(
    max =>
      [
        `a file of at most ${JSON.stringify(max)}`,
        "book.cover has a max that is no size: give whole bytes, or a text such as '5 MB', up to 2 GB",
        withField('cover', file({ accept: ['image/png'], max, nullable: true })),
      ] as const,
  ),
  [
    'a picture of a size that nobody sees',
    'book.cover has the size 0: give widths in whole pixels, 16 to 4096',
    withField('cover', file({ accept: ['image/png'], max: 9, sizes: [320, 0], nullable: true })),
  ],
  [
    'a picture of one size twice',
    'book.cover has a size twice: leave one out',
    withField('cover', file({ accept: ['image/png'], max: 9, sizes: [32, 32], nullable: true })),
  ],
  [
    'sizes of what is no picture',
    'book.cover has sizes or exif, which are of pictures, and accepts other files: let it accept image types only',
    withField('cover', file({ accept: ['application/pdf'], max: 9, sizes: [32], nullable: true })),
  ],
  [
    'a unique file',
    'book.cover is a file, which no other row can have the same of: leave unique out',
    withField('cover', file({ accept: ['image/*'], max: 1, nullable: true, unique: true })),
  ],
  [
    'a file with another name in a version',
    'book.cover is a file, which has one address in all versions: leave until and from out',
    withField(
      'cover',
      file({ accept: ['image/*'], max: 9, nullable: true, until: { 1: { name: 'image' } } }),
    ),
  ],
  [
    'a file beside an entity whose path is that of uploads',
    'book.cover is a file, and loan has the path /files, to which files are sent: give loan another plural',
    withField('cover', file({ accept: ['image/*'], max: 9, nullable: true })),
    { loan: changed(loan, { plural: 'files' }) },
  ],
])

test('a count of rows that fewer may read is right for those alone', () => {
  const lent = count('loans', { readableBy: admin, rest: false })
  const relations = { ...book.relations, loans: many('loan', 'bookId') }
  assert.deepEqual(faultsOf({ fields: { ...book.fields, lent }, relations }, { loan }), [])
})
