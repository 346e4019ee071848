/** Quick reads of a SQLite file, on this thread's own connection. */
import { type VersionTable, watchCommits } from '#engines/sqlite/changes.ts'
import { connect, endRead, lookWhileReading } from '#engines/sqlite/connection.ts'
import { drive, type Query, type QueryScript, queryWith, type Rows, TooLong } from '#sql/engine.ts'

const begin = queryWith('begin')

/** A read that is answered at once looks so often at most, once for 64 rows that it passes; another thread goes on with it. */
const mostLooks = 32

/**
 * Opens the file for reading, by a reader that answers at once, since the driver is synchronous; `onDamage` is called when a read
 * meets a damaged page. `isWatched`: it reports what changes; `beside`: it is one of several that do, with a number of its own.
 */
export const openReader = (
  file: string,
  onDamage: (message: string) => void,
  isWatched = false,
  beside?: { readonly versions: VersionTable; readonly number: number },
) => {
  const connection = connect(file, { readOnly: true, onDamage })
  const commits = isWatched ? watchCommits(connection, beside?.versions, beside?.number) : undefined
  // Another thread may have told of a commit: who asks here next, on another connection to it, sees that.
  const isBehind = beside && commits ? commits.isBehind : () => false
  let looks = 0
  lookWhileReading(connection, () => {
    if (++looks > mostLooks) throw new TooLong()
  })
  let isOpen = false
  const endSnapshot = () => {
    if (!isOpen) return
    isOpen = false
    endRead(connection)
  }
  // Requests that arrive together read from one snapshot: opening one costs three system calls, as much as the read.
  const beginSnapshot = () => {
    if (isOpen && !isBehind()) return
    endSnapshot()
    connection.query(begin)
    isOpen = true
    setImmediate(endSnapshot)
    commits?.look()
  }
  return {
    query: (query: Query): Rows => {
      beginSnapshot()
      looks = 0
      return connection.query(query)
    },
    snapshot: <Result>(work: () => QueryScript<Result>): Result => {
      beginSnapshot()
      looks = 0
      return drive(work(), connection.query)
    },
    /** Ends the open snapshot: a read after it sees all that was committed. Watched, the next one begins at once: a commit of another program is best told from the writer's right after that. */
    renewSnapshot: () => {
      endSnapshot()
      if (commits && connection.database.isOpen) beginSnapshot()
    },
    /** Reports what changes from snapshot to snapshot, with the versions that the writer is to number; undefined unless asked for. */
    watch: commits && {
      ...commits,
      now: () => {
        beginSnapshot()
        return commits.now()
      },
    },
    /** Copies what is in the log into the file, unless that fails. */
    checkpoint: () => {
      try {
        endSnapshot()
        connection.run('pragma wal_checkpoint(passive)')
      } catch {}
    },
    close: () => {
      endSnapshot()
      connection.close()
    },
  }
}
