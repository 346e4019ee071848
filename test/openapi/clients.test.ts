/** Typed clients of the REST API: what a front end asks the recipes of examples/ compiles, and no typo in it does. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openApiOf } from '#openapi/openapi.ts'
import { typesOf } from '#test/support/typed.ts'
import recipes from '../../examples/recipes/duet.config.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
// The compiler names files by where they really are, and the packages of a copy of the checkout may be a link.
const cache = join(realpathSync(join(root, 'node_modules')), '.cache')
mkdirSync(cache, { recursive: true })
// Below the packages, so that the compiler finds openapi-fetch.
const folder = mkdtempSync(join(cache, 'clients-'))
after(() => rmSync(folder, { recursive: true }))

const program = `import createClient from 'openapi-fetch'
import type { operations, paths } from './rest.ts'

const client = createClient<paths>({
  baseUrl: 'http://127.0.0.1:3000/api',
  querySerializer: { array: { style: 'form', explode: false } },
})

/** What a request takes in its query; openapi-fetch itself takes further names. */
type Query<Id extends keyof operations> = NonNullable<operations[Id]['parameters']['query']>

const best: Query<'listRecipes'> = {
  sort: ['-rating', 'cook.name'], status: 'published', min_rating: 4, q: 'ha', cursor: ''
}
const { data: list } = await client.GET('/recipes', { params: { query: best } })
export const titles = list?.data.map(({ title, rating }) => [title, rating])
export const next = list?.pagination.nextCursor
const byMonth: Query<'aggregateRecipes'> = {
  group: ['status', 'createdAtMonth'], avg: ['rating'], 'having[count]': { gte: 2 }, sort: ['-count'],
}
const { data: groups } = await client.GET('/recipes/aggregate', { params: { query: byMonth } })
export const means = groups?.data.map(({ status, count, avg }) => [status, count, avg?.rating])
export const { error } = await client.POST('/recipes', {
  body: { title: 'Ham', steps: 'Cook.', servings: 2, ingredients: { create: [{ name: 'ham', amount: 1 }] } },
})
`

/** The program with one thing misspelt or of a wrong kind. */
const wrong: Readonly<Record<string, readonly [right: string, wrong: string]>> = {
  'a sort': ["'-rating'", "'-ratings'"],
  'a sort across a relation': ["'cook.name'", "'cook.nam'"],
  'a filter': ['min_rating', 'min_ratings'],
  'a value of a choice': ["status: 'published'", "status: 'publishd'"],
  'a kind of value': ['min_rating: 4', "min_rating: 'four'"],
  'a field of an answer': ['title, rating }', 'titel, rating }'],
  'what is told of a page': ['nextCursor', 'endCursor'],
  'a group': ["'createdAtMonth'", "'createdAtMoon'"],
  'a sum of what is no number': ["avg: ['rating']", "avg: ['title']"],
  'an operator': ['{ gte: 2 }', '{ gteq: 2 }'],
  'a path': ["'/recipes/aggregate'", "'/recipe/aggregate'"],
  'a field of a body': ['servings: 2', 'serving: 2'],
  'a part of a body': ["name: 'ham'", "nam: 'ham'"],
}

test('a program against the types of a document compiles, and with a typo it does not', async () => {
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(
    join(folder, 'rest.ts'),
    await typesOf(await openApiOf(recipes, recipes.versions.newest)),
  )
  const files = new Map([['right.ts', program]])
  for (const [at, [from, to]] of Object.values(wrong).entries()) {
    assert.equal(program.split(from).length, 2, from)
    files.set(`wrong${at}.ts`, program.replace(from, to))
  }
  for (const [name, text] of files) writeFileSync(join(folder, name), text)
  const options =
    '--ignoreConfig --noEmit --strict --module nodenext --target esnext --skipLibCheck'
  const { stdout } = spawnSync(
    process.execPath,
    [
      join(root, 'node_modules/typescript/bin/tsc'),
      ...options.split(' '),
      ...['--allowImportingTsExtensions', '--types', ''],
      ...[...files.keys()].map(name => join(folder, name)),
    ],
    { encoding: 'utf8', cwd: folder },
  )
  const complaints = (name: string) => stdout.split('\n').filter(line => line.startsWith(name))
  assert.deepEqual(complaints('right.ts'), [])
  for (const [at, what] of Object.keys(wrong).entries())
    assert.ok(complaints(`wrong${at}.ts`).length > 0, `${what} compiles`)
})
