/** A content with rules by row as new users meet it, in both APIs: nothing of a draft is there for others until its cook publishes it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createAuthenticator } from '#auth/authenticate.ts'
import { mint } from '#auth/token.ts'
import recipes from '../../../examples/recipes/duet.config.ts'
import { createWorld, secret, type World } from '../world.ts'

const parties = { issuer: 'https://login.example', audience: 'recipes' }

/** The headers of a token as an identity provider gives it to somebody who is not known here yet. */
const bearer = async (name: string, others = {}): Promise<Record<string, string>> => {
  const claims = { iss: parties.issuer, aud: parties.audience, name, ...others }
  const use = { sub: `idp|${name}`, role: 'cook', ttl: 3600, viewers: recipes.viewers, claims }
  return { Authorization: `Bearer ${await mint(use, secret, Date.now())}` }
}

type Headers = Readonly<Record<string, string>>
type Input = { readonly recipeId: number; readonly [member: string]: unknown }
/** An object of an API, or the code of its error. */
// biome-ignore lint/suspicious/noExplicitAny: the assertion says what it is.
type Answer = any

const shown = 'id title notes status rating reviewCount'

/** How one asks through REST. */
const byRest = ({ ask }: World) => {
  const send = async (headers: Headers, line: string, body?: object): Promise<Answer> => {
    const { json, status } = await ask(line, { headers, ...(body && { body }) })
    return status < 400 ? (json.data ?? json) : json.code
  }
  const below = (headers: Headers, { recipeId, ...input }: Input, parts: string) =>
    send(headers, `POST /api/recipes/${recipeId}/${parts}`, input)
  return {
    recipes: (headers: Headers) => send(headers, 'GET /api/recipes'),
    counted: async (headers: Headers) =>
      (await ask('GET /api/recipes', { headers })).json.pagination.total,
    recipe: (headers: Headers, id: number) => send(headers, `GET /api/recipes/${id}`),
    ofCook: (headers: Headers) => send(headers, 'GET /api/cooks/1/recipes'),
    parts: (headers: Headers, id: number) => send(headers, `GET /api/recipes/${id}/ingredients`),
    create: (headers: Headers, input: object) => send(headers, 'POST /api/recipes', input),
    add: (headers: Headers, input: Input) => below(headers, input, 'ingredients'),
    publish: (headers: Headers, id: number) => send(headers, `POST /api/recipes/${id}/publish`),
    review: (headers: Headers, input: Input) => below(headers, input, 'reviews'),
  }
}

/** The same through GraphQL, which has no totals: what a filter finds is counted. */
const byGraphql = ({ gql }: World): ReturnType<typeof byRest> => {
  const send = async (headers: Headers, query: string, variables = {}): Promise<Answer> => {
    const { json } = await gql(query, { headers, variables })
    return json.errors?.[0].extensions.code ?? json.data.it
  }
  const make = (headers: Headers, type: string, input: object, fields = 'id') => {
    const query = `mutation ($input: Create${type}Input!) { it: create${type}(input: $input) { ${fields} } }`
    return send(headers, query, { input })
  }
  const recipe = async (headers: Headers, id: number, fields = shown) =>
    (await send(headers, `{ it: recipe(id: ${id}) { ${fields} } }`)) ?? 'NOT_FOUND'
  return {
    recipe,
    recipes: who => send(who, `{ it: recipes { ${shown} } }`),
    counted: async who => (await send(who, '{ it: recipes(cookId: 1) { id } }')).length,
    ofCook: async who => (await send(who, '{ it: cook(id: 1) { recipes { id } } }')).recipes,
    parts: async (who, id) => {
      const found = await recipe(who, id, 'ingredients { name amount }')
      return found.ingredients ?? found
    },
    create: (who, input) => make(who, 'Recipe', input, shown),
    add: (who, input) => make(who, 'Ingredient', input, 'amount'),
    publish: (who, id) => send(who, `mutation { it: publishRecipe(id: ${id}) { ${shown} } }`),
    review: (who, input) => make(who, 'Review', input, 'stars'),
  }
}

for (const [name, apiOf] of Object.entries({ REST: byRest, GraphQL: byGraphql }))
  describe(`recipes by ${name}`, () => {
    let world: World
    let api: ReturnType<typeof byRest>
    let ada: Headers
    let ben: Headers
    let id: number
    before(async () => {
      const authenticate = createAuthenticator({ secret, ...parties }, recipes.viewers, Date.now)
      world = await createWorld({ content: recipes, edge: { authenticate } })
      api = apiOf(world)
      ada = await bearer('Ada')
      ben = await bearer('Ben')
    })
    after(() => world.close())

    const cooks = async () => (await world.rows('select name from cooks order by id')).flat()
    const soup = { title: 'Crème brûlée', steps: 'Stir.', servings: 2, notes: 'Less sugar' }

    /** Nothing of Ada's draft is there for them. */
    const isHidden = async (headers: Headers) => {
      assert.deepEqual(await api.recipes(headers), [])
      assert.equal(await api.counted(headers), 0)
      assert.equal(await api.recipe(headers, id), 'NOT_FOUND')
      assert.deepEqual(await api.ofCook(headers), [])
      assert.equal(await api.parts(headers, id), 'NOT_FOUND')
    }

    test('a token for others, or of others, makes nobody', async () => {
      for (const wrong of [{ aud: 'others' }, { iss: 'https://other.example' }])
        assert.equal(await api.create(await bearer('Eve', wrong), soup), 'UNAUTHENTICATED')
      assert.equal(await api.create({}, soup), 'UNAUTHENTICATED')
      assert.deepEqual(await cooks(), [])
    })

    test('the first write signs its cook up, and makes a draft that no other cook sees', async () => {
      const made = await api.create(ada, soup)
      id = Number(made.id)
      assert.deepEqual([made.status, made.notes, made.rating], ['draft', 'Less sugar', null])
      assert.deepEqual(await cooks(), ['Ada'])
      for (const headers of [{}, ben]) await isHidden(headers)
      assert.deepEqual(await api.recipe(ada, id), made)
      assert.deepEqual([(await api.ofCook(ada)).length, await api.counted(ada)], [1, 1])
      // All at once: PostgreSQL is asked for the rows of all callers in one query.
      const callers = [ada, ben, {}, await bearer('Q"u\\o\'te, {NULL}'), ada]
      const titles = callers.map(async headers => {
        const { json } = await world.gql(`{ it: recipe(id: ${id}) { title } }`, { headers })
        return json.data.it?.title
      })
      const none = [undefined, undefined, undefined]
      assert.deepEqual(await Promise.all(titles), [soup.title, ...none, soup.title])
      assert.equal(await api.add(ben, { recipeId: id, name: 'Salt', amount: 1 }), 'NOT_FOUND')
      assert.equal(await api.review(ben, { recipeId: id, stars: 1 }), 'NOT_FOUND')
    })

    test('it is published by its cook, once it has ingredients', async () => {
      assert.equal(await api.publish(ben, id), 'NOT_FOUND')
      assert.equal(await api.publish(ada, id), 'NO_INGREDIENTS')
      await isHidden(ben)
      const cream = { recipeId: id, name: 'Cream', amount: 0.125 }
      assert.equal((await api.add(ada, cream)).amount, 0.125)
      assert.equal((await api.publish(ada, id)).status, 'published')
      assert.equal(await api.publish(ben, id), 'FORBIDDEN')
      assert.equal((await api.parts(ben, id))[0].amount, 0.125)
      // Others see it now, but for the notes.
      for (const headers of [{}, ben]) {
        const [found, ...others] = await api.recipes(headers)
        assert.deepEqual([found.title, found.notes, others], [soup.title, null, []])
        assert.deepEqual([await api.counted(headers), (await api.ofCook(headers)).length], [1, 1])
      }
      assert.equal((await api.recipe(ada, id)).notes, 'Less sugar')
      // Found without accents.
      for (const [q, found] of [
        ['creme BRULEE', 1],
        ['Brûléé', 1],
        ['crema', 0],
      ] as const) {
        const { json } = await world.ask(`GET /api/recipes?q=${encodeURIComponent(q)}`)
        assert.equal(json.data.length, found, q)
      }
    })

    test('others review it once each, and it shows their mean', async () => {
      const review = (who: Headers, stars: number) => api.review(who, { recipeId: id, stars })
      assert.equal((await review(ben, 4)).stars, 4)
      assert.equal(await review(ben, 5), 'REVIEWED')
      assert.equal(await review(ada, 5), 'FORBIDDEN')
      assert.equal((await review(await bearer('Cleo'), 5)).stars, 5)
      const { rating, reviewCount } = await api.recipe({}, id)
      assert.deepEqual([rating, reviewCount], [4.5, 2])
    })
  })
