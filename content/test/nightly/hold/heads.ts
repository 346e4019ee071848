/** Requests without a body: heads of 16 KiB, addresses of 4 KiB, and answers that are large. */
import { type Shape, times } from './shape.ts'

const many = (unit: string, bytes = 15_000): string => unit.repeat(Math.floor(bytes / unit.length))

const get = (
  name: string,
  path: string,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Shape => ({ name, line: `GET ${path}`, headers, status })

const one = '/api/products/1'

const heads: readonly Shape[] = [
  get('If-None-Match of 5,000 tags', one, 200, { 'If-None-Match': many('"",') }),
  get('If-None-Match of quotes', one, 200, { 'If-None-Match': many('"') }),
  get('Accept of 1,500 types', one, 200, { Accept: `${many('a/b;q=0.1,')}*/*` }),
  get('Accept of 1,500 types for GraphQL', '/graphql?query=%7B__typename%7D', 200, {
    Accept: `${many('a/b;q=0.1,')}*/*`,
  }),
  get('a token of 15 KiB', '/api/users', 401, { Authorization: `Bearer ${many('A')}` }),
  get('a token of dots', '/api/users', 401, { Authorization: `Bearer ${many('a.', 8000)}` }),
  get('a token whose head nests', '/api/users', 401, {
    Authorization: `Bearer ${Buffer.from(`{"alg":${many('[', 5900)}`).toString('base64url')}.e30.AAAA`,
  }),
  get('cookies', one, 200, { Cookie: many('a=b; ') }),
  get('X-Forwarded-For of 1,000 addresses', one, 200, {
    'X-Forwarded-For': `${many('127.0.0.1, ')}::1`,
  }),
]

const addresses: readonly Shape[] = [
  get('fields that name 1,300 members', `/api/products?fields=${many('id,', 3900)}id`),
  get('a sort by 650 members', `/api/products?sort=${many('price,', 3900)}name`),
  get(
    'a search for 650 letters of Latin',
    `/api/products?search=${times(650, n => encodeURIComponent(String.fromCodePoint(0x100 + n)), '')}`,
  ),
  get(
    'all filters and a far offset',
    '/api/products?search=e&min_price=1&max_price=900&in_stock=true&sort=-price,name&offset=40000&limit=100',
  ),
  get('1,900 parameters', `/api/products?${many('a&', 3900)}`),
  get('a cursor of 4 KiB', `/api/posts?cursor=${many('A', 4000)}`, 422),
  get('a path of 1,300 escapes', `/api/${many('%C3%A9/', 4000)}`, 404),
  get('a list of 20 posts of 100,000 characters', '/api/posts'),
  get('a list of 100 posts of 100,000 characters', '/api/posts?limit=100'),
  get('100 comments of 10,000 control characters', '/api/posts/1/comments?limit=100'),
]

export const gets: readonly Shape[] = [...heads, ...addresses]
