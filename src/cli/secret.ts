/** The key of tokens: the operator's, or in development one that is made once and stored in a file. */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { KeyConfig } from '#auth/keys.ts'
import type { Config } from '#config.ts'
import { checkPath } from '#engines/sqlite/path.ts'
import { ConfigError } from '#settings.ts'

/** The secret's file: beside a SQLite store, else where such a store would be by default. */
const secretFile = ({ store }: Config): string =>
  store.kind === 'sqlite' ? join(dirname(store.file), 'secret') : resolve('data/secret')

/** Where the keys of tokens come from, as an operator knows it. */
export const keySource = (config: Config): string =>
  (['DUET_AUTH_SECRET', 'DUET_JWKS_URL', 'DUET_JWKS_FILE'] as const).find(
    name => config.values[name] !== undefined,
  ) ?? `the file ${secretFile(config)}`

/** The source of the keys of tokens: that of the settings, of which one alone is set; `made` hears of a file that is made for a secret. */
export const keysFor = (config: Config, made: (file: string) => void = () => {}): KeyConfig => {
  const { DUET_AUTH_SECRET, DUET_JWKS_FILE, DUET_JWKS_URL } = config.values
  if (DUET_AUTH_SECRET !== undefined) return { secret: DUET_AUTH_SECRET }
  if (DUET_JWKS_URL !== undefined) return { jwksUrl: DUET_JWKS_URL }
  if (DUET_JWKS_FILE !== undefined) return { jwksFile: DUET_JWKS_FILE }
  if (!config.development)
    throw new ConfigError(
      'production needs a key for tokens: set DUET_AUTH_SECRET (32 bytes or more), DUET_JWKS_URL or DUET_JWKS_FILE',
    )
  const file = secretFile(config)
  if (!existsSync(file)) {
    // Where no store can be made, no secret is written either.
    if (config.store.kind === 'sqlite') checkPath(config.store.file)
    mkdirSync(dirname(file), { recursive: true })
    // `wx`: of two processes that start at once, one makes it.
    try {
      writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
      made(file)
    } catch (error) {
      if (!existsSync(file)) throw error
    }
  }
  return { secret: readFileSync(file, 'utf8').trim() }
}
