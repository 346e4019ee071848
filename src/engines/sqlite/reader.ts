/** Reads of a SQLite file, on this thread's own connection. */
import { connect } from '#engines/sqlite/connection.ts'
import { ApiError } from '#errors.ts'
import { drive, type Query, queryWith, type Reader, type Rows, type Work } from '#sql/engine.ts'

const begin = queryWith('begin')
const commit = queryWith('commit')

/** A reader that answers at once, since the driver is synchronous. */
type SqliteReader = Reader & {
  /** Ends the open snapshot: a read after it sees all that was committed. */
  readonly endSnapshot: () => void
  readonly close: () => void
}

/** Opens the file for reading; a read that takes longer than `timeout` milliseconds ends with TIMEOUT. */
export const openReader = (file: string, timeout: number): SqliteReader => {
  const connection = connect(file, { readOnly: true })
  let deadline = Number.POSITIVE_INFINITY
  let calls = 0
  // Called for each row of a scan; looking at the clock each time would cost more than the row.
  connection.database.function('duet_interrupt_check', () => {
    if ((++calls & 0xff) === 0 && performance.now() > deadline)
      throw new ApiError('TIMEOUT', 'Reading took too long; ask for less', {
        retryAfter: 5,
      })
    return 1
  })
  let isOpen = false
  const endSnapshot = () => {
    if (!isOpen) return
    isOpen = false
    // A read that failed because of the disk has ended the snapshot already.
    if (connection.database.isTransaction) connection.query(commit)
  }
  // Requests that arrive together read from one snapshot: opening one costs three system calls, as much as the read.
  const beginSnapshot = () => {
    if (!isOpen) {
      connection.query(begin)
      isOpen = true
      setImmediate(endSnapshot)
    }
    deadline = performance.now() + timeout
  }
  const query = (query: Query): Rows => {
    beginSnapshot()
    return connection.query(query)
  }
  const snapshot = <Result>(work: () => Work<Result>): Result => {
    beginSnapshot()
    return drive(work(), connection.query)
  }
  const close = () => {
    endSnapshot()
    connection.close()
  }
  return { query, snapshot, endSnapshot, close }
}
