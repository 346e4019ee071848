/** One added line makes a field: in the store, in the schema, and in both voices with its rules. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { printSchema } from 'graphql'
import { type Migration, migrationsOf } from '#engines/migrations.ts'
import { definitions } from '#engines/sqlite/ddl.ts'
import { madeBy, missingStatements } from '#engines/sqlite/draft.ts'
import { migrateSqlite } from '#engines/sqlite/migrate.ts'
import { deriveSchema } from '#graphql/schema.ts'
import { int, text } from '#model/field.ts'
import { defineModel, type Entities, type Model } from '#model/model.ts'
import { entities } from '#resources/index.ts'
import { createWorld, usualModel, type World } from '../world.ts'

const { post } = entities
const longer = defineModel({
  ...entities,
  post: {
    ...post,
    fields: { ...post.fields, subtitle: text({ max: 200, nullable: true }) },
  },
})
const model: Model = { ...usualModel, entities: longer }

/** The migration that a draft would write for these entities. */
const draftFor = (added: Entities): Migration => ({
  name: '9999-draft',
  text: missingStatements(added, madeBy(migrationsOf('sqlite')))
    .map(statement => `${statement};`)
    .join('\n'),
})

let world: World
before(async () => {
  world = await createWorld({ model, migrations: [...migrationsOf('sqlite'), draftFor(longer)] })
})
after(() => world.close())

const ben = { as: 2 }

test('the schema has the field where it is read and where it is written', () => {
  const schema = printSchema(deriveSchema(model).schema)
  const without = printSchema(deriveSchema(usualModel).schema)
  const part = (text: string, name: string) =>
    new RegExp(`(?:type|input) ${name} \\{[^}]*\\}`).exec(text)?.[0] ?? ''
  for (const name of ['Post', 'CreatePostInput']) {
    assert.match(part(schema, name), /\n {2}subtitle: String\n/)
    assert.doesNotMatch(part(without, name), /subtitle/)
  }
})

test('the store has a column of its type', () => {
  const database = new DatabaseSync(world.file, { readOnly: true })
  const [column] = database
    .prepare(
      "select type, \"notnull\" as needed from pragma_table_info('posts') where name = 'subtitle'",
    )
    .all()
  database.close()
  assert.deepEqual({ ...column }, { type: 'TEXT', needed: 0 })
})

test('REST writes and reads it, and it is null where it is not given', async () => {
  const body = { title: 'A', content: 'B', subtitle: 'Été' }
  const made = await world.ask('POST /api/users/2/posts', { ...ben, body })
  assert.equal(made.status, 201)
  assert.equal(made.json.subtitle, 'Été')
  assert.equal((await world.ask(`GET /api/posts/${made.json.id}`)).json.subtitle, 'Été')
  const changed = await world.ask(`PATCH /api/posts/${made.json.id}`, {
    ...ben,
    body: { subtitle: null },
  })
  assert.equal(changed.json.subtitle, null)
  assert.equal(changed.json.title, 'A')
  assert.equal((await world.ask('GET /api/posts/1')).json.subtitle, null)
  assert.equal((await world.ask('GET /api/posts')).json.data[0].subtitle, null)
})

test('GraphQL writes and reads it', async () => {
  const { json } = await world.gql(
    'mutation { createPost(input: {authorId: 2, title: "A", content: "B", subtitle: "S"}) { id subtitle } }',
    ben,
  )
  assert.equal(json.data.createPost.subtitle, 'S')
  const read = await world.gql(
    `{ post(id: "${json.data.createPost.id}") { subtitle } posts(limit: 2) { subtitle } }`,
  )
  assert.equal(read.json.data.post.subtitle, 'S')
  assert.equal(read.json.data.posts[0].subtitle, 'S')
})

test('its rule holds in both voices, with the same words', async () => {
  for (const [subtitle, message] of [
    ['x'.repeat(201), 'must be 1 to 200 characters'],
    ['', 'must be 1 to 200 characters'],
    ['a\0', 'must not contain NUL or lone surrogates'],
  ]) {
    const details = [{ field: 'subtitle', message }]
    const rest = await world.ask('POST /api/users/2/posts', {
      ...ben,
      body: { title: 'A', content: 'B', subtitle },
    })
    assert.equal(rest.status, 422)
    assert.deepEqual(rest.json.error.details, details)
    const graphql = await world.gql(
      'mutation Make($input: CreatePostInput!) { createPost(input: $input) { id } }',
      { ...ben, variables: { input: { authorId: '2', title: 'A', content: 'B', subtitle } } },
    )
    assert.equal(graphql.json.errors[0].extensions.code, 'BAD_USER_INPUT')
    assert.match(graphql.json.errors[0].message, new RegExp(`subtitle ${message}`))
  }
  const number = await world.ask('PATCH /api/posts/1', { ...ben, body: { subtitle: 5 } })
  assert.equal(number.json.error.details[0].message, 'must be a string')
})

test('without the line the field is unknown everywhere', async () => {
  const plain = await createWorld()
  const rest = await plain.ask('PATCH /api/posts/1', { ...ben, body: { subtitle: 'S' } })
  assert.equal(rest.status, 422)
  const graphql = await plain.gql('{ posts { subtitle } }')
  assert.match(graphql.json.errors[0].message, /subtitle/)
  await plain.close()
})

/** All that a database is made of: its things by name, with their text without white space, and its columns. */
const anatomy = (make: (database: DatabaseSync) => void) => {
  const database = new DatabaseSync(':memory:')
  make(database)
  const things = database
    .prepare(
      "select type, name, tbl_name, replace(replace(replace(sql, char(10), ''), ' ', ''), '\"', '') as sql from sqlite_schema order by name",
    )
    .all()
  const columns = database
    .prepare(
      `select s.name as of, c.name, c.type, c."notnull", c.dflt_value, c.pk from sqlite_schema s, pragma_table_xinfo(s.name) c
        where s.type = 'table' order by s.name, c.cid`,
    )
    .all()
  database.close()
  return { things, columns }
}

test('the migrations make exactly what the model’s own definitions make', () => {
  assert.deepEqual(missingStatements(entities, madeBy(migrationsOf('sqlite'))), [])
  const migrated = anatomy(database => {
    for (const { text } of migrationsOf('sqlite')) database.exec(text)
  })
  const defined = anatomy(database => {
    for (const { text } of definitions(entities)) database.exec(text)
  })
  assert.deepEqual(migrated, defined)
  assert.ok(migrated.things.length > 40)
})

test('definitions and migrations name each thing once', () => {
  const names = definitions(entities).map(({ name }) => name)
  assert.equal(new Set(names).size, names.length)
})

test('the draft for added fields and an added index applies to a store that is full, and keeps it', async () => {
  const more = defineModel({
    ...longer,
    product: {
      ...entities.product,
      fields: {
        ...entities.product.fields,
        weight: int({ min: 0, max: 1000, initial: { value: 7 } }),
        label: text({ max: 20, initial: { value: "o'clock" } }),
      },
      indexes: [...entities.product.indexes, ['weight', '-price']],
    },
  })
  const full = await createWorld()
  const migrations = [...migrationsOf('sqlite'), draftFor(more)]
  assert.deepEqual(migrateSqlite(full.file, migrations), ['9999-draft'])
  assert.deepEqual(missingStatements(more, madeBy(migrations)), [])
  const database = new DatabaseSync(full.file, { readOnly: true })
  const rows = database.prepare('select distinct weight, label from products').all()
  assert.deepEqual(
    rows.map(row => ({ ...row })),
    [{ weight: 7, label: "o'clock" }],
  )
  assert.equal(database.prepare('select count(*) as n from products').get()?.n, 5)
  const [{ detail } = { detail: '' }] = database
    .prepare('explain query plan select id from products where weight = 7 order by price desc')
    .all()
  assert.match(String(detail), /products_by_weight_price_down/)
  database.close()
  assert.equal((await full.ask('GET /api/products/1')).json.name, 'Desk lamp')
  await full.close()
})
