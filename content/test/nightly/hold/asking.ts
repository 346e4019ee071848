/** Conditions, orders, cursors and groups that callers ask for: in each round others, so that none is planned or answered before. */
import { filled, json, type Shape, times } from './shape.ts'

const ask = (name: string, query: string, variables: (round: number) => string): Shape => ({
  name: `asking: ${name}`,
  line: 'POST /graphql',
  headers: json,
  body: round => `{"query":${JSON.stringify(query)},"variables":${variables(round)}}`,
  status: 200,
})

const where = (name: string, condition: (round: number) => string): Shape =>
  ask(
    name,
    'query ($w: PostWhere) { posts(where: $w, limit: 20) { id } postsConnection(where: $w) { totalCount } postsAggregate(where: $w) { count } }',
    round => `{"w":${condition(round)}}`,
  )

const ids = (round: number, count: number) => `[${times(count, n => `"${n * 7 + round}"`)}]`

const conditions: readonly Shape[] = [
  where(
    '30 lists of 100 ids',
    round => `{"or":[${times(30, n => `{"id":{"in":${ids(round + n, 100)}}}`)}]}`,
  ),
  where('a list of 9,999 ids', round => `{"id":{"in":${ids(round, 9999)}}}`),
  where(
    '9,999 empty parts',
    round => `{"or":[{"id":{"eq":"${round}"}},${times(9998, () => '{}')}]}`,
  ),
  where(
    '9,999 parts of an empty member',
    round => `{"or":[${times(9998, () => '{"id":{}}')},{"id":{"eq":"${round}"}}]}`,
  ),
  where('a text of a megabyte', round => `{"title":{"eq":"${round}${'\\u0001'.repeat(160_000)}"}}`),
  where('250 unknown members', round => `{${times(250, n => `"n${n}":${round}`)}}`),
  where('110 unknown members, which are told', round => `{${times(110, n => `"n${n}":${round}`)}}`),
  where(
    '30 times whether others wrote below',
    round =>
      `{"and":[${times(30, n => `{"comments":{"some":{"author":{"id":{"ne":"${n + round}"}}}}}`)}]}`,
  ),
  where(
    'posts of those who wrote below posts of those',
    round =>
      `{"comments":{"none":{"author":{"posts":{"some":{"comments":{"none":{"id":{"eq":"${round}"}}}}}}}}}`,
  ),
  ask(
    '30 texts of 200 wildcards',
    'query ($w: UserWhere) { users(where: $w) { id } usersAggregate(where: $w) { count } }',
    round =>
      `{"w":{"or":[${times(15, n => `{"email":{"contains":"${'%_'.repeat(95)}${n}${round % 10}"}},{"email":{"startsWith":"${'\\\\'.repeat(190)}${n}"}}`)}]}}`,
  ),
  ask(
    '100 comparisons in nested lists',
    `query ($w: PostWhere) { users(limit: 100) { id ${times(4, n => `p${n}: posts(where: $w, limit: 20) { id }`, ' ')} } }`,
    round => `{"w":{"or":[${times(25, n => `{"author":{"age":{"ne":${n + round}}}}`)}]}}`,
  ),
]

const lists: readonly Shape[] = [
  ask(
    'connections in orders of others',
    `query ($c: String) { ${times(10, n => `a${n}: postsConnection(first: 100, where: { title: { ne: $c } }, orderBy: [{ author: { name: ASC } }, { createdAt: DESC }, { title: ASC }, { author: { age: DESC } }]) { totalCount edges { cursor node { id title } } }`, ' ')} }`,
    round => `{"c":"${round}"}`,
  ),
  ask(
    'a cursor of a megabyte',
    'query ($c: String) { postsConnection(after: $c) { edges { cursor } } }',
    round => filled(`{"c":"${round}`, 'A', '"}', 1_000_000),
  ),
  ask(
    'groups by each moment',
    `query ($z: String) { ${times(5, n => `a${n}: postsAggregate(groupBy: [createdAt, createdAtDay, createdAtMonth], timeZone: $z, limit: 1000, orderBy: [{ max: { createdAt: DESC } }]) { createdAt createdAtDay count max { createdAt } }`, ' ')} }`,
    round =>
      `{"z":"${['Europe/Berlin', 'America/St_Johns', 'Asia/Tokyo', 'Pacific/Apia', 'UTC'][round % 5]}"}`,
  ),
  ask(
    'a time zone of a megabyte',
    'query ($z: String) { postsAggregate(groupBy: [createdAtDay], timeZone: $z) { count } }',
    round => filled(`{"z":"${round}`, 'A', '"}', 1_000_000),
  ),
  ask(
    '9,999 keys of an order',
    'query ($o: [PostOrder!]) { posts(orderBy: $o) { id } }',
    round =>
      `{"o":[${times(9999, n => `{"author":{"${n % 2 ? 'name' : 'age'}":"${round % 2 ? 'ASC' : 'DESC'}"}}`)}]}`,
  ),
  ask(
    'having 9,999 conditions',
    'query ($h: UserAggregateHaving) { usersAggregate(groupBy: [age], having: $h) { age count } }',
    round => `{"h":{"or":[${times(9999, () => `{"count":{"gte":${round}}}`)}]}}`,
  ),
]

const get = (name: string, path: string, status = 200): Shape => ({
  name: `asking: ${name}`,
  line: `GET /api/v2/${path}`,
  status,
})

const addresses: readonly Shape[] = [
  get('more groups than there may be', 'products/aggregate?group=name,price&sum=stock', 422),
  get(
    '1,000 groups of all measures',
    'products/aggregate?group=price,stock&sum=price,stock&avg=price,stock&min=name,price&max=name,price&sort=-sum.stock,avg.price&limit=1000',
  ),
  get(
    'groups of a list that is searched',
    'products/aggregate?search=e&group=category,createdAtDay&tz=Pacific/Apia&limit=1000',
  ),
  get('an order by what has no index', 'products?sort=-stock,createdAt,name&limit=100'),
  get('one condition 200 times', `products?${times(200, n => `stock%5Bgte%5D=${n}`, '&')}`, 422),
  {
    name: 'asking: 500 names near those of conditions on groups',
    line: 'QUERY /api/v2/products/aggregate',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: round => times(500, n => `having[max][pricea${n + round}][gte]=`, '&'),
    status: 422,
  },
  {
    name: 'asking: 2,500 unknown parameters',
    line: 'QUERY /api/v2/products',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: round => times(2500, n => `${n.toString(36)}${round}=`, '&'),
    status: 422,
  },
  {
    name: 'asking: 990 unknown members of a condition',
    line: 'QUERY /api/v2/products',
    headers: json,
    body: round => `{"where":{${times(990, n => `"naem${n}":${round}`)}}}`,
    status: 422,
  },
  {
    name: 'asking: 990 unknown members of a condition on groups',
    line: 'QUERY /api/v2/products/aggregate',
    headers: json,
    body: round => `{"having":{${times(990, n => `"cuont${n}":${round}`)}}}`,
    status: 422,
  },
  {
    name: 'asking: 1,250 unknown names of measures and keys',
    line: 'QUERY /api/v2/products/aggregate',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: round =>
      ['sum', 'avg', 'min', 'group', 'sort']
        .map(name => `${name}=${times(250, n => `prce${n}${round}`)}`)
        .join('&'),
    status: 422,
  },
  get('30 conditions', `products?${times(10, n => `price%5Bne%5D=${n}`, '&')}`, 422),
]

export const asking: readonly Shape[] = [...conditions, ...lists, ...addresses]
