/** Example requests: on the start page, in GraphiQL, and at the start of a development server. */
import type { Examples } from 'duet'

const tabs = [
  {
    query: `# Ctrl+Enter runs the operation.
# Ctrl+Space completes names.
# The book at the left is the schema.
#
# Posts are for everybody. Where a token
# is needed, put it into its field above.

query LatestPosts {
  posts(limit: 5) {
    id
    title
    createdAt
    author {
      id
      name
    }
    comments(limit: 3) {
      text
      author {
        name
      }
    }
  }
}
`,
  },
  {
    query: `# Users are for those who send a token:
# put one into its field above.
# This makes one:
#
#   bin/duet token --user 1

query Users($limit: Int = 10, $offset: Int = 0) {
  users(limit: $limit, offset: $offset) {
    id
    name
    email
    posts(limit: 3) {
      title
    }
  }
}
`,
    variables: '{\n  "limit": 10\n}',
  },
  {
    query: `# This writes: it signs a user up.

mutation SignUp($input: CreateUserInput!) {
  createUser(input: $input) {
    id
    name
    email
  }
}
`,
    variables: '{\n  "input": {\n    "name": "Noor",\n    "email": "noor@example.org"\n  }\n}',
  },
]

export const examples: Examples = {
  graphql: '{ posts(limit: 3) { id title } }',
  rest: '/products?sort=-price',
  withToken: {
    graphql:
      '{ users(limit: 3) { id name posts(limit: 2) { title comments { text author { name } } } } }',
    rest: '/users',
  },
  tabs,
  inputs: { user: { name: 'Noor Haddad', email: 'noor@example.org', age: 34 } },
  rows: {
    customer: [{ name: 'Ada Okafor', email: 'ada@example.org' }],
    order: [{ status: 'pending', amount: 159.8, currency: 'USD', customerId: 1 }],
    orderItem: [{ orderId: 1, productId: 1, name: 'Oak desk lamp', quantity: 2, price: 79.9 }],
  },
}
