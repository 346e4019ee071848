/** Rules by value: what a caller may not see does not exist for it, in both APIs, on both engines; and writes by the row before and after. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { mint } from '#auth/token.ts'
import { now, viewer } from '#model/condition.ts'
import { type Entity, entity, many, one } from '#model/entity.ts'
import { choice, fixed, folded, id, int, reference, revision, text, time } from '#model/field.ts'
import { anyone, role, signedIn } from '#model/policy.ts'
import { changeIn } from '../stores.ts'
import { forAllTests } from '../support/fixture.ts'
import { until } from '../support/wait.ts'
import { secret } from '../world.ts'
import { engines } from './compare.ts'
import { allRoutes, member } from './models.ts'
import { now as moment, type Request, serveWithMembers } from './serve.ts'

const listing = { paging: 'page', limit: 10 } as const
const writes = ['create', 'replace', 'update', 'delete'] as const
const mutations = ['create', 'update', 'delete'] as const

/** Drafts are seen by their owners and by the members of their kitchens; notes by owners alone. */
const dish = entity({
  description: 'A dish.',
  fields: {
    id: id(),
    title: text({ max: 20 }),
    status: choice(['draft', 'published'], { initial: { value: 'draft' } }),
    notes: text({ max: 20, nullable: true, readableBy: { ownerId: viewer } }),
    notesKey: folded('notes', { nullable: true, indexed: true }),
    secret: int({ min: 0, max: 9, initial: { value: 1 }, readableBy: { owner: viewer } }),
    ownerId: reference('member', { onDelete: 'cascade', initial: 'viewer', immutable: false }),
    revision: revision(),
  },
  relations: {
    owner: one('member', 'ownerId'),
    steps: many('step', 'dishId'),
    cooks: many('cook', 'dishId'),
  },
  policy: {
    read: [
      anyone.where({ status: 'published' }),
      signedIn.where({ or: [{ owner: viewer }, { cooks: { some: { memberId: viewer } } }] }),
    ],
    create: signedIn.where({ owner: viewer }),
    update: [
      signedIn.where({ owner: viewer, status: 'draft' }).becoming({ owner: viewer }),
      signedIn.where({ cooks: { some: { memberId: viewer } } }).becoming({ status: 'draft' }),
    ],
    delete: signedIn.where({ owner: viewer }),
  },
  rest: {
    ...allRoutes,
    writes,
    selectable: true,
    listing: {
      ...listing,
      sort: { style: 'field and order', fields: ['title', 'secret'] },
      filters: {
        title: { kind: 'equals', field: 'title' },
        secret: { kind: 'equals', field: 'secret' },
        notes: { kind: 'contains', field: 'notesKey' },
      },
    },
  },
  links: { self: '/dishes/{id}' },
  graphql: { paged: true, mutations },
  counted: [],
})

const cook = entity({
  description: 'Who may see and change a draft beside its owner.',
  fields: {
    id: id(),
    dishId: reference('dish', { onDelete: 'cascade' }),
    memberId: reference('member', { onDelete: 'cascade' }),
  },
  policy: {
    read: signedIn,
    create: signedIn.where({ dishId: { owner: viewer } }),
    delete: signedIn,
  },
  rest: { ...allRoutes, writes: ['create', 'delete'], listing },
})

const step = entity({
  description: 'A step, for whom its dish is.',
  fields: {
    id: id(),
    label: text({ max: 20 }),
    dishId: reference('dish', { onDelete: 'restrict', immutable: false }),
    revision: revision(),
  },
  relations: { dish: one('dish', 'dishId') },
  policy: {
    read: [
      anyone.where({ dish: { status: 'published' } }),
      signedIn.where({ dish: { owner: viewer } }),
    ],
    create: [signedIn.where({ dish: { owner: viewer } })],
    update: signedIn.where({ dish: { owner: viewer } }),
    delete: role('admin'),
  },
  rest: { ...allRoutes, writes, listing },
  graphql: { paged: true, mutations },
})

/** A favourite may name a dish that others do not see. */
const favourite = entity({
  description: 'A favourite.',
  fields: {
    id: id(),
    dishId: reference('dish', { onDelete: 'cascade', nullable: true, immutable: false }),
    revision: revision(),
  },
  relations: { dish: one('dish', 'dishId') },
  policy: { read: anyone, create: signedIn, update: signedIn },
  rest: { ...allRoutes, writes: ['create', 'replace'], listing },
  links: { self: '/favourites/{id}', dish: '/dishes/{dishId}' },
  graphql: { paged: true, mutations: ['create'], filters: ['dishId'] },
})

const notice = entity({
  description: 'A notice.',
  fields: { id: id(), at: time() },
  policy: { read: anyone.where({ at: { lte: now } }), create: signedIn },
  rest: { ...allRoutes, writes: ['create'], listing },
})

const ofOwner = { ownerId: viewer } as const

/** Whom a letter is to is known to its owner alone. */
const letter = entity({
  description: 'A letter.',
  fields: {
    id: id(),
    toId: reference('member', { onDelete: 'cascade', readableBy: ofOwner }),
    pin: text({ max: 20, readableBy: ofOwner, settableBy: anyone }),
    state: choice(['new', 'proven'], { ...fixed, initial: { value: 'new' }, resetBy: 'pin' }),
    code: text({
      max: 20,
      nullable: true,
      readableBy: role('editor'),
      settableBy: anyone,
      rest: false,
    }),
    ownerId: reference('member', { onDelete: 'cascade', initial: 'viewer' }),
    revision: revision(),
  },
  relations: { to: one('member', 'toId'), sheets: many('sheet', 'letterId') },
  policy: { read: anyone, create: signedIn, update: signedIn },
  rest: { ...allRoutes, writes: ['create', 'replace', 'update'], listing },
  graphql: { paged: true, mutations: ['update'] },
})

const sheet = entity({
  description: 'A sheet; whose letter it is of is known to its owner alone.',
  fields: {
    id: id(),
    letterId: reference('letter', { onDelete: 'cascade', readableBy: ofOwner }),
    ownerId: reference('member', { onDelete: 'cascade', initial: 'viewer' }),
  },
  relations: { letter: one('letter', 'letterId') },
  policy: { read: anyone, create: signedIn },
  rest: { ...allRoutes, writes: ['create'], listing },
})

/** The ways to name the viewer below a negation; each wall has one of them. */
const negations = {
  ne: { byId: { ne: viewer } },
  notIn: { byId: { notIn: [viewer] } },
  not: { not: { by: viewer } },
  none: { strikes: { none: { who: viewer } } },
  across: { by: { strikes: { none: { whoId: viewer } } } },
  some: { strikes: { some: { whoId: { ne: viewer } } } },
  twice: { not: { not: { or: [{ by: viewer }, { form: 'twice' }] } } },
} as const
const negated = Object.keys(negations) as (keyof typeof negations)[]

/** Strikes are of a wall, or of a member. */
const strike = entity({
  description: 'Who is kept from a wall.',
  fields: {
    id: id(),
    wallId: reference('wall', { onDelete: 'cascade', nullable: true }),
    ofId: reference('member', { onDelete: 'cascade', nullable: true }),
    whoId: reference('member', { onDelete: 'cascade' }),
  },
  relations: { who: one('member', 'whoId') },
  policy: { read: role('admin') },
  rest: { list: true, one: true, listing, writes: [] },
})

const wall = entity({
  description: 'A wall, which its rule keeps some from.',
  fields: {
    id: id(),
    form: choice(negated),
    byId: reference('member', { onDelete: 'cascade' }),
    note: text({ max: 20, readableBy: signedIn.where({ byId: { ne: viewer } }) }),
  },
  relations: { by: one('member', 'byId'), strikes: many('strike', 'wallId') },
  policy: { read: negated.map(form => signedIn.where({ form, ...negations[form] })) as never },
  rest: { list: true, one: true, listing, writes: [] },
  graphql: { paged: true },
})

/** Who may set a note is who may read it; a mark, who wrote it. */
const entry = entity({
  description: 'An entry.',
  fields: {
    id: id(),
    toId: reference('member', { onDelete: 'cascade', immutable: false }),
    ownerId: reference('member', {
      onDelete: 'cascade',
      ...fixed,
      nullable: true,
      initial: 'viewer',
    }),
    note: text({ max: 20, nullable: true, readableBy: { to: viewer } }),
    mark: int({ min: 0, max: 9, initial: { value: 0 }, settableBy: { owner: viewer } }),
    own: text({ max: 20, nullable: true, settableBy: { id: 5 } }),
    liked: text({ max: 20, nullable: true, settableBy: { nods: { some: {} } } }),
    unliked: text({ max: 20, nullable: true, settableBy: { nods: { none: {} } } }),
    revision: revision(),
  },
  relations: {
    to: one('member', 'toId'),
    owner: one('member', 'ownerId'),
    nods: many('nod', 'entryId'),
  },
  policy: { read: anyone, create: anyone, update: signedIn },
  bulk: true,
  rest: { ...allRoutes, writes: ['create', 'replace', 'update'], listing },
  graphql: { paged: true, mutations: ['create', 'update'] },
})

const nod = entity({
  description: 'A nod.',
  fields: { id: id(), entryId: reference('entry', { onDelete: 'cascade' }) },
  policy: { read: anyone },
})

const entities: Record<string, Entity> = {
  entry,
  nod,
  member: { ...member, relations: { strikes: many('strike', 'ofId') } } as Entity,
  strike,
  wall,
  dish,
  cook,
  step,
  favourite,
  notice,
  letter,
  sheet,
} as never

for (const on of engines)
  describe(`rules by value on ${on}`, () => {
    const service = forAllTests(() => serveWithMembers(entities, on, 'user', 'admin', 'other'))
    const ask = async (line: string, as: Request['as'], body?: unknown, headers = {}) => {
      const {
        status,
        text,
        headers: got,
      } = await service.ask({
        line,
        as,
        headers,
        ...(body !== undefined && { body }),
      })
      return { status, text, body: text === '' ? null : JSON.parse(text), headers: got }
    }
    const gql = async (query: string, as: Request['as']) =>
      (await ask('POST /graphql', as, { query })).body
    const sql = (text: string) => changeIn(service.store)(text)
    /** Twice, so that the second answer may come from the cache. */
    const seen = async (line: string, as: Request['as']) => {
      await ask(line, as)
      await ask(line, as)
      return ask(line, as)
    }
    const ids = ({ body }: { body: { data: readonly { id: number }[] } }) =>
      body.data.map(({ id }) => id)

    // The user is member 1. Dish 1 is its draft, 2 its published one, 3 and 4 those of member 3, a draft and a published one.
    before(async () => {
      for (const body of [
        { title: 'own draft', notes: 'Mine', status: 'draft' },
        { title: 'own', notes: 'Mine too', status: 'published' },
        { title: 'other draft', notes: 'Theirs', status: 'draft' },
        { title: 'other', notes: 'Theirs too', status: 'published' },
      ])
        assert.equal((await ask('POST /api/dishes', 'user', body)).status, 201)
      await sql('update dishes set owner_id = 3 where id > 2')
      for (const dishId of [1, 2, 3, 4]) {
        await sql(
          `insert into steps (label, dish_id, revision) values ('s${dishId}', ${dishId}, 1)`,
        )
        await sql(`insert into favourites (dish_id, revision) values (${dishId}, 1)`)
      }
    })

    test('a hidden row is 404, and null in GraphQL', async () => {
      for (const [as, found] of [
        ['anonymous', [404, 200, 404, 200]],
        ['user', [200, 200, 404, 200]],
        ['admin', [200, 200, 200, 200]],
      ] as const)
        for (const [at, status] of found.entries()) {
          const id = at + 1
          assert.equal((await seen(`GET /api/dishes/${id}`, as)).status, status, `${id} for ${as}`)
          const { data } = await gql(`{ dish(id: ${id}) { id } }`, as)
          assert.equal(data.dish !== null, status === 200)
        }
    })

    test('a hidden row is in no list, count or total', async () => {
      for (const [as, expected] of [
        ['anonymous', [2, 4]],
        ['user', [1, 2, 4]],
        ['admin', [1, 2, 3, 4]],
      ] as const) {
        const list = await seen('GET /api/dishes?sort=title', as)
        assert.deepEqual(ids(list).toSorted(), expected)
        assert.equal(
          list.body.meta?.total ?? list.body.pagination?.total ?? list.body.total,
          expected.length,
          list.text,
        )
        const { data } = await gql('{ dishes { id } }', as)
        assert.deepEqual(
          data.dishes.map(({ id }: { id: string }) => Number(id)).toSorted(),
          expected,
        )
      }
    })

    test('a child of a hidden row is in no list, also below its parent', async () => {
      assert.deepEqual(ids(await seen('GET /api/steps', 'anonymous')).toSorted(), [2, 4])
      assert.deepEqual(ids(await seen('GET /api/steps', 'user')).toSorted(), [1, 2, 4])
      assert.equal((await seen('GET /api/dishes/3/steps', 'user')).status, 404)
      assert.deepEqual(ids(await seen('GET /api/dishes/1/steps', 'user')), [1])
      const { data } = await gql('{ dishes { id steps { id dish { id } } } }', 'user')
      assert.deepEqual(
        data.dishes
          .flatMap(({ steps }: { steps: { id: string }[] }) => steps.map(({ id }) => Number(id)))
          .toSorted(),
        [1, 2, 4],
      )
    })

    test('a relation to a hidden row is null, and its link is left out', async () => {
      const { data } = await gql('{ favourites { id dish { title } } }', 'user')
      const titles = data.favourites.map(
        ({ dish }: { dish: { title: string } | null }) => dish?.title ?? null,
      )
      assert.deepEqual(titles.toSorted(), ['other', 'own', 'own draft', null].toSorted())
      const { body } = await seen('GET /api/favourites', 'user')
      for (const { dishId, _links } of body.data)
        assert.equal('dish' in _links, dishId !== 3, JSON.stringify(_links))
      const all = await seen('GET /api/favourites', 'admin')
      assert.ok(all.body.data.every(({ _links }: { _links: object }) => 'dish' in _links))
    })

    test('a filter by a hidden row finds no such row', async () => {
      const asked = async (dishId: number) =>
        (await gql(`{ favourites(dishId: ${dishId}) { id } }`, 'user')).errors?.[0]?.extensions.code
      assert.equal(await asked(3), 'NOT_FOUND')
      assert.equal(await asked(99), 'NOT_FOUND')
      assert.equal(await asked(1), undefined)
    })

    test('a field readable by row is null for others, and so in both documents', async () => {
      const notes = async (id: number, as: Request['as']) => {
        const { body } = await seen(`GET /api/dishes/${id}`, as)
        const { data } = await gql(`{ dish(id: ${id}) { notes secret } }`, as)
        assert.deepEqual([data.dish.notes, data.dish.secret], [body.notes, body.secret])
        return body.notes
      }
      assert.equal(await notes(2, 'user'), 'Mine too')
      assert.equal(await notes(4, 'user'), null)
      assert.equal(await notes(2, 'anonymous'), null)
      assert.equal(await notes(4, 'admin'), 'Theirs too')
      const list = await seen('GET /api/dishes', 'user')
      const given = list.body.data.map((one: { id: number; notes: string | null }) => [
        one.id,
        one.notes,
      ])
      assert.deepEqual(
        new Map(given),
        new Map([
          [1, 'Mine'],
          [2, 'Mine too'],
          [4, null],
        ]),
      )
      const { body } = await ask('GET /api/openapi.json', 'anonymous')
      const { secret } = body.components.schemas.Dish.properties
      assert.deepEqual(secret.type, ['integer', 'null'])
      assert.match(secret.description, /owner is the caller.*null for others/)
      const { data } = await gql(
        '{ __type(name: "Dish") { fields { name type { kind } } } }',
        'user',
      )
      const field = data.__type.fields.find(({ name }: { name: string }) => name === 'secret')
      assert.notEqual(field.type.kind, 'NON_NULL')
    })

    test('a field readable by row is in no filter, sort or search of those who may not read it in every row', async () => {
      for (const query of ['secret=1', 'sort=secret', 'notes=mine']) {
        assert.equal((await ask(`GET /api/dishes?${query}`, 'user')).status, 403, query)
        assert.equal((await ask(`GET /api/dishes?${query}`, 'anonymous')).status, 401, query)
        assert.equal((await ask(`GET /api/dishes?${query}`, 'admin')).status, 200, query)
      }
      assert.equal((await ask('GET /api/dishes?sort=title', 'user')).status, 200)
    })

    test('only what nothing hides may be in shared caches', async () => {
      for (const line of [
        'GET /api/dishes',
        'GET /api/dishes/2',
        'GET /api/steps',
        'GET /api/favourites',
        'GET /api/letters',
      ]) {
        const { headers } = await ask(line, 'anonymous')
        assert.match(headers.get('cache-control') ?? '', /^private/, line)
        assert.match(headers.get('vary') ?? '', /Authorization/, line)
      }
      const get = async (query: string) => {
        const line = `GET /graphql?query=${encodeURIComponent(query)}`
        const { headers } = await ask(line, 'anonymous', undefined, { Accept: 'application/json' })
        return headers.get('cache-control')
      }
      assert.equal(await get('{ dishes { id } }'), 'private, no-cache')
      assert.equal(await get('{ members { id } }'), 'public, no-cache')
      assert.match(
        (await ask('GET /api/members', 'anonymous')).headers.get('cache-control') ?? '',
        /^public/,
      )
    })

    test('whom a reference names is shown by no relation where the reference is not', async () => {
      for (const owner of [1, 3]) {
        await sql(
          `insert into letters (to_id, pin, state, owner_id, revision) values (2, 'p${owner}', 'proven', ${owner}, 1)`,
        )
        await sql(`insert into sheets (letter_id, owner_id) select max(id), ${owner} from letters`)
      }
      const query = '{ letters { to { id } toId } }'
      const named = async (as: Request['as']) =>
        (await gql(query, as)).data.letters.map((one: object) => JSON.stringify(one)).join()
      const [hidden, shown] = ['{"to":null,"toId":null}', '{"to":{"id":"2"},"toId":"2"}']
      for (const _ of [1, 2]) {
        assert.equal(await named('anonymous'), `${hidden},${hidden}`)
        assert.equal(await named('user'), `${shown},${hidden}`)
        assert.equal(await named('admin'), `${shown},${shown}`)
      }
      const { data } = await gql('{ letters { sheets { id } } sheets { letter { id } } }', 'user')
      assert.deepEqual(data.letters, [{ sheets: [{ id: '1' }] }, { sheets: [] }])
      assert.deepEqual(
        data.sheets.map(({ letter }: { letter: unknown }) => letter !== null).toSorted(),
        [false, true],
      )
      const { errors } = await gql('{ letters { sheets { id } } }', 'anonymous')
      assert.equal(errors[0].extensions.code, 'UNAUTHENTICATED')
      assert.equal((await ask('GET /api/letters/2/sheets', 'user')).status, 403)
    })

    test('a replacement that keeps what its caller does not see keeps what that would reset', async () => {
      const states: string[] = []
      for (const [id, pin] of [
        [2, 'p3'],
        [2, 'guess'],
        [1, 'p1'],
        [1, 'another'],
      ]) {
        const answer = await ask(`PUT /api/letters/${id}`, 'user', { pin })
        assert.equal(answer.status, 200, answer.text)
        states.push(answer.body.state)
      }
      assert.deepEqual(states, ['proven', 'proven', 'proven', 'new'])
      const { body } = await ask('GET /api/letters/2', 'admin')
      assert.deepEqual([body.pin, body.state], ['p3', 'proven'])
    })

    test('a mutation that others send again shows each of them what it may read', async () => {
      const shown = async (sub: number, role: string, id: number, fields: string) => {
        const query = `mutation ($id: ID!, $code: String!) {
          updateLetter(id: $id, input: { code: $code }) { ${fields} } }`
        const token = await mint({ sub, role, ttl: 3600 }, secret, moment)
        const headers = { Authorization: `Bearer ${token}` }
        const variables = { id, code: `of ${sub}` }
        const { body } = await ask('POST /graphql', 'anonymous', { query, variables }, headers)
        return body.errors?.[0].extensions.code ?? Object.values(body.data.updateLetter)
      }
      await sql("update letters set pin = 'p'")
      for (const _ of [1, 2]) {
        // By the row: an admin sees each, the others their own.
        for (const [sub, role, id, pin] of [
          [2, 'admin', 1, 'p'],
          [1, 'user', 1, 'p'],
          [3, 'user', 1, null],
          [3, 'user', 2, 'p'],
          [1, 'user', 2, null],
          [1, 'editor', 2, null],
          [3, 'editor', 2, 'p'],
        ] as const)
          assert.deepEqual(await shown(sub, role, id, 'pin'), [pin], `${id} for ${role} ${sub}`)
        // By the role: who may not read it is told so before anything is written.
        assert.deepEqual(await shown(2, 'editor', 1, 'code'), ['of 2'])
        assert.equal(await shown(1, 'user', 1, 'code'), 'FORBIDDEN')
        assert.deepEqual(await sql('select code from letters where id = 1'), [['of 2']])
      }
    })

    test('whether a guess at what its caller does not see was right is not told by what it resets', async () => {
      const right = async (pin: string) => {
        await sql("update letters set pin = 'p3', state = 'proven' where id = 2")
        const { body } = await ask('PATCH /api/letters/2', 'user', { pin })
        await sql("update letters set pin = 'p3', state = 'proven' where id = 2")
        const mutation = `mutation { updateLetter(id: 2, input: { pin: "${pin}" }) { state } }`
        const { data } = await gql(mutation, 'user')
        return [body.state, data.updateLetter.state]
      }
      assert.deepEqual(await right('guess'), ['new', 'new'])
      assert.deepEqual(await right('p3'), ['new', 'new'])
      await sql("update letters set pin = 'p3', state = 'proven' where id = 2")
      const { body } = await ask('PATCH /api/letters/2', 'admin', { pin: 'p3' })
      assert.equal(body.state, 'proven')
    })

    test('a field by row is set by those whose rule lets them, of the row as it is, or as it will be', async () => {
      const refusedOf = ({ status, text }: { status: number; text: string }, field: string) => {
        assert.equal(status, 403, text)
        assert.match(text, new RegExp(`no right to set the ${field} of this entry`))
      }
      const mutate = async (mutation: string) => {
        const { errors, data } = await gql(`mutation { it: ${mutation} }`, 'user')
        return errors?.[0].extensions.code ?? data.it
      }
      const create = (body: object) => ask('POST /api/entries', 'user', body)
      // Of what is left out one may read it.
      assert.equal((await create({ toId: 1, note: 'mine' })).status, 201)
      refusedOf(await create({ toId: 3, note: 'hire her' }), 'note')
      assert.equal((await create({ toId: 3 })).status, 201)
      assert.equal((await create({ toId: 3, note: null, mark: 0 })).status, 201)
      assert.equal((await create({ toId: 3, mark: 5 })).status, 201)
      // A new row has no id yet, and nobody refers to it.
      refusedOf(await create({ toId: 1, own: 'x' }), 'own')
      refusedOf(await create({ toId: 1, liked: 'x' }), 'liked')
      assert.equal((await create({ toId: 1, unliked: 'x' })).status, 201)
      const input = '{ toId: 3, note: "hire her" }'
      assert.equal(await mutate(`createEntry(input: ${input}) { id }`), 'FORBIDDEN')
      assert.equal(await mutate(`createEntries(inputs: [${input}]) { count }`), 'FORBIDDEN')
      const [, to3] = (await ask('GET /api/entries?sort=id&limit=5', 'user')).body.data
      const at = `/api/entries/${to3.id}`
      refusedOf(await ask(`PATCH ${at}`, 'user', { note: 'hire her' }), 'note')
      refusedOf(await ask(`PATCH ${at}`, 'user', { note: null }), 'note')
      // Not by becoming who may, either.
      refusedOf(await ask(`PATCH ${at}`, 'user', { toId: 1, note: 'x' }), 'note')
      assert.equal(
        await mutate(`updateEntry(id: ${to3.id}, input: { note: "hire her" }) { id }`),
        'FORBIDDEN',
      )
      assert.equal(
        await mutate(
          `updateEntries(where: { id: { eq: ${to3.id} } }, input: { note: "hire her" }) { count }`,
        ),
        'FORBIDDEN',
      )
      refusedOf(
        await ask('POST /api/entries/bulk', 'user', {
          update: { note: 'x' },
          where: { id: to3.id },
        }),
        'note',
      )
      assert.equal((await ask(`PATCH ${at}`, 'user', { mark: 4 })).status, 200)
      // What a replacement reads as null it may send back, and what it leaves out stays.
      await sql(`update entries set note = 'kept' where id = ${to3.id}`)
      const { body: read } = await ask(`GET ${at}`, 'user')
      assert.deepEqual([read.note, read.mark], [null, 4])
      assert.equal((await ask(`PUT ${at}`, 'user', { toId: 3, note: null })).status, 200)
      assert.equal((await ask(`PUT ${at}`, 'user', { toId: 3 })).status, 200)
      refusedOf(await ask(`PUT ${at}`, 'user', { toId: 3, note: 'y' }), 'note')
      const { body: kept } = await ask(`GET ${at}`, 'admin')
      assert.deepEqual([kept.note, kept.mark, kept.toId], ['kept', 4, 3])
      // An admin may all, and who may read it may set it.
      assert.equal((await ask(`PATCH ${at}`, 'admin', { note: 'z', toId: 1 })).status, 200)
      const set = await ask(`PATCH ${at}`, 'user', { note: 'mine' })
      assert.deepEqual([set.status, set.body.note], [200, 'mine'])
      // Where it does not depend on the row at all, the body is told so.
      const none = await ask('POST /api/entries', 'anonymous', { toId: 3, note: 'x' })
      assert.deepEqual([none.status, none.body.error?.code], [422, 'VALIDATION_ERROR'])
      assert.match(
        none.text,
        /note may be given by anybody where to is the caller, or an admin only/,
      )
      const { text: document } = await ask('GET /api/openapi.json', 'anonymous')
      assert.match(document, /May be given by anybody where to is the caller, or an admin/)
    })

    test('what depends on the time is not cached', async () => {
      // The store's rows are as they were; only the time goes on. Where it went on before the first answer, a later row is asked for.
      for (let ahead = 1500, isSeen = false; !isSeen; ahead *= 2) {
        const soon = new Date(Date.now() + ahead)
        const made = await ask('POST /api/notices', 'user', { at: soon.toISOString() })
        assert.equal(made.status, 201)
        const isShown = async () =>
          ids(await seen('GET /api/notices', 'anonymous')).includes(made.body.id)
        const wasShown = await isShown()
        isSeen = Date.now() < soon.getTime()
        assert.ok(!isSeen || !wasShown)
        await setTimeout(soon.getTime() - Date.now() + 50)
        assert.ok(await isShown())
      }
    })

    test('a change of what a rule looks at is seen at once, in both orders', async () => {
      const at = async () => [
        (await seen('GET /api/dishes/3', 'user')).status,
        ids(await seen('GET /api/steps', 'user')).includes(3),
      ]
      assert.deepEqual(await at(), [404, false])
      await sql('insert into cooks (dish_id, member_id) values (3, 1)')
      assert.deepEqual(await at(), [200, false])
      const [own] = (await ask('GET /api/cooks', 'user')).body.data
      await ask(`DELETE /api/cooks/${own.id}`, 'user')
      assert.deepEqual(await at(), [404, false])
      await sql("update dishes set status = 'published' where id = 3")
      assert.deepEqual(await at(), [200, true])
      await sql("update dishes set status = 'draft' where id = 3")
      assert.deepEqual(await at(), [404, false])
    })

    test('a reference to a hidden row is missing', async () => {
      for (const [dishId, status] of [
        [3, 404],
        [99, 404],
        [1, 201],
      ] as const)
        assert.equal((await ask('POST /api/favourites', 'user', { dishId })).status, status)
      const { errors } = await gql(
        'mutation { createFavourite(input: { dishId: 3 }) { id } }',
        'user',
      )
      assert.equal(errors[0].extensions.code, 'NOT_FOUND')
      await sql('delete from favourites where id > 4')
    })

    test('a child is created by the owner of its parent, as it will be', async () => {
      for (const [dishId, status] of [
        [1, 201],
        [4, 403],
        [3, 404],
      ] as const) {
        assert.equal((await ask('POST /api/steps', 'user', { label: 'x', dishId })).status, status)
        const { errors } = await gql(
          `mutation { createStep(input: { label: "x", dishId: ${dishId} }) { id } }`,
          'user',
        )
        const code = { 201: undefined, 403: 'FORBIDDEN', 404: 'NOT_FOUND' }[status]
        assert.equal(errors?.[0]?.extensions.code, code)
      }
      assert.equal(
        (await ask('POST /api/steps', 'anonymous', { label: 'x', dishId: 1 })).status,
        401,
      )
      assert.equal((await ask('POST /api/steps', 'admin', { label: 'x', dishId: 4 })).status, 201)
      await sql('delete from steps where id > 4')
      // Its own row is judged too: nobody makes a dish of somebody else's.
      assert.equal((await ask('POST /api/dishes', 'user', { title: 'x', ownerId: 3 })).status, 403)
    })

    test('what refers to a row that is hidden by now can be sent back as it was read', async () => {
      await sql('insert into favourites (dish_id, revision) values (1, 1)')
      const { body } = await ask('GET /api/favourites', 'user')
      const { id, dishId } = body.data[0]
      const put = (to: number) => ask(`PUT /api/favourites/${id}`, 'user', { dishId: to })
      await sql(`update dishes set owner_id = 3 where id = ${dishId}`)
      assert.equal((await put(dishId)).status, 200)
      assert.equal((await put(3)).status, 404)
      assert.equal((await put(2)).status, 200)
      await sql('update dishes set owner_id = 1 where id = 1')
      await sql(`delete from favourites where id = ${id}`)
    })

    test('a step cannot be moved below what is not the caller’s, and is seen where it is at once', async () => {
      const move = (dishId: number) => ask('PATCH /api/steps/1', 'user', { dishId })
      const isBelow = async (dish: number) =>
        ids(await seen(`GET /api/dishes/${dish}/steps`, 'user')).includes(1)
      assert.equal((await move(4)).status, 403)
      assert.equal((await move(3)).status, 404)
      for (const [to, from] of [
        [2, 1],
        [1, 2],
      ] as const) {
        assert.deepEqual([await isBelow(from), await isBelow(to)], [true, false])
        assert.equal((await move(to)).status, 200)
        assert.deepEqual([await isBelow(from), await isBelow(to)], [false, true])
      }
    })

    test('what was read of one reference, of another and of none is read anew when a row goes from one to another', async () => {
      const insert = 'insert into favourites (dish_id, revision) values (1, 1) returning id'
      const id = Number((await sql(insert))[0]?.[0])
      const places = { 1: 'dishId: 1', 2: 'dishId: 2', null: 'where: { dishId: { isNull: true } }' }
      /** Asked twice, so that the next time it may come from the cache. */
      const found = async () => {
        const at: string[] = []
        for (const [place, args] of Object.entries(places)) {
          const query = `{ favourites(${args}) { id } }`
          await gql(query, 'user')
          const { data } = await gql(query, 'user')
          if (data.favourites.some((one: { id: string }) => Number(one.id) === id)) at.push(place)
        }
        return at
      }
      assert.deepEqual(await found(), ['1'])
      for (const dishId of [2, null, 1, null, 2]) {
        assert.equal((await ask(`PUT /api/favourites/${id}`, 'user', { dishId })).status, 200)
        assert.deepEqual(await found(), [String(dishId)])
      }
      await sql(`delete from favourites where id = ${id}`)
    })

    test('an update is judged by the row before and after, one alternative for both', async () => {
      const patch = (id: number, body: object) => ask(`PATCH /api/dishes/${id}`, 'user', body)
      // Hidden, seen but not the caller's, and the caller's but published.
      assert.equal((await patch(3, { title: 'x' })).status, 404)
      assert.equal((await patch(4, { title: 'x' })).status, 403)
      assert.equal((await patch(2, { title: 'x' })).status, 403)
      assert.equal((await patch(1, { title: 'still own' })).status, 200)
      // It may not give it away, and may publish it.
      assert.equal((await patch(1, { ownerId: 3 })).status, 403)
      assert.equal((await ask('GET /api/dishes/1', 'user')).body.ownerId, 1)
      // A cook changes a draft, and may not publish it; the answer leaves the owner's notes out.
      await sql('insert into cooks (dish_id, member_id) values (3, 1)')
      const changed = await patch(3, { title: 'cooked' })
      assert.deepEqual([changed.status, changed.body.notes], [200, null])
      assert.equal((await patch(3, { status: 'published' })).status, 403)
      const { errors } = await gql(
        'mutation { updateDish(id: 3, input: { status: published }) { id } }',
        'user',
      )
      assert.equal(errors[0].extensions.code, 'FORBIDDEN')
      // PUT leaves what the caller cannot read.
      const put = await ask('PUT /api/dishes/3', 'user', {
        title: 'put',
        notes: null,
        secret: null,
        ownerId: 3,
      })
      assert.equal(put.status, 200, put.text)
      const whole = (await ask('GET /api/dishes/3', 'admin')).body
      assert.deepEqual([whole.title, whole.notes, whole.secret], ['put', 'Theirs', 1])
      await sql('delete from cooks')
      const own = await ask('PUT /api/dishes/1', 'user', {
        title: 'own draft',
        notes: 'Mine',
        secret: 2,
      })
      assert.deepEqual([own.status, own.body.secret], [200, 2])
    })

    test('a delete is of what the caller sees and owns, and names no hidden child', async () => {
      assert.equal((await ask('DELETE /api/dishes/3', 'user')).status, 404)
      assert.equal((await ask('DELETE /api/dishes/4', 'user')).status, 403)
      const held = await ask('DELETE /api/dishes/1', 'user')
      assert.equal(held.status, 409)
      assert.doesNotMatch(held.text, /steps/)
      assert.match((await ask('DELETE /api/dishes/1', 'admin')).text, /steps/)
      assert.equal((await gql('mutation { deleteDish(id: 3) }', 'user')).data.deleteDish, false)
    })
    test('rows asked for at once are given to those who may read them', async () => {
      const viewers = ['user', 'anonymous', 'admin', 'user'] as const
      const asked = viewers.flatMap(as =>
        [1, 2, 3, 4].map(id => [`GET /api/dishes/${id}`, as] as const),
      )
      const alone = []
      for (const [line, as] of asked) alone.push((await ask(line, as)).status)
      const together = await Promise.all(
        asked.map(async ([line, as]) => (await ask(line, as)).status),
      )
      assert.deepEqual(together, alone)
      assert.ok(alone.includes(404) && alone.includes(200))
    })

    test('a list is found behind thousands of hidden rows', async () => {
      const first = await gql('{ dishes(limit: 2) { id } }', 'user')
      await sql(`insert into dishes (title, notes_key, status, owner_id, secret, revision)
        with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000)
        select 'hidden', null, 'draft', 3, 1, 1 from n`)
      await sql(
        'insert into favourites (dish_id, revision) select id, 1 from dishes where id > 4 and id % 50 = 0',
      )
      assert.deepEqual(await gql('{ dishes(limit: 2) { id } }', 'user'), first)
      const { data } = await gql('{ steps(limit: 2) { id } dishes(limit: 100) { id } }', 'user')
      assert.equal(data.dishes.length, 3)
      await sql('delete from favourites where id > 4')
      await sql('delete from dishes where id > 4')
    })

    const isAtOnce = {
      skip: on === 'sqlite' && 'SQLite has one writer: no other write comes between steps of one',
    }

    /** What else is asked while a change is made and not committed; it waits for that. */
    const during = async <Answer>(change: string, asked: () => Promise<Answer>) => {
      const session = await service.store.session('filling')
      try {
        let answer: Promise<Answer> | undefined
        await session.transaction(async () => {
          await session.query({ text: change, values: [] })
          answer = asked()
          const first = await Promise.race([
            answer.then(() => 'answered'),
            setTimeout(300, 'waits'),
          ])
          assert.equal(first, 'waits')
        })
        return await (answer as Promise<Answer>)
      } finally {
        await session.close()
      }
    }

    /** What is changed while a write has been made and is not committed: it waits until the write is answered. */
    const meanwhile = async <Answer>(
      table: string,
      asked: () => Promise<Answer>,
      change: string,
    ): Promise<Answer> => {
      const lock = await service.store.session('filling')
      const other = await service.store.session('filling')
      const run = (text: string) => lock.query({ text, values: [] })
      await run(`create or replace function hold() returns trigger language plpgsql as
        $$ begin perform pg_advisory_xact_lock_shared(7); return null; end $$`)
      await run(
        `create trigger held after insert or update on ${table} for each statement execute function hold()`,
      )
      try {
        await run('select pg_advisory_lock(7)::text')
        const answer = asked()
        await until('the write is held', async () => {
          const waiting = await run(
            `select 1 from pg_locks l join pg_stat_activity a using (pid)
              where l.locktype = 'advisory' and not l.granted and a.datname = current_database()`,
          )
          return waiting.length > 0
        })
        const changed = other.query({ text: change, values: [] })
        const first = await Promise.race([changed.then(() => 'changed'), setTimeout(300, 'waits')])
        assert.equal(first, 'waits')
        await run('select pg_advisory_unlock_all()::text')
        await changed
        return await answer
      } finally {
        await run('select pg_advisory_unlock_all()::text')
        await run('drop function hold cascade')
        await lock.close()
        await other.close()
      }
    }

    const addStep = (dishId: number) => () => ask('POST /api/steps', 'user', { label: 'x', dishId })
    const cookIt = () => ask('PATCH /api/dishes/3', 'user', { title: 'raced' })

    test(
      'a parent that changes hands while a child is created: both wait for each other',
      isAtOnce,
      async () => {
        const give = 'update dishes set owner_id = 3 where id = 2'
        assert.equal((await during(give, addStep(2))).status, 403)
        await sql('update dishes set owner_id = 1 where id = 2')
        assert.equal((await meanwhile('steps', addStep(2), give)).status, 201)
        assert.equal((await addStep(2)()).status, 403)
        await sql('update dishes set owner_id = 1 where id = 2')
        await sql('delete from steps where id > 4')
      },
    )

    test(
      'a membership that is removed while its member writes: both wait for each other',
      isAtOnce,
      async () => {
        const remove = 'delete from cooks where dish_id = 3'
        const join = () => sql('insert into cooks (dish_id, member_id) values (3, 1)')
        await join()
        assert.equal((await during(remove, cookIt)).status, 404)
        await join()
        assert.equal((await meanwhile('dishes', cookIt, remove)).status, 200)
        assert.equal((await cookIt()).status, 404)
      },
    )

    test(
      'a row that is unpublished while it is referred to: both wait for each other',
      isAtOnce,
      async () => {
        const hide = "update dishes set status = 'draft' where id = 4"
        const favour = () => ask('POST /api/favourites', 'user', { dishId: 4 })
        assert.equal((await during(hide, favour)).status, 404)
        await sql("update dishes set status = 'published' where id = 4")
        assert.equal((await meanwhile('favourites', favour, hide)).status, 201)
        assert.equal((await favour()).status, 404)
        await sql("update dishes set status = 'published' where id = 4")
        await sql('delete from favourites where id > 4')
      },
    )

    test('a row that is unpublished while others read it is in no answer that begins afterwards', async () => {
      for (let round = 0; round < 20; round++) {
        const status = round % 2 === 0 ? 'draft' : 'published'
        const reads = Array.from({ length: 6 }, (_, n) =>
          ask(n % 2 === 0 ? 'GET /api/dishes' : 'GET /api/dishes/4/steps', 'anonymous'),
        )
        await sql(`update dishes set status = '${status}' where id = 4`)
        const { body } = await ask('GET /api/dishes', 'anonymous')
        const isShown = status === 'published'
        assert.deepEqual(ids({ body }).toSorted(), isShown ? [2, 4] : [2])
        assert.equal(body.pagination.total, isShown ? 2 : 1)
        assert.equal(
          (await ask('GET /api/dishes/4/steps', 'anonymous')).status,
          isShown ? 200 : 404,
        )
        // Each page agrees with its own total.
        for (const { body } of await Promise.all(reads))
          if (body.data && body.pagination) assert.equal(body.data.length, body.pagination.total)
      }
    })

    test('a rule that names the viewer below a negation lets nobody in whose row is gone', async () => {
      for (const form of negated)
        await sql(`insert into walls (form, by_id, note) values ('${form}', 3, 'hello')`)
      await sql("insert into strikes (wall_id, who_id) select id, 2 from walls where form = 'some'")
      const known = async () => {
        const walls = await seen('GET /api/walls', 'user')
        const one = await seen('GET /api/walls/1', 'user')
        const { data } = await gql('{ walls { form note } wall(id: 1) { form } }', 'user')
        const forms = walls.body.data.map(({ form }: { form: string }) => form)
        assert.deepEqual(
          data.walls.map(({ form }: { form: string }) => form),
          forms,
        )
        assert.equal(data.wall !== null, one.status === 200)
        assert.ok(walls.body.data.every(({ note }: { note: string }) => note === 'hello'))
        return forms
      }
      assert.deepEqual(await known(), negated)
      // Whom a strike keeps out sees the walls no more, also once its row is deleted.
      await sql("insert into strikes (wall_id, who_id) select id, 1 from walls where form = 'none'")
      await sql('insert into strikes (of_id, who_id) values (3, 1)')
      assert.deepEqual(
        await known(),
        negated.filter(form => form !== 'none' && form !== 'across'),
      )
      await sql('delete from steps')
      await sql('delete from members where id = 1')
      assert.deepEqual(await known(), [])
    })
  })
