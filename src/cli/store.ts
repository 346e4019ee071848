/** The store of a configuration as commands open it: migrated, and with the model's settings. */
import { existsSync } from 'node:fs'
import type { Config } from '#config.ts'
import { ConfigError } from '#config.ts'
import { type Connection, connect } from '#engines/sqlite/connection.ts'
import { migrateSqlite, pendingMigrations } from '#engines/sqlite/migrate.ts'
import type { Model, Settings } from '#model/model.ts'
import { currencyOf } from '#model/money.ts'
import { contentModel } from '#resources/index.ts'

/** The model's settings from the configuration; throws ConfigError for an unknown currency. */
export const modelOf = (config: Config): Model => {
  const currency = currencyOf(config.values.DUET_CURRENCY)
  if (!currency)
    throw new ConfigError(
      `DUET_CURRENCY ${config.values.DUET_CURRENCY} is not a currency of ISO 4217`,
    )
  const settings: Settings = { signup: config.values.DUET_SIGNUP === 'open', currency }
  return contentModel(settings)
}

/** A writing connection to the migrated store, for commands that fill it. */
export const openForFilling = (config: Config): Connection => {
  migrateSqlite(config.file)
  return connect(config.file)
}

/** A reading connection to a store that is there and up to date. */
export const openForReading = (config: Config): Connection => {
  if (!existsSync(config.file))
    throw new Error(`there is no store ${config.file}; name it in DUET_DATABASE_URL`)
  const pending = pendingMigrations(config.file)
  if (pending.length > 0)
    throw new Error(`the store lacks the migration ${pending.join(', ')}; run duet migrate first`)
  return connect(config.file, { readOnly: true })
}
