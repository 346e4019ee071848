/** The result codes of SQLite. */

/** The primary result code of an error of SQLite; 0 for any other error. */
export const errorCode = (error: unknown): number =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0

/** The result code for a file that another connection has locked. */
export const BUSY = 5

/** The result code for a value that is too long, as all texts of a column together may be. */
export const TOOBIG = 18
