/** The paths of sign-in below /auth: what each takes and gives, for the door that serves them and the document that describes them. */
import type { JsonSchema } from '#model/operation-docs.ts'
import type { WayIn } from '#settings.ts'

/** Below which path people sign in. */
export const authPath = '/auth'

/** Where the document of these paths is, below that. */
export const documentPath = '/openapi.json'

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const time = { type: 'string', format: 'date-time' } as const
const email = { type: 'string', format: 'email' } as const
const code = { ...text, pattern: '^\\d{8}$', description: 'The code from the mail.' } as const
const password = { ...text, minLength: 12, maxLength: 128 } as const
const path = { ...text, description: 'A path of the service, or an address of a trusted origin.' }

type BodyMembers = Readonly<Record<string, JsonSchema>>

const object = (properties: BodyMembers, needed = Object.keys(properties)): JsonSchema => ({
  type: 'object',
  ...(needed.length > 0 && { required: needed }),
  properties,
})

const person = { $ref: '#/components/schemas/Person' }
const session = { $ref: '#/components/schemas/Session' }

/** What is answered, by the names of its schemas. */
export const authSchemas = {
  Success: object({ success: flag }),
  Status: object({ status: flag }),
  Person: object(
    {
      id: { ...text, description: 'The id of the row, in letters.' },
      name: text,
      email,
      emailVerified: { ...flag, description: 'Whether the address was proved.' },
      image: { type: 'null' },
      role: { type: ['string', 'null'] },
      blocked: { type: ['boolean', 'null'] },
      createdAt: time,
      updatedAt: time,
    },
    ['id', 'name', 'email', 'emailVerified', 'createdAt', 'updatedAt'],
  ),
  Session: object({
    id: text,
    token: { ...text, description: 'Names the session to /revoke-session; it signs nobody in.' },
    userId: text,
    createdAt: time,
    updatedAt: time,
    expiresAt: time,
    ipAddress: { type: ['string', 'null'] },
    userAgent: { type: ['string', 'null'] },
    method: {
      type: ['string', 'null'],
      description: 'How it came to be: mail, password, link, provider.',
    },
  }),
  SignedIn: object({ token: text, user: person, redirect: flag, url: text }, ['token', 'user']),
  PasswordChanged: object({ token: { type: ['string', 'null'] }, user: person }),
  Started: object({
    url: { ...text, format: 'uri', description: 'Where the browser is to go.' },
    redirect: flag,
  }),
  Accounts: {
    type: 'array',
    items: object({
      id: text,
      providerId: text,
      accountId: text,
      userId: text,
      scopes: { type: 'array', items: text },
      createdAt: time,
      updatedAt: time,
    }),
  },
  Sessions: { type: 'array', items: session },
  SignedInNow: { anyOf: [object({ session, user: person }), { type: 'null' }] },
  Token: object({ token: { ...text, description: 'A JSON Web Token for both APIs.' } }),
  KeySet: object({
    keys: {
      type: 'array',
      items: object({ kty: text, crv: text, x: text, alg: text, kid: text, use: text }),
    },
  }),
} satisfies BodyMembers

/** A path with the members of its body that pass; those of a way in are there where that is switched on. */
export type AuthPath = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly summary: string
  /** The name of what it answers with; null where it leads elsewhere. */
  readonly gives: keyof typeof authSchemas | null
  readonly way?: WayIn
  /** Whether it is for those alone who are signed in. */
  readonly isForSession?: boolean
  /** Absent where there is no body, or the form of a callback; a name that ends in ? may be left out. */
  readonly takes?: BodyMembers
}

type More = Pick<AuthPath, 'way' | 'isForSession'>
const getting = (
  path: string,
  summary: string,
  gives: AuthPath['gives'],
  more?: More,
): AuthPath => ({
  ...{ method: 'GET', path, summary, gives },
  ...more,
})
const posting = (
  path: string,
  summary: string,
  gives: AuthPath['gives'],
  takes?: BodyMembers,
  more?: More,
): AuthPath => ({ ...getting(path, summary, gives, more), method: 'POST', ...(takes && { takes }) })

const own = { isForSession: true } as const
const [byCode, byPassword, byProvider] = (['code', 'password', 'oidc'] as const).map(way => ({
  way,
}))
const provider = { provider: text, 'callbackURL?': path, 'errorCallbackURL?': path }
const signUp = { ...flag, description: 'Whether a new person gets a row.' }
const nameOfNew = { ...text, description: 'For a new row.' }
const account = { ...text, description: 'The `id` of the list, not its `accountId`.' }
const toNewAddress = 'Have a code mailed to a new address'
const comesHome = 'Where a provider sends the browser back to'

/** Every path that is served, except that of the keys. None takes an ID token, which only a provider may give. */
export const authPaths: readonly AuthPath[] = [
  posting(
    '/email-otp/send-verification-otp',
    'Have a code mailed',
    'Success',
    { email, type: { ...text, enum: ['sign-in'] } },
    byCode,
  ),
  posting(
    '/sign-in/email-otp',
    'Sign in by a code',
    'SignedIn',
    { email, otp: code, 'name?': nameOfNew },
    byCode,
  ),
  posting(
    '/email-otp/request-email-change',
    toNewAddress,
    'Success',
    { newEmail: email },
    { ...byCode, ...own },
  ),
  posting(
    '/email-otp/change-email',
    'Change the address by a code',
    'Success',
    { newEmail: email, otp: code },
    { ...byCode, ...own },
  ),
  posting(
    '/sign-in/email',
    'Sign in by a password',
    'SignedIn',
    { email, password: text },
    byPassword,
  ),
  posting(
    '/request-password-reset',
    'Have a link mailed that sets a password',
    'Status',
    { email },
    byPassword,
  ),
  posting(
    '/reset-password',
    'Set a password by a link',
    'Status',
    { newPassword: password, token: text },
    byPassword,
  ),
  posting(
    '/change-password',
    'Change the password',
    'PasswordChanged',
    { currentPassword: text, newPassword: password, 'revokeOtherSessions?': flag },
    { ...byPassword, ...own },
  ),
  posting(
    '/sign-in/social',
    'Start a sign-in with an identity provider',
    'Started',
    { ...provider, 'requestSignUp?': signUp, 'disableRedirect?': flag },
    byProvider,
  ),
  posting(
    '/link-social',
    'Start to add an identity of a provider',
    'Started',
    { ...provider, 'disableRedirect?': flag },
    { ...byProvider, ...own },
  ),
  posting(
    '/unlink-account',
    'Remove an identity',
    'Status',
    { providerId: text, accountId: account },
    { ...byProvider, ...own },
  ),
  getting('/callback/:id', comesHome, null, byProvider),
  posting('/callback/:id', comesHome, null, undefined, byProvider),
  getting('/list-accounts', 'List the identities', 'Accounts', own),
  posting('/sign-in/link', 'Sign in by a link that a command printed', 'SignedIn', { token: text }),
  getting('/get-session', 'Get who is signed in, or null', 'SignedInNow'),
  getting('/list-sessions', 'List the sessions', 'Sessions', own),
  posting('/sign-out', 'Sign out', 'Success', {}),
  posting('/revoke-session', 'End a session', 'Status', { token: text }, own),
  posting('/revoke-other-sessions', 'End all other sessions', 'Status', {}, own),
  posting('/revoke-sessions', 'End all sessions', 'Status', {}, own),
  getting('/token', 'Get a token of ten minutes for both APIs', 'Token', own),
]

/** The public keys of our tokens. */
export const keySetPath: AuthPath = getting('/jwks', 'Get the public keys of the tokens', 'KeySet')

/** The members of a body, each with whether it may be left out. */
export const membersOf = (takes: BodyMembers) =>
  Object.entries(takes).map(([key, schema]) => ({
    name: key.replace('?', ''),
    schema,
    isOptional: key.endsWith('?'),
  }))
