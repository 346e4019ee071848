/** Reads of a PostgreSQL store: which server each goes to, and the one place where a lost one is tried again. */
import { isConflict, LostError, UnreachableError } from '#engines/postgres/connection/errors.ts'
import { lsnOf } from '#engines/postgres/read/position.ts'
import type { Replicas } from '#engines/postgres/read/replicas.ts'
import type { Server } from '#engines/postgres/read/server.ts'
import type { Position, Reader } from '#sql/engine.ts'

/** How often the primary is asked, and until when a try may begin, in milliseconds: a later one has had its time. */
const tries = { most: 3, within: 1000 }

/** Whether a failed read may succeed on another connection to the same server. */
const isWorthAnother = (error: unknown, { pipelined }: Server): boolean =>
  error instanceof LostError || (error instanceof UnreachableError && pipelined.isUp())

const onPrimary = async <Result>(
  primary: Server,
  run: (server: Server) => Promise<Result>,
): Promise<Result> => {
  const begun = performance.now()
  for (let number = 1; ; number++)
    try {
      return await run(primary)
    } catch (error) {
      const isLast = number === tries.most || performance.now() - begun > tries.within
      if (isLast || !isWorthAnother(error, primary)) throw error
    }
}

/** A replica is left for the primary where it is lost, or where its recovery cancelled the read (SQLSTATE 40001). */
const isLeft = (error: unknown): boolean => error instanceof UnreachableError || isConflict(error)

/** Reads on a replica where one fits, once; else, and where that fails, on the primary, three times at the most. */
export const createReader = (primary: Server, replicas: Pick<Replicas, 'choose'>): Reader => {
  const read = async <Result>(
    run: (server: Server) => Promise<Result>,
    after: Position | undefined,
  ): Promise<Result> => {
    const replica = await replicas.choose(after === undefined ? undefined : lsnOf(after))
    if (replica)
      try {
        return await run(replica)
      } catch (error) {
        if (!isLeft(error)) throw error
      }
    return await onPrimary(primary, run)
  }
  return {
    query: (query, after) => read(server => server.query(query), after),
    snapshot: (begin, after) => read(server => server.snapshot(begin), after),
  }
}
