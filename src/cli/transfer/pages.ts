/** The rows of a kind in the order of their ids, page by page, in the form that `import` reads. */
import type { ContentStore, Kind } from '#cli/row-sources.ts'
import type { Entity } from '#model/entity.ts'
import type { Scalar } from '#model/field.ts'
import { columnName, entityOf } from '#model/model.ts'
import { formatMinor } from '#model/money.ts'
import { isoTime } from '#read/encode.ts'
import { queryOf, type Row, type Rows } from '#sql/engine.ts'
import { comma, join, name, number, type Sql, type SqlValue, sql } from '#sql/sql.ts'

/** A row of an export: its members' values in the order of the header. */
export type Members = readonly unknown[]

const pageSize = 200

/** How a stored value is written in a file. A decimal of money is a number that JSON writes as it is. */
const fileValue = (digits: number) =>
  ({
    id: Number,
    int: Number,
    text: value => value,
    money: value => Number(formatMinor(Number(value), digits)),
    time: value => isoTime(Number(value)),
    flag: value => Number(value) === 1,
    bytes: () => null,
  }) satisfies Record<Scalar, (value: SqlValue) => unknown>

const fieldsOf = (entity: Entity, also: readonly string[]): readonly string[] =>
  Object.entries(entity.fields).flatMap(([key, { rest, scalar }]) =>
    (rest && scalar !== 'bytes') || also.includes(key) ? [key] : [],
  )

const columnsOf = (keys: readonly string[]): Sql =>
  join(
    keys.map(key => name(columnName(key))),
    comma,
  )

/** Turns a row of an entity, from a column on, into members in the order of these fields. */
const reading = (entity: Entity, keys: readonly string[], digits: number) => {
  const write = fileValue(digits)
  const writers = keys.map(key => write[entity.fields[key]?.scalar ?? 'text'])
  return (row: Row, from: number): unknown[] =>
    writers.map((write, index) => {
      const value = row[from + index] ?? null
      return value === null ? null : write(value)
    })
}

/** The rows embedded in objects of another kind, by those objects' ids, for a range of ids. */
const embedding = (store: ContentStore, parent: Entity, relation: string) => {
  const { model, session, dialect } = store
  const { to, by } = parent.relations[relation] ?? {}
  const entity = entityOf(model, to ?? relation)
  const keys = fieldsOf(entity, [])
  const toMembers = reading(entity, keys, model.settings.currency.digits)
  const key = name(columnName(by ?? ''))
  const toObject = (row: Row) => {
    const values = toMembers(row, 1)
    return Object.fromEntries(keys.map((key, index) => [key, values[index]]))
  }
  return async (first: SqlValue, last: SqlValue): Promise<ReadonlyMap<SqlValue, object[]>> => {
    const range = sql`select ${key}, ${columnsOf(keys)} from ${name(entity.table)}
      where ${key} between ${first} and ${last} order by ${key}, id`
    const rows = await session.query(queryOf(range, dialect))
    const lists = Map.groupBy(rows, ([parent = null]) => parent)
    return new Map([...lists].map(([id, list]) => [id, list.map(toObject)]))
  }
}

/** The header of a kind, how many rows there are, and the rows themselves, read as they are consumed. */
export const pagesOf = async (store: ContentStore, kind: Kind) => {
  const { session, model, dialect } = store
  const entity = entityOf(model, kind.entity)
  const keys = fieldsOf(entity, kind.also)
  const toMembers = reading(entity, keys, model.settings.currency.digits)
  const embedded = Object.entries(entity.rest.embedded).map(([relation, { after }]) => ({
    relation,
    at: keys.indexOf(after) + 1,
    listsFor: embedding(store, entity, relation),
  }))
  const withLists = async (rows: Rows): Promise<readonly Members[]> => {
    const [first, last] = [rows[0]?.[0] ?? null, rows.at(-1)?.[0] ?? null]
    const lists = await Promise.all(
      embedded.map(async ({ at, listsFor }) => ({ at, byId: await listsFor(first, last) })),
    )
    return rows.map(row =>
      lists.reduce<unknown[]>(
        (all, { at, byId }) => all.toSpliced(at, 0, byId.get(row[0] ?? null) ?? []),
        toMembers(row, 1),
      ),
    )
  }
  const header = embedded.reduce<readonly string[]>(
    (all, { relation, at }) => all.toSpliced(at, 0, relation),
    keys,
  )
  const table = name(entity.table)
  const [total] = await session.query(queryOf(sql`select count(*) from ${table}`, dialect))
  const pageAfter = (id: SqlValue) =>
    session.query(
      queryOf(
        sql`select id, ${columnsOf(keys)} from ${table} where id > ${id} order by id limit ${number(pageSize)}`,
        dialect,
      ),
    )
  const pages = async function* (): AsyncGenerator<readonly Members[]> {
    let rows = await pageAfter(0)
    for (let last = rows.at(-1); last; last = rows.at(-1)) {
      yield await withLists(rows)
      rows = rows.length < pageSize ? [] : await pageAfter(last[0] ?? null)
    }
  }
  return { header, count: Number(total?.[0]), pages }
}
