/** Who is believed: the secret or the keys of tokens, and the names that must stand in them, as the settings have it. */
import { type Authenticate, createAuthenticator } from '#auth/authenticate.ts'
import { mint } from '#auth/token.ts'
import { authSecret } from '#cli/secret.ts'
import type { Config } from '#config.ts'

export type Auth = {
  readonly authenticate: Authenticate
  /** A token of an admin for a day, to try things with; null where this program mints none. */
  readonly adminToken: () => Promise<string | null>
}

/** Throws a ConfigError where a key is missing, and a plain error where one cannot be used. */
export const authOf = (config: Config): Auth => {
  const { values } = config
  const secret = authSecret(config)
  const parties = {
    ...(values.DUET_AUTH_ISSUER !== undefined && { issuer: values.DUET_AUTH_ISSUER }),
    ...(values.DUET_AUTH_AUDIENCE !== undefined && { audience: values.DUET_AUTH_AUDIENCE }),
  }
  const keys = {
    ...(secret !== undefined && { secret }),
    ...(values.DUET_JWKS_URL !== undefined && { jwksUrl: values.DUET_JWKS_URL }),
    ...(values.DUET_JWKS_FILE !== undefined && { jwksFile: values.DUET_JWKS_FILE }),
  }
  return {
    authenticate: createAuthenticator({ ...keys, ...parties }, Date.now),
    adminToken: async () =>
      secret === undefined
        ? null
        : mint({ sub: 1, role: 'admin', ttl: 24 * 3600, ...parties }, secret, Date.now()),
  }
}
