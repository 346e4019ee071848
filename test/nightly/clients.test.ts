/** Clients of the GraphQL API as front ends have them, by npm from its registry: Relay's compiler, and typed documents. Both against the recipes of examples/. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { folderOf, plain, serve } from '../duet.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const config = ['--config', join(root, 'examples/recipes/duet.config.ts')]
const folder = mkdtempSync(join(tmpdir(), 'duet-clients-'))
after(() => rmSync(folder, { recursive: true }))

const packages = [
  'relay-compiler@21.0.1',
  '@graphql-codegen/cli@7.4.3',
  '@graphql-codegen/client-preset@6.2.0',
  'graphql@16.15.0',
  'typescript@5.9.3',
]

const write = (name: string, text: string): void => {
  const file = join(folder, name)
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, text)
}

/** Runs a program of the packages; gives whether it ended well, and what it said. */
const run = (program: string, ...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: folder,
    env: plain,
    encoding: 'utf8',
  })
  return { isWell: status === 0, said: `${stdout}${stderr}` }
}

before(() => {
  write('package.json', '{"private":true,"type":"module"}')
  const installed = run(
    'npm',
    'install',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    ...packages,
  )
  assert.ok(installed.isWell, installed.said)
  const { stdout } = spawnSync(process.execPath, [join(root, 'bin/duet'), 'schema', ...config], {
    env: plain,
    encoding: 'utf8',
  })
  write('schema.graphql', stdout)
})

/** A list that goes on by pages at the root, with lists that do so below each of its rows. */
const lists = `import { graphql } from 'relay-runtime'

export const atRoot = graphql\`
  fragment lists_recipes on Query
  @argumentDefinitions(count: { type: "Int", defaultValue: 10 }, cursor: { type: "String" })
  @refetchable(queryName: "listsRecipesPage") {
    recipesConnection(
      first: $count, after: $cursor, where: { status: { eq: published } }, orderBy: [{ rating: DESC }]
    ) @connection(key: "lists_recipesConnection") {
      edges { node { id title ...lists_recipe } }
      totalCount
    }
  }
\`
export const below = graphql\`
  fragment lists_recipe on Recipe
  @argumentDefinitions(reviews: { type: "Int", defaultValue: 3 }, cursor: { type: "String" }) {
    reviewsConnection(first: $reviews, after: $cursor, where: { stars: { gte: 4 } })
      @connection(key: "lists_reviewsConnection") {
      edges { node { id stars text } }
    }
    tagsConnection(last: 5) @connection(key: "lists_tagsConnection") { edges { node { slug } } }
  }
\`
export const page = graphql\`
  query listsQuery($count: Int!, $cursor: String) {
    ...lists_recipes @arguments(count: $count, cursor: $cursor)
  }
\`
`

test('fragments with @connection, at the root and below rows, compile with Relay, and what it makes of them is answered', async () => {
  write('relay/lists.ts', lists)
  mkdirSync(join(folder, 'made'))
  const options = { src: 'relay', schema: 'schema.graphql', language: 'typescript' }
  write('relay.config.json', JSON.stringify({ ...options, artifactDirectory: 'made' }))
  const compiler = join(folder, 'node_modules/.bin/relay-compiler')
  const compiled = run(compiler)
  assert.ok(compiled.isWell, compiled.said)
  const made = readFileSync(join(folder, 'made/listsQuery.graphql.ts'), 'utf8')
  const [, text = ''] = /"text": ("(?:[^"\\]|\\.)*")/.exec(made) ?? []
  assert.match(text, /pageInfo/)
  const tokens = { DUET_AUTH_ISSUER: 'https://login.example.org/', DUET_AUTH_AUDIENCE: 'recipes' }
  const service = await serve({ ...folderOf('relay').fresh().settings, ...tokens }, ...config)
  const answer = await fetch(`${service.url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: JSON.parse(text), variables: { count: 2 } }),
  })
  const { data, errors } = (await answer.json()) as {
    data: { recipesConnection: { pageInfo: object } }
    errors?: unknown
  }
  assert.equal(errors, undefined)
  assert.deepEqual(Object.keys(data.recipesConnection.pageInfo), ['endCursor', 'hasNextPage'])
  await service.end()
  // Relay says so itself where a schema has no such connection.
  for (const [from, to] of [
    ['tagsConnection(last: 5)', 'tags(limit: 5)'],
    ['node { slug }', 'node { slugs }'],
    ['stars: { gte: 4 }', 'stars: { gteq: 4 }'],
  ] as const) {
    write('relay/lists.ts', lists.replace(from, to))
    assert.equal(run(compiler).isWell, false, to)
  }
})

const program = `import { graphql } from './made/gql.js'
import type { RecipesQuery, RecipesQueryVariables } from './made/graphql.js'

export const recipes = graphql(\`
  query Recipes($where: RecipeWhere, $orderBy: [RecipeOrder!], $after: String) {
    recipesConnection(first: 2, after: $after, where: $where, orderBy: $orderBy) {
      edges { node { title rating createdAt reviewsConnection(first: 2) { totalCount } } }
      pageInfo { endCursor }
    }
  }
\`)
export const variables: RecipesQueryVariables = {
  where: {
    rating: { gte: 4 },
    createdAt: { lt: '2026-02-01T00:00:00.000Z' },
    or: [{ status: { in: ['published'] } }, { tags: { some: { slug: { eq: 'vegan' } } } }],
  },
  orderBy: [{ rating: 'DESC' }, { cook: { name: 'ASC' } }],
}
export const titles = ({ recipesConnection: { edges } }: RecipesQuery) =>
  edges.map(({ node }) => [node.title, node.rating, node.reviewsConnection.totalCount])
`

/** What is misspelt or of a wrong kind in the program. */
const typed: readonly (readonly [right: string, wrong: string])[] = [
  ["{ rating: 'DESC' }", "{ ratings: 'DESC' }"],
  ["{ rating: 'DESC' }", "{ rating: 'DOWN' }"],
  ["{ rating: 'DESC' }", "{ rating: 'DESC', title: 'ASC' }"],
  ["{ name: 'ASC' }", "{ nam: 'ASC' }"],
  ['{ gte: 4 }', '{ gteq: 4 }'],
  ['{ gte: 4 }', "{ gte: 'four' }"],
  ['rating: { gte', 'ratings: { gte'],
  ["['published']", "['publishd']"],
  ["{ lt: '2026-02-01T00:00:00.000Z' }", '{ lt: 5 }'],
  ['{ some: {', '{ any: {'],
  ['node.title', 'node.titel'],
  ['node.reviewsConnection.totalCount', 'node.reviewsConnection.total'],
]

test('with documents that are typed no typo in a condition, an order or a field compiles', () => {
  const options = {
    schema: 'schema.graphql',
    documents: 'typed/right.ts',
    generates: {
      'typed/made/': {
        preset: 'client',
        config: {
          documentMode: 'string',
          useTypeImports: true,
          scalars: { ID: 'string', Date: 'string', DateTime: 'string' },
        },
      },
    },
  }
  write('codegen.json', JSON.stringify(options))
  write('typed/right.ts', program)
  const codegen = join(folder, 'node_modules/.bin/graphql-codegen')
  const made = run(codegen, '--config', 'codegen.json')
  assert.ok(made.isWell, made.said)
  for (const [at, [from, to]] of typed.entries()) {
    assert.ok(program.includes(from), from)
    write(`typed/wrong${at}.ts`, program.replace(from, to))
  }
  const files = readdirSync(join(folder, 'typed')).filter(name => name.endsWith('.ts'))
  const { said } = run(
    join(folder, 'node_modules/.bin/tsc'),
    ...'--noEmit --strict --module nodenext --target esnext --skipLibCheck'.split(' '),
    ...files.map(name => join('typed', name)),
  )
  const complaints = (name: string) =>
    said.split('\n').filter(line => line.startsWith(`typed/${name}`))
  assert.deepEqual(complaints('right.ts'), [])
  for (const [at, [, to]] of typed.entries())
    assert.ok(complaints(`wrong${at}.ts`).length > 0, `${to} compiles`)
  // A field that is not there is found when the documents are.
  write('typed/right.ts', program.replace('endCursor', 'lastCursor'))
  assert.equal(run(codegen, '--config', 'codegen.json').isWell, false)
})
