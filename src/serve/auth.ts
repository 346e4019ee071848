/** Authentication by the settings: the secret or keys of tokens, and the issuer and audience that they must name. */

import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Authenticate, createAuthenticator, type OwnTokens } from '#auth/authenticate.ts'
import type { KeyConfig } from '#auth/keys.ts'
import { mint, type Parties, type TokenViewers } from '#auth/token.ts'
import type { Config } from '#config.ts'
import { ownFile, ownFolder } from '#engines/shared/files.ts'
import { checkPath } from '#engines/sqlite/file.ts'
import { developerOf, type WithViewers } from '#model/viewers.ts'
import type { Observe } from '#observe.ts'
import { ConfigError } from '#settings.ts'

export type Auth = {
  readonly authenticate: Authenticate
  /** A token of a superuser for a day, to try things with; null if an identity provider makes them. */
  readonly superuserToken: () => Promise<string | null>
}

const minute = 60_000

/** Logs that a token came which another key signed, at most once a minute: an operator may have set another secret than the makers of tokens. */
const reportingMisfits = (source: string, observe: Observe) => {
  let reported = -Infinity
  return () => {
    if (performance.now() - reported < minute) return
    reported = performance.now()
    observe({
      kind: 'notice',
      message: `a token was refused that was not signed with the key of ${source}; the makers of tokens must use the same one, as duet token does under the settings of this server`,
    })
  }
}

/** Whom tokens must name; throws a ConfigError if nobody is set where a subject is one issuer's own. */
export const partiesFor = ({ values }: Config, { by }: TokenViewers): Parties => {
  const { DUET_AUTH_ISSUER: issuer, DUET_AUTH_AUDIENCE: audience } = values
  // The subjects of two issuers may be the same text, and a token for another service is signed with the same keys.
  if (by !== undefined && (issuer === undefined || audience === undefined))
    throw new ConfigError(
      "the content finds its viewers by the subject of tokens, which is one issuer's own: set DUET_AUTH_ISSUER to the iss of its tokens, such as https://login.example.org/, and DUET_AUTH_AUDIENCE to what they name this service",
    )
  return { issuer, audience }
}

/** Throws a ConfigError if a key or a party is missing, and a plain error if one cannot be used. */
export const authOf = (
  config: Config,
  content: WithViewers,
  observe?: Observe,
  own?: OwnTokens,
): Auth => {
  const { viewers } = content
  const parties = partiesFor(config, viewers)
  const keys = keysFor(config)
  return {
    authenticate: createAuthenticator(
      { ...keys, ...parties },
      viewers,
      Date.now,
      observe && reportingMisfits(keySource(config), observe),
      own,
    ),
    superuserToken: async () => {
      if (!('secret' in keys)) return null
      const whom = { ...developerOf(content), ttl: 24 * 3600, viewers, ...parties }
      return mint(whom, keys.secret, Date.now())
    },
  }
}

/** The files of a configuration that hold content or keys: the store, and the secret of development. */
export const ownFiles = (config: Config): readonly string[] => {
  const { DUET_AUTH_SECRET, DUET_JWKS_FILE, DUET_JWKS_URL } = config.values
  const hasSecret = config.development && !(DUET_AUTH_SECRET ?? DUET_JWKS_FILE ?? DUET_JWKS_URL)
  const { store } = config
  return [
    ...(store.kind === 'sqlite' ? [store.file] : []),
    ...(hasSecret ? [secretFile(config)] : []),
  ]
}

/** The file of a secret of development: beside a SQLite store, else where such a store would be by default. */
export const secretFile = ({ store }: Config, name = 'secret'): string =>
  store.kind === 'sqlite' ? join(dirname(store.file), name) : resolve('data', name)

/** Where the keys of tokens come from, as an operator knows it. */
export const keySource = (config: Config): string =>
  (['DUET_AUTH_SECRET', 'DUET_JWKS_URL', 'DUET_JWKS_FILE'] as const).find(
    name => config.values[name] !== undefined,
  ) ?? `the file ${secretFile(config)}`

/** The source of the keys of tokens: the one that the settings name; in development, a file with a secret. `made` is called when that file is made. */
export const keysFor = (config: Config, made: (file: string) => void = () => {}): KeyConfig => {
  const { DUET_AUTH_SECRET, DUET_JWKS_FILE, DUET_JWKS_URL } = config.values
  if (DUET_AUTH_SECRET !== undefined) return { secret: DUET_AUTH_SECRET }
  if (DUET_JWKS_URL !== undefined) return { jwksUrl: DUET_JWKS_URL }
  if (DUET_JWKS_FILE !== undefined) return { jwksFile: DUET_JWKS_FILE }
  if (!config.development)
    throw new ConfigError(
      'production needs a key for tokens: set DUET_AUTH_SECRET (32 bytes or more), DUET_JWKS_URL or DUET_JWKS_FILE',
    )
  return { secret: fileSecret(config, 'secret', made) }
}

/** The secret of a file of development, which is made if it is not there; `made` is then called. */
export const fileSecret = (
  config: Config,
  name: string,
  made: (file: string) => void = () => {},
): string => {
  const file = secretFile(config, name)
  if (!existsSync(file)) {
    // Where no store can be made, no secret is written either.
    if (config.store.kind === 'sqlite') checkPath(config.store.file)
    mkdirSync(dirname(file), { recursive: true, mode: ownFolder })
    // `wx`: of two processes that start at once, one makes it.
    try {
      const secret = `${randomBytes(32).toString('base64url')}\n`
      writeFileSync(file, secret, { mode: ownFile, flag: 'wx' })
      made(file)
    } catch (error) {
      // What a full disk took a part of would be a weak secret at each later start.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        rmSync(file, { force: true })
        throw error
      }
    }
  }
  return readFileSync(file, 'utf8').trim()
}
