/** Authentication by the settings: the secret or keys of tokens, and the issuer and audience that they must name. */
import { type Authenticate, createAuthenticator } from '#auth/authenticate.ts'
import { mint, misfit, type TokenViewers } from '#auth/token.ts'
import { keysFor } from '#cli/secret.ts'
import type { Config } from '#config.ts'
import { ApiError } from '#errors.ts'
import type { Observe } from '#observe.ts'

export type Auth = {
  readonly authenticate: Authenticate
  /** A token of a superuser for a day, to try things with; null where an identity provider makes them. */
  readonly superuserToken: () => Promise<string | null>
}

const minute = 60_000

/** Logs tokens that another key signed, at most once a minute: an operator may have set another secret than the makers of tokens. */
export const reportMisfits = (
  authenticate: Authenticate,
  source: string,
  observe: Observe,
): Authenticate => {
  let reported = -Infinity
  const report = (error: unknown): never => {
    const isMisfit = error instanceof ApiError && error.message === misfit
    if (isMisfit && performance.now() - reported >= minute) {
      reported = performance.now()
      observe({
        kind: 'notice',
        message: `a token was refused that was not signed with the key of ${source}; the makers of tokens must use the same one, as duet token does under the settings of this server`,
      })
    }
    throw error
  }
  return (authorization, beforeCheck) => {
    const found = authenticate(authorization, beforeCheck)
    return found instanceof Promise ? found.catch(report) : found
  }
}

/** Throws a ConfigError where a key is missing, and a plain error where one cannot be used. */
export const authOf = (config: Config, viewers: TokenViewers): Auth => {
  const { DUET_AUTH_ISSUER: issuer, DUET_AUTH_AUDIENCE: audience } = config.values
  const keys = keysFor(config)
  const role = viewers.roles.superuser
  return {
    authenticate: createAuthenticator({ ...keys, issuer, audience }, viewers, Date.now),
    superuserToken: async () =>
      'secret' in keys
        ? mint({ sub: 1, role, ttl: 24 * 3600, issuer, audience }, keys.secret, Date.now())
        : null,
  }
}
