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

const own = { isForSession: true } as const

/** Every path that is served, but for the keys. */
export const authPaths: readonly AuthPath[] = [
  {
    ...{ method: 'POST', path: '/email-otp/send-verification-otp', way: 'code', gives: 'Success' },
    summary: 'Have a code mailed',
    takes: { email, type: { ...text, enum: ['sign-in'] } },
  },
  {
    ...{ method: 'POST', path: '/sign-in/email-otp', way: 'code', gives: 'SignedIn' },
    summary: 'Sign in by a code',
    takes: { email, otp: code, 'name?': { ...text, description: 'For a new row.' } },
  },
  {
    ...{ method: 'POST', path: '/email-otp/request-email-change', way: 'code', gives: 'Success' },
    summary: 'Have a code mailed to a new address',
    takes: { newEmail: email },
    ...own,
  },
  {
    ...{ method: 'POST', path: '/email-otp/change-email', way: 'code', gives: 'Success' },
    summary: 'Change the address by a code',
    takes: { newEmail: email, otp: code },
    ...own,
  },
  {
    ...{ method: 'POST', path: '/sign-in/email', way: 'password', gives: 'SignedIn' },
    summary: 'Sign in by a password',
    takes: { email, password: text },
  },
  {
    ...{ method: 'POST', path: '/request-password-reset', way: 'password', gives: 'Status' },
    summary: 'Have a link mailed that sets a password',
    takes: { email },
  },
  {
    ...{ method: 'POST', path: '/reset-password', way: 'password', gives: 'Status' },
    summary: 'Set a password by a link',
    takes: { newPassword: password, token: text },
  },
  {
    ...{ method: 'POST', path: '/change-password', way: 'password', gives: 'PasswordChanged' },
    summary: 'Change the password',
    takes: { currentPassword: text, newPassword: password, 'revokeOtherSessions?': flag },
    ...own,
  },
  {
    ...{ method: 'POST', path: '/sign-in/social', way: 'oidc', gives: 'Started' },
    summary: 'Start a sign-in with an identity provider',
    // An ID token is never taken from a caller.
    takes: {
      ...{ provider: text, 'callbackURL?': path, 'errorCallbackURL?': path },
      'requestSignUp?': { ...flag, description: 'Whether a new person gets a row.' },
      'disableRedirect?': flag,
    },
  },
  {
    ...{ method: 'POST', path: '/link-social', way: 'oidc', gives: 'Started' },
    summary: 'Start to add an identity of a provider',
    takes: {
      ...{ provider: text, 'callbackURL?': path, 'errorCallbackURL?': path },
      'disableRedirect?': flag,
    },
    ...own,
  },
  {
    ...{ method: 'POST', path: '/unlink-account', way: 'oidc', gives: 'Status' },
    summary: 'Remove an identity',
    takes: {
      providerId: text,
      accountId: { ...text, description: 'The `id` of the list, not its `accountId`.' },
    },
    ...own,
  },
  {
    ...{ method: 'GET', path: '/callback/:id', way: 'oidc', gives: null },
    summary: 'Where a provider sends the browser back to',
  },
  {
    ...{ method: 'POST', path: '/callback/:id', way: 'oidc', gives: null },
    summary: 'Where a provider sends the browser back to, with a form',
  },
  {
    ...{ method: 'GET', path: '/list-accounts', gives: 'Accounts' },
    summary: 'List the identities',
    ...own,
  },
  {
    ...{ method: 'POST', path: '/sign-in/link', gives: 'SignedIn' },
    summary: 'Sign in by a link that a command printed',
    takes: { token: text },
  },
  {
    ...{ method: 'GET', path: '/get-session', gives: 'SignedInNow' },
    summary: 'Get who is signed in, or null',
  },
  {
    ...{ method: 'GET', path: '/list-sessions', gives: 'Sessions' },
    summary: 'List the sessions',
    ...own,
  },
  { method: 'POST', path: '/sign-out', gives: 'Success', summary: 'Sign out', takes: {} },
  {
    ...{ method: 'POST', path: '/revoke-session', gives: 'Status' },
    summary: 'End a session',
    takes: { token: text },
    ...own,
  },
  {
    ...{ method: 'POST', path: '/revoke-other-sessions', gives: 'Status' },
    summary: 'End all other sessions',
    takes: {},
    ...own,
  },
  {
    ...{ method: 'POST', path: '/revoke-sessions', gives: 'Status' },
    summary: 'End all sessions',
    takes: {},
    ...own,
  },
  {
    ...{ method: 'GET', path: '/token', gives: 'Token' },
    summary: 'Get a token of ten minutes for both APIs',
    ...own,
  },
]

/** The public keys of our tokens. */
export const keySetPath: AuthPath = {
  ...{ method: 'GET', path: '/jwks', gives: 'KeySet' },
  summary: 'Get the public keys of the tokens',
}

/** The members of a body, each with whether it may be left out. */
export const membersOf = (takes: BodyMembers) =>
  Object.entries(takes).map(([key, schema]) => ({
    name: key.replace('?', ''),
    schema,
    isOptional: key.endsWith('?'),
  }))
