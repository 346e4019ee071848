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

type State = {
  readonly hosts: Hosts
  readonly options: SessionOptions
  /** Called with the problem, or with null when there is a connection again. */
  readonly onChange: (error: Error | null) => void
  connection?: Connection | undefined
  isClosed: boolean
  timer?: NodeJS.Timeout
  /** The next pause, in milliseconds. */
  pause: number
  /** When the next try to connect is, on the clock of `performance`. */
  due: number
}

const openLater = (state: State): void => {
  // Spread, so that not all processes connect at the same moment.
  const wait = state.pause * (0.75 + Math.random() / 2)
  state.due = performance.now() + wait
  state.timer = setTimeout(open, wait, state)
  state.pause = Math.min(Math.max(state.pause * 2, pauses.first), pauses.longest)
}

const lose = (state: State, error: Error): void => {
  state.connection = undefined
  if (state.isClosed) return
  state.hosts.doubt()
  state.onChange(error)
  openLater(state)
}

const use = (state: State, made: Connection): void => {
  state.connection = made
  const madeAt = performance.now()
  made.closed.then(() => {
    if (performance.now() - madeAt > goodAfter) state.pause = 0
    lose(state, new UnreachableError('the connection to the database was lost'))
  })
  state.onChange(null)
}

const open = async (state: State): Promise<void> => {
  try {
    const { hosts, options } = state
    await hosts.find(longestFind)
    const moves = hosts.moves()
    const made = await connectTo(hosts.current(), options, hosts.role)
    if (state.isClosed) return void made.close()
    if (moves !== hosts.moves()) {
      made.cut()
      throw new UnreachableError('another server has become the primary meanwhile')
    }
    use(state, made)
  } catch (error) {
    lose(state, error as Error)
  }
}

/** Opens it and keeps it open; `onChange` is called with the problem, or with null when there is one again. */
export const keepConnected = (
  hosts: Hosts,
  options: SessionOptions,
  onChange: State['onChange'],
) => {
  const state: State = { hosts, options, onChange, isClosed: false, pause: 0, due: 0 }
  hosts.onMove(() => state.connection?.cut())
  open(state)
  return {
    /** The connection, while there is one. */
    connection: () => (state.connection?.isOpen() ? state.connection : undefined),
    /** Milliseconds until the next try to connect. */
    wait: () => Math.max(state.due - performance.now(), 0),
    close: async () => {
      state.isClosed = true
      clearTimeout(state.timer)
      await state.connection?.close()
    },
  }
}

export type Reconnecting = ReturnType<typeof keepConnected>
