/** `duet explain`: what follows from an entity, of contents of other kinds. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandsOf } from '../commands.ts'

const recipes = commandsOf('default', 'examples/recipes/duet.config.ts')
const library = commandsOf('library', 'test/support/library/index.ts')

/** The settings that name a store of an engine; nothing of it is opened. */
const settings = {
  sqlite: { DUET_DATABASE_URL: 'sqlite:/nowhere/duet.db' },
  postgres: { DUET_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' },
}

type Explained = Readonly<Record<string, readonly Readonly<Record<string, string>>[]>>

const explained = async (name: string, engine: keyof typeof settings): Promise<Explained> => {
  const { code, stdout, stderr } = await recipes(['explain', name, '--json'], settings[engine])
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

test('rules are sentences, and fields say who reads and sets them and what each API calls them', async () => {
  const { rules = [], fields = [] } = await explained('recipe', 'sqlite')
  assert.match(rules[0]?.['may be done by'] ?? '', /^anybody where status is published, or /)
  const notes = fields.find(({ field }) => field === 'notes')
  assert.match(notes?.notes ?? '', /^may be null; read by anybody where cookId is the caller/)
  const rating = fields.find(({ field }) => field === 'rating')
  assert.deepEqual([rating?.REST, rating?.GraphQL], ['rating', 'Float'])
})

test('routes have their parameters, and GraphQL its fields', async () => {
  const { routes = [], graphql = [] } = await explained('recipe', 'sqlite')
  const list = routes.find(({ route }) => route === 'GET /recipes')
  assert.match(list?.parameters ?? '', /\bsort\b.*\bmin_rating\b/)
  assert.ok(routes.some(({ route }) => route === 'POST /recipes/{id}/publish'))
  const shown = graphql.map(line => String(line).split(/[(:]/)[0])
  for (const name of ['recipe', 'recipes', 'updateRecipe', 'deleteRecipe', 'publishRecipe'])
    assert.ok(shown.includes(name), name)
  assert.ok(!shown.includes('recipeTag'))
})

test('tables are those of the engine of the settings', async () => {
  for (const [engine, text] of [
    ['sqlite', /strict$/],
    ['postgres', /bigint/],
  ] as const)
    assert.match(String((await explained('recipe', engine)).store?.[0]), text)
})

test('a table is printed for people, of any content', async () => {
  const { stdout } = await library(['explain', 'book'], settings.sqlite)
  for (const part of ['rules', 'fields', 'routes', 'graphql', 'store'])
    assert.match(stdout, new RegExp(`^${part}$`, 'm'))
  assert.ok(stdout.split('\n').every(line => line === line.trimEnd()))
})

test('an entity that is not there is refused with what was probably meant', async () => {
  for (const [args, sentence] of [
    [['recip'], /there is no entity recip; did you mean recipe\?/],
    [[], /ENTITY is missing: name one of cook, recipe, /],
    [['x'], /there is no entity x: name one of cook, /],
  ] as const) {
    const { code, stderr } = await recipes(['explain', ...args], settings.sqlite)
    assert.equal(code, 2)
    assert.match(stderr, sentence)
  }
})
