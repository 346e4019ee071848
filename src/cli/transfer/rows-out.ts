/** The rows of a kind in the order of their ids, page by page, in the form that `import` reads. */

import { embeddedIn } from '#cli/transfer/kinds.ts'
import type { ContentStore, InputRow, TransferKind } from '#content.ts'
import type { Entity } from '#model/entity.ts'
import { isDerived } from '#model/field.ts'
import { columnName, entityOf, fieldOf } from '#model/model.ts'
import { encoders } from '#read/stitch.ts'
import { ask } from '#serve/store.ts'
import type { Row, Rows } from '#sql/engine.ts'
import { comma, join, name, number, type Sql, type SqlValue, sql } from '#sql/sql.ts'

const pageSize = 200

const fieldsOf = (entity: Entity, also: readonly string[]): readonly string[] =>
  Object.entries(entity.fields).flatMap(([key, field]) => {
    const { rest, scalar, initial } = field
    const isShown = rest && scalar !== 'bytes' && !isDerived(field)
    return isShown || also.includes(key) || initial === 'subject' ? [key] : []
  })

const columnsOf = (keys: readonly string[]): Sql =>
  join(
    keys.map(key => name(columnName(key))),
    comma,
  )

/** The members of an entity's rows that are read with these fields behind their first column. */
const reading = (entity: Entity, keys: readonly string[], digits: number) => {
  // Values are written as the REST API writes them; most are texts, which need no encoder.
  const encoderOf = encoders('rest', digits)
  const writers = keys.map(key => {
    const field = fieldOf(entity, key)
    const encode = encoderOf(field)
    return (value: SqlValue) => (field.scalar === 'text' ? value : JSON.parse(encode(value)))
  })
  return ([, ...values]: Row): InputRow =>
    Object.fromEntries(
      keys.map((key, index) => {
        const value = values[index] ?? null
        return [key, value === null ? null : writers[index]?.(value)]
      }),
    )
}

/** The rows embedded in objects of another kind, by those objects' ids, for a range of ids. */
const embedding = (store: ContentStore, parent: Entity, relation: string) => {
  const { model } = store
  const { to, by } = parent.relations[relation] ?? {}
  const entity = entityOf(model, to ?? relation)
  const keys = fieldsOf(entity, [])
  const membersOf = reading(entity, keys, model.settings.currency.digits)
  const key = name(columnName(by ?? ''))
  return async (first: SqlValue, last: SqlValue): Promise<ReadonlyMap<SqlValue, InputRow[]>> => {
    const rows = await ask(
      store,
      sql`select ${key}, ${columnsOf(keys)} from ${name(entity.table)}
        where ${key} between ${first} and ${last} order by ${key}, id`,
    )
    const lists = Map.groupBy(rows, ([parent = null]) => parent)
    return new Map([...lists].map(([id, list]) => [id, list.map(membersOf)]))
  }
}

/** The names of a kind's members, how many rows there are, and the rows themselves, read as they are consumed. */
export const pagesOf = async (store: ContentStore, kind: TransferKind) => {
  const { model } = store
  const entity = entityOf(model, kind.entity)
  const embedded = embeddedIn(kind, entity)
  const keys = fieldsOf(entity, kind.also)
  const membersOf = reading(entity, keys, model.settings.currency.digits)
  const header = keys.flatMap(key => [
    key,
    ...Object.keys(embedded).filter(relation => embedded[relation]?.after === key),
  ])
  const listsFor = Object.keys(embedded).map(
    relation => [relation, embedding(store, entity, relation)] as const,
  )
  const withLists = async (rows: Rows): Promise<readonly InputRow[]> => {
    const [first, last] = [rows[0]?.[0] ?? null, rows.at(-1)?.[0] ?? null]
    const lists = new Map(
      await Promise.all(
        listsFor.map(async ([relation, read]) => [relation, await read(first, last)] as const),
      ),
    )
    return rows.map(row => {
      const own = membersOf(row)
      const listOf = (relation: string) => lists.get(relation)?.get(row[0] ?? null) ?? []
      return Object.fromEntries(
        header.map(member => [member, Object.hasOwn(own, member) ? own[member] : listOf(member)]),
      )
    })
  }
  const table = name(entity.table)
  const [total] = await ask(store, sql`select count(*) from ${table}`)
  const pageAfter = (id: SqlValue) =>
    ask(
      store,
      sql`select id, ${columnsOf(keys)} from ${table} where id > ${id} order by id limit ${number(pageSize)}`,
    )
  const pages = async function* (): AsyncGenerator<readonly InputRow[]> {
    let rows = await pageAfter(0)
    for (let last = rows.at(-1); last; last = rows.at(-1)) {
      yield await withLists(rows)
      rows = rows.length < pageSize ? [] : await pageAfter(last[0] ?? null)
    }
  }
  return { header, count: Number(total?.[0]), pages }
}
