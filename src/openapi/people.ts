/** The OpenAPI document of sign-in: /auth is of no version of the REST API, and has a document of its own. */
import { authPath } from '#base/paths.ts'
import type { Content } from '#content.ts'
import type { JsonSchema } from '#model/operation-docs.ts'
import type { OpenApi } from '#openapi/openapi.ts'
import { headers } from '#openapi/responses.ts'
import { objectOf, refTo, type Schemas } from '#openapi/schemas.ts'
import { type AuthPath, authPaths, keySetPath, membersOf } from '#people/paths.ts'

/** The name of its file in a contract. */
export const authFile = 'auth.openapi.json'

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const time = { type: 'string', format: 'date-time' } as const
const email = { type: 'string', format: 'email' } as const
const person = refTo('Person')
const session = refTo('Session')

/** What is answered, by the names of its schemas. */
const authSchemas = {
  Success: objectOf({ success: flag }),
  Status: objectOf({ status: flag }),
  Person: objectOf(
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
  Session: objectOf({
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
  SignedIn: objectOf({ token: text, user: person, redirect: flag, url: text }, ['token', 'user']),
  PasswordChanged: objectOf({ token: { type: ['string', 'null'] }, user: person }),
  Started: objectOf({
    url: { ...text, format: 'uri', description: 'Where the browser is to go.' },
    redirect: flag,
  }),
  Accounts: {
    type: 'array',
    items: objectOf({
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
  SignedInNow: { anyOf: [objectOf({ session, user: person }), { type: 'null' }] },
  Token: objectOf({ token: { ...text, description: 'A JSON Web Token for both APIs.' } }),
  KeySet: objectOf({
    keys: {
      type: 'array',
      items: objectOf({ kty: text, crv: text, x: text, alg: text, kid: text, use: text }),
    },
  }),
} satisfies Schemas

const problem = {
  description: 'A problem (RFC 9457).',
  ...objectOf({
    type: { ...text, format: 'uri-reference', description: 'A page on the code, or about:blank.' },
    title: text,
    status: { type: 'integer' },
    detail: text,
    code: { ...text, description: 'What went wrong, for programs, such as INVALID_OTP.' },
    message: { ...text, description: 'The same as detail, for the client of better-auth.' },
    requestId: { ...text, description: 'The id of the request in the logs.' },
  }),
}

/** What can go wrong, by the status; of all requests, of those with a body, and of those of people who are signed in. */
const always = {
  400: 'The request, a code, a password or a link is wrong.',
  401: 'Nobody is signed in, or the password is wrong.',
  403: 'It is not allowed: `BLOCKED`, `STEP_UP_NEEDED`, `INVALID_ORIGIN`.',
  408: 'The request did not come in time.',
  414: 'The address is too long.',
  429: 'Too many requests, codes or passwords.',
  431: 'The headers are too large.',
  500: 'A fault of the service.',
  503: 'Sign-in, or an identity provider, does not answer just now.',
} as const
const ofBodies = {
  404: 'There is no such thing.',
  409: 'The address is taken.',
  412: 'The row was changed meanwhile: ask again.',
  413: 'The body is larger than 16 KiB.',
  415: 'The body is of another type.',
  422: 'A value is not valid.',
} as const

const ownHeaders = {
  'X-Request-Id': headers['X-Request-Id'],
  'RateLimit-Policy': headers['RateLimit-Policy'],
  RateLimit: headers.RateLimit,
  'Cache-Control': headers['Cache-Control'],
  'Retry-After': headers['Retry-After'],
  'Accept-Encoding': headers['Accept-Encoding'],
  'Accept-Post': headers['Accept-Post'],
  Location: headers.Location,
  'Set-Cookie': { description: 'The session.', schema: text },
  'Set-Auth-Token': { description: 'The session, to be sent as a Bearer token.', schema: text },
}
const headersOf = (...names: readonly (keyof typeof ownHeaders)[]): JsonSchema =>
  Object.fromEntries(
    (['X-Request-Id', 'RateLimit-Policy', 'RateLimit', 'Cache-Control', ...names] as const).map(
      name => [name, { $ref: `#/components/headers/${name}` }],
    ),
  )

const responses = Object.fromEntries(
  Object.entries({ ...always, ...ofBodies }).map(([status, description]) => [
    `Problem${status}`,
    {
      description,
      headers: headersOf('Retry-After', 'Set-Cookie', 'Accept-Encoding', 'Accept-Post'),
      content: { 'application/problem+json': { schema: refTo('Problem') } },
    },
  ]),
)

const operationOf = (
  { method, summary, takes, isForSession = false, path, way }: AuthPath,
  gives: NonNullable<AuthPath['gives']>,
): JsonSchema => {
  const members = takes && membersOf(takes)
  const needed = members?.filter(({ isOptional }) => !isOptional).map(({ name }) => name)
  const schema =
    members &&
    objectOf(Object.fromEntries(members.map(({ name, schema }) => [name, schema])), needed)
  const statuses = { ...always, ...(method === 'POST' && ofBodies) }
  return {
    // `/sign-in/email-otp` as `signInEmailOtp`.
    operationId: path.slice(1).replace(/[/-](\w)/g, (_, letter) => letter.toUpperCase()),
    tags: [
      way === 'oidc' ? 'provider' : (way ?? (/^(Token|KeySet)$/.test(gives) ? 'token' : 'session')),
    ],
    summary,
    security: isForSession ? [{ cookie: [] }, { session: [] }] : [{}],
    ...(members &&
      members.length > 0 && {
        requestBody: { required: true, content: { 'application/json': { schema } } },
      }),
    responses: {
      200: {
        description: 'It is done, or what is there.',
        headers: headersOf(
          'Set-Cookie',
          'Set-Auth-Token',
          ...(gives === 'Started' ? (['Location'] as const) : []),
        ),
        content: { 'application/json': { schema: refTo(gives) } },
      },
      ...Object.fromEntries(
        Object.keys(statuses).map(status => [
          status,
          { $ref: `#/components/responses/Problem${status}` },
        ]),
      ),
    },
  }
}

/** The document of sign-in in a content; of the paths that are served, or of all that can be. */
export const authDocument = (
  { title, license }: Pick<Content, 'title' | 'license'>,
  isServed: (path: AuthPath) => boolean = () => true,
): OpenApi => {
  // Callbacks are for the browser, on its way back from a provider; no client calls them.
  const paths = [...authPaths.filter(isServed), keySetPath].flatMap(one =>
    one.gives ? [[one.path, { [one.method.toLowerCase()]: operationOf(one, one.gives) }]] : [],
  )
  return {
    openapi: '3.1.1',
    info: {
      title: `${title}, sign-in`,
      version: '1',
      description:
        'People sign in by a code in a mail, by an identity provider or by a password, where these ways are switched on; GET /token gives the token of ten minutes that both APIs take. The paths are those of better-auth. A session is a cookie, or the Set-Auth-Token of the answer that made it, sent as a Bearer token.',
      ...(license && { license }),
    },
    servers: [{ url: authPath }],
    paths: Object.fromEntries(paths),
    components: {
      schemas: { ...authSchemas, Problem: problem },
      headers: ownHeaders,
      responses,
      securitySchemes: {
        cookie: {
          type: 'apiKey',
          in: 'cookie',
          name: 'duet.session_token',
          description: 'On https its name begins with `__Host-`.',
        },
        session: {
          type: 'http',
          scheme: 'bearer',
          description: 'The `Set-Auth-Token` of the answer that signed in.',
        },
      },
    },
  }
}
