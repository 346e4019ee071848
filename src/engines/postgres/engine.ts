/** The PostgreSQL store as it is served: reads on pipelined connections and replicas, writes each in its transaction. */

import { isConflict, isRetryable, UnreachableError } from '#engines/postgres/connection/errors.ts'
import { endsWithin } from '#engines/postgres/connection/within.ts'
import { dialect } from '#engines/postgres/dialect.ts'
import { lsnOf } from '#engines/postgres/read/position.ts'
import { createReplicas } from '#engines/postgres/read/replicas.ts'
import { createServer, type Server, type ServerOptions } from '#engines/postgres/read/server.ts'
import type { PostgresOptions } from '#engines/postgres/store.ts'
import { createRateCounts } from '#engines/postgres/write/rates.ts'
import { createWriter } from '#engines/postgres/write/writer.ts'
import type { Engine, Serving } from '#engines/store.ts'
import { ApiError } from '#errors.ts'
import type { Position, Rows, Work } from '#sql/engine.ts'

/** Work of one query: its rows go in, its result comes out. */
const finish = <Result>(work: Work<Result>, rows: Rows): Result => {
  const { done, value } = work.next(rows)
  if (!done) throw new Error('work of one query asked for another')
  return value
}

/** A read whose connection was lost within so many milliseconds is begun again; a later one has had its time. */
const quicklyLost = 1000

/** How long the database may take to say that it is there, in milliseconds. */
const readyWithin = 2000

/** Opens it: connections are made at once and made again whenever they are lost. */
export const openPostgres = (options: PostgresOptions & Serving): Engine => {
  const told = (what: string) => (problem: string | null) =>
    options.onTrouble?.(problem === null ? `${what} is there` : `${what} is away: ${problem}`)
  const serverOptions = (url: string, what: string): ServerOptions => ({
    url,
    prepare: options.prepare,
    readers: options.readers,
    pool: options.pool,
    readTimeout: options.readTimeout,
    onChange: told(what),
  })
  const primary = createServer(serverOptions(options.url, 'the database'))
  const replicas = createReplicas(
    primary,
    options.replicas.map((url, index) => serverOptions(url, `replica ${index + 1}`)),
  )
  const writer = createWriter({ ...options, dialect })

  /** What the caller is told of a server that is not there, and of work that lost against others each time. */
  const told503 = (error: unknown): unknown => {
    if (error instanceof UnreachableError)
      return new ApiError('UNAVAILABLE', 'The database is not there now; nothing was changed', {
        cause: error,
        retryAfter: primary.pipelined.nextTry(),
      })
    if (!isConflict(error)) return error
    return new ApiError('OVERLOADED', 'Others change the same things now; try again', {
      cause: error,
      retryAfter: 1,
    })
  }

  const runOn = async <Result>(server: Server, begin: () => Work<Result>): Promise<Result> => {
    const work = begin()
    const { done, value } = work.next()
    if (done) return value
    // Work that asks for more has asked for nothing yet: it begins again, in a transaction.
    return value.alone ? finish(work, await server.ask(value)) : server.inOneMoment(begin())
  }

  /** Begun once more where its connection was lost, and the server was not. */
  const onPrimary = async <Result>(begin: () => Work<Result>): Promise<Result> => {
    const begun = performance.now()
    try {
      return await runOn(primary, begin)
    } catch (error) {
      const isLate = performance.now() - begun > quicklyLost
      if (!isRetryable(error) || isLate || !primary.pipelined.isUp()) throw error
      return await runOn(primary, begin)
    }
  }

  /** On a replica where one fits; on the primary where none does, or it was lost or cancelled the work meanwhile. */
  const snapshot = async <Result>(begin: () => Work<Result>, after?: Position): Promise<Result> => {
    const place = after === undefined ? undefined : lsnOf(after)
    try {
      const replica = await replicas.choose(place)
      if (!replica) return await onPrimary(begin)
      try {
        return await runOn(replica, begin)
      } catch (error) {
        if (!isRetryable(error)) throw error
        return await onPrimary(begin)
      }
    } catch (error) {
      throw told503(error)
    }
  }

  const answers = async () => {
    await primary.pipelined.ready()
    await primary.pipelined.query({ text: 'select 1', values: [] })
  }
  const ready = async () => {
    // Why is in the log: where the database is concerns nobody who asks from outside.
    const isThere = await endsWithin(readyWithin, answers()).catch(() => false)
    if (!isThere) throw new ApiError('UNAVAILABLE', 'the database does not answer')
  }

  return {
    dialect,
    snapshot,
    write: async job => {
      try {
        return await writer.write(job)
      } catch (error) {
        throw told503(error)
      }
    },
    ready,
    readOnly: () => null,
    tally: createRateCounts(query => writer.query(query)),
    close: async () => {
      await Promise.all([primary.close(), replicas.close(), writer.close()])
    },
  }
}
