/** Checks the path of a store: what it leads to already, and whether a file can be made there. */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readSync,
  rmdirSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

const remedy = 'name another path in DUET_DATABASE_URL'

/** The first bytes of a database file (SQLite, "Database File Format", section 1.3.1). */
const header = 'SQLite format 3\0'

const isDatabase = (file: string): boolean => {
  if (statSync(file).size === 0) return true
  const start = Buffer.alloc(header.length)
  const descriptor = openSync(file, 'r')
  try {
    readSync(descriptor, start)
  } finally {
    closeSync(descriptor)
  }
  return start.toString('latin1') === header
}

const faultOf = (file: string): string | undefined => {
  const stats = statSync(file)
  if (stats.isDirectory()) return 'it is a folder; name a file in DUET_DATABASE_URL'
  if (!stats.isFile()) return `it is not a file; ${remedy}`
  return isDatabase(file) ? undefined : `it is not a SQLite database; ${remedy}`
}

const checkFile = (file: string): void => {
  const fault = faultOf(file)
  if (fault) throw new Error(`the store ${file} cannot be opened, ${fault}`)
  accessSync(file, constants.W_OK)
}

/** The nearest folder above a path that exists. */
const nearest = (folder: string): string => (existsSync(folder) ? folder : nearest(dirname(folder)))

/** Throws a sentence with the remedy where no store can be written at a path. It leaves nothing there. */
export const checkPath = (file: string): void => {
  if (existsSync(file)) checkFile(file)
  const folder = nearest(dirname(file))
  if (!statSync(folder).isDirectory())
    throw new Error(`the store ${file} cannot be made, a file is in the way; ${remedy}`)
  try {
    // Below /proc or on a network share permissions do not tell, so it is tried.
    rmdirSync(mkdtempSync(join(folder, '.duet-')))
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new Error(
      `the store ${file} cannot be written, ${folder} accepts no files (${code}); ${remedy}, or give this user the right to it`,
      { cause },
    )
  }
}

/** Throws, with the remedy, where there is no such file: opening it would make one. */
export const checkExists = (file: string): void => {
  if (!existsSync(file)) throw new Error(`there is no store ${file}; name it in DUET_DATABASE_URL`)
}
