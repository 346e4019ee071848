/** The store of a configuration as commands open it: migrated, and with the model's settings. */
import type { OpenStore } from '#cli/content.ts'
import type { Config } from '#config.ts'
import { type Content, modelOf } from '#content.ts'
import { historyOf } from '#engines/migrations.ts'
import { sqliteStore } from '#engines/sqlite/store.ts'
import type { Store } from '#engines/store.ts'
import type { Model } from '#model/model.ts'

/** The model of the content with the settings of the configuration; throws ConfigError for an unknown currency. */
export const modelFor = (config: Config, content: Content): Model =>
  modelOf(content, content.decide(config.content))

/** The store that the configuration names, with the history of the content in `folder`; nothing of it is opened yet. */
export const storeOf = async ({ store, values }: Config, folder: URL): Promise<Store> => {
  const history = historyOf(store.kind, folder)
  switch (store.kind) {
    case 'sqlite':
      return sqliteStore({
        file: store.file,
        minDisk: values.DUET_MIN_DISK,
        migrations: history,
      })
    case 'postgres': {
      // Loaded only here: its driver would delay every start on SQLite.
      const { postgresStore } = await import('#engines/postgres/store.ts')
      return postgresStore({
        url: store.url,
        migrations: history,
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

/** The store for a command that fills it, migrated first. */
export const openForFilling = async (store: Store): Promise<OpenStore> => {
  await store.migrate()
  return { session: await store.session('filling'), dialect: store.dialect }
}

/** A store that exists and is up to date, for a command that reads it. */
export const openForReading = async (store: Store): Promise<OpenStore> => {
  await checkCurrent(store, 'run duet migrate first')
  return { session: await store.session('reading'), dialect: store.dialect }
}
