/** What a draft makes of a changed model, in an empty store and in a full one. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { type Migration, machineMigrations } from '#engines/shared/migrations.ts'
import { definitionsOf } from '#engines/shared/schema.ts'
import { migrateSqlite } from '#engines/sqlite/migrate.ts'
import { ddl } from '#engines/sqlite/schema.ts'
import { draftings, lackOf, migrationsFor } from '#kit/draft/draft.ts'
import { sqliteDrafting } from '#kit/draft/sqlite.ts'
import { entity, many } from '#model/entity.ts'
import { avg, count, type Field, flag, int, reference, text } from '#model/field.ts'
import { defineModel, type Entities } from '#model/model.ts'
import { anyone } from '#model/policy.ts'
import { createWorld, pluck } from '#test/market.ts'
import { leftovers } from '#test/store/leftovers.ts'
import { entities } from '#test/support/market/duet.config.ts'
import { known, lack, longer, post, withDraft } from './drafted.ts'

const nothing = { inside: [], outside: [] }

/** A statement however it is spaced, and a table's in whatever order its columns stand. */
const settled = (of: string, sql: string) =>
  sql
    .replaceAll('"', '')
    .split(/,\s*/)
    .map(part => part.replace(/^CREATE TABLE \w+ ?\(\s*|\s*\) ?strict$/gi, ''))
    .filter(part => !leftovers.includes(`${of}.${part.split(/\s/)[0]}`))
    .map(part => part.replaceAll(/\s/g, ''))
    .sort()

/** All that a database is made of: its things by name with their text, and its columns. */
const anatomy = (make: (database: DatabaseSync) => void) => {
  using database = new DatabaseSync(':memory:')
  make(database)
  const things = database
    .prepare(
      "select type, name, tbl_name, coalesce(sql, '') as sql from sqlite_schema order by name",
    )
    .all()
    .map(thing => ({ ...thing, sql: settled(String(thing.name), String(thing.sql)) }))
  const columns = database
    .prepare(
      `select s.name as of, c.name, c.type, c."notnull", c.dflt_value, c.pk from sqlite_schema s, pragma_table_xinfo(s.name) c
        where s.type = 'table' order by s.name, c.name`,
    )
    .all()
    .filter(({ of, name }) => !leftovers.includes(`${of}.${name}`))
  return { things, columns }
}

/** A database that these migrations make, and one that is made of what the model itself defines. */
const migratedBy = (migrations: readonly Migration[]) =>
  anatomy(database => {
    for (const { text } of migrations) database.exec(text)
  })
const definedBy = (model: Entities) =>
  anatomy(database => {
    const first = machineMigrations('sqlite')
    // Those of sign-in refer to the rows of people, whose table they come after.
    const last = known.filter(
      ({ name }) => name.startsWith('duet/') && !first.some(one => one.name === name),
    )
    for (const { text } of [...first, ...definitionsOf(ddl, model), ...last]) database.exec(text)
  })

test('the migrations make exactly what the model’s own definitions make', () => {
  assert.deepEqual(lack(entities, known), nothing)
  const migrated = migratedBy(known)
  assert.deepEqual(migrated, definedBy(entities))
  assert.ok(migrated.things.length > 40)
})

test('a draft makes the same, wherever the field stands in the model', () => {
  const { id, ...others } = post.fields
  const probe = text({ max: 200, nullable: true })
  const more = {
    ...entities,
    post: { ...post, fields: { id, probe, ...others }, counted: ['authorId'] },
  }
  assert.deepEqual(migratedBy(withDraft(more)), definedBy(more))
})

test('definitions and migrations name each thing once', () => {
  const names = definitionsOf(ddl, entities).map(({ name }) => name)
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
  await using full = await createWorld()
  const migrations = withDraft(more)
  assert.deepEqual(migrateSqlite(full.file, migrations), ['9999-draft'])
  assert.deepEqual(lack(more, migrations), nothing)
  using database = new DatabaseSync(full.file, { readOnly: true })
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
  assert.equal((await full.ask('GET /api/products/1')).json.name, 'Desk lamp')
})

test('the draft for a field that is counted from now on counts what is there and what comes', async () => {
  const more = defineModel({
    ...entities,
    product: {
      ...entities.product,
      fields: {
        ...entities.product.fields,
        shelf: text({ max: 20, initial: { value: 'A' } }),
      },
      counted: ['category', 'stock', 'shelf'],
    },
    post: { ...entities.post, counted: [] },
  })
  await using full = await createWorld({ on: 'sqlite' })
  const migrations = withDraft(more)
  migrateSqlite(full.file, migrations)
  assert.deepEqual(lack(more, migrations), nothing)
  await full.ask('DELETE /api/products/2', { as: 1 })
  await full.ask('PATCH /api/products/1', { as: 1, body: { stock: 3 } })
  await full.ask('POST /api/users/2/posts', { as: 2, body: { title: 'A', content: 'B' } })
  using database = new DatabaseSync(full.file, { readOnly: true })
  const rows = database
    .prepare(
      "select entity || ' ' || field || ' ' || value || ' ' || n as row from counts where entity <> 'users' and n <> 0 order by 1",
    )
    .all()
  assert.deepEqual(pluck(rows, 'row'), [
    'posts   5',
    'products   4',
    'products category decor 1',
    'products category kitchen 1',
    'products category lighting 1',
    'products category office 1',
    'products shelf A 4',
    'products stock 230 1',
    'products stock 3 2',
    'products stock 31 1',
  ])
})

test('the draft for a count and a mean knows the rows that are there: of the entity itself, of a new or another one than before, of another field', () => {
  const of = int({ min: 0, max: 9 })
  const sizes = { size: of, weight: of, isShut: flag({ initial: { value: 0 } }) }
  const upId = reference('tree', { nullable: true })
  const leaf = entity({ fields: { ...sizes, upId }, policy: { read: anyone } })
  const trees = (kept: Readonly<Record<string, Field>>, hasLeaves: boolean): Entities =>
    defineModel({
      tree: entity({
        fields: { ...sizes, upId, ...kept },
        relations: {
          under: many('tree', 'upId'),
          ...(hasLeaves && { leaves: many('leaf', 'upId') }),
        },
        policy: { read: anyone },
      }),
      ...(hasLeaves && { leaf }),
    } as never)
  const database = new DatabaseSync(':memory:')
  const known = draftings.map(drafting => [...machineMigrations(drafting.engine)])
  for (const { text } of known[0] ?? []) database.exec(text)
  const counted = 'select children, mean from trees where id = 1'
  const tree = 'insert into trees (size, weight, up_id) values'
  const some = {
    children: count('leaves', { where: { isShut: true } }),
    mean: avg('leaves.size', { where: { isShut: false } }),
  }
  const steps = [
    [{}, [], `${tree} (1, 0, null), (2, 0, 1), (5, 0, 1)`],
    [{ children: count('under'), mean: avg('under.size') }, [2, 35_000], ''],
    [
      { children: count('leaves'), mean: avg('leaves.size') },
      [0, null],
      'insert into leafs (size, weight, up_id) values (8, 1, 1)',
    ],
    [{ children: count('leaves'), mean: avg('leaves.weight') }, [1, 10_000], ''],
    [
      { children: count('under'), mean: avg('leaves.weight') },
      [2, 10_000],
      'insert into leafs (size, weight, up_id, is_shut) values (3, 2, 1, 1), (4, 2, 1, 1)',
    ],
    [
      some,
      [2, 80_000],
      'update leafs set is_shut = 1 - is_shut where size > 3; delete from leafs where size = 3',
    ],
    [some, [1, 40_000], ''],
  ] as const
  for (const [step, [kept, expected, next]] of steps.entries()) {
    for (const [index, drafting] of draftings.entries()) {
      const lack = () => lackOf(drafting, trees(kept, step > 1), known[index] ?? [])
      const draft = migrationsFor(lack(), 1, 'draft')
      if (drafting === sqliteDrafting) for (const { text } of draft) database.exec(text)
      known[index]?.push(...draft)
      assert.deepEqual(lack(), { inside: [], outside: [] }, drafting.engine)
    }
    if (step > 0) assert.deepEqual(Object.values(database.prepare(counted).get() ?? {}), expected)
    database.exec(next)
  }
  database.close()
})

test('the draft for a field that is searched from now on finds what is there', async () => {
  // A model would index a folded copy, which a draft cannot fill; its index is the same.
  const more: Entities = {
    ...entities,
    post: {
      ...entities.post,
      fields: { ...entities.post.fields, title: { ...entities.post.fields.title, indexed: true } },
    },
  }
  await using full = await createWorld({ on: 'sqlite' })
  migrateSqlite(full.file, withDraft(more))
  using database = new DatabaseSync(full.file, { readOnly: true })
  const found = database
    .prepare("select rowid from posts_title_search where posts_title_search match 'Fir'")
    .all()
  assert.deepEqual(pluck(found, 'rowid'), [1])
})

test('the draft for a model that counts by a field no longer makes its triggers anew', () => {
  const less = { ...entities, product: { ...entities.product, counted: [] } }
  const { inside, outside } = lack(less, known)
  assert.deepEqual(outside, [])
  assert.deepEqual(
    inside.map(text => /^\w+ \w+ \w+/.exec(text)?.[0]),
    [
      'drop trigger products_count_insert',
      'create trigger products_count_insert',
      'drop trigger products_count_delete',
      'create trigger products_count_delete',
      'drop trigger products_count_category',
    ],
  )
})

test('the draft for a model that counts by a field again counts the rows of meanwhile', () => {
  const less = { ...entities, product: { ...entities.product, counted: [] } }
  const without = [
    ...known,
    { name: '9998-less', text: `${lack(less, known).inside.join(';\n')};` },
  ]
  const { inside } = lack(entities, without)
  const made = inside.find(text => text.startsWith('create trigger products_count_category'))
  assert.ok(made, inside.join('\n'))
  assert.match(inside.at(-1) ?? '', /^insert into counts .*\n.*'category'/)
})
