/** Peer: graphql-yoga with DataLoader. Usage: yoga.mjs FILE */
import { createServer } from 'node:http'
import DataLoader from 'dataloader'
import { createSchema, createYoga } from 'graphql-yoga'
import { createdAt, rootResolvers, typeDefs } from './schema.mjs'
import { openStore } from './store.mjs'

const store = openStore(process.argv[2])

const yoga = createYoga({
  schema: createSchema({
    typeDefs,
    resolvers: {
      Query: rootResolvers(store),
      User: { posts: (user, { limit }, context) => context.postsOf(limit).load(user.id) },
      Post: {
        createdAt,
        content: (post, _, context) => context.content.load(post.id),
        author: (post, _, context) => context.user.load(post.authorId),
        comments: (post, { limit }, context) => context.commentsOf(limit).load(post.id),
      },
      Comment: { author: (comment, _, context) => context.user.load(comment.authorId) },
    },
  }),
  context: loaders,
  logging: false,
  graphiql: false,
  landingPage: false,
  multipart: false,
  cors: false,
})

const server = createServer(yoga)
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))

/** New for each request, as DataLoader asks; a list field has one loader for each limit in use. */
function loaders() {
  return {
    user: loader(ids => store.usersIn(ids)),
    content: loader(ids => store.contentsOf(ids)),
    postsOf: perLimit(limit => loader(ids => store.postsOf(ids, limit))),
    commentsOf: perLimit(limit => loader(ids => store.commentsOf(ids, limit))),
  }
}

function loader(read) {
  return new DataLoader(async ids => {
    const found = read(ids)
    return ids.map(id => found.get(id))
  })
}

function perLimit(make) {
  const made = new Map()
  return limit => {
    if (!made.has(limit)) made.set(limit, make(limit))
    return made.get(limit)
  }
}
