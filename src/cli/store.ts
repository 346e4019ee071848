/** The store of a configuration as commands open it: migrated, and with the model's settings. */
import type { Config } from '#config.ts'
import { type Content, modelOf } from '#content.ts'
import { sqliteStore } from '#engines/sqlite/store.ts'
import type { Store } from '#engines/store.ts'
import type { Model } from '#model/model.ts'
import type { Dialect } from '#sql/dialect.ts'
import type { Session } from '#sql/engine.ts'

/** The model of the content with the settings of the configuration; throws ConfigError for an unknown currency. */
export const modelFor = (config: Config, content: Content): Model =>
  modelOf(content, content.decide(config.content))

/** The store that the configuration names; nothing of it is opened yet. */
export const storeOf = async ({ store, values }: Config): Promise<Store> => {
  switch (store.kind) {
    case 'sqlite':
      return sqliteStore({ file: store.file, minDisk: values.DUET_MIN_DISK })
    case 'postgres': {
      // Loaded only here: its driver would delay every start on SQLite.
      const { postgresStore } = await import('#engines/postgres/store.ts')
      return postgresStore({
        url: store.url,
        replicas: values.DUET_REPLICA_URLS ?? [],
        prepare: values.DUET_PG_PREPARE,
        readers: values.DUET_PG_READERS,
        pool: values.DUET_PG_POOL,
      })
    }
    default:
      return store satisfies never
  }
}

/** The file of a store that is one; throws, with what to do instead, where it is a database of PostgreSQL. */
export const fileOf = ({ store }: Config, instead: string): string => {
  if (store.kind === 'sqlite') return store.file
  throw new Error(`the store is a PostgreSQL database: ${instead}`)
}

/** Throws, with what to do, where the store lacks migrations. */
export const checkCurrent = async (store: Store, remedy: string): Promise<void> => {
  const pending = await store.pending()
  if (pending.length > 0)
    throw new Error(`the store lacks the migration ${pending.join(', ')}; ${remedy}`)
}

/** A line to a store, and how statements for it are written. */
export type Line = { readonly session: Session; readonly dialect: Dialect }

/** A line to the store for a command that fills it, which migrates it first. */
export const openForFilling = async (store: Store): Promise<Line> => {
  await store.migrate()
  return { session: await store.session('filling'), dialect: store.dialect }
}

/** A line to a store that is there and up to date. */
export const openForReading = async (store: Store): Promise<Line> => {
  await checkCurrent(store, 'run duet migrate first')
  return { session: await store.session('reading'), dialect: store.dialect }
}
