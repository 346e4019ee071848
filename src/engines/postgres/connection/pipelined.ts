/** A pool of a few connections over which many quick reads are pipelined at once. */
import type { Connection } from '#engines/postgres/connection/connection.ts'
import { UnreachableError } from '#engines/postgres/connection/errors.ts'
import type { Hosts } from '#engines/postgres/connection/hosts.ts'
import { keepConnected, type Reconnecting } from '#engines/postgres/connection/reconnecting.ts'
import type { SessionOptions } from '#engines/postgres/connection/settings.ts'
import { endsWithin } from '#engines/postgres/connection/within.ts'
import type { Query, Rows } from '#sql/engine.ts'

/** How long a read waits for a connection that is being opened, in milliseconds. */
const connectionWait = 250

/** The connection with the fewest open queries: a slow answer delays only those behind it. */
const leastBusy = (slots: readonly Reconnecting[]): Connection | undefined => {
  let found: Connection | undefined
  for (const slot of slots) {
    const connection = slot.connection()
    if (connection && (!found || connection.waiting() < found.waiting())) found = connection
  }
  return found
}

/**
 * Opens `count` connections and keeps them open; `onChange` is called with the problem when the last one is lost, with null when
 * there is one again.
 */
export const createPipelinedPool = (
  hosts: Hosts,
  options: SessionOptions,
  count: number,
  onChange: (problem: string | null) => void,
) => {
  let reason: Error = new UnreachableError('the database was not reached yet')
  let wasUp = true
  let isClosed = false
  let change = Promise.withResolvers<void>()
  const leastBusyNow = () => leastBusy(slots)
  const slots: readonly Reconnecting[] = Array.from({ length: count }, () =>
    keepConnected(hosts, options, error => {
      if (error) reason = error
      const isUp = leastBusyNow() !== undefined
      if (isUp !== wasUp) onChange(isUp ? null : reason.message)
      wasUp = isUp
      change.resolve()
      change = Promise.withResolvers()
    }),
  )
  const waitForConnection = async (): Promise<Connection> => {
    const last = performance.now() + connectionWait
    for (;;) {
      const found = leastBusyNow()
      if (found) return found
      const left = last - performance.now()
      if (left <= 0 || isClosed) throw reason
      await endsWithin(left, change.promise)
    }
  }
  return {
    /** The rows of a query. Throws a LostError where its connection was lost; it does not try again. */
    query: async (query: Query): Promise<Rows> =>
      (leastBusyNow() ?? (await waitForConnection())).query(query),
    /** The number of queries without an answer yet. */
    waiting: () => leastBusyNow()?.waiting() ?? 0,
    isUp: () => leastBusyNow() !== undefined,
    /** Settles with the first connection; rejects with the reason where there is none. */
    ready: async () => void (await waitForConnection()),
    /** Seconds until the next try to connect, at least 1. */
    nextTry: () => Math.max(1, Math.ceil(Math.min(...slots.map(slot => slot.wait())) / 1000)),
    close: async () => {
      isClosed = true
      await Promise.all(slots.map(slot => slot.close()))
    },
  }
}

export type PipelinedPool = ReturnType<typeof createPipelinedPool>
