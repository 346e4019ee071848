/** Peer: Fastify with mercurius, its JIT compiler and its batching loaders. Usage: mercurius.mjs FILE */
import Fastify from 'fastify'
import mercurius from 'mercurius'
import { createdAt, rootResolvers, typeDefs } from './schema.mjs'
import { openStore } from './store.mjs'

const store = openStore(process.argv[2])
const app = Fastify({ logger: false })

await app.register(mercurius, {
  schema: typeDefs,
  jit: 1,
  graphiql: false,
  resolvers: { Query: rootResolvers(store), Post: { createdAt } },
  loaders: {
    User: { posts: queries => childrenOf(queries, store.postsOf) },
    Post: {
      content: queries => contentsOf(queries),
      comments: queries => childrenOf(queries, store.commentsOf),
      author: queries => usersOf(queries),
    },
    Comment: { author: queries => usersOf(queries) },
  },
})

console.log(await app.listen({ host: '127.0.0.1', port: 0 }))

// One batch may hold calls with different limits: aliases of the same field.
async function childrenOf(queries, read) {
  const results = []
  for (const [limit, group] of Map.groupBy(queries.keys(), i => queries[i].params.limit)) {
    const lists = read([...new Set(group.map(i => queries[i].obj.id))], limit)
    for (const i of group) results[i] = lists.get(queries[i].obj.id)
  }
  return results
}

async function contentsOf(queries) {
  const contents = store.contentsOf(queries.map(query => query.obj.id))
  return queries.map(query => contents.get(query.obj.id))
}

async function usersOf(queries) {
  const users = store.usersIn([...new Set(queries.map(query => query.obj.authorId))])
  return queries.map(query => users.get(query.obj.authorId))
}
