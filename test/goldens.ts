/** Reads, the SQL that each database is asked for them, and their answer in the small world of tests. */
import { sealOf } from '#read/cursor.ts'
import { comparing, type Item, type Root } from '#read/selection.ts'
import type { SqlValue } from '#sql/sql.ts'

export const field = (name: string): Item => ({ kind: 'field', key: name, field: name })
export const relation = (
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
export const root = (entity: string, items: readonly Item[], more: Partial<Root> = {}): Root => ({
  entity,
  items,
  where: [],
  exists: [],
  sort: [],
  many: true,
  page: { limit: 1, offset: 2 },
  fetchOneMore: false,
  total: false,
  ...more,
})

type Golden = {
  readonly title: string
  readonly roots: readonly Root[]
  readonly parameters: readonly SqlValue[]
  readonly sqlite: readonly string[]
  /** One for all levels, and one that looks many rows up at once where there is such a one. */
  readonly postgres: string
  readonly forMany?: string
  /** Without a bound on the rows that it passes, if it has one. */
  readonly whole?: string
  readonly answer: string
}

export const goldens: readonly Golden[] = [
  {
    title: 'one row by its id',
    roots: [
      root('user', [field('id'), field('name')], {
        many: false,
        page: null,
        where: [comparing('id', 'eq', 1)],
      }),
    ],
    parameters: [2, 2],
    sqlite: ['select "t"."id", "t"."revision", "t"."name" from "users" as "t" where "t"."id" = ?1'],
    postgres: 'select "t"."id", "t"."revision", "t"."name" from "users" as "t" where "t"."id" = $1',
    forMany:
      'select "t"."id", "t"."revision", "t"."name" from "users" as "t" where "t"."id" = any ($1)',
    answer: '{"id":2,"name":"Ben"}',
  },
  {
    title: 'a page of a list by a filter and two sorts, with its total',
    roots: [
      root('product', [field('id'), field('price')], {
        where: [comparing('category', 'eq', 3)],
        sort: [
          { field: 'price', descending: true },
          { field: 'name', descending: false },
        ],
        total: true,
      }),
    ],
    parameters: [null, 20, 0, 'lighting'],
    sqlite: [
      'select "t"."id", "t"."price" from "products" as "t" where "t"."category" = ?1 order by "t"."price" desc, "t"."name", "t"."id" limit ?2 + 0 offset ?3',
      'select coalesce(sum(n), 0) from counts where entity = ?1 and field = ?2 and value = ?3',
    ],
    postgres:
      'with "L0" ("id", "price") as (select "t"."id", "t"."price" from "products" as "t" where "t"."category" = $1 order by "t"."price" desc, "t"."name", "t"."id" limit $2 + 0 offset $3), "L1" ("n") as (select coalesce(sum(n), 0) from counts where entity = $4 and field = $5 and value = $6) select 0, array_agg("id")::text, array_agg("price")::text from "L0" union all select 1, array_agg("n")::text, null from "L1"',
    answer: '[{"id":1,"price":79.9},{"id":2,"price":14.5}]',
  },
  {
    title: 'a list by conditions across relations',
    roots: [
      root('post', [field('id')], {
        condition: {
          kind: 'and',
          of: [
            {
              kind: 'across',
              rows: 'one',
              table: 'users',
              by: 'authorId',
              where: comparing('id', 'eq', 3),
            },
            {
              kind: 'across',
              rows: 'none',
              table: 'comments',
              by: 'postId',
              where: comparing('authorId', 'eq', 4),
            },
          ],
        },
      }),
    ],
    parameters: [null, 20, 0, 2, 3],
    sqlite: [
      'select "t"."id" from "posts" as "t" where "t"."author_id" = (select "id" from "users" where "id" = ?1) and not exists (select 1 from "comments" as "t1" where "t1"."post_id" = "t"."id" and "t1"."author_id" = ?2) order by "t"."id" limit ?3 + 0 offset ?4',
    ],
    postgres:
      'select "t"."id" from "posts" as "t" where "t"."author_id" = (select "id" from "users" where "id" = $1) and not exists (select 1 from "comments" as "t1" where "t1"."post_id" = "t"."id" and "t1"."author_id" = $2) order by "t"."id" limit $3 + 0 offset $4',
    answer: '[{"id":2},{"id":3}]',
  },
  {
    title: 'a list ordered by what may be null',
    roots: [root('user', [field('id')], { sort: [{ field: 'age', descending: true }] })],
    parameters: [1, 10, 0],
    sqlite: [
      'select "t"."id" from "users" as "t" where true order by "t"."age" is null desc, "t"."age" desc, "t"."id" limit ?1 + 0 offset ?2',
    ],
    postgres:
      'select "t"."id" from "users" as "t" where true order by "t"."age" desc, "t"."id" limit $1 + 0 offset $2',
    answer: '[{"id":3},{"id":1},{"id":2},{"id":4}]',
  },
  {
    title: 'a search with an index, which may scan and so can be stopped',
    roots: [
      root('product', [field('name')], {
        where: [comparing('nameKey', 'contains', 3), comparing('price', 'lte', 4)],
        sort: [{ field: 'id', descending: false }],
        total: true,
      }),
    ],
    parameters: [null, 20, 0, 'café', 5000],
    sqlite: [
      `select "t"."id", "t"."name" from "products" as "t" where "t"."id" in (select rowid from "products_name_key_search" where "products_name_key_search" match '"' || replace(substr(?1, 1, 16), '"', '""') || '"') and instr("t"."name_key", ?2) > 0 and "t"."price" <= ?3 order by "t"."id" limit ?4 + 0 offset ?5`,
      `select count(*) from "products" as "t" where "t"."id" in (select rowid from "products_name_key_search" where "products_name_key_search" match '"' || replace(substr(?1, 1, 16), '"', '""') || '"') and instr("t"."name_key", ?2) > 0 and "t"."price" <= ?3`,
    ],
    postgres: String.raw`with "L0" ("id", "name") as (select "t"."id", "t"."name" from "products" as "t" where "t"."name_key" like '%' || replace(replace(replace($1, E'\\', E'\\\\'), '%', E'\\%'), '_', E'\\_') || '%' and "t"."price" <= $2 order by "t"."id" limit $3 + 0 offset $4), "L1" ("n") as (select count(*) from "products" as "t" where "t"."name_key" like '%' || replace(replace(replace($5, E'\\', E'\\\\'), '%', E'\\%'), '_', E'\\_') || '%' and "t"."price" <= $6) select 0, array_agg("id")::text, json_agg("name")::text from "L0" union all select 1, array_agg("n")::text, null from "L1"`,
    answer: '[{"name":"CAFÉ bowl 100%"}]',
  },
  {
    title: 'a search for signs that `like` has a meaning for',
    roots: [
      root('product', [field('name')], {
        where: [comparing('nameKey', 'contains', 3)],
      }),
    ],
    parameters: [null, 20, 0, '100%'],
    sqlite: [
      `select "t"."id", "t"."name" from "products" as "t" where "t"."id" in (select rowid from "products_name_key_search" where "products_name_key_search" match '"' || replace(substr(?1, 1, 16), '"', '""') || '"') and instr("t"."name_key", ?2) > 0 order by "t"."id" limit ?3 + 0 offset ?4`,
    ],
    postgres: String.raw`select "t"."id", "t"."name" from "products" as "t" where "t"."name_key" like '%' || replace(replace(replace($1, E'\\', E'\\\\'), '%', E'\\%'), '_', E'\\_') || '%' order by "t"."id" limit $2 + 0 offset $3`,
    answer: '[{"name":"CAFÉ bowl 100%"}]',
  },
  {
    title: 'a search for what is too short for the index',
    roots: [
      root('product', [field('id')], {
        where: [comparing('nameKey', 'contains short', 3)],
      }),
    ],
    parameters: [null, 20, 0, '0%'],
    sqlite: [
      'select "t"."id" from "products" as "t" where instr("t"."name_key", ?1) > 0 order by "t"."id" limit ?2 + 0 offset ?3',
    ],
    postgres:
      'select "t"."id" from "products" as "t" where strpos("t"."name_key", $1) > 0 order by "t"."id" limit $2 + 0 offset $3',
    answer: '[{"id":4}]',
  },
  {
    title: 'a cursor page that looks one row further',
    roots: [
      root('post', [field('id')], {
        where: [comparing('id', 'lt', 3)],
        sort: [{ field: 'id', descending: true }],
        fetchOneMore: true,
      }),
    ],
    parameters: [null, 2, 0, 9],
    sqlite: [
      'select "t"."id" from "posts" as "t" where "t"."id" < ?1 order by "t"."id" desc limit ?2 + 1 offset ?3',
    ],
    postgres:
      'select "t"."id" from "posts" as "t" where "t"."id" < $1 order by "t"."id" desc limit $2 + 1 offset $3',
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
    parameters: [2, 10, 0, 1, 0],
    sqlite: [
      'select "t"."id", "t"."name" from "users" as "t" where true order by "t"."id" limit ?1 + 0 offset ?2',
      'select "t"."id", "t"."author_id", "t"."title" from json_each(?1) as "k" cross join "posts" as "t" on "t"."author_id" = "k"."value" and "t"."id" >= coalesce((select "t"."id" from "posts" as "t" where "t"."author_id" = "k"."value" and true order by "t"."id" desc limit 1 offset ?2 + ?3 - 1), 0) and "t"."id" <= (select "t"."id" from "posts" as "t" where "t"."author_id" = "k"."value" and true order by "t"."id" desc limit 1 offset ?4) where true limit ?5 + 0',
      'select "t"."id", "t"."post_id", "t"."text", "t"."author_id" from json_each(?1) as "k" cross join "comments" as "t" on "t"."post_id" = "k"."value" where true limit ?2 + 0',
      'select "t"."id", "t"."name" from json_each(?1) as "k" cross join "users" as "t" on "t"."id" = "k"."value" where true limit ?2 + 0',
    ],
    postgres:
      'with "L0" ("id", "name") as (select "t"."id", "t"."name" from "users" as "t" where true order by "t"."id" limit $1 + 0 offset $2), "L1" ("id", "author_id", "title") as (select "t".* from (select "id" from "L0") as "k" ("id") cross join lateral (select "t"."id", "t"."author_id", "t"."title" from "posts" as "t" where "t"."author_id" = "k"."id" and true order by "t"."id" desc limit $3 offset $4) as "t" limit $5), "L2" ("id", "post_id", "text", "author_id") as (select "t"."id", "t"."post_id", "t"."text", "t"."author_id" from "comments" as "t" where "t"."post_id" = any (array(select "id" from "L1")) and true limit $6), "L3" ("id", "name") as (select "t"."id", "t"."name" from "users" as "t" where "t"."id" = any (array(select "author_id" from "L2")) and true limit $7) select 0, array_agg("id")::text, json_agg("name")::text, null, null from "L0" union all select 1, array_agg("id")::text, array_agg("author_id")::text, json_agg("title")::text, null from "L1" union all select 2, array_agg("id")::text, array_agg("post_id")::text, json_agg("text")::text, array_agg("author_id")::text from "L2" union all select 3, array_agg("id")::text, json_agg("name")::text, null, null from "L3"',
    answer:
      '[{"name":"Ada","posts":[]},{"name":"Ben","posts":[{"title":"Third","comments":[]}]},{"name":"Cleo","posts":[{"title":"Fourth","comments":[{"text":"c","author":{"name":"Ben"}}]}]},{"name":"Dan","posts":[]}]',
  },
  {
    title: 'a nested list whose parent must be there',
    roots: [
      root('post', [field('id')], {
        where: [comparing('authorId', 'eq', 3)],
        exists: [{ entity: 'user', slot: 3 }],
        page: null,
      }),
    ],
    parameters: [null, 0, 0, 3],
    sqlite: [
      'select "t"."id" from "posts" as "t" where "t"."author_id" = ?1 order by "t"."id" limit ?2 + 0',
      'select 1 from "users" as "t" where "t"."id" = ?1 and true',
    ],
    postgres:
      'with "L0" ("id") as (select "t"."id" from "posts" as "t" where "t"."author_id" = $1 order by "t"."id" limit $2), "L1" ("n") as (select 1 from "users" as "t" where "t"."id" = $3 and true) select 0, array_agg("id")::text from "L0" union all select 1, array_agg("n")::text from "L1"',
    answer: '[{"id":4}]',
  },
  {
    title: 'what comes after a place in an order that goes down, with cursors',
    roots: [
      root('product', [field('id'), { kind: 'cursor', key: 'at' }], {
        sort: [{ field: 'price', descending: true, nullsLast: true }],
        page: { limit: 1, offset: null },
        keyset: { seal: 2, after: [3, 4], backwards: false },
      }),
    ],
    parameters: [null, 2, sealOf(Buffer.alloc(32), 'a list'), 7990, 1],
    sqlite: [
      'select "t"."id", "t"."price" from "products" as "t" where true and "t"."price" <= ?1 and ("t"."price" < ?2 or ("t"."price" = ?3 and "t"."id" > ?4)) order by "t"."price" desc, "t"."id" limit ?5 + 0',
    ],
    postgres:
      'with "L0" ("id", "price") as (select "t"."id", "t"."price" from (select * from "products" as "t" where true and "t"."price" <= $1 order by "t"."price" desc, "t"."id" limit $2 + 1000) as "t" where true and "t"."price" <= $3 and ("t"."price" < $4 or ("t"."price" = $5 and "t"."id" > $6)) order by "t"."price" desc, "t"."id" limit $7 + 0) select 0, array_agg("id")::text, array_agg("price")::text from "L0" union all select -1, (case when (select count(*) from "L0") < $8 + 0 then (select count(*) from (select 1 from "products" as "t" where true and "t"."price" <= $9 order by "t"."price" desc, "t"."id" limit $10 + 1000) as "t") end)::text, null',
    whole:
      'select "t"."id", "t"."price" from "products" as "t" where true and "t"."price" <= $1 and ("t"."price" < $2 or ("t"."price" = $3 and "t"."id" > $4)) order by "t"."price" desc, "t"."id" limit $5 + 0',
    answer:
      '[{"id":2,"at":"tX34F5BbwmtactkxiLtCTjT0s02Hwt_T"},{"id":4,"at":"ORpE8CtkyxYdjYZIFj-I6vn0Hj3WLLEB"}]',
  },
  {
    title: 'what comes before a place whose value is null, read backwards',
    roots: [
      root('user', [field('name')], {
        sort: [{ field: 'age', descending: false, nullsLast: true }],
        page: { limit: 1, offset: null },
        keyset: { seal: 2, before: [3, 4], backwards: true },
      }),
    ],
    parameters: [2, 2, sealOf(Buffer.alloc(32), 'a list'), null, 99],
    sqlite: [
      'select "t"."id", "t"."age", "t"."name" from "users" as "t" where true and ("t"."age" < ?1 or ("t"."age" is not null and ?2 is null) or (("t"."age" = ?3 or ("t"."age" is null and ?4 is null)) and "t"."id" < ?5)) order by "t"."age" is null desc, "t"."age" desc, "t"."id" desc limit ?6 + 0',
    ],
    postgres:
      'with "L0" ("id", "age", "name") as (select "t"."id", "t"."age", "t"."name" from (select * from "users" as "t" where true order by "t"."age" desc, "t"."id" desc limit $1 + 1000) as "t" where true and ("t"."age" < $2 or ("t"."age" is not null and $3::bigint is null) or (("t"."age" = $4 or ("t"."age" is null and $5::bigint is null)) and "t"."id" < $6)) order by "t"."age" desc, "t"."id" desc limit $7 + 0) select 0, array_agg("id")::text, array_agg("age")::text, json_agg("name")::text from "L0" union all select -1, (case when (select count(*) from "L0") < $8 + 0 then (select count(*) from (select 1 from "users" as "t" where true order by "t"."age" desc, "t"."id" desc limit $9 + 1000) as "t") end)::text, null, null',
    whole:
      'select "t"."id", "t"."age", "t"."name" from "users" as "t" where true and ("t"."age" < $1 or ("t"."age" is not null and $2::bigint is null) or (("t"."age" = $3 or ("t"."age" is null and $4::bigint is null)) and "t"."id" < $5)) order by "t"."age" desc, "t"."id" desc limit $6 + 0',
    answer: '[{"name":"Ada"},{"name":"Cleo"}]',
  },
  {
    title: 'rows by a field of those that they lead to, and a page in such an order below each',
    roots: [
      root(
        'post',
        [
          field('title'),
          {
            kind: 'relation',
            key: 'comments',
            relation: 'comments',
            items: [field('text')],
            page: { limit: 1, offset: 2 },
            sort: [{ path: ['author'], field: 'name', descending: true, nullsLast: true }],
          },
        ],
        { sort: [{ path: ['author'], field: 'name', descending: false, nullsLast: true }] },
      ),
    ],
    parameters: [2, 3, 0],
    sqlite: [
      'select "t"."id", "t"."title" from "posts" as "t" where true order by (select "t1"."name" from "users" as "t1" where "t1"."id" = "t"."author_id"), "t"."id" limit ?1 + 0 offset ?2',
      'select "t"."id", "t"."post_id", row_number() over (order by (select "t1"."name" from "users" as "t1" where "t1"."id" = "t"."author_id") desc, "t"."id") as "in order", "t"."text" from json_each(?1) as "k" cross join "comments" as "t" on "t"."id" in (select "t"."id" from "comments" as "t" where "t"."post_id" = "k"."value" and true order by (select "t1"."name" from "users" as "t1" where "t1"."id" = "t"."author_id") desc, "t"."id" limit ?2 + 0 offset ?3) limit ?4 + 0',
    ],
    postgres:
      'with "L0" ("id", "title") as (select "t"."id", "t"."title" from "posts" as "t" where true order by (select "t1"."name" from "users" as "t1" where "t1"."id" = "t"."author_id"), "t"."id" limit $1 + 0 offset $2), "L1" ("id", "post_id", "in order", "text") as (select "t".* from (select "id" from "L0") as "k" ("id") cross join lateral (select "t"."id", "t"."post_id", row_number() over (order by (select "t1"."name" from "users" as "t1" where "t1"."id" = "t"."author_id") desc, "t"."id") as "in order", "t"."text" from "comments" as "t" where "t"."post_id" = "k"."id" and true order by (select "t1"."name" from "users" as "t1" where "t1"."id" = "t"."author_id") desc, "t"."id" limit $3 offset $4) as "t" limit $5) select 0, array_agg("id")::text, json_agg("title")::text, null, null from "L0" union all select 1, array_agg("id")::text, array_agg("post_id")::text, array_agg("in order")::text, json_agg("text")::text from "L1"',
    answer:
      '[{"title":"First","comments":[{"text":"a"},{"text":"b"}]},{"title":"Second","comments":[]},{"title":"Third","comments":[]}]',
  },
]
