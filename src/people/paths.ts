/** The paths of sign-in below /auth: what each takes and gives, for what serves them and the document that describes them. */
import type { JsonSchema } from '#model/operation-docs.ts'
import type { WayIn } from '#settings.ts'

/** Where the document of these paths is, below that. */
export const documentPath = '/openapi.json'

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const email = { type: 'string', format: 'email' } as const
const code = { ...text, pattern: '^\\d{8}$', description: 'The code from the mail.' } as const
const password = { ...text, minLength: 12, maxLength: 128 } as const
const path = { ...text, description: 'A path of the service, or an address of a trusted origin.' }

/** The members of a body, by their names. */
export type BodyMembers = Readonly<Record<string, JsonSchema>>

/** A path with the members of its body that pass; those of a way in are there where that is switched on. */
export type AuthPath = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly summary: string
  /** The name of the schema of its answer; null where it leads elsewhere. */
  readonly gives: string | null
  readonly way?: WayIn | undefined
  /** Whether it is for those alone who are signed in. */
  readonly isForSession?: boolean
  /** Absent where there is no body; a name that ends in ? may be left out. */
  readonly takes?: BodyMembers | undefined
}

const provider = { provider: text, 'callbackURL?': path, 'errorCallbackURL?': path }
const signUp = { ...flag, description: 'Whether a new person gets a row.' }
const toStart = { ...provider, 'requestSignUp?': signUp, 'disableRedirect?': flag }
const toLink = { ...provider, 'disableRedirect?': flag }
const account = { ...text, description: 'The `id` of the list, not its `accountId`.' }
const identity = { 'providerId?': text, accountId: account }
const toSignIn = { email, type: { ...text, enum: ['sign-in'] } }
const withCode = { email, otp: code, 'name?': { ...text, description: 'For a new row.' } }
const newEmail = { newEmail: email }
const codeOfNew = { newEmail: email, otp: code }
const newPassword = password
const change = { currentPassword: text, newPassword, 'revokeOtherSessions?': flag }
const aNewAddress = 'Have a code mailed to a new address'
const passwordLink = 'Have a link mailed that sets a password'
const start = 'Start a sign-in with an identity provider'
const addIdentity = 'Start to add an identity of a provider'

/** What is said of a path: what it does, gives and takes; those that begin with `own` are for who is signed in. */
type Said = readonly [summary: string, gives: AuthPath['gives'], takes?: BodyMembers]
const own = (...said: Said) => ({ said, isForSession: true }) as const

/** Every path that is served, by the way in that it belongs to, except that of the keys. None takes an ID token, which only a provider may give. */
const byWay: Readonly<Record<WayIn | 'any', Record<string, Said | ReturnType<typeof own>>>> = {
  code: {
    'POST /email-otp/send-verification-otp': ['Have a code mailed', 'Success', toSignIn],
    'POST /sign-in/email-otp': ['Sign in by a code', 'SignedIn', withCode],
    'POST /email-otp/request-email-change': own(aNewAddress, 'Success', newEmail),
    'POST /email-otp/change-email': own('Change the address by a code', 'Success', codeOfNew),
  },
  password: {
    'POST /sign-in/email': ['Sign in by a password', 'SignedIn', { email, password: text }],
    'POST /request-password-reset': [passwordLink, 'Status', { email }],
    'POST /reset-password': ['Set a password by a link', 'Status', { newPassword, token: text }],
    'POST /change-password': own('Change the password', 'PasswordChanged', change),
  },
  oidc: {
    'POST /sign-in/social': [start, 'Started', toStart],
    'POST /link-social': own(addIdentity, 'Started', toLink),
    'POST /unlink-account': own('Remove an identity', 'Status', identity),
    'GET /callback/:id': ['Where a provider sends the browser back to', null],
  },
  any: {
    'GET /list-accounts': own('List the identities', 'Accounts'),
    'POST /sign-in/link': ['Sign in by a link that a command printed', 'SignedIn', { token: text }],
    'GET /get-session': ['Get who is signed in, or null', 'SignedInNow'],
    'GET /list-sessions': own('List the sessions', 'Sessions'),
    'POST /sign-out': ['Sign out', 'Success', {}],
    'POST /revoke-session': own('End a session', 'Status', { token: text }),
    'POST /revoke-other-sessions': own('End all other sessions', 'Status', {}),
    'POST /revoke-sessions': own('End all sessions', 'Status', {}),
    'GET /token': own('Get a token of ten minutes for both APIs', 'Token'),
  },
}

export const authPaths: readonly AuthPath[] = Object.entries(byWay).flatMap(([way, paths]) =>
  Object.entries(paths).map(([line, given]): AuthPath => {
    const [method, path = ''] = line.split(' ') as [AuthPath['method'], string]
    const isForSession = 'said' in given
    const [summary, gives, takes] = isForSession ? given.said : given
    const its = way === 'any' ? undefined : (way as WayIn)
    return { method, path, summary, gives, isForSession, takes, way: its }
  }),
)

/** The public keys of our tokens. */
export const keySetPath: AuthPath = {
  ...{ method: 'GET', path: '/jwks' },
  ...{ summary: 'Get the public keys of the tokens', gives: 'KeySet' },
}

/** The members of a body, each with whether it may be left out. */
export const membersOf = (takes: BodyMembers) =>
  Object.entries(takes).map(([key, schema]) => ({
    name: key.replace('?', ''),
    schema,
    isOptional: key.endsWith('?'),
  }))
