/** The order in which a write is checked: of all that is wrong with one at once its caller is told the same first, in both APIs, on both engines. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createLimiter } from '#http/limit/limiter.ts'
import type { Entities } from '#model/model.ts'
import { anyone } from '#model/policy.ts'
import { changeIn } from '../stores.ts'
import { type Cook, cooking, type Kitchen, kitchenOn } from '../support/cooking.ts'
import { editor } from '../support/roles.ts'
import { engines } from './compare.ts'

const { recipe, team } = cooking as Record<'recipe' | 'team', Entities[string]>
const entities = {
  ...cooking,
  recipe,
  team: {
    ...team,
    policy: { read: anyone, create: editor, update: editor },
    rest: { ...team.rest, writes: ['create', 'update'] },
    graphql: { ...team.graphql, mutations: ['create', 'update'] },
  },
} as unknown as Entities

/** What may be wrong with a write, and what its caller is told: the first of them that is. */
const told = {
  'over the rate limit': [429, 'RATE_LIMITED'],
  'no token': [401, 'UNAUTHENTICATED'],
  'bad token': [401, 'UNAUTHENTICATED'],
  'wrong role': [403, 'FORBIDDEN'],
  'over the creation limit': [429, 'RATE_LIMITED'],
  barred: [403, 'FORBIDDEN'],
  gone: [403, 'FORBIDDEN'],
  'hidden row': [404, 'NOT_FOUND'],
  'absent row': [404, 'NOT_FOUND'],
  'wrong row': [403, 'FORBIDDEN'],
  'absent reference of a new row': [404, 'NOT_FOUND'],
  'faulty input': [422, 'VALIDATION_ERROR'],
  'stale revision': [412, 'PRECONDITION_FAILED'],
  'absent reference': [404, 'NOT_FOUND'],
  'taken value': [409, 'CONFLICT'],
} as const satisfies Record<string, readonly [number, string]>
type Wrong = keyof typeof told

/** Of each list at most one can be wrong at once. */
const combinationsOf = (lists: readonly (readonly Wrong[])[]): readonly (readonly Wrong[])[] =>
  lists.reduce<readonly (readonly Wrong[])[]>(
    (all, list) => all.flatMap(wrong => [wrong, ...list.map(one => [...wrong, one])]),
    [[]],
  )

const callers: readonly Wrong[] = ['no token', 'bad token', 'barred', 'gone']
const kinds = {
  'update a recipe': [
    ['over the rate limit'],
    callers,
    ['hidden row', 'absent row', 'wrong row'],
    ['faulty input'],
    ['stale revision'],
    ['absent reference'],
    ['taken value'],
  ],
  'delete a recipe': [
    ['over the rate limit'],
    callers,
    ['hidden row', 'absent row', 'wrong row'],
    ['stale revision'],
  ],
  'create a recipe': [
    ['over the rate limit'],
    callers,
    ['over the creation limit'],
    ['absent reference of a new row'],
    ['faulty input'],
    ['taken value'],
  ],
  'create a team': [
    ['over the rate limit'],
    ['no token', 'bad token', 'wrong role'],
    ['over the creation limit'],
    ['faulty input'],
  ],
  'update a team': [
    ['over the rate limit'],
    ['no token', 'bad token', 'wrong role'],
    ['absent row'],
    ['faulty input'],
  ],
} as const satisfies Record<string, readonly (readonly Wrong[])[]>
type Kind = keyof typeof kinds

for (const on of engines)
  describe(`the order of checks on ${on}`, () => {
    const clock = { now: 0 }
    const limit = 50
    const limiter = createLimiter({
      limit,
      now: () => clock.now,
      creations: { recipe: 2, team: 2 },
    })
    let kitchen: Kitchen
    let n = 0
    const title = () => `t${n++}`
    /** A minute of its own for each write, so that nothing counts with it. */
    const minute = () => {
      clock.now += 60_000
    }
    const ids = { own: 0, others: 0, hidden: 0, team: 0 }
    const make = async (as: Cook, body: object) => {
      minute()
      const { json, text } = await kitchen.say(as, 'POST /api/v2/recipes', {
        title: title(),
        ...body,
      })
      assert.ok(json.id, text)
      return json.id as number
    }
    before(async () => {
      kitchen = await kitchenOn(on, entities, { limiter })
      ids.own = await make(1, {})
      ids.others = await make(2, { status: 'published' })
      ids.hidden = await make(2, {})
      await make(2, { title: 'taken' })
      minute()
      ids.team = (await kitchen.say(5, 'POST /api/v2/teams', { name: 'us' })).json.id
      const change = changeIn(kitchen.store)
      await change("update members set status = 'barred' where id = 3 returning id")
      await change('delete from members where id = 4 returning id')
    })
    after(async () => {
      limiter.close()
      await kitchen?.close()
    })

    /** A write with all that is wrong with it. */
    const stated = async (kind: Kind, wrong: readonly Wrong[]) => {
      const is = (one: Wrong) => wrong.includes(one)
      const [does = '', , what = ''] = kind.split(' ')
      const good: Cook = what === 'team' ? 5 : 1
      let as: Cook = good
      if (is('no token') || is('bad token')) as = null
      if (is('barred')) as = 3
      if (is('gone')) as = 4
      if (is('wrong role')) as = 1
      let id = what === 'team' ? ids.team : ids.own
      if (is('hidden row')) id = ids.hidden
      if (is('wrong row')) id = ids.others
      if (is('absent row')) id = 99_999
      const input: Record<string, unknown> = what === 'team' ? { name: title() } : { servings: 5 }
      if (does === 'create' && what === 'recipe') input.title = title()
      if (is('taken value')) input.title = 'taken'
      if (is('absent reference') || is('absent reference of a new row')) input.teamId = 99_999
      if (is('faulty input'))
        input[what === 'team' ? 'name' : 'servings'] = what === 'team' ? '' : 0
      minute()
      // The admin sees all; of a row that is not there no revision is right.
      const row =
        what === 'recipe' && does !== 'create'
          ? await kitchen.say(2, `GET /api/v2/recipes/${id}`)
          : undefined
      const revision = Number(
        row?.json?.revision ?? /-(\d+)-[^-]*"$/.exec(row?.headers.get('etag') ?? '')?.[1] ?? 1,
      )
      minute()
      return {
        does,
        what,
        as,
        id,
        input,
        revision: is('stale revision') ? revision + 7 : revision,
        etag: row?.headers.get('etag') ?? '"none"',
        isStale: is('stale revision'),
      }
    }
    const headersFor = (wrong: readonly Wrong[]): Readonly<Record<string, string>> =>
      wrong.includes('bad token') ? { Authorization: 'Bearer a.b.c' } : {}
    /** Uses up what the caller may send, or make, in this minute. */
    const spend = async (as: Cook, wrong: readonly Wrong[], what: string) => {
      const headers = headersFor(wrong)
      if (wrong.includes('over the creation limit'))
        for (const _ of [1, 2]) {
          const body = what === 'team' ? { name: title() } : { title: title() }
          await kitchen.say(as, `POST /api/v2/${what}s`, body, headers)
        }
      if (wrong.includes('over the rate limit'))
        for (let sent = 0; sent < limit; sent++)
          await kitchen.say(as, `GET /api/v2/teams/${ids.team}`, undefined, headers)
    }
    type Stated = Awaited<ReturnType<typeof stated>>
    const byRest = async (
      { does, what, as, id, input, etag, isStale }: Stated,
      wrong: readonly Wrong[],
    ) => {
      const headers: Record<string, string> = { ...headersFor(wrong) }
      const stale = `"${what}s-${id}-999-${'x'.repeat(16)}"`
      if (isStale) headers['If-Match'] = stale
      else if (does !== 'create' && what === 'recipe' && etag !== '"none"')
        headers['If-Match'] = etag
      const verb = { update: 'PATCH', delete: 'DELETE', create: 'POST' }[does]
      const path = does === 'create' ? `/api/v2/${what}s` : `/api/v2/${what}s/${id}`
      const body = does === 'delete' ? undefined : input
      const { status, json } = await kitchen.say(as, `${verb} ${path}`, body, headers)
      return json?.code ? [status, json.code] : [status < 300 ? 'done' : status]
    }
    const byGraphql = async (
      { does, what, as, id, input, revision, isStale }: Stated,
      wrong: readonly Wrong[],
    ) => {
      const type = what === 'team' ? 'Team' : 'Recipe'
      const expected = isStale ? `, expectedRevision: ${revision}` : ''
      const query = {
        create: `mutation ($input: Create${type}Input!) { create${type}(input: $input) { id } }`,
        update: `mutation ($input: Update${type}Input!) { update${type}(id: ${id}, input: $input${expected}) { id } }`,
        delete: `mutation { delete${type}(id: ${id}${expected}) }`,
      }[does]
      const { json } = await kitchen.say(
        as,
        'POST /graphql',
        { query, variables: { input } },
        headersFor(wrong),
      )
      const [error] = json.errors ?? []
      if (!error)
        return [json.data[`${does}${type}`] === false ? [404, 'NOT_FOUND'] : 'done'].flat()
      const code =
        error.extensions.code === 'BAD_USER_INPUT' ? 'VALIDATION_ERROR' : error.extensions.code
      const [status] = Object.values(told).find(([, one]) => one === code) ?? []
      return [status, code]
    }

    for (const kind of Object.keys(kinds) as Kind[])
      test(`${kind}: each combination of what is wrong has one answer`, async () => {
        const all = combinationsOf(kinds[kind])
        const faults: string[] = []
        for (const wrong of all) {
          // On PostgreSQL, which takes longer, two at a time: the first of several is the first of two.
          if (on === 'postgres' && wrong.length > 2) continue
          const [first] = (Object.keys(told) as Wrong[]).filter(one => wrong.includes(one))
          const expected = first === undefined ? ['done'] : [...told[first]]
          for (const [api, send] of [
            ['REST', byRest],
            ['GraphQL', byGraphql],
          ] as const) {
            const request = await stated(kind, wrong)
            await spend(request.as, wrong, request.what)
            const answer = await send(request, wrong)
            if (kind === 'delete a recipe' && first === undefined) ids.own = await make(1, {})
            if (JSON.stringify(answer) !== JSON.stringify(expected))
              faults.push(
                `${api}, ${wrong.join(', ') || 'nothing wrong'}: ${answer}, not ${expected}`,
              )
          }
        }
        assert.deepEqual(faults.slice(0, 20), [], `${faults.length} of ${2 * all.length}`)
      })
  })
