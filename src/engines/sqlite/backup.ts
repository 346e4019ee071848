/** Backup and restore: copies a store while it is served, and replaces one by a copy. */
import { createHash, createHmac } from 'node:crypto'
import {
  copyFileSync,
  createReadStream,
  existsSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { companions, replaceFile, sync } from '#engines/shared/files.ts'
import { type Migration, ownerOf } from '#engines/shared/migrations.ts'
import { NewerStoreError } from '#engines/shared/store.ts'
import { BUSY, connect, errorCode, type SqliteConnection } from '#engines/sqlite/connection.ts'
import { dialect } from '#engines/sqlite/dialect.ts'
import { checkExists, holdStore, logOf } from '#engines/sqlite/file.ts'
import { logBytes } from '#engines/sqlite/log.ts'
import { secretsOf } from '#engines/sqlite/migrate.ts'
import { queryOf, queryWith, type Rows } from '#sql/engine.ts'
import { name, type Sql, sql } from '#sql/sql.ts'

/** A file exists that would be replaced, and `force` is not set. */
class FileExistsError extends Error {
  override readonly name = 'FileExistsError'
}

/** How many pages are copied before others have their turn. */
const pagesAtOnce = 1000

/** The file that a path leads to through symbolic links, beside which SQLite makes its other files; if nothing is there, where it would be made. */
export const realOf = (path: string): string =>
  existsSync(path) || path === dirname(path)
    ? realpathSync(path)
    : join(realOf(dirname(path)), basename(path))

/** Whether a file is the store itself, or one that SQLite makes beside it. */
const isOwn = (file: string, store: string): boolean => {
  const own = [store, realOf(store)].flatMap(path => [path, ...companions.map(end => path + end)])
  return own.includes(file) || own.includes(realOf(file))
}

/**
 * Tells a store from any other: from one with other keys, and from a copy of itself at another path. It stays the same for as long as
 * the store stays where it is, also across a restore.
 */
export const identityOf = (store: string): string =>
  createHmac('sha256', secretsOf(store).cursor)
    .update(realpathSync(store))
    .digest('hex')
    .slice(0, 8)

/** The file beside a backup that has its checksum, as sha256sum writes and checks it. */
export const sumFileOf = (backup: string): string => `${backup}.sha256`

const sumOf = async (file: string): Promise<string> => {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk)
  return hash.digest('hex')
}

/** Makes a copy a single file without a log, and checks it; gives the names of its migrations. */
const checkedCopy = (copy: string, what: string): readonly string[] => {
  const database = new DatabaseSync(copy)
  const ask = (text: string) => database.prepare(text).all()
  try {
    database.exec('pragma journal_mode = delete; pragma trusted_schema = off')
    const [first] = ask('pragma integrity_check(1)')
    if (first?.integrity_check !== 'ok')
      throw new Error(`it is damaged: ${String(first?.integrity_check).split('\n').at(-1)}`)
    if (ask('pragma foreign_key_check').length > 0)
      throw new Error('it is damaged: rows refer to rows that are not there')
    const [{ n } = {}] = ask("select count(*) as n from sqlite_schema where name = 'migrations'")
    if (n !== 1) throw new Error('it is not a store of Duet')
    return ask('select name from migrations order by name').map(({ name }) => String(name))
  } catch (cause) {
    throw new Error(`${what} is not good: ${(cause as Error).message}`, { cause })
  } finally {
    database.close()
  }
}

export type BackupOptions = {
  /** Whether an existing file is replaced. */
  readonly force: boolean
  readonly onPages: (copied: number) => void
}

/** Copies a store as it is at one moment, while others may write it; gives the copy's size in bytes. */
export const backUp = async (
  store: string,
  target: string,
  { force, onPages }: BackupOptions,
): Promise<number> => {
  checkExists(store)
  for (const file of [target, sumFileOf(target)])
    if (isOwn(file, store)) throw new FileExistsError(`${file} is the store itself`)
  const mode = statSync(store).mode & 0o777
  let sum = ''
  const check = () => {
    if (!force && existsSync(target))
      throw new FileExistsError(`${target} is there already; --force replaces it`)
  }
  check()
  const before = () => {
    check()
    // One of a file that was replaced would call the new one damaged.
    rmSync(sumFileOf(target), { force: true })
  }
  const copy = async (part: string) => {
    const connection = connect(store, { readOnly: true })
    try {
      // A snapshot: without one the copy starts again whenever another connection writes.
      connection.run('begin')
      connection.query(queryWith('select count(*) from sqlite_schema'))
      await backup(connection.database, part, {
        rate: pagesAtOnce,
        progress: ({ totalPages, remainingPages }) => onPages(totalPages - remainingPages),
      })
    } finally {
      connection.close()
    }
    checkedCopy(part, 'the copy')
    sum = await sumOf(part)
  }
  await replaceFile(target, copy, { mode, before })
  const writeSum = async (part: string) => writeFileSync(part, `${sum}  ${basename(target)}\n`)
  await replaceFile(sumFileOf(target), writeSum, { mode })
  return statSync(target).size
}

/** Whether a store has content; true also for one that cannot be read. */
const hasContent = (store: string, tables: readonly string[]): boolean => {
  if (!existsSync(store) || statSync(store).size === 0) return false
  let connection: SqliteConnection | undefined
  try {
    connection = connect(store)
    const { query, run } = connection
    const ask = (piece: Sql): Rows => query(queryOf(piece, dialect))
    // Nobody else may be writing, an import say; closing then leaves nothing in the -wal file.
    run('begin immediate')
    return tables.some(
      table =>
        ask(dialect.columnsOf(table)).length > 0 &&
        ask(sql`select 1 from ${name(table)} limit 1`).length > 0,
    )
  } catch (cause) {
    if (errorCode(cause) !== BUSY) return true
    throw new Error(`${store} is being written by another process; wait for its end`, { cause })
  } finally {
    connection?.close()
  }
}

export type RestoreOptions = {
  /** Whether a store is replaced that has content in one of these tables, or that cannot be read. */
  readonly force: boolean
  readonly tables: readonly string[]
  /** The migrations that this program knows; a backup with others is of a newer program. */
  readonly migrations: readonly Migration[]
}

/** Replaces a store that is not served by a backup; gives the store's size in bytes, and whether there was a checksum. */
export const restore = async (
  source: string,
  store: string,
  { force, tables, migrations }: RestoreOptions,
): Promise<{ readonly size: number; readonly hasSum: boolean }> => {
  if (!statSync(source).isFile()) throw new Error(`${source} is not a file`)
  if (isOwn(source, store)) throw new FileExistsError(`${source} is the store itself`)
  // Its last writes are in the log and would be missing.
  if (logBytes(logOf(source)) > 0)
    throw new Error(
      `${realpathSync(source)} has a -wal file beside it: it is a store in use, not a backup`,
    )
  const { mode } = statSync(existsSync(store) ? store : source)
  // Whose the store is, or its folder, where its server has to make files. Before the lock, which makes an empty file if there is none.
  const quiet = { throwIfNoEntry: false } as const
  const owner = statSync(store, quiet) ?? statSync(dirname(store), quiet)
  const release = holdStore(store)
  const checkReplaceable = () => {
    if (hasContent(store, tables) && !force)
      throw new FileExistsError(`${store} has content already; --force replaces it`)
  }
  try {
    checkReplaceable()
    const target = realpathSync(store)
    const sumFile = sumFileOf(source)
    const hasSum = existsSync(sumFile)
    const copy = async (part: string) => {
      copyFileSync(source, part)
      if (hasSum) {
        const [sum] = /[0-9a-f]{64}/i.exec(readFileSync(sumFile, 'latin1')) ?? []
        if (sum === undefined)
          throw new Error(`${sumFile} has no checksum: remove it, or put it right`)
        if (sum.toLowerCase() !== (await sumOf(part)))
          throw new Error(
            `${source} is not good: it was changed since it was made, as ${sumFile} shows; take another backup`,
          )
      }
      const known = new Set(migrations.map(({ name }) => name))
      const unknown = checkedCopy(part, source).filter(name => !known.has(name))
      if (unknown.length > 0)
        throw new NewerStoreError(
          `${source} has the migration ${unknown.join(', ')}, which this program does not know: it is of ${ownerOf(unknown[0] ?? '')}; use that one`,
        )
    }
    const before = () => {
      checkReplaceable()
      // The old file's log goes before the rename, as SQLite would replay it into the new one.
      for (const ending of companions) rmSync(`${target}${ending}`, { force: true })
      sync(dirname(target))
    }
    await replaceFile(target, copy, { mode: mode & 0o777, owner, before })
    return { size: statSync(target).size, hasSum }
  } finally {
    release()
  }
}
