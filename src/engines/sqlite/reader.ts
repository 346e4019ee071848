/** Reads of a SQLite file, on this thread's own connection. */
import { type Counters, watchCommits } from '#engines/sqlite/changes.ts'
import { connect } from '#engines/sqlite/connection.ts'
import { ApiError } from '#errors.ts'
import {
  type Changes,
  drive,
  type Query,
  queryWith,
  type Reader,
  type Rows,
  type Work,
} from '#sql/engine.ts'

const begin = queryWith('begin')
const commit = queryWith('commit')

/** A reader that answers at once, since the driver is synchronous. */
type SqliteReader = Reader & {
  /** Ends the open snapshot: a read after it sees all that was committed. */
  readonly renewSnapshot: () => void
  /** Tells what changes from snapshot to snapshot, with the counters that the writer is to move; undefined unless asked for. */
  readonly watch: (Changes & { readonly counters: Counters }) | undefined
  readonly close: () => void
}

/** Opens the file for reading; a read that takes longer than `timeout` milliseconds ends with TIMEOUT. */
export const openReader = (file: string, timeout: number, isWatched = false): SqliteReader => {
  const connection = connect(file, { readOnly: true })
  const commits = isWatched ? watchCommits(connection) : undefined
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
      commits?.look()
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
  const watch = commits && {
    ...commits,
    stateOf: (tables: readonly number[]) => {
      beginSnapshot()
      return commits.stateOf(tables)
    },
  }
  /** Watched, the next one begins at once: a commit of another program is best told from the writer's right after that. */
  const renewSnapshot = () => {
    endSnapshot()
    if (commits && connection.database.isOpen) beginSnapshot()
  }
  return { query, snapshot, renewSnapshot, watch, close }
}
