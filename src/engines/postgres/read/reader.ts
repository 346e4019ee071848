/** Reads of a PostgreSQL store: chooses the server for each, and retries lost ones; nothing else does. */
import {
  isConflict,
  isLockTimeout,
  LostError,
  UnreachableError,
} from '#engines/postgres/connection/errors.ts'
import type { Cluster } from '#engines/postgres/read/cluster.ts'
import type { Server } from '#engines/postgres/read/server.ts'
import type { Reader, ReadOptions } from '#sql/engine.ts'

/** The most tries on the primary, and the milliseconds within which the last one may begin. */
const tries = { most: 3, within: 1000 }

/** Whether a failed read may succeed on another connection to the same server. */
const isWorthRetry = (error: unknown, { pipelined }: Server): boolean =>
  error instanceof LostError || (error instanceof UnreachableError && pipelined.isUp())

const onPrimary = async <Result>(
  primary: Server,
  run: (server: Server) => Promise<Result>,
): Promise<Result> => {
  const startedAt = performance.now()
  for (let number = 1; ; number++)
    try {
      return await run(primary)
    } catch (error) {
      const isLast = number === tries.most || performance.now() - startedAt > tries.within
      if (isLast || !isWorthRetry(error, primary)) throw error
    }
}

/**
 * Whether a read moves from a replica to the primary: the replica is lost, or its recovery cancelled the read (40001) or held
 * a lock that the read needs (55P03), as nothing else does there.
 */
const movesToPrimary = (error: unknown): boolean =>
  error instanceof UnreachableError || isConflict(error) || isLockTimeout(error)

/** A reader that tries a suitable replica once; without one, or where that fails, the primary, at most three times. */
export const createReader = (primary: Server, { choose }: Pick<Cluster, 'choose'>): Reader => {
  const read = async <Result>(
    run: (server: Server) => Promise<Result>,
    { after }: ReadOptions = {},
  ): Promise<Result> => {
    const replica = await choose(after)
    if (replica)
      try {
        return await run(replica)
      } catch (error) {
        if (!movesToPrimary(error)) throw error
      }
    return await onPrimary(primary, run)
  }
  return {
    query: (query, asked) => read(server => server.query(query, asked), asked),
    snapshot: (begin, asked) => read(server => server.snapshot(begin, asked), asked),
  }
}
