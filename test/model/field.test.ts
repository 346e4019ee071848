/** One added line makes a field: in the store, in the schema, and in both APIs with its rules. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { printSchema } from 'graphql'
import { deriveSchema } from '#graphql/schema.ts'
import type { Model } from '#model/model.ts'
import { createWorld, forAllTests, usualModel } from '#test/market.ts'
import { longer, withDraft } from './drafted.ts'

const model: Model = { ...usualModel, entities: longer }

const world = forAllTests(() => createWorld({ model, migrations: withDraft(longer) }))

const ben = { as: 2 }

test('the schema has the field where it is read and where it is written', () => {
  const schema = printSchema(deriveSchema(model).schema)
  const without = printSchema(deriveSchema(usualModel).schema)
  const part = (text: string, name: string) =>
    new RegExp(`(?:type|input) ${name} \\{[^}]*\\}`).exec(text)?.[0] ?? ''
  for (const name of ['Post', 'CreatePostInput']) {
    assert.match(part(schema, name), /\n {2}probe: String\n/)
    assert.doesNotMatch(part(without, name), /probe/)
  }
})

test('the store has a column of its type', () => {
  using database = new DatabaseSync(world.file, { readOnly: true })
  const [column] = database
    .prepare(
      "select type, \"notnull\" as needed from pragma_table_info('posts') where name = 'probe'",
    )
    .all()
  assert.deepEqual({ ...column }, { type: 'TEXT', needed: 0 })
})

test('REST writes and reads it, and it is null where it is not given', async () => {
  const body = { title: 'A', content: 'B', probe: 'Été' }
  const made = await world.ask('POST /api/users/2/posts', { ...ben, body })
  assert.equal(made.status, 201)
  assert.equal(made.json.probe, 'Été')
  assert.equal((await world.ask(`GET /api/posts/${made.json.id}`)).json.probe, 'Été')
  const changed = await world.ask(`PATCH /api/posts/${made.json.id}`, {
    ...ben,
    body: { probe: null },
  })
  assert.equal(changed.json.probe, null)
  assert.equal(changed.json.title, 'A')
  assert.equal((await world.ask('GET /api/posts/1')).json.probe, null)
  assert.equal((await world.ask('GET /api/posts')).json.data[0].probe, null)
})

test('GraphQL writes and reads it', async () => {
  const { json } = await world.gql(
    'mutation { createPost(input: {authorId: 2, title: "A", content: "B", probe: "S"}) { id probe } }',
    ben,
  )
  assert.equal(json.data.createPost.probe, 'S')
  const read = await world.gql(
    `{ post(id: "${json.data.createPost.id}") { probe } posts(limit: 2) { probe } }`,
  )
  assert.equal(read.json.data.post.probe, 'S')
  assert.equal(read.json.data.posts[0].probe, 'S')
})

test('its rule holds in both APIs, with the same words', async () => {
  for (const [probe, message] of [
    ['x'.repeat(201), 'must be 1 to 200 characters'],
    ['', 'must be 1 to 200 characters'],
    ['a\0', 'must not contain NUL or lone surrogates'],
  ]) {
    const details = [{ field: 'probe', message }]
    const rest = await world.ask('POST /api/users/2/posts', {
      ...ben,
      body: { title: 'A', content: 'B', probe },
    })
    assert.equal(rest.status, 422)
    assert.deepEqual(rest.json.error.details, details)
    const graphql = await world.gql(
      'mutation Make($input: CreatePostInput!) { createPost(input: $input) { id } }',
      { ...ben, variables: { input: { authorId: '2', title: 'A', content: 'B', probe } } },
    )
    assert.equal(graphql.json.errors[0].extensions.code, 'BAD_USER_INPUT')
    assert.match(graphql.json.errors[0].message, new RegExp(`probe ${message}`))
  }
  const number = await world.ask('PATCH /api/posts/1', { ...ben, body: { probe: 5 } })
  assert.equal(number.json.error.details[0].message, 'must be a string')
})

test('without the line the field is unknown everywhere', async () => {
  await using plain = await createWorld()
  const rest = await plain.ask('PATCH /api/posts/1', { ...ben, body: { probe: 'S' } })
  assert.equal(rest.status, 422)
  const graphql = await plain.gql('{ posts { probe } }')
  assert.match(graphql.json.errors[0].message, /probe/)
})
