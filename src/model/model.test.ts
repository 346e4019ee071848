import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as makers from '#entry/model.ts'
import { entity, many, one } from '#model/entity.ts'
import { type Field, folded, id, reference, text } from '#model/field.ts'
import {
  columnName,
  defineModel,
  type Entities,
  entityOf,
  fieldOf,
  typeName,
} from '#model/model.ts'
import { anyone, self } from '#model/policy.ts'

const rest = { list: true, one: true, listing: { paging: 'page', limit: 10 } } as const
const author = entity({
  table: 'authors',
  plural: 'authors',
  description: '',
  fields: { id: id(), name: text({ max: 10 }) },
  relations: { books: many('book', 'authorId') },
  policy: { read: anyone },
  rest,
})
const book = entity({
  table: 'books',
  plural: 'books',
  description: '',
  fields: {
    id: id(),
    title: text({ max: 10 }),
    authorId: reference('author', { onDelete: 'cascade' }),
  },
  relations: { author: one('author', 'authorId') },
  policy: { read: anyone, update: self('authorId', 'author.id') },
  rest,
})

/** Defines a model without the compiler's checks. */
const define = (entities: Entities) => () => defineModel(entities as never)

/** What is said of each maker that is called so; nothing where it takes that. */
const toldOf = (make: (...given: unknown[]) => unknown, given: readonly unknown[]) => {
  try {
    const made = make(...given) as Field
    if (typeof made === 'object' && made && 'scalar' in made)
      define({ thing: entity({ fields: { of: made }, policy: { read: anyone } }) as never })()
  } catch (error) {
    assert.ok(error instanceof Error)
    return error
  }
  return undefined
}

test('whatever a maker is called with, a fault is a sentence about it', () => {
  const wrong = [[], [undefined], [null], [5], ['x'], [{}], [[]], ['x', null], ['x', 5], [[''], 5]]
  for (const [name, make] of Object.entries(makers))
    for (const given of typeof make === 'function' && !/^[A-Z]/.test(name) ? wrong : []) {
      const told = toldOf(make as never, given)
      if (!told) continue
      const about = `${name}(${JSON.stringify(given)}): ${told.message}`
      assert.equal(told.constructor, Error, about)
      assert.doesNotMatch(told.message, /undefined \(|of undefined/, about)
    }
  const [text, choice] = [makers.text as never, makers.choice as never]
  for (const [make, given, told] of [
    [text, undefined, /\.fields\.of has no max: give it one$/],
    [text, 5, /\.fields\.of is 5: it must be an object$/],
    [text, { max: 5, initial: 5 }, /\.initial is 5: it must be one of now, .*, or \{ value: … \}$/],
    [text, { max: 5, pattern: '^a$' }, /has the pattern "\^a\$": write it as a regular expression/],
    [choice, [], /^choice\(\) takes a list of words first/],
    [choice, [1, 2], /^choice\(\) takes a list of words first/],
  ] as const)
    assert.match(toldOf(make, [given])?.message ?? '', told)
  const odd = [undefined, null, 'x', { post: undefined }, { post: text }, { post: { fields: {} } }]
  for (const entities of odd)
    assert.throws(() => defineModel(entities as never), /defineModel\(\) takes|post is no entity/)
})

test('what is undefined, as where an import has another name, is told and opens nothing', () => {
  const fields = { title: text({ max: 5 }) }
  const policy = { read: anyone }
  const wrong = undefined as never
  for (const [told, make] of [
    [
      /\.fields\.title is undefined: it must be/,
      () => entity({ fields: { title: wrong }, policy }),
    ],
    [
      /\.relations\.tags is undefined/,
      () => entity({ fields, policy, relations: { tags: wrong } }),
    ],
    [
      /\.policy\.read is undefined: give it a rule/,
      () => entity({ fields, policy: { read: wrong } }),
    ],
    [/^where\(\) takes a condition, such as/, () => anyone.where(wrong)],
  ] as const)
    assert.throws(make, (error: Error) => error.constructor === Error && told.test(error.message))
})

test('a field that is unique says so by true, and its error is then CONFLICT', () => {
  const uniqueOf = (unique: boolean) => makers.text({ max: 9, unique }).unique
  assert.deepEqual([uniqueOf(true), uniqueOf(false)], ['CONFLICT', undefined])
  assert.equal(makers.slug({ from: 'name', unique: true }).unique, 'CONFLICT')
})

test('a model without mistakes is given back as it is', () => {
  const entities = { author, book }
  assert.equal(defineModel(entities), entities)
})

test('the compiler refuses a relation to what is no entity, and a key that is no field', () => {
  const astray = { ...book, relations: { author: one('writer', 'authorId') } }
  // @ts-expect-error: there is no entity writer.
  assert.throws(() => defineModel({ author, book: astray }))
  const keyless = { ...book, relations: { author: one('author', 'writerId') } }
  // @ts-expect-error: a book has no writerId.
  assert.throws(() => defineModel({ author, book: keyless }))
  const farKeyless = { ...author, relations: { books: many('book', 'writerId') } }
  // @ts-expect-error: nor has it one for its author.
  assert.throws(() => defineModel({ author: farKeyless, book }))
  // Entities may be written in place, also without relations.
  const written = defineModel({
    book: entity({ fields: { id: id() }, policy: { read: anyone }, rest }),
  })
  assert.deepEqual(Object.keys(written) satisfies string[], ['book'])
  // @ts-expect-error: created is nothing that is done to rows, and would open nothing.
  assert.throws(() => entity({ fields: {}, policy: { created: anyone } }))
})

/** What is told of each. */
const mistakes: Readonly<Record<string, () => unknown>> = {
  'book.author leads to writer, which is not an entity: name one of author, book': define({
    author,
    book: { ...book, relations: { author: one('writer', 'authorId') } },
  }),
  'book.author keys on writerId, which is not a field there: name a reference to author': define({
    author,
    book: { ...book, relations: { author: one('author', 'writerId') } },
  }),
  'author.books keys on writerId, which is not a field there: name a reference to author': define({
    author: { ...author, relations: { books: many('book', 'writerId') } },
    book,
  }),
  'the update rule of book names writerId, which is not a field: name one of its own, or one over relations to one row':
    define({ author, book: { ...book, policy: { read: anyone, update: self('writerId') } } }),
  'the delete rule of book names writer.id, which is not a field: name one of its own, or one over relations to one row':
    define({ author, book: { ...book, policy: { read: anyone, delete: self('writer.id') } } }),
  'book.editorId refers to editor, which is not an entity: name one of author, book': define({
    author,
    book: {
      ...book,
      fields: { ...book.fields, editorId: reference('editor', { onDelete: 'cascade' }) },
    },
  }),
  'book.key is folded from subtitle, which is not a field: name one of text': define({
    author,
    book: { ...book, fields: { ...book.fields, key: folded('subtitle') } },
  }),
  'writer is not an entity': () => entityOf({ entities: { author } } as never, 'writer'),
  'authors have no field age': () => fieldOf(author, 'age'),
}
for (const [sentence, make] of Object.entries(mistakes))
  test(`a mistake is told: ${sentence}`, () => {
    assert.throws(make, { message: `the model is wrong: ${sentence}` })
  })

test('columns are written the way of SQL, types the way of GraphQL', () => {
  assert.equal(columnName('emailVerified'), 'email_verified')
  assert.equal(columnName('id'), 'id')
  assert.equal(typeName('user'), 'User')
})

test('an entity keeps since when each of its routes is there, and until when', () => {
  const sunset = '2027-08-01'
  const { lifetimes } = entity({
    table: 'notes',
    plural: 'notes',
    description: '',
    fields: { id: id() },
    policy: {},
    rest: {
      list: { last: 1, sunset },
      one: true,
      listing: rest.listing,
      writes: ['create', { kind: 'delete', since: 2 }],
    },
  }).rest
  assert.deepEqual(lifetimes.list, { last: 1, sunset })
  assert.deepEqual(lifetimes.delete, { since: 2 })
  assert.deepEqual([lifetimes.one, lifetimes.create], [{}, {}])
})
