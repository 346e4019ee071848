/** Checks that each migration lets the release before it go on; CONTRIBUTING.md says how. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entities } from '#content/duet.config.ts'
import { type EngineName, outsideMark } from '#engines/shared/migrations.ts'
import { lackOf, migrationsFor } from '#kit/draft/draft.ts'
import { postgresDrafting } from '#kit/draft/postgres.ts'
import { sqliteDrafting } from '#kit/draft/sqlite.ts'
import { int, text } from '#model/field.ts'
import { defineModel } from '#model/model.ts'
import { historyFor } from '#test/history.ts'
import { faultsOf } from '#test/store/migration-safety.ts'

const engines: readonly EngineName[] = ['sqlite', 'postgres']

for (const engine of engines)
  test(`no migration of ${engine} breaks the release before it, unless it says so`, () => {
    for (const { name, text } of historyFor(engine))
      assert.deepEqual(faultsOf(engine, text), [], `${engine} ${name}`)
  })

const more = defineModel({
  ...entities,
  product: {
    ...entities.product,
    fields: {
      ...entities.product.fields,
      weight: int({ min: 0, max: 1000, initial: { value: 7 } }),
      label: text({ max: 20, nullable: true }),
    },
    indexes: [...entities.product.indexes, ['weight']],
    counted: ['category', 'weight'],
  },
})

for (const drafting of [sqliteDrafting, postgresDrafting])
  test(`a draft for ${drafting.engine} of fields, an index and a count breaks nothing`, () => {
    const known = historyFor(drafting.engine)
    const drafts = migrationsFor(lackOf(drafting, more, known), 9, 'more')
    assert.ok(drafts.length > 0)
    for (const { text } of drafts) assert.deepEqual(faultsOf(drafting.engine, text), [])
  })

const onBoth = [
  ['drop table posts', /drops a table/],
  ['alter table posts drop column title', /drops a column/],
  ['alter table posts drop if exists title', /drops a column/],
  ['alter table posts rename column title to name', /renames/],
  ['alter table posts rename to articles', /renames/],
  ['alter table posts add column kind text not null', /does not know it/],
  ['create unique index posts_by_title on posts (title)', /write twice/],
  ['drop trigger products_count_category', /make it anew/],
] as const

const onPostgres = [
  ['alter table posts alter column title set not null', /leaves it null/],
  ['alter table posts alter title type bytea using title::bytea', /changes a type/],
  ['alter table posts alter column id set data type numeric', /changes a type/],
  ["alter table posts add constraint named check (title <> '')", /not valid/],
  ['create index posts_by_title on posts (title)', /concurrently, outside/],
  ['create index concurrently if not exists posts_by_title on posts (title)', /begin the file/],
  [`${outsideMark}create index concurrently posts_by_title on posts (title)`, /run again/],
  ['drop trigger products_count_category on products', /make it anew/],
] as const

const fine = [
  'alter table posts add column kind text',
  "alter table posts add column kind text not null default 'plain'",
  'create table kinds (id int, name text not null); create unique index kinds_by_name on kinds (name)',
  'create table kinds (id int); create index kinds_by_id on kinds (id); drop table kinds',
  "update posts set title = 'drop table; rename' where title = ''",
  'drop trigger a; create trigger a after insert on posts begin select 1; end',
]

const fineOnPostgres = [
  "alter table posts alter column title set default '', alter column title set not null",
  'alter table posts alter column title drop not null',
  'alter table posts alter column title drop default',
  'alter table posts drop constraint named',
  'alter table posts rename constraint a to b',
  'alter table posts add constraint named check (title is not null) not valid',
  'alter table posts validate constraint named',
  'create or replace function f() returns trigger language plpgsql as $$ begin drop table posts; end $$',
  `${outsideMark}create index concurrently if not exists a on posts (title); create index concurrently if not exists b on posts (content)`,
]

for (const engine of engines) {
  for (const [text, why] of engine === 'postgres' ? [...onBoth, ...onPostgres] : onBoth)
    test(`on ${engine} is reported: ${text.replace('\n', ' / ')}`, () => {
      const faults = faultsOf(engine, `${text};`)
      assert.equal(faults.length, 1, faults.join('\n'))
      assert.match(faults[0] ?? '', why)
      assert.deepEqual(faultsOf(engine, `${text};\n-- breaks: nobody uses it`), [])
      assert.equal(faultsOf(engine, `${text};\n-- breaks:`).length, 1)
    })
  for (const text of engine === 'postgres' ? [...fine.slice(0, -1), ...fineOnPostgres] : fine)
    test(`on ${engine} is fine: ${text.replace('\n', ' / ')}`, () =>
      assert.deepEqual(faultsOf(engine, `${text};`), []))
}
