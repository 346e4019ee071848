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
import { queryOf, type Reader, type ReadOptions, type Session } from '#sql/engine.ts'
import { name, type Sql, sql } from '#sql/sql.ts'
import type { Writer } from '#write/job.ts'

type Former = {
  readonly reader: Pick<Reader, 'query'>
  readonly writer: Writer
  readonly dialect: Dialect
  readonly entities: Parameters<typeof fileFields>[0]
  readonly keepFile: Services['keepFile']
}

/** What is needed to read of a store. */
type Stored = Pick<Former, 'reader' | 'dialect'>

type MovedField = FileField & { readonly from: FormerFiles }

const movedFields = (entities: Former['entities']): readonly MovedField[] =>
  fileFields(entities).flatMap(of =>
    of.file.movedFrom ? [{ ...of, from: of.file.movedFrom }] : [],
  )

const isThere = async ({ reader, dialect }: Stored, table: string) =>
  (await reader.query(queryOf(dialect.columnsOf(table), dialect), { isPresent: true })).length > 0

/** What a row has of a file, with the bytes and the type that are in the table yet: of one moment, as between two a file may be moved. */
const find = async (
  { reader, dialect }: Stored,
  { entity, key, from }: MovedField,
  id: number,
  options: ReadOptions,
) => {
  const { table, row, bytes, type } = from
  const piece = sql`select one.${name(columnName(key))}, former.${name(bytes)}, former.${name(type)} from ${name(entity.table)} as one
    left join ${name(table)} as former on former.${name(row)} = one.id where one.id = ${id}`
  return reader.query({ ...queryOf(piece, dialect), isQuick: true }, options)
}

/** Moves the file of a row, unless somebody changes, deletes or moves it at that moment; whether it did. */
const move = async (former: Former, of: MovedField, id: number): Promise<boolean> => {
  const { entity, key, from } = of
  const [[, found = null, kind] = []] = await find(former, of, id, { isPresent: true })
  if (found === null) return false
  const [bytes, type] = [found as Uint8Array<ArrayBuffer>, String(kind)]
  const file = await former.keepFile({ bytes, type, name: `${key}.${type.replace(/^.*\//, '')}` })
  const { table, row } = from
  const taken = sql`delete from ${name(table)} where ${name(row)} = ${id} and ${name(from.bytes)} = ${bytes} returning ${name(row)}`
  const given = sql`update ${name(entity.table)} set ${name(columnName(key))} = ${file} where id = ${id} returning id`
  const step = (piece: Sql) => ({
    statement: queryOf(piece, former.dialect),
    expect: 'row' as const,
  })
  const outcome = await former.writer.write({
    steps: [step(taken), step(given)],
    status: 200,
    answer: null,
  })
  if (outcome.kind !== 'done' && outcome.kind !== 'refused')
    throw new Error(`the file of row ${id} was not moved: ${JSON.stringify(outcome)}`)
  return outcome.kind === 'done'
}

/** The result of work on a table of an earlier release; undefined where it is not there, as another process may have dropped it. */
const whileThere = async <Result>(
  former: Former,
  table: string,
  work: () => Promise<Result>,
  onGone = () => {},
): Promise<Result | undefined> => {
  try {
    return await work()
  } catch (error) {
    if (await isThere(former, table)) throw error
    onGone()
    return undefined
  }
}

/** A field of a row that is a file. */
export type FileAt = { readonly entity: string; readonly field: string; readonly id: number }

/** What requests find of the tables of an earlier release, as long as these are there; undefined for a model that names none. */
export const formerFiles = (former: Former) => {
  let fields = movedFields(former.entities)
  if (fields.length === 0) return undefined
  const inTable = <Result>({ from: { table } }: MovedField, work: () => Promise<Result>) =>
    whileThere(former, table, work, () => {
      fields = fields.filter(({ from }) => from.table !== table)
    })
  return {
    find: async (store: Stored, { entity, field, id }: FileAt, options: ReadOptions) => {
      const of = fields.find(of => of.entityName === entity && of.key === field)
      return of && inTable(of, () => find(store, of, id, options))
    },
    /** Moves the files of a row before they are written. */
    move: async (entity: string, id: number): Promise<void> => {
      for (const of of fields)
        if (of.entityName === entity) await inTable(of, () => move(former, of, id))
    },
  }
}

/** The fields whose files may be in a table of an earlier release that is there yet, with whether it has any. */
const fieldsThere = async function* (
  session: Pick<Session, 'query'>,
  dialect: Dialect,
  entities: Former['entities'],
) {
  for (const of of movedFields(entities)) {
    if (!(await isThere({ reader: session, dialect }, of.from.table))) continue
    const some = sql`select 1 from ${name(of.from.table)} limit 1`
    yield { ...of, hasSome: (await session.query(queryOf(some, dialect))).length > 0 }
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

/** So often in a row a file may be another one when it is moved. */
const mostTries = 5

/** Moves all files that are in the table of a field, and drops it; `moved` is told of each. Throws in the end if some could not be. */
const moveField = async (
  moving: Moving,
  of: MovedField,
  moved: () => void,
  signal?: AbortSignal,
): Promise<void> => {
  const { reader, dialect } = moving
  const { table, row } = of.from
  const faults: string[] = []
  for (let at = 0, tries = 0; ; ) {
    const next = sql`select ${name(row)} from ${name(table)} where ${name(row)} >= ${at} order by 1 limit 1`
    const [[id] = []] = await reader.query(queryOf(next, dialect), { isPresent: true })
    if (id === undefined) break
    if (signal?.aborted) return
    tries = Number(id) === at ? tries + 1 : 1
    at = Number(id)
    try {
      if (await move(moving, of, at)) moved()
      // It may have been replaced, moved or deleted in that moment.
      else if (tries === mostTries) throw new Error('there is no such row: delete it')
    } catch (error) {
      faults.push(`${of.key} of ${of.entityName} ${at} (${(error as Error).message})`)
      // It stays in the table, so the next one is looked for behind it, and has all its tries.
      at++
      tries = 0
    }
  }
  if (faults.length > 0)
    throw new Error(
      `${faults.length} files in the table ${table} were not moved, the first of them ${faults[0]}`,
    )
  // The writer of SQLite watches each table that was there when it began, so this one goes with the next start.
  if (moving.isShared) await withOpened(moving.session(), session => drop(session, dialect, table))
}

/**
 * Moves all files that are in tables of an earlier release, and drops those; gives how many rows it moved. What is interrupted goes on
 * from there, and of several processes that are about it one moves each file.
 */
export const moveFormer = async (moving: Moving, signal?: AbortSignal): Promise<number> => {
  let moved = 0
  const count = () => void moved++
  for (const of of movedFields(moving.entities))
    await whileThere(moving, of.from.table, () => moveField(moving, of, count, signal))
  return moved
}
