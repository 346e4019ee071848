/** What Duet has better-auth do: every option that is not left to its default, and why. */
import { hash } from 'node:crypto'
import type { BetterAuthOptions } from 'better-auth'
import { hashPassword, verifyPassword } from 'better-auth/crypto'
import { bearer } from 'better-auth/plugins/bearer'
import { emailOTP } from 'better-auth/plugins/email-otp'
import { genericOAuth } from 'better-auth/plugins/generic-oauth'
import { jwt } from 'better-auth/plugins/jwt'
import { decodeJwt } from 'jose'
import { createSlowLane } from '#base/slow-lane.ts'
import {
  blockedError,
  freshFor,
  guardsOf,
  isBlocked,
  isForNobody,
  languageOfLetter,
  linkPlugin,
  type PeopleServices,
  rowHooksOf,
  sealedUnder,
} from '#people/hooks.ts'
import { callerHeader } from '#people/messages.ts'
import { discoveryOf } from '#people/outgoing.ts'
import type { PeopleSettings } from '#people/settings.ts'

/** The ways in, and the tokens that follow from a session. */
const pluginsOf = (settings: PeopleSettings, { mail }: PeopleServices) => {
  const { url, secret, signUp, signUpRate, ways } = settings
  const providers = ways.includes('oidc') ? settings.providers : []
  return [
    emailOTP({
      otpLength: 8,
      expiresIn: 600,
      allowedAttempts: 5,
      // Nobody's code is kept as none that could be guessed: a right guess would tell that somebody has the address.
      storeOTP: { hash: async otp => (isForNobody() ? 'nobody' : sealedUnder(secret)(otp)) },
      changeEmail: { enabled: true },
      rateLimit: { window: 60, max: Math.min(10, signUpRate) },
      // Where sign-up is closed a code for nobody is kept and not mailed: what is said of tries of it, and how soon, is as of any other.
      sendVerificationOTP: async ({ email, otp }) => {
        if (!isForNobody())
          await mail({ kind: 'code', to: email, code: otp, language: languageOfLetter() })
      },
    }),
    genericOAuth({
      config: providers.map(({ name, issuer, clientId, clientSecret, scopes }) => ({
        providerId: name,
        clientId,
        clientSecret,
        discoveryUrl: discoveryOf(issuer),
        requireIdTokenVerification: true,
        // Where there is no ID token the library asks for the person with the access token alone, which no nonce binds to this sign-in.
        accountSubject: ({ tokens }) => {
          if (!tokens.idToken) throw new Error(`the identity provider ${name} gave no ID token`)
          const { sub = '', aud, azp } = decodeJwt(tokens.idToken)
          // OpenID Connect Core, section 3.1.3.7: of several audiences, or where the token says so, we are the one that asked.
          if ((azp ?? ([aud].flat().length > 1 ? '' : clientId)) !== clientId)
            throw new Error(`the identity provider ${name} gave an ID token to another client`)
          // OpenID Connect Core, section 2: what is no such text, the store might refuse after a row is made.
          if (!/^[\x20-\x7e]{1,255}$/.test(sub))
            throw new Error(`the identity provider ${name} gave an ID token without a subject`)
          return sub
        },
        // An address that the provider does not vouch for is taken for nobody's: else the answer would tell whether it is known here.
        mapProfileToUser: ({ email: given, email_verified: said, name: called }) => {
          const emailVerified = typeof given === 'string' && /^true$/i.test(String(said))
          const name = typeof called === 'string' ? called : ''
          const email = emailVerified ? {} : { email: `${crypto.randomUUID()}@unproved.invalid` }
          return { emailVerified, name, ...email }
        },
        scopes: [...scopes],
        disableImplicitSignUp: true,
        disableSignUp: !signUp,
      })),
    }),
    // Without the signature a token read from a stolen backup would sign its reader in.
    bearer({ requireSignature: true }),
    linkPlugin(),
    jwt({
      disableSettingJwtHeader: true,
      jwks: { keyPairConfig: { alg: 'EdDSA', crv: 'Ed25519' }, rotationInterval: 30 * 86_400 },
      jwt: {
        issuer: url,
        audience: url,
        expirationTime: '10m',
        // The row was read for this request; `sub` is its id, by default.
        definePayload: ({ user, session }) => {
          if (user.blocked) throw blockedError()
          return {
            role: user.role,
            sid: session.id,
            auth_time: Math.floor(new Date(session.createdAt).getTime() / 1000),
            amr: [session.method],
          }
        },
      },
      schema: { jwks: { modelName: 'auth_keys' } },
    }),
  ]
}

// Each takes 32 MiB and one of Node's four threads for all that the process reads of files: two are left.
const passwords = createSlowLane({
  concurrency: 2,
  waiting: 1000,
  longestWait: 10_000,
  what: 'passwords',
})

/** The options of the library for these settings. */
export const optionsOf = (settings: PeopleSettings, services: PeopleServices) => {
  const { url, secret, oldSecret, signUpRate, ways, limited, origins } = settings
  const { database, mail, later, log } = services
  const isSecure = url.startsWith('https:')
  return {
    appName: settings.title,
    baseURL: url,
    basePath: '/auth',
    // What is sealed names its secret, so that it opens as long as that one is set as the old one.
    secrets: [secret, ...(oldSecret === undefined ? [] : [oldSecret])].map(value => ({
      version: Number.parseInt(hash('sha256', value).slice(0, 7), 16),
      value,
    })),
    database,
    // Off by default too; a later release may think otherwise.
    telemetry: { enabled: false },
    emailAndPassword: {
      enabled: ways.includes('password'),
      // A password comes to a proved address, by a mail; nobody signs up with one.
      disableSignUp: true,
      requireEmailVerification: true,
      minPasswordLength: 12,
      maxPasswordLength: 128,
      resetPasswordTokenExpiresIn: 600,
      revokeSessionsOnPasswordReset: true,
      password: {
        hash: one => passwords.run(() => hashPassword(one), {}),
        verify: given => passwords.run(() => verifyPassword(given), {}),
      },
      // To an address that nobody proved none goes: a reset would keep the identities that another linked before.
      sendResetPassword: async ({ user, token }) => {
        if (!user.emailVerified || isBlocked(user)) return
        await mail({ kind: 'reset', to: user.email, token, language: languageOfLetter() })
      },
    },
    trustedOrigins: [...origins],
    user: {
      // An address that a provider does not vouch for makes no row: its owner asks for a code, and links the provider then, unless blocked meanwhile.
      validateUserInfo: async ({ user, source }, { context }) => {
        if (source.method !== 'oauth') return
        if (source.action === 'create-user')
          return user.emailVerified ? undefined : { error: 'email_not_proved' }
        const owner = await context.internalAdapter.findUserById(String(user.id))
        return owner && isBlocked(owner) ? { error: 'BLOCKED' } : undefined
      },
      // Read with the row; nobody gives them here.
      additionalFields: {
        role: { type: 'string', required: false, input: false },
        blocked: { type: 'boolean', required: false, input: false },
      },
    },
    session: {
      modelName: 'auth_sessions',
      expiresIn: 14 * 86_400,
      updateAge: 86_400,
      freshAge: freshFor / 1000,
      // A session that ended must be ended, and a role is the row's: no copy of either in a cookie.
      cookieCache: { enabled: false },
      additionalFields: {
        method: { type: 'string', required: false, input: false, returned: true },
      },
    },
    hooks: { before: guardsOf(settings, services) },
    databaseHooks: rowHooksOf(settings, services),
    account: {
      modelName: 'auth_accounts',
      updateAccountOnSignIn: false,
      accountLinking: {
        disableImplicitLinking: true,
        requireLocalEmailVerified: true,
        allowDifferentEmails: true,
        // Where codes are mailed there is always a way in.
        allowUnlinkingAll: ways.includes('code'),
      },
    },
    verification: { modelName: 'auth_verifications', storeIdentifier: 'hashed' },
    rateLimit: {
      enabled: limited,
      storage: 'database',
      modelName: 'auth_rates',
      // The library's own count takes a clock that was set back for a window that lasts until then.
      customStorage: {
        consume: async (key, { window, max }) => {
          const { times, left } = await services.count(key, window)
          return { allowed: times <= max, retryAfter: left }
        },
      },
      window: 60,
      max: 100,
      // What a callback may make, a code asked for may make too.
      customRules: { '/callback/*': { window: 60, max: Math.min(30, signUpRate) } },
    },
    advanced: {
      // With this name no neighbour of our domain can give a browser a session of theirs.
      cookiePrefix: isSecure ? '__Host-duet' : 'duet',
      useSecureCookies: false,
      defaultCookieAttributes: { sameSite: 'lax', httpOnly: true, secure: isSecure },
      ipAddress: { ipAddressHeaders: [callerHeader] },
      // The store numbers people. Not 'serial': that is for all tables, and drops the lock of a first proof, which has an id of its own.
      database: {
        generateId: ({ model }) => (model === 'user' ? false : crypto.randomUUID()),
      },
      // By default both are off where NODE_ENV is test.
      disableOriginCheck: false,
      disableCSRFCheck: false,
      backgroundTasks: { handler: later },
    },
    logger: { level: 'error', log: (_level, message) => log(message) },
    onAPIError: { errorURL: `${url}/signin`, onError: error => later(Promise.reject(error)) },
    plugins: pluginsOf(settings, services),
  } satisfies BetterAuthOptions
}
