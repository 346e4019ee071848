/** `duet migrate --draft`: what is written for each engine, and what a draft takes the migrations to make. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { contentMigrations, outsideMark, statementsOf } from '#engines/shared/migrations.ts'
import { draftings, draftMigrations, lackOf, titleOf } from '#kit/draft/draft.ts'
import { postgresDrafting } from '#kit/draft/postgres.ts'
import { entity } from '#model/entity.ts'
import { created, folded, reference, text } from '#model/field.ts'
import { defineModel, type Entities } from '#model/model.ts'
import { anyone } from '#model/policy.ts'
import { historyFor } from '#test/market.ts'
import content, { entities } from '#test/support/market/duet.config.ts'

const nothing = { inside: [], outside: [] }
const { post, product } = entities

const longer = defineModel({
  ...entities,
  post: {
    ...post,
    fields: { ...post.fields, probe: text({ max: 200, nullable: true }) },
    indexes: [...post.indexes, ['probe']],
  },
})

const root = mkdtempSync(join(tmpdir(), 'duet-draft-'))
after(() => rmSync(root, { recursive: true, force: true }))

/** A folder with a copy of the migrations, to draft in. */
let folders = 0
const copied = (): URL => {
  const folder = join(root, String(++folders))
  for (const { engine } of draftings) {
    mkdirSync(join(folder, engine), { recursive: true })
    for (const { name, text } of contentMigrations(engine, content.migrations))
      writeFileSync(join(folder, engine, `${name}.sql`), text)
  }
  return pathToFileURL(`${folder}/`)
}

const addedIn = (folder: URL) =>
  draftings.flatMap(({ engine }) =>
    readdirSync(new URL(`${engine}/`, folder))
      .filter(file => !readdirSync(new URL(`${engine}/`, content.migrations)).includes(file))
      .sort()
      .map(file => `${engine}/${file}`),
  )

const textIn = (folder: URL, file: string) => readFileSync(new URL(file, folder), 'utf8')

const usual = Math.max(
  // One of one engine alone takes the number for both.
  ...draftings
    .flatMap(({ engine }) => contentMigrations(engine, content.migrations))
    .map(({ name }) => Number.parseInt(name, 10)),
)
const number = (ahead: number) => String(usual + ahead).padStart(4, '0')

test('a draft is a file for each engine, of one number and name; an index of a table in use is one more', () => {
  const folder = copied()
  const [first, second] = [`${number(1)}-post-probe.sql`, `${number(2)}-post-probe-indexes.sql`]
  assert.deepEqual(
    draftMigrations(draftings, longer, 'Post: probe!', folder),
    [`sqlite/${first}`, `postgres/${first}`, `postgres/${second}`].map(file =>
      fileURLToPath(new URL(file, folder)),
    ),
  )
  assert.deepEqual(addedIn(folder), [`sqlite/${first}`, `postgres/${first}`, `postgres/${second}`])
  assert.equal(
    textIn(folder, `sqlite/${first}`),
    'alter table posts add column probe text;\n\ncreate index posts_by_probe on posts (probe);\n',
  )
  assert.equal(
    textIn(folder, `postgres/${first}`),
    'alter table posts add column probe text collate "C";\n',
  )
  assert.equal(
    textIn(folder, `postgres/${second}`),
    `${outsideMark}create index concurrently if not exists posts_by_probe on posts (probe, id);\n`,
  )
  assert.deepEqual(draftMigrations(draftings, longer, 'more', folder), [])
  assert.throws(() => draftMigrations(draftings, longer, 'äö', folder), {
    message: '--draft needs a name with letters or digits, such as add-size',
  })
})

for (const [what, probe, lacks] of [
  ['a field', text({ max: 200 }), 'value: make it nullable, or give it an initial value'],
  ['a time of making', created(), 'value: make it nullable'],
  [
    'a folded copy',
    folded('title'),
    'copy: make it nullable, and duet migrate fills it from title',
  ],
] as const)
  test(`${what} that rows which exist would not have is refused, and nothing is written`, () => {
    const folder = copied()
    const model = defineModel({ ...entities, post: { ...post, fields: { ...post.fields, probe } } })
    assert.throws(() => draftMigrations(draftings, model, 'probe', folder), {
      message: `post.probe cannot be added to rows that exist, which would have no ${lacks}`,
    })
    assert.deepEqual(addedIn(folder), [])
  })

test('the first draft of a content makes its folders', () => {
  const folder = new URL('never-made/', copied())
  const files = draftMigrations(draftings, { post }, 'first', folder)
  assert.deepEqual(
    files,
    ['sqlite', 'postgres'].map(engine =>
      fileURLToPath(new URL(`${engine}/0001-first.sql`, folder)),
    ),
  )
})

test('an engine that lacks nothing gets no file, and the next draft has a number that neither has', () => {
  const folder = copied()
  draftMigrations([postgresDrafting], longer, 'one', folder)
  writeFileSync(new URL('postgres/own.sql', folder), '')
  assert.deepEqual(draftMigrations(draftings, longer, 'two', folder), [
    fileURLToPath(new URL(`sqlite/${number(3)}-two.sql`, folder)),
  ])
})

for (const drafting of draftings)
  test(`the migrations make all that the model has on ${drafting.engine}`, () =>
    assert.deepEqual(lackOf(drafting, entities, historyFor(drafting.engine)), nothing))

/** Migrations of PostgreSQL, then what a draft lacks of these entities. */
const lackAfter = (text: string, model: Entities = entities) =>
  lackOf(postgresDrafting, model, [...historyFor('postgres'), { name: '9999-more', text }])

const added = 'alter table posts add column probe text collate "C"'
const index = 'create index concurrently if not exists posts_by_probe on posts (probe, id)'

test('an index that becomes unique is made anew, and one that is so no longer too', () => {
  const alone = {
    ...longer,
    post: {
      ...longer.post,
      sets: [{ fields: ['probe'], error: 'CONFLICT' as const }],
      indexes: post.indexes,
    },
  }
  for (const [from, to, unique, terms] of [
    [longer, alone, 'unique ', 'probe'],
    [alone, longer, '', 'probe, id'],
  ] as const) {
    const folder = copied()
    draftMigrations(draftings, from, 'from', folder)
    const files = draftMigrations(draftings, to, 'to', folder)
    const [sqlite, postgres] = files.map(file => readFileSync(file, 'utf8'))
    assert.equal(
      sqlite,
      `drop index posts_by_probe;\n\ncreate ${unique}index posts_by_probe on posts (probe);\n`,
    )
    assert.equal(
      postgres,
      `${outsideMark}${[
        `create ${unique}index concurrently if not exists next_posts_by_probe on posts (${terms})`,
        'drop index concurrently if exists posts_by_probe',
        'alter index next_posts_by_probe rename to posts_by_probe',
      ].join(';\n\n')};\n`,
    )
    assert.deepEqual(draftMigrations(draftings, to, 'more', folder), [])
  }
})

for (const [what, text, inside, outside] of [
  ['an added column', `${added};`, [], [index]],
  [
    'one that is added if it is not there',
    'alter table posts add if not exists probe text collate "C";',
    [],
    [index],
  ],
  [
    'two actions on a table',
    'alter table only posts alter column title set default (1, 2), add "probe" text collate "C";',
    [],
    [index],
  ],
  ['a column and its index', `${added}; ${index};`, [], []],
  [
    'one that is dropped again',
    `${added}; alter table posts drop column if exists probe;`,
    [added],
    [index],
  ],
  [
    'another that is renamed to it',
    'alter table posts add column below text collate "C"; alter table posts rename below to probe;',
    [],
    [index],
  ],
  [
    'an index dropped again',
    `${added}; ${index}; drop index concurrently if exists posts_by_probe;`,
    [],
    [index],
  ],
  [
    'an index that is renamed',
    `${added}; create index x on posts (probe, id); alter index x rename to posts_by_probe;`,
    [],
    [],
  ],
  [
    'a constraint, which has no column',
    'alter table posts add constraint probe check (id between 1 and 9007199254740991), add check (id between 1 and 9007199254740991);',
    [added],
    [index],
  ],
  ['a comment with the statement', `-- ${added};\nselect '${added}';`, [added], [index]],
  [
    'a statement within a body',
    `create function f() returns trigger language plpgsql as $f$ begin ${added}; end $f$;`,
    [added],
    [index],
  ],
  ['rows that are filled', `${added}; update posts set probe = ';' where id < 5;`, [], [index]],
] as const)
  test(`a draft for PostgreSQL reads ${what} off the text`, () =>
    assert.deepEqual(lackAfter(text, longer), { inside, outside }))

test('a table that is dropped is drafted anew with its indexes, in one transaction', () => {
  const { inside, outside } = lackAfter('drop table if exists likes cascade;')
  assert.deepEqual(
    inside.map(text => /^[\w ]+/.exec(text)?.[0]),
    [
      'create table likes ',
      'create index likes_by_user_id on likes ',
      'create index likes_by_comment_id on likes ',
      'create unique index likes_by_user_id_comment_id on likes ',
    ],
  )
  assert.deepEqual(outside, [])
})

test('a new table is made before a field of an entity that is there refers to it', () => {
  const shelf = entity({ fields: { name: text({ max: 9 }) }, policy: { read: anyone } })
  const shelfId = reference('shelf', { nullable: true })
  const shelved = { ...product, fields: { ...product.fields, shelfId } }
  const model = defineModel({ ...entities, product: shelved, shelf } as never) as Entities
  for (const drafting of draftings) {
    const { inside } = lackOf(drafting, model, historyFor(drafting.engine))
    assert.match(inside[0] ?? '', /^create table shelfs /)
    assert.match(inside[1] ?? '', /^alter table products add column shelf_id .* references shelfs /)
  }
})

test('a draft has the name of the table and the column that it is about', () => {
  const authorId = reference('user', { onDelete: 'restrict', graphql: 'input' })
  const changed = { ...entities, post: { ...post, fields: { ...post.fields, authorId } } }
  const titles = draftings.map(drafting => {
    const lack = lackOf(drafting, changed as never, historyFor(drafting.engine))
    return titleOf(`${[...lack.inside, ...lack.outside].join(';\n')};`)
  })
  assert.deepEqual(titles, ['posts-author-id', 'posts'])
  assert.equal(titleOf('alter table notes add column next_step text;'), 'notes-next-step')
})

test('a draft says where a new table may be one that is left over under its new name', () => {
  for (const drafting of draftings) {
    const articles = { ...entities, post: { ...post, table: 'articles' } }
    const { inside } = lackOf(drafting, articles, historyFor(drafting.engine))
    const said = inside.filter(text => text.startsWith('-- posts'))
    assert.match(
      said.join(),
      /^-- posts has these columns: if articles is its new name, give the entity table: 'posts' and draft again\ncreate table articles \([^-]+$/,
    )
  }
})

test('a table that is renamed takes its columns along', () => {
  const renamed = { ...entities, like: { ...entities.like, table: 'pictures' } }
  const { inside } = lackAfter('alter table likes rename to pictures;', renamed)
  assert.deepEqual(inside, [])
})

test('a function or trigger with another text is drafted in its place, but not for its white space', () => {
  const call = 'after update of role on users for each row'
  const trigger = `create or replace trigger users_count_role ${call} execute function users_count_role();`
  const body =
    'create or replace function users_count_role() returns trigger language plpgsql as $$begin return null; end$$;'
  const { inside } = lackAfter(trigger + body)
  assert.deepEqual(
    inside.map(text => /^[\w ]+/.exec(text)?.[0]),
    [
      'create or replace function users_count_role',
      'create or replace trigger users_count_role after update of role on users for each row when ',
    ],
  )
  assert.deepEqual(lackAfter(`${inside.join(' ;\n\n ').replaceAll(/\n\s*/g, '\n\n   ')};`), nothing)
  assert.deepEqual(
    lackAfter('drop trigger users_count_role on users; drop function users_count_role();').inside
      .length,
    4,
  )
})

test('the draft for a field that is counted from now on replaces what counts and fills in what is there', () => {
  const { inside } = lackAfter('', {
    ...entities,
    product: { ...product, counted: ['category', 'stock'] },
  })
  assert.deepEqual(
    inside.map(text => /^[\w ]+/.exec(text)?.[0]),
    [
      'create or replace function products_count_insert',
      'create or replace function products_count_delete',
      'create function products_count_stock',
      'create trigger products_count_stock after update of stock on products for each row when ',
      'delete from counts where entity ',
      'insert into counts ',
    ],
  )
})

test('a statement that the draft cannot read is refused by its migration and first line', () => {
  for (const text of ['create materialized view v as', 'do $$ begin drop table posts; end $$'])
    assert.throws(() => lackAfter(`${text}\n select 1;`), {
      message: `a draft cannot tell what the migration 9999-more makes by: ${text}`,
    })
  assert.deepEqual(
    lackAfter('do $$ begin loop update posts set id = id; end loop; end $$'),
    nothing,
  )
})

test('statements are split correctly whatever is in texts, names, bodies, comments and triggers', () => {
  const trigger =
    "create trigger t after insert on a begin\n  insert into b values (';');\n  select 1;\nend"
  const texts = [
    "insert into a values ('it''s;')",
    'select 1 as "x;y"',
    'do $x$ begin; $$;$$ end $x$',
    trigger,
    'select 2',
  ]
  assert.deepEqual(statementsOf(`-- one; two\n${texts.join(';\n')}; ;\n`), texts)
})
