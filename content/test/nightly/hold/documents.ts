/** Documents and variables of GraphQL: documents are bounded by 16 KiB and 1,000 tokens, variables by the body. */
import { lists } from './bodies.ts'
import { filled, json, type Shape, times } from './shape.ts'

const gql = (name: string, query: (round: number) => string, more: object = {}): Shape => ({
  name: `GraphQL: ${name}`,
  line: 'POST /graphql',
  headers: json,
  body: round => JSON.stringify({ query: `${query(round)} # ${round}`, ...more }),
  status: 200,
})

const mutation = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }'
const variables = (name: string, input: string): Shape => ({
  ...gql(name, () => mutation),
  body: () => `{"query":${JSON.stringify(mutation)},"variables":{"input":${input}}}`,
})

const inputs: readonly Shape[] = [
  variables(
    'variables with 1,000 members that nobody knows',
    `{${times(1000, n => `"m${n}":"${'x'.repeat(900)}"`)}}`,
  ),
  variables('variables with lists of 50,000 numbers', lists('1', 9990, 5)),
  variables(
    'a text that is 24,000 objects',
    `{"email":"a@example.org","name":${lists('{}', 6000, 4)}}`,
  ),
  variables(
    'a text of half a million escapes',
    filled('{"email":"a@example.org","name":"', '\\n', '"}', 1_000_000),
  ),
  variables('a long email', filled('{"name":"n","email":"', 'a.', '@"}', 1_000_000)),
  gql('a long operationName', () => '{ __typename }', { operationName: 'x'.repeat(1_000_000) }),
  gql(
    '20 mutations of 100,000 letters',
    round =>
      `mutation ($c: String!) { ${times(20, n => `a${n}: createPost(input: { authorId: 1, title: "t${round}", content: $c }) { id content }`, ' ')} }`,
    { variables: { c: 'é'.repeat(100_000) } },
  ),
  gql(
    '20 mutations that fail',
    round =>
      `mutation { ${times(20, n => `a${n}: updateUser(id: 99999999, input: { name: "${round}" }) { id }`, ' ')} }`,
  ),
]

const fragments = (count: number, type: string, body: (n: number) => string): string =>
  times(count, n => `fragment F${n} on ${type} { ${body(n)} }`, ' ')

const types =
  'types { name fields { name args { name type { name ofType { name } } } type { name ofType { name } } } }'

const documents: readonly Shape[] = [
  gql('a document of 1 MiB', () => `{ ${'a '.repeat(500_000)} }`),
  gql(
    '16 KiB of comments',
    round => `${'#\n'.repeat(99)}#${'x'.repeat(15_000)}${round}\n{ users { id } }`,
  ),
  gql(
    '470 brackets in an argument',
    round => `{ user(id: ${'['.repeat(470)}${round}${']'.repeat(470)}) { id } }`,
  ),
  gql(
    'a block string of 3,800 lines',
    round => `{ user(id: """${' \\n\n'.repeat(3800)}${round}""") { id } }`,
  ),
  gql('a name of 16,000 letters', round => `{ ${'u'.repeat(16_000)}${round} }`),
  gql('900 fields that nobody knows', round => `{ ${times(900, n => `usr${n}_${round}`, ' ')} }`),
  gql(
    '300 arguments that nobody knows',
    round => `{ user(id: 1, ${times(300, n => `lmit${n}: ${round}`)}) { id } }`,
  ),
  gql('140 fields to be merged', () => `{ ${times(140, () => 'posts { author { id } }', ' ')} }`),
  gql(
    '200 fields that conflict',
    () => `{ users { ${times(200, n => `x: ${['id', 'name', 'email', 'age'][n % 4]}`, ' ')} } }`,
  ),
  gql(
    'fragments that conflict pair by pair',
    () =>
      `{ ...F0 ...G0 } ${fragments(60, 'Query', n => `posts { id } ...F${n + 1}`)} fragment F60 on Query { a: users { id } } ${times(20, n => `fragment G${n} on Query { posts { title } ...G${n + 1} }`, ' ')} fragment G20 on Query { users { id } }`,
  ),
  gql(
    '60 fragments twice below one another',
    () =>
      `{ users { ...F0 } } ${fragments(60, 'User', n => `...F${n + 1} ...F${n + 1}`)} fragment F60 on User { name }`,
  ),
  gql(
    '80 fragments in a circle',
    () => `{ users { ...F0 } } ${fragments(80, 'User', n => `id ...F${(n + 1) % 80}`)}`,
  ),
  gql(
    '60 operations that share fragments',
    () =>
      `${times(40, n => `query Q${n}($v: Int) { ...F0 }`, ' ')} ${fragments(20, 'Query', n => `...F${n + 1}`)} fragment F20 on Query { users { id } }`,
    { operationName: 'Q0' },
  ),
  gql(
    '230 variables that nobody uses',
    () => `query (${times(230, n => `$v${n}: Int`)}) { users { id } }`,
  ),
  gql('300 directives that nobody knows', () => `{ users { id ${times(300, () => '@a', ' ')} } }`),
  gql(
    '320 inline fragments inside one another',
    () => `{ ${'... { '.repeat(320)} users { id } ${'}'.repeat(320)} }`,
  ),
  gql('14 introspections', () => `{ ${times(14, n => `a${n}: __schema { ${types} }`, ' ')} }`),
]

const answers: readonly Shape[] = [
  gql('83 posts of 100,000 characters', () => '{ posts(limit: 83) { id content } }'),
  gql(
    'two posts, 30 times their 100,000 characters',
    () => `{ posts(limit: 2) { ${times(30, n => `a${n}: content`, ' ')} } }`,
  ),
  gql(
    '100 posts, 29 times their title',
    round => `{ posts(limit: 100, offset: ${round}) { ${times(29, n => `a${n}: title`, ' ')} } }`,
  ),
  gql(
    '1,000 users in 10 lists',
    round =>
      `{ ${times(10, n => `a${n}: users(limit: 100, offset: ${n + round * 10}) { id name email age }`, ' ')} }`,
  ),
  gql(
    '10,000 objects',
    round =>
      `{ users(limit: 100, offset: ${round}) { id name email posts(limit: 20) { id title comments(limit: 4) { id text } } } }`,
  ),
]

export const operations: readonly Shape[] = [...inputs, ...documents, ...answers]
