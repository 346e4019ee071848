/** Whether a path can be a store's: what is there already, and whether something can be put there. */
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

const remedy = 'name another place in DUET_DATABASE_URL'

/** What a database file begins with (SQLite, "Database File Format", section 1.3.1). */
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
  if (!stats.isFile()) return `it is no file; ${remedy}`
  return isDatabase(file) ? undefined : `it is no SQLite database; ${remedy}`
}

const checkFile = (file: string): void => {
  const fault = faultOf(file)
  if (fault) throw new Error(`the store ${file} cannot be opened, ${fault}`)
  accessSync(file, constants.W_OK)
}

/** The folder that a path would be made in: the nearest one there is. */
const nearest = (folder: string): string => (existsSync(folder) ? folder : nearest(dirname(folder)))

/** Throws, in one sentence with what to do, where no store can be written at a path. It leaves nothing there. */
export const checkPlace = (file: string): void => {
  if (existsSync(file)) checkFile(file)
  const folder = nearest(dirname(file))
  if (!statSync(folder).isDirectory())
    throw new Error(`the store ${file} cannot be made, a file is in the way; ${remedy}`)
  try {
    // What the system says beforehand is not always so, below /proc or on a share; so it is tried.
    rmdirSync(mkdtempSync(join(folder, '.duet-')))
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new Error(
      `the store ${file} cannot be written, ${folder} takes no files (${code}); ${remedy}, or give this user the right to it`,
      { cause },
    )
  }
}

/** Throws, with what to do, where there is no such file: opening it would make one. */
export const checkThere = (file: string): void => {
  if (!existsSync(file)) throw new Error(`there is no store ${file}; name it in DUET_DATABASE_URL`)
}
