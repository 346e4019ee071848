/** What is asked of whom, and what must come out: the table of the issue as data. */
import { idOf } from './lib/pocketbase.mjs'

const tree = ({ offset }) => `{
  users(limit: 10, offset: ${offset}) {
    id name
    posts(limit: 5) {
      id title createdAt
      comments(limit: 4) { id text author { id name } }
    }
  }
}`

const get = path => ({ method: 'GET', path })
const graphql = (query, variables) => ({
  method: 'POST',
  path: '/graphql',
  body: JSON.stringify({ query, variables }),
})

const readUser = facts => get(`/api/users/${facts.userId}`)
const readTree = facts => graphql(tree(facts))

// What PocketBase is asked instead, and its answer turned into Duet's, as far as it has the same.
const records = (collection, query) =>
  get(`/api/collections/${collection}/records?${new URLSearchParams(query)}`)
const newest = (limit, records = []) =>
  records.toSorted((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit)
const plainId = id => String(Number(id))
const time = text => text.replace(' ', 'T')

const byPocketbase = {
  user: {
    ask: ({ userId }) => get(`/api/collections/users/records/${idOf(userId)}`),
    read: (
      { id, name, email, age, role, status, emailVerified, created },
      { _links, ...user },
    ) => ({
      id: Number(id),
      name,
      email,
      age: user.age === null && age === 0 ? null : age,
      role,
      status,
      emailVerified,
      createdAt: time(created),
      _links,
    }),
  },
  products: {
    ask: ({ category }) =>
      records('products', { filter: `category = "${category}"`, sort: 'price', perPage: 20 }),
    read: ({ items, totalItems, totalPages }, { pagination }) => ({
      data: items.map(({ id, name, category, price, stock, image, created }) => ({
        id: Number(id),
        name,
        category,
        price,
        stock,
        image: image || null,
        created_at: time(created),
      })),
      pagination: { ...pagination, total: totalItems, totalPages },
    }),
  },
  // It knows no limit for what is nested, so it answers with all posts and comments of the ten.
  // One takes a fifth of a second, so ten after another are a measurement.
  tree: {
    requests: 10,
    ask: ({ shown }) =>
      records('users', {
        filter: `id >= "${idOf(shown.users[0])}"`,
        sort: 'id',
        perPage: 10,
        skipTotal: 1,
        expand: 'posts_via_author.comments_via_post.author',
      }),
    read: ({ items }) => ({
      data: {
        users: items.map(user => ({
          id: plainId(user.id),
          name: user.name,
          posts: newest(5, user.expand?.posts_via_author).map(post => ({
            id: plainId(post.id),
            title: post.title,
            createdAt: time(post.created),
            comments: newest(4, post.expand?.comments_via_post).map(comment => ({
              id: plainId(comment.id),
              text: comment.text,
              author: { id: plainId(comment.expand.author.id), name: comment.expand.author.name },
            })),
          })),
        })),
      },
    }),
  },
}

const productsOf = version => facts =>
  get(`/api${version}/products?category=${encodeURIComponent(facts.category)}&sort=price`)

/**
 * `ask` makes the request from facts about the data. `beside` names what Duet is measured with:
 * `plain`, a GraphQL peer, Duet on the store with a thousandth of the rows, or Duet asked otherwise:
 * by REST, or in the newest version of the REST API; or the same by hand with Fastify, or PocketBase, which is asked otherwise and
 * whose answer `read` turns into Duet's. Duet reads each answer anew unless it is `cached`; where the answer is
 * `unchanged`, all are asked with its ETag and answer 304. `share`: where
 * requests are counted, so many of them are enough.
 */
export const workloads = [
  {
    name: 'user',
    title: 'GET one user',
    ask: readUser,
    beside: ['plain', 'fastify', 'pocketbase'],
    pocketbase: byPocketbase.user,
  },
  {
    name: 'product',
    title: 'GET one product',
    ask: facts => get(`/api/products/${facts.productId}`),
    beside: ['plain', 'newest'],
    newest: facts => get(`/api/v2/products/${facts.productId}`),
  },
  {
    name: 'products',
    title: 'GET 20 products, by category, sorted by price',
    ask: productsOf(''),
    beside: ['plain', 'newest', 'fastify', 'pocketbase'],
    newest: productsOf('/v2'),
    pocketbase: byPocketbase.products,
  },
  {
    name: 'products-again',
    title: 'the same 20 products, cached',
    ask: productsOf(''),
    beside: ['plain'],
    cached: true,
  },
  {
    name: 'products-unchanged',
    title: 'the same 20 products, cached, answered 304',
    ask: productsOf(''),
    beside: ['plain'],
    cached: true,
    unchanged: true,
  },
  {
    name: 'graphql-user',
    title: 'GraphQL user(id) { id name email }',
    ask: facts =>
      graphql('query($id: ID!) { user(id: $id) { id name email } }', { id: String(facts.userId) }),
    beside: ['rest', 'mercurius', 'yoga'],
    rest: readUser,
  },
  {
    name: 'graphql-tree',
    share: 1 / 15,
    title: 'GraphQL 10 users × 5 posts × 4 comments × author',
    ask: readTree,
    beside: ['plain', 'mercurius', 'yoga', 'pocketbase'],
    pocketbase: byPocketbase.tree,
  },
  {
    name: 'graphql-tree-again',
    title: 'the same nested answer, cached',
    ask: readTree,
    beside: ['plain'],
    cached: true,
  },
  {
    name: 'graphql-rows',
    share: 1 / 15,
    title: 'the same with 1,000 times as many rows',
    ask: readTree,
    beside: ['few'],
  },
]

/** What an EPYC with two cores is to reach: `least` is how much faster Duet is than the other, `most` the time of one request through the other's. */
export const targets = [
  { workload: 'user', beside: 'plain', least: 0.75 },
  { workload: 'product', beside: 'plain', least: 0.8 },
  { workload: 'products', beside: 'plain', least: 0.35 },
  // Of Fastify by hand Duet takes a third of the time at most, of PocketBase a fifth.
  { workload: 'user', beside: 'fastify', least: 3 },
  { workload: 'products', beside: 'fastify', least: 3 },
  { workload: 'user', beside: 'pocketbase', least: 5 },
  { workload: 'products', beside: 'pocketbase', least: 5 },
  { workload: 'graphql-tree', beside: 'pocketbase', least: 5 },
  { workload: 'products-again', beside: 'plain', least: 0.65 },
  { workload: 'products-unchanged', beside: 'plain', least: 0.6 },
  // An older version costs at most 1.03 times as much as the newest.
  { workload: 'product', beside: 'newest', least: 0.97 },
  { workload: 'products', beside: 'newest', least: 0.97 },
  { workload: 'graphql-user', beside: 'rest', least: 0.95 },
  { workload: 'graphql-user', beside: 'mercurius', least: 1.3 },
  { workload: 'graphql-tree', beside: 'yoga', least: 4 },
  { workload: 'graphql-tree', beside: 'mercurius', least: 3 },
  { workload: 'graphql-tree-again', beside: 'plain', least: 0.5 },
  { workload: 'graphql-rows', beside: 'few', most: 1.2 },
]

/** Of the nested read's p99 through its p50. */
export const evenWithin = 3

// The nested operation of the run on PostgreSQL: without the ids that PostGraphile would not be asked for.
const names = ({ offset }) => `{
  users(limit: 10, offset: ${offset}) {
    id name
    posts(limit: 5) { title comments(limit: 4) { text author { name } } }
  }
}`

const namesByPostgraphile = ({ offset }) => `{
  users: allUsers(first: 10, offset: ${offset}, orderBy: PRIMARY_KEY_ASC) {
    nodes {
      id: rowId name
      posts: postsByAuthorId(first: 5, orderBy: PRIMARY_KEY_DESC) {
        nodes {
          title
          comments: commentsByPostId(first: 4, orderBy: PRIMARY_KEY_DESC) {
            nodes { text author: userByAuthorId { name } }
          }
        }
      }
    }
  }
}`

// The same list filtered on each level, once across a relation, and ordered by an index.
const fitting = ({ since }) => `{
  users(where: { age: { gte: 30, lt: 60 } }, orderBy: [{ name: ASC }], limit: 10) {
    id name
    posts(where: { createdAt: { gte: ${JSON.stringify(new Date(since).toISOString())} } }, limit: 5) {
      title
      comments(where: { author: { age: { lt: 50 } } }, limit: 4) { text author { name } }
    }
  }
}`

const fittingByPostgraphile = ({ since }) => `{
  users: allUsers(
    filter: { age: { greaterThanOrEqualTo: "30", lessThan: "60" } }, orderBy: [NAME_ASC, PRIMARY_KEY_ASC], first: 10
  ) {
    nodes {
      id: rowId name
      posts: postsByAuthorId(
        filter: { createdAt: { greaterThanOrEqualTo: "${since}" } }, first: 5, orderBy: PRIMARY_KEY_DESC
      ) {
        nodes {
          title
          comments: commentsByPostId(
            filter: { userByAuthorId: { age: { lessThan: "50" } } }, first: 4, orderBy: PRIMARY_KEY_DESC
          ) {
            nodes { text author: userByAuthorId { name } }
          }
        }
      }
    }
  }
}`

/**
 * What is asked in the run on PostgreSQL: of Duet by `ask`, of PostGraphile in its own names by `postgraphile`, and
 * of the driver alone by `driver`, whose one row `read` turns into what Duet answers.
 */
export const postgresWorkloads = [
  {
    name: 'graphql-tree',
    title: 'GraphQL 10 users × 5 posts × 4 comments × author',
    ask: facts => graphql(names(facts)),
    postgraphile: facts => graphql(namesByPostgraphile(facts)),
    driver: ({ offset }) => ({
      job: 'statement',
      values: [offset],
      read: ([text]) => ({ data: JSON.parse(text) }),
    }),
  },
  {
    name: 'graphql-where',
    title: 'GraphQL 10 users × 5 posts × 4 comments × author, filtered and ordered',
    ask: facts => graphql(fitting(facts)),
    postgraphile: facts => graphql(fittingByPostgraphile(facts)),
  },
  {
    name: 'graphql-user',
    title: 'GraphQL user(id) { id name email }',
    ask: facts =>
      graphql('query($id: ID!) { user(id: $id) { id name email } }', { id: String(facts.userId) }),
    postgraphile: facts =>
      graphql('query($id: BigInt!) { user: userByRowId(rowId: $id) { id: rowId name email } }', {
        id: String(facts.userId),
      }),
  },
  {
    name: 'user',
    title: 'GET one user',
    ask: readUser,
    driver: ({ userId }) => ({
      job: 'lookup',
      values: [userId],
      // The row has more than the answer shows, and no links: that it is the same user is enough.
      read: ([id, name, email], user) => ({ ...user, id: like(user.id, id), name, email }),
    }),
  },
]

const like = (shown, id) => (typeof shown === 'number' ? Number(id) : String(id))

export const postgresTargets = [
  { workload: 'graphql-tree', beside: 'postgraphile', least: 4.5 },
  { workload: 'graphql-tree', beside: 'statement', least: 1.3 },
  { workload: 'graphql-where', beside: 'postgraphile', least: 1 },
  { workload: 'graphql-user', beside: 'postgraphile', least: 4 },
  { workload: 'user', beside: 'lookup', least: 0.65 },
]

/** Of the reads' p99 while orders are written through their p99 when nothing is. */
export const readsWithin = 2

export const startWithin = 350 // milliseconds
export const memoryWithin = 170 * 2 ** 20
