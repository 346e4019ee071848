/** `duet move`: moves a whole SQLite store into a PostgreSQL database. */
import { createHash } from 'node:crypto'
import { closing } from '#base/closing.ts'
import { isPostgres } from '#base/database-url.ts'
import { readArgs, UsageError } from '#cli/arguments.ts'
import { copyTables, remedy } from '#cli/move/copy.ts'
import { contentTables } from '#cli/move/tables.ts'
import { compare, isSame, tableText } from '#cli/move/verify.ts'
import { fileOf, storeOf } from '#cli/store.ts'
import { type Config, loadConfig } from '#config.ts'
import type { Content } from '#content.ts'
import { UnreachableError } from '#engines/postgres/errors.ts'
import type { MoveTarget } from '#engines/postgres/moving.ts'
import { historyOf } from '#engines/shared/migrations.ts'
import type { Store } from '#engines/shared/store.ts'
import { StoreInUseError } from '#engines/sqlite/lock.ts'
import { highestIds, machineryOf } from '#engines/sqlite/moving.ts'
import type { Entities } from '#model/model.ts'
import type { Session } from '#sql/engine.ts'

export const help = `Usage: duet move --to postgres://USER:PASSWORD@HOST/DATABASE [--restart]

Moves the SQLite store of DUET_DATABASE_URL into a PostgreSQL database that has no content:
all rows with their ids, times and revisions, the stored responses of Idempotency-Keys, and the
keys of cursors and mail, so that what callers hold stays good. Stop the server first. The
store stays as it is. In the end both sides are compared, row for row.
A move that was cut off resumes when it is run again; until it has finished,
nothing else works on the database. --restart deletes what it had copied, and starts over.`

type Task = { readonly to: string; readonly restarts: boolean }

const taskOf = (args: readonly string[]): Task => {
  const { values } = readArgs(args, { to: { type: 'string' }, restart: { type: 'boolean' } }, 0)
  if (values.to === undefined) throw new UsageError('--to is missing: duet move --to postgres://…')
  // It may contain a password, so the message does not quote it.
  if (!isPostgres(values.to))
    throw new UsageError(
      '--to must be postgres://USER:PASSWORD@HOST/DATABASE: a store moves from SQLite to PostgreSQL only',
    )
  return { to: values.to, restarts: values.restart === true }
}

/** Takes the store, so that no server writes into it during the move. */
const hold = async (store: Store): Promise<() => void> => {
  try {
    return await store.hold(0, () => {})
  } catch (cause) {
    if (!(cause instanceof StoreInUseError)) throw cause
    throw new Error(`a server serves ${store.label}: stop the server first, then move`, { cause })
  }
}

/** The identity of a store, wherever its file is. */
const identityOf = async (store: Store): Promise<string> =>
  createHash('sha256')
    .update('duet move ')
    .update(await store.secret('cursor'))
    .digest('hex')

type Move = { readonly entities: Entities; readonly restarts: boolean }

/** Copies and compares; throws where the two are not the same in the end. */
const moveAll = async (
  source: Session & Pick<Store, 'dialect'>,
  identity: string,
  target: MoveTarget,
  { entities, restarts }: Move,
): Promise<void> => {
  const tables = [...(await machineryOf(source)), ...contentTables(entities)]
  await target.begin({ source: identity, tables, restarts })
  await copyTables(source, target, tables)
  await target.analyze()
  const compared = await compare(source, target, tables)
  process.stdout.write(tableText(compared))
  const different = compared.filter(table => !isSame(table)).map(({ name }) => name)
  if (different.length > 0) throw new Error(`${different.join(', ')} not the same: ${remedy}`)
  await target.finish(await highestIds(source))
}

const targetOf = async (config: Config, to: string, migrations: URL) => {
  // Loaded only here: their driver would delay every other command.
  const { openTarget } = await import('#engines/postgres/moving.ts')
  const { commandConnection } = await import('#engines/postgres/migrate.ts')
  return openTarget(
    commandConnection(to, config.values.DUET_PG_PREPARE),
    historyOf('postgres', migrations),
  )
}

/** Moves the store that this process holds. */
const moveHeld = async (store: Store, target: MoveTarget, move: Move): Promise<void> => {
  const identity = await identityOf(store)
  await closing(store.session('filling'), async session => {
    const source = { ...session, dialect: store.dialect }
    try {
      // A transaction that writes nothing: no other command writes either until it ends.
      await session.transaction(() => moveAll(source, identity, target, move))
    } catch (cause) {
      if (!(cause instanceof UnreachableError)) throw cause
      throw new Error(`${cause.message}; run the same command again to resume it`, {
        cause,
      })
    }
  })
}

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  const { to, restarts } = taskOf(args)
  const { entities } = content
  const config = loadConfig(process.env, content.settings)
  fileOf(config, 'duet move goes from SQLite to PostgreSQL only')
  const store = await storeOf(config, content.migrations)
  // Throws where there is none: to hold a store would make its folder.
  await store.pending()
  const release = await hold(store)
  try {
    await store.migrate()
    await closing(targetOf(config, to, content.migrations), target =>
      moveHeld(store, target, { entities, restarts }),
    )
  } finally {
    release()
  }
  const target: Config = { ...config, store: { kind: 'postgres', url: to } }
  const { label } = await storeOf(target, content.migrations)
  process.stdout.write(
    `moved ${store.label} to ${label}; set DUET_DATABASE_URL to that database, and start the server\n`,
  )
}
