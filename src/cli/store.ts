/** Opens the store of a configuration for commands: migrated, and with the model's settings. */
import { closing } from '#base/closing.ts'
import { checkCurrency } from '#cli/currency.ts'
import type { ContentStore, OpenStore } from '#cli/row-sources.ts'
import { type Config, loadConfig } from '#config.ts'
import { type Content, modelOf } from '#content.ts'
import { columnsOf, contentMigrations, historyOf } from '#engines/shared/migrations.ts'
import type { Store } from '#engines/shared/store.ts'
import { sqliteStore } from '#engines/sqlite/store.ts'
import type { Field } from '#model/field.ts'
import { columnName, type Entities, type Model } from '#model/model.ts'
import { driveBy } from '#sql/engine.ts'

/** The model of the content with the settings of the configuration; throws ConfigError for an unknown currency. */
export const modelFor = (config: Config, content: Content): Model =>
  modelOf(content, content.decide(config.content))

/** The store that the configuration names, with the history of the content in `folder`; nothing of it is opened yet. */
export const storeOf = async ({ store, values }: Config, folder: URL): Promise<Store> => {
  if (contentMigrations(store.kind, folder).length === 0)
    throw new Error(
      `the content has no migrations for ${store.kind}: run duet migrate --draft first, and read what it writes`,
    )
  const history = historyOf(store.kind, folder)
  switch (store.kind) {
    case 'sqlite':
      return sqliteStore({
        file: store.file,
        minDisk: values.DUET_MIN_DISK,
        readers: values.DUET_READERS,
        sharedLog: values.DUET_WAL === 'shared' ? values.DUET_WAL_MAX : undefined,
        migrations: history,
      })
    case 'postgres': {
      // Loaded only here: its driver would delay every start on SQLite.
      const { postgresStore } = await import('#engines/postgres/store.ts')
      const replicas = values.DUET_REPLICA_URLS ?? []
      return postgresStore({
        url: store.url,
        migrations: history,
        replicas: replicas === 'auto' ? { patroni: values.DUET_PATRONI_URLS ?? [] } : replicas,
        prepare: values.DUET_PG_PREPARE,
        readers: values.DUET_PG_READERS,
        pool: values.DUET_PG_POOL,
      })
    }
    default:
      return store satisfies never
  }
}

/** Takes a store as DUET_STORE_WAIT says, and tells on standard error what it waits for; gives the function that releases it. */
export const hold = (store: Store, { values }: Config): Promise<() => void> => {
  const wait = values.DUET_STORE_WAIT
  return store.hold(wait, reason =>
    process.stderr.write(`duet: waiting up to ${wait / 1000} s: ${reason}\n`),
  )
}

/** The file of a SQLite store; throws with the command to use instead where the store is in PostgreSQL. */
export const fileOf = ({ store }: Config, instead: string): string => {
  if (store.kind === 'sqlite') return store.file
  throw new Error(`the store is a PostgreSQL database: ${instead}`)
}

/** Throws with the remedy where the store lacks migrations. */
export const checkCurrent = async (store: Store, remedy: string): Promise<void> => {
  const pending = await store.pending()
  if (pending.length > 0)
    throw new Error(`the store lacks the migration ${pending.join(', ')}; ${remedy}`)
}

/** Why a field cannot be stored in its column, with the remedy; undefined where it can. `column`: whether it is never null, if there is one. */
const columnFault = (column: boolean | undefined, { nullable }: Field): string | undefined => {
  if (column === undefined)
    return 'is in the model, and no migration makes its column: run duet migrate --draft NAME, read what it writes, and start again'
  return column && nullable
    ? 'may be null in the model, and its column may not: write a migration that lets it (CONTRIBUTING.md has one for each engine), or take nullable back'
    : undefined
}

/** Throws with the remedy where a table of a migrated store does not take what its entity has. */
export const checkColumns = async (store: Store, entities: Entities): Promise<void> => {
  await closing(store.session('reading'), async session => {
    for (const [name, { table, fields }] of Object.entries(entities)) {
      const columns = await driveBy(columnsOf(store.dialect, table), session.query)
      for (const [key, field] of Object.entries(fields)) {
        const fault = columnFault(columns.get(columnName(key)), field)
        if (fault !== undefined) throw new Error(`${name}.${key} ${fault}`)
      }
    }
  })
}

type Purpose = 'reading' | 'filling'

/** Opens a store: migrated first to be filled; to be read it must exist and be up to date, or this throws with the remedy. */
export const openFor = async (purpose: Purpose, store: Store): Promise<OpenStore> => {
  if (purpose === 'filling') await store.migrate()
  else await checkCurrent(store, 'run duet migrate first')
  return { session: await store.session(purpose), dialect: store.dialect }
}

/** Opens the store of the settings for a command, and closes it in the end. */
export const withStore = async <Result>(
  content: Content,
  purpose: Purpose,
  work: (store: ContentStore, label: string) => Promise<Result>,
): Promise<Result> => {
  const config = loadConfig(process.env, content.settings)
  const model = modelFor(config, content)
  const store = await storeOf(config, content.migrations)
  const open = await openFor(purpose, store)
  try {
    await checkCurrency({ ...open, model }, purpose === 'filling')
    return await work({ ...open, model }, store.label)
  } finally {
    await open.session.close()
  }
}
