/** The reading half of the contract's schema, and the resolvers that need no batching, for both GraphQL peers. */

export const typeDefs = /* GraphQL */ `
  type User { id: ID!, name: String!, email: String!, age: Int, posts(limit: Int, offset: Int): [Post!]! }
  type Post {
    id: ID!, title: String!, content: String!, author: User!, createdAt: String!
    comments(limit: Int, offset: Int): [Comment!]!
  }
  type Comment { id: ID!, text: String!, author: User! }
  type Query {
    user(id: ID!): User
    users(limit: Int, offset: Int): [User!]!
    post(id: ID!): Post
    posts(limit: Int, offset: Int): [Post!]!
  }
`

export const rootResolvers = store => ({
  user: (_, { id }) => store.user(Number(id)),
  users: (_, { limit, offset }) => store.users(limit, offset),
  post: (_, { id }) => store.post(Number(id)),
  posts: (_, { limit, offset }) => store.posts(limit, offset),
})

export const createdAt = post => new Date(post.createdAt).toISOString()
