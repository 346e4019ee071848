/** A connection that is opened again whenever it is lost, after growing pauses. */
import { type Connection, connect } from '#engines/postgres/connection/connection.ts'
import { UnreachableError } from '#engines/postgres/connection/errors.ts'
import type { ConnectionOptions } from '#engines/postgres/connection/settings.ts'

/** Pauses between tries to connect, in milliseconds: from the first to the longest, each twice the one before. */
const pauses = { first: 100, longest: 2000 }

/** After a connection that lasted so many milliseconds, the next pause is the first again. */
const goodAfter = 100

export type Reconnecting = {
  /** The connection, while there is one. */
  readonly connection: () => Connection | undefined
  /** Milliseconds until the next try to connect. */
  readonly wait: () => number
  readonly close: () => Promise<void>
}

/** Opens it and keeps it open; `onChange` is called with the problem, or with null when there is one again. */
export const keepConnected = (
  options: ConnectionOptions,
  onChange: (error: Error | null) => void,
): Reconnecting => {
  let connection: Connection | undefined
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let pause = 0
  let due = 0
  const openLater = () => {
    // Spread, so that not all processes connect at the same moment.
    const wait = pause * (0.75 + Math.random() / 2)
    due = performance.now() + wait
    timer = setTimeout(open, wait)
    pause = Math.min(Math.max(pause * 2, pauses.first), pauses.longest)
  }
  const setAway = (error: Error) => {
    connection = undefined
    if (isClosed) return
    onChange(error)
    openLater()
  }
  const use = (made: Connection) => {
    connection = made
    const madeAt = performance.now()
    made.gone.then(() => {
      if (performance.now() - madeAt > goodAfter) pause = 0
      setAway(new UnreachableError('the connection to the database was lost'))
    })
    onChange(null)
  }
  const open = async () => {
    try {
      const made = await connect(options)
      if (isClosed) return void made.end()
      use(made)
    } catch (error) {
      setAway(error as Error)
    }
  }
  open()
  return {
    connection: () => (connection?.isOpen() ? connection : undefined),
    wait: () => Math.max(due - performance.now(), 0),
    close: async () => {
      isClosed = true
      clearTimeout(timer)
      await connection?.end()
    },
  }
}
