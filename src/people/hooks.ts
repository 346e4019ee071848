/** What Duet does around the endpoints of the library: limits and guards before them, answers that come before the work, what follows from a change of a row, and the way in by a link. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { createHmac, randomUUID } from 'node:crypto'
import type { BetterAuthOptions, BetterAuthPlugin } from 'better-auth'
import {
  APIError,
  createAuthEndpoint,
  createAuthMiddleware,
  getSessionFromCtx,
} from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import { isObject } from '#base/object.ts'
import { isEmail, longestEmail } from '#model/values.ts'
import { type Language, languageHeader, type Mail } from '#people/messages.ts'
import type { PeopleSettings } from '#people/settings.ts'

/** What the thread offers the library beside its settings. */
export type PeopleServices = {
  readonly database: BetterAuthOptions['database']
  readonly mail: (mail: Mail) => Promise<void>
  readonly later: (work: Promise<unknown>) => void
  readonly log: (message: string) => void
  /** Shows a line in the terminal of a developer. */
  readonly show: (line: string) => void
  /** Calls the endpoint of a path in the library itself. */
  readonly call: (path: string, given: object) => Promise<unknown>
  /** Counts in the store, so for all processes: how often something happened within the seconds that its first time began, and how many of them are left. */
  readonly count: (key: string, seconds: number) => Promise<{ times: number; left: number }>
}

/** So long a session may do what hands the account over, in milliseconds. */
export const freshFor = 600_000

/** How many letters one address gets, by the seconds of the window: so many codes, of which each takes five tries. */
const letters = [
  [60, 1],
  [3600, 5],
  [86_400, 20],
] as const

/** How a session came to be, by the path that made it. */
const methods: Readonly<Record<string, string>> = {
  '/sign-in/email-otp': 'mail',
  '/sign-in/email': 'password',
  '/change-password': 'password',
  '/sign-in/link': 'link',
  '/callback/:id': 'provider',
}

export const blockedError = () => {
  const message = 'This person is blocked and may not sign in'
  return APIError.from('FORBIDDEN', { code: 'BLOCKED', message })
}

const badRequest = (code: string, message: string) =>
  APIError.from('BAD_REQUEST', { code, message })

/** Whether a person is blocked, whose type in the library has no member for it. */
export const isBlocked = (user: object): boolean => (user as { blocked?: boolean }).blocked === true

/** What the library gives hooks, as far as these use it; its own type is that of the endpoint in question. */
type Context = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0]

const languageOf = (context: { readonly headers?: Headers | undefined } | undefined): Language =>
  context?.headers?.get(languageHeader) === 'de' ? 'de' : 'en'

/** A text of the body; empty where it has none of that name. */
const textIn = ({ body }: { readonly body?: unknown }, member: string): string => {
  const given = isObject(body) ? body[member] : undefined
  return typeof given === 'string' ? given : ''
}

/** A way in by a link that a command printed: it works once, and needs no mail. */
export const linkPlugin = () =>
  ({
    id: 'duet-link',
    endpoints: {
      signInLink: createAuthEndpoint('/sign-in/link', { method: 'POST' }, async context => {
        const { internalAdapter } = context.context
        const token = textIn(context, 'token')
        const found =
          token !== '' ? await internalAdapter.consumeVerificationValue(`link:${token}`) : null
        const user = found && (await internalAdapter.findUserById(found.value))
        if (!user)
          throw badRequest(
            'INVALID_LINK',
            'This link was used already, or is too old: have a new one made',
          )
        const session = await internalAdapter.createSession(user.id)
        await setSessionCookie(context, { session, user })
        return context.json({ token: session.token, user })
      }),
    },
  }) satisfies BetterAuthPlugin

/** Why a request for a letter that was answered already came to none. */
const whyNone = (path: string, isKnown: boolean): string => {
  if (path === '/email-otp/request-email-change') return 'a row has this address already'
  if (!isKnown) return 'nobody has this address, and a sign-in makes no row for it'
  return 'nobody who may sign in has proved this address: sign in by a code first'
}

/** A request whose work is done after its answer. */
type Working = { readonly language: Language; isForNobody: boolean; isMailed: boolean }

/** Set while the work of a request is done that was answered already. */
const working = new AsyncLocalStorage<Working>()

/** Whether the code that is made now goes nowhere: for an address that may not sign up, or one of another row. It is made as for nobody's address. */
export const isForNobody = (): boolean => working.getStore()?.isForNobody === true

/** The language of the letter that is sent now; notes that there is one. */
export const languageOfLetter = (): Language => {
  const request = working.getStore()
  if (request) request.isMailed = true
  return request?.language ?? 'en'
}

/** Under the secret: what is short by itself, such as eight digits, is tried through in seconds. */
export const sealedUnder =
  (secret: string) =>
  (text: string): string =>
    createHmac('sha256', secret).update(text).digest('base64url')

/** The cookie that binds a sign-in with a provider to a browser has the name of its tab too: a later one takes none from an earlier one. */
const withCookieOf = ({ context }: Context, tab: string) => {
  const { createAuthCookie } = context
  const ofTab: typeof createAuthCookie = (name, attributes) =>
    createAuthCookie(name === 'state' ? `state.${tab}` : name, attributes)
  return { context: { createAuthCookie: ofTab } }
}

/** What is done before the endpoints. */
export const guardsOf = (settings: PeopleSettings, services: PeopleServices) => {
  const { url, secret, limited, development, signUp } = settings
  const { later, count } = services
  const sealed = sealedUnder(secret)

  /** A letter to an address beyond its limit is not sent, and nothing is made for it: a new code would come with new tries. */
  const mayMail = async (address: string) => {
    if (!limited) return true
    for (const [seconds, most] of letters)
      if ((await count(`mail ${seconds} ${sealed(address)}`, seconds)).times > most) return false
    return true
  }
  /** Answers before the work is done: else the time would tell whether the address of this member is known. */
  const answerFirst = (member: 'email' | 'newEmail') => async (context: Context) => {
    const { path, headers, body } = context
    const address = textIn(context, member).toLowerCase()
    if (!isEmail(address) || address.length > longestEmail)
      throw badRequest('INVALID_EMAIL', 'Invalid email')
    // The library has codes for more, which no path here takes.
    if (path.startsWith('/email-otp/send') && textIn(context, 'type') !== 'sign-in')
      throw badRequest('VALIDATION_ERROR', '[body.type] must be sign-in')
    const request = { language: languageOf(context), isForNobody: false, isMailed: false }
    const work = async () => {
      const may = await mayMail(address)
      const isKnown = (await context.context.internalAdapter.findUserByEmail(address)) !== null
      request.isForNobody = member === 'newEmail' ? isKnown : !isKnown && !signUp
      if (may) await services.call(path, { headers, body })
      if (development && !request.isMailed)
        services.show(
          `no mail to ${address}: ${may ? whyNone(path, isKnown) : 'it got as many as one address may'}`,
        )
    }
    later(working.run(request, work))
    return context.json(path === '/request-password-reset' ? { status: true } : { success: true })
  }

  /** Five passwords are tried for one address in ten minutes, of all networks; its code still signs in. */
  const countTry = async (context: Context) => {
    const tried = `password ${sealed(textIn(context, 'email').toLowerCase())}`
    if ((await count(tried, 600)).times > 5)
      throw APIError.from('TOO_MANY_REQUESTS', {
        code: 'TOO_MANY_ATTEMPTS',
        message: 'Too many passwords were tried for this address: take a code, or wait',
      })
  }

  /** A link that was mailed before the row got its present address, which is not proved yet, or to somebody who is blocked now, sets no password. */
  const onlyProved = async (context: Context) => {
    const { internalAdapter } = context.context
    const token = `reset-password:${textIn(context, 'token')}`
    const found = await internalAdapter.findVerificationValue(token)
    const user = found && (await internalAdapter.findUserById(found.value))
    if (user && (!user.emailVerified || isBlocked(user)))
      throw badRequest('INVALID_TOKEN', 'Invalid token')
  }

  /** What comes home from a provider counts for a sign-in that was started with that one (RFC 9700, section 4.4): the code of another goes nowhere. */
  const onlyItsOwn = async (context: Context) => {
    const { query, params } = context as { query?: unknown; params?: unknown }
    const state = isObject(query) ? query.state : undefined
    const { internalAdapter } = context.context
    const found = await internalAdapter.findVerificationValue(`auth-state:${state}`)
    const started: unknown = found && JSON.parse(found.value)
    if (isObject(started) && isObject(params) && started.provider === params.id)
      return { context: withCookieOf(context, String(started.tab)) }
    throw context.redirect(`${url}/signin?error=state_mismatch`)
  }
  /** Remembers with a sign-in which provider it was started with, and in which tab. */
  const withProvider = async (context: Context) => {
    const tab = randomUUID()
    const additionalData = { provider: textIn(context, 'provider'), tab }
    return { context: { ...withCookieOf(context, tab), body: { additionalData } } }
  }

  /** Whether somebody is signed in, without which the library says so; throws for who is blocked, and where a session of the last ten minutes is needed for an older one. */
  const isIn = async (context: Context, isFresh = true) => {
    const found = await getSessionFromCtx(context)
    if (!found) return false
    if (isBlocked(found.user)) throw blockedError()
    // Either way: the clock may have been set back since.
    const age = Math.abs(Date.now() - new Date(found.session.createdAt).getTime())
    if (isFresh && age > freshFor)
      throw APIError.from('FORBIDDEN', {
        code: 'STEP_UP_NEEDED',
        message: 'Sign in again: this needs a session of the last ten minutes',
      })
    return true
  }
  const onlyFresh = async (context: Context) => void (await isIn(context))
  const changeFirst = answerFirst('newEmail')

  const guards: Readonly<Record<string, (context: Context) => Promise<unknown>>> = {
    '/email-otp/send-verification-otp': answerFirst('email'),
    '/email-otp/request-email-change': async context =>
      (await isIn(context)) ? changeFirst(context) : undefined,
    '/email-otp/change-email': async context => void (await isIn(context, false)),
    '/sign-in/email': countTry,
    '/request-password-reset': answerFirst('email'),
    '/reset-password': onlyProved,
    '/change-password': onlyFresh,
    '/sign-in/social': withProvider,
    '/link-social': context => onlyFresh(context).then(() => withProvider(context)),
    '/unlink-account': onlyFresh,
    '/callback/:id': onlyItsOwn,
  }
  return createAuthMiddleware(async context =>
    working.getStore() === undefined ? guards[context.path]?.(context) : undefined,
  )
}

/** Only the identity at a provider is kept, and none of its tokens. */
const withoutTokens = async (account: object) => ({
  data: { ...account, accessToken: null, refreshToken: null, idToken: null },
})

/** Throws for what belongs to a person who is blocked. */
const onlyFree = async (of: { userId: string }, context: Pick<Context, 'context'> | null) => {
  const user = await context?.context.internalAdapter.findUserById(of.userId)
  if (!user || isBlocked(user)) throw blockedError()
}

/** What is done with rows of the library when they are written. */
export const rowHooksOf = (
  { signUp }: PeopleSettings,
  { mail, later }: PeopleServices,
): NonNullable<BetterAuthOptions['databaseHooks']> => ({
  user: {
    create: {
      // A code of nobody that was guessed is one more wrong one.
      before: async () => {
        if (!signUp) throw badRequest('INVALID_OTP', 'Invalid OTP')
      },
    },
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
    create: {
      before: (account, context) => onlyFree(account, context).then(() => withoutTokens(account)),
    },
    update: { before: withoutTokens },
    delete: { before: onlyFree },
  },
  session: {
    create: {
      before: async (session, context) => {
        await onlyFree(session, context)
        const { path = '' } = context as { path?: string }
        return { data: { ...session, method: methods[path] ?? 'other' } }
      },
    },
  },
})
