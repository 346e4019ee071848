/** A PostgreSQL database as a store, with its replicas for reads. */
import { placeIn } from '#base/hosts.ts'
import { primaryWithin } from '#engines/postgres/connection/hosts.ts'
import { withRight } from '#engines/postgres/connection/label.ts'
import { dialect } from '#engines/postgres/dialect.ts'
import { openPostgres } from '#engines/postgres/engine.ts'
import { checkNoUnfinishedMove } from '#engines/postgres/moving.ts'
import type { PostgresOptions } from '#engines/postgres/options.ts'
import {
  commandConnection,
  migratePostgres,
  pendingOn,
  secretOn,
} from '#engines/postgres/schema/migrate.ts'
import { openSession } from '#engines/postgres/session.ts'
import type { Store } from '#engines/shared/store.ts'

/** The store in a database; nothing is opened yet. */
export const postgresStore = (options: PostgresOptions): Store => {
  const connection = commandConnection(options.url, options.prepare)
  const { url, migrations } = options
  return {
    label: placeIn(options.url),
    dialect,
    // Any number of processes may serve it, as soon as there is a primary.
    hold: async (wait, onWait) => {
      await primaryWithin(connection, wait, onWait)
      return () => {}
    },
    migrate: () =>
      withRight(url, () => migratePostgres(connection, migrations, checkNoUnfinishedMove)),
    pending: () => withRight(url, () => pendingOn(connection, migrations, checkNoUnfinishedMove)),
    secret: name => withRight(url, () => secretOn(connection, name)),
    session: purpose => openSession(connection, purpose),
    open: serving => openPostgres({ ...options, ...serving }),
  }
}
