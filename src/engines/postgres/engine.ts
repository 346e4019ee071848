/** The PostgreSQL store as it is served: reads on shared connections and replicas, writes each in its transaction. */
import { dialect } from '#engines/postgres/dialect.ts'
import { createReplicas } from '#engines/postgres/replicas.ts'
import { createServer, type ServerOptions } from '#engines/postgres/server.ts'
import type { PostgresOptions } from '#engines/postgres/store.ts'
import { createTally } from '#engines/postgres/tally.ts'
import { mayTryAgain, UnreachableError } from '#engines/postgres/trouble.ts'
import { createWriter } from '#engines/postgres/writer.ts'
import type { Engine, Serving } from '#engines/store.ts'
import { ApiError } from '#errors.ts'
import type { Position, Query, Rows, Work } from '#sql/engine.ts'

/** Work of one query: its rows go in, its result comes out. */
const finish = <Result>(work: Work<Result>, rows: Rows): Result => {
  const { done, value } = work.next(rows)
  if (!done) throw new Error('work of one query asked for another')
  return value
}

/** Opens it: connections are made at once and made again whenever they are lost. */
export const openPostgres = (options: PostgresOptions & Serving): Engine => {
  const told = (what: string) => (problem: string | null) =>
    options.onTrouble?.(problem === null ? `${what} is there` : `${what} is not there: ${problem}`)
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
    options.replicas.map((url, index) => serverOptions(url, `replica ${index + 1}`)),
  )
  const writer = createWriter({ ...options, dialect })

  /** What the caller is told of a server that is not there. */
  const told503 = (error: unknown): unknown =>
    error instanceof UnreachableError
      ? new ApiError('UNAVAILABLE', 'The database is not there now; nothing was changed', {
          cause: error,
          headers: { 'Retry-After': String(primary.shared.nextTry()) },
        })
      : error

  /** Asks a replica where one fits, and the primary where none does or it was lost meanwhile. */
  const ask = async (query: Query, after: Position | undefined): Promise<Rows> => {
    const replica = await replicas.choose(after)
    if (!replica) return primary.ask(query)
    try {
      return await replica.ask(query)
    } catch (error) {
      if (mayTryAgain(error)) return primary.ask(query)
      throw error
    }
  }

  const snapshot = async <Result>(work: Work<Result>, after?: Position): Promise<Result> => {
    const first = work.next()
    if (first.done) return first.value
    try {
      if (first.value.alone) return finish(work, await ask(first.value, after))
      const server = (await replicas.choose(after)) ?? primary
      return await server.inOneMoment(first.value, work)
    } catch (error) {
      throw told503(error)
    }
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
    ready: async () => {
      await primary.shared.ready()
      await primary.shared.query({ text: 'select 1', values: [] })
    },
    readOnly: () => null,
    tally: createTally(query => writer.query(query)),
    close: async () => {
      await Promise.all([primary.close(), replicas.close(), writer.close()])
    },
  }
}
