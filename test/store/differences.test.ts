/** A store that is not what its model says: what the start says of each difference, and what a draft makes of it, on both engines. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { objectsIn } from '#engines/postgres/schema.ts'
import { postgresStore } from '#engines/postgres/store.ts'
import type { EngineName, Migration } from '#engines/shared/migrations.ts'
import type { Store } from '#engines/shared/store.ts'
import { sqliteStore } from '#engines/sqlite/store.ts'
import { lackOf, migrationsFor } from '#kit/draft/draft.ts'
import { postgresDrafting } from '#kit/draft/postgres.ts'
import { sqliteDrafting } from '#kit/draft/sqlite.ts'
import { type Entity, entity } from '#model/entity.ts'
import {
  choice,
  created,
  type Field,
  flag,
  folded,
  id,
  int,
  reference,
  revision,
  text,
} from '#model/field.ts'
import { defineModel, type Entities } from '#model/model.ts'
import { anyone, signedIn } from '#model/policy.ts'
import { checkSchema, migrateStore } from '#serve/store.ts'
import type { Session } from '#sql/engine.ts'
import { pluck } from '#test/asking.ts'
import { allRoutes, bySignedIn, member } from '#test/generated/models.ts'
import { historyFor, serveModel, serveWithMembers } from '#test/generated/serve.ts'
import { freshDatabase, templateFor } from '#test/postgres/tools/database.ts'
import { changeIn, filling, onPostgres } from '#test/stores.ts'
import { faultsOf } from './migration-safety.ts'

const usual = {
  id: id(),
  title: text({ max: 200, nullable: true }),
  titleKey: folded('title', { nullable: true, indexed: true }),
  servings: int({ min: 1, max: 100, nullable: true }),
  mood: choice(['calm', 'wild'], { initial: { value: 'calm' } }),
  slug: text({ max: 40 }),
  cookId: reference('cook', { onDelete: 'cascade' }),
  createdAt: created(),
  revision: revision(),
}

/** Recipes with these fields more, in place of others, or without those that are null. */
const withFields = (
  more: Readonly<Record<string, Field | null>>,
  options: Partial<Entity> = {},
): Entities => {
  const fields = Object.fromEntries(
    Object.entries({ ...usual, ...more }).filter(([, field]) => field !== null),
  ) as Record<string, Field>
  const sort = { style: 'signed list', fields: ['slug'] } as const
  const recipe = entity({
    description: 'A recipe.',
    fields,
    policy: bySignedIn,
    rest: {
      list: true,
      one: true,
      listing: {
        paging: 'page',
        limit: 10,
        ...(fields.slug && { sort }),
        ...(fields.titleKey && { filters: { find: { kind: 'contains', field: 'titleKey' } } }),
      },
    },
    ...options,
  } as never) as unknown as Entity
  const cook = entity({
    description: 'A cook.',
    fields: { id: id(), name: text({ max: 40 }) },
    policy: bySignedIn,
    rest: { list: true, one: true, listing: { paging: 'page', limit: 10 } },
  }) as unknown as Entity
  return defineModel({ recipe, cook } as never)
}

const engine = onPostgres ? 'postgres' : 'sqlite'

const folder = mkdtempSync(join(tmpdir(), 'duet-differences-'))
after(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
let database: { readonly session: Session; readonly drop: () => Promise<void> } | undefined
after(async () => database?.session.close())

const storeAt = (url: string, migrations: readonly Migration[]) =>
  postgresStore({ url, replicas: [], prepare: false, readers: 1, pool: 2, migrations })

/** A store with that history and rows; gives it with any history, and on PostgreSQL with one session but for new settings. */
const place = async (
  history: readonly Migration[],
  rows: string,
): Promise<(migrations: readonly Migration[], isNew?: boolean) => Store> => {
  const fill = async (store: Store) => {
    await store.migrate()
    await filling(store, async ({ session }) => {
      for (const text of rows.split(';')) await session.query({ text, values: [] })
    })
  }
  if (engine === 'sqlite') {
    const file = join(folder, `${++files}.db`)
    await fill(sqliteStore({ file, migrations: history }))
    return migrations => sqliteStore({ file, migrations })
  }
  // To copy one takes a fourth of what it takes to apply a history.
  const key = JSON.stringify([history, rows])
  const template = await templateFor(key, url => fill(storeAt(url, history)))
  await database?.session.close()
  await database?.drop()
  const { url, drop } = await freshDatabase({ template })
  const session = await storeAt(url, history).session('filling')
  database = { session, drop }
  return (migrations, isNew = false) => ({
    ...storeAt(url, migrations),
    ...(!isNew && {
      session: async () => ({ ...session, close: async () => {} }),
      made: validated => objectsIn(session.query, validated),
    }),
  })
}

/** A text for each engine, or one for both. */
type ForEach = string | Readonly<Record<EngineName, string>>

type Case = {
  /** The model that the store was made for, and the one that is served. */
  readonly from?: Entities
  readonly to?: Entities
  /** A migration by hand. */
  readonly by?: ForEach
  /** What the start says, sentence by sentence. */
  readonly told: readonly string[]
  /** Unless it says no the draft makes the store as its model says; else it says the same. */
  readonly isDrafted?: false
  /** A look at the rows afterwards, and what there is. */
  readonly look?: readonly [text: string, rows: readonly (readonly unknown[])[]]
}

const base = withFields({})
const draft = 'run duet migrate --draft NAME, read what it writes, and start again'
const unknown = (what: string, name: string, drop = 'drop it in a migration') =>
  `recipes has the ${what} ${name}, which recipe does not know: ${drop}, or list it in own: ['${name}']`
const otherKind = (column: string, kind: string) =>
  `and its column is ${column}: take its former kind back, or add a field of ${kind} under another name, fill it and drop the old one, as docs/migrations.md shows`

const other = (what: string, name: string) =>
  `recipes has another ${what} ${name} than the model: ${draft}`

const rows = `insert into cooks (name) values ('Ada'), ('Bob');
  insert into recipes (title, servings, mood, slug, cook_id, created_at) values ('Soup', 4, 'wild', 'soup', 1, 1);
  insert into recipes (title, servings, mood, slug, cook_id, created_at) values (null, null, 'calm', 'tea', 2, 1)`

const cases: Readonly<Record<string, Case>> = {
  'a field that is needed in the model, and its column may be null': {
    to: withFields({ servings: int({ min: 1, max: 100, initial: { value: 2 } }) }),
    told: [
      `recipe.servings is needed in the model, and its column may be null: ${draft}, or make it nullable`,
    ],
    look: ['select servings from recipes order by id', [[4], [2]]],
  },
  'a needed field of rows that are never changed': {
    from: withFields(
      { cookId: reference('cook', { onDelete: 'restrict' }) },
      { appendOnly: true, policy: { read: signedIn, create: signedIn } },
    ),
    to: withFields(
      {
        servings: int({ min: 1, max: 100, initial: { value: 2 } }),
        cookId: reference('cook', { onDelete: 'restrict' }),
      },
      { appendOnly: true, policy: { read: signedIn, create: signedIn } },
    ),
    told: [
      `recipe.servings is needed in the model, and its column may be null: ${draft}, or make it nullable`,
    ],
    look: ['select servings from recipes order by id', [[4], [2]]],
  },
  'a field that may be null in the model, and its column may not': {
    to: withFields({ slug: text({ max: 40, nullable: true }) }),
    told: [
      `recipe.slug may be null in the model, and its column may not: ${draft}, or take nullable back`,
    ],
  },
  'a field that says what it was called': {
    to: withFields({
      servings: null,
      slug: null,
      portions: int({ min: 1, max: 100, nullable: true, renamed: 'servings' }),
      path: text({ max: 40, renamed: 'slug' }),
    }),
    told: [
      `recipe.portions is in the model, and no migration makes its column: ${draft}`,
      `recipe.path is in the model, and no migration makes its column: ${draft}`,
      `recipes.slug is recipe.path in the model: ${draft}`,
    ],
    look: [
      'select portions, path from recipes order by id',
      [
        [4, 'soup'],
        [null, 'tea'],
      ],
    ],
  },
  'a choice that is counted, searched beside and unique with another, by another name': {
    from: withFields({}, { counted: ['mood'], sets: [['mood', 'slug']] as never }),
    to: withFields(
      {
        mood: null,
        air: choice(['calm', 'wild'], { initial: { value: 'calm' }, renamed: 'mood' }),
      },
      { counted: ['air'], sets: [['air', 'slug']] as never },
    ),
    told: [
      `recipe.air is in the model, and no migration makes its column: ${draft}`,
      `the set of air, slug of recipe is unique in the model, and not in recipes: ${draft}`,
      `the set of air, slugNfc of recipe is unique in the model, and not in recipes: ${draft}`,
      `recipes lacks the trigger recipes_count_air: ${draft}`,
      other('trigger', 'recipes_count_insert'),
      other('trigger', 'recipes_count_delete'),
      unknown('trigger', 'recipes_count_mood', draft),
      unknown('unique index', 'recipes_by_mood_slug', draft),
      // A composed copy of a text is unique where the text is.
      unknown('unique index', 'recipes_by_mood_slug_nfc', draft),
    ],
    look: [
      "select value, cast(sum(n) as integer) from counts where entity = 'recipes' and field = 'air' group by value order by value",
      [
        ['calm', 1],
        ['wild', 1],
      ],
    ],
  },
  'a number that is a text now': {
    to: withFields({ servings: text({ max: 40, nullable: true }) }),
    told: [],
    isDrafted: false,
  },
  'a choice without a value that rows may have': {
    to: withFields({ mood: choice(['calm', 'wild', 'odd'], { initial: { value: 'calm' } }) }),
    told: [
      `recipe.mood is one of calm, wild, odd in the model, and its column takes other values: ${draft}`,
    ],
    look: ['select mood from recipes order by id', [['wild'], ['calm']]],
  },
  'a text that is a choice now': {
    from: withFields({ mood: text({ max: 20, initial: { value: 'calm' } }) }),
    told: [
      `recipe.mood is one of calm, wild in the model, and its column takes other values: ${draft}`,
    ],
  },
  'a choice that is a text now': {
    to: withFields({ mood: text({ max: 20, initial: { value: 'calm' } }) }),
    told: [`recipe.mood takes any value in the model, and its column only some: ${draft}`],
  },
  ...Object.fromEntries(
    [
      "mood in ('calm', 'wild') or 1 = 1",
      "mood in ('calm', 'wild') and servings > 2",
      "slug in ('calm', 'wild') or id < 4",
      "mood not in ('calm', 'wild') or id < 4",
    ].map(check => [
      `a check of its values that says ${check}`,
      {
        by: `delete from recipes where mood = 'calm'; alter table recipes drop constraint mood_values; alter table recipes add constraint mood_values check (${check})`,
        told: [
          `recipe.mood is one of calm, wild in the model, and its column takes other values: ${draft}`,
        ],
      },
    ]),
  ),
  'a check of values on a text that is no choice': {
    by: "alter table recipes add constraint slug_values check (slug <> 'x')",
    told: [`recipe.slug takes any value in the model, and its column only some: ${draft}`],
  },
  'a column that is left over, never null and without a default, beside that of a flag': {
    from: withFields({
      place: int({ min: 0, max: 9, nullable: true }),
      fresh: flag({ initial: { value: 1 } }),
    }),
    by: 'update recipes set place = 1; alter table recipes alter column place set not null',
    told: [
      `recipes.place has no field in recipe and takes no row without a value: give renamed to the field that it is now, or ${draft}`,
    ],
  },
  'a field that is unique in the model alone': {
    to: withFields({ slug: text({ max: 40, unique: 'CONFLICT' }) }),
    told: [
      `recipe.slugNfc is in the model, and no migration makes its column: ${draft}`,
      `the field slug of recipe is unique in the model, and not in recipes: ${draft}`,
      `the field slugNfc of recipe is unique in the model, and not in recipes: ${draft}`,
    ],
  },
  'a unique index of its name on more than the field': {
    from: withFields({ slug: text({ max: 40, unique: 'CONFLICT' }) }),
    to: withFields({ slug: text({ max: 40, unique: 'CONFLICT' }) }),
    by: 'drop index recipes_by_slug; create unique index recipes_by_slug on recipes (slug, id)',
    told: [`the field slug of recipe is unique in the model, and not in recipes: ${draft}`],
  },
  'a field that is unique in the store alone': {
    from: withFields({
      cookId: reference('cook', { onDelete: 'cascade', unique: 'CONFLICT' }),
      title: text({ max: 200, nullable: true, unique: 'CONFLICT' }),
    }),
    told: [
      unknown('unique index', 'recipes_by_title', draft),
      unknown('unique index', 'recipes_by_title_nfc', draft),
    ],
  },
  'a reference that does something else when its target goes': {
    to: withFields(
      { cookId: reference('cook', { onDelete: 'restrict' }) },
      { counted: ['cookId'] },
    ),
    from: withFields({}, { counted: ['cookId'] }),
    told: [
      `recipe.cookId refers to cooks on delete restrict in the model, and its column to cooks on delete cascade: ${draft}`,
    ],
    look: ['select cook_id from recipes order by id', [[1], [2]]],
  },
  'a reference that says nothing, where that meant cascade': {
    to: withFields({ cookId: reference('cook') }, { counted: ['cookId'] }),
    from: withFields({}, { counted: ['cookId'] }),
    told: [
      `recipe.cookId refers to cooks on delete restrict in the model, and its column to cooks on delete cascade: say onDelete: 'cascade' at cookId, which was meant where nothing was said, if its rows shall go on going with the other one; else ${draft}`,
    ],
  },
  'a reference that the store does not know': {
    from: withFields({ cookId: int({ min: 1, max: 1000 }) }),
    told: [
      `recipe.cookId refers to cooks on delete cascade in the model, and its column to nothing: ${draft}`,
      `recipes lacks the index recipes_by_cook_id: ${draft}`,
    ],
  },
  'a reference that the model does not know': {
    to: withFields({ cookId: int({ min: 1, max: 1000 }) }),
    told: [
      `recipe.cookId refers to nothing in the model, and its column to cooks on delete cascade: ${draft}`,
    ],
  },
  'a unique index by hand': {
    by: 'create unique index tidy on recipes (slug)',
    told: [unknown('unique index', 'tidy')],
    isDrafted: false,
  },
  'a unique constraint by hand': {
    by: {
      sqlite:
        'alter table recipes add column code text; create unique index recipes_code_key on recipes (code)',
      postgres: 'alter table recipes add column code text unique',
    },
    told: [unknown('unique index', 'recipes_code_key')],
    isDrafted: false,
  },
  'a check by hand': {
    by: 'alter table recipes add constraint few check (servings is null or servings < 50)',
    told: [unknown('check', 'few')],
    isDrafted: false,
  },
  'a check without a name': {
    by: 'alter table recipes add column stars integer check (stars > 0)',
    told: [unknown('check', 'recipes_stars_check')],
    isDrafted: false,
  },
  'a trigger by hand': {
    by: {
      sqlite: 'create trigger tidy after insert on recipes begin select 1; end',
      postgres:
        'create function tidied() returns trigger language plpgsql as $$ begin return null; end $$; create trigger tidy after insert on recipes for each row execute function tidied()',
    },
    told: [unknown('trigger', 'tidy')],
    isDrafted: false,
  },
  'triggers that count no longer': {
    from: withFields({}, { counted: ['mood'] }),
    told: ['count_insert', 'count_delete', 'count_mood'].map(name =>
      unknown('trigger', `recipes_${name}`, draft),
    ),
  },
  'triggers that are to count': {
    to: withFields({}, { counted: ['mood'] }),
    told: ['count_insert', 'count_delete', 'count_mood'].map(
      name => `recipes lacks the trigger recipes_${name}: ${draft}`,
    ),
    look: [
      "select value, cast(sum(n) as integer) from counts where entity = 'recipes' and field = 'mood' group by value order by value",
      [
        ['calm', 1],
        ['wild', 1],
      ],
    ],
  },
  'a trigger of its name that does nothing': {
    from: withFields({}, { counted: ['mood'] }),
    to: withFields({}, { counted: ['mood'] }),
    by: {
      sqlite:
        'drop trigger recipes_count_insert; create trigger recipes_count_insert after insert on recipes begin select 1; end',
      postgres:
        'create or replace function recipes_count_insert() returns trigger language plpgsql as $$ begin return null; end $$',
    },
    told: [other('trigger', 'recipes_count_insert')],
  },
  'a trigger of its name for something else': {
    from: withFields({}, { counted: ['mood'] }),
    to: withFields({}, { counted: ['mood'] }),
    by: {
      sqlite:
        'drop trigger recipes_count_mood; create trigger recipes_count_mood after update of title on recipes begin select 1; end',
      postgres:
        'drop trigger recipes_count_mood on recipes; create trigger recipes_count_mood after update of mood on recipes for each row execute function recipes_count_mood()',
    },
    told: [other('trigger', 'recipes_count_mood')],
  },
  'a trigger without its function': {
    from: withFields({}, { counted: ['mood'] }),
    to: withFields({}, { counted: ['mood'] }),
    by: {
      sqlite: 'drop trigger recipes_count_delete',
      postgres: 'drop function recipes_count_delete() cascade',
    },
    told: [`recipes lacks the trigger recipes_count_delete: ${draft}`],
  },
  ...Object.fromEntries(
    [
      ['a part of the rows', "(slug) where slug <> 'tea'"],
      ['an expression', '(lower(slug))'],
      ['another column', '(title)'],
    ].map(([what, on]) => [
      `a unique index of its name on ${what}`,
      {
        from: withFields({ slug: text({ max: 40, unique: 'CONFLICT' }) }),
        to: withFields({ slug: text({ max: 40, unique: 'CONFLICT' }) }),
        by: `drop index recipes_by_slug; create unique index recipes_by_slug on recipes ${on}`,
        told: [`the field slug of recipe is unique in the model, and not in recipes: ${draft}`],
      },
    ]),
  ),
  'a table that is a view': {
    from: withFields({ cookId: int({ min: 1, max: 1000 }) }),
    to: withFields({ cookId: int({ min: 1, max: 1000 }) }),
    by: 'alter table cooks rename to people; create view cooks as select id, name from people',
    told: ['cook is on cooks, which is a view: say view: true'],
    isDrafted: false,
  },
}

const anew = 'no statement changes that: export its rows, and import them into a new store'
const counted = withFields({}, { counted: ['mood'] })
const disabled = (name: string) => `recipes has disabled its trigger ${name}: ${draft}`

const ofMachine = (what: string) =>
  `counts has the ${what} quiet, which Duet does not know: drop it in a migration`

const flawForm = / has disabled | is unlogged| never compared | inherits /

/** What only one engine has; each is repaired by a draft, or takes a new store. */
const ofEngine: Readonly<
  Record<EngineName, Readonly<Record<string, readonly [by: string, ...told: string[]]>>>
> = {
  sqlite: {
    'a text that ignores case': [
      "drop index recipes_by_slug; alter table recipes drop column slug; alter table recipes add column slug text not null default '' collate nocase; create index recipes_by_slug on recipes (slug)",
      `recipe.slug is stored as text, and its column is text collate nocase, which sorts texts otherwise: ${draft}`,
    ],
    'a column that leaves out in silence what it refuses': [
      'create table old (id integer primary key autoincrement, name text not null on conflict ignore) strict; insert into old select id, name from cooks; pragma defer_foreign_keys = on; pragma legacy_alter_table = on; drop table cooks; alter table old rename to cooks; pragma legacy_alter_table = off',
      `cook.name says on conflict in cooks, so that what is refused may be left out in silence: ${anew}`,
    ],
    'a table that says in a remark alone what it should be': [
      'create table old (id integer primary key /* autoincrement */, name text not null) /* strict */; insert into old select id, name from cooks; pragma defer_foreign_keys = on; pragma legacy_alter_table = on; drop table cooks; alter table old rename to cooks; pragma legacy_alter_table = off',
      `cook.id is not autoincrement in cooks: ${anew}`,
      `cooks is not strict, so that it takes values of any kind: ${anew}`,
    ],
    'a table of the machine with a trigger': [
      'create trigger quiet before insert on counts begin select raise(ignore); end',
      ofMachine('trigger'),
    ],
    'a table that is not strict': [
      'create table old (id integer primary key autoincrement, name text not null); insert into old select id, name from cooks; pragma defer_foreign_keys = on; pragma legacy_alter_table = on; drop table cooks; alter table old rename to cooks; pragma legacy_alter_table = off',
      `cooks is not strict, so that it takes values of any kind: ${anew}`,
    ],
    'a table that gives ids again': [
      'create table old (id integer primary key, name text not null) strict; insert into old select id, name from cooks; pragma defer_foreign_keys = on; pragma legacy_alter_table = on; drop table cooks; alter table old rename to cooks; pragma legacy_alter_table = off',
      `cook.id is not autoincrement in cooks: ${anew}`,
    ],
    'a search of its name with another tokenizer': [
      "drop table recipes_title_key_search; create virtual table recipes_title_key_search using fts5 (title_key, content = 'recipes', content_rowid = 'id')",
      `recipes has another search recipes_title_key_search than the model: ${draft}`,
    ],
  },
  postgres: {
    'a table of the machine with a rule': [
      'create rule quiet as on insert to counts do instead nothing',
      ofMachine('rule'),
    ],
    'a table of the machine with a trigger': [
      'create function quiet() returns trigger language plpgsql as $$ begin return null; end $$; create trigger quiet before insert on counts for each row execute function quiet()',
      ofMachine('trigger'),
    ],
    'a table of the machine without a log': [
      'alter table counts set unlogged',
      `counts is unlogged: a crash empties it, and replicas have none of it: ${draft}`,
    ],
    'a reference by two columns': [
      'create table pairs (a bigint, b bigint, primary key (a, b)); insert into pairs values (1, 1), (2, 2); alter table recipes add constraint pair foreign key (id, cook_id) references pairs (a, b)',
      unknown('constraint', 'pair'),
    ],
    'a trigger that is disabled': [
      'alter table recipes disable trigger recipes_count_insert',
      disabled('recipes_count_insert'),
    ],
    'triggers that are disabled for users': [
      'alter table recipes disable trigger user',
      ...['insert', 'delete', 'mood'].map(name => disabled(`recipes_count_${name}`)),
    ],
    'all triggers disabled': [
      'alter table recipes disable trigger all',
      ...['insert', 'delete', 'mood'].map(name => disabled(`recipes_count_${name}`)),
      `recipes has disabled the triggers that check its references: ${draft}`,
    ],
    'a trigger that runs on replicas alone': [
      'alter table recipes enable replica trigger recipes_count_mood',
      disabled('recipes_count_mood'),
    ],
    'a rule that writes nothing': [
      'create rule quiet as on delete to recipes do instead nothing',
      unknown('rule', 'quiet'),
    ],
    'a constraint that excludes rows': [
      'alter table recipes add constraint apart exclude using btree (slug with =)',
      unknown('constraint', 'apart'),
    ],
    'an id that nobody gives': [
      'alter table recipes alter column id drop identity',
      `recipe.id is not generated by default as identity in recipes: ${draft}`,
    ],
    'an id that nobody may give': [
      'alter table recipes alter column id set generated always',
      `recipe.id is not generated by default as identity in recipes: ${draft}`,
    ],
    'an id of a sequence by hand': [
      "alter table recipes alter column id drop identity; create sequence hand; alter table recipes alter column id set default nextval('hand')",
      `recipe.id is not generated by default as identity in recipes: ${draft}`,
    ],
    'an id that is not the key': [
      'alter table recipes drop constraint recipes_pkey',
      `recipe.id is not primary key in recipes: ${draft}`,
    ],
    'a table without a log': [
      'alter table recipes set unlogged',
      `recipes is unlogged: a crash empties it, and replicas have none of it: ${draft}`,
    ],
    'a check that was never compared with its rows': [
      "alter table recipes drop constraint mood_values; alter table recipes add constraint mood_values check (mood in ('calm', 'wild')) not valid",
      `recipes has the constraint mood_values, which was never compared with its rows: ${draft}`,
    ],
    'a reference that is checked late': [
      'alter table recipes drop constraint recipes_cook_id_fkey; alter table recipes add constraint recipes_cook_id_fkey foreign key (cook_id) references cooks (id) on delete cascade deferrable initially deferred',
      `recipe.cookId refers to cooks on delete cascade in the model, and its column to cooks on delete cascade deferrable: ${draft}`,
    ],
    'a table that inherits': [
      'create table older (id bigint not null, slug text); alter table older alter column id drop not null; alter table older alter column slug type text collate "C"; alter table recipes inherit older',
      `recipes inherits from older, which has its rows too: ${draft}`,
    ],
  },
}

const textFor = (text: ForEach): string => (typeof text === 'string' ? text : text[engine])

/** A store with rows, made for a model and changed by hand. */
const made = async (from: Entities, by?: ForEach, filled = rows) => {
  const history = historyFor(engine, from)
  const at = await place(history, filled)
  const byHand = by === undefined ? [] : [{ name: '0002-by-hand', text: `${textFor(by)};` }]
  const known: readonly Migration[] = [...history, ...byHand]
  const store = at(known)
  if (by !== undefined) await store.migrate()
  return { at, known, store }
}

const drafting = onPostgres ? postgresDrafting : sqliteDrafting

const draftedFor = (to: Entities, known: readonly Migration[]) =>
  migrationsFor(lackOf(drafting, to, known), 4, 'draft')

describe('a store', () => {
  test('is what its model says', async () => {
    const { store, known } = await made(base)
    assert.deepEqual(await checkSchema(store, base), [])
    assert.deepEqual(draftedFor(base, known), [])
  })

  for (const [what, { from = base, to = base, by, told, isDrafted = true, look }] of Object.entries(
    cases,
  ))
    test(`has ${what}`, async () => {
      const { at, store, known } = await made(from, by)
      const number = { sqlite: 'integer', postgres: 'bigint' }[engine]
      const kind = { sqlite: 'text', postgres: 'text collate c' }[engine]
      const sentences =
        told.length > 0
          ? told
          : [`recipe.servings is stored as ${kind}, ${otherKind(number, 'this kind')}`]
      const stopping = sentences.filter(one => !one.includes('lacks the index'))
      await assert.rejects(checkSchema(store, to), ({ message }: Error) => {
        assert.deepEqual(message.split('\n').sort(), stopping.toSorted())
        return true
      })
      if (!isDrafted) {
        assert.throws(() => draftedFor(to, known), { message: sentences.join('\n') })
        return
      }
      const drafted = draftedFor(to, known)
      for (const { text } of drafted)
        if (!/create unique index|drop trigger/.test(text))
          assert.deepEqual(faultsOf(engine, text), [], text)
      const next = at([...known, ...drafted])
      assert.deepEqual(
        await migrateStore(next, to),
        drafted.map(({ name }) => name),
      )
      const notes = await checkSchema(next, to)
      assert.equal(notes.filter(note => note.includes('lacks')).length, 0, notes.join('\n'))
      assert.deepEqual(draftedFor(to, [...known, ...drafted]), [])
      if (look) assert.deepEqual(await changeIn(next)(look[0]), look[1])
    })

  for (const [what, [by, ...told]] of Object.entries(ofEngine[engine]))
    test(`has ${what}, which a draft says and repairs, whether a migration made it or a hand`, async () => {
      const { at, store, known } = await made(counted, by)
      const says = ({ message }: Error) => {
        assert.deepEqual(message.split('\n').sort(), told.toSorted())
        return true
      }
      await assert.rejects(checkSchema(store, counted), says)
      // As if it had been done past the migrations.
      const byHand = await store.made()
      // What is wrong with a table as a whole is read off no text of PostgreSQL.
      const isSeen = engine === 'sqlite' || !told.some(one => flawForm.test(one))
      for (const lack of [
        ...(isSeen ? [() => lackOf(drafting, counted, known)] : []),
        () => lackOf(drafting, counted, [], byHand),
      ]) {
        if (told.some(one => !one.includes(draft))) {
          assert.throws(lack, says)
          continue
        }
        const drafted = migrationsFor(lack(), 4, 'draft')
        assert.ok(drafted.length > 0)
        if (lack().inside.length + lack().outside.length === 0) continue
        const next = [...known, ...drafted]
        assert.deepEqual(draftedFor(counted, next), [])
      }
      if (told.some(one => !one.includes(draft))) return
      const drafted = migrationsFor(lackOf(drafting, counted, [], byHand), 4, 'draft')
      const next = at([...known, ...drafted])
      await migrateStore(next, counted)
      const notes = await checkSchema(next, counted)
      assert.ok(
        notes.every(note => note.startsWith('the store has more')),
        notes.join('\n'),
      )
      await changeIn(next)(
        "insert into recipes (title, servings, mood, slug, cook_id, created_at) values ('Ice', 4, 'wild', 'ice', 1, 1)",
      )
      const [row] = await changeIn(next)('select max(id), count(*) from recipes')
      assert.deepEqual(row?.map(Number), [3, 3])
    })

  test('hides rows from the user of the service', {
    skip: !onPostgres && 'SQLite has no users',
  }, async () => {
    const { store } = await made(base)
    const change = changeIn(store)
    const user = `duet_short_${process.pid}`
    await change(`create role ${user} login password 'plain'`)
    await change(`grant select on all tables in schema public to ${user}`)
    await change('alter table recipes enable row level security')
    try {
      // Its owner sees all rows.
      assert.deepEqual(await checkSchema(store, base), [])
      const [row] = await change('select current_database()')
      const url = new URL(process.env.DUET_TEST_POSTGRES_URL ?? '')
      const at = Object.assign(url, { pathname: row?.[0], username: user, password: 'plain' }).href
      const migrations = historyFor(engine, base)
      const options = { replicas: [], prepare: true, readers: 1, pool: 2, migrations }
      await assert.rejects(checkSchema(postgresStore({ url: at, ...options }), base), {
        message: `recipes has row level security, which hides rows from this user of the database: ${draft}`,
      })
    } finally {
      await change(`drop owned by ${user}`)
      await change(`drop role ${user}`)
    }
  })

  for (const [what, [told, ...by]] of Object.entries({
    'the rows of a table that inherits from its own': [
      `recipes has the rows of extra too, which inherits from it: ${draft}`,
      'create table extra () inherits (recipes)',
    ],
    'a reference to something else than an id': [
      'recipe.cookId refers to cooks on delete cascade in the model, and its column to cooks (code) on delete cascade',
      'alter table cooks add column code bigint constraint codes unique',
      'update cooks set code = id',
      'alter table recipes drop constraint recipes_cook_id_fkey',
      'alter table recipes add constraint recipes_cook_id_fkey foreign key (cook_id) references cooks (code) on delete cascade',
    ],
    'ids that end soon': [
      `recipe.id is not generated by default as identity in recipes: ${draft}`,
      'alter table recipes alter column id set maxvalue 3',
    ],
    'a table that another one hides': [
      'recipes is hidden by another table of its name: name its schema alone in the URL, as docs/scaling.md shows',
      'create schema authorization current_user',
      'create table recipes (id bigint)',
    ],
    'sessions without triggers': [
      'recipes is written without its triggers: reset session_replication_role, which is replica',
      "do $$ begin execute format('alter database %I set session_replication_role = replica', current_database()); end $$",
    ],
  } satisfies Record<string, readonly [told: string, ...by: string[]]>))
    test(`has ${what}, as only its catalogue shows`, {
      skip: !onPostgres && 'SQLite has nothing of the kind',
    }, async () => {
      const { at, known } = await made(counted)
      const store = at(known, true)
      for (const statement of by) await changeIn(store)(statement)
      await assert.rejects(checkSchema(store, counted), ({ message }: Error) => {
        assert.ok(message.includes(told), message)
        return true
      })
      if (!told.includes(draft)) return
      const drafted = migrationsFor(lackOf(drafting, counted, [], await store.made()), 4, 'draft')
      const next = at([...known, ...drafted], true)
      await migrateStore(next, counted)
      await checkSchema(next, counted)
    })

  test('has an index of its name on something else, which is only slow, and drafted anew', async () => {
    const { at, store, known } = await made(
      base,
      'drop index recipes_by_slug; create index recipes_by_slug on recipes (title)',
    )
    assert.deepEqual(await checkSchema(store, base), [other('index', 'recipes_by_slug')])
    const byHand = migrationsFor(lackOf(drafting, base, [], await store.made()), 4, 'draft')
    assert.deepEqual(draftedFor(base, known), byHand)
    const next = at([...known, ...byHand])
    await next.migrate()
    assert.deepEqual(await checkSchema(next, base), [])
  })

  test('serves what its entity lists in own, and says what else it has', async () => {
    const own = withFields({}, { own: ['few', 'tidy', 'recipes_stars_check'] })
    const { store, known } = await made(
      base,
      `create unique index tidy on recipes (slug);
        alter table recipes add constraint few check (servings is null or servings < 50);
        alter table recipes add column stars integer check (stars > 0);
        create index quick on recipes (servings);
        create table notes (id integer primary key);
        create table marks (id integer primary key, at bigint references recipes (id));
        create view short as select id from recipes`,
    )
    const [note = '', ...others] = await checkSchema(store, own)
    assert.deepEqual(others, [])
    const [begin, list = ''] = note.split(': ')
    assert.equal(begin, 'the store has more than the model, which a migration may drop')
    assert.deepEqual(list.split(', ').sort(), [
      'the column stars of recipes',
      'the index quick of recipes',
      'the table marks (which keeps rows of recipes)',
      'the table notes',
      'the view short',
    ])
    assert.deepEqual(draftedFor(own, known), [])
  })

  test('serves an entity on a view, of which keys and nulls do not count', async () => {
    const view = defineModel({
      ...base,
      cook: {
        ...(base.cook as Entity),
        view: true,
        table: 'people',
        policy: { read: signedIn },
      },
    } as never) as Entities
    const { store, known } = await made(
      withFields({ cookId: int({ min: 1, max: 9 }) }),
      'create view people as select id, name from cooks',
    )
    const [first, ...others] = draftedFor(view, known)
    assert.match(first?.text ?? '', /recipes_by_cook_id/)
    assert.ok(others.every(({ text }) => !text.includes('people')))
    assert.deepEqual(await checkSchema(store, view), [
      `recipes lacks the index recipes_by_cook_id: ${draft}`,
      'the store has more than the model, which a migration may drop: the table cooks',
    ])
    await assert.rejects(
      checkSchema(store, { ...view, cook: { ...(view.cook as Entity), table: 'nobody' } }),
      { message: 'cook is on a view, and no migration makes nobody: write one that does' },
    )
  })

  for (const [what, to, fault] of [
    [
      'a needed field that rows lack',
      withFields({ title: text({ max: 200 }) }),
      'recipes has 2 rows without title, the first of the id 2',
    ],
    [
      'a needed field that rows lack, and that becomes unique by a copy which is not there yet,',
      withFields({ title: text({ max: 200, unique: true }) }),
      'recipes has 2 rows without title, the first of the id 2',
    ],
    [
      'a choice without a value that rows have',
      withFields({ mood: choice(['calm', 'odd'], { initial: { value: 'calm' } }) }),
      'recipes has 1 row with a mood that is none of calm, odd, the first of the id 1',
    ],
    [
      'a unique field that rows share',
      withFields({ servings: int({ min: 1, max: 9, nullable: true, unique: 'CONFLICT' }) }),
      'recipes has 2 rows with the servings of another, the first of the id 1',
    ],
    [
      'a unique field that rows share, beside a new one',
      withFields({
        servings: int({ min: 1, max: 9, nullable: true, unique: 'CONFLICT' }),
        place: int({ min: 0, max: 9, nullable: true }),
      }),
      'recipes has 2 rows with the servings of another, the first of the id 1',
    ],
    [
      'a choice, which was a text, without a value that rows have',
      withFields({ slug: choice(['soup', 'tea'], { initial: { value: 'tea' } }) }),
      'recipes has 1 row with a slug that is none of soup, tea, the first of the id 3',
    ],
    [
      'a reference that leads nowhere',
      withFields({ servings: reference('cook', { onDelete: 'cascade', nullable: true }) }),
      'recipes has 2 rows with a servings that names no row of cooks, the first of the id 1',
    ],
  ] as const)
    test(`says how many rows break ${what}, and which first, and is as it was before`, async () => {
      const third =
        "insert into recipes (title, servings, mood, slug, cook_id, created_at) values (null, 4, 'calm', 'ice', 2, 1)"
      const { at, known, store } = await made(base, undefined, `${rows};\n${third}`)
      const before = await store.made()
      const drafted = draftedFor(to, known)
      await assert.rejects(migrateStore(at([...known, ...drafted]), to), ({ message }: Error) => {
        const [failed = '', ...faults] = message.split('\n')
        assert.match(failed, /^the migration 000\d-draft\S* failed: (?!\w+ constraint: )/)
        assert.deepEqual(faults, [
          `${fault}: change them, or let an update above in that migration do so, then run duet migrate again`,
        ])
        return true
      })
      // The release before starts, and writes what it wrote.
      assert.deepEqual(await store.pending(), [])
      assert.deepEqual(await store.made(), before)
      if (onPostgres) {
        const invalid = 'select count(*) from pg_index where not indisvalid'
        assert.deepEqual(await changeIn(store)(invalid), [[0]])
      }
    })

  test('is asked whether a new field is a column that is left over', async () => {
    const portions = int({ min: 1, max: 100, nullable: true })
    const to = withFields({ servings: null, portions })
    const { store, known } = await made(base)
    assert.throws(() => draftedFor(to, known), {
      message:
        "is recipe.portions the column servings by another name? Then give it renamed: 'servings', else renamed: false, and draft again",
    })
    await assert.rejects(checkSchema(store, to), {
      message: `recipe.portions is in the model, and no migration makes its column: ${draft} (if it is servings by another name, give it renamed)`,
    })
    const wrong = withFields({ servings: null, portions: { ...portions, renamed: 'serving' } })
    assert.throws(() => draftedFor(wrong, known), {
      message:
        'recipe.portions was renamed from serving, but recipes has no such column: name one of servings, or leave renamed out',
    })
    const isNew = withFields({ servings: null, portions: { ...portions, renamed: false } })
    const [{ text: drafted } = { text: '' }] = draftedFor(isNew, known)
    assert.match(drafted, /^alter table recipes add column portions (?:integer|bigint);\n$/)
  })

  test('serves the rows of a view as they are now, in both APIs, and writes none', async () => {
    const short = entity({
      table: 'short',
      description: 'A member, in short.',
      view: true,
      fields: { id: id(), name: text({ max: 20 }) },
      policy: { read: anyone },
      rest: { list: true, one: true, listing: { paging: 'page', limit: 10 } },
    }) as unknown as Entity
    const service = await serveModel({ member, short }, engine)
    try {
      const names = async () => {
        const { text } = await service.ask({ line: 'GET /api/shorts', as: 'anonymous' })
        const query = '{ shorts { name } }'
        const graphql = await service.ask({
          line: 'POST /graphql',
          as: 'anonymous',
          body: { query },
        })
        const rows: readonly { readonly name: string }[] = JSON.parse(graphql.text).data.shorts
        const listed: readonly { readonly name: string }[] = JSON.parse(text).data
        assert.deepEqual(pluck(rows, 'name').sort(), listed.map(({ name }) => name).sort())
        return rows.map(({ name }) => name)
      }
      await changeIn(service.store)('create view short as select id, name from members')
      assert.deepEqual(await names(), [])
      for (const name of ['Ada', 'Bob']) {
        await service.ask({ line: 'POST /api/members', as: 'admin', body: { name } })
        assert.ok((await names()).includes(name))
      }
      const write = { line: 'POST /api/shorts', as: 'admin', body: { name: 'Cy' } } as const
      assert.equal((await service.ask(write)).status, 405)
    } finally {
      await service.close()
    }
  })

  test('that takes a value less of a choice than the service knows answers 409, in both APIs', async () => {
    const dish = entity({
      description: 'A dish.',
      fields: {
        id: id(),
        name: text({ max: 20 }),
        mood: choice(['calm', 'wild'], { nullable: true }),
        revision: revision(),
      },
      policy: bySignedIn,
      rest: { ...allRoutes, listing: { paging: 'page', limit: 10 } },
      graphql: { mutations: ['create'] },
    }) as unknown as Entity
    const service = await serveModel({ member, dish }, engine)
    try {
      const ask = async (line: string, body: object) => {
        const { status, text } = await service.ask({ line, as: 'admin', body })
        return { status, answer: JSON.parse(text) }
      }
      const calm = { name: 'Soup', mood: 'calm' }
      assert.equal((await ask('POST /api/dishes', calm)).status, 201)
      const change = changeIn(service.store)
      await change('alter table dishes drop constraint mood_values')
      // As the first part of a draft leaves it: rows of before may have the value.
      await change(
        `alter table dishes add constraint mood_values check (mood is null or mood in ('calm'))${onPostgres ? ' not valid' : ''}`,
      )
      const wild = { name: 'Tea', mood: 'wild' }
      for (const [line, body] of [
        ['POST /api/dishes', wild],
        ['PATCH /api/dishes/1', { mood: 'wild' }],
      ] as const) {
        const { status, answer } = await ask(line, body)
        assert.equal(status, 409)
        assert.equal(answer.error.code, 'CONFLICT')
        assert.match(answer.error.message, /^The mood is a value that the store does not take any/)
        assert.equal(answer.error.details[0].field, 'mood')
      }
      const query = 'mutation { createDish(input: { name: "Tea", mood: wild }) { id } }'
      const { answer } = await ask('POST /graphql', { query })
      assert.equal(answer.errors[0].extensions.code, 'CONFLICT', answer.errors[0].message)
    } finally {
      await service.close()
    }
  })

  test('that breaks a constraint of its own answers 500, and the log has its text', async () => {
    const service = await serveWithMembers({ member }, engine, 'One', 'Two')
    try {
      for (const statement of [
        'create unique index tidy on members (name)',
        "alter table members add constraint polite check (name <> 'Boo')",
      ])
        await changeIn(service.store)(statement)
      const add = async (name: string) => {
        const line = 'POST /api/members'
        const { status, text } = await service.ask({ line, as: 'admin', body: { name } })
        return [status, text.includes('INTERNAL')]
      }
      assert.deepEqual(await add('Ada'), [201, false])
      assert.deepEqual(await add('Ada'), [500, true])
      assert.deepEqual(await add('Boo'), [500, true])
      const [taken, rude] = service.bugs.splice(0).map(bug => (bug as Error).message)
      assert.match(taken ?? '', /^a constraint of the store that no rule .*(tidy|members\.name)/)
      assert.match(rude ?? '', /^a constraint of the store that no rule .*polite/)
    } finally {
      await service.close()
    }
  })
})
