/** A PostgreSQL database as the program opens it, with the replicas that reads go to. */

import type { Migration } from '#engines/migrations.ts'
import { labelOf, withRight } from '#engines/postgres/connection/label.ts'
import { dialect } from '#engines/postgres/dialect.ts'
import { openPostgres } from '#engines/postgres/engine.ts'
import { checkWhole } from '#engines/postgres/moving.ts'
import {
  commandConnection,
  migratePostgres,
  pendingOn,
  secretOn,
} from '#engines/postgres/schema/migrate.ts'
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
  /** All that it is made by, in order. */
  readonly migrations: readonly Migration[]
}

export const postgresStore = (options: PostgresOptions): Store => {
  const connection = commandConnection(options.url, options.prepare)
  const whole = <Result>(work: () => Promise<Result>) =>
    withRight(options.url, async () => {
      await checkWhole(connection)
      return work()
    })
  return {
    place: labelOf(options.url),
    dialect,
    // Any number of processes may serve it.
    hold: () => () => {},
    migrate: () => whole(() => migratePostgres(connection, options.migrations)),
    pending: () => whole(() => pendingOn(connection, options.migrations)),
    secret: name => withRight(options.url, () => secretOn(connection, name)),
    session: purpose => openSession(connection, purpose),
    open: serving => openPostgres({ ...options, ...serving }),
  }
}
