/** What is derived is what could be written out: an entity of twelve lines and the long form of it are the same. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { viewer } from '#model/condition.ts'
import { type Entity, entity, many, one } from '#model/entity.ts'
import {
  choice,
  created,
  flag,
  folded,
  id,
  int,
  reference,
  revision,
  slug,
  text,
} from '#model/field.ts'
import { defineModel } from '#model/model.ts'
import { anyone, nobody, signedIn } from '#model/policy.ts'

const author = entity({
  fields: {
    name: text({ max: 100 }),
    email: text({ max: 99, unique: 'CONFLICT', readableBy: { id: viewer } }),
  },
  relations: { stories: many('story', 'authorId') },
  policy: { read: anyone },
})

const story = entity({
  fields: {
    title: text({ max: 200 }),
    slug: slug({ from: 'title' }),
    kind: choice(['tale', 'poem'], { initial: { value: 'tale' } }),
    isLong: flag({ initial: { value: 0 } }),
    pages: int({ min: 1, max: 999 }),
    titleKey: folded('title'),
    authorId: reference('author', { onDelete: 'cascade', initial: 'viewer' }),
    createdAt: created(),
  },
  relations: { author: one('author', 'authorId') },
  policy: { read: anyone, create: signedIn, update: signedIn, delete: nobody },
})

const longStory = entity({
  table: 'stories',
  plural: 'stories',
  description: 'A story.',
  fields: {
    id: id(),
    title: text({ max: 200 }),
    slug: slug({ from: 'title' }),
    kind: choice(['tale', 'poem'], { initial: { value: 'tale' } }),
    isLong: flag({ initial: { value: 0 } }),
    pages: int({ min: 1, max: 999 }),
    titleKey: folded('title', { indexed: true }),
    authorId: reference('author', { onDelete: 'cascade', initial: 'viewer' }),
    createdAt: created(),
    revision: revision(),
  },
  relations: { author: one('author', 'authorId') },
  policy: { read: anyone, create: signedIn, update: signedIn, delete: nobody },
  links: { self: '/stories/{id}', author: '/authors/{authorId}' },
  rest: {
    list: true,
    one: true,
    selectable: true,
    writes: ['create', 'replace', 'update'],
    listing: {
      paging: 'page',
      limit: 20,
      sort: { style: 'signed list', fields: ['createdAt', '-createdAt'] },
      filters: {
        slug: { kind: 'equals', field: 'slug' },
        kind: { kind: 'equals', field: 'kind' },
        isLong: { kind: 'equals', field: 'isLong' },
        q: { kind: 'contains', field: 'titleKey' },
        authorId: { kind: 'equals', field: 'authorId' },
      },
    },
  },
  graphql: {
    paged: true,
    filters: ['slug', 'kind', 'isLong', 'authorId'],
    mutations: ['create', 'update'],
  },
})

/** A part of a model as data: two that say the same have functions of their own. */
const asData = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, part) => (typeof part === 'function' ? 'a function' : part)))

const derived = (entities: Readonly<Record<string, Entity>>) =>
  defineModel(entities as never) as Readonly<Record<string, Entity>>

describe('what an entity leaves out', () => {
  test('is what its long form says', () => {
    const { story: short } = derived({ author, story })
    const { story: long } = derived({ author, story: longStory })
    assert.deepEqual(asData(short), asData(long))
    assert.deepEqual(Object.keys(short?.fields ?? {}), Object.keys(longStory.fields))
  })

  test('is a table, a plural and a sentence from its name', () => {
    const made = derived(
      Object.fromEntries(
        ['orderItem', 'category', 'day', 'box', 'address'].map(name => [
          name,
          entity({ fields: { title: text({ max: 9 }) }, policy: { read: anyone } }),
        ]),
      ),
    )
    assert.deepEqual(
      Object.values(made).map(({ table, plural, description }) => [table, plural, description]),
      [
        ['order_items', 'orderItems', 'An order item.'],
        ['categories', 'categories', 'A category.'],
        ['days', 'days', 'A day.'],
        ['boxes', 'boxes', 'A box.'],
        ['addresses', 'addresses', 'An address.'],
      ],
    )
  })

  test('a field called q, or as an argument of every list in GraphQL, keeps its name for itself', () => {
    const words = { q: choice(['a']), orderBy: choice(['b']), titleKey: folded('title') }
    const made = derived({
      note: entity({ fields: { title: text({ max: 9 }), ...words }, policy: { read: anyone } }),
    }).note
    assert.deepEqual(made?.rest.listing.filters, {
      q: { kind: 'equals', field: 'q' },
      orderBy: { kind: 'equals', field: 'orderBy' },
    })
    assert.deepEqual(made?.graphql.filters, ['q'])
  })

  test('offers no filter by what some may not read, and links to the lists below', () => {
    const made = derived({ author, story }).author
    assert.deepEqual(made?.rest.listing.filters, {})
    assert.deepEqual(made?.graphql.filters, [])
    assert.deepEqual(asData(made?.links?.cases.all), {
      self: { href: '/authors/{id}' },
      stories: { href: '/authors/{id}/stories' },
    })
  })

  test('is closed in both APIs if it has no policy', () => {
    const note = entity({ fields: { text: text({ max: 9 }) } })
    const made = derived({ author, story, note }).note
    assert.deepEqual(made?.policy, {})
    assert.deepEqual([made?.rest.list, made?.rest.one, made?.rest.writes], [false, false, []])
    assert.deepEqual(
      [made?.graphql.type, made?.graphql.roots, made?.graphql.mutations, made?.graphql.filters],
      [false, false, [], []],
    )
    assert.equal(made?.links, null)
  })

  test('is only what it leaves out: each part that is said stays', () => {
    const tale = entity({
      plural: 'sagas',
      fields: { id: id(), title: text({ max: 9, unique: 'CONFLICT' }), createdAt: created() },
      policy: { read: anyone, create: signedIn },
      links: {},
      rest: { listing: { paging: 'cursor', limit: 5, filters: {} }, selectable: false },
      graphql: { mutations: [], filters: [], paged: false },
    })
    const made = derived({ tale }).tale
    assert.deepEqual([made?.plural, made?.table, made?.links?.cases.all], ['sagas', 'sagas', {}])
    assert.deepEqual(made?.rest.listing, { paging: 'cursor', filters: {} })
    assert.equal(made?.pageSize, 5)
    assert.deepEqual([made?.rest.selectable, made?.rest.writes], [false, ['create']])
    assert.deepEqual(
      [made?.graphql.mutations, made?.graphql.filters, made?.graphql.paged, made?.graphql.roots],
      [[], [], false, true],
    )
  })

  test('is nothing of an entity that says some of its routes', () => {
    const said = entity({
      table: 'plain',
      plural: 'plain',
      description: '',
      fields: { id: id(), title: text({ max: 9 }) },
      policy: { read: anyone, create: signedIn },
      rest: { list: true },
    })
    const made = derived({ said }).said
    assert.ok(isDeepStrictEqual(made, said), 'it is as it was')
    assert.deepEqual([made?.rest.one, made?.rest.writes, made?.links], [false, [], null])
    assert.deepEqual(made?.rest.listing, { paging: 'page' })
    assert.equal(made?.pageSize, 20)
    assert.deepEqual(made?.graphql.mutations, [])
  })

  test('has faults that name what the author wrote', () => {
    const broken = entity({
      fields: { code: text({ max: 9, settableBy: nobody }) },
      policy: { read: anyone, create: signedIn },
    })
    assert.throws(
      () => derived({ broken }),
      /rest\.writes of broken has create, which needs code and cannot be given it: give code an initial value/,
    )
  })
})
