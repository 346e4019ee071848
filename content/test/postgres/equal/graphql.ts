/** Generated GraphQL requests: queries of every form, and mutations with good and bad inputs. */
import { deriveSchema } from '#graphql/schema.ts'
import { type Draw, documentOf, vocabularyOf } from '#test/operations.ts'
import { emailOf, names, odd, viewerOf } from '#test/support/drawn-values.ts'
import { usualModel } from '../../world.ts'
import type { Asked, Memory } from './memory.ts'

const vocabulary = vocabularyOf(deriveSchema(usualModel).schema)

type Make = (draw: Draw, memory: Memory) => Asked

const posted = (draw: Draw, kind: string, body: unknown, key?: string): Asked => ({
  kind,
  line: 'POST /graphql',
  as: viewerOf(draw),
  headers: {
    'Content-Type': 'application/json',
    Accept: draw.of('application/json', 'application/json', 'application/graphql-response+json'),
    ...(key !== undefined && { 'Idempotency-Key': key }),
  },
  body: JSON.stringify(body),
})

const query: Make = (draw, memory) => {
  const { chance, of, upTo } = draw
  const shape = { ids: memory.highest.posts, levels: 3, width: 3, whole: chance(15) }
  const operation = documentOf(draw, shape, vocabulary)
  if (chance(4)) operation.query = operation.query.slice(0, upTo(operation.query.length))
  if (chance(4)) operation.variables = { ...operation.variables, i0: odd(draw), n0: odd(draw) }
  if (!chance(8)) return posted(draw, 'graphql query', operation)
  const parameters = new URLSearchParams({
    query: operation.query,
    variables: JSON.stringify(operation.variables),
  })
  const line = `GET /graphql?${parameters}`
  if (line.length > 4000) return posted(draw, 'graphql query', operation)
  return {
    kind: 'graphql GET',
    line,
    as: viewerOf(draw),
    headers: { Accept: of('application/json', '*/*') },
  }
}

/** One field of a mutation, with its input as a variable. */
const fieldOf = (draw: Draw, { highest }: Memory, n: number) => {
  const { of, chance, upTo } = draw
  const { users } = highest
  const id = () =>
    of<unknown>(
      upTo(users, 2),
      String(upTo(users, 2)),
      upTo(users + 9, 30),
      '0',
      'abc',
      '9223372036854775808',
    )
  const user = {
    ...(chance(80) && { name: of(...names) }),
    ...(chance(80) && { email: emailOf(draw) }),
    ...(chance(40) && { age: of<unknown>(null, 0, 28, 150, 151, 2 ** 31) }),
    ...(chance(8) && { [of('name', 'email', 'age')]: odd(draw) }),
  }
  const picked = of(
    '{ id name }',
    '{ id name email age posts(limit: 2) { id title } }',
    '{ __typename }',
  )
  const post = {
    title: of(...names),
    content: of(...names, 'a\0b'),
    authorId: of<unknown>(2, 3, id()),
  }
  return of(
    {
      head: `$v${n}: CreateUserInput!`,
      field: `createUser(input: $v${n}) ${picked}`,
      value: { name: 'x', email: emailOf(draw), ...user },
    },
    {
      head: `$v${n}: UpdateUserInput!`,
      field: `updateUser(id: ${JSON.stringify(id())}, input: $v${n}) ${picked}`,
      value: user,
    },
    {
      head: `$v${n}: CreatePostInput!`,
      field: `createPost(input: $v${n}) { id title createdAt author { id posts(limit: 1) { id } } }`,
      value: post,
    },
    {
      head: `$v${n}: ID!`,
      field: `deleteUser(id: $v${n})`,
      value: chance(85) ? upTo(users + 40, users + 1) : id(),
    },
  )
}

const mutation: Make = (draw, memory) => {
  const fields = Array.from({ length: draw.of(1, 1, 2, 3) }, (_, n) => fieldOf(draw, memory, n))
  const body = {
    query: `mutation (${fields.map(({ head }) => head)}) { ${fields.map(({ field }, n) => `f${n}: ${field}`).join(' ')} }`,
    variables: Object.fromEntries(fields.map(({ value }, n) => [`v${n}`, value])),
  }
  const key = draw.chance(25) ? `gql-${memory.now}` : undefined
  return posted(draw, 'graphql mutation', body, key)
}

export const graphqlReads: readonly (readonly [number, Make])[] = [[16, query]]
export const graphqlWrites: readonly (readonly [number, Make])[] = [[9, mutation]]
