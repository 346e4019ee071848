/** REST requests of callers with a bad token, with none, or without the right. */
import { hmac, type Json, signToken } from '#test/support/tokens.ts'
import { secret } from '../world.ts'
import type { BadRequest } from './bad-requests.ts'

const now = Math.floor(Date.now() / 1000)
const claims = (changed: Json) => ({
  sub: '1',
  role: 'admin',
  iat: now,
  exp: now + 600,
  ...changed,
})
const token = (changed: Json, header: Json = {}) =>
  signToken({ alg: 'HS256', ...header }, claims(changed), hmac(secret))
const good = token({})

/** An `Authorization` header and the reason it is refused for, on a public read. */
const tokens = (...rows: [authorization: string, why: string][]): BadRequest[] =>
  rows.map(([Authorization, why]) => ({
    line: 'GET /api/posts',
    what: `the token ${Authorization.slice(0, 30)}… (${why})`,
    as: 'anonymous',
    headers: { Authorization },
    status: 401,
    code: 'UNAUTHENTICATED',
    challenge: `Bearer realm="duet", error="invalid_token", error_description="${why}"`,
  }))

const noForm =
  'Authorization must be Bearer, a space and a signed token, such as `bin/duet token` makes'
const noKey = 'The token is signed in a way that is not accepted here'
const noFit = 'The signature does not fit: the token was made with another key, or changed since'
const noSub = 'The claim sub is not a text'
const noRole = 'The claim role is neither user nor admin'
const noSpelling = 'The token is not in its usual spelling'

/** Without a token, where one is needed. */
const nameless = (...lines: string[]): BadRequest[] =>
  lines.map(line => ({
    line,
    what: 'no token',
    as: 'anonymous',
    ...(/^P/.test(line) && { body: {} }),
    status: 401,
    code: 'UNAUTHENTICATED',
    challenge: 'Bearer realm="duet"',
  }))

const forbidden = (as: number, ...lines: string[]): BadRequest[] =>
  lines.map(line => ({
    line,
    what: `the token of ${as}`,
    as,
    ...(/^P/.test(line) && { body: {} }),
    status: 403,
    code: 'FORBIDDEN',
  }))

export const badCallers: readonly BadRequest[] = [
  ...nameless(
    'GET /api/users',
    'GET /api/users/2',
    'GET /api/users/99',
    'GET /api/users?limit=x',
    'PATCH /api/users/2',
  ),
  ...nameless(
    'PUT /api/users/x',
    'DELETE /api/users/2',
    'POST /api/users/2/posts',
    'POST /api/posts/1/comments',
  ),
  ...nameless(
    'POST /api/comments/x/likes',
    'DELETE /api/comments/1/likes',
    'POST /api/products',
    'DELETE /api/posts/99',
  ),
  ...tokens(
    ['', noForm],
    ['Bearer', noForm],
    ['Bearer ', noForm],
    ['Bearer x', noForm],
    ['Basic YTpi', noForm],
    [good, noForm],
  ),
  ...tokens(
    [`Bearer ${good} x`, noForm],
    [`Bearer ${good},${good}`, noForm],
    [`Bearer ${good}=`, noForm],
  ),
  ...tokens(
    [`Bearer ${good.slice(0, -3)}`, noFit],
    [`Bearer ${good}AAAA`, noFit],
    [`Bearer ${signToken({ alg: 'HS256' }, claims({}), hmac('x'))}`, noFit],
  ),
  ...tokens([
    `Bearer ${good.slice(0, -1)}${String.fromCharCode(good.charCodeAt(good.length - 1) + 1)}`,
    noSpelling,
  ]),
  ...tokens(
    [`Bearer ${token({}, { alg: 'none' })}`, noKey],
    [`Bearer ${token({}, { alg: 'HS512' })}`, noKey],
    [`Bearer ${token({}, { alg: 'RS256' })}`, noKey],
  ),
  ...tokens(
    [`Bearer ${token({ sub: 1 })}`, noSub],
    [`Bearer ${token({ sub: '' })}`, noSub],
    [`Bearer ${token({ sub: undefined })}`, noSub],
  ),
  ...tokens(
    [`Bearer ${token({ role: 'root' })}`, noRole],
    [`Bearer ${token({ role: null })}`, noRole],
    [`Bearer ${token({ role: ['admin'] })}`, noRole],
  ),
  ...tokens(
    [`Bearer ${token({ exp: undefined })}`, 'The claim exp is missing'],
    [`Bearer ${token({ iat: now - 60, exp: now - 10 })}`, 'The token has expired'],
  ),
  ...tokens(
    [`Bearer ${token({ nbf: now + 3600 })}`, 'The token is not valid yet'],
    [`Bearer ${token({ iat: now + 3600 })}`, 'The token was issued in the future'],
  ),
  ...tokens(
    [`Bearer ${token({ exp: now + 90_000 })}`, 'The token lives longer than 24 hours'],
    [`Bearer ${token({ exp: '1' })}`, 'The claim exp is not a number of seconds'],
  ),
  ...tokens([`Bearer ${token({ x: 'y'.repeat(8192) })}`, 'The token is larger than 8 KiB']),
  ...forbidden(
    2,
    'PATCH /api/users/3',
    'DELETE /api/users/1',
    'POST /api/users/3/posts',
    'PATCH /api/posts/4',
    'DELETE /api/posts/4',
  ),
  ...forbidden(
    2,
    'POST /api/products',
    'PUT /api/products/99',
    'PATCH /api/products/x',
    'DELETE /api/products/1',
  ),
  ...forbidden(3, 'DELETE /api/posts/1/comments/2', 'PUT /api/users/2'),
  ...forbidden(
    4,
    'PATCH /api/users/4',
    'POST /api/users',
    'POST /api/posts/1/comments',
    'POST /api/comments/1/likes',
    'DELETE /api/users/4',
  ),
  ...forbidden(
    99,
    'POST /api/posts/1/comments',
    'POST /api/comments/1/likes',
    'DELETE /api/comments/1/likes',
    'POST /api/users/99/posts',
  ),
]
