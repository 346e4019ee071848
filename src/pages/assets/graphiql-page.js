// Starts GraphiQL in its place on the page; it is a file, since the page's policy allows no inline script.

const place = document.getElementById('graphiql')
const { React, ReactDOM, GraphiQL } = window
const { endpoint, introspection } = place.dataset

const tabs = [
  {
    query: `# Ctrl+Enter runs the operation at the cursor.
# Ctrl+Space completes names.
# The book at the left shows the schema.
#
# Posts are for everybody. What needs a token
# takes it from the "Headers" pane below:
#
#   {"Authorization": "Bearer ..."}

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
    query: `# Users are shown to those who send a token:
# put yours into the "Headers" pane below.

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
    headers: '{\n  "Authorization": "Bearer "\n}',
  },
  {
    query: `# This writes: see the new user at /api/users.

mutation SignUp($input: CreateUserInput!) {
  createUser(input: $input) {
    id
    name
    email
  }
}
`,
    variables: '{\n  "input": {\n    "name": "Ada",\n    "email": "ada@example.org"\n  }\n}',
  },
]

const home = React.createElement('a', { className: 'duet-home', href: '/' }, 'Duet')

ReactDOM.createRoot(place).render(
  React.createElement(
    GraphiQL,
    {
      // The service answers in one piece, so GraphiQL need not offer to read a stream of parts.
      fetcher: GraphiQL.createFetcher({
        url: endpoint,
        headers: { Accept: 'application/json' },
        enableIncrementalDelivery: false,
      }),
      // Null keeps GraphiQL from asking for a schema that would be refused.
      schema: introspection === 'on' ? undefined : null,
      defaultTabs: tabs,
      defaultEditorToolsVisibility: 'headers',
    },
    React.createElement(GraphiQL.Logo, null, home),
  ),
)
