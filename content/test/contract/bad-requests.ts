/** Bad REST requests that no other test has a table of, each with the one answer it gets. */
import type { errors } from '#content/errors.ts'
import type { ErrorCode } from '#errors.ts'
import { hmac, type Json, signToken } from '#test/support/tokens.ts'
import { type Asking, secret } from '../world.ts'

type As = number | 'anonymous'

export type BadRequest = {
  readonly line: string
  /** What is bad about it, for its name. */
  readonly what: string
  readonly as: As
  readonly headers?: Record<string, string>
  readonly body?: unknown
  readonly raw?: NonNullable<Asking['raw']>
  readonly status: number
  readonly code: ErrorCode | keyof typeof errors
  /** The members or parameters at fault, all of them. */
  readonly fields?: readonly string[]
  /** The whole `WWW-Authenticate`. */
  readonly challenge?: string
}

const withBody = (line: string) => (/^P/.test(line) ? { body: {} } : {})

/** An admin names what is not there, or in a form that is none. */
const badPaths = (status: number, code: BadRequest['code'], ...lines: string[]): BadRequest[] =>
  lines.map(line => ({ line, what: 'its path', as: 1, status, code, ...withBody(line) }))

/** A list or thing, and queries each with the parameter at fault. */
const badQueries = (path: string, ...rows: [query: string, field: string][]): BadRequest[] =>
  rows.map(([query, field]) => ({
    line: `GET ${path}?${query}`,
    what: 'its query',
    as: 1,
    status: 422,
    code: 'VALIDATION_ERROR',
    fields: [field],
  }))

const now = Math.floor(Date.now() / 1000)
const claims = (changed: Json) => ({
  ...{ sub: '1', role: 'admin', iat: now, exp: now + 600 },
  ...changed,
})
const token = (changed: Json, header: Json = {}) =>
  signToken({ alg: 'HS256', ...header }, claims(changed), hmac(secret))
const good = token({})

/** Why each `Authorization` is refused, on a public read. */
const badTokens = (why: string, ...sent: string[]): BadRequest[] =>
  sent.map(Authorization => ({
    line: 'GET /api/posts',
    what: `the token ${Authorization.slice(0, 30)}… (${why})`,
    as: 'anonymous',
    headers: { Authorization },
    status: 401,
    code: 'UNAUTHENTICATED',
    challenge: `Bearer realm="duet", error="invalid_token", error_description="${why}"`,
  }))

/** A token without the right, which comes before what the path names. */
const forbidden = (as: number, ...lines: string[]): BadRequest[] =>
  lines.map(line => ({
    ...{ line, what: `the token of ${as}`, as, ...withBody(line) },
    ...{ status: 403, code: 'FORBIDDEN' },
  }))

const json = { 'Content-Type': 'application/json' }
const shown = (raw: string | Uint8Array) =>
  typeof raw === 'string' ? JSON.stringify(raw.slice(0, 40)) : Buffer.from(raw).toString('hex')

/** Not JSON, not an object, or not in a form that two readers read alike: src/http/body.test.ts has all the forms. */
const malformed = (line: string, ...bodies: (string | Uint8Array<ArrayBuffer>)[]): BadRequest[] =>
  bodies.map(raw => ({
    ...{ line, what: `the body ${shown(raw)}`, as: 1, raw, headers: json },
    ...{ status: 400, code: 'MALFORMED_REQUEST' },
  }))

/** Well-formed and not valid: the text, and the members at fault. */
const invalid = (
  line: string,
  as: As,
  ...rows: [raw: string, ...fields: string[]][]
): BadRequest[] =>
  rows.map(([raw, ...fields]) => ({
    ...{ line, what: `the body ${shown(raw)}`, as, raw, headers: json },
    ...{ status: 422, code: 'VALIDATION_ERROR', fields },
  }))

/** Of another type, or in a coding that is not read. */
const unsupported = (line: string, ...types: Record<string, string>[]): BadRequest[] =>
  types.map(headers => ({
    ...{ line, what: `the headers ${JSON.stringify(headers)}`, as: 1, raw: '{}', headers },
    ...{ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' },
  }))
const ofTypes = (line: string, ...types: string[]) =>
  unsupported(line, ...types.map(type => ({ 'Content-Type': type })))

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

const users = 'POST /api/users'
const ben = 'PATCH /api/users/2'

export const badRequests: readonly BadRequest[] = [
  ...badQueries('/api/users', ['order=asc&order=asc', 'order'], ['status=%00', 'status']),
  ...badQueries('/api/users/2', ['fields=password', 'fields'], ['fields=id&fields=id', 'fields']),
  ...badQueries('/api/products/1', ['fields=*', 'fields']),
  ...badQueries('/api/users/2/posts', ['cursor=5', 'cursor']),
  ...badQueries('/api/posts/1/comments', ['limit=--1', 'limit'], ['cursor=null', 'cursor']),
  ...badQueries(
    '/api/comments/1/likes',
    ['limit=%201', 'limit'],
    ['cursor=%F0%9F%98%80', 'cursor'],
  ),
  ...badPaths(
    404,
    'NOT_FOUND',
    'PATCH /api/users/0x1',
    'PUT /api/products/1e0',
    'DELETE /api/posts/+1',
    'POST /api/users/x/posts',
    'POST /api/posts/99/comments',
    'POST /api/comments/0/likes',
    'GET /api/..%2fetc/passwd',
  ),
  ...badPaths(400, 'MALFORMED_REQUEST', 'PATCH /api/users/%E0%A4%A', 'DELETE /api/users/%ED%A0%80'),
  ...badPaths(404, 'UNSUPPORTED_VERSION', 'POST /api/v9/users', 'GET /api/v99'),

  {
    ...{ line: users, as: 'anonymous', body: { name: 'x', email: 'BEN@Example.ORG' } },
    ...{ what: 'an email in use, in other letters', fields: ['email'] },
    ...{ status: 409, code: 'EMAIL_TAKEN' },
  },

  ...badTokens(
    'Authorization must be Bearer, a space and a signed token, such as `bin/duet token` makes',
    ...['', 'Bearer', 'Bearer ', 'Bearer x', 'Basic YTpi', good],
    ...[`Bearer ${good} x`, `Bearer ${good},${good}`, `Bearer ${good}=`],
  ),
  ...badTokens(
    'The signature does not fit: the token was made with another key, or changed since',
    `Bearer ${good.slice(0, -3)}`,
    `Bearer ${good}AAAA`,
    `Bearer ${signToken({ alg: 'HS256' }, claims({}), hmac('x'))}`,
  ),
  ...badTokens(
    'The token is not in its usual spelling',
    `Bearer ${good.slice(0, -1)}${String.fromCharCode(good.charCodeAt(good.length - 1) + 1)}`,
  ),
  ...badTokens(
    'The token is signed in a way that is not accepted here',
    ...['none', 'HS512', 'RS256'].map(alg => `Bearer ${token({}, { alg })}`),
  ),
  ...(
    [
      ['The claim sub is not a text', { sub: 1 }, { sub: '' }, { sub: undefined }],
      [
        'The claim role is neither user nor admin',
        ...[{ role: 'root' }, { role: null }, { role: ['admin'] }],
      ],
      ['The claim exp is missing', { exp: undefined }],
      ['The token has expired', { iat: now - 60, exp: now - 10 }],
      ['The token is not valid yet', { nbf: now + 3600 }],
      ['The token was issued in the future', { iat: now + 3600 }],
      ['The token lives longer than 24 hours', { exp: now + 90_000 }],
      ['The claim exp is not a number of seconds', { exp: '1' }],
      ['The token is larger than 8 KiB', { x: 'y'.repeat(8192) }],
    ] as const
  ).flatMap(([why, ...changed]) =>
    badTokens(why, ...changed.map(claim => `Bearer ${token(claim)}`)),
  ),
  ...forbidden(2, 'PUT /api/products/99', 'PATCH /api/products/x'),

  ...malformed(users, '', '{', '{"a":1,}', '{"a":Infinity}', '[]', 'null', '"x"'),
  ...malformed(ben, '{"name":"a","n\\u0061me":"a"}', '{"__proto__":1,"__proto__":2}'),
  ...malformed(ben, nested(33), '['.repeat(200_000), '{"a":'.repeat(100_000), '\ufeff\ufeff{}'),
  ...malformed(ben, Uint8Array.from([0x7b, 0x7d, 0x80]), Uint8Array.from([0x1f, 0x8b, 8, 0])),
  ...malformed('PUT /api/products/1', '', '[1]', '{"name":"x"'),
  ...malformed('POST /api/users/2/posts', '', '{"title"', '"title"'),
  ...malformed('POST /api/posts/1/comments', '', 'text=x', '{"text":"x"]'),

  ...ofTypes(users, 'text/plain', 'text/json', 'application/x-www-form-urlencoded', 'x', ''),
  ...ofTypes(users, 'multipart/form-data; boundary=x', 'application/merge-patch+json'),
  ...ofTypes(users, 'application/json, text/plain', 'application/json; charset=utf-16'),
  ...ofTypes(users, 'application/json; charset=iso-8859-1'),
  ...ofTypes(ben, 'application/json-patch+json'),
  ...ofTypes('PUT /api/users/2', 'application/merge-patch+json'),
  ...ofTypes('POST /api/posts/1/comments', 'text/plain;charset=UTF-8'),
  ...ofTypes('DELETE /api/users/2/avatar', 'text/plain'),
  ...ofTypes('DELETE /api/comments/1/likes', 'text/plain'),
  ...unsupported(users, {}),
  ...['gzip', 'br', 'identity, gzip'].flatMap(coding =>
    unsupported(users, { ...json, 'Content-Encoding': coding }),
  ),

  // What a value may be is in rest-values.test.ts, and which members there are in rest-bodies.test.ts.
  ...invalid(
    users,
    'anonymous',
    ['{"name":"x"}', 'email'],
    ['{"email":"x@example.org"}', 'name'],
    ['{"name":null,"email":null}', 'name', 'email'],
    ['{"name":"\\u2003","email":"\\t"}', 'name', 'email'],
    ['{"name":"x","email":"x@example.org","age":1e309}', 'age'],
    ['{"name":"x","email":"x@example.org","__proto__":{"role":"admin"}}', '__proto__'],
    ['{"name":"x","email":"x@example.org","constructor":{"prototype":{}}}', 'constructor'],
    ['{"user":{"name":"x","email":"x@example.org"}}', 'user', 'name', 'email'],
  ),
  ...invalid(
    ben,
    2,
    ['{"age":9007199254740993}', 'age'],
    ['{"age":-1e400}', 'age'],
    ['{"id":2}', 'id'],
    ['{"_links":{}}', '_links'],
    ['{"toString":"x","valueOf":"x"}', 'toString', 'valueOf'],
    ['{"name":"","email":"x","age":"x","x":1}', 'name', 'email', 'age', 'x'],
    [nested(32), 'a'],
  ),
  ...invalid(ben, 1, ['{"role":"root"}', 'role'], ['{"role":null,"status":""}', 'role', 'status']),
  ...invalid('PATCH /api/products/1', 1, ['{"price":1e309}', 'price'], ['{"sku":1}', 'sku']),
  ...invalid('POST /api/products', 1, ['{"sku":1}', 'sku', 'name', 'category', 'price']),
  ...invalid('PUT /api/products/1', 1, ['{"price":{}}', 'price', 'name', 'category']),
  ...invalid(
    'POST /api/users/2/posts',
    2,
    ['{}', 'title', 'content'],
    ['{"title":" ","content":""}', 'title', 'content'],
    ['{"title":"x","content":"y","authorId":3}', 'authorId'],
  ),
  ...invalid(
    'PATCH /api/posts/1',
    2,
    ['{"authorId":3}', 'authorId'],
    ['{"content":null}', 'content'],
    ['{"id":1,"createdAt":1}', 'id', 'createdAt'],
  ),
  ...invalid(
    'POST /api/posts/1/comments',
    2,
    ['{}', 'text'],
    ['{"text":"x","postId":1}', 'postId'],
  ),
]
