/** Inserts many rows at once, by statements derived from the model. */

import { hash } from 'node:crypto'
import type { ContentStore, OpenStore, RowsByEntity } from '#content.ts'
import type { Entity } from '#model/entity.ts'
import { columnName } from '#model/model.ts'
import { anonymous } from '#model/policy.ts'
import { hasRows } from '#serve/store.ts'
import { queryOf } from '#sql/engine.ts'
import { comma, join, name, type SqlValue, sql, statement } from '#sql/sql.ts'
import { rememberSubject } from '#write/command.ts'
import { type InputContext, inputValues, type Values } from '#write/input.ts'
import { madeSlugs, slugApart } from '#write/row-values.ts'

/** The texts of inserts into an entity's table, each made once: for a number of rows with values for these fields. */
const insertTexts = ({ dialect }: OpenStore, { table }: Entity) => {
  const texts = new Map<string, string>()
  return (keys: readonly string[], rows = 1): string =>
    texts.getOrInsertComputed(`${rows} ${keys}`, () => {
      const columns = keys.map(key => name(columnName(key)))
      const places = keys.map(() => null)
      const lists = Array.from({ length: rows }, () => sql`(${join(places, comma)})`)
      const insert = sql`insert into ${name(table)} (${join(columns, comma)})
        values ${join(lists, comma)} returning id`
      return statement(insert, dialect.placeholder).text
    })
}

/** Remembers the subjects of rows that are put in, as the service does of those it makes; undefined if an entity has none. */
const remembering = ({ session, dialect }: OpenStore, { fields }: Entity) => {
  const by = Object.keys(fields).find(key => fields[key]?.initial === 'subject')
  if (by === undefined) return undefined
  return async (rows: readonly Values[]): Promise<void> => {
    for (const row of rows) {
      const subject = row.get(by)
      if (typeof subject === 'string')
        await session.query(queryOf(rememberSubject(hash('sha256', subject, 'base64url')), dialect))
    }
  }
}

/** The most values that one statement takes: SQLite is opened with a limit of 1000. */
const mostValues = 900

/** Puts many rows of one entity in, all with the same fields: as many in each statement as it takes. */
export const manyInserter = (store: OpenStore, entity: Entity) => {
  const textFor = insertTexts(store, entity)
  const remember = remembering(store, entity)
  return async (rows: readonly Values[]): Promise<void> => {
    const keys = [...(rows[0]?.keys() ?? [])]
    const most = Math.max(1, Math.floor(mostValues / keys.length))
    for (let from = 0; from < rows.length; from += most) {
      const some = rows.slice(from, from + most)
      const values = some.flatMap(row => keys.map(key => row.get(key) as SqlValue))
      await store.session.query({ text: textFor(keys, some.length), values })
    }
    await remember?.(rows)
  }
}

/**
 * Puts rows of one entity in, given their values by field, and gives their ids; throws the engine's errors. After rows
 * with ids of their own the caller settles the session's ids; rows without one that follow here get higher ids anyway.
 */
export const inserter = (store: OpenStore, entity: Entity) => {
  const { session, dialect } = store
  const textFor = insertTexts(store, entity)
  const remember = remembering(store, entity)
  let isUnsettled = false
  return async (given: Values): Promise<number> => {
    const row = new Map(given)
    for (const { key, text } of madeSlugs(entity, given)) {
      const apart = slugApart(store, { table: entity.table, key, text })
      const [[slug = text] = []] = await session.query(queryOf(sql`select ${apart}`, dialect))
      row.set(key, slug)
    }
    if (row.has('id')) isUnsettled = true
    else if (isUnsettled) {
      isUnsettled = false
      await session.settleIds([entity.table])
    }
    const text = textFor([...row.keys()])
    const [inserted] = await session.query({ text, values: [...row.values()] })
    await remember?.([row])
    return Number(inserted?.[0])
  }
}

/**
 * Puts the rows in, checked by the rules of the API; each is made `step` milliseconds after the
 * one before it. For tables that are empty: rows are numbered from 1, since a table that was emptied, or whose rows
 * were taken back, may have gone on to other ids.
 */
export const putRows = async (
  store: ContentStore,
  rows: RowsByEntity,
  begin: number,
  step: number,
): Promise<void> => {
  const { model, session } = store
  const lists = Object.entries(rows).flatMap(([what, list]) => {
    const entity = model.entities[what]
    return entity ? [{ what, entity, list }] : []
  })
  let now = begin
  for (const { what, entity, list } of lists) {
    const put = inserter(store, entity)
    let id = 0
    for (const row of list) {
      now += step
      const use: InputContext = { mode: 'import', viewer: anonymous, model, now, what }
      const values = inputValues(entity, row, use)
      id = await put(new Map([['id', id + 1], ...values]))
    }
  }
  await session.settleIds(lists.map(({ entity }) => entity.table))
}

/** Whether the store has no content yet. */
export const isEmpty = async (store: ContentStore): Promise<boolean> => {
  const tables = Object.values(store.model.entities).map(({ table }) => table)
  return !(await hasRows(store, tables))
}
