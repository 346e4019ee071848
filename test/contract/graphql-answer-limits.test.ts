/** Limits of answers of GraphQL: how many objects one has, and how long it is. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Query } from '#sql/engine.ts'
import { codeOf, times } from '../graphql.ts'
import { createWorld, type World, type WorldOptions } from '../world.ts'

describe('the objects of one response', () => {
  /** 99 posts of Ada with 100 comments each: 9,900 comments and 99 posts. */
  const rows: NonNullable<WorldOptions['rows']> = {
    user: [{ name: 'Ada', email: 'ada@example.org', role: 'admin' }],
    post: Array.from({ length: 99 }, (_, n) => ({ authorId: 1, title: `${n}`, content: 'c' })),
    comment: Array.from({ length: 9900 }, (_, n) => ({
      postId: (n % 99) + 1,
      authorId: 1,
      text: `${n}`,
    })),
  }
  let large: World
  before(async () => {
    large = await createWorld({ rows })
  })
  after(() => large.close())
  const all = '{ posts { id comments { id } } }'

  test('10,000 of them are served and 10,001 refused, with the way out, and never cut short', async () => {
    const at = await large.gql('{ user(id: 1) { id } posts { comments { id } } }', { as: 1 })
    assert.equal(at.json.errors, undefined)
    assert.equal(
      at.json.data.posts.flatMap((p: { comments: unknown[] }) => p.comments).length,
      9900,
    )
    for (const query of [
      '{ user(id: 1) { id } users { id } posts { comments { id } } }',
      '{ users { posts { comments { id } } } a: users { id } }',
    ])
      for (const [accept, status] of [
        ['application/json', 200],
        ['application/graphql-response+json', 400],
      ] as const) {
        const above = await large.gql(query, { as: 1, headers: { Accept: accept } })
        assert.equal(codeOf(above), 'RESPONSE_TOO_LARGE')
        assert.match(above.json.errors[0].message, /10000 objects.*`limit`/)
        assert.equal(above.status, status)
        assert.ok(!above.json.data)
      }
  })
  test('objects are counted as often as they are shown, though the store is asked for them once', async () => {
    // 9,900 comments by one author: 99 posts, 9,900 comments and as many authors shown.
    const repeated = await large.gql('{ posts { comments { author { id } } } }')
    assert.equal(codeOf(repeated), 'RESPONSE_TOO_LARGE')
    const bomb = await large.gql(
      '{ posts { author { posts { author { posts { author { id } } } } } } }',
    )
    assert.equal(codeOf(bomb), 'RESPONSE_TOO_LARGE')
    const half = await large.gql('{ posts { comments(limit: 49) { author { id } } } }')
    assert.equal(half.json.errors, undefined)
  })
  test('fewer objects are asked for by a limit on the lists', async () => {
    const answered = await large.gql(
      '{ posts(limit: 50) { comments(limit: 100) { id author { id } } } }',
    )
    assert.equal(codeOf(answered), 'RESPONSE_TOO_LARGE')
    const fewer = await large.gql(
      '{ posts(limit: 49) { comments(limit: 100) { id author { id } } } }',
    )
    assert.equal(fewer.json.errors, undefined)
  })
  test('objects count over all roots together', async () => {
    const query = (n: number) =>
      `{ ${times(n, i => `a${i}: posts(limit: 9) { comments(limit: 100) { id } }`)} }`
    assert.equal((await large.gql(query(11))).json.errors, undefined)
    assert.equal(codeOf(await large.gql(query(12))), 'RESPONSE_TOO_LARGE')
  })
  test('objects are not read further than the limit allows', async t => {
    const { reader } = large.core
    const { snapshot } = reader
    t.after(() => Object.assign(large.core, { reader }))
    let read = 0
    Object.assign(large.core, {
      reader: {
        query: async (query: Query) => {
          const rows = await reader.query(query)
          read += rows.length
          return rows
        },
        snapshot: ((begin: Parameters<typeof snapshot>[0]) =>
          snapshot(function* () {
            const work = begin()
            let step = work.next()
            while (!step.done) {
              const rows = yield step.value
              read += rows.length
              step = work.next(rows)
            }
            return step.value
          })) as typeof snapshot,
      },
    })
    await large.gql(
      `{ ${times(20, n => `a${n}: posts { comments { id author { posts { id } } } }`)} }`,
    )
    assert.ok(read <= 10_001, `${read} rows were read`)
  })
  test('objects below a mutation count as well, and the write is undone', async () => {
    const query = `mutation { updateUser(id: 1, input: {name: "Changed"}) { name posts { comments { author { name } } } } }`
    const answered = await large.gql(query, { as: 1 })
    assert.equal(codeOf(answered), 'RESPONSE_TOO_LARGE')
    const { json } = await large.gql('{ user(id: 1) { name } }', { as: 1 })
    assert.equal(json.data.user.name, 'Ada')
  })
  test('the limit of objects may be set', async t => {
    const other = await createWorld({ engine: { limits: { objects: 4, bytes: 1_000_000 } } })
    t.after(() => other.close())
    assert.equal((await other.gql('{ posts { id } }')).json.errors, undefined)
    assert.equal(
      codeOf(await other.gql('{ posts { id } post(id: 1) { id } }')),
      'RESPONSE_TOO_LARGE',
    )
    assert.equal(codeOf(await other.gql(all)), 'RESPONSE_TOO_LARGE')
  })
})

describe('the length of one response', () => {
  const bytes = 50_000
  let small: World
  before(async () => {
    const content = 'c'.repeat(9_000)
    small = await createWorld({
      rows: {
        user: [{ name: 'Ada', email: 'ada@example.org', role: 'admin' }],
        post: Array.from({ length: 5 }, (_, n) => ({ authorId: 1, title: `${n}`, content })),
      },
      engine: { limits: { objects: 10_000, bytes } },
    })
  })
  after(() => small.close())

  for (const [name, query, isServed] of [
    ['five posts of 9,000 letters', '{ posts { content } }', true],
    ['five posts twice by aliases', '{ posts { a: content b: content } }', false],
    ['five posts twice by roots', '{ a: posts { content } b: posts { content } }', false],
    [
      'one post twenty times by roots',
      `{ ${times(20, n => `a${n}: post(id: 1) { content }`)} }`,
      false,
    ],
    ['posts of an author of posts', '{ posts { author { posts { content } } } }', false],
  ] as const)
    test(`${name} ${isServed ? 'are served' : 'are refused: RESPONSE_TOO_LARGE'}`, async () => {
      const answered = await small.gql(query, { as: 1 })
      assert.equal(codeOf(answered), isServed ? undefined : 'RESPONSE_TOO_LARGE')
      if (isServed) assert.ok(answered.text.length < bytes)
    })
})
