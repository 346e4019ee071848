/** A few connections that quick reads share: each is opened again when it is lost, after growing pauses. */
import {
  type Connection,
  type ConnectionOptions,
  connect,
} from '#engines/postgres/connection/connection.ts'
import { isRetryable, UnreachableError } from '#engines/postgres/connection/errors.ts'
import type { Query, Rows } from '#sql/engine.ts'

/** Pauses between tries to connect, in milliseconds: from the first to the longest, each twice the one before. */
const pauses = { first: 100, longest: 2000 }

/** A connection that lasted so long was well: the next pause is the first again. In milliseconds. */
const wellAfter = 100

/** How long a read waits for a connection that is being opened, in milliseconds. */
const shortWait = 250

/** A read that was lost within so many milliseconds is tried again; one on a silent connection has had its time. */
const quicklyLost = 1000

export type PipelinedPool = {
  /** The rows of a query that is a work of its own; tried again on another connection where one was lost. */
  readonly query: (query: Query) => Promise<Rows>
  /** How many queries are on their way. */
  readonly waiting: () => number
  readonly isUp: () => boolean
  /** Settles with the first connection; rejects with why there is none. */
  readonly ready: () => Promise<void>
  /** Seconds until the next try to connect, at least 1. */
  readonly nextTry: () => number
  readonly close: () => Promise<void>
}

type Options = {
  readonly connection: ConnectionOptions
  readonly count: number
  /** Told when the last connection was lost and when there is one again. */
  readonly onChange: (problem: string | null) => void
}

/** One connection for as long as it is wanted. */
const createSlot = (options: ConnectionOptions, onChange: (error: Error | null) => void) => {
  let connection: Connection | undefined
  let closed = false
  let timer: NodeJS.Timeout | undefined
  let pause = 0
  let due = 0
  const later = () => {
    if (closed) return
    // Not all processes of all machines at the same moment.
    const wait = pause * (0.75 + Math.random() / 2)
    due = performance.now() + wait
    timer = setTimeout(open, wait)
    pause = Math.min(Math.max(pause * 2, pauses.first), pauses.longest)
  }
  const open = async () => {
    try {
      const made = await connect(options)
      if (closed) return void made.end()
      connection = made
      const madeAt = performance.now()
      made.gone.then(() => {
        connection = undefined
        if (closed) return
        if (performance.now() - madeAt > wellAfter) pause = 0
        onChange(new UnreachableError('the connection to the database was lost'))
        later()
      })
      onChange(null)
    } catch (error) {
      onChange(error as Error)
      later()
    }
  }
  const close = async () => {
    closed = true
    clearTimeout(timer)
    await connection?.end()
  }
  open()
  return {
    connection: () => (connection?.isOpen() ? connection : undefined),
    wait: () => Math.max(due - performance.now(), 0),
    close,
  }
}

/** Opens `count` connections and keeps them open. */
export const createPipelinedPool = ({ connection, count, onChange }: Options): PipelinedPool => {
  let why: Error = new UnreachableError('the database was not reached yet')
  let wasUp = true
  let closed = false
  const listeners = new Set<() => void>()
  const slots = Array.from({ length: count }, () =>
    createSlot(connection, error => {
      if (error) why = error
      const isUp = best() !== undefined
      if (isUp !== wasUp) onChange(isUp ? null : why.message)
      wasUp = isUp
      for (const listener of [...listeners]) listener()
    }),
  )
  /** The connection with the least on its way: a slow answer holds up only what is behind it. */
  function best(): Connection | undefined {
    let found: Connection | undefined
    for (const slot of slots) {
      const connection = slot.connection()
      if (connection && (!found || connection.waiting() < found.waiting())) found = connection
    }
    return found
  }
  /** The next change, or that so many milliseconds are over. */
  const change = (wait: number): Promise<void> =>
    new Promise(resolve => {
      const end = () => {
        clearTimeout(timer)
        listeners.delete(end)
        resolve()
      }
      const timer = setTimeout(end, wait)
      listeners.add(end)
    })
  const soon = async (): Promise<Connection> => {
    const last = performance.now() + shortWait
    for (;;) {
      const connection = best()
      if (connection) return connection
      const left = last - performance.now()
      if (left <= 0 || closed) throw why
      await change(left)
    }
  }
  const query = async (asked: Query): Promise<Rows> => {
    const begun = performance.now()
    const connection = best() ?? (await soon())
    try {
      return await connection.query(asked)
    } catch (error) {
      const isLate = performance.now() - begun > quicklyLost
      if (!isRetryable(error) || isLate || closed) throw error
      return (await soon()).query(asked)
    }
  }
  const ready = async (): Promise<void> => {
    if (!best()) await soon()
  }
  return {
    query,
    waiting: () => best()?.waiting() ?? 0,
    isUp: () => best() !== undefined,
    ready,
    nextTry: () => Math.max(1, Math.ceil(Math.min(...slots.map(slot => slot.wait())) / 1000)),
    close: async () => {
      closed = true
      await Promise.all(slots.map(slot => slot.close()))
    },
  }
}
