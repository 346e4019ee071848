/** Steps and hooks: what each kind does, refuses and answers, in both APIs. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { mint } from '#auth/token.ts'
import { defineContent } from '#content.ts'
import { anonymous, anyone, signedIn } from '#model/policy.ts'
import { sql } from '#sql/sql.ts'
import { actions, asked, cookery, errors, parts, told } from '#test/support/cookery.ts'
import { until } from '#test/support/wait.ts'
import { commandOf, result } from '#write/command.ts'
import { actionCommand, type RuledAction } from '#write/steps/action.ts'
import { statedSteps } from '#write/steps/stating.ts'
import { change, insert, remove, require } from '#write/steps/steps.ts'
import { createWorld, forAllTests, modelAsUsual, pluck, secret } from '../world.ts'

const start = Date.UTC(2026, 0, 2, 3, 4, 5)
const day = '2026-01-02T03:04:05.000Z'

const world = forAllTests(() =>
  createWorld({
    content: cookery,
    now: () => start,
    outbox: { every: 5, retryAfter: 1 },
    rows: {
      writer: [{ name: 'Eve' }, { name: 'Ann' }, { name: 'Bob' }, { name: 'Out', state: 'out' }],
    },
  }),
)

const [ann, bob, out] = [2, 3, 4]

/** A recipe of Ann's with so many ingredients; gives its id. */
const recipeWith = async (ingredients: number, title = 'Soup'): Promise<number> => {
  const { json } = await world.ask('POST /api/recipes', { as: ann, body: { title } })
  for (let count = 0; count < ingredients; count++)
    await world.ask('POST /api/ingredients', {
      as: ann,
      body: { recipeId: json.id, name: `no. ${count}` },
    })
  return json.id
}
const act = (name: string, id: number, as: number | undefined, body?: object, headers = {}) => {
  const action = actions.find(({ described }) => described.operationId === name)
  const line = `${action?.method} /api${action?.path.replace(':id', String(id))}`
  return world.ask(line, { ...(as !== undefined && { as }), ...(body && { body }), headers })
}
const recordsOf = (id: number) =>
  world.rows(`select what, by_id from records where recipe_id = ${id} order by id`)
const codeOf = ({ status, json }: { status: number; json: { code?: string } | undefined }) => [
  status,
  json?.code,
]

test('a change by id sets its values, raises the revision and updatedAt, and later steps come with it', async () => {
  const id = await recipeWith(1)
  const { status, json, headers } = await act('publishRecipe', id, ann, { note: 'at last' })
  assert.equal(status, 200)
  assert.deepEqual([json.status, json.publishedAt, json.changedAt], ['published', day, day])
  assert.match(String(headers.get('etag')), /2/)
  assert.deepEqual(
    (await recordsOf(id)).map(row => [row[0], Number(row[1])]),
    [['at last', ann]],
  )
})

test('where its condition does not hold the error is that of the step, and nothing is done', async () => {
  const id = await recipeWith(0)
  assert.deepEqual(codeOf(await act('publishRecipe', id, ann)), [409, 'NO_INGREDIENTS'])
  assert.deepEqual(await recordsOf(id), [])
})

test('what a row must be like for an action is said by may.json too, by row', async () => {
  const ids = [await recipeWith(0), await recipeWith(1), await recipeWith(1)]
  await act('publishRecipe', ids[2] as number, ann)
  const mayOf = async (as: number) =>
    (await world.ask(`GET /admin/may.json?entity=recipe&ids=${ids}`, { as })).json
  const isOffered = Object.values(await mayOf(ann)).map(words =>
    (words as readonly string[]).includes('publishRecipe'),
  )
  assert.deepEqual(isOffered, [false, true, false])
  assert.deepEqual(
    Object.values(await mayOf(bob))
      .flat()
      .includes('publishRecipe'),
    false,
  )
})

test('a row that is not there, or that the caller may not read, is 404; one that the rule keeps is 403; nobody is 401', async () => {
  const hidden = await recipeWith(1)
  assert.deepEqual(codeOf(await act('publishRecipe', 999, ann)), [404, 'NOT_FOUND'])
  assert.deepEqual(codeOf(await act('publishRecipe', hidden, bob)), [404, 'NOT_FOUND'])
  const shown = await recipeWith(1)
  await act('publishRecipe', shown, ann)
  assert.deepEqual(codeOf(await act('publishRecipe', shown, bob)), [403, 'FORBIDDEN'])
  assert.deepEqual(codeOf(await act('publishRecipe', shown, undefined)), [401, 'UNAUTHENTICATED'])
  // Also before the faults of a body.
  assert.deepEqual(codeOf(await act('publishRecipe', shown, bob, { x: 1 })), [403, 'FORBIDDEN'])
  assert.deepEqual(codeOf(await act('publishRecipe', shown, out, { x: 1 })), [403, 'FORBIDDEN'])
})

test('the rule of a command by hand is asked before its own steps, in both APIs', async () => {
  const id = await recipeWith(1)
  const mutate = async (name: string, of: number, as: number | undefined) => {
    const options = as === undefined ? {} : { as }
    const { json } = await world.gql(`mutation { ${name}(id: "${of}") }`, options)
    return json.errors?.[0].extensions.code ?? 'done'
  }
  const written = async () =>
    (await world.rows(`select servings, owner_id from recipes where id = ${id}`))[0]?.map(Number)
  for (const name of ['spice', 'handOver']) {
    // What is hidden is not there, and nobody's code is asked without a token.
    assert.deepEqual(codeOf(await act(name, id, bob)), [404, 'NOT_FOUND'])
    assert.equal(await mutate(name, id, bob), 'NOT_FOUND')
    assert.deepEqual(codeOf(await act(name, 999, ann)), [404, 'NOT_FOUND'])
    const before = asked.length
    assert.deepEqual(codeOf(await act(name, id, undefined)), [401, 'UNAUTHENTICATED'])
    assert.equal(await mutate(name, id, undefined), 'UNAUTHENTICATED')
    assert.equal(asked.length, before)
    // Before the faults of the body, too.
    assert.deepEqual(codeOf(await act(name, id, bob, { x: 1 })), [404, 'NOT_FOUND'])
    assert.deepEqual(codeOf(await act(name, id, ann, { x: 1 })), [422, 'VALIDATION_ERROR'])
  }
  await act('publishRecipe', id, ann)
  for (const name of ['spice', 'handOver']) {
    assert.deepEqual(codeOf(await act(name, id, bob)), [403, 'FORBIDDEN'])
    assert.deepEqual(codeOf(await act(name, id, bob, { x: 1 })), [403, 'FORBIDDEN'])
    assert.equal(await mutate(name, id, bob), 'FORBIDDEN')
  }
  assert.deepEqual(await written(), [4, ann])
  assert.equal((await act('spice', id, ann)).status, 204)
  assert.equal(await mutate('spice', id, ann), 'done')
  // What the row must be becoming is asked afterwards.
  assert.deepEqual(codeOf(await act('handOver', id, ann)), [403, 'FORBIDDEN'])
  assert.equal(await mutate('handOver', id, ann), 'FORBIDDEN')
  assert.deepEqual(await written(), [6, ann])
  assert.equal((await act('count', id, bob)).status, 204)
  assert.deepEqual(codeOf(await act('count', 999, bob)), [404, 'NOT_FOUND'])
})

test('a method that a path does not take says which rule is missing, in development', async () => {
  const { status, json } = await world.ask('POST /api/records', { as: ann, body: {} })
  assert.equal(status, 405)
  assert.equal(
    json.detail,
    'POST is not possible at /api/records; there are GET, HEAD, QUERY, OPTIONS; nobody may create records, as the policy of record has no rule for it: add create: signedIn, say',
  )
  const other = await world.ask('PATCH /api/ingredients/1', { as: ann, body: {} })
  assert.match(other.json.detail, /; nobody may update ingredients, as the policy of ingredient/)
})

test('a command that leaves out the checks of its context is an error of the program', async () => {
  const model = modelAsUsual(cookery)
  const own = actions.find(({ name }) => name === 'spice recipes') as RuledAction
  const { dialect } = world.core
  const writing = { model, dialect, viewer: { id: ann, role: 'writer' }, now: start }
  const command: RuledAction['command'] = () => commandOf(writing, { name: 'spice', steps: [] })
  assert.throws(() => actionCommand({ ...own, command }, writing, { id: 1 } as never), {
    message: 'spice recipes has no guard of its rule: make its command of the writing it is given',
  })
})

test('steps that need somebody are refused to a caller without a token, also where the action is about no row', () => {
  const own = actions.find(({ name }) => name === 'spice recipes')
  assert.ok(own)
  const { dialect } = world.core
  const writing = { model: modelAsUsual(cookery), dialect, viewer: anonymous, now: start }
  const { command: _, ...rest } = { ...own, about: null, answers: null, input: {}, rule: anyone }
  const draft: RuledAction = { ...rest, steps: () => [insert('recipe', { title: 'x' })] }
  assert.throws(() => actionCommand(draft, writing, { body: {} } as never), {
    code: 'UNAUTHENTICATED',
  })
  // A caller that a value names by its id must have its row, too.
  const isSelf = (viewer: { id: number }, byId: number) =>
    statedSteps({ ...writing, viewer: { ...viewer, role: 'editor' } }, [
      insert('record', { recipeId: 1, what: 'x', at: new Date(start), byId }),
    ]).asSelf
  assert.deepEqual([isSelf({ id: 99 }, 99), isSelf({ id: 99 }, ann)], [true, false])
})

test('a route by hand is reached by those alone whom its rule names', async () => {
  const codes = async (path: string) => [
    codeOf(await world.ask(`GET /api${path}`)),
    codeOf(await world.ask(`GET /api${path}`, { as: ann })),
    codeOf(await world.ask(`GET /api${path}`, { as: ann, role: 'editor' })),
  ]
  const [none, no, ok] = [
    [401, 'UNAUTHENTICATED'],
    [403, 'FORBIDDEN'],
    [200, undefined],
  ]
  assert.deepEqual(await codes('/kitchen'), [none, ok, ok])
  assert.deepEqual(await codes('/pantry'), [none, no, ok])
  assert.deepEqual(await codes('/window'), [ok, ok, ok])
  assert.deepEqual(await codes('/cellar'), [none, no, no])
  const { json } = await world.ask('GET /api/pantry', { as: ann })
  assert.equal(json.detail, 'This token gives no right to look into the kitchen')
})

test('the input is checked by its fields, and steps have it as callers write it', async () => {
  const id = await recipeWith(0)
  const wrong = await act('surveyRecipe', id, ann, { mood: 'so so', scor: 1 })
  assert.deepEqual(pluck(wrong.json.errors, 'field'), ['mood', 'scor', 'score'])
  const body = {
    mood: 'good',
    score: 2.5,
    day: '2026-02-03',
    at: day,
    words: ['a', 'b'],
    about: id,
  }
  assert.equal((await act('surveyRecipe', id, ann, body)).status, 200)
  assert.equal((await act('surveyRecipe', id, ann, { mood: 'bad', score: 0 })).status, 200)
  assert.deepEqual(
    (await recordsOf(id)).map(([what]) => JSON.parse(String(what))),
    [
      ['good', 2.5, '2026-02-03', day, true, ['a', 'b'], id],
      ['bad', 0, null, null, true, [], null],
    ],
  )
  // A row that it names must be one that the caller may read.
  const other = await world.ask('POST /api/recipes', { as: bob, body: { title: 'Bread' } })
  const named = await act('surveyRecipe', id, ann, { ...body, about: other.json.id })
  assert.deepEqual(codeOf(named), [404, 'NOT_FOUND'])
  const moody = await act('archiveRecipe', id, ann, { mood: 'good' })
  assert.deepEqual(codeOf(moody), [422, 'VALIDATION_ERROR'])
})

test('a value may be relative to the row, within the range of its field, and the error may name what is there', async () => {
  const id = await recipeWith(1)
  await act('publishRecipe', id, ann)
  const { json } = await act('takeServings', id, bob, { count: 3, paid: 2.5 })
  assert.deepEqual([json.servings, json.price], [1, 3.75])
  const refused = await act('takeServings', id, bob, { count: 2 })
  assert.deepEqual(codeOf(refused), [409, 'NOT_ENOUGH'])
  assert.equal(refused.json.detail, 'There are 1 left, at 3.75')
  assert.equal((await act('takeServings', id, bob, { count: 9 })).json.code, 'NOT_ENOUGH')
  await world.change(`update recipes set price = 99999 where id = ${id}`)
  const above = await act('takeServings', id, bob, { count: 1, paid: 5 })
  assert.deepEqual(codeOf(above), [409, 'CONFLICT'])
  assert.equal(above.json.detail, 'The price of this recipe must stay within 0 to 1000')
})

test('results of earlier steps are values of later ones, and the answer is the row that was made', async () => {
  const id = await recipeWith(0)
  const { status, json, headers } = await act('copyRecipe', id, ann)
  assert.deepEqual([status, json.title, json.servings, json.price], [200, 'A copy', 4, 9])
  assert.notEqual(json.id, id)
  assert.equal(headers.get('location'), null)
  const kept = (await recordsOf(json.id)).map(([what]) => what)
  assert.deepEqual(kept, ['draft'])
  const salt = await world.rows(`select name from ingredients where recipe_id = ${json.id}`)
  assert.deepEqual(salt, [['Salt']])
})

test('an insert that is done once takes the row that is there, and a change leaves a row that is so', async () => {
  const id = await recipeWith(0)
  const first = await act('favourRecipe', id, ann)
  const again = await act('favourRecipe', id, ann)
  assert.deepEqual([first.status, again.status, again.json.id], [201, 200, first.json.id])
  assert.deepEqual((await act('archiveRecipe', id, ann)).json.status, 'archived')
  const tag = (await act('archiveRecipe', id, ann)).headers.get('etag')
  assert.equal((await world.ask(`GET /api/recipes/${id}`, { as: ann })).headers.get('etag'), tag)
  assert.equal((await act('forgetRecipe', id, ann)).status, 204)
  assert.equal((await act('forgetRecipe', id, ann)).status, 204)
  assert.deepEqual(await world.rows(`select id from favourites where recipe_id = ${id}`), [])
})

test('rows are removed by their id or by a condition, with what is done after it, and raw SQL is a step', async () => {
  const id = await recipeWith(2, 'Gone')
  assert.deepEqual((await act('emptyRecipe', id, ann)).json.servings, 0)
  assert.match((await act('copyRecipe', id, ann)).json.detail, /^This recipe is in no state that /)
  assert.deepEqual(codeOf(await act('emptyRecipe', id, ann)), [409, 'NO_INGREDIENTS'])
  const none = await act('discardRecipe', id, ann)
  assert.deepEqual([none.status, none.json.detail], [409, 'It has none'])
  await world.ask('POST /api/ingredients', { as: ann, body: { recipeId: id, name: 'Salt' } })
  assert.equal((await act('discardRecipe', id, ann)).status, 204)
  const effect = ['deleted', { id, title: 'Gone' }]
  await until('its effect is done', () => told.some(one => isDeepStrictEqual(one, effect)))
})

test('each of the rows that a condition finds has an effect of its own, and no other row has', async () => {
  const title = 'Leek pie'
  const mine = [await recipeWith(0, title), await recipeWith(0, title), await recipeWith(0, 'Ham')]
  const { json } = await world.ask('POST /api/recipes', { as: bob, body: { title } })
  told.length = 0
  const clear = () => world.ask('POST /api/clearings', { as: ann, body: { title } })
  assert.deepEqual([(await clear()).status, (await clear()).status], [204, 204])
  await until('their effects are done', () => told.length >= 5)
  const rowsOf = (what: string) =>
    told
      .flatMap(one => (Array.isArray(one) && one[0] === what ? [one[1]] : []))
      .toSorted((one, other) => one.id - other.id)
  const [first, second] = mine
  const changed = [first, second, json.id].map(id => ({ id, title, status: 'archived' }))
  assert.deepEqual(rowsOf('updated'), changed)
  assert.deepEqual(
    rowsOf('deleted'),
    [first, second].map(id => ({ id, title })),
  )
})

test('after a change by an action the rule holds of the row, or what it says becomes of it', async () => {
  const id = await recipeWith(0)
  assert.deepEqual(codeOf(await act('lend', id, ann, { to: bob })), [403, 'FORBIDDEN'])
  assert.equal((await act('lend', id, ann, { to: ann })).status, 200)
  assert.deepEqual(codeOf(await act('give', id, ann, { to: 99 })), [404, 'NOT_FOUND'])
  assert.equal((await act('give', id, ann, { to: bob })).status, 200)
  assert.deepEqual(codeOf(await act('give', id, ann, { to: ann })), [404, 'NOT_FOUND'])
})

test('of two who publish at once one does; an ingredient that goes meanwhile is there or it is not', async () => {
  for (let round = 0; round < 8; round++) {
    const id = await recipeWith(1)
    const both = await Promise.all([act('publishRecipe', id, ann), act('publishRecipe', id, ann)])
    assert.deepEqual(pluck(both, 'status').sort(), [200, 409])
    assert.equal((await recordsOf(id)).length, 1)
    const other = await recipeWith(1)
    const [[row]] = (await world.rows(`select id from ingredients where recipe_id = ${other}`)) as [
      [number],
    ]
    const [published, removed] = await Promise.all([
      act('publishRecipe', other, ann),
      world.ask(`DELETE /api/ingredients/${row}`, {}),
    ])
    assert.equal(removed.status, 204)
    assert.ok([200, 409].includes(published.status), String(published.status))
    assert.equal((await recordsOf(other)).length, published.status === 200 ? 1 : 0)
    const many = await Promise.all(
      [1, 2, 3, 4].map(() => act('takeServings', id, bob, { count: 2 })),
    )
    assert.deepEqual(pluck(many, 'status').sort(), [200, 200, 409, 409])
    const once = await Promise.all([1, 2, 3].map(() => act('favourRecipe', id, bob)))
    assert.deepEqual(pluck(once, 'status').sort(), [200, 200, 201])
  }
})

test('a repeated key gives the stored answer, and If-Match is compared with the revision', async () => {
  const id = await recipeWith(1)
  assert.equal((await act('publishRecipe', id, ann, {}, { 'If-Match': '"other"' })).status, 412)
  const key = { 'Idempotency-Key': 'publish-once' }
  const first = await act('publishRecipe', id, ann, {}, key)
  const again = await act('publishRecipe', id, ann, {}, key)
  assert.deepEqual([again.status, again.text], [first.status, first.text])
  assert.equal(again.headers.get('idempotency-replayed'), 'true')
  assert.equal((await recordsOf(id)).length, 1)
})

const publish =
  'mutation($id: ID!, $note: String, $revision: Int) { publishRecipe(id: $id, input: { note: $note }, expectedRevision: $revision) { id status revision } }'

test('an action is a mutation with the same rights, keys, errors and revisions', async () => {
  const id = await recipeWith(1)
  const run = (variables: object, as: number | undefined = ann, headers = {}) =>
    world.ask('POST /graphql', {
      ...(as && { as }),
      body: { query: publish, variables: { id, note: 'from GraphQL', ...variables } },
      headers,
    })
  const errorIn = ({ json }: { json: { errors?: { extensions: { code: string } }[] } }) =>
    json.errors?.[0]?.extensions.code
  assert.equal(errorIn(await run({ id: '999' })), 'NOT_FOUND')
  assert.equal(errorIn(await run({}, bob)), 'NOT_FOUND')
  assert.equal(errorIn(await run({ revision: 7 })), 'PRECONDITION_FAILED')
  assert.equal(errorIn(await run({ note: 'x'.repeat(101) })), 'BAD_USER_INPUT')
  assert.equal(errorIn(await run({ note: 'x'.repeat(101) }, bob)), 'NOT_FOUND')
  const key = { 'Idempotency-Key': 'in-graphql' }
  const done = await run({ revision: 1 }, ann, key)
  assert.deepEqual(done.json, {
    data: { publishRecipe: { id: String(id), status: 'published', revision: 2 } },
  })
  assert.equal((await run({ revision: 1 }, ann, key)).text, done.text)
  assert.equal(errorIn(await run({})), 'NO_INGREDIENTS')
  assert.equal(errorIn(await run({}, bob)), 'FORBIDDEN')
  assert.deepEqual(
    (await recordsOf(id)).map(([what]) => what),
    ['from GraphQL'],
  )
  const forget = await world.ask('POST /graphql', {
    as: ann,
    body: { query: `mutation { forgetRecipe(id: ${id}) }` },
  })
  assert.deepEqual(forget.json, { data: { forgetRecipe: true } })
  const taken = await world.ask('POST /graphql', {
    as: ann,
    body: { query: `mutation { takeServings(id: ${id}, input: { count: 1 }) { servings } }` },
  })
  assert.deepEqual(taken.json, { data: { takeServings: { servings: 3 } } })
})

test('the documents of both APIs have the input of an action', async () => {
  const { json } = await world.ask('GET /openapi.json', {})
  const body = json.components.schemas.TakeServingsBody
  assert.deepEqual(body.required, ['count'])
  assert.deepEqual(body.properties.count, { type: 'integer', minimum: 1, maximum: 9 })
  const { requestBody } = json.paths['/recipes/{id}/take'].post
  assert.equal(requestBody.required, true)
  assert.equal(json.paths['/recipes/{id}/publish'].post.requestBody.required, false)
  const { text } = await world.ask('GET /graphql/schema.graphql', {})
  assert.match(text, /takeServings\(\s+id: ID!\s+input: TakeServingsInput!/)
  assert.match(text, /expectedRevision: Int\n/)
  assert.match(text, /revision: Int!/)
  assert.match(text, /input TakeServingsInput \{\n {2}count: Int!\n {2}paid: Float\n\}/)
  assert.match(text, /forgetRecipe\(id: ID!\): Boolean!/)
})

test('a hook before a write gives values, an error, or steps; of both APIs and of PUT', async () => {
  told.length = 0
  const { json } = await world.ask('POST /api/recipes', { as: ann, body: { title: '  Pie  ' } })
  assert.deepEqual([json.title, json.price], ['Pie', 1.25])
  assert.ok(told.some(one => isDeepStrictEqual(one, ['create', '  Pie  ', ann])))
  const [[key]] = (await world.rows(`select title_key from recipes where id = ${json.id}`)) as [
    [string],
  ]
  assert.equal(key, 'pie')
  const poison = await world.ask('POST /api/recipes', { as: ann, body: { title: 'Poison' } })
  assert.deepEqual([poison.status, poison.json.detail], [409, 'Nobody cooks poison'])
  const mutation = 'mutation { createRecipe(input: { title: "Poison" }) { id } }'
  const inGraphql = await world.ask('POST /graphql', { as: ann, body: { query: mutation } })
  assert.equal(inGraphql.json.errors[0].extensions.code, 'LOCKED')

  const id = await recipeWith(1)
  const body = { title: 'Stew', servings: 2, price: 1 }
  // What it gives is written, whatever the caller may set, or read in such a row.
  for (const line of [`PATCH /api/recipes/${id}`, `PUT /api/recipes/${id}`]) {
    const title = line.slice(0, 5)
    const { status, json } = await world.ask(line, { as: ann, body: { ...body, title } })
    assert.deepEqual([status, json.draftedAs], [200, null])
    const drafted = await world.rows(`select drafted_as from recipes where id = ${id}`)
    assert.deepEqual(drafted, [[title]])
  }
  await act('publishRecipe', id, ann)
  for (const line of [`PUT /api/recipes/${id}`, `PATCH /api/recipes/${id}`]) {
    assert.deepEqual(codeOf(await world.ask(line, { as: ann, body })), [409, 'LOCKED'])
    // The right to the row comes first.
    assert.deepEqual(codeOf(await world.ask(line, { as: bob, body })), [403, 'FORBIDDEN'])
  }
  const ended = await world.ask(`DELETE /api/recipes/${id}`, { as: ann })
  assert.deepEqual(codeOf(ended), [409, 'LOCKED'])
  const draft = await recipeWith(0)
  assert.equal((await world.ask(`DELETE /api/recipes/${draft}`, { as: ann })).status, 204)
})

test('a token that names no row does the steps and hooks that need none, and no others, in both APIs', async () => {
  const id = await recipeWith(0)
  const token = await mint({ sub: 'billing', role: 'editor', ttl: 600 }, secret, start)
  const headers = { Authorization: `Bearer ${token}` }
  const add = (name: string, asking: object) =>
    world.ask('POST /api/ingredients', { ...asking, body: { recipeId: id, name } })
  const mutate = async (mutation: string) => {
    const { json } = await world.gql(`mutation { it: ${mutation} { id } }`, { headers })
    return json.errors?.[0].extensions.code ?? 'done'
  }
  const nameless = ({ status, json }: { status: number; json: { detail: string } }) => {
    assert.equal(status, 403)
    assert.match(json.detail, /names no writer/)
  }
  for (const name of ['Truffle', 'Herbs']) {
    nameless(await add(name, { headers }))
    const input = `{ recipeId: ${id}, name: "${name}" }`
    assert.equal(await mutate(`createIngredient(input: ${input})`), 'FORBIDDEN')
    assert.deepEqual(codeOf(await add(name, {})), [401, 'UNAUTHENTICATED'])
    const { status, json } = await add(name, { as: ann })
    assert.deepEqual([status, json.pickedById], [201, name === 'Herbs' ? ann : null])
  }
  assert.equal((await add('Salt', { headers })).status, 201)
  nameless(await act('copyRecipe', id, undefined, undefined, headers))
  const answers = { mood: 'good', score: 1 }
  assert.equal((await act('surveyRecipe', id, undefined, answers, headers)).status, 200)
  assert.equal(await mutate(`surveyRecipe(id: ${id}, input: { mood: good, score: 1 })`), 'done')
  const writers = (await recordsOf(id)).map(([, by]) => by && Number(by))
  assert.deepEqual(writers, [ann, null, null])
})

test('the examples of docs/actions.md are those of this content', () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
  const flat = (text: string) =>
    text
      .replace(/\s+/g, ' ')
      .replace(/([([{]) /g, '$1')
      .replace(/,? ([)\]}])/g, '$1')
  const source = flat(read('../../../test/support/cookery.ts'))
  const blocks = [...read('../../../docs/actions.md').matchAll(/```ts\n([^`]*)```/g)]
  assert.ok(blocks.length >= 2)
  for (const [, block = ''] of blocks)
    for (const part of block.split(/\n *\/\/ ….*\n/))
      assert.ok(source.includes(flat(part).trim().replace(/,$/, '')), part)
})

/** The sentence about steps that are wrong. */
const misdeclared: Readonly<Record<string, RuledAction['steps']>> = {
  'its step 1, change recipes, is about recipes, which is no entity: did you mean recipe?': ({
    id,
  }) => [change('recipes', id, { status: 'draft' })],
  'its step 1, remove recipe, has the error GONE_BAD, which the content does not list: add it to errors of defineContent':
    ({ id }) => [remove('recipe', id, { otherwise: { code: 'GONE_BAD', status: 409, title: '' } })],
  'its step 1, change recipe, names serving, which is no field of recipe: did you mean servings?':
    ({ id }) => [change('recipe', id, { serving: 1 })],
  'its step 1, remove ingredient, has where.recipe, which must be a condition, such as { id: 1 }':
    ({ id }) => [remove('ingredient', { where: { recipe: id } })],
  'its step 1, require recipe, has where.favourites, which is a list: write { some: … } or { none: … }':
    ({ id, viewer }) => [require('recipe', id, undefined, { where: { favourites: viewer.id } })],
  'its step 1, require recipe, has where.or.0.title.eq, which must be a text': ({ id }) => [
    require('recipe', id, undefined, { where: { or: [{ title: { eq: id } }] } }),
  ],
  'its step 1, require recipe, has where.ingredients.some.recipeId.gt, which is not a field or relation of recipe: name one of id, title, titleKey, status, ownerId, servings, price, publishedAt, draftedAs, changedAt, revision, owner, ingredients, favourites':
    ({ id }) => [require('recipe', { where: { ingredients: { some: { recipeId: { gt: id } } } } })],
  'its step 1, change recipe, gives title a piece of SQL, which cannot be folded: give it a text':
    ({ id }) => [change('recipe', id, { title: sql`'Pie'` })],
  'its step 1, change recipe, gives title what no text can be: give it another value of the input':
    ({ id }) => [change('recipe', id, { title: id as never })],
  'its step 1, change recipe, gives status, which must be one of draft, published, archived': ({
    id,
  }) => [change('recipe', id, { status: 'publishd' })],
  'its step 1, insert record, gives recipeId, which is required': ({ now }) => [
    insert('record', { what: 'x', at: now }),
  ],
  'its step 1, require recipe, has where.servings.gt, which must be a whole number': ({ id }) => [
    require('recipe', id, errors.LOCKED, { where: { servings: { gt: 'x' } } }),
  ],
  'its step 1, require recipe, has the error LOKED, which is none of the content: did you mean LOCKED?':
    ({ id }) => [require('recipe', id, { code: 'LOKED', status: 409, title: '' })],
  'its step 1, insert record, wants a result of copi, which is no step before it: name one of them first':
    ({ now }) => [insert('record', { recipeId: result('copi'), what: 'x', at: now })],
  'its step 2, insert record, wants owner of it, which it does not have: did you mean ownerId?': ({
    id,
    now,
  }) => [
    require('recipe', id, undefined, { name: 'it' }),
    insert('record', { recipeId: result('it', 'owner'), what: 'x', at: now }),
  ],
  'it has two steps called a: rename one of them': ({ id }) => [
    require('recipe', id, undefined, { name: 'a' }),
    remove('recipe', id, { name: 'a' }),
  ],
  'its step 1, insert record, is done once, and record has no unique field or set among its values: add it to sets':
    ({ id, now }) => [insert('record', { recipeId: id, what: 'x', at: now }, { once: true })],
  'its step 1, change recipe, does mailed after it, which is none of after of recipe: name one of update, delete':
    ({ id }) => [change('recipe', id, { title: 'x' }, { after: 'mailed' })],
  'it cannot make its steps from {}: a step is about the row of the id undefined: give it a number, result(…) or { where: … }':
    () => [remove('recipe', undefined as never)],
  'it has neither steps nor a command, or both: give it one of them': undefined,
}
for (const [sentence, steps] of Object.entries(misdeclared))
  test(`an action stops the start: ${sentence}`, () => {
    const [publish] = actions
    assert.ok(publish)
    const { steps: _, input: __, when: ___, otherwise: ____, ...others } = publish
    const content = defineContent({ ...parts, actions: [{ ...others, ...(steps && { steps }) }] })
    assert.throws(() => modelAsUsual(content), {
      message: `The action POST /recipes/:id/publish: ${sentence}`,
    })
  })

const { otherwise: _, ...publishing } = actions[0] as RuledAction
/** How the sentence begins about other members of an action that are wrong. */
const misplaced: Readonly<Record<string, object>> = {
  'its rule has status, which ': { rule: signedIn.where({ status: 'drafty' }) },
  'its rule has stat, which ': { rule: signedIn.where({}).becoming({ stat: 'x' }) },
  'its when has stat, which ': { when: { stat: 'draft' } },
  'its admin.hiddenWhen has status, which ': { admin: { hiddenWhen: { status: 'drafty' } } },
  'its when has the error LOKED, which is none of the content': {
    when: { status: 'draft' },
    otherwise: { code: 'LOKED', status: 409, title: '' },
  },
  'it has otherwise without when: ': { when: undefined, otherwise: 'CONFLICT' },
  'it says when, which is about a row': { when: {}, about: null, path: '/publish' },
}
for (const [sentence, members] of Object.entries(misplaced))
  test(`an action stops the start: ${sentence}…`, () => {
    const action = { ...publishing, rule: signedIn, ...members } as RuledAction
    const content = defineContent({ ...parts, actions: [action] })
    assert.throws(
      () => modelAsUsual(content),
      ({ message }: Error) => message.includes(`publish: ${sentence}`) || assert.fail(message),
    )
  })

test('a hook with a fault stops the start in one sentence', () => {
  const create = () => ({ values: { pric: 1 } })
  const { recipe } = parts.entities
  const entities = { ...parts.entities, recipe: { ...recipe, before: { create } } }
  const content = defineContent({ ...parts, entities, actions: [] })
  const sentence =
    'before.create of recipe: its step 1, change recipe, names pric, which is no field of recipe: did you mean price?'
  assert.throws(() => modelAsUsual(content), { message: `the model is wrong: ${sentence}` })
})
