/** Many rows at once: one transaction, statements that the model derives. */
import type { Connection } from '#engines/sqlite/connection.ts'
import { dialect } from '#engines/sqlite/dialect.ts'
import type { Entity } from '#model/entity.ts'
import { columnName, type Model } from '#model/model.ts'
import { anonymous } from '#model/viewer.ts'
import type { SqlValue } from '#sql/sql.ts'
import { bind, comma, join, name, sql, statement } from '#sql/sql.ts'
import { inputValues, type Use, type Values } from '#write/input.ts'

/** Puts rows of one entity in, given their values by field; throws the engine's errors. */
export const inserter = (connection: Connection, entity: Entity) => {
  const texts = new Map<string, string>()
  const textFor = (keys: readonly string[]): string => {
    const key = keys.join()
    const known = texts.get(key)
    if (known) return known
    const columns = join(
      keys.map(key => name(columnName(key))),
      comma,
    )
    const places = join(
      keys.map(() => bind(null)),
      comma,
    )
    const { text } = statement(
      sql`insert into ${name(entity.table)} (${columns}) values (${places}) returning ${name('id')}`,
      dialect.placeholder,
    )
    texts.set(key, text)
    return text
  }
  return (values: Values): number => {
    const keys = [...values.keys()]
    const [row] = connection.query({
      text: textFor(keys),
      values: keys.map(key => values.get(key) as SqlValue),
    })
    return Number(row?.[0])
  }
}

/** Rows by entity, with members as in an import. */
export type RowsByEntity = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>

/** Puts the rows in, checked by the rules of the API; each is made `step` milliseconds after the one before it. */
export const putRows = (
  connection: Connection,
  model: Model,
  rows: RowsByEntity,
  begin: number,
  step: number,
): void => {
  let now = begin
  for (const [name, list] of Object.entries(rows)) {
    const entity = model.entities[name]
    if (!entity) continue
    const put = inserter(connection, entity)
    for (const row of list) {
      now += step
      const use = { mode: 'import', viewer: anonymous, settings: model.settings, now, what: name }
      put(inputValues(entity, row, use as Use))
    }
  }
}

/** Runs the work in one transaction; nothing of it stays where it throws. */
export const inTransaction = <Result>(connection: Connection, work: () => Result): Result => {
  connection.run('begin immediate')
  try {
    const result = work()
    connection.run('commit')
    return result
  } catch (error) {
    connection.run('rollback')
    throw error
  }
}

/** Whether there is no content yet. */
export const isEmpty = (
  connection: Connection,
  entities: Readonly<Record<string, Entity>>,
): boolean =>
  Object.values(entities).every(
    ({ table }) =>
      connection.query({
        text: statement(sql`select 1 from ${name(table)} limit 1`, dialect.placeholder).text,
        values: [],
      }).length === 0,
  )
