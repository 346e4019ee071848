/** REST requests with a bad path, query or header, each with the one answer it gets. */
import type { errors } from '#content/errors.ts'
import type { ErrorCode } from '#errors.ts'
import type { Asking } from '../world.ts'

type Code = ErrorCode | keyof typeof errors

export type As = number | 'anonymous'

export type BadRequest = {
  readonly line: string
  /** What is bad about it, for its name. */
  readonly what: string
  readonly as: As
  readonly headers?: Record<string, string>
  readonly body?: unknown
  readonly raw?: NonNullable<Asking['raw']>
  readonly status: number
  readonly code: Code
  /** The members or parameters at fault, all of them. */
  readonly fields?: readonly string[]
  /** The whole `WWW-Authenticate`. */
  readonly challenge?: string
}

const bad = (status: number, code: Code, ...lines: string[]): BadRequest[] =>
  lines.map(line => ({
    line,
    what: 'its path',
    as: 1,
    status,
    code,
    ...(/^P/.test(line) && { body: {} }),
  }))

/** A list or thing, and queries each with the parameters at fault. */
const queries = (path: string, ...rows: [query: string, ...fields: string[]][]): BadRequest[] =>
  rows.map(([query, ...fields]) => ({
    line: `GET ${path}?${query}`,
    what: 'its query',
    as: 1,
    status: 422,
    code: 'VALIDATION_ERROR',
    fields,
  }))

const versions = (
  status: number,
  code: Code,
  path: string,
  ...headers: Record<string, string>[]
): BadRequest[] =>
  headers.map(headers => ({
    line: `GET ${path}`,
    what: `the headers ${JSON.stringify(headers)}`,
    as: 1,
    headers,
    status,
    code,
  }))

const unmatched = (line: string, ...tags: string[]): BadRequest[] =>
  tags.map(tag => ({
    line,
    what: `If-Match: ${tag}`,
    as: 1,
    headers: { 'If-Match': tag },
    ...(/^P/.test(line) && { body: {} }),
    status: 412,
    code: 'PRECONDITION_FAILED',
  }))

export const badRequests: readonly BadRequest[] = [
  ...queries(
    '/api/users',
    ['limit=', 'limit'],
    ['limit=abc', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=NaN', 'limit'],
    ['limit=Infinity', 'limit'],
    ['limit=0x10', 'limit'],
    ['limit=%D9%A1', 'limit'],
    ['limit=1&limit=1', 'limit'],
    ['page=1&page=2', 'page'],
    ['page=', 'page'],
    ['page=one', 'page'],
    ['sort=', 'sort'],
    ['sort=posts', 'sort'],
    ['sort=-name', 'sort'],
    ['sort=id&sort=id', 'sort'],
    ['order=', 'order'],
    ['order=up', 'order'],
    ['order=asc&order=asc', 'order'],
    ['fields=', 'fields'],
    ['fields=x', 'fields'],
    ['fields=id,,name', 'fields'],
    ['fields=created_at', 'fields'],
    ['role=a&role=b', 'role'],
    ['status=%00', 'status'],
    ['limit=x&page=y&sort=z', 'limit', 'page', 'sort'],
  ),
  ...queries(
    '/api/users/2',
    ['fields=', 'fields'],
    ['fields=password', 'fields'],
    ['fields=id&fields=id', 'fields'],
  ),
  ...queries(
    '/api/products',
    ['offset=', 'offset'],
    ['offset=x', 'offset'],
    ['offset=1.0', 'offset'],
    ['offset=1&offset=1', 'offset'],
    ['min_price=', 'min_price'],
    ['min_price=x', 'min_price'],
    ['max_price=1,5', 'max_price'],
    ['max_price=NaN', 'max_price'],
    ['search=a&search=b', 'search'],
    ['search=%00', 'search'],
    ['in_stock=true&in_stock=true', 'in_stock'],
    ['category=a&category=a', 'category'],
    ['sort=name&sort=name', 'sort'],
    ['fields=createdAt', 'fields'],
  ),
  ...queries('/api/products/1', ['fields=_links', 'fields'], ['fields=*', 'fields']),
  ...queries(
    '/api/posts',
    ['limit=x', 'limit'],
    ['cursor=', 'cursor'],
    ['cursor=x', 'cursor'],
    ['cursor=MQ', 'cursor'],
  ),
  ...queries('/api/users/2/posts', ['limit=', 'limit'], ['cursor=5', 'cursor']),
  ...queries('/api/posts/1/comments', ['limit=--1', 'limit'], ['cursor=null', 'cursor']),
  ...queries('/api/comments/1/likes', ['limit=%201', 'limit'], ['cursor=%F0%9F%98%80', 'cursor']),
  ...bad(
    404,
    'NOT_FOUND',
    'GET /api/users/0',
    'GET /api/users/-1',
    'GET /api/users/1.5',
    'GET /api/users/abc',
    'GET /api/users/99999999999999999999',
    'GET /api/users/9007199254740992',
    'PATCH /api/users/0x1',
    'PUT /api/products/1e0',
    'DELETE /api/posts/+1',
    'POST /api/users/x/posts',
    'POST /api/posts/99/comments',
    'POST /api/comments/0/likes',
    'GET /api/users/1/posts/1',
    'DELETE /api/posts/2/comments/1',
    'GET /api/posts/2/comments/1',
    'GET /api/nothing',
    'POST /api',
    'GET /api/users/',
    'GET /api//users',
    'GET /api/Users',
    'GET /api/users/2/',
    'GET /api/users/2;x=1',
    'GET /api/products.json',
    'GET /api/..%2fetc/passwd',
    'DELETE /api/comments',
    'GET /api/users/2/posts/1/comments/1',
  ),
  ...bad(
    400,
    'MALFORMED_REQUEST',
    'GET /api/users/%zz',
    'GET /api/users/%',
    'GET /api/users/%ff',
    'GET /api/users/%00',
    'GET /api/%C3%28',
    'PATCH /api/users/%E0%A4%A',
    'DELETE /api/users/%ED%A0%80',
  ),
  ...bad(
    405,
    'METHOD_NOT_ALLOWED',
    'PUT /api/users',
    'PATCH /api/users',
    'DELETE /api/users',
    'POST /api/users/2',
    'POST /api/posts',
    'PUT /api/posts/1',
    'DELETE /api/comments/1',
    'PATCH /api/posts/1/comments/1',
    'PUT /api/comments/1/likes',
    'PROPFIND /api/products',
    'QUERY /api/products/1',
    'FOO /api/users/2/avatar',
  ),
  ...bad(
    414,
    'URI_TOO_LONG',
    `GET /api/products?search=${'a'.repeat(4096)}`,
    `GET /api/${'a/'.repeat(3000)}`,
  ),
  ...bad(
    404,
    'UNSUPPORTED_VERSION',
    'GET /api/v99/users',
    'GET /api/v0/users',
    'POST /api/v9/users',
    'GET /api/v99',
  ),
  ...bad(
    400,
    'UNSUPPORTED_VERSION',
    'GET /api/users?version=99',
    'GET /api/users?version=',
    'GET /api/users?version=one',
  ),
  ...bad(
    400,
    'MALFORMED_REQUEST',
    'GET /api/v1/users?version=2',
    'GET /api/users?version=1&version=2',
  ),
  ...versions(
    406,
    'UNSUPPORTED_VERSION',
    '/api/users',
    { Accept: 'application/vnd.duet.v99+json' },
    { Accept: 'application/vnd.duet.vx+json' },
  ),
  ...versions(
    400,
    'UNSUPPORTED_VERSION',
    '/api/users',
    { 'API-Version': '99' },
    { 'API-Version': '1.0' },
    { 'API-Version': '' },
  ),
  ...versions(
    400,
    'MALFORMED_REQUEST',
    '/api/v1/users',
    { 'API-Version': '2' },
    { Accept: 'application/vnd.duet.v2+json' },
  ),
  ...unmatched(
    'PATCH /api/users/2',
    '"x"',
    'x',
    '',
    '"',
    '*x',
    'W/*',
    '"users-2-1"',
    'users-2-1-x',
    '"posts-1-1-x"',
    'W/"users-2-1-x"',
  ),
  ...unmatched(
    'DELETE /api/products/1',
    '"x"',
    '"products-2-1-x"',
    '"products-1-99999999999999999999-x"',
    '"products-1--1-x"',
  ),
  ...unmatched('DELETE /api/posts/1', '"x", "y"', ', ,', '"posts-1-0-x"', "' or 1=1"),
  {
    line: 'PATCH /api/users/2',
    what: 'a length above the limit',
    as: 2,
    raw: '{}',
    headers: { 'Content-Type': 'application/json', 'Content-Length': '1048577' },
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
  },
  {
    line: 'POST /api/users',
    what: 'a body above the limit',
    as: 'anonymous',
    raw: ' '.repeat(1_048_577),
    headers: { 'Content-Type': 'application/json' },
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
  },
  {
    line: 'POST /api/users',
    what: 'an email in use, in other letters',
    as: 'anonymous',
    body: { name: 'x', email: 'BEN@Example.ORG' },
    status: 409,
    code: 'EMAIL_TAKEN',
    fields: ['email'],
  },
]
