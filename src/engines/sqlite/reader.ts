/** Quick reads of a SQLite file, on this thread's own connection. */
import { type Cells, watchCommits } from '#engines/sqlite/changes.ts'
import { connect, endRead } from '#engines/sqlite/connection.ts'
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

/** A reader that answers at once, since the driver is synchronous. */
type SqliteReader = Reader & {
  /** Ends the open snapshot: a read after it sees all that was committed. */
  readonly renewSnapshot: () => void
  /** Reports what changes from snapshot to snapshot, with the cells that the writer is to number; undefined unless asked for. */
  readonly watch: (Changes & { readonly cells: Cells }) | undefined
  readonly close: () => void
}

/** Opens the file for reading; `onDamage` is called when a read meets a damaged page. `isWatched`: it reports what changes. */
export const openReader = (
  file: string,
  onDamage: (message: string) => void,
  isWatched = false,
): SqliteReader => {
  const connection = connect(file, { readOnly: true, onDamage })
  const commits = isWatched ? watchCommits(connection) : undefined
  let isOpen = false
  const endSnapshot = () => {
    if (!isOpen) return
    isOpen = false
    endRead(connection)
  }
  // Requests that arrive together read from one snapshot: opening one costs three system calls, as much as the read.
  const beginSnapshot = () => {
    if (isOpen) return
    connection.query(begin)
    isOpen = true
    setImmediate(endSnapshot)
    commits?.look()
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
    now: () => {
      beginSnapshot()
      return commits.now()
    },
  }
  /** Watched, the next one begins at once: a commit of another program is best told from the writer's right after that. */
  const renewSnapshot = () => {
    endSnapshot()
    if (commits && connection.database.isOpen) beginSnapshot()
  }
  return { query, snapshot, renewSnapshot, watch, close }
}
