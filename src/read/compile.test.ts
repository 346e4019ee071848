import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { dialect } from '#engines/sqlite/dialect.ts'
import type { Role } from '#model/viewer.ts'
import { plan } from '#read/plan.ts'
import { type Answer, prepare } from '#read/read.ts'
import type { Item, Root } from '#read/selection.ts'
import type { SqlValue } from '#sql/sql.ts'
import { createWorld, usualModel, type World } from '../../test/world.ts'

const field = (name: string): Item => ({ kind: 'field', key: name, field: name })
const relation = (
  name: string,
  items: readonly Item[],
  page: readonly [number, number] | null,
): Item => ({
  kind: 'relation',
  key: name,
  relation: name,
  items,
  page: page && { limit: page[0], offset: page[1] },
})
const root = (entity: string, items: readonly Item[], more: Partial<Root> = {}): Root => ({
  entity,
  items,
  where: [],
  exists: [],
  sort: [],
  many: true,
  page: { limit: 1, offset: 2 },
  peek: false,
  total: false,
  ...more,
})

type Golden = {
  readonly title: string
  readonly roots: readonly Root[]
  readonly slots: readonly SqlValue[]
  readonly statements: readonly string[]
  readonly answer: string
}

const goldens: readonly Golden[] = [
  {
    title: 'one row by its id',
    roots: [
      root('user', [field('id'), field('name')], {
        many: false,
        page: null,
        where: [{ field: 'id', is: 'equals', slot: 1 }],
      }),
    ],
    slots: [2, 2],
    statements: [
      'select "t"."id", "t"."revision", "t"."name" from "users" as "t" where "t"."id" = ?1',
    ],
    answer: '{"id":2,"name":"Ben"}',
  },
  {
    title: 'a page of a list by a filter and two sorts, with its total',
    roots: [
      root('product', [field('id'), field('price')], {
        where: [{ field: 'category', is: 'equals', slot: 3 }],
        sort: [
          { field: 'price', descending: true },
          { field: 'name', descending: false },
        ],
        total: true,
      }),
    ],
    slots: [null, 20, 0, 'lighting'],
    statements: [
      'select "t"."id", "t"."price" from "products" as "t" where "t"."category" = ?1 order by "t"."price" desc, "t"."name", "t"."id" limit ?2 offset ?3',
      'select coalesce(sum("n"), 0) from "counts" where "entity" = ?1 and "field" = ?2 and "value" = ?3',
    ],
    answer: '[{"id":1,"price":79.9},{"id":2,"price":14.5}]',
  },
  {
    title: 'a list ordered by what may be null',
    roots: [root('user', [field('id')], { sort: [{ field: 'age', descending: true }] })],
    slots: [1, 10, 0],
    statements: [
      'select "t"."id" from "users" as "t" where true order by "t"."age" is null desc, "t"."age" desc, "t"."id" limit ?1 offset ?2',
    ],
    answer: '[{"id":3},{"id":1},{"id":2},{"id":4}]',
  },
  {
    title: 'a search with an index, which may scan and so can be stopped',
    roots: [
      root('product', [field('name')], {
        where: [
          { field: 'nameKey', is: 'contains', slot: 3 },
          { field: 'price', is: 'at most', slot: 4 },
        ],
        sort: [{ field: 'id', descending: false }],
        total: true,
      }),
    ],
    slots: [null, 20, 0, 'café', 5000],
    statements: [
      `select "t"."id", "t"."name" from "products" as "t" where duet_tick() and "t"."id" in (select rowid from "products_name_key_search" where "products_name_key_search" match '"' || replace(?1, '"', '""') || '"') and instr("t"."name_key", ?2) > 0 and "t"."price" <= ?3 order by "t"."id" limit ?4 offset ?5`,
      `select count(*) from "products" as "t" where duet_tick() and "t"."id" in (select rowid from "products_name_key_search" where "products_name_key_search" match '"' || replace(?1, '"', '""') || '"') and instr("t"."name_key", ?2) > 0 and "t"."price" <= ?3`,
    ],
    answer: '[{"name":"CAFÉ bowl 100%"}]',
  },
  {
    title: 'a search for what is too short for the index',
    roots: [
      root('product', [field('id')], {
        where: [{ field: 'nameKey', is: 'contains short', slot: 3 }],
      }),
    ],
    slots: [null, 20, 0, '0%'],
    statements: [
      'select "t"."id" from "products" as "t" where duet_tick() and instr("t"."name_key", ?1) > 0 order by "t"."id" limit ?2 offset ?3',
    ],
    answer: '[{"id":4}]',
  },
  {
    title: 'a cursor page that looks one row further',
    roots: [
      root('post', [field('id')], {
        where: [{ field: 'id', is: 'below', slot: 3 }],
        sort: [{ field: 'id', descending: true }],
        peek: true,
      }),
    ],
    slots: [null, 2, 0, 9],
    statements: [
      'select "t"."id" from "posts" as "t" where "t"."id" < ?1 order by "t"."id" desc limit ?2 + 1 offset ?3',
    ],
    answer: '[{"id":4},{"id":3}]',
  },
  {
    title: 'users, a page of the posts of each, all their comments and who wrote them',
    roots: [
      root('user', [
        field('name'),
        relation(
          'posts',
          [
            field('title'),
            relation('comments', [field('text'), relation('author', [field('name')], null)], null),
          ],
          [3, 4],
        ),
      ]),
    ],
    slots: [2, 10, 0, 1, 0],
    statements: [
      'select "t"."id", "t"."name" from "users" as "t" where true order by "t"."id" limit ?1 offset ?2',
      'select "t"."id", "t"."author_id", "t"."title" from json_each(?1) as "k" cross join "posts" as "t" on "t"."author_id" = "k"."value" and "t"."id" >= coalesce((select "t"."id" from "posts" as "t" where "t"."author_id" = "k"."value" and true order by "t"."id" desc limit 1 offset ?2 + ?3 - 1), 0) and "t"."id" <= (select "t"."id" from "posts" as "t" where "t"."author_id" = "k"."value" and true order by "t"."id" desc limit 1 offset ?4) where true limit ?5',
      'select "t"."id", "t"."post_id", "t"."text", "t"."author_id" from json_each(?1) as "k" cross join "comments" as "t" on "t"."post_id" = "k"."value" where true limit ?2',
      'select "t"."id", "t"."name" from json_each(?1) as "k" cross join "users" as "t" on "t"."id" = "k"."value" where true limit ?2',
    ],
    answer:
      '[{"name":"Ada","posts":[]},{"name":"Ben","posts":[{"title":"Third","comments":[]}]},{"name":"Cleo","posts":[{"title":"Fourth","comments":[{"text":"c","author":{"name":"Ben"}}]}]},{"name":"Dan","posts":[]}]',
  },
  {
    title: 'a nested list whose parent must be there',
    roots: [
      root('post', [field('id')], {
        where: [{ field: 'authorId', is: 'equals', slot: 3 }],
        exists: [{ entity: 'user', slot: 3 }],
        page: null,
      }),
    ],
    slots: [null, 0, 0, 3],
    statements: [
      'select "t"."id" from "posts" as "t" where "t"."author_id" = ?1 order by "t"."id" limit ?2',
      'select 1 from "users" as "t" where "t"."id" = ?1 and true',
    ],
    answer: '[{"id":4}]',
  },
]
let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const prepared = (roots: readonly Root[], role: Role = 'user') =>
  prepare(plan({ encoding: 'rest', roots }, usualModel, role), dialect, 2, {
    objects: 100,
    bytes: 10_000,
  })

for (const { title, roots, slots, statements, answer } of goldens)
  test(`${title}: the statements are these, and give what they are for`, () => {
    const { statements: made, work } = prepared(roots)
    assert.deepEqual(
      made.map(({ text }) => text.replace(/\s+/g, ' ')),
      statements,
    )
    const [first] = world.engine.snapshot(work(slots)) as readonly Answer[]
    assert.equal(first?.text, answer)
  })

test('a total is read from the kept counts for one counted field, and counted for anything else', () => {
  const category = { field: 'category', is: 'equals', slot: 3 } as const
  const inStock = { field: 'stock', is: 'above zero', slot: 4 } as const
  const totalOf = (where: Root['where'], slots: readonly SqlValue[]) => {
    const { statements, work } = prepared([root('product', [field('id')], { where, total: true })])
    const [first] = world.engine.snapshot(work(slots)) as readonly Answer[]
    return [/"counts"/.test(statements[1]?.text ?? ''), first?.total]
  }
  assert.deepEqual(totalOf([], [null, 20, 0]), [true, 5])
  assert.deepEqual(totalOf([category], [null, 20, 0, 'lighting']), [true, 2])
  assert.deepEqual(totalOf([category], [null, 20, 0, 'none']), [true, 0])
  assert.deepEqual(totalOf([category, inStock], [null, 20, 0, 'lighting', null]), [false, 1])
})

test('a level below nothing is not asked for', () => {
  const { work } = prepared([
    root('user', [relation('posts', [field('id')], null)], { sort: [], page: null }),
  ])
  const steps = work([1])
  assert.equal(steps.next().done, false)
  assert.equal(steps.next([]).done, true)
})

test('what must be there and is not is told, with its id', () => {
  const { work } = prepared([
    root('post', [field('id')], { page: null, exists: [{ entity: 'user', slot: 1 }] }),
  ])
  const [first] = world.engine.snapshot(work([null, 99])) as readonly Answer[]
  assert.deepEqual(first?.missing, { entity: 'user', id: 99 })
})

test('a plan for anonymous is refused where it touches what only users read', () => {
  const refused = (roots: readonly Root[]) => () => prepared(roots, 'anonymous')
  assert.throws(refused([root('user', [field('id')])]), { code: 'UNAUTHENTICATED' })
  assert.throws(refused([root('post', [relation('author', [field('email')], null)])]), {
    code: 'UNAUTHENTICATED',
  })
  assert.ok(prepared([root('post', [relation('author', [field('name')], null)])], 'anonymous'))
})
