/** Quick reads of a SQLite file, on this thread's own connection. */
import { connect } from '#engines/sqlite/connection.ts'
import { drive, type Query, queryWith, type Reader, type Rows, type Work } from '#sql/engine.ts'

const begin = queryWith('begin')
const commit = queryWith('commit')

/** A reader that answers at once, since the driver is synchronous. */
type SqliteReader = Reader & {
  /** Ends the open snapshot: a read after it sees all that was committed. */
  readonly endSnapshot: () => void
  readonly close: () => void
}

/** Opens the file for reading. */
export const openReader = (file: string): SqliteReader => {
  const connection = connect(file, { readOnly: true })
  let isOpen = false
  const endSnapshot = () => {
    if (!isOpen) return
    isOpen = false
    // A read that failed because of the disk has ended the snapshot already.
    if (connection.database.isTransaction) connection.query(commit)
  }
  // Requests that arrive together read from one snapshot: opening one costs three system calls, as much as the read.
  const beginSnapshot = () => {
    if (isOpen) return
    connection.query(begin)
    isOpen = true
    setImmediate(endSnapshot)
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
