/** Rules by value on writes: a row is judged as it will be, with what it refers to; what a caller does not see is not there. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { signedIn } from '#model/policy.ts'
import type { SqlValue } from '#sql/sql.ts'
import { commandOf } from '#write/command.ts'
import { revisionSteps } from '#write/guard.ts'
import type { Step } from '#write/job.ts'
import { type Cook, cooking, type Kitchen, kitchenOn } from '../support/cooking.ts'
import { forAllTests } from '../support/fixture.ts'
import { engines } from './compare.ts'
import { modelFor } from './serve.ts'

for (const on of engines)
  describe(`rules by value on writes on ${on}`, () => {
    const kitchen = forAllTests(() => kitchenOn(on))
    let n = 0

    const say: Kitchen['say'] = (...asked) => kitchen.say(...asked)
    const run: Kitchen['run'] = (...asked) => kitchen.run(...asked)
    const titled = () => `r${n++}`
    /** Makes something as the admin, and gives its id. */
    const made = async (plural: string, body: object): Promise<number> => {
      const answer = await say(2, `POST /api/${plural}`, body)
      assert.equal(answer.status, 201, answer.text)
      return answer.json.id
    }
    const recipe = (ownerId: number, more: object = {}) =>
      made('recipes', { title: titled(), ownerId, ...more })
    const team = async (...members: readonly number[]) => {
      const teamId = await made('teams', { name: 't' })
      for (const memberId of members) await made('seats', { memberId, teamId, rank: 'cook' })
      return teamId
    }
    const refused = async (
      status: number,
      answer: ReturnType<Kitchen['say']>,
      message?: RegExp | string,
    ) => {
      const { status: found, text, json, headers } = await answer
      assert.equal(found, status, text)
      assert.equal(headers.get('etag'), null)
      if (typeof message === 'string') assert.equal(json.error.message, message)
      else if (message) assert.match(json.error.message, message)
    }

    test('a row is made with the values that one alternative wants, and with no others', async () => {
      const attempt = async (as: Cook, body: object) => {
        const title = titled()
        const input = Object.entries({ ...body, title: `${title}g` }).map(
          ([key, value]) => `${key}: ${key === 'status' ? value : JSON.stringify(value)}`,
        )
        const { status } = await say(as, 'POST /api/recipes', { ...body, title })
        const { code = 201 } = await run(
          as,
          `mutation { createRecipe(input: { ${input.join()} }) { id } }`,
        )
        const codes = { 201: 201, 403: 'FORBIDDEN', 401: 'UNAUTHENTICATED', 404: 'NOT_FOUND' }
        assert.equal(code, codes[status as 201])
        return status
      }
      assert.equal(await attempt(1, {}), 201)
      assert.equal(await attempt(1, { status: 'published' }), 201)
      assert.equal(await attempt(1, { status: 'archived' }), 403)
      assert.equal(await attempt(1, { ownerId: 3 }), 403)
      assert.equal(await attempt(5, { ownerId: 3, servings: 4 }), 201)
      assert.equal(await attempt(5, { ownerId: 3, servings: 5 }), 403)
      assert.equal(await attempt(5, { servings: 5 }), 201)
      assert.equal(await attempt(2, { ownerId: 3, servings: 50, status: 'archived' }), 201)
      assert.equal(await attempt(null, {}), 401)
    })

    test('a child is made by the owner of its parent, which others do not see or may not write below', async () => {
      const draft = await recipe(1)
      const shown = await recipe(1, { status: 'published' })
      const old = await recipe(1, { status: 'archived' })
      const below = (as: Cook, recipeId: number) =>
        say(as, 'POST /api/ingredients', { name: 'salt', recipeId })
      const nested = (as: Cook, recipeId: number, body: object = { name: 'salt' }) =>
        say(as, `POST /api/recipes/${recipeId}/ingredients`, body)
      const byGraphql = async (as: Cook, recipeId: number) =>
        (
          await run(
            as,
            `mutation { createIngredient(input: { name: "salt", recipeId: ${recipeId} }) { name } }`,
          )
        ).code
      for (const make of [below, nested]) {
        assert.equal((await make(1, draft)).status, 201)
        await refused(404, make(3, draft), `Recipe ${draft} not found`)
        await refused(404, make(3, 999), 'Recipe 999 not found')
        await refused(403, make(3, shown), /no right to create this ingredient$/)
        await refused(403, make(1, old))
        await refused(401, make(null, shown))
      }
      assert.equal(await byGraphql(1, draft), undefined)
      assert.equal(await byGraphql(3, draft), 'NOT_FOUND')
      assert.equal(await byGraphql(3, shown), 'FORBIDDEN')
      // The right comes before the faults of a body, as far as the path tells it.
      await refused(404, nested(3, draft, { nam: 1 }))
      await refused(403, nested(3, shown, { nam: 1 }))
      await refused(422, nested(1, shown, { nam: 1 }))
      await refused(403, nested(1, shown, { name: 'poison' }))
      await refused(422, say(3, 'POST /api/ingredients', { nam: 1 }))
      const both = `mutation { a: createIngredient(input: { name: "x", recipeId: ${draft} }) { id }
        b: createIngredient(input: { name: "x", recipeId: ${shown} }) { id } }`
      assert.equal((await run(3, both)).code, 'FORBIDDEN')
    })

    test('a member of the group writes below its recipes, by its rank; nobody lets oneself in', async () => {
      const teamId = await team(1, 3)
      const guest = await made('seats', { memberId: 4, teamId, rank: 'guest' })
      const ours = await recipe(1, { teamId })
      const salt = { name: 'salt', recipeId: ours }
      assert.equal((await say(3, 'POST /api/ingredients', salt)).status, 201)
      await refused(403, say(4, 'POST /api/ingredients', salt))
      await refused(403, say(99, 'POST /api/ingredients', salt))
      assert.equal((await say(5, `PATCH /api/seats/${guest}`, { rank: 'cook' })).status, 200)
      assert.equal((await say(4, 'POST /api/ingredients', salt)).status, 201)
      const other = await team(3)
      await refused(403, say(1, 'POST /api/seats', { memberId: 1, teamId: other, rank: 'cook' }))
      const letIn = { memberId: 1, teamId: other, rank: 'cook' }
      assert.equal((await say(3, 'POST /api/seats', letIn)).status, 201)
    })

    test('alternatives that name the viewer are for no caller without a row, others are', async () => {
      const shown = await recipe(1, { status: 'published' })
      const draft = await recipe(1)
      const remark = (as: Cook, text: string, recipeId = shown) =>
        say(as, 'POST /api/remarks', { text, recipeId })
      assert.equal((await remark(null, 'hello')).status, 201)
      await refused(401, remark(null, 'nice'))
      assert.equal((await remark(3, 'nice')).status, 201)
      await refused(404, remark(3, 'nice', draft))
      await refused(403, remark(1, 'nice', draft))
      await refused(404, remark(null, 'hello', draft))
      // An id that was never given out.
      assert.equal((await remark(99, 'hello')).status, 201)
      await refused(403, say(99, 'POST /api/recipes', { title: titled() }))
    })

    test('a row is changed by an alternative that holds of it before and after', async () => {
      const mine = await recipe(1)
      const change = (as: Cook, id: number, body: object, headers = {}) =>
        say(as, `PATCH /api/recipes/${id}`, body, headers)
      const byGraphql = async (as: Cook, id: number, input: string) =>
        (await run(as, `mutation { updateRecipe(id: ${id}, input: { ${input} }) { status } }`)).code
      await refused(404, change(3, mine, { servings: 3 }), `Recipe ${mine} not found`)
      await refused(404, change(3, mine, { servings: 'x' }))
      for (const tag of ['"1"', '*'])
        for (const header of ['If-Match', 'If-None-Match'])
          await refused(404, change(3, mine, { servings: 3 }, { [header]: tag }))
      assert.equal(await byGraphql(3, mine, 'servings: 3'), 'NOT_FOUND')
      // It may not be given away.
      await refused(403, change(1, mine, { ownerId: 3 }), /no right to change this recipe so$/)
      assert.equal(await byGraphql(1, mine, 'ownerId: 3'), 'FORBIDDEN')
      await refused(422, change(1, mine, { ownerId: 'x' }))
      // Before that comes what the headers want.
      await refused(412, change(1, mine, { ownerId: 3 }, { 'If-Match': '"0"' }))
      const published = await change(1, mine, { status: 'published' })
      assert.equal(published.json.status, 'published', published.text)
      await refused(
        403,
        change(1, mine, { servings: 3 }),
        'This token gives no right to change this recipe',
      )
      await refused(403, change(3, mine, { servings: 3 }, { 'If-Match': '"0"' }))
      await refused(403, change(1, mine, {}))
      assert.equal((await change(5, mine, { checked: 'yes' })).status, 200)
      // What the change resets and raises counts too.
      await refused(403, change(3, mine, { servings: 3 }))
      // What it will be is not known of a body that is at fault, nor before all of a document is run.
      await refused(422, change(3, mine, { title: 5 }))
      const title = titled()
      const both = `mutation { createRecipe(input: { title: "${titled()}" }) { id }
        updateRecipe(id: ${mine}, input: { title: "${title}" }) { checked } }`
      assert.equal((await run(3, both)).code, undefined)
      assert.equal((await change(5, mine, { checked: 'yes' })).status, 200)
      const reset = await change(3, mine, { title: titled() })
      assert.deepEqual([reset.status, reset.json?.checked], [200, 'no'], reset.text)
      await refused(403, change(3, mine, { title: titled() }))
    })

    test('one alternative holds for both: the first before and the second after are none', async () => {
      const teamId = await team(3)
      const [mine, ours] = [await recipe(3), await recipe(1, { teamId })]
      // Its owner may change a draft and keeps it; a member of its group keeps it in a group.
      assert.equal((await say(3, `PATCH /api/recipes/${ours}`, { servings: 3 })).status, 200)
      await refused(403, say(3, `PATCH /api/recipes/${ours}`, { teamId: null }))
      await refused(403, say(3, `PATCH /api/recipes/${ours}`, { ownerId: 3, teamId: null }))
      await refused(403, say(3, `PATCH /api/recipes/${mine}`, { ownerId: 1, teamId }))
      assert.equal((await say(3, `PATCH /api/recipes/${mine}`, { teamId })).status, 200)
      await refused(403, say(3, `PATCH /api/recipes/${ours}`, { teamId: await team(4) }))
    })

    test('a child goes to no parent of others, hidden or not', async () => {
      const [mine, other, hidden] = [
        await recipe(1),
        await recipe(3, { status: 'published' }),
        await recipe(3),
      ]
      const salt = await made('ingredients', { name: 'salt', recipeId: mine })
      const move = (recipeId: number) => say(1, `PATCH /api/ingredients/${salt}`, { recipeId })
      await refused(403, move(other))
      await refused(404, move(hidden), `Recipe ${hidden} not found`)
      await refused(404, move(999), 'Recipe 999 not found')
      assert.equal((await move(await recipe(1))).status, 200)
      await refused(404, say(3, `PATCH /api/ingredients/${salt}`, { recipeId: other }))
      const shown = await made('ingredients', { name: 'salt', recipeId: other })
      await refused(403, say(1, `PATCH /api/ingredients/${shown}`, { name: 'sugar' }))
    })

    test('a replacement is judged as a change is', async () => {
      const mine = await recipe(1)
      const replace = (as: Cook, body: object) => say(as, `PUT /api/recipes/${mine}`, body)
      await refused(404, replace(3, { title: titled() }))
      await refused(403, replace(1, { title: titled(), ownerId: 3 }))
      const { status, text } = await replace(1, { title: titled(), ownerId: 1, servings: 7 })
      assert.equal(status, 200, text)
    })

    test('a row is deleted by its value; what keeps it and is hidden is not named', async () => {
      const [mine, shown] = [await recipe(1), await recipe(1, { status: 'published' })]
      const drop = (as: Cook, id: number, headers = {}) =>
        say(as, `DELETE /api/recipes/${id}`, undefined, headers)
      await refused(404, drop(3, mine))
      await refused(404, drop(3, mine, { 'If-Match': '"0"' }))
      await refused(403, drop(3, shown, { 'If-Match': '"0"' }))
      assert.deepEqual(await run(3, `mutation { deleteRecipe(id: ${mine}) }`), {
        code: undefined,
        data: { deleteRecipe: false },
      })
      assert.equal((await run(3, `mutation { deleteRecipe(id: ${shown}) }`)).code, 'FORBIDDEN')
      assert.equal((await say(3, 'POST /api/bookmarks', { recipeId: shown })).status, 201)
      await refused(
        409,
        drop(1, shown),
        'Cannot delete recipe: others refer to it or to what goes with it; it can be deleted once they are gone',
      )
      await refused(409, drop(2, shown), /: bookmarks refer to it/)
      // What goes with it is not judged.
      await made('ingredients', { name: 'salt', recipeId: mine })
      assert.equal((await drop(1, mine)).status, 204)
    })

    test('a value that is taken is told also where the row that has it is hidden', async () => {
      const title = titled()
      await recipe(3, { title })
      await refused(409, say(1, 'POST /api/recipes', { title }), /^This title is in use already/)
    })

    test('an action compares no revision of a row that is hidden', async () => {
      const { dialect } = kitchen.store
      const [mine, shown] = [await recipe(1), await recipe(1, { status: 'published' })]
      const session = await kitchen.store.session('filling')
      const passes = async (as: number, id: number) => {
        const viewer = { id: as, role: 'user' }
        const writing = { model: modelFor(cooking), dialect, viewer, now: 0 }
        const target = { entity: 'recipe', id, revisions: [99] }
        const { steps } = commandOf(writing, {
          name: 'look',
          steps: revisionSteps(writing, target, signedIn),
        })
        const { text, values } = (steps.at(-1) as Step).statement
        const found = await session.query({ text, values: values as readonly SqlValue[] })
        return found.length > 0
      }
      assert.deepEqual(
        [
          await passes(3, mine),
          await passes(3, 999),
          await passes(3, shown),
          await passes(1, mine),
        ],
        [true, true, false, false],
      )
      await session.close()
    })

    test('a replay shows what was answered, though the row has changed hands since', async () => {
      const mine = await recipe(1)
      const key = { 'Idempotency-Key': `k${n++}-${on}` }
      const make = (as: Cook) =>
        say(as, 'POST /api/ingredients', { name: 'salt', recipeId: mine }, key)
      const first = await make(1)
      assert.equal(first.status, 201)
      assert.equal((await say(2, `PATCH /api/recipes/${mine}`, { ownerId: 3 })).status, 200)
      const again = await make(1)
      assert.deepEqual([again.status, again.text], [201, first.text])
      await refused(404, say(1, 'POST /api/ingredients', { name: 'salt', recipeId: mine }))
    })
  })
