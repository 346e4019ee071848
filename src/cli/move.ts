/**
 * `duet move`: moves a whole SQLite store into a PostgreSQL database, column by column, with revisions and the machine's own tables. It shares
 * no path with `import` and `export`, which know the members of an API alone and check each row by the rules of the model.
 */
import { createHash } from 'node:crypto'
import { isPostgres, parameterFault } from '#base/database-url.ts'
import { withOpened } from '#base/with-opened.ts'
import { readArgs, UsageError } from '#cli/arguments.ts'
import { copyFiles } from '#cli/files.ts'
import { aligned, progress } from '#cli/terminal.ts'
import { type Config, loadConfig } from '#config.ts'
import type { Content } from '#content.ts'
import { UnreachableError } from '#engines/postgres/errors.ts'
import type { MoveTarget } from '#engines/postgres/moving.ts'
import { historyOf } from '#engines/shared/migrations.ts'
import { type MovedTable, pagesOf, type Side } from '#engines/shared/moving.ts'
import { StoreInUseError } from '#engines/sqlite/file.ts'
import { highestIds, machineryOf } from '#engines/sqlite/store.ts'
import { checkMoved } from '#files/former.ts'
import type { Entity } from '#model/entity.ts'
import { longest } from '#model/field.ts'
import { columnName, type Entities } from '#model/model.ts'
import { dependenciesFirst, selfReferences } from '#model/references.ts'
import { fileOf, filesOf, modelFor, storeOf } from '#serve/store.ts'
import { ConstraintError, queryOf, type Rows } from '#sql/engine.ts'
import { name, type SqlValue, sql } from '#sql/sql.ts'

export const help = `Usage: duet move --to postgres://USER:PASSWORD@HOST/DATABASE [--files PLACE]

Moves the SQLite store of DUET_DATABASE_URL into a PostgreSQL database that has no content:
all rows with their ids, times and revisions, the stored responses of Idempotency-Keys, and the
keys of cursors and mail, so that what callers hold stays good. Stop the server first. The
store stays as it is. In the end both sides are compared, row for row.
A move that is cut off leaves nothing in the database, and may be run again. The bytes of files stay
where they are; --files copies them to a folder or s3://BUCKET/PREFIX?endpoint=URL, as DUET_FILES
names it.`

/** The number of rows in a batch: the larger a row may be, the fewer. */
const pageOf = ({ fields }: Entity): number => {
  const all = Object.values(fields)
  if (all.some(({ scalar }) => scalar === 'bytes')) return 20
  return all.some(field => longest(field) > 0) ? 250 : 1000
}

/** The entities' tables, in an order in which they can be filled; targets of references come first. */
export const contentTables = (entities: Entities): readonly MovedTable[] =>
  dependenciesFirst(entities)
    .filter(([, { view }]) => !view)
    .map(([, entity]) => ({
      name: entity.table,
      key: ['id'],
      columns: Object.fromEntries(
        Object.entries(entity.fields).flatMap(([key, { scalar, computed, kept }]) =>
          // What the store computes the target computes anew.
          computed || kept ? [] : [[columnName(key), scalar]],
        ),
      ),
      own: selfReferences(entities, entity).map(columnName),
      appendOnly: entity.appendOnly,
      page: pageOf(entity),
    }))

/** Copies the rows of a table. */
const copyTable = async (source: Side, target: MoveTarget, table: MovedTable): Promise<void> => {
  const [total] = await source.query(
    queryOf(sql`select count(*) from ${name(table.name)}`, source.dialect),
  )
  const shown = progress(`moving ${table.name}`, Number(total?.[0]))
  for await (const rows of pagesOf(source, table)) {
    await target.put(table, rows)
    shown.step(rows.length)
  }
  shown.done()
  if (table.own.length === 0) return
  // References to later rows of the same table were left out of the batches.
  for await (const rows of pagesOf(source, table, true)) await target.refer(table, rows)
}

/** Copies all of these tables. */
export const copyTables = async (
  source: Side,
  target: MoveTarget,
  tables: readonly MovedTable[],
): Promise<void> => {
  for (const table of tables)
    try {
      await copyTable(source, target, table)
    } catch (cause) {
      if (!(cause instanceof ConstraintError)) throw cause
      const message = `${table.name} cannot be moved (${cause.message}): nothing was; correct its rows, or take that rule out of the target`
      throw new Error(message, { cause })
    }
}

type TableSum = { readonly rows: number; readonly checksum: string }
type ComparedTable = { readonly name: string; readonly source: TableSum; readonly target: TableSum }

const sumOf = async (
  pages: AsyncIterable<Rows>,
  onRows: (count: number) => void,
): Promise<TableSum> => {
  const hash = createHash('sha256')
  // Numbers, texts and null as JSON has them; bytes as a list, which no other value is.
  const plain = (value: SqlValue) => {
    if (value instanceof Uint8Array) return [Buffer.from(value).toString('base64')]
    return typeof value === 'bigint' ? [String(value), 'integer'] : value
  }
  let count = 0
  for await (const rows of pages) {
    hash.update(rows.map(row => `${JSON.stringify(row.map(plain))}\n`).join(''))
    count += rows.length
    onRows(rows.length)
  }
  return { rows: count, checksum: hash.digest('hex') }
}

/** The counts of a side: PostgreSQL splits a count into parts, and a count of zero equals none. */
const countsOf = async function* ({ query }: Side): AsyncGenerator<Rows> {
  yield await query({
    text: `select entity, field, value, cast(sum(n) as bigint) from counts
      group by entity, field, value having sum(n) <> 0 order by entity, field, value`,
    values: [],
  })
}

export const isSame = ({ source, target }: ComparedTable): boolean =>
  source.rows === target.rows && source.checksum === target.checksum

/** Compares both sides, table by table: the number of rows and a checksum of them, and the counts that each side keeps of them. */
export const compare = async (
  source: Side,
  target: Side,
  tables: readonly MovedTable[],
): Promise<readonly ComparedTable[]> => {
  const shown = progress('verifying rows')
  const both = async (name: string, pages: (side: Side) => AsyncIterable<Rows>) => {
    const [ofSource, ofTarget] = await Promise.all([
      sumOf(pages(source), shown.step),
      sumOf(pages(target), () => {}),
    ])
    return { name, source: ofSource, target: ofTarget }
  }
  const compared: ComparedTable[] = []
  for (const table of tables) compared.push(await both(table.name, side => pagesOf(side, table)))
  compared.push(await both('counts', countsOf))
  shown.done()
  return compared
}

const tableText = (compared: readonly ComparedTable[]): string => {
  const sum = (side: TableSum) => [side.rows.toLocaleString('en'), side.checksum.slice(0, 12)]
  const rows = compared.map(table => {
    const verdict = isSame(table)
      ? 'ok'
      : `differs: ${sum(table.target).join(' rows, ')} in the target`
    return [table.name, ...sum(table.source), verdict]
  })
  return `${aligned([['table', 'rows', 'checksum', ''], ...rows], 1).join('\n')}\n`
}

/** Copies the bytes of files to another place where one is named; gives the place that they are in then, undefined where no entity has a file. */
const movedFiles = async (
  config: Config,
  content: Content,
  place: string | undefined,
): Promise<string | undefined> => {
  const filesBy = (by: Config) => filesOf(by, modelFor(by, content))
  const files = filesBy(config)
  if (!files || place === undefined) return files?.place
  const to = filesBy(loadConfig({ ...process.env, DUET_FILES: place }, content.settings))
  if (to) process.stdout.write(`${await copyFiles(files.store, to.store)}\n`)
  return place
}

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  const text = { type: 'string' } as const
  const { values } = readArgs(args, { to: text, files: text }, 0)
  const { to } = values
  if (to === undefined) throw new UsageError('--to is missing: duet move --to postgres://…')
  // It may contain a password, so the message does not quote it.
  if (!isPostgres(to))
    throw new UsageError(
      '--to must be postgres://USER:PASSWORD@HOST/DATABASE: a store moves from SQLite to PostgreSQL only',
    )
  const fault = parameterFault(to)
  if (fault !== undefined) throw new UsageError(`--to ${fault}`)
  const config = loadConfig(process.env, content.settings)
  fileOf(config, 'duet move goes from SQLite to PostgreSQL only')
  const store = await storeOf(config, content)
  // Throws if there is none: to hold a store would make its folder.
  await store.pending()
  // Held, so that no server writes into it during the move.
  let release: () => void
  try {
    release = await store.hold(0, () => {})
  } catch (cause) {
    if (!(cause instanceof StoreInUseError)) throw cause
    throw new Error(`a server serves ${store.label}: stop the server first, then move`, { cause })
  }
  let place: string | undefined
  try {
    // Loaded only here: their driver would delay every other command.
    const { openTarget } = await import('#engines/postgres/moving.ts')
    const { commandConnection } = await import('#engines/postgres/migrate.ts')
    const connection = commandConnection(to, config.values.DUET_PG_PREPARE)
    const target = await openTarget(connection, historyOf('postgres', content))
    try {
      const own = contentTables(content.entities)
      await target.check(own)
      // Before the rows: where they are there, no other move is made.
      place = await movedFiles(config, content, values.files)
      // That may have taken hours. Until both places are found good, the release of before may serve the source again.
      await target.check(own)
      await target.migrate()
      await store.migrate()
      await withOpened(store.session('filling'), async session => {
        const source = { ...session, dialect: store.dialect }
        await checkMoved(source, store.dialect, content.entities)
        const { first, last } = await machineryOf(source)
        const tables = [...first, ...own, ...last]
        // Copies and compares; throws if the two are not the same in the end.
        const moveAll = async (): Promise<void> => {
          await target.begin(tables)
          await copyTables(source, target, tables)
          await target.analyze()
          const compared = await compare(source, target, tables)
          process.stdout.write(tableText(compared))
          const different = compared.filter(table => !isSame(table)).map(({ name }) => name)
          if (different.length > 0)
            throw new Error(`${different.join(', ')} not the same in the target: nothing was moved`)
          await target.raise(await highestIds(source))
        }
        // A transaction that writes nothing: no other command writes either until it ends.
        await session.transaction(() => target.transaction(moveAll))
      })
    } catch (cause) {
      if (!(cause instanceof UnreachableError)) throw cause
      throw new Error(`${cause.message}; nothing was moved: run the same command again`, { cause })
    } finally {
      await target.close()
    }
  } finally {
    release()
  }
  const { label } = await storeOf({ ...config, store: { kind: 'postgres', url: to } }, content)
  process.stdout.write(
    `moved ${store.label} to ${label}; set DUET_DATABASE_URL to that database${place === undefined ? '' : `, and DUET_FILES to ${place}`}, and start the server\n`,
  )
}
