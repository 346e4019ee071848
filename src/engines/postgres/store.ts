/** A PostgreSQL database as the program opens it, with the replicas that reads go to. */
import { dialect } from '#engines/postgres/dialect.ts'
import { openPostgres } from '#engines/postgres/engine.ts'
import { commandLine, migratePostgres, pendingOn, secretOn } from '#engines/postgres/migrate.ts'
import { checkWhole } from '#engines/postgres/moving.ts'
import { openSession } from '#engines/postgres/session.ts'
import type { Store } from '#engines/store.ts'

export type PostgresOptions = {
  readonly url: string
  /** Replicas of it. */
  readonly replicas: readonly string[]
  /** Whether statements are prepared by name. */
  readonly prepare: boolean
  /** Connections that quick reads share, to it and to each replica. */
  readonly readers: number
  /** Connections for writes and for long reads. */
  readonly pool: number
}

/** The address without user and password. */
export const placeOf = (url: string): string => {
  const { host = '', pathname = '' } = URL.parse(url) ?? {}
  return `postgres://${host}${pathname}`
}

export const postgresStore = (options: PostgresOptions): Store => {
  const line = commandLine(options.url, options.prepare)
  return {
    place: placeOf(options.url),
    dialect,
    // Any number of processes may serve it.
    hold: () => () => {},
    migrate: async () => {
      await checkWhole(line)
      return migratePostgres(line)
    },
    pending: async () => {
      await checkWhole(line)
      return pendingOn(line)
    },
    secret: name => secretOn(line, name),
    session: purpose => openSession(line, purpose),
    open: serving => openPostgres({ ...options, ...serving }),
  }
}
