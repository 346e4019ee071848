/** Attacks by what callers can ask: each is refused or bounded, and its answer tells nothing of rows and fields that are hidden from them. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { viewer } from '#model/condition.ts'
import { entity, many, one } from '#model/entity.ts'
import {
  choice,
  date,
  flag,
  folded,
  id,
  int,
  list,
  money,
  reference,
  revision,
  text,
  time,
} from '#model/field.ts'
import type { Entities } from '#model/model.ts'
import { anyone, signedIn } from '#model/policy.ts'
import { engines } from '../generated/compare.ts'
import { member } from '../generated/models.ts'
import { type Kitchen, kitchenOn } from '../support/cooking.ts'
import { admin } from '../support/roles.ts'

const listing = { paging: 'page', limit: 20 } as const
const usual = { description: '', rest: { list: true, one: true, listing } } as const
const writes = { writes: ['create'] } as const

const entities: Entities = {
  member,
  shelf: entity({
    ...usual,
    plural: 'shelves',
    fields: { id: id(), label: text({ max: 40 }), secret: flag() },
    relations: { books: many('book', 'shelfId') },
    indexes: [['label']],
    policy: { read: anyone.where({ secret: false }), create: admin },
    rest: { ...usual.rest, ...writes },
  }),
  book: entity({
    ...usual,
    fields: {
      id: id(),
      title: text({ max: 400 }),
      titleKey: folded('title', { indexed: true }),
      price: money({ max: 1000 }),
      pages: int({ min: 0, max: 2000, nullable: true }),
      kind: choice(['paper', 'sound']),
      day: date({ nullable: true }),
      madeAt: time({ nullable: true }),
      words: list(text({ max: 20 }), { max: 9 }),
      code: text({ max: 40, readableBy: admin, rest: false, initial: { value: 'none' } }),
      margin: int({ min: 0, max: 99, readableBy: { owner: viewer } }),
      open: flag(),
      shelfId: reference('shelf', { onDelete: 'cascade', nullable: true }),
      ownerId: reference('member', { onDelete: 'cascade', nullable: true }),
      revision: revision(),
    },
    relations: {
      shelf: one('shelf', 'shelfId'),
      owner: one('member', 'ownerId'),
      lines: many('line', 'bookId', { nestedWrites: true }),
      tags: many('tag', { through: 'mark' }),
    },
    search: ['title'],
    bulk: true,
    policy: {
      read: [anyone.where({ open: true }), signedIn.where({ owner: viewer })],
      create: signedIn,
      update: signedIn.where({ owner: viewer }),
      delete: signedIn.where({ owner: viewer }),
    },
    rest: {
      ...usual.rest,
      ...writes,
      listing: { ...listing, filters: { title: { kind: 'contains', field: 'titleKey' } } },
    },
    graphql: { paged: true, mutations: ['create', 'update', 'delete'] },
  }),
  line: entity({
    ...usual,
    fields: {
      id: id(),
      text: text({ max: 2000 }),
      bookId: reference('book', { onDelete: 'cascade' }),
      aboveId: reference('line', { onDelete: 'set null', nullable: true }),
    },
    relations: { book: one('book', 'bookId'), above: one('line', 'aboveId') },
    policy: { read: anyone, create: signedIn },
    rest: { ...usual.rest, writes: ['create'] },
  }),
  tag: entity({
    ...usual,
    fields: { id: id(), slug: text({ max: 20 }) },
    relations: { books: many('book', { through: 'mark' }) },
    policy: { read: anyone, create: admin },
    rest: { ...usual.rest, ...writes },
  }),
  mark: entity({
    ...usual,
    fields: {
      id: id(),
      bookId: reference('book', { onDelete: 'cascade' }),
      tagId: reference('tag', { onDelete: 'cascade' }),
    },
    relations: { book: one('book', 'bookId'), tag: one('tag', 'tagId') },
    policy: { read: anyone.where({ book: { open: true } }), create: admin },
    rest: { ...usual.rest, ...writes },
  }),
} as never

/** The rows of a world, in the order in which they are made; what is hidden is another in each world. */
const rowsIn = (world: 0 | 1): readonly (readonly [string, Record<string, unknown>])[] => {
  const either = <Value>(one: Value, other: Value) => (world === 0 ? one : other)
  const book = (title: string, more: object = {}) =>
    [
      'books',
      {
        ...{ title, price: 10, pages: 100, kind: 'paper', day: '2026-01-31', words: ['a', 'b'] },
        ...{ madeAt: '2026-01-02T03:04:05.678Z', open: true, shelfId: 1, ownerId: 1 },
        margin: 5,
        ...more,
      },
    ] as const
  return [
    ['shelves', { label: 'low', secret: false }],
    ['shelves', { label: either('kept aaa', 'kept zzz'), secret: true }],
    ['tags', { slug: 'x' }],
    ['tags', { slug: 'y' }],
    book('Élan of cafés'),
    book('100% _sure\\ "thing"', { price: 20.5, pages: null, ownerId: 3, margin: either(1, 99) }),
    book(either('hidden aaa', 'hidden zzz café'), {
      ...{ open: false, ownerId: 3, price: either(1, 999), pages: either(1, 1999) },
      ...{ kind: either('paper', 'sound'), day: either('1990-01-01', '2030-01-01') },
      ...{ shelfId: either(1, 2), words: either(['a'], ['zzz']) },
    }),
    book('on the hidden shelf', { shelfId: 2, kind: 'sound', day: null, madeAt: null }),
    ['lines', { text: 'of a book', bookId: 1 }],
    ['lines', { text: 'of the hidden one', bookId: 3 }],
    ['marks', { bookId: 1, tagId: 1 }],
    ['marks', { bookId: 3, tagId: either(1, 2) }],
  ]
}

type Attack = {
  readonly what: string
  /** How it is answered: the status, and the codes of its errors. */
  readonly bound: string
  readonly line: string
  readonly body?: unknown
  /** A body that is no JSON. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}

const times = <Value>(count: number, make: (at: number) => Value): readonly Value[] =>
  Array.from({ length: count }, (_, at) => make(at))

/** A value so many levels deep. */
const nested = (levels: number, around: (inner: unknown) => unknown, inner: unknown): unknown => {
  let value = inner
  for (let level = 0; level < levels; level++) value = around(value)
  return value
}

const refused = '200 BAD_USER_INPUT'
const unreadable = '200 FORBIDDEN'
const answered = '200'
/** A field that GraphQL alone shows. */
const unknownInRest = '422 VALIDATION_ERROR'

/** By a document, with variables where they are needed. */
const gql = (what: string, bound: string, query: string, variables?: unknown): Attack => ({
  what,
  bound,
  line: 'POST /graphql',
  body: { query, variables },
})

/** The most bytes of a QUERY. */
const mostQueried = 16_384

/** What REST answers to a condition that GraphQL answers so. */
const inRest: Readonly<Record<string, string>> = {
  [refused]: '422 VALIDATION_ERROR',
  [unreadable]: '403 FORBIDDEN',
}

/** By the condition of a list, in a variable and in the body of a QUERY of rows and of groups. */
const asks = (
  what: string,
  bound: string,
  where: unknown,
  rest = JSON.stringify({ where }).length > mostQueried
    ? '413 PAYLOAD_TOO_LARGE'
    : (inRest[bound] ?? bound),
): readonly Attack[] => [
  gql(
    what,
    bound,
    'query ($w: BookWhere) { books(where: $w) { id } booksAggregate(where: $w) { count } }',
    { w: where },
  ),
  ...['books', 'books/aggregate'].map(list => ({
    what: `${what}, in a QUERY of ${list}`,
    bound: rest,
    line: `QUERY /api/v2/${list}`,
    body: { where },
  })),
]

/** By a path of the REST API. */
const get = (what: string, bound: string, path: string): Attack => ({
  what,
  bound,
  line: `GET /api/v2/${path}`,
})

const books = (given: string) => `{ books(${given}) { id title } }`
const groups = (given: string, members = 'count') =>
  `{ booksAggregate${given === '' ? '' : `(${given})`} { ${members} } }`

const conditions: readonly Attack[] = [
  ...asks(
    'a condition 7 deep',
    refused,
    nested(6, not => ({ not }), { pages: { eq: 1 } }),
  ),
  ...asks(
    'a condition 2,000 deep',
    '400 MALFORMED_REQUEST',
    nested(2000, not => ({ not }), {}),
  ),
  ...asks('a wide or', refused, { or: times(31, at => ({ pages: { eq: at } })) }),
  ...asks('an or of 9,000 empty parts', refused, { or: times(9000, () => ({})) }),
  ...asks('an in of 101 values', refused, { pages: { in: times(101, at => at) } }),
  ...asks('an in of 100,000 values', refused, { pages: { in: times(100_000, at => at) } }),
  ...asks('30 short lists of 100 values', answered, {
    or: times(30, () => ({ pages: { in: times(100, value => value) } })),
  }),
  ...asks('30 lists of 100 values', answered, {
    or: times(30, at => ({ pages: { in: times(100, value => at * 1000 + value) } })),
  }),
  ...asks('relations there and back', refused, {
    shelf: { books: { some: { shelf: { books: { some: { shelf: { books: { none: {} } } } } } } } },
  }),
  ...asks('no member by its prototype', refused, JSON.parse('{"__proto__":{"eq":1}}')),
  ...asks('no member that all objects have', refused, { constructor: { eq: 1 } }),
  ...asks('no operator that all objects have', refused, { pages: { toString: 1 } }),
  ...asks('a field of others’ rows', unreadable, { margin: { gte: 0 } }),
  ...asks('a field of admins', unreadable, { not: { code: { eq: 'aaa' } } }, unknownInRest),
  ...asks(
    'a field of admins below a relation',
    unreadable,
    {
      shelf: { books: { some: { code: { ne: 'b' } } } },
    },
    unknownInRest,
  ),
  ...asks('whether a hidden row is there', answered, { not: { shelf: { id: { isNull: false } } } }),
  ...asks('whether a hidden row fits', answered, {
    or: [{ shelf: { label: { eq: 'kept aaa' } } }, { not: { shelf: { label: { ne: '' } } } }],
  }),
  gql(
    'rows that refer to a hidden one',
    answered,
    `{ lines(where: { book: { price: { lt: 5 } } }) { id }
      not: lines(where: { not: { book: { price: { lt: 5 } } } }) { id book { id } }
      tags(where: { books: { none: { kind: { eq: SOUND } } } }) { id } }`.replace('SOUND', 'sound'),
  ),
  gql('a number beyond all', refused, books('where: { price: { gt: 1e400 } }')),
  gql(
    'a number beyond all, in a variable',
    refused,
    'query ($n: Float) { books(where: { price: { lt: $n } }) { id } }',
    { n: '1e400' },
  ),
  gql('a number read as another', refused, books('where: { price: { lt: 1e-400 } }')),
  gql('an id beyond what is exact', refused, books('where: { id: { eq: "9007199254740993" } }')),
  gql('an amount beyond what is exact', answered, books('where: { price: { lt: 1e300 } }')),
  gql('a day that is none', refused, books('where: { day: { lt: "2026-02-30" } }')),
  gql('a day far away', refused, books('where: { day: { lt: "10000-01-01" } }')),
  gql('a time far away', refused, books('where: { madeAt: { lt: "+275760-09-14T00:00:00Z" } }')),
  gql(
    'the prices of aliases',
    '200 QUERY_TOO_COMPLEX',
    `{ ${times(20, at => `a${at}: books(where: { or: [${times(6, n => `{ pages: { eq: ${n} } }`).join()}] }) { id }`).join(' ')} }`,
  ),
  gql(
    'the prices of fragments',
    '200 QUERY_TOO_COMPLEX',
    `{ shelves { ...A } } fragment A on Shelf { ${times(20, at => `b${at}: books(where: { or: [${times(6, n => `{ pages: { eq: ${n} } }`).join()}] }) { id }`).join(' ')} }`,
  ),
  gql(
    'a fragment spread again and again',
    '200 QUERY_TOO_COMPLEX',
    `{ ${'...A '.repeat(200)} } fragment A on Query { books(where: { tags: { some: { slug: { eq: "x" } } } }) { id } }`,
  ),
]

const texts: readonly Attack[] = [
  ...['contains', 'startsWith'].flatMap(operator => [
    ...asks(`${operator}: 200 wildcards`, answered, { title: { [operator]: '%'.repeat(200) } }),
    ...asks(`${operator}: wildcards in turns`, answered, {
      title: { [operator]: '%_'.repeat(99) },
    }),
    ...asks(`${operator}: 201 letters`, refused, { title: { [operator]: 'a'.repeat(201) } }),
    ...asks(`${operator}: letters that stand for 18 each`, answered, {
      title: { [operator]: '\ufdfa'.repeat(200) },
    }),
    ...asks(`${operator}: half a character`, refused, { title: { [operator]: '\ud83d' } }),
    ...asks(`${operator}: NUL`, refused, { title: { [operator]: 'a\u0000b' } }),
    ...asks(`${operator}: half a million letters`, refused, {
      title: { [operator]: 'a'.repeat(500_000) },
    }),
    ...asks(`${operator}: letters composed of two`, answered, {
      title: { [operator]: 'E\u0301lan' },
    }),
    ...asks(`${operator}: an escape at the end`, answered, { title: { [operator]: '\\' } }),
  ]),
  ...(
    [
      ['13 words', refused, times(13, at => `w${at}`).join(' ')],
      ['600 letters', refused, 'a'.repeat(600)],
      ['half a million letters', refused, 'a '.repeat(250_000)],
      ['the language of an index', answered, '") OR title:* NEAR(a b) -x ^y {z}'],
      ['operators of an index', answered, "café & !thing | (sure <-> x):*'"],
      ['half a character', answered, '\ud83d'],
      ['NUL', answered, 'a\u0000b'],
      ['nothing but marks', answered, '\u0301'.repeat(100)],
      ['a word of a hidden row', answered, 'hidden'],
    ] as const
  ).map(([what, bound, search]) =>
    gql(
      `a search for ${what}`,
      bound,
      'query ($s: String) { booksConnection(search: $s, orderBy: [{ relevance: DESC }]) { totalCount edges { cursor node { id } } } }',
      { s: search },
    ),
  ),
]

const sums: readonly Attack[] = [
  gql('groups by five fields', refused, groups('groupBy: [price, pages, kind, day, open]')),
  gql('groups by every row', answered, groups('groupBy: [price], limit: 1000000', 'price count')),
  gql('fewer groups than none', answered, groups('groupBy: [price], limit: -5', 'price count')),
  gql('the least of a hidden field', unreadable, groups('', 'min { code }')),
  gql('the sum of a hidden field', unreadable, groups('', 'sum { margin }')),
  gql('groups by a hidden field', unreadable, groups('groupBy: [code]')),
  gql(
    'having a hidden field',
    unreadable,
    groups('groupBy: [kind], having: { min: { code: { eq: "aaa" } } }'),
  ),
  gql(
    'groups ordered by a hidden field',
    unreadable,
    groups('groupBy: [kind], orderBy: [{ max: { margin: DESC } }]'),
  ),
  gql(
    'all that is known of all rows',
    answered,
    groups(
      '',
      'count sum { price pages } avg { price } min { title day } max { title madeAt price }',
    ),
  ),
  gql('having 31 times', refused, groups(`having: { or: [${'{ count: { eq: 1 } }'.repeat(31)}] }`)),
  gql(
    'having 20 deep',
    refused,
    groups(`having: ${'{ not: '.repeat(20)}{ count: { eq: 1 } }${'}'.repeat(20)}`),
  ),
  ...['Mars/Base', '../../etc/passwd', 'UTC\u0000', '+99:99', 'A'.repeat(10_000), ''].map(
    (timeZone, at) =>
      gql(
        `a time zone that is none, ${at}`,
        refused,
        'query ($z: String) { booksAggregate(groupBy: [madeAtDay], timeZone: $z) { madeAtDay count } }',
        { z: timeZone },
      ),
  ),
]

const across = (key: string) =>
  `{ lines(orderBy: [{ above: { above: { above: { ${key} } } } }]) { id } }`

const lists: readonly Attack[] = [
  gql('an order by a field of admins', unreadable, books('orderBy: [{ code: ASC }]')),
  gql('an order by a field of others’ rows', unreadable, books('orderBy: [{ margin: DESC }]')),
  gql(
    'an order by hidden rows',
    answered,
    '{ lines(orderBy: [{ book: { price: DESC } }]) { id } linesConnection(orderBy: [{ book: { title: ASC } }]) { edges { cursor } } books(orderBy: [{ shelf: { label: ASC } }]) { id } }',
  ),
  gql('an order across three relations', answered, across('id: ASC')),
  gql('an order across four relations', refused, across('book: { id: ASC }')),
  gql('an order by five keys', refused, books(`orderBy: [${'{ pages: ASC }'.repeat(5)}]`)),
  gql(
    'the same key of an order again',
    answered,
    books(`orderBy: [${'{ pages: ASC }'.repeat(4)}]`),
  ),
  gql(
    'all of all lists counted',
    answered,
    '{ booksConnection(where: { pages: { ne: 1 } }) { totalCount } linesConnection(where: { text: { ne: "" } }) { totalCount } marksConnection { totalCount } }',
  ),
  gql('a page of fewer than none', refused, '{ booksConnection(first: -1) { totalCount } }'),
  gql('a page of all', answered, '{ booksConnection(first: 2147483647) { edges { cursor } } }'),
  gql(
    'a page from both ends',
    refused,
    '{ booksConnection(first: 1, last: 1) { edges { cursor } } }',
  ),
  gql('an offset beyond all', answered, books('offset: 2147483647')),
  gql('a cursor of nothing', refused, '{ booksConnection(after: "") { totalCount } }'),
  gql(
    'a cursor of 100,000 letters',
    refused,
    'query ($c: String) { booksConnection(after: $c) { totalCount } }',
    { c: 'A'.repeat(100_000) },
  ),
]

const addresses: readonly Attack[] = [
  get('a member by its prototype', '422 VALIDATION_ERROR', 'books?__proto__%5Beq%5D=1'),
  get(
    'a member that all objects have',
    '422 VALIDATION_ERROR',
    'books?constructor=1&constructor%5Beq%5D=1',
  ),
  get('fields of no object', '422 VALIDATION_ERROR', 'books?sort=__proto__,constructor'),
  get('groups by no field', '422 VALIDATION_ERROR', 'books/aggregate?group=__proto__'),
  get(
    'measures of no field',
    '422 VALIDATION_ERROR',
    'books/aggregate?sum=constructor&min=__proto__',
  ),
  get(
    'having no measure',
    '422 VALIDATION_ERROR',
    'books/aggregate?having%5B__proto__%5D%5Bgte%5D=1',
  ),
  get(
    'having no operator',
    '422 VALIDATION_ERROR',
    'books/aggregate?having%5Bcount%5D%5BtoString%5D=1',
  ),
  get('a hidden field summed', '403 FORBIDDEN', 'books/aggregate?sum=margin'),
  get('a hidden field grouped', '403 FORBIDDEN', 'books/aggregate?group=margin'),
  get('a hidden field ordered by', '403 FORBIDDEN', 'books?sort=margin'),
  get('a bogus time zone', '422 VALIDATION_ERROR', 'books/aggregate?group=madeAtDay&tz=Mars/Base'),
  get('one parameter 500 times', '422 VALIDATION_ERROR', `books?${'title%5Beq%5D=a&'.repeat(240)}`),
  get(
    'a path of relations, again and again',
    '422 VALIDATION_ERROR',
    `books?${'tags.books.'.repeat(90)}id=1`,
  ),
  get('a search for half a character', '400 MALFORMED_REQUEST', 'books?search=%ED%A0%80'),
  get('a number beyond all', '422 VALIDATION_ERROR', 'books?page=1e400'),
  get('a limit beyond all', answered, 'books?limit=99999999'),
  get('a cursor of another list', '422 VALIDATION_ERROR', 'lines?cursor=AAAA'),
  {
    what: 'a body 10,000 deep',
    bound: '400 MALFORMED_REQUEST',
    line: 'POST /api/v2/books',
    body: nested(10_000, inner => [inner], 1),
  },
  {
    what: '5,000 parameters in a body',
    bound: '422 VALIDATION_ERROR',
    line: 'QUERY /api/v2/books',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    text: 'a=1&'.repeat(4000),
  },
]

const create = 'mutation ($i: [CreateBookInput!]!) { createBooks(inputs: $i) { count } }'
const aBook = { price: 1, kind: 'paper', words: [], margin: 1, open: true }

const written: readonly Attack[] = [
  gql('1,001 rows', refused, create, { i: times(1001, () => ({ ...aBook, title: 'a' })) }),
  {
    ...gql('1,000 large rows', '413 PAYLOAD_TOO_LARGE', create, {
      i: times(1000, () => ({
        ...aBook,
        title: 'a',
        lines: { create: [{ text: 'a'.repeat(1000) }] },
      })),
    }),
  },
  gql('1,001 parts', refused, create, {
    i: [{ ...aBook, title: 'a', lines: { create: times(1001, () => ({ text: 'a' })) } }],
  }),
  gql('a hidden field set in 1,000 faulty rows', refused, create, {
    i: times(1000, () => ({ ...aBook, title: '', price: -1 })),
  }),
]

/** A trial of a change of all rows that fit a condition, by both APIs. */
const tries = (what: string, bound: string, codes: string, where: unknown): readonly Attack[] => [
  {
    what: `a change of ${what}`,
    bound,
    line: 'POST /api/v2/books/bulk',
    body: { update: { pages: 7 }, where, dryRun: true },
  },
  gql(
    `a change of ${what}`,
    codes,
    'mutation ($w: BookWhere) { updateBooks(where: $w, input: { pages: 7 }, dryRun: true) { count ids } }',
    { w: where },
  ),
]

const fits30 = { or: times(30, at => ({ title: { contains: `zz${at}` } })) }

const changed: readonly Attack[] = [
  ...tries('rows by a field of others’ rows', '403 FORBIDDEN', unreadable, { margin: { gt: 9 } }),
  ...tries('the hidden row', answered, answered, { price: { gt: 500 } }),
  ...tries('all rows but the hidden one', '403 FORBIDDEN', unreadable, {
    not: { price: { gt: 500 } },
  }),
  ...tries('rows by a hidden one', answered, answered, {
    and: [{ not: { shelf: { label: { eq: 'kept aaa' } } } }, { id: { eq: 4 } }],
  }),
  ...tries('no row, 30 times', answered, answered, fits30),
  gql(
    'the prices of writes',
    '200 QUERY_TOO_COMPLEX',
    `mutation ($w: BookWhere) { ${times(20, at => `a${at}: updateBooks(where: $w, input: { pages: 7 }, dryRun: true) { count }`).join(' ')} }`,
    { w: fits30 },
  ),
  gql(
    'the prices of what writes are answered with',
    '200 QUERY_TOO_COMPLEX',
    `mutation ($w: BookWhere) { ${times(20, at => `a${at}: updateBook(id: 1, input: {}) { shelf { books(where: $w) { id } } }`).join(' ')} }`,
    { w: fits30 },
  ),
]

const attacks = [...conditions, ...texts, ...sums, ...lists, ...addresses, ...written, ...changed]

for (const on of engines)
  describe(`attacks on ${on}`, () => {
    const worlds: Kitchen[] = []
    before(async () => {
      for (const world of [0, 1] as const) {
        const kitchen = await kitchenOn(on, entities)
        worlds.push(kitchen)
        for (const [plural, row] of rowsIn(world)) {
          const { status, text } = await kitchen.say(2, `POST /api/v2/${plural}`, row)
          assert.equal(status, 201, `${plural} ${text}`)
        }
        const session = await kitchen.store.session('filling')
        await session.query({
          text: `update books set code = '${['aaa', 'zzz'][world]}'`,
          values: [],
        })
        await session.close()
      }
    })
    after(async () => {
      for (const kitchen of worlds) await kitchen.close()
    })

    /** What a world answers to its user: the status with the codes, and the text without what each request has of its own. */
    const answersOf = async (world: Kitchen, { line, body, text, headers }: Attack) => {
      const more = { ...(text !== undefined && { text }), ...(headers && { headers }) }
      const { status, text: found } = await world.ask({ line, as: 'user', body, ...more })
      const { code, errors = [] } = JSON.parse(found)
      const codes = errors.map((one: { extensions?: { code: string } }) => one.extensions?.code)
      const bound = [status, ...new Set(code ? [code] : codes)].join(' ')
      return { bound, text: found.replace(/"requestId":"[^"]*"/, '') }
    }

    test('each is refused or bounded, and tells nothing of what is hidden', async () => {
      const wrong: string[] = []
      for (const attack of attacks) {
        const [one, other] = await Promise.all(worlds.map(world => answersOf(world, attack)))
        if (one?.bound !== attack.bound) wrong.push(`${attack.what}: ${one?.bound} ${one?.text}`)
        if (one?.text !== other?.text) wrong.push(`${attack.what}: ${one?.text} and ${other?.text}`)
      }
      for (const { bugs } of worlds) assert.deepEqual(bugs, [])
      assert.deepEqual(wrong, [])
    })

    test('a cursor is good for its list, order, condition, search and caller alone', async () => {
      const [world] = worlds as [Kitchen]
      const page = (given: string, list = 'books') =>
        `{ ${list}Connection(first: 1, ${given}) { edges { cursor } } }`
      const order = 'orderBy: [{ price: ASC }]'
      const own = await world.run(1, page(order))
      const { cursor } = own.data.booksConnection.edges[0]
      const after = `after: "${cursor}"`
      assert.deepEqual((await world.run(1, page(`${order}, ${after}`))).code, undefined)
      const last = cursor.endsWith('A') ? 'B' : 'A'
      const forged: readonly (readonly [1 | 2 | 3 | null, string])[] = [
        [1, page(`orderBy: [{ price: DESC }], ${after}`)],
        [1, page(`orderBy: [{ pages: ASC }], ${after}`)],
        [1, page(after)],
        [1, page(`${order}, where: { price: { gte: 0 } }, ${after}`)],
        [1, page(`${order}, search: "o", ${after}`)],
        [1, page(after, 'lines')],
        [2, page(`${order}, ${after}`)],
        [3, page(`${order}, ${after}`)],
        [null, page(`${order}, ${after}`)],
        [1, page(`${order}, after: "${cursor.slice(0, -1)}${last}"`)],
        [1, page(`${order}, after: "${cursor}${cursor}"`)],
        [1, page(`${order}, before: "${Buffer.from('[10,1]').toString('base64url')}"`)],
      ]
      for (const [as, query] of forged)
        assert.equal((await world.run(as, query)).code, 'BAD_USER_INPUT', `${as} ${query}`)
      const rest = (as: 1 | 2 | 3 | null, list: string, from: string) =>
        world.say(as, `GET /api/v2/${list}&limit=1&cursor=${from}`)
      assert.equal((await rest(1, 'books?sort=price', cursor)).status, 422)
      const { nextCursor } = (await rest(1, 'books?sort=price', '')).json.pagination
      // A condition that compares nothing is none.
      for (const list of ['books?sort=price', 'books?sort=price&where={}'])
        assert.equal((await rest(1, list, nextCursor)).status, 200, list)
      const end = nextCursor.endsWith('A') ? 'B' : 'A'
      for (const [as, list, from] of [
        [1, 'books?sort=-price', nextCursor],
        [1, 'books?sort=pages', nextCursor],
        [1, 'books?sort=price,pages', nextCursor],
        [1, 'books?sort=id', nextCursor],
        [1, 'books?sort=price&price[gte]=0', nextCursor],
        [1, 'books?sort=price&where={"price":{"gte":0}}', nextCursor],
        [1, 'books?sort=price&search=o', nextCursor],
        [1, 'lines?sort=id', nextCursor],
        [2, 'books?sort=price', nextCursor],
        [3, 'books?sort=price', nextCursor],
        [null, 'books?sort=price', nextCursor],
        [1, 'books?sort=price', `${nextCursor.slice(0, -1)}${end}`],
        [1, 'books?sort=price', `${nextCursor}${nextCursor}`],
        [1, 'books?sort=price', Buffer.from('[10,1]').toString('base64url')],
      ] as const)
        assert.equal((await rest(as, list, from)).status, 422, `${as} ${list}`)
    })
  })
