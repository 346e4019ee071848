/**
 * Files whose bytes an earlier release kept in a table of the database. They are read and replaced there too, while they are moved into
 * the store of files one by one; once none is left the table is dropped. What the table has is newer than what the row has: only the
 * earlier release puts something there.
 */
import { withOpened } from '#base/with-opened.ts'
import type { FormerFiles } from '#model/field.ts'
import { columnName } from '#model/model.ts'
import type { Services } from '#model/services.ts'
import { type FileField, fileFields } from '#model/stored-file.ts'
import type { Dialect } from '#sql/dialect.ts'
import { queryOf, type Reader, type ReadOptions, type Rows, type Session } from '#sql/engine.ts'
import { name, type Sql, sql } from '#sql/sql.ts'
import type { Writer } from '#write/job.ts'

/** What is needed to read of a store. */
type Stored = { readonly reader: Pick<Reader, 'query'>; readonly dialect: Dialect }

type Former = Stored & {
  readonly writer: Writer
  readonly entities: Parameters<typeof fileFields>[0]
  readonly keepFile: Services['keepFile']
}

type MovedField = FileField & { readonly from: FormerFiles }

const movedFields = (entities: Former['entities']): readonly MovedField[] =>
  fileFields(entities).flatMap(of =>
    of.file.movedFrom ? [{ ...of, from: of.file.movedFrom }] : [],
  )

const rowsOf = async (
  { reader, dialect }: Stored,
  piece: Sql,
  options?: ReadOptions,
): Promise<Rows> => reader.query({ ...queryOf(piece, dialect), isQuick: true }, options)

/** Past what a transaction of reads saw before. */
const now: ReadOptions = { isPresent: true }

const isThere = async ({ reader, dialect }: Stored, { from }: MovedField): Promise<boolean> =>
  (await reader.query(queryOf(dialect.columnsOf(from.table), dialect), now)).length > 0

/** The result of work on the table of a field; undefined where it is not there, as it may have been dropped meanwhile. */
const whileThere = async <Result>(
  store: Stored,
  of: MovedField,
  work: () => Promise<Result>,
): Promise<Result | undefined> => {
  try {
    return await work()
  } catch (error) {
    if (await isThere(store, of)) throw error
    return undefined
  }
}

/** What a row has of a file, with the bytes and the type that are in the table yet: of one moment, as between two a file may be moved. */
const find = (store: Stored, of: MovedField, id: number, options: ReadOptions): Promise<Rows> => {
  const { table, row, bytes, type } = of.from
  const piece = sql`select one.${name(columnName(of.key))}, former.${name(bytes)}, former.${name(type)} from ${name(of.entity.table)} as one
    left join ${name(table)} as former on former.${name(row)} = one.id where one.id = ${id}`
  return rowsOf(store, piece, options)
}

/** Moves the file of a row, unless somebody changes, deletes or moves it at that moment; whether it did. */
const move = async (former: Former, of: MovedField, id: number): Promise<boolean> => {
  const { entity, key, from } = of
  const [[, found = null, kind] = []] = await find(former, of, id, now)
  if (found === null) return false
  const [bytes, type] = [found as Uint8Array<ArrayBuffer>, String(kind)]
  const file = await former.keepFile({ bytes, type, name: key })
  const { table, row } = from
  const taken = sql`delete from ${name(table)} where ${name(row)} = ${id} and ${name(from.bytes)} = ${bytes} returning ${name(row)}`
  const given = sql`update ${name(entity.table)} set ${name(columnName(key))} = ${file} where id = ${id} returning id`
  const steps = [taken, given].map(piece => ({
    statement: queryOf(piece, former.dialect),
    expect: 'row' as const,
  }))
  const outcome = await former.writer.write({ steps, status: 200, answer: null })
  if (outcome.kind !== 'done' && outcome.kind !== 'refused')
    throw new Error(`the file of row ${id} was not moved: ${JSON.stringify(outcome)}`)
  return outcome.kind === 'done'
}

/** A field of a row that is a file. */
export type FileAt = { readonly entity: string; readonly field: string; readonly id: number }

/** What requests find of the tables of an earlier release, as long as these are there; undefined for a model that names none. */
export const formerFiles = (former: Former) => {
  const there = new Set(movedFields(former.entities))
  if (there.size === 0) return undefined
  const inTable = async <Result>(of: MovedField, work: () => Promise<Result>) => {
    const found = await whileThere(former, of, work)
    if (found === undefined) there.delete(of)
    return found
  }
  return {
    find: async (store: Stored, { entity, field, id }: FileAt, options: ReadOptions) => {
      const of = [...there].find(of => of.entityName === entity && of.key === field)
      return of && inTable(of, () => find(store, of, id, options))
    },
    /** Moves the files of a row before they are written. */
    move: async (entity: string, id: number): Promise<void> => {
      for (const of of there)
        if (of.entityName === entity) await inTable(of, () => move(former, of, id))
    },
  }
}

/** The fields whose files may be in a table of an earlier release that is there yet, with whether it has any. */
const fieldsThere = async function* (
  reader: Pick<Session, 'query'>,
  dialect: Dialect,
  entities: Former['entities'],
) {
  const store = { reader, dialect }
  for (const of of movedFields(entities)) {
    const some = sql`select 1 from ${name(of.from.table)} limit 1`
    if (await isThere(store, of)) yield { ...of, hasSome: (await rowsOf(store, some)).length > 0 }
  }
}

/** Throws where files of a store are in tables of an earlier release yet, which a command does not take along. */
export const checkMoved = async (...store: Parameters<typeof fieldsThere>): Promise<void> => {
  for await (const { from, entityName, key, hasSome } of fieldsThere(...store))
    if (hasSome)
      throw new Error(
        `files of ${entityName}.${key} are in the table ${from.table} yet, as an earlier release kept them: start the server, which moves them, and stop it once that table is gone`,
      )
}

export type Moving = Former & {
  /** A session of its own, for the end. */
  readonly session: () => Promise<Session>
  /** Whether other processes may be about it too, and an earlier release serve. */
  readonly isShared: boolean
}

/** Drops a table that is empty; throws if it is not, which a write of the earlier release may have come to. */
const drop = (session: Session, dialect: Dialect, table: string): Promise<void> => {
  const [now, apart] = [name(table), name(`${table}_moved`)]
  const ask = (piece: Sql) => session.query(queryOf(piece, dialect))
  return session.transaction(async () => {
    // From here on nobody else writes to it.
    await ask(sql`alter table ${now} rename to ${apart}`)
    if ((await ask(sql`select 1 from ${apart} limit 1`)).length > 0)
      throw new Error(`the table ${table} got a row while it was to be dropped`)
    await ask(sql`drop table ${apart}`)
  })
}

/** Drops the tables of an earlier release that have no files any more, of a store that nobody serves. */
export const dropFormer = async (
  session: Session,
  dialect: Dialect,
  entities: Former['entities'],
): Promise<void> => {
  for await (const { from, hasSome } of fieldsThere(session, dialect, entities))
    if (!hasSome) await drop(session, dialect, from.table)
}

/** Moves all files that are in the table of a field, and drops it; `moved` is told of each. Throws in the end if some could not be. */
const moveField = async (
  moving: Moving,
  of: MovedField,
  moved: () => void,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const { table, row } = of.from
  const faults = new Map<number, string>()
  for (let at = -1; ; ) {
    const next = sql`select ${name(row)} from ${name(table)} where ${name(row)} > ${at} order by 1 limit 1`
    const [[id] = []] = await rowsOf(moving, next, now)
    if (id === undefined) break
    if (signal?.aborted) return
    at = Number(id)
    try {
      // It may be another one at the moment of its move.
      if ((await move(moving, of, at)) || (await move(moving, of, at))) moved()
      else faults.set(at, 'there is no such row: delete it')
    } catch (error) {
      faults.set(at, (error as Error).message)
    }
  }
  const left = sql`select count(*), min(${name(row)}) from ${name(table)}`
  const [[count, first] = []] = await rowsOf(moving, left, now)
  if (Number(count) > 0)
    throw new Error(
      `${count} files in the table ${table} were not moved, the first of them ${of.key} of ${of.entityName} ${first} (${faults.get(Number(first)) ?? 'it came meanwhile'})`,
    )
  // The writer of SQLite watches each table that was there when it began, so this one goes with the next start.
  const { session, dialect, isShared } = moving
  if (isShared) await withOpened(session(), session => drop(session, dialect, table))
}

/**
 * Moves all files that are in tables of an earlier release, and drops those; gives how many rows it moved. What is interrupted goes on
 * from there, and of several processes that are about it one moves each file.
 */
export const moveFormer = async (moving: Moving, signal?: AbortSignal): Promise<number> => {
  let moved = 0
  for (const of of movedFields(moving.entities))
    await whileThere(moving, of, () => moveField(moving, of, () => moved++, signal))
  return moved
}
