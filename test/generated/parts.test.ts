/** Writes with parts: rows below a row and its links, in one transaction with it, each by its own rules; in both APIs, on both engines. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { type JobFacts, jobs } from '#channels.ts'
import { defineErrors } from '#errors.ts'
import { viewer } from '#model/condition.ts'
import { entity, many, one } from '#model/entity.ts'
import {
  avg,
  computed,
  count,
  decimal,
  id,
  int,
  json,
  reference,
  revision,
  slug,
  text,
  time,
} from '#model/field.ts'
import { defineModel, type Entities } from '#model/model.ts'
import { anonymous, anyone, signedIn } from '#model/policy.ts'
import { openApiOf } from '#openapi/openapi.ts'
import { name, sql } from '#sql/sql.ts'
import { areApart } from '#write/at-once.ts'
import type { Writing } from '#write/command.ts'
import { inputWithParts } from '#write/parts.ts'
import recipes from '../../examples/recipes/duet.config.ts'
import { type Cook, cooking, kitchenOn } from '../support/cooking.ts'
import { forAllTests } from '../support/fixture.ts'
import { editor } from '../support/roles.ts'
import { standStill } from '../support/wait.ts'
import { engines } from './compare.ts'
import { member } from './models.ts'
import { modelFor } from './serve.ts'

const listing = { paging: 'page', limit: 50 } as const
const ofOwner = { recipe: { owner: viewer } } as const
const { recipe, ingredient } = cooking as Record<'recipe' | 'ingredient', Entities[string]>

const errors = defineErrors({ UNASKED: { status: 409, title: 'Nobody is asked' } })

/** Recipes whose ingredients and tags are parts of them; an ingredient has steps as its own parts, a tag that is closed is the editors'. */
const entities = {
  ...cooking,
  recipe: {
    ...recipe,
    bulk: true,
    // Put after the steps of the parts, once: its id is taken the second time.
    after: { update: { fields: ['title'], run: () => {} } },
    relations: {
      ...recipe.relations,
      ingredients: many('ingredient', 'recipeId', { nestedWrites: true }),
      guests: many('guest', 'recipeId', { nestedWrites: true }),
      toasts: many('toast', 'recipeId', { nestedWrites: true }),
      tags: many('tag', { through: 'recipeTag', nestedWrites: true }),
      labels: many('tag', { through: 'recipeLabel', nestedWrites: true }),
    },
  },
  ingredient: {
    ...ingredient,
    fields: {
      ...ingredient.fields,
      noteCount: count('notes'),
      at: time({ nullable: true }),
      code: text({ max: 9, nullable: true, unique: 'CONFLICT' }),
      likeId: reference('recipe', {
        onDelete: 'set null',
        nullable: true,
        immutable: false,
      }),
    },
    relations: {
      ...ingredient.relations,
      notes: many('note', 'ingredientId', { nestedWrites: true }),
    },
  },
  /** None comes after the last one. */
  toast: entity({
    fields: {
      id: id(),
      name: text({ max: 9 }),
      recipeId: reference('recipe', { onDelete: 'cascade' }),
    },
    relations: { recipe: one('recipe', 'recipeId') },
    policy: {
      read: anyone,
      create: signedIn.where({ not: { recipe: { toasts: { some: { name: 'last' } } } } }),
    },
    rest: { list: true, one: true, listing },
  }),
  guest: entity({
    fields: {
      id: id(),
      name: text({ max: 9 }),
      slug: slug({ from: 'name' }),
      recipeId: reference('recipe', { onDelete: 'cascade' }),
    },
    relations: { recipe: one('recipe', 'recipeId') },
    policy: { read: anyone, create: signedIn },
    before: { create: ({ input }) => (input.name === 'nobody' ? { error: errors.UNASKED } : {}) },
    rest: { list: true, one: true, listing },
  }),
  note: entity({
    fields: {
      id: id(),
      text: text({ max: 9, unique: 'CONFLICT' }),
      ingredientId: reference('ingredient', { onDelete: 'cascade' }),
      revision: revision(),
    },
    relations: { ingredient: one('ingredient', 'ingredientId') },
    policy: { read: anyone, create: signedIn, update: signedIn, delete: signedIn },
    rest: { list: true, one: true, writes: ['create'], listing },
  }),
  tag: entity({
    description: '',
    table: 'tags',
    plural: 'tags',
    fields: { id: id(), name: text({ max: 9 }) },
    policy: { read: anyone, create: editor },
    rest: { list: true, one: true, writes: ['create'], listing },
  }),
  recipeTag: entity({
    description: '',
    table: 'recipe_tags',
    plural: 'recipeTags',
    fields: {
      id: id(),
      recipeId: reference('recipe', { onDelete: 'cascade' }),
      tagId: reference('tag', { onDelete: 'cascade' }),
    },
    relations: { recipe: one('recipe', 'recipeId'), tag: one('tag', 'tagId') },
    policy: {
      read: anyone,
      create: [signedIn.where({ ...ofOwner, tag: { name: { ne: 'closed' } } }), editor],
      delete: [signedIn.where({ ...ofOwner, tag: { name: { ne: 'closed' } } }), editor],
    },
    rest: { list: false, one: true, listing },
    sets: [['recipeId', 'tagId']],
  }),
  /** Owners end them, and editors alone make them. */
  recipeLabel: entity({
    fields: {
      id: id(),
      recipeId: reference('recipe', { onDelete: 'cascade' }),
      tagId: reference('tag', { onDelete: 'cascade' }),
    },
    relations: { recipe: one('recipe', 'recipeId'), tag: one('tag', 'tagId') },
    policy: { read: anyone, create: editor, delete: signedIn.where(ofOwner) },
    rest: { list: false, one: true, listing },
    sets: [['recipeId', 'tagId']],
  }),
} as unknown as Entities

for (const on of engines)
  describe(`parts on ${on}`, () => {
    const kitchen = forAllTests(() => kitchenOn(on, entities))
    let n = 0
    const tags: number[] = []
    before(async () => {
      for (const name of ['a', 'b', 'c', 'closed'])
        tags.push((await kitchen.say(2, 'POST /api/tags', { name })).json.id)
    })
    const title = () => `p${n++}`

    /** A recipe with all that is below it, as the admin sees it. */
    const whole = async (of: number) => {
      const query = `{ recipe(id: ${of}) { title revision ingredients { id name noteCount notes { text } } tags { id } } }`
      const { data } = await kitchen.run(2, query)
      if (!data.recipe) return null
      const { ingredients, tags, ...own } = data.recipe
      return {
        ...own,
        parts: ingredients.length,
        counted: ingredients.map(({ noteCount }: { noteCount: number }) => noteCount).toReversed(),
        ingredients: ingredients.map(({ name }: { name: string }) => name).toReversed(),
        ids: ingredients.map(({ id }: { id: string }) => Number(id)).toReversed(),
        notes: ingredients.flatMap(({ notes }: { notes: { text: string }[] }) =>
          notes.map(one => one.text),
        ),
        tags: tags.map(({ id }: { id: string }) => Number(id)).toSorted(),
      }
    }
    const create = async (as: Cook, body: object, headers = {}) =>
      kitchen.say(as, 'POST /api/v2/recipes', { title: title(), ...body }, headers)
    const patch = (as: Cook, of: number, body: object, headers = {}) =>
      kitchen.say(as, `PATCH /api/v2/recipes/${of}`, body, headers)
    const faultsOf = ({ json }: Awaited<ReturnType<typeof create>>) =>
      (json.errors ?? json.error?.details)?.map(({ field }: { field: string }) => field)
    const refused = async (
      answer: ReturnType<typeof create>,
      status: number,
      ...fields: string[]
    ) => {
      const answered = await answer
      assert.equal(answered.status, status, answered.text)
      if (fields.length > 0) assert.deepEqual(faultsOf(answered), fields)
    }
    const salted = async (as: Cook = 1) => {
      const made = await create(as, {
        ingredients: {
          create: [{ name: 'salt' }, { name: 'egg', notes: { create: [{ text: title() }] } }],
        },
        tags: { set: [tags[0], tags[1]] },
      })
      assert.equal(made.status, 201, made.text)
      return made.json.id as number
    }

    test('many rows of one form are written by the same statements, which differ in their values', async () => {
      const texts: string[] = []
      const note = (facts: unknown) => void texts.push(...(facts as JobFacts).statements())
      jobs.start.subscribe(note)
      const rows = (count: number) => Array.from({ length: count }, () => ({ name: `n${n++}` }))
      const made = await create(1, { ingredients: { create: rows(200) } })
      const { ids = [] } = (await whole(made.json.id)) ?? {}
      const update = ids.slice(0, 60).map((id: number) => ({ id, name: `n${n++}` }))
      const changed = await patch(1, made.json.id, {
        ingredients: { create: rows(50), update, delete: ids.slice(60, 120) },
        tags: { set: tags.slice(0, 3) },
      })
      jobs.start.unsubscribe(note)
      assert.deepEqual([made.status, changed.status], [201, 200], changed.text)
      const all = await whole(made.json.id)
      assert.equal(all?.parts, 190)
      assert.deepEqual(
        all?.ingredients.slice(0, 60),
        update.map(({ name }: { name: string }) => name),
      )
      assert.ok(new Set(texts).size < 20, `${new Set(texts).size} texts`)
      // Behind a network they come together.
      assert.ok(on === 'postgres' ? texts.length < 20 : texts.length > 370, `${texts.length}`)
      // The error of each is about its own values.
      const missing = { ingredients: { delete: [...ids.slice(120, 122), 999_998] } }
      await refused(patch(1, made.json.id, missing), 404, 'ingredients.delete.2')
      const { json } = await patch(1, made.json.id, { ingredients: { update: [{ id: 999_997 }] } })
      assert.match(json.detail, /Ingredient 999997 not found/)
    })

    /** What both APIs answer to a change of a recipe: the status of one, the code of the other, and the path where one is named. */
    const both = async (as: Cook, of: number, body: object) => {
      const answered = await patch(as, of, body)
      const query = `mutation ($input: UpdateRecipeInput!) { updateRecipe(id: ${of}, input: $input) { id } }`
      const { json } = await kitchen.say(as, 'POST /graphql', { query, variables: { input: body } })
      const { code, details = [] } = json.errors?.[0]?.extensions ?? {}
      const paths = details.map(({ field }: { field: string }) => field)
      return [answered.status, ...(faultsOf(answered) ?? []), code, ...paths]
    }

    test('an empty list of links makes none, which who may only end them may say', async () => {
      const made = await create(1, { labels: { set: [] } })
      assert.equal(made.status, 201, made.text)
      for (const labels of [{ set: [] }, { add: [] }, { add: [], remove: [tags[0]] }])
        assert.equal((await patch(1, made.json.id, { labels })).status, 200)
      await refused(patch(1, made.json.id, { labels: { set: [tags[0]] } }), 403)
    })

    test('an error of a hook has the path of its part', async () => {
      const of = (await create(1, {})).json.id
      const guests = { create: [{ name: 'Egg' }, { name: 'nobody' }] }
      const path = 'guests.create.1'
      assert.deepEqual(await both(1, of, { guests }), [409, path, 'UNASKED', path])
      const rows = [{ title: title() }, { title: title(), guests }]
      const many = kitchen.say(1, 'POST /api/v2/recipes/bulk', { create: rows })
      await refused(many, 409, `create.1.${path}`)
    })

    test('a row that counts others is held against them from the start: two that shared it would wait for each other', async () => {
      const [of] = (await whole(await salted()))?.ids ?? []
      const texts: string[] = []
      const note = (facts: unknown) => void texts.push(...(facts as JobFacts).statements())
      const say = () => kitchen.say(1, 'POST /api/v2/notes', { text: title(), ingredientId: of })
      jobs.start.subscribe(note)
      const all = await Promise.all(Array.from({ length: 20 }, say))
      jobs.start.unsubscribe(note)
      assert.deepEqual(new Set(all.map(({ status }) => status)), new Set([201]))
      const [insert = ''] = texts.filter(text => text.startsWith('insert into "notes"'))
      assert.equal(insert.includes('for no key update'), on === 'postgres', insert)
    })

    test('of a thousand parts the one that may not be is named, and nothing is written', async () => {
      const of = (await create(1, { ingredients: { create: [{ name: 'egg', code: `c${on}` }] } }))
        .json.id
      const hidden = (await create(3, {})).json.id
      const before = await whole(of)
      const faults = [
        [{ likeId: 999_999 }, 404, 'NOT_FOUND', ''],
        [{ likeId: hidden }, 404, 'NOT_FOUND', ''],
        [{ code: `c${on}` }, 409, 'CONFLICT', '.code'],
        [{ name: 'x'.repeat(21) }, 422, 'BAD_USER_INPUT', '.name'],
        [{ name: 'poison' }, 403, 'FORBIDDEN', ''],
      ] as const
      for (const [fault, status, code, member] of faults) {
        const [length, at] = fault === faults[1][0] ? [999, 500] : [60, 30]
        const rows = Array.from({ length }, (_, n) => ({ name: `n${n}`, likeId: of }))
        rows[at] = { ...rows[at], ...fault } as (typeof rows)[number]
        const path = `ingredients.create.${at}${member}`
        const answered = await both(1, of, { ingredients: { create: rows } })
        assert.deepEqual(answered, [status, path, code, path], JSON.stringify(fault))
      }
      assert.deepEqual(await whole(of), before)
    })

    test('a thousand parts are written in their order, by two writers at once too, with what is made of them', async () => {
      const of = (await create(1, {})).json.id
      const names = Array.from({ length: 499 }, (_, n) => `it's "${n}" \\`)
      const rows = names.map((name, n) => ({
        name,
        ...(n % 2 && { likeId: of, code: `${on[0]}${n}`, at: '2026-01-31T12:00:00.000Z' }),
      }))
      const guests = { create: ['Soup!', 'Soup?', 'soup', 'Egg'].map(name => ({ name })) }
      const bodies = [
        { ingredients: { create: rows }, guests },
        { ingredients: { create: names.map(name => ({ name })) }, guests },
      ]
      const done = await Promise.all(bodies.map(body => patch(1, of, body)))
      assert.deepEqual(
        done.map(({ status }) => status),
        [200, 200],
      )
      const all = await whole(of)
      assert.deepEqual(all.ingredients, [...names, ...names])
      assert.equal(all.revision, 3)
      const query = `{ recipe(id: ${of}) { guests { name slug } } }`
      const { guests: made } = (await kitchen.run(1, query)).data.recipe
      assert.equal(new Set(made.map((guest: { slug: string }) => guest.slug)).size, 8)
      const update = all.ids.slice(0, 400).map((id: number, n: number) => ({ id, name: `u${n}` }))
      const write = { ingredients: { update, delete: all.ids.slice(400) } }
      assert.equal((await patch(1, of, write)).status, 200)
      const left = update.map(({ name }: { name: string }) => name)
      assert.deepEqual((await whole(of)).ingredients, left)
    })

    test('parts of which one changes what is asked of another come one after another', async () => {
      const of = (await create(1, {})).json.id
      const toasts = Array.from({ length: 12 }, (_, n) => ({ name: n === 7 ? 'last' : `t${n}` }))
      const refusal = [403, 'toasts.create.8', 'FORBIDDEN', 'toasts.create.8']
      assert.deepEqual(await both(1, of, { toasts: { create: toasts } }), refusal)
      // One that takes what the next one gives up.
      const rows = Array.from({ length: 9 }, (_, n) => ({ name: 'x', code: `${on[0]}s${n}` }))
      assert.equal((await patch(1, of, { ingredients: { create: rows } })).status, 200)
      const { ids } = await whole(of)
      const update = ids.map((id: number, n: number) => ({ id, code: `${on[0]}s${(n + 1) % 9}` }))
      const path = 'ingredients.update.0.code'
      assert.deepEqual(await both(1, of, { ingredients: { update } }), [
        409,
        path,
        'CONFLICT',
        path,
      ])
      // Each row below raises the revision of the one that counts it.
      const notes = { create: Array.from({ length: 9 }, () => ({ text: title() })) }
      await patch(1, of, { ingredients: { update: [{ id: ids[0], notes }] } })
      const query = `{ ingredient(id: ${ids[0]}) { revision noteCount } }`
      const { data } = await kitchen.run(1, query)
      assert.deepEqual(data.ingredient, { revision: 11, noteCount: 9 })
    })

    test('a row is made with its parts, and theirs, at once', async () => {
      const of = await salted()
      const made = await whole(of)
      assert.deepEqual([made.ingredients, made.tags], [['salt', 'egg'], tags.slice(0, 2)])
      assert.deepEqual([made.counted, made.notes.length, made.revision], [[0, 1], 1, 1])
    })

    test('parts are made, changed and deleted with a change of their row, which has a new revision', async () => {
      const of = await salted()
      const { ids } = await whole(of)
      const { headers } = await kitchen.say(1, `GET /api/v2/recipes/${of}`)
      const etag = { 'If-Match': String(headers.get('etag')) }
      const body = {
        ingredients: {
          create: [{ name: 'flour' }],
          update: [{ id: ids[0], name: 'sugar' }],
          delete: [ids[1]],
        },
        tags: { add: [tags[2], tags[0]], remove: [tags[1]] },
      }
      const answer = await patch(1, of, body, etag)
      assert.equal(answer.status, 200, answer.text)
      const now = await whole(of)
      assert.deepEqual(
        [now.ingredients, now.tags, now.revision, now.parts],
        [['sugar', 'flour'], [tags[0], tags[2]], 2, 2],
      )
      assert.deepEqual(answer.json.servings, 2)
      await refused(patch(1, of, body, etag), 412)
      assert.deepEqual(await whole(of), now)
      assert.equal((await patch(1, of, { tags: { set: [] } })).status, 200)
      assert.deepEqual((await whole(of)).tags, [])
    })

    test('GraphQL does the same, with its ids', async () => {
      const made = await kitchen.run(
        1,
        `mutation { createRecipe(input: { title: "${title()}", ingredients: { create: [{ name: "salt" }, { name: "oil" }] }, tags: { set: ["${tags[0]}"] } })
          { id ingredients { id name } tags { id } } }`,
      )
      assert.equal(made.code, undefined)
      const { id: of, ingredients, tags: linked } = made.data.createRecipe
      assert.deepEqual([ingredients.length, linked], [2, [{ id: String(tags[0]) }]])
      const change = `mutation { updateRecipe(id: ${of}, expectedRevision: 1, input: { servings: 7, ingredients: { delete: [${ingredients[0].id}],
          update: [{ id: ${ingredients[1].id}, name: "pepper" }], create: [] }, tags: { set: [${tags[1]}, ${tags[2]}] } })
          { servings revision ingredients { name } tags { id } } }`
      const { data } = await kitchen.run(1, change)
      const { tags: after, ...own } = data.updateRecipe
      assert.deepEqual(own, { servings: 7, revision: 2, ingredients: [{ name: 'pepper' }] })
      assert.equal(after.length, 2)
      assert.equal((await kitchen.run(1, change)).code, 'PRECONDITION_FAILED')
      const none = `mutation { updateRecipe(id: ${of}, input: { ingredients: { delete: ["x"] } }) { id } }`
      assert.equal((await kitchen.run(1, none)).code, 'NOT_FOUND')
      const bad = `mutation { updateRecipe(id: ${of}, input: { ingredients: { create: [{ name: "" }] } }) { id } }`
      assert.equal((await kitchen.run(1, bad)).code, 'BAD_USER_INPUT')
    })

    test('every fault has its path, and nothing is written', async () => {
      const of = await salted()
      const before = await whole(of)
      const long = 'x'.repeat(21)
      await refused(
        patch(1, of, {
          servings: 0,
          ingredients: {
            create: [
              { name: 'ok' },
              { name: long, recipeId: 3, notes: { create: [{ text: long }] } },
            ],
            update: [{ id: 'x', name: 'y' }, {}, 7],
            delete: [0],
            remove: [],
          },
          tags: { set: [1], add: ['1'] },
        }),
        422,
        'servings',
        'ingredients.remove',
        'ingredients.delete.0',
        'ingredients.update.0.id',
        'ingredients.update.1.id',
        'ingredients.update.2',
        'ingredients.create.1.name',
        'ingredients.create.1.recipeId',
        'ingredients.create.1.notes.create.0.text',
        'tags.set',
        'tags.add.0',
      )
      await refused(patch(1, of, { ingredients: [], tags: null }), 422, 'ingredients', 'tags')
      await refused(create(1, { ingredients: { update: [] } }), 422, 'ingredients.update')
      const twice = { update: [{ id: 1 }], delete: [1] }
      await refused(patch(1, of, { ingredients: twice }), 422, 'ingredients.update.0.id')
      await refused(patch(1, of, { tags: { add: [999] } }), 404, 'tags.add')
      await refused(create(1, { tags: { set: [999] } }), 404, 'tags.set')
      assert.deepEqual(await whole(of), before)
    })

    test('too many parts are refused in one fault', async () => {
      const create10k = { create: Array.from({ length: 10_000 }, () => ({ name: 'x' })) }
      await refused(create(1, { ingredients: create10k }), 422, 'ingredients.create')
      const made = await create(1, { ingredients: { create: create10k.create.slice(0, 300) } })
      assert.equal(made.status, 201, made.text)
      assert.equal((await whole(made.json.id)).parts, 300)
    })

    test('parts of other rows are not there, and are not moved', async () => {
      const [of, other] = [await salted(1), await salted(1)]
      const { ids } = await whole(other)
      const before = await whole(of)
      await refused(
        patch(1, of, { servings: 9, ingredients: { delete: [ids[0]] } }),
        404,
        'ingredients.delete.0',
      )
      await refused(
        patch(1, of, { ingredients: { update: [{ id: ids[0], name: 'x' }] } }),
        404,
        'ingredients.update.0',
      )
      await refused(
        patch(1, of, { ingredients: { update: [{ id: before.ids[0], recipeId: other }] } }),
        422,
        'ingredients.update.0.recipeId',
      )
      assert.deepEqual([await whole(of), (await whole(other)).ids], [before, ids])
    })

    test('each part is judged by its own rules, and by the row as it will be', async () => {
      const of = await salted(1)
      const before = await whole(of)
      // Hidden, seen by an editor who may not write below it, poison by value, a closed tag by value.
      await refused(patch(3, of, { ingredients: { create: [{ name: 'x' }] } }), 404)
      await refused(
        patch(5, of, { ingredients: { create: [{ name: 'x' }] } }),
        403,
        'ingredients.create.0',
      )
      await refused(
        patch(1, of, { ingredients: { create: [{ name: 'a' }, { name: 'poison' }] } }),
        403,
        'ingredients.create.1',
      )
      await refused(patch(1, of, { tags: { add: [tags[3]] } }), 403, 'tags.add')
      await refused(patch(null, of, { tags: { add: [tags[0]] } }), 401)
      assert.deepEqual(await whole(of), before)
      assert.equal((await patch(5, of, { tags: { add: [tags[3]] } })).status, 200)
      // A link that stays needs no right, one that goes does.
      assert.equal((await patch(1, of, { tags: { set: [tags[0], tags[3]] } })).status, 200)
      await refused(patch(1, of, { tags: { set: [] } }), 403, 'tags.set')
      await refused(patch(1, of, { tags: { remove: [tags[3]] } }), 403, 'tags.remove')
      assert.deepEqual((await whole(of)).tags, [tags[0], tags[3]])
      await refused(
        create(1, { status: 'archived', ingredients: { create: [{ name: 'x' }] } }),
        403,
      )
      // The editor gives it away in the same write, and its parts are those of another then.
      await refused(
        create(5, { ownerId: 1, ingredients: { create: [{ name: 'x' }] } }),
        403,
        'ingredients.create.0',
      )
    })

    test('a link is made by PUT and ended by DELETE, as often as one likes, by the rules of what links', async () => {
      const of = await salted(1)
      const link = (as: Cook, method: 'PUT' | 'DELETE', to: unknown, from = of, body?: object) =>
        kitchen.say(as, `${method} /api/v2/recipes/${from}/tags/${to}`, body)
      const linked = async () => (await whole(of)).tags
      for (const method of ['PUT', 'PUT'] as const)
        assert.equal((await link(1, method, tags[2])).status, 204)
      assert.deepEqual(await linked(), tags.slice(0, 3))
      for (const method of ['DELETE', 'DELETE'] as const)
        assert.equal((await link(1, method, tags[0])).status, 204)
      assert.deepEqual(await linked(), tags.slice(1, 3))
      for (const method of ['PUT', 'DELETE'] as const) {
        await refused(link(3, method, tags[1]), 404)
        await refused(link(1, method, tags[1], 999), 404)
        await refused(link(1, method, 'x'), 404)
        await refused(link(null, method, tags[1]), 401)
      }
      await refused(link(1, 'PUT', 999), 404)
      await refused(link(1, 'PUT', tags[0], of, { a: 1 }), 422, 'a')
      await refused(link(1, 'PUT', tags[3]), 403)
      assert.equal((await link(5, 'PUT', tags[3])).status, 204)
      await refused(link(1, 'DELETE', tags[3]), 403)
      for (const method of ['PUT', 'DELETE'] as const)
        for (const header of ['If-Match', 'If-None-Match']) {
          const line = `${method} /api/v2/recipes/${of}/tags/${tags[1]}`
          const { status, json } = await kitchen.say(1, line, undefined, { [header]: '*' })
          assert.deepEqual([status, json.code], [412, 'PRECONDITION_FAILED'])
          assert.match(json.detail, new RegExp(`^${header} needs an ETag .*, and a link has none`))
        }
      assert.deepEqual(await linked(), tags.slice(1))
      assert.equal((await kitchen.say(1, `GET /api/v2/recipes/${of}/tags/${tags[1]}`)).status, 405)
    })

    test('many rows are made at once, with their parts, or none of them', async () => {
      const rowsNow = async () =>
        (await kitchen.say(2, 'GET /api/v2/recipes?limit=1')).json.pagination.total as number
      const bulk = (as: Cook, create: unknown, headers = {}) =>
        kitchen.say(as, 'POST /api/v2/recipes/bulk', { create }, headers)
      const before = await rowsNow()
      const rows = Array.from({ length: 3 }, () => ({
        title: title(),
        ingredients: { create: [{ name: 'salt' }] },
        tags: { set: [tags[0]] },
      }))
      const key = { 'Idempotency-Key': `bulk-${on}` }
      const made = await bulk(1, rows, key)
      assert.deepEqual([made.status, made.json?.count], [201, 3], made.text)
      assert.equal((await bulk(1, rows, key)).text, made.text)
      for (const of of made.json.ids)
        assert.deepEqual((await whole(of)).ingredients.concat((await whole(of)).tags), [
          'salt',
          tags[0],
        ])
      const [first] = rows
      await refused(bulk(1, [{ title: title() }, first]), 409, 'create.1.title')
      await refused(bulk(1, [{ title: title() }, { title: title(), ownerId: 3 }]), 403, 'create.1')
      await refused(
        bulk(1, [{ title: title() }, { titel: 'x', title: title() }, 5]),
        422,
        'create.1.titel',
        'create.2',
      )
      await refused(bulk(1, 'x'), 422, 'create')
      await refused(bulk(1, [{ title: title(), tags: { set: [999] } }]), 404, 'create.0.tags.set')
      await refused(bulk(1, Array(1001).fill({ title: 'x' })), 422, 'create')
      await refused(bulk(null, [{ title: title() }]), 401)
      assert.equal(await rowsNow(), before + 3)
      assert.deepEqual((await bulk(1, [])).json, { count: 0, ids: [] })
      const most = await bulk(
        1,
        Array.from({ length: 1000 }, () => ({ title: title() })),
      )
      assert.deepEqual([most.status, most.json?.ids?.length], [201, 1000], most.text)

      const many = (inputs: string) =>
        kitchen.run(1, `mutation { many: createRecipes(inputs: [${inputs}]) { n: count ids } }`)
      const done = await many(
        `{ title: "${title()}", ingredients: { create: [{ name: "oil" }] } }, { title: "${title()}" }`,
      )
      const { n: number, ids } = done.data.many
      assert.deepEqual([number, ids.length], [2, 2])
      assert.deepEqual((await whole(ids[0])).ingredients, ['oil'])
      assert.equal((await many(`{ title: "${title()}", servings: 0 }`)).code, 'BAD_USER_INPUT')
      assert.equal((await many(`{ title: "${title()}", teamId: "x" }`)).code, 'NOT_FOUND')
      assert.deepEqual((await many('')).data.many, { n: 0, ids: [] })
    })

    test('a value that is taken is told with its path', async () => {
      const text = title()
      const body = {
        ingredients: { create: [{ name: 'a', notes: { create: [{ text }, { text }] } }] },
      }
      await refused(create(1, body), 409, 'ingredients.create.0.notes.create.1.text')
    })

    test('a request that is sent twice under a key has its parts once', async () => {
      const key = { 'Idempotency-Key': `parts-${on}` }
      const body = { title: title(), ingredients: { create: [{ name: 'once' }] } }
      const first = await create(1, body, key)
      const again = await create(1, body, key)
      assert.deepEqual([again.status, again.text], [201, first.text])
      const of = first.json.id
      assert.deepEqual((await whole(of)).ingredients, ['once'])
      // So has a change, also where its If-Match held the first time alone.
      const change = { ingredients: { create: [{ name: 'more' }] } }
      const changing = {
        'Idempotency-Key': `more-${on}`,
        'If-Match': first.headers.get('etag') ?? '',
      }
      const changed = await patch(1, of, change, changing)
      const repeated = await patch(1, of, change, changing)
      assert.deepEqual([repeated.status, repeated.text], [200, changed.text])
      assert.deepEqual(
        [changed, repeated].map(({ headers }) => headers.get('idempotency-replayed')),
        [null, 'true'],
      )
      assert.deepEqual((await whole(of)).ingredients, ['once', 'more'])
      const merging = { ...changing, 'Content-Type': 'application/merge-patch+json' }
      for (const [other, headers] of [
        [{ servings: 3 }, changing],
        [change, merging],
      ] as const)
        assert.equal((await patch(1, of, other, headers)).json.code, 'IDEMPOTENCY_KEY_REUSED')
    })

    test('what comes with a row that changes hands meanwhile is below it before, or not at all', async () => {
      for (let round = 0; round < 6; round++) {
        const of = await salted(3)
        const writes = Array.from(
          { length: 6 },
          (_, index) => () =>
            patch(3, of, {
              ingredients: { create: [{ name: `n${index}` }] },
              tags: { set: [tags[2]] },
            }),
        )
        const taken = () => patch(2, of, { ownerId: 4 })
        const begun = writes.toSpliced(round, 0, taken).map(async write => (await write()).status)
        const statuses = await Promise.all(begun)
        assert.equal(statuses[round], 200)
        const done = statuses.filter(status => status === 200).length - 1
        assert.deepEqual(
          [...new Set(statuses)].filter(status => ![200, 404].includes(status)),
          [],
        )
        assert.equal((await whole(of)).parts, 2 + done)
        await refused(patch(3, of, { ingredients: { create: [{ name: 'late' }] } }), 404)
      }
    })
  })

test('parts that hold the thread give others a turn of it', async () => {
  let turn = 0
  const turns = new Set<number>()
  const validate = (value: unknown) => {
    turns.add(turn)
    // Longer than rows may hold the thread at a time.
    standStill(6)
    return { value: value as object }
  }
  const slow = json({ '~standard': { version: 1, validate } })
  const policy = { read: anyone, create: anyone, update: anyone }
  const model = modelFor({
    member,
    box: entity({
      fields: { id: id(), label: text({ max: 9 }), revision: revision() },
      relations: { things: many('thing', 'boxId', { nestedWrites: true }) },
      policy,
    }),
    thing: entity({
      fields: {
        id: id(),
        boxId: reference('box', { onDelete: 'cascade' }),
        data: slow,
        revision: revision(),
      },
      policy,
    }),
  } as unknown as Entities)
  const things = Array.from({ length: 40 }, (_, n) => ({ id: n + 1, data: {} }))
  for (const given of [{ create: things.map(({ data }) => ({ data })) }, { update: things }]) {
    turns.clear()
    const next = setInterval(() => turn++, 0)
    const { parts } = await inputWithParts(
      'box',
      { things: given },
      { model, mode: 'update', viewer: anonymous, now: 0, what: 'box' },
    )
    clearInterval(next)
    assert.equal(parts.length, 40)
    // A few rows need no turn, and each of the others has one.
    assert.ok(turns.size > 15, `${Object.keys(given)[0]}: ${turns.size}`)
  }
})

test('relations that cannot be parts stop the start in one sentence', () => {
  const withTags = (recipeTag: Partial<Entities[string]>) => () =>
    defineModel({ ...entities, recipeTag: { ...entities.recipeTag, ...recipeTag } } as never)
  assert.doesNotThrow(withTags({}))
  // So nothing is a part of its own kind: a first row of it belongs to none.
  const relations = {
    ...recipe.relations,
    variants: many('recipe', 'baseId', { nestedWrites: true }),
  }
  assert.throws(() => defineModel({ ...cooking, recipe: { ...recipe, relations } } as never), {
    message:
      'the model is wrong: recipe.variants has nestedWrites, and baseId may be null, so that they belong to no row: leave nestedWrites out, or make baseId required',
  })
  assert.throws(withTags({ sets: [] }), {
    message:
      "the model is wrong: recipe.tags has nestedWrites, and two recipeTags may link the same rows: add sets: [['recipeId', 'tagId']] to recipeTag",
  })
  assert.throws(
    withTags({ before: { create: () => undefined } }),
    /before\.create or before\.delete/,
  )
  assert.throws(
    () =>
      defineModel({
        ...entities,
        tag: {
          ...entities.tag,
          bulk: true,
          policy: { read: anyone },
          rest: { ...entities.tag?.rest, writes: [] },
        },
      } as never),
    /tag has bulk, and nobody may write tags/,
  )
  assert.throws(withTags({ policy: { read: anyone } }), /nobody may write recipeTags/)
})

test('the document says what an input takes below its row, and which rows are made at once', async () => {
  const { components } = await openApiOf(recipes, recipes.versions.newest)
  const { RecipeCreate, RecipeUpdate, RecipeBulk, RecipeWhere, BulkWrite } =
    components.schemas as Record<
      string,
      // biome-ignore lint/suspicious/noExplicitAny: the assertions say what it is.
      any
    >
  const wordsOf = ({ properties }: typeof RecipeCreate, member: string) =>
    Object.keys(properties[member].properties)
  assert.deepEqual(wordsOf(RecipeCreate, 'ingredients'), ['create'])
  assert.deepEqual(wordsOf(RecipeUpdate, 'ingredients'), ['create', 'update', 'delete'])
  assert.deepEqual(wordsOf(RecipeUpdate, 'tags'), ['set', 'add', 'remove'])
  const { update } = RecipeUpdate.properties.ingredients.properties
  assert.deepEqual(update.items.required, ['id'])
  assert.equal(update.items.properties.recipeId, undefined)
  const [create, change, end] = RecipeBulk.oneOf
  assert.equal(create.properties.create.maxItems, 1000)
  assert.deepEqual(
    [create, change, end].map(({ required }) => required),
    [['create'], ['update'], ['delete']],
  )
  assert.deepEqual(Object.keys(end.properties), ['delete', 'where', 'all', 'revisions', 'dryRun'])
  assert.equal(change.properties.update.properties.ingredients, undefined)
  assert.ok(RecipeWhere.properties.tags.properties.some)
  assert.deepEqual(Object.keys(BulkWrite.properties), ['count', 'ids'])
})

test('rows are written at once only where none changes what is asked of another', () => {
  const fields = { id: id(), size: int({ min: 0, max: 9 }) }
  const all = { read: anyone, create: signedIn, update: signedIn, delete: signedIn }
  const plain = entity({ fields, policy: { read: anyone } })
  const up = (onDelete: 'restrict' | 'cascade') => reference('row', { onDelete, nullable: true })
  const shopId = reference('shop', { onDelete: 'cascade' })
  const as = decimal({ scale: 0, min: -99, max: 99 })
  const shop = entity({
    fields: {
      ...fields,
      mean: avg('rows.size'),
      free: computed({ as, from: { minus: ['size', 'size'] } }),
      revision: revision(),
    },
    relations: { rows: many('row', 'shopId') },
    policy: all,
  })
  const apart = (
    does: 'create' | 'update' | 'delete',
    asked: string,
    row: object,
    more: object,
  ) => {
    const known = { row: entity({ fields, policy: all, ...row } as never), plain, ...more }
    const writing = { model: { entities: defineModel(known as never) } } as unknown as Writing
    return areApart(writing, 'row', { does, conditions: [sql`select 1 from ${name(asked)}`] })
  }
  const inShop = { fields: { ...fields, shopId, revision: revision() } }
  const cases = [
    [true, 'create', 'plains', {}, {}],
    [false, 'create', 'rows', {}, {}],
    [
      false,
      'create',
      'hots',
      {},
      { hot: entity({ fields, policy: { read: anyone }, view: true }) },
    ],
    [false, 'create', 'plains', { own: ['rows_own_trigger'] }, {}],
    [false, 'create', 'free', { fields: { ...fields, shopId } }, { shop }],
    [true, 'update', 'plains', inShop, { shop }],
    [false, 'update', 'revision', inShop, { shop }],
    [true, 'delete', 'plains', {}, {}],
    ...(['restrict', 'cascade'] as const).map(
      onDelete =>
        [false, 'delete', 'plains', { fields: { ...fields, upId: up(onDelete) } }, {}] as const,
    ),
  ] as const
  for (const [expected, does, asked, row, more] of cases)
    assert.equal(apart(does, asked, row, more), expected, `${does} ${asked} ${JSON.stringify(row)}`)
})
