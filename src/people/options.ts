/** What Duet has better-auth do: every option that is not left to its default, and why. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { createHmac, hash } from 'node:crypto'
import type { BetterAuthOptions, BetterAuthPlugin } from 'better-auth'
import {
  APIError,
  createAuthEndpoint,
  createAuthMiddleware,
  getSessionFromCtx,
} from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import { bearer, emailOTP, genericOAuth, jwt } from 'better-auth/plugins'
import { decodeJwt } from 'jose'
import { isObject } from '#base/object.ts'
import { isEmail } from '#model/values.ts'
import { callerHeader, type Language, languageHeader, type Mail } from '#people/messages.ts'
import type { PeopleSettings } from '#people/settings.ts'

/** What the thread offers the library beside its settings. */
export type PeopleServices = {
  readonly database: BetterAuthOptions['database']
  readonly mail: (mail: Mail) => Promise<void>
  readonly later: (work: Promise<unknown>) => void
  readonly log: (message: string) => void
  /** Calls the endpoint of a path in the library itself. */
  readonly call: (path: string, given: object) => Promise<unknown>
}

/** So long a session may do what hands the account over, in milliseconds. */
const freshFor = 600_000

/** What is done with a session of the last ten minutes only; unlinking is so by itself. */
const stepUp = new Set(['/link-social', '/email-otp/request-email-change', '/change-password'])

/** What is answered before it is done: else the time would tell whether an address is known. Each with the member that has the address. */
const answeredFirst: Readonly<Record<string, string>> = {
  '/email-otp/send-verification-otp': 'email',
  '/email-otp/request-email-change': 'newEmail',
  '/request-password-reset': 'email',
}

/** How many letters one address gets, by the seconds of the window: so many codes, of which each takes five tries. */
const letters = [
  [60, 1],
  [3600, 5],
  [86_400, 20],
] as const

/** What stands before the state of a sign-in with a provider in the name by which the library keeps it. */
const statePrefix = 'auth-state:'

/** The path of a way in by a link that a command printed. */
const linkPath = '/sign-in/link'

/** How many passwords are tried for one address in ten minutes, whoever tries. */
const passwords = { window: 600, most: 5 }

/** How a session came to be, by the path that made it. */
const methodOf = (path = ''): string => {
  if (path === '/sign-in/email-otp') return 'mail'
  if (path === '/sign-in/email' || path === '/change-password') return 'password'
  if (path === linkPath) return 'link'
  return path.startsWith('/callback/') ? 'provider' : 'other'
}

const blockedError = () =>
  new APIError('FORBIDDEN', {
    code: 'BLOCKED',
    message: 'This person is blocked and may not sign in',
  })

/** What the library gives hooks, as far as these use it; its own type is that of the endpoint in question. */
type Context = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0]

const languageOf = (context: { readonly headers?: Headers | undefined } | undefined): Language =>
  context?.headers?.get(languageHeader) === 'de' ? 'de' : 'en'

/** Counts in the store, so for all processes: whether something may happen once more within the window that its first time began. */
const countIn = async (
  { adapter }: Context['context'],
  key: string,
  most: number,
  seconds: number,
): Promise<boolean> => {
  const mine = { field: 'key', value: key }
  // The end of the window stands where the library has the time of the last request: it deletes what is long past.
  const ends = (operator: 'gt' | 'lte') =>
    ({ field: 'lastRequest', operator, value: Date.now() }) as const
  for (let attempt = 0; attempt < 5; attempt++) {
    const counted = await adapter.incrementOne<{ count: number }>({
      model: 'rateLimit',
      where: [mine, ends('gt')],
      increment: { count: 1 },
    })
    if (counted) return counted.count <= most
    await adapter.deleteMany({ model: 'rateLimit', where: [mine, ends('lte')] })
    const first = { key, count: 1, lastRequest: Date.now() + seconds * 1000 }
    // Of two at once one is the first, and the other counts on.
    const isFirst = await adapter.create({ model: 'rateLimit', data: first }).catch(() => undefined)
    if (isFirst) return true
  }
  return false
}

/** A way in by a link that a command printed: it works once, and needs no mail. */
const linkPlugin = () =>
  ({
    id: 'duet-link',
    endpoints: {
      signInLink: createAuthEndpoint(linkPath, { method: 'POST' }, async context => {
        const { internalAdapter } = context.context
        const { body } = context as { body?: unknown }
        const token = isObject(body) ? body.token : undefined
        const found =
          typeof token === 'string'
            ? await internalAdapter.consumeVerificationValue(`link:${token}`)
            : null
        const user = found && (await internalAdapter.findUserById(found.value))
        if (!user)
          throw new APIError('BAD_REQUEST', {
            code: 'INVALID_LINK',
            message: 'This link was used already, or is too old: have a new one made',
          })
        const session = await internalAdapter.createSession(user.id)
        await setSessionCookie(context, { session, user })
        return context.json({ token: session.token, user })
      }),
    },
  }) satisfies BetterAuthPlugin

/** The identity of a provider is wanted, and no token of it. */
const withoutTokens = async (account: object) => ({
  data: { ...account, accessToken: null, refreshToken: null, idToken: null },
})

/** The options of the library for these settings. */
export const optionsOf = (settings: PeopleSettings, services: PeopleServices) => {
  const { url, secret, oldSecret, signUp, signUpRate, ways, limited, origins } = settings
  const { database, mail, later, log } = services
  const isSecure = url.startsWith('https:')
  const providers = ways.includes('oidc') ? settings.providers : []
  const sealed = (text: string) => createHmac('sha256', secret).update(text).digest('base64url')
  const addressOf = (context: Context, member = 'email') => {
    const given = isObject(context.body) ? context.body[member] : undefined
    return typeof given === 'string' ? given.toLowerCase() : ''
  }
  /** Set while the work of a request is done that was answered already, to the language of its caller. */
  const working = new AsyncLocalStorage<Language>()

  /** A letter to an address beyond its limit is not sent, and nothing is made for it: a new code would come with new tries. */
  const mayMail = async (context: Context, address: string) => {
    if (!limited) return true
    for (const [seconds, most] of letters)
      if (!(await countIn(context.context, `mail ${seconds} ${sealed(address)}`, most, seconds)))
        return false
    return true
  }
  const answerFirst = (context: Context, member: string) => {
    const { path, headers, body } = context
    const address = addressOf(context, member)
    if (!isEmail(address))
      throw new APIError('BAD_REQUEST', { code: 'INVALID_EMAIL', message: 'Invalid email' })
    const work = async () => {
      if (await mayMail(context, address)) await services.call(path, { headers, body })
    }
    later(working.run(languageOf(context), work))
    return context.json(path === '/request-password-reset' ? { status: true } : { success: true })
  }

  /** At most so many passwords for one address, of all networks; its code still signs in. */
  const countTry = async (context: Context) => {
    const { window, most } = passwords
    if (await countIn(context.context, `password ${sealed(addressOf(context))}`, most, window))
      return
    throw new APIError('TOO_MANY_REQUESTS', {
      code: 'TOO_MANY_ATTEMPTS',
      message: 'Too many passwords were tried for this address: take a code, or wait',
    })
  }

  /** A link of before the row got another address, which nobody proved yet, sets no password. */
  const onlyProved = async (context: Context) => {
    const { internalAdapter } = context.context
    const token = isObject(context.body) ? context.body.token : ''
    const found = await internalAdapter.findVerificationValue(`reset-password:${token}`)
    const user = found && (await internalAdapter.findUserById(found.value))
    if (user && !user.emailVerified)
      throw new APIError('BAD_REQUEST', { code: 'INVALID_TOKEN', message: 'Invalid token' })
  }

  /** What comes home from a provider counts for a sign-in that was started with that one (RFC 9700, section 4.4): the code of another goes nowhere. */
  const onlyItsOwn = async (context: Context) => {
    const { query, params } = context as { query?: unknown; params?: unknown }
    const state = isObject(query) ? query.state : undefined
    const { internalAdapter } = context.context
    const found = await internalAdapter.findVerificationValue(`${statePrefix}${state}`)
    const started: unknown = found && JSON.parse(found.value)
    if (isObject(started) && isObject(params) && started.provider === params.id) return
    throw context.redirect(`${url}/signin?error=state_mismatch`)
  }
  /** Remembers with a sign-in which provider it was started with. */
  const withProvider = ({ body }: Context) =>
    isObject(body)
      ? { context: { body: { ...body, additionalData: { provider: body.provider } } } }
      : undefined

  const onlyFresh = async (context: Context) => {
    const found = await getSessionFromCtx(context)
    if (found && Date.now() - new Date(found.session.createdAt).getTime() > freshFor)
      throw new APIError('FORBIDDEN', {
        code: 'STEP_UP_NEEDED',
        message: 'Sign in again: this needs a session of the last ten minutes',
      })
    return found
  }

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
      // To an address that nobody proved none goes: a reset would keep the identities that another linked before.
      sendResetPassword: async ({ user, token }) => {
        const language = working.getStore() ?? 'en'
        if (user.emailVerified) await mail({ kind: 'reset', to: user.email, token, language })
      },
    },
    trustedOrigins: [...origins],
    user: {
      // An address that a provider does not vouch for makes no row: its owner asks for a code, and links the provider then.
      validateUserInfo: ({ user, source }) =>
        source.method === 'oauth' && source.action === 'create-user' && !user.emailVerified
          ? { error: 'email_not_proved' }
          : undefined,
      changeEmail: { enabled: true },
      deleteUser: { enabled: false },
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
    hooks: {
      before: createAuthMiddleware(async context => {
        if (working.getStore() !== undefined) return
        const { path } = context
        if (path === '/sign-in/email') return countTry(context)
        if (path === '/reset-password') return onlyProved(context)
        if (path === '/callback/:id' && context.method === 'GET') return onlyItsOwn(context)
        const isAllowed = !stepUp.has(path) || (await onlyFresh(context))
        const member = answeredFirst[path]
        // Without a session the library says so.
        if (member !== undefined && isAllowed) return answerFirst(context, member)
        if (path === '/sign-in/social' || path === '/link-social') return withProvider(context)
      }),
    },
    databaseHooks: {
      user: {
        update: {
          // The address was proved, or is another: a link that was mailed before sets no password any more.
          after: async (user, context) => {
            if (!user || !context) return
            await context.context.adapter.deleteMany({
              model: 'verification',
              where: [{ field: 'value', value: user.id }],
            })
            const { path } = context as { path?: string }
            const before = context.context.session?.user
            if (path === '/email-otp/change-email' && before)
              later(mail({ kind: 'moved', to: before.email, language: languageOf(context) }))
          },
        },
      },
      account: {
        create: { before: withoutTokens },
        update: { before: withoutTokens },
      },
      session: {
        create: {
          before: async (session, context) => {
            const user = await context?.context.internalAdapter.findUserById(session.userId)
            if (!user || (user as { blocked?: boolean }).blocked) throw blockedError()
            const { path } = context as { path?: string }
            return { data: { ...session, method: methodOf(path) } }
          },
        },
      },
    },
    account: {
      modelName: 'auth_accounts',
      updateAccountOnSignIn: false,
      encryptOAuthTokens: true,
      accountLinking: {
        enabled: true,
        disableImplicitLinking: true,
        requireLocalEmailVerified: true,
        trustedProviders: [],
        allowDifferentEmails: true,
        // Where codes are mailed there is always a way in.
        allowUnlinkingAll: ways.includes('code'),
        updateUserInfoOnLink: false,
      },
    },
    verification: { modelName: 'auth_verifications', storeIdentifier: 'hashed' },
    rateLimit: {
      enabled: limited,
      storage: 'database',
      modelName: 'auth_rates',
      window: 60,
      max: 100,
      // What a callback may make, a code asked for may make too.
      customRules: { '/callback/*': { window: 60, max: Math.min(30, signUpRate) } },
    },
    advanced: {
      cookiePrefix: 'duet',
      useSecureCookies: isSecure,
      defaultCookieAttributes: { sameSite: 'lax', httpOnly: true, secure: isSecure },
      ipAddress: { ipAddressHeaders: [callerHeader] },
      trustedProxyHeaders: false,
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
    onAPIError: { errorURL: `${url}/signin` },
    plugins: [
      emailOTP({
        otpLength: 8,
        expiresIn: 600,
        allowedAttempts: 5,
        // Under the secret: eight digits by themselves are tried through in seconds.
        storeOTP: { hash: async otp => sealed(otp) },
        disableSignUp: !signUp,
        changeEmail: { enabled: true, verifyCurrentEmail: false },
        rateLimit: { window: 60, max: Math.min(10, signUpRate) },
        sendVerificationOTP: ({ email, otp }) =>
          mail({ kind: 'code', to: email, code: otp, language: working.getStore() ?? 'en' }),
      }),
      genericOAuth({
        config: providers.map(({ name, issuer, clientId, clientSecret, scopes }) => ({
          providerId: name,
          clientId,
          clientSecret,
          discoveryUrl: `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
          requireIdTokenVerification: true,
          // Where there is no ID token the library asks for the person with the access token alone, which no nonce binds to this sign-in.
          accountSubject: ({ tokens, profile }) => {
            if (!tokens.idToken) throw new Error(`the identity provider ${name} gave no ID token`)
            // OpenID Connect Core, section 3.1.3.7: of several audiences, or where the token says so, we are the one that asked.
            const { aud, azp = [aud].flat().length > 1 ? '' : clientId } = decodeJwt(tokens.idToken)
            if (azp !== clientId)
              throw new Error(`the identity provider ${name} gave an ID token to another client`)
            return String(profile.sub)
          },
          pkce: true,
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
        jwks: {
          keyPairConfig: { alg: 'EdDSA', crv: 'Ed25519' },
          rotationInterval: 30 * 86_400,
          gracePeriod: 3600,
        },
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
    ],
  } satisfies BetterAuthOptions
}
