/** Input that is hard for PostgreSQL and its driver but not for SQLite: answered rightly or refused, never 500. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noDatabase } from '#test/postgres/tools/database.ts'
import { forAllTests } from '#test/support/fixture.ts'
import { refuses } from '../rest.ts'
import { createWorld } from '../world.ts'

describe('on PostgreSQL', { skip: noDatabase }, () => {
  const world = forAllTests(() => createWorld({ on: 'postgres' }))

  const dataOf = async (path: string) => {
    const { status, json, text } = await world.ask(`GET ${path}`, { as: 1 })
    assert.equal(status, 200, text)
    return json.data
  }

  test('a number of eight bytes, which the driver gives as text, is a number in an answer [B10]', async () => {
    const largest = 9_007_199_254_740_990
    await world.change(
      'insert into products (id, name, name_key, category, price, created_at) values (?1, ?2, ?2, ?2, 99999999999, -1)',
      largest,
      'x',
    )
    const { json } = await world.ask(`GET /api/products/${largest}`)
    const { id, price, created_at } = json
    assert.deepEqual(
      { id, price, created_at },
      { id: largest, price: 999_999_999.99, created_at: '1969-12-31T23:59:59.999Z' },
    )
  })

  test('the longest texts that are indexed are stored, and longer ones refused [B10]', async () => {
    const host = `${'d'.repeat(60)}.${'e'.repeat(60)}.${'f'.repeat(60)}.example`
    const email = (length: number) => `${'l'.repeat(length - host.length - 1)}@${host}`
    const sign = (name: string, address: string) =>
      world.ask('POST /api/users', { body: { name, email: address } })
    // Four bytes each: the most that 200 characters come to.
    assert.equal((await sign('😀'.repeat(200), email(254))).status, 201)
    refuses(await sign('😀'.repeat(201), 'a@example.org'), 422, 'VALIDATION_ERROR', ['name'])
    refuses(await sign('x', email(255)), 422, 'VALIDATION_ERROR', ['email'])
  })

  test('a key of 255 characters is stored, a longer one refused', async () => {
    const order = (length: number) =>
      world.ask('POST /api/orders', {
        as: 2,
        body: { items: [{ productId: 3, quantity: 1 }] },
        headers: { 'Idempotency-Key': 'k'.repeat(length) },
      })
    assert.equal((await order(255)).status, 201)
    assert.equal((await order(255)).headers.get('idempotency-replayed'), 'true')
    refuses(await order(256), 400, 'MALFORMED_REQUEST')
  })

  for (const far of ['9223372036854775807', '9223372036854775808', '9'.repeat(40)]) {
    test(`a page or an offset of ${far} is empty [B10, G9]`, async () => {
      for (const parameter of ['page', 'offset'])
        assert.deepEqual(await dataOf(`/api/products?${parameter}=${far}`), [])
    })

    test(`a limit of -${far} is the least one`, async () => {
      for (const path of ['products', 'posts', 'users/2/posts'])
        assert.equal((await dataOf(`/api/${path}?limit=-${far}&offset=-${far}`)).length, 1)
    })

    test(`nothing costs ${far}, and nothing has it for an id`, async () => {
      assert.deepEqual(await dataOf(`/api/products?min_price=${far}`), [])
      assert.deepEqual(await dataOf(`/api/orders?customerId=${far}`), [])
      refuses(await world.ask(`GET /api/products/${far}`), 404, 'NOT_FOUND')
      const { json } = await world.gql(`{ post(id: "${far}") { id } }`)
      assert.deepEqual(json, { data: { post: null } })
    })
  }

  test('a negative limit and offset in GraphQL are the least ones', async () => {
    const { json } = await world.gql('{ users(limit: -2147483648, offset: -1) { id } }', { as: 2 })
    assert.deepEqual(json.data.users, [{ id: '1' }])
  })

  test('texts that PostgreSQL cannot keep are refused before it sees them [B10]', async () => {
    const post = { title: 'a\0b', content: 'x' }
    for (const title of ['a\0b', 'a\ud800', '\udfffb'])
      refuses(
        await world.ask('POST /api/users/2/posts', { as: 2, body: { ...post, title } }),
        422,
        'VALIDATION_ERROR',
        ['title'],
      )
    refuses(await world.ask('GET /api/products?search=%00'), 422, 'VALIDATION_ERROR', ['search'])
    const query = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { id } }'
    const { json } = await world.gql(query, {
      as: 2,
      variables: { input: { ...post, authorId: 2 } },
    })
    assert.equal(json.errors[0].extensions.code, 'BAD_USER_INPUT')
  })
})
