/** Changes and deletions of many rows: their limits, what they refuse, what goes with them, and what others write meanwhile. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type JobFacts, jobs, type ReadFacts, reads } from '#channels.ts'
import { defineErrors } from '#errors.ts'
import { createLimiter } from '#http/limit/limiter.ts'
import { viewer } from '#model/condition.ts'
import { entity, many } from '#model/entity.ts'
import { id, int, reference, revision, text } from '#model/field.ts'
import type { Entities } from '#model/model.ts'
import { anyone, signedIn } from '#model/policy.ts'
import { change } from '#write/steps/steps.ts'
import { connected } from '../postgres/tools/ask.ts'
import { changeIn } from '../stores.ts'
import { type Cook, cooking, type Kitchen, kitchenOn } from '../support/cooking.ts'
import { forAllTests } from '../support/fixture.ts'
import { editor } from '../support/roles.ts'
import { standStill, until } from '../support/wait.ts'
import { engines } from './compare.ts'

const listing = { paging: 'page', limit: 50 } as const
const { recipe, ingredient, team } = cooking as Record<
  'recipe' | 'ingredient' | 'team',
  Entities[string]
>
const all = ['create', 'update', 'delete'] as const

/** What was seen of its hooks: the ids of the rows that they were called for. */
const hooked: string[] = []

/** What each of its hooks does meanwhile. */
const holding = { on: () => {} }

const errors = defineErrors({ BROKEN: { status: 409, title: 'The jar is broken' } })

const entities = {
  ...cooking,
  recipe: { ...recipe, bulk: true },
  ingredient: { ...ingredient, bulk: true },
  team: { ...team, bulk: true, policy: { read: anyone, create: signedIn, delete: editor } },
  /** Each change of a jar counts itself at its shelf, and each has effects. */
  shelf: entity({
    plural: 'shelves',
    fields: { id: id(), moves: int({ min: 0, max: 9999, initial: { value: 0 } }) },
    policy: { read: anyone, create: signedIn, delete: signedIn },
    rest: { list: true, one: true, writes: ['create', 'delete'], listing },
  }),
  jar: entity({
    fields: {
      id: id(),
      label: text({ max: 9 }),
      size: int({ min: 0, max: 99, initial: { value: 0 } }),
      shelfId: reference('shelf', {
        onDelete: 'cascade',
        nullable: true,
        immutable: false,
      }),
      secret: text({ max: 9, nullable: true, readableBy: { shelf: {} } }),
      ownerId: reference('member', { onDelete: 'cascade', initial: 'viewer' }),
      revision: revision(),
    },
    policy: {
      read: anyone,
      create: signedIn,
      update: signedIn.where({ ownerId: viewer }),
      delete: signedIn.where({ ownerId: viewer }),
    },
    relations: { shelf: { kind: 'one', to: 'shelf', by: 'shelfId' } },
    bulk: true,
    before: {
      create: () => {
        holding.on()
        return {}
      },
      update: ({ id, input }: { id: number; input: Record<string, unknown> }) => {
        hooked.push(`update ${id}`)
        holding.on()
        if (input.label === 'bad') return { error: errors.BROKEN }
        const values = { label: `jar ${id}` }
        return {
          values,
          steps: [change('shelf', 1, { moves: 1 }, { where: { moves: { lt: 9 } } })].slice(
            input.size === 7 ? 0 : 1,
          ),
        }
      },
      delete: ({ id }: { id: number }) => {
        hooked.push(`delete ${id}`)
        holding.on()
        return {}
      },
    },
    after: {
      update: { fields: ['label'], run: () => {} },
      delete: { fields: ['label'], run: () => {} },
    },
    rest: { list: true, one: true, writes: all, listing },
    graphql: { mutations: all },
  } as never),
} as unknown as Entities

for (const on of engines)
  describe(`edges of writes of many rows on ${on}`, () => {
    const kitchen = forAllTests(() => kitchenOn(on, entities))
    let n = 0
    type Answer = Awaited<ReturnType<Kitchen['say']>>
    const bulk = (as: Cook, plural: string, body: object, headers = {}) =>
      kitchen.say(as, `POST /api/v2/${plural}/bulk`, body, headers)
    const change = (as: Cook, body: object, headers = {}) => bulk(as, 'recipes', body, headers)
    const recipes = async (count: number, more: object = {}, as: Cook = 1) => {
      const create = Array.from({ length: count }, () => ({ title: `e${n++}`, ...more }))
      const made = await change(as, { create })
      assert.equal(made.status, 201, made.text)
      return made.json.ids as number[]
    }
    const one = async (id: number, as: Cook = 2) =>
      (await kitchen.say(as, `GET /api/v2/recipes/${id}`)).json
    const unmatched = async (answer: Promise<Answer>, said: RegExp) => {
      const { status, json, text } = await answer
      assert.deepEqual([status, json.code], [412, 'PRECONDITION_FAILED'], text)
      assert.match(json.detail, said)
    }
    const faultsOf = ({ json }: Answer) =>
      (json.errors ?? json.error?.details)?.map(({ field }: { field: string }) => field)
    const refused = async (answer: Promise<Answer>, status: number, ...fields: string[]) => {
      const answered = await answer
      assert.equal(answered.status, status, answered.text)
      if (fields.length > 0) assert.deepEqual(faultsOf(answered), fields, answered.text)
      return answered
    }
    const query = (text: string) => changeIn(kitchen.store)(text)

    test('a precondition that no ETag can be compared with is refused, after the right and the faults', async () => {
      const [id = 0] = await recipes(1)
      const etag = {
        'If-Match': String((await kitchen.say(1, `GET /api/v2/recipes/${id}`)).headers.get('etag')),
      }
      const where = { id }
      for (const [body, headers] of [
        [{ update: { servings: 9 }, where }, etag],
        [{ update: { servings: 9 }, where, dryRun: true }, { 'If-Match': '*' }],
        [{ delete: true, where }, etag],
        [{ create: [{ title: `e${n++}` }] }, { 'If-Match': '' }],
      ] as const)
        await unmatched(
          change(1, body, headers),
          /^If-Match needs an ETag .* each row under its own$/,
        )
      assert.equal((await one(id)).servings, 2)
      await refused(change(null, { delete: true, where }, etag), 401)
      await refused(change(1, { delete: true, where: { x: 1 } }, etag), 422, 'where.x')
      const fits = { 'If-None-Match': `*` }
      assert.equal((await change(1, { update: { servings: 9 }, where }, fits)).status, 200)
    })

    test('a thousand rows are changed at once, and one more is refused with nothing changed', async () => {
      const servings = 61
      const [first = 0, ...others] = await recipes(1000, { servings })
      const [last = 0] = await recipes(1, { servings })
      const where = { servings: { eq: servings } }
      await refused(change(1, { update: { servings: 62 }, where }), 422, 'where')
      await refused(change(1, { delete: true, where }), 422, 'where')
      await refused(change(1, { update: { servings: 62 }, where, dryRun: true }), 422, 'where')
      assert.equal((await one(first)).revision ?? 1, 1)
      await kitchen.say(1, `DELETE /api/v2/recipes/${last}`)
      const done = await change(1, { update: { servings: 62 }, where })
      assert.deepEqual([done.status, done.json], [200, { count: 1000, ids: [first, ...others] }])
      const [[changed, raised] = []] = await query(
        'select count(*), min(revision) from recipes where servings = 62',
      )
      assert.deepEqual([Number(changed), Number(raised)], [1000, 2])
      const gone = await change(1, { delete: true, where: { servings: { eq: 62 } } })
      assert.deepEqual([gone.status, gone.json.count], [200, 1000])
    })

    test('a create is tried without being done, in both APIs, with its faults', async () => {
      const title = `tried ${n++}`
      const create = [{ title }, { title: `${title} too` }]
      const count = async () =>
        (await kitchen.say(2, 'GET /api/v2/recipes?limit=1')).json.pagination.total
      const before = await count()
      const tried = await change(1, { create, dryRun: true })
      assert.deepEqual([tried.status, tried.json.count], [201, 2])
      const inputs = `[{ title: "${title}" }]`
      const { data } = await kitchen.run(
        1,
        `mutation { createRecipes(inputs: ${inputs}, dryRun: true) { count } }`,
      )
      assert.equal(data.createRecipes.count, 1)
      const bad = [{ title }, { title, servings: 0 }]
      await refused(change(1, { create: bad, dryRun: true }), 422, 'create.1.servings')
      await refused(change(null, { create, dryRun: true }), 401)
      assert.equal(await count(), before)
      assert.equal((await change(1, { create, dryRun: false })).status, 201)
      assert.equal(await count(), before + 2)
    })

    test('rows with another revision than the caller read are not written, and no others either', async () => {
      const ids = await recipes(3)
      const [a = 0, b = 0, c = 0] = ids
      const where = { id: { in: ids } }
      const servings = async () => Promise.all(ids.map(async id => (await one(id)).servings))
      await change(1, { update: { servings: 3 }, where: { id: b } })
      const read = { [a]: 1, [b]: 1, [c]: 1 }
      for (const body of [{ update: { servings: 9 } }, { delete: true }]) {
        const late = await change(1, { ...body, where, revisions: read })
        assert.deepEqual([late.status, late.json.code], [412, 'PRECONDITION_FAILED'])
        assert.deepEqual(faultsOf(late), [`recipes.${b}`])
      }
      assert.deepEqual(await servings(), [2, 3, 2])
      // A row that is not written may have any.
      const others = { update: { servings: 4 }, where: { id: { in: [a, c] } }, revisions: read }
      assert.equal((await change(1, others)).status, 200)
      const said = (revision: number) =>
        kitchen.run(
          1,
          `mutation { updateRecipes(where: { id: { in: [${ids}] } }, input: { servings: 5 },
            expectedRevisions: [{ id: ${a}, revision: ${revision} }]) { count } }`,
        )
      assert.equal((await said(1)).code, 'PRECONDITION_FAILED')
      assert.deepEqual((await said(2)).data, { updateRecipes: { count: 3 } })
      assert.deepEqual(await servings(), [5, 5, 5])
    })

    test('an expected revision of no id, of no row that can be, or of an id named before is refused', async () => {
      const [id = 0] = await recipes(1)
      const said = async (expected: string) => {
        const query = `mutation { updateRecipes(where: { id: { eq: ${id} } },
          input: { servings: 5 }, expectedRevisions: ${expected}) { count } }`
        return (await kitchen.say(1, 'POST /graphql', { query })).json
      }
      const fault = async (expected: string, field: string, message: string) => {
        const [{ extensions }] = (await said(expected)).errors
        assert.deepEqual(extensions, { code: 'BAD_USER_INPUT', details: [{ field, message }] })
      }
      const noId = 'must be an id with its revision'
      for (const odd of ['"x"', '"01"', '0', '-1', '""', '"9007199254740993"'])
        await fault(`[{ id: ${odd}, revision: 1 }]`, 'expectedRevisions.0', noId)
      for (const revision of [0, -1])
        await fault(`{ id: ${id}, revision: ${revision} }`, 'expectedRevisions.0', noId)
      await fault(
        `[{ id: ${id}, revision: 9 }, { id: "${id}", revision: 1 }]`,
        'expectedRevisions.1',
        `names the id ${id} again`,
      )
      const query = `mutation ($all: [ExpectedRevision!]) { updateRecipes(where: { id: { eq: ${id} } },
        input: { servings: 5 }, expectedRevisions: $all) { count } }`
      const all = Array.from({ length: 1001 }, (_, at) => ({ id: at + 1, revision: 1 }))
      const { json } = await kitchen.say(1, 'POST /graphql', { query, variables: { all } })
      assert.deepEqual(json.errors[0].extensions.details, [
        { field: 'expectedRevisions', message: 'has more than 1000 rows' },
      ])
      assert.equal((await one(id)).servings, 2)
      const { data } = await said(`{ id: "${id}", revision: 1 }`)
      assert.deepEqual(data, { updateRecipes: { count: 1 } })
    })

    test('a thousand rows may each have a revision of their own to be compared', async () => {
      const ids = await recipes(1000, { servings: 47 })
      const where = { servings: 47 }
      const update = { servings: 48 }
      const each = Object.fromEntries(ids.map((id, at) => [id, at + 1]))
      const late = await change(1, { update, where, revisions: each })
      assert.equal(late.status, 412, late.text)
      const all = Object.fromEntries(ids.map(id => [id, 1]))
      assert.equal((await change(1, { update, where, revisions: all })).status, 200)
      assert.equal((await change(1, { delete: true, where: update })).status, 200)
    })

    test('each fault of the input has its path, and nothing is written', async () => {
      const where = { id: 1 }
      await refused(change(1, {}), 422, 'create')
      await refused(change(1, { create: [], delete: true }), 422, 'delete')
      await refused(change(1, { delete: false, where }), 422, 'delete')
      await refused(
        change(1, { update: 1, where, all: 1, dryRun: 'x' }),
        422,
        'all',
        'dryRun',
        'update',
      )
      await refused(
        change(1, { update: { servings: 0, titel: 'x' }, where }),
        422,
        'update.servings',
        'update.titel',
      )
      await refused(change(1, { update: {}, where, ids: [1] }), 422, 'ids')
      await refused(change(1, { create: [], where }), 422, 'where')
      await refused(change(1, { create: [], dryRun: 1 }), 422, 'dryRun')
      await refused(change(1, { create: [], revisions: {} }), 422, 'revisions')
      await refused(change(1, { delete: true, where, revisions: [] }), 422, 'revisions')
      const odd = { 1: 'x', a: 1, 2: 0, 3: '1', 4: [1], 5: 1.5 }
      const places = [1, 2, 3, 4, 5, 'a'].map(id => `revisions.${id}`)
      await refused(change(1, { delete: true, where, revisions: odd }), 422, ...places)
      const many = Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [at + 1, 1]))
      await refused(change(1, { delete: true, where, revisions: many }), 422, 'revisions')
      await refused(
        change(1, {
          delete: true,
          where: { or: [{ title: 'x' }, { servings: { gt: 'x' }, titel: 1 }] },
        }),
        422,
        'where.or.1.servings.gt',
        'where.or.1.titel',
      )
      for (const where of [
        undefined,
        {},
        { and: [] },
        { not: { or: [{}] } },
        { or: [{}, { and: [{}] }] },
      ])
        await refused(change(1, { delete: true, where }), 422, 'where')
      const several = { servings: { in: Array(101).fill(1) } }
      await refused(change(1, { delete: true, where: several }), 422, 'where.servings.in')
      await refused(change(null, { delete: true, where }), 401)
      await refused(kitchen.say(1, 'POST /api/v2/remarks/bulk', {}), 405)
      const gql = async (field: string) => {
        const { json } = await kitchen.say(1, 'POST /graphql', {
          query: `mutation { ${field} { count } }`,
        })
        return (
          json.errors as { extensions: { code: string; details?: { field: string }[] } }[]
        ).flatMap(({ extensions: { code, details = [] } }) => [
          code,
          ...details.map(({ field }) => field),
        ])
      }
      assert.deepEqual(await gql('deleteRecipes'), ['BAD_USER_INPUT', 'where'])
      assert.deepEqual(await gql('deleteRecipes(where: null)'), ['BAD_USER_INPUT', 'where'])
      assert.deepEqual(await gql('deleteRecipes(where: { not: {} })'), ['BAD_USER_INPUT', 'where'])
      assert.deepEqual(
        await gql('updateRecipes(where: { id: { eq: 1 } }, input: { servings: 0 })'),
        ['BAD_USER_INPUT', 'input.servings'],
      )
    })

    test('a condition that holds for every row by its form needs all: true, however deep, in both APIs', async () => {
      const [id = 0] = await recipes(1)
      const nobody = { title: { in: [] } }
      const forAll = [
        { id: { notIn: [] } },
        { not: { id: { in: [] } } },
        { and: [{ id: { notIn: [] } }, { not: { title: { in: [] } } }] },
        { or: [{ title: { eq: 'x' } }, { id: { notIn: [] } }] },
        { or: [{ title: { eq: 'x' } }, {}] },
        { not: { and: [{ title: { eq: 'x' } }, nobody] } },
        { not: { or: [] } },
        { id: { isNull: false } },
        { title: { ne: null } },
        { owner: {} },
        { owner: { id: { notIn: [] } } },
        { ingredients: { none: { name: { in: [] } } } },
        { ingredients: { none: { recipe: { ingredients: { some: { id: { in: [] } } } } } } },
      ]
      const notForAll = [
        { id: { notIn: [id] } },
        { and: [{ id: { notIn: [] } }, { title: { eq: 'x' } }] },
        nobody,
        { or: [nobody] },
        { not: { id: { isNull: false } } },
        { base: { title: { eq: null } } },
        { base: { id: { notIn: [] } } },
        { ingredients: { none: {} } },
        { ingredients: { some: { name: { notIn: [] } } } },
      ]
      const query = `mutation ($where: RecipeWhere, $all: Boolean) {
        deleteRecipes(where: $where, all: $all, dryRun: true) { count } }`
      const asked = async (where: object, all?: boolean) => {
        const rest = await change(2, { delete: true, where, dryRun: true, ...(all && { all }) })
        const variables = { where, all }
        const { json } = await kitchen.say(2, 'POST /graphql', { query, variables })
        const { count } = json.data?.deleteRecipes ?? {}
        const details = json.errors?.[0].extensions.details
        return {
          rest: rest.json.count ?? faultsOf(rest),
          graphql: count ?? details?.map(({ field }: { field: string }) => field) ?? json,
        }
      }
      for (const where of forAll) {
        const refusal = { rest: ['where'], graphql: ['where'] }
        assert.deepEqual(await asked(where), refusal, JSON.stringify(where))
        assert.equal(typeof (await asked(where, true)).rest, 'number', JSON.stringify(where))
      }
      for (const where of notForAll) {
        const { rest, graphql } = await asked(where)
        assert.equal(typeof rest, 'number', JSON.stringify([where, rest]))
        assert.deepEqual(graphql, rest, JSON.stringify(where))
      }
    })

    test('rows are looked for in the lane of slow reads, for their caller, and compared again by the write', async () => {
      const ids = await recipes(2, { servings: 57 })
      const found: [lane: string, text: string][] = []
      const written: string[] = []
      const see = (facts: unknown) => {
        const { lane, statements } = facts as ReadFacts
        for (const text of statements()) found.push([lane, text])
      }
      const note = (facts: unknown) => void written.push(...(facts as JobFacts).statements())
      reads.asyncEnd.subscribe(see)
      jobs.start.subscribe(note)
      const where = { servings: { eq: 57 } }
      const done = await change(1, { update: { checked: 'yes' }, where, dryRun: true })
      reads.asyncEnd.unsubscribe(see)
      jobs.start.unsubscribe(note)
      assert.deepEqual(done.json.ids, ids, done.text)
      const compares = (text: string) => /"servings" = /.test(text)
      assert.deepEqual(
        found.filter(([, text]) => compares(text)).map(([lane]) => lane),
        ['slow'],
      )
      const again = written.filter(compares)
      assert.equal(again.length, 1)
      // Of the rows that are held already, and of no others.
      assert.match(again[0] ?? '', /^select id from "recipes" where "recipes"\."id" (in|= any)/)
    })

    test('a field that the caller may not read in every row is no way to its values', async () => {
      await refused(bulk(1, 'jars', { delete: true, where: { secret: 'x' }, dryRun: true }), 403)
      await refused(
        bulk(1, 'jars', { delete: true, where: { not: { secret: { isNull: true } } } }),
        403,
      )
      const { code } = await kitchen.run(
        1,
        'mutation { deleteJars(where: { secret: { startsWith: "x" } }) { count } }',
      )
      assert.equal(code, 'GRAPHQL_VALIDATION_FAILED')
      const by = await kitchen.run(
        1,
        'mutation { deleteJars(where: { secret: { eq: "x" } }) { count } }',
      )
      assert.equal(by.code, 'FORBIDDEN')
      assert.equal((await bulk(2, 'jars', { delete: true, where: { secret: 'x' } })).status, 200)
    })

    test('one row without the right refuses all, and names those that were seen', async () => {
      const own = await recipes(2, { status: 'published' })
      const others = await recipes(2, { status: 'published' }, 3)
      await recipes(1, { servings: 51 }, 3)
      const ids = [...own, ...others]
      const { json } = await refused(
        change(1, { delete: true, where: { id: { in: ids } }, dryRun: true }),
        403,
        ...others.map(id => `recipes.${id}`),
      )
      assert.match(JSON.stringify(json), /delete all these recipes/)
      await refused(change(1, { delete: true, where: { id: { in: ids } } }), 403)
      // A draft of another is not there.
      const hidden = await change(1, { delete: true, where: { servings: 51 } })
      assert.deepEqual(hidden.json, { count: 0, ids: [] })
      assert.equal((await one(others[0] ?? 0)).status, 'published')
      await refused(change(3, { update: { ownerId: 4 }, where: { id: { in: others } } }), 403)
      await refused(
        change(2, { update: { teamId: 999 }, where: { id: { in: own } } }),
        404,
        'update',
      )
      const [title] = [(await one(own[0] ?? 0)).title]
      await refused(
        change(2, { update: { title }, where: { id: { in: others } } }),
        409,
        'update.title',
      )
    })

    test('a change of many rows is judged by what it makes of them, in both APIs', async () => {
      const owned = await recipes(2, { servings: 63 })
      const { id: teamId } = (await kitchen.say(1, 'POST /api/v2/teams', { name: 'us' })).json
      await kitchen.say(2, 'POST /api/v2/seats', { memberId: 1, teamId, rank: 'cook' })
      const shared = await recipes(2, { servings: 64, teamId }, 3)
      // An owner gives no draft away, and a member takes none out of its team.
      for (const [ids, servings, update, input] of [
        [owned, 63, { ownerId: 3 }, '{ ownerId: 3 }'],
        [shared, 64, { teamId: null }, '{ teamId: null }'],
      ] as const) {
        const { json } = await refused(
          change(1, { update, where: { servings } }),
          403,
          ...ids.map(id => `recipes.${id}`),
        )
        assert.match(json.detail, /change all these recipes so/)
        const where = `{ servings: { eq: ${servings} } }`
        const { code } = await kitchen.run(
          1,
          `mutation { updateRecipes(where: ${where}, input: ${input}) { count } }`,
        )
        assert.equal(code, 'FORBIDDEN')
        const [id = 0] = ids
        const kept = await one(id)
        assert.deepEqual([kept.ownerId, kept.teamId], ids === owned ? [1, null] : [3, teamId])
        const done = await change(1, { update: { servings: 65 }, where: { servings } })
        assert.deepEqual([done.status, done.json.ids], [200, ids])
      }
    })

    test('who may create many rows and delete none is told so before the faults of a deletion', async () => {
      const deletion = { delete: true, where: { nam: 'x' } }
      const { json } = await refused(bulk(1, 'teams', deletion), 403)
      assert.match(json.detail, /delete teams/)
      await refused(bulk(5, 'teams', deletion), 422, 'where.nam')
      await refused(bulk(1, 'teams', { create: [{ name: '' }] }), 422, 'create.0.name')
      assert.equal((await bulk(1, 'teams', { create: [{ name: 'us' }] })).status, 201)
    })

    test('a trial says the same and changes nothing, under a key too', async () => {
      const ids = await recipes(3, { servings: 52 })
      const key = { 'Idempotency-Key': `trial-${on}` }
      const body = { update: { servings: 53 }, where: { servings: 52 } }
      for (const _ of [1, 2]) {
        const tried = await change(1, { ...body, dryRun: true }, key)
        assert.deepEqual([tried.status, tried.json.ids], [200, ids])
        assert.equal(tried.headers.get('idempotency-replayed'), null)
      }
      assert.equal((await one(ids[0] ?? 0)).servings, 52)
      const done = await change(1, body, key)
      assert.deepEqual(done.json.ids, ids)
      const again = await change(1, body, key)
      assert.deepEqual([again.text, again.headers.get('idempotency-replayed')], [done.text, 'true'])
      await refused(change(1, { ...body, all: true }, key), 422)
      assert.equal((await one(ids[0] ?? 0)).servings, 53)
      const query = 'mutation { deleteRecipes(where: { servings: { eq: 53 } }) { ids } }'
      const byGraphql = async () =>
        (await kitchen.say(1, 'POST /graphql', { query }, { 'Idempotency-Key': `gone-${on}` })).json
      const gone = await byGraphql()
      assert.deepEqual(gone.data.deleteRecipes.ids, ids.map(String))
      assert.deepEqual(await byGraphql(), gone)
    })

    test('rows that hold the thread give others a turn of it', async () => {
      const sizes = Array.from({ length: 40 }, () => ({ label: 'x', size: 77 }))
      const where = { size: 77 }
      for (const body of [
        { create: sizes },
        { update: { size: 77 }, where },
        { delete: true, where },
      ]) {
        let turn = 0
        const turns = new Set<number>()
        const next = setInterval(() => turn++, 0)
        holding.on = () => {
          turns.add(turn)
          // Longer than rows may hold the thread at a time.
          standStill(6)
        }
        const { status, text } = await bulk(1, 'jars', body)
        clearInterval(next)
        holding.on = () => {}
        assert.ok(status < 300, text)
        // A few rows need no turn, and each of the others has one.
        assert.ok(turns.size > 15, `${Object.keys(body)[0]}: ${turns.size}`)
      }
    })

    test('what was read before is read anew', async () => {
      const [id = 0] = await recipes(1, { servings: 54, status: 'published' })
      const shown = () => kitchen.say(null, `GET /api/v2/recipes/${id}`)
      const etag = (await shown()).headers.get('etag')
      assert.equal((await shown()).json.servings, 54)
      await change(2, { update: { servings: 55 }, where: { id } })
      const now = await shown()
      assert.equal(now.json.servings, 55)
      assert.notEqual(now.headers.get('etag'), etag)
      await change(2, { delete: true, where: { id } })
      assert.equal((await shown()).status, 404)
    })

    test('hooks before and effects after are those of each row', async () => {
      await kitchen.say(1, 'POST /api/v2/shelves', {})
      const create = [1, 2, 3].map(size => ({ label: 'x', size }))
      const { ids } = (await bulk(1, 'jars', { create })).json
      await query('delete from outbox')
      hooked.length = 0
      const done = await bulk(1, 'jars', { update: { size: 7 }, where: { size: { in: [1, 2] } } })
      assert.deepEqual([done.status, done.json?.ids], [200, ids.slice(0, 2)], done.text)
      assert.deepEqual(hooked, [`update ${ids[0]}`, `update ${ids[1]}`])
      const jars = (await kitchen.say(1, 'GET /api/v2/jars')).json.data
      assert.deepEqual(
        jars.map(({ label }: { label: string }) => label),
        [`jar ${ids[0]}`, `jar ${ids[1]}`, 'x'],
      )
      assert.equal((await kitchen.say(1, 'GET /api/v2/shelves/1')).json.moves, 1)
      const tried = await bulk(1, 'jars', { delete: true, all: true, dryRun: true })
      assert.equal(tried.json?.count, 3, tried.text)
      await refused(
        bulk(3, 'jars', { delete: true, all: true }),
        403,
        ...ids.map((id: number) => `jars.${id}`),
      )
      const gone = await bulk(1, 'jars', { delete: true, where: { size: 7 } })
      assert.deepEqual(gone.json, { count: 2, ids: ids.slice(0, 2) })
      const effects = await query('select effect, payload from outbox order by effect, payload')
      assert.deepEqual(
        effects.map(([effect, payload]) => `${effect} ${JSON.parse(String(payload)).id}`),
        ['jar delete', 'jar update'].flatMap(effect => [
          `${effect} ${ids[0]}`,
          `${effect} ${ids[1]}`,
        ]),
      )
    })

    test('a hook or a step before one row that does not hold refuses all, and names the row', async () => {
      await query('update shelves set moves = 9')
      const create = [4, 5].map(size => ({ label: 'x', size }))
      const { ids } = (await bulk(1, 'jars', { create })).json
      for (const update of [{ size: 7 }, { label: 'bad' }]) {
        const where = { size: { in: [4, 5] } }
        await refused(bulk(1, 'jars', { update, where }), 409, `jars.${ids[0]}`)
      }
      const done = await bulk(1, 'jars', { update: { size: 8 }, where: { size: { in: [4, 5] } } })
      assert.deepEqual(done.json?.ids, ids, done.text)
    })

    test('rows with hooks that change meanwhile are those that are written', async () => {
      for (let round = 0; round < 5; round++) {
        const size = 20 + round
        const create = Array.from({ length: 6 }, () => ({ label: 'x', size }))
        const { ids } = (await bulk(1, 'jars', { create })).json as { ids: number[] }
        const [taken = 0] = ids
        const [moved, done] = await Promise.all([
          kitchen.say(1, `PATCH /api/v2/jars/${taken}`, { size: 90 }),
          bulk(1, 'jars', { update: { size: 91 }, where: { size } }),
        ])
        assert.deepEqual([moved.status, done.status], [200, 200], done.text)
        const jar = (await kitchen.say(1, `GET /api/v2/jars/${taken}`)).json
        // It was changed by both where the other came later, and by the other alone where it fitted no more.
        assert.equal(jar.size, 90)
        assert.ok(ids.slice(1).every(id => done.json.ids.includes(id)))
      }
    })

    // On SQLite one write comes after another.
    const racing = on === 'postgres' ? test : () => {}
    const meanwhile = async (statements: readonly string[], write: () => Promise<Answer>) => {
      const other = await connected(kitchen.url ?? '')
      try {
        await other.query('begin')
        for (const text of statements) await other.query(text)
        const written = write()
        await until('the write waits for the other transaction', async () => {
          const { rows } = await other.query(`select 1 from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`)
          return rows.length > 0
        })
        await other.query('commit')
        return await written
      } finally {
        await other.end()
      }
    }

    racing('a row that fits no more when others are done is not changed, nor deleted', async () => {
      const [first = 0, second = 0, third = 0] = await recipes(3, { servings: 57 })
      const ids = [first, second, third]
      const where = { id: { in: ids }, status: 'draft' }
      const archived = (id: number) =>
        `update recipes set status = 'archived', revision = revision + 1 where id = ${id}`
      const changed = await meanwhile([archived(first)], () =>
        change(1, { update: { servings: 58 }, where }),
      )
      assert.deepEqual([changed.status, changed.json?.ids], [200, [second, third]], changed.text)
      assert.equal((await one(first)).servings, 57)
      const gone = await meanwhile([archived(second)], () => change(1, { delete: true, where }))
      assert.deepEqual([gone.status, gone.json?.ids], [200, [third]], gone.text)
      assert.equal((await one(second)).servings, 58)
    })

    racing(
      'a row is not written where others put a row below it meanwhile that it must not have',
      async () => {
        const [first = 0, second = 0] = await recipes(2, { servings: 59 })
        const where = { servings: 59, ingredients: { none: {} } }
        const salted = (id: number) => [
          `select 1 from recipes where id = ${id} for share`,
          `insert into ingredients (name, recipe_id, revision) values ('salt', ${id}, 1)`,
        ]
        const changed = await meanwhile(salted(first), () =>
          change(1, { update: { status: 'published' }, where }),
        )
        assert.deepEqual([changed.status, changed.json?.ids], [200, [second]], changed.text)
        const gone = await meanwhile(salted(second), () =>
          change(1, { delete: true, where: { id: second, ingredients: { none: {} } } }),
        )
        assert.deepEqual([gone.status, gone.json?.ids], [200, []], gone.text)
        assert.equal((await one(second)).status, 'published')
      },
    )

    racing('a right that is lost meanwhile refuses all', async () => {
      const [first = 0, second = 0] = await recipes(2, { servings: 60, status: 'published' })
      const where = { id: { in: [first, second] } }
      const taken = `update recipes set owner_id = 4, revision = revision + 1 where id = ${second}`
      await refused(
        meanwhile([taken], () => change(1, { delete: true, where })),
        403,
        `recipes.${second}`,
      )
      assert.equal((await one(first)).status, 'published')
    })

    test('unknown members of a body are told beside its other faults, with the names that were meant', async () => {
      const where = { servngs: 1 }
      const answered = await change(1, { update: { servings: 9 }, where, dryrun: true, x: 1 })
      assert.equal(answered.status, 422)
      assert.deepEqual(
        answered.json.errors.map(({ field, message }: Record<string, string>) => [
          field,
          message?.replace(/name one of .*/, ''),
        ]),
        [
          ['dryrun', 'is not a member here; did you mean dryRun?'],
          ['x', 'is not a member here; there are update, where, all, dryRun, revisions'],
          ['where.servngs', 'is not a field or relation of recipe: did you mean servings?'],
        ],
      )
      await refused(change(1, { create: [], where: {} }), 422, 'where')
    })

    test('of a thing without a revision a precondition asks whether it is there, and a tag is refused', async () => {
      const made = await kitchen.say(1, 'POST /api/v2/shelves', {})
      const at = `/api/v2/shelves/${made.json.id}`
      const end = (headers: Readonly<Record<string, string>>, line = `DELETE ${at}`) =>
        kitchen.say(1, line, undefined, headers)
      const etag = String((await kitchen.say(1, `GET ${at}`)).headers.get('etag'))
      const revised = `"shelves-${made.json.id}-1-${'x'.repeat(16)}"`
      for (const tag of [etag, revised, `W/${etag}`, 'none'])
        await unmatched(
          end({ 'If-Match': tag }),
          /^If-Match needs a revision .*leave the header out, or send \*$/,
        )
      await unmatched(end({ 'If-None-Match': '*' }), /^If-None-Match is \*/)
      await refused(end({ 'If-Match': etag }, 'DELETE /api/v2/shelves/999'), 404)
      assert.equal((await end({ 'If-Match': '*', 'If-None-Match': etag })).status, 204)
    })
  })

test('each hundred rows that are begun count one against the rate limit, however they are written, in both APIs', async () => {
  const limiter = createLimiter({ limit: 40, now: () => 0 })
  const parts = { ingredients: many('ingredient', 'recipeId', { nestedWrites: true }) }
  const { relations } = entities.recipe as { relations: object }
  const nested = {
    ...entities,
    recipe: { ...entities.recipe, relations: { ...relations, ...parts } },
  }
  const kitchen = await kitchenOn('sqlite', nested as unknown as Entities, { limiter })
  const left = ({ headers }: { headers: Headers }) =>
    Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1])
  const bulk = (body: object) => kitchen.say(1, 'POST /api/v2/recipes/bulk', body)
  const run = (query: string, variables = {}) =>
    kitchen.say(1, 'POST /graphql', { query, variables })
  let n = 0
  const rows = (count: number) => Array.from({ length: count }, () => ({ title: `r${n++}` }))
  const below = (count: number) => ({ create: rows(count).map(({ title: name }) => ({ name })) })
  try {
    assert.equal(left(await bulk({ create: rows(100) })), 39)
    assert.equal(left(await bulk({ create: rows(101) })), 37)
    const many =
      'mutation ($inputs: [CreateRecipeInput!]!) { createRecipes(inputs: $inputs) { count } }'
    assert.equal(left(await run(many, { inputs: rows(101) })), 35)
    const one = await kitchen.say(1, 'POST /api/v2/recipes', {
      ...rows(1)[0],
      ingredients: below(200),
    })
    assert.deepEqual([one.status, left(one)], [201, 32], one.text)
    const patch = `PATCH /api/v2/recipes/${one.json.id}`
    assert.equal(left(await kitchen.say(1, patch, { ingredients: below(99) })), 31)
    const update = `mutation ($input: UpdateRecipeInput!) { updateRecipe(id: ${one.json.id}, input: $input) { id } }`
    assert.equal(left(await run(update, { input: { ingredients: below(100) } })), 29)
    const where = { servings: { gte: 1 } }
    const some = await bulk({ update: { servings: 3 }, where, dryRun: true })
    assert.deepEqual([some.json.count, left(some)], [303, 25], some.text)
    const gone = await run(
      'mutation { deleteRecipes(where: { servings: { gte: 1 } }, dryRun: true) { count } }',
    )
    assert.deepEqual([gone.json.data?.deleteRecipes.count, left(gone)], [303, 21], gone.text)
    // Faulty rows are begun too, and a write above the limit is refused whole.
    assert.equal(left(await bulk({ create: Array(900).fill({}) })), 12)
    assert.equal(left(await bulk({ create: Array(1000).fill({}) })), 2)
    const above = await bulk({ create: rows(1000) })
    assert.deepEqual([above.status, above.json.code], [429, 'RATE_LIMITED'])
    assert.equal((await changeIn(kitchen.store)('select count(*) from recipes'))[0]?.[0], 303)
  } finally {
    limiter.close()
    await kitchen.close()
  }
})
