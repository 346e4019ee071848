/** A connection that is opened again whenever it is lost, after growing pauses. */
import { type Connection, connectTo } from '#engines/postgres/connection/connection.ts'
import { UnreachableError } from '#engines/postgres/connection/errors.ts'
import type { Hosts } from '#engines/postgres/connection/hosts.ts'
import type { SessionOptions } from '#engines/postgres/connection/settings.ts'

/** Pauses between tries to connect, in milliseconds: from the first to the longest, each twice the one before. */
const pauses = { first: 100, longest: 2000 }

/** After a connection that lasted so many milliseconds, the next pause is the first again. */
const goodAfter = 100

/** How long it waits in one piece for the primary to be found, in milliseconds; then it says that there is none. */
const longestFind = 2000

/** Opens one to where the server is now. */
const connectNow = async (hosts: Hosts, options: SessionOptions): Promise<Connection> => {
  await hosts.find(longestFind)
  const moves = hosts.moves()
  const made = await connectTo(hosts.current(), options, hosts.role)
  if (moves === hosts.moves()) return made
  made.cut()
  throw new UnreachableError('another server has become the primary meanwhile')
}

/** Opens it and keeps it open; `onChange` is called with the problem, or with null when there is one again. */
export const keepConnected = (
  hosts: Hosts,
  options: SessionOptions,
  onChange: (error: Error | null) => void,
) => {
  let current: Connection | undefined
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  /** The next pause, and when the next try to connect is, on the clock of `performance`. */
  let pause = 0
  let due = 0
  const openLater = () => {
    // Spread, so that not all processes connect at the same moment.
    const wait = pause * (0.75 + Math.random() / 2)
    due = performance.now() + wait
    timer = setTimeout(open, wait)
    pause = Math.min(Math.max(pause * 2, pauses.first), pauses.longest)
  }
  const lose = (error: Error) => {
    current = undefined
    if (isClosed) return
    hosts.doubt()
    onChange(error)
    openLater()
  }
  const use = (made: Connection) => {
    current = made
    const madeAt = performance.now()
    made.closed.then(() => {
      if (performance.now() - madeAt > goodAfter) pause = 0
      lose(new UnreachableError('the connection to the database was lost'))
    })
    onChange(null)
  }
  const open = async () => {
    try {
      const made = await connectNow(hosts, options)
      if (isClosed) return void made.close()
      use(made)
    } catch (error) {
      lose(error as Error)
    }
  }
  hosts.onMove(() => current?.cut())
  open()
  return {
    /** The connection, while there is one. */
    connection: () => (current?.isOpen() ? current : undefined),
    /** Milliseconds until the next try to connect. */
    wait: () => Math.max(due - performance.now(), 0),
    close: async () => {
      isClosed = true
      clearTimeout(timer)
      await current?.close()
    },
  }
}

export type Reconnecting = ReturnType<typeof keepConnected>
