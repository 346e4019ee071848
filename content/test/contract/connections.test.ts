/** Connections: the rules of Relay's Cursor Connections specification, on the schema and on answers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type GraphQLNamedType,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
} from 'graphql'
import { codeOf, dataOf, errorOf } from '#content/test/graphql.ts'
import { createWorld, forAllTests, usualModel } from '#content/test/world.ts'
import { deriveSchema } from '#graphql/schema.ts'
import { pluck } from '#test/asking.ts'

const user = Array.from({ length: 5 }, (_, n) => ({
  name: ['Ed', 'Ada', 'Cy', 'Ada', 'Bo'][n] ?? '',
  email: `u${n}@example.org`,
  age: n % 2 === 0 ? 30 + n : null,
}))
const post = Array.from({ length: 7 }, (_, n) => ({
  authorId: (n % 3) + 1,
  title: `P${n % 2}`,
  content: 'text',
}))

const world = forAllTests(() => createWorld({ rows: { user, post } }))

test('each connection of the schema has what the specification asks of it', () => {
  const { schema } = deriveSchema(usualModel)
  const fieldsOf = (type: GraphQLNamedType | undefined) => {
    assert.ok(isObjectType(type))
    return Object.fromEntries(
      Object.entries(type.getFields()).map(([name, { type }]) => [name, String(type)]),
    )
  }
  const query = schema.getQueryType()?.getFields() ?? {}
  const connections = Object.values(query).filter(({ name }) => name.endsWith('Connection'))
  assert.deepEqual(pluck(connections, 'name'), ['usersConnection', 'postsConnection'])
  for (const { type, args } of connections) {
    // Section 2: its name ends so, it has edges in a list, and information on its page that is never null.
    const connection = getNamedType(type)
    assert.match(connection.name, /Connection$/)
    assert.ok(isObjectType(connection))
    const { edges, pageInfo } = connection.getFields()
    assert.ok(edges && isListType(getNullableType(edges.type)))
    assert.equal(String(pageInfo?.type), 'PageInfo!')
    // Section 3: an edge has a node, which is no list, and a cursor that is written as a text.
    const node = connection.name.replace('Connection', '')
    assert.deepEqual(fieldsOf(getNamedType(edges.type)), { cursor: 'String!', node: `${node}!` })
    // Section 4: the arguments of both directions.
    const given = Object.fromEntries(args.map(({ name, type }) => [name, String(type)]))
    const { orderBy: _, where, ...page } = given
    assert.equal(where, `${node}Where`)
    assert.deepEqual(page, { first: 'Int', after: 'String', last: 'Int', before: 'String' })
  }
  // Section 5.
  assert.deepEqual(fieldsOf(schema.getType('PageInfo')), {
    hasNextPage: 'Boolean!',
    hasPreviousPage: 'Boolean!',
    startCursor: 'String',
    endCursor: 'String',
  })
})

/** What relay-compiler 21.0.1 makes of a fragment with @connection and @refetchable, by the schema of this service. */
const compiled = `query AppPaginationQuery($count: Int = 10, $cursor: String, $order: [PostOrder!]) {
  ...App_posts_2kH0K8
}

fragment App_posts_2kH0K8 on Query {
  postsConnection(first: $count, after: $cursor, orderBy: $order) {
    totalCount
    edges { node { id title author { name id } __typename } cursor }
    pageInfo { endCursor hasNextPage }
  }
}`

test('what the compiler of Relay makes of a fragment walks through the list', async () => {
  const order = [{ title: 'DESC' }, { author: { name: 'ASC' } }]
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const variables: Record<string, unknown> = { count: 3, cursor, order }
    const { postsConnection } = dataOf(await world.gql(compiled, { variables }))
    const { edges, pageInfo, totalCount } = postsConnection
    assert.equal(totalCount, post.length)
    for (const { node } of edges) seen.push(`${node.title} ${node.author.name} ${node.id}`)
    cursor = pageInfo.hasNextPage ? pageInfo.endCursor : null
  } while (cursor !== null)
  assert.deepEqual(seen, [
    'P1 Ada 2',
    'P1 Cy 6',
    'P1 Ed 4',
    'P0 Ada 5',
    'P0 Cy 3',
    'P0 Ed 1',
    'P0 Ed 7',
  ])
})

test('each member of a connection may be selected several times, under other names', async () => {
  const { c } = dataOf(
    await world.gql(
      `{ c: usersConnection(last: 2, orderBy: [{ age: DESC }]) {
           __typename all: edges { at: cursor one: node { id } other: node { name } __typename }
           ids: edges { node { id } } page: pageInfo { from: startCursor __typename } to: pageInfo { endCursor } n: totalCount } }`,
      { as: 1 },
    ),
  )
  const [first, second] = c.all
  assert.deepEqual(c, {
    __typename: 'UserConnection',
    all: [
      { at: first.at, one: { id: '2' }, other: { name: 'Ada' }, __typename: 'UserEdge' },
      { at: second.at, one: { id: '4' }, other: { name: 'Ada' }, __typename: 'UserEdge' },
    ],
    ids: [{ node: { id: '2' } }, { node: { id: '4' } }],
    page: { from: first.at, __typename: 'PageInfo' },
    to: { endCursor: second.at },
    n: 5,
  })
})

test('a page may be empty, and one that asks for too much has a hundred at the most', async () => {
  const page = async (given: string) =>
    dataOf(
      await world.gql(
        `{ postsConnection(${given}) { edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor } } }`,
      ),
    ).postsConnection
  assert.deepEqual(await page('first: 0'), {
    edges: [],
    pageInfo: { hasNextPage: true, hasPreviousPage: false, startCursor: null },
  })
  assert.equal((await page('first: 1000')).edges.length, 7)
  const { edges } = await page('last: 1')
  const { pageInfo } = await page(`first: 1, after: "${edges[0].cursor}"`)
  assert.deepEqual(pageInfo, { hasNextPage: false, hasPreviousPage: true, startCursor: null })
})

test('nobody orders by what they may not read, and is told where it stands', async () => {
  for (const order of ['{ author: { email: ASC } }', '{ author: { age: ASC } }']) {
    for (const field of ['posts', 'postsConnection']) {
      const below = field === 'posts' ? '{ id }' : '{ totalCount }'
      const query = `{ ${field}(orderBy: [${order}]) ${below} }`
      const refused = await world.gql(query)
      assert.equal(codeOf(refused), 'UNAUTHENTICATED', query)
      assert.match(errorOf(refused).message, /sort posts by author\.(email|age)/)
      assert.deepEqual(refused.json.errors[0].path, [field])
      assert.ok(field in dataOf(await world.gql(query, { as: 2 })), query)
    }
  }
})

test('variables in an order decide it, each time anew', async () => {
  const query = 'query($way: SortDirection = ASC) { posts(orderBy: [{ title: $way }]) { id } }'
  const ids = async (variables: object) =>
    dataOf(await world.gql(query, { variables })).posts.map(({ id }: { id: string }) => Number(id))
  for (let round = 0; round < 2; round++) {
    assert.deepEqual(await ids({}), [1, 3, 5, 7, 2, 4, 6])
    assert.deepEqual(await ids({ way: 'DESC' }), [2, 4, 6, 1, 3, 5, 7])
  }
  const none = await world.gql(
    'query($way: SortDirection!) { posts(orderBy: [{ title: $way }]) { id } }',
    { variables: {} },
  )
  assert.equal(codeOf(none), 'BAD_USER_INPUT')
})
