/** Kinds whose values come from other values or from the time, which the table of kinds cannot show. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { printSchema } from 'graphql'
import { compare, contentTables, copyTables, isSame } from '#cli/move.ts'
import { commandConnection } from '#engines/postgres/migrate.ts'
import { openTarget } from '#engines/postgres/moving.ts'
import { catalogueOf } from '#engines/shared/catalogue.ts'
import { differencesIn } from '#engines/shared/differences.ts'
import { defineErrors } from '#errors.ts'
import { deriveSchema } from '#graphql/schema.ts'
import { lackOf } from '#kit/draft/draft.ts'
import { postgresDrafting } from '#kit/draft/postgres.ts'
import { sqliteDrafting } from '#kit/draft/sqlite.ts'
import { withKept } from '#model/computed.ts'
import { type Entity, entity, many } from '#model/entity.ts'
import {
  avg,
  choice,
  computed,
  count,
  date,
  decimal,
  fixed,
  flag,
  id,
  int,
  json,
  list,
  reference,
  revision,
  type StandardSchema,
  slug,
  text,
  time,
  updatedAt,
} from '#model/field.ts'
import type { Entities, Model } from '#model/model.ts'
import { anyone, role, self } from '#model/policy.ts'
import { connected } from '../postgres/tools/ask.ts'
import { freshDatabase, noDatabase } from '../postgres/tools/database.ts'
import { filling } from '../stores.ts'
import { engines } from './compare.ts'
import { allRoutes, bySignedIn, member } from './models.ts'
import {
  clock,
  historyFor,
  modelFor,
  now,
  type Service,
  serveWithMembers,
  type Viewer,
} from './serve.ts'

/** An entity with these fields, which callers with a token may read and write in each way. */
const open = (table: string, fields: Entity['fields'], more: object = {}): Entity =>
  entity({
    table,
    plural: table,
    description: '',
    fields: { id: id(), ...fields, revision: revision() },
    policy: bySignedIn,
    rest: { ...allRoutes, listing: { paging: 'page', limit: 5 } },
    graphql: { mutations: ['create', 'update', 'delete'] },
    ...more,
  } as never) as unknown as Entity

const { SIZE_TAKEN } = defineErrors({
  SIZE_TAKEN: { status: 409, title: 'There is one of that size' },
})
const errors = { SIZE_TAKEN }

/** Sides of one to nine, kept with their sum; what libraries of schemas make of their own. */
const shape: StandardSchema<{ readonly sides: readonly number[]; readonly sum: number }> = {
  '~standard': {
    version: 1,
    validate: given => {
      const { sides } = (given ?? {}) as { sides?: unknown }
      if (!Array.isArray(sides)) return { issues: [{ message: 'must be sides' }] }
      const wrong = sides.findIndex(side => !(Number(side) >= 1 && Number(side) <= 9))
      if (wrong >= 0)
        return { issues: [{ message: 'must be 1 to 9', path: ['sides', { key: wrong }] }] }
      return { value: { sides, sum: sides.reduce((sum, side) => sum + side, 0) } }
    },
    jsonSchema: {
      input: () => ({
        type: 'object',
        properties: { sides: { type: 'array', items: { type: 'number' } } },
      }),
      output: () => ({ type: 'object', properties: { sum: { type: 'number' } } }),
    },
  },
}

const loose = { immutable: false, nullable: true, onDelete: 'set null' } as const

const entities = {
  member,
  place: open('places', { name: text({ max: 9 }) }),
  note: open(
    'notes',
    {
      name: text({ max: 9 }),
      placeId: reference('place', loose),
      state: choice(['open', 'done'], { initial: { value: 'open' } }),
      size: choice(['1', 'many'], { nullable: true }),
      due: date({ nullable: true }),
      at: time({ nullable: true }),
      updatedAt: updatedAt(),
    },
    { relations: { labels: many('label', { through: 'noteLabel' }) } },
  ),
  order: open(
    'orders',
    {
      name: text({ max: 20 }),
      price: decimal({ scale: 2, min: 0, max: 100 }),
      pieces: int({ min: 0, max: 9, nullable: true }),
      total: computed({
        as: decimal({ scale: 3, min: 0, max: 1000, nullable: true }),
        from: { times: ['price', 'pieces'] },
      }),
      label: computed({
        as: text({ min: 0, max: 42 }),
        from: { concat: ['name', { text: " '" }, { coalesce: ['name', 'name'] }] },
      }),
      gradeCount: count('grades', { description: 'How many there are.' }),
      average: avg('grades.points'),
      openCount: count('grades', { where: { isOpen: true } }),
    },
    {
      relations: { grades: many('grade', 'orderId') },
      rest: {
        ...allRoutes,
        listing: {
          paging: 'page',
          limit: 9,
          sort: { style: 'signed list', fields: ['-average', 'total'] },
          filters: {
            min_total: { kind: 'at least', field: 'total' },
            some_total: { kind: 'above zero', field: 'total' },
            rated: { kind: 'above zero', field: 'gradeCount' },
          },
        },
      },
    },
  ),
  grade: open('grades', {
    points: decimal({ scale: 1, min: -5, max: 5, nullable: true }),
    isOpen: flag({ initial: { value: 1 } }),
    orderId: reference('order', { onDelete: 'cascade', immutable: false }),
  }),
  label: open(
    'labels',
    {
      name: text({ max: 9 }),
      ownerId: reference('member', {
        onDelete: 'cascade',
        ...fixed,
        initial: 'viewer',
        nullable: true,
      }),
    },
    {
      policy: { ...bySignedIn, read: [anyone.where({ name: { ne: 'hidden' } }), self('ownerId')] },
    },
  ),
  noteLabel: open('links', {
    noteId: reference('note', { onDelete: 'cascade' }),
    labelId: reference('label', { onDelete: 'cascade' }),
    note: text({ max: 9, nullable: true }),
  }),
  page: open(
    'pages',
    {
      title: text({ max: 40, trimmed: true }),
      slug: slug({ from: 'title' }),
      code: text({
        max: 3,
        nullable: true,
        pattern: /^[A-Z]+$/,
        message: 'must be capital letters',
      }),
      size: int({
        min: 0,
        max: 99,
        nullable: true,
        check: {
          'must be even': size => size % 2 === 0,
          'must not be 13 twice': size => size !== 26,
        },
      }),
      tags: list(text({ max: 5, trimmed: true }), { min: 1, max: 3, nullable: true }),
      prices: list(decimal({ scale: 2, min: 0, max: 9 }), { max: 3, initial: { value: '[]' } }),
      days: list(date(), { max: 2, nullable: true }),
      moments: list(time(), { max: 2, nullable: true }),
      shape: json(shape, { nullable: true, max: 60 }),
    },
    { sets: [{ fields: ['code', 'size'], error: errors.SIZE_TAKEN }] },
  ),
}

test('a bound between two amounts and an amount above zero, which need other values, share no plan of a list', async t => {
  for (const on of engines) {
    for (const filters of [
      ['some_total=true', 'min_total=2.0005'],
      ['min_total=2.0005', 'some_total=true'],
    ]) {
      const { ask, close } = await serveWithMembers({ member, order, grade }, on, 'Ada', 'Ben')
      t.after(close)
      for (const price of [1, 2, 3]) {
        const body = { name: 'a', price, pieces: 1 }
        await ask({ line: 'POST /api/orders', as: 'user', body })
      }
      for (const filter of filters) {
        const { status, text } = await ask({
          line: `GET /api/orders?${filter}&limit=1`,
          as: 'user',
        })
        assert.equal(status, 200, text)
        const { total } = JSON.parse(text).pagination
        assert.equal(total, filter === 'some_total=true' ? 3 : 1, `${on} ${filter}`)
      }
    }
  }
})

/** Orders before they computed and kept anything, and what a store of them lacks. */
const { order, grade } = entities
const { name, price, pieces } = order.fields
const early = { member, order: open('orders', { name, price, pieces } as Entity['fields']), grade }

test('a value that is computed or kept later is that of the rows which are there, on both engines', async () => {
  for (const on of engines) {
    const { store, ask, close } = await serveWithMembers(early, on, 'Ada', 'Ben')
    const body = { name: 'a', price: 2, pieces: 3 }
    await ask({ line: 'POST /api/orders', as: 'user', body })
    for (const points of [1, 2.5, null])
      await ask({ line: 'POST /api/grades', as: 'user', body: { points, orderId: 1 } })
    const drafting = on === 'sqlite' ? sqliteDrafting : postgresDrafting
    const later = withKept({ member, order, grade })
    const { inside } = lackOf(drafting, later, historyFor(on, early))
    const rows = await filling(store, async ({ session }) => {
      for (const text of inside) await session.query({ text, values: [] })
      const text = 'select total, label, grade_count, average, average_sum, revision from orders'
      return session.query({ text, values: [] })
    })
    assert.deepEqual(
      rows.map(row => row.map(value => Number(value) || value)),
      [[6000, "a 'a", 3, 175_000, 35, 1]],
    )
    const made = [...historyFor(on, early), { name: '0002', text: `${inside.join(';\n')};` }]
    assert.deepEqual(lackOf(drafting, later, made).inside, [])
    // What the database itself says of them is the same.
    const stopping = async (model: Entities) =>
      differencesIn(drafting.ddl, model, catalogueOf(await store.made()))
        .filter(({ isServed }) => !isServed)
        .map(({ text }) => text)
    assert.deepEqual(await stopping(later), [])
    const total = computed({
      as: decimal({ scale: 3, min: 0, max: 1000, nullable: true }),
      from: { plus: ['price', 'pieces'] },
    })
    const others = { ...later, order: { ...later.order, fields: { ...later.order.fields, total } } }
    assert.match(
      (await stopping(others)).join(),
      /^order.total is computed as .* in the model, and as .* in the store: write a migration/,
    )
    await close()
  }
})

test('a count of the rows that all may see, and the revision beside it, tell nothing of the others', async t => {
  const relations = { grades: many('grade', 'orderId') }
  const seen = { state: "a'$$" }
  const n = count('grades', { where: seen })
  const read = [anyone.where(seen), role('user')]
  const state = choice([seen.state, 'hidden'])
  const model = {
    member,
    order: open('orders', { name: text({ max: 9 }), n }, { relations }),
    grade: open('grades', { ...grade.fields, state }, { policy: { ...bySignedIn, read } }),
  }
  for (const on of engines) {
    const { store, ask, close } = await serveWithMembers(model, on, 'Ada', 'Ben')
    t.after(close)
    for (const [line, body, expected] of [
      ['POST /api/orders', { name: 'a' }, [0, 1]],
      ['POST /api/grades', { orderId: 1, state: 'hidden' }, [0, 1]],
      ['PATCH /api/grades/1', { points: 1 }, [0, 1]],
      ['PATCH /api/grades/1', seen, [1, 2]],
      ['PATCH /api/grades/1', { state: 'hidden' }, [0, 3]],
      ['DELETE /api/grades/1', undefined, [0, 3]],
    ] as const) {
      await ask({ line, as: 'user', body })
      const rows = await filling(store, ({ session }) =>
        session.query({ text: 'select n, revision from orders', values: [] }),
      )
      assert.deepEqual(rows[0]?.map(Number), expected, `${on} ${line}`)
    }
  }
})

test('a count and a mean that are called otherwise take along what the store keeps for them, and nothing is left', async t => {
  const ofGrades = (fields: Entity['fields']): Entities => ({
    member,
    order: open(
      'orders',
      { name: text({ max: 20 }), ...fields },
      { relations: { grades: many('grade', 'orderId') } },
    ),
    grade,
  })
  const steps = [
    ofGrades({ n: count('grades'), mean: avg('grades.points') }),
    ofGrades({
      marks: count('grades', { renamed: 'n' }),
      average: avg('grades.points', { renamed: 'mean' }),
    }),
    // Neither a mean that is new nor a number is taken for what was kept of one that went.
    ofGrades({ marks: count('grades') }),
    ofGrades({ marks: count('grades'), whole: int({ min: 0, max: 9, nullable: true }) }),
  ]
  for (const on of engines) {
    const { store, ask, close } = await serveWithMembers(steps[0] as Entities, on, 'Ada', 'Ben')
    t.after(close)
    await ask({ line: 'POST /api/orders', as: 'user', body: { name: 'a' } })
    for (const points of [1, 2.5])
      await ask({ line: 'POST /api/grades', as: 'user', body: { points, orderId: 1 } })
    const drafting = on === 'sqlite' ? sqliteDrafting : postgresDrafting
    let made = historyFor(on, steps[0] as Entities)
    for (const [at, declared] of steps.slice(1).entries()) {
      const model = withKept(declared)
      const { inside, outside } = lackOf(drafting, model, made)
      const statements = [...inside, ...outside].map(one => one.replace(' concurrently', ''))
      await filling(store, async ({ session }) => {
        for (const text of statements) await session.query({ text, values: [] })
      })
      made = [...made, { name: `000${at + 2}`, text: `${statements.join(';\n')};` }]
      assert.deepEqual(lackOf(drafting, model, made), { inside: [], outside: [] })
      const has = await store.made()
      const stopping = differencesIn(drafting.ddl, model, catalogueOf(has))
      assert.deepEqual(
        stopping.filter(({ isServed }) => !isServed),
        [],
      )
      if (at > 0) continue
      const debris = [...has.keys()].filter(name => /^orders[._](n|mean)(_|$)/.test(name))
      assert.deepEqual(debris, [])
      const add = 'insert into grades (points, order_id) values (25, 1)'
      const seen = 'select marks, average, average_sum, average_count from orders'
      const rows = await filling(store, async ({ session }) => {
        await session.query({ text: add, values: [] })
        return session.query({ text: seen, values: [] })
      })
      assert.deepEqual(rows[0]?.map(Number), [3, 200_000, 60, 3])
    }
  }
})

test('what a store computes and keeps is as it was after a move to PostgreSQL', {
  skip: noDatabase,
}, async () => {
  const { store, ask, close } = await serveWithMembers(entities, 'sqlite', 'Ada', 'Ben')
  for (const name of ['a', 'b'])
    await ask({ line: 'POST /api/orders', as: 'user', body: { name, price: 1.5, pieces: 2 } })
  for (const body of [{ points: 1, isOpen: false }, { points: 2.5 }, { points: -4 }, {}])
    await ask({ line: 'POST /api/grades', as: 'user', body: { ...body, orderId: 1 } })
  const json = { title: 'x', shape: { sides: [1] }, tags: ['"'], days: ['2024-02-29'] }
  await ask({ line: 'POST /api/pages', as: 'user', body: json })
  const { url } = await freshDatabase()
  const history = historyFor('postgres', entities)
  const target = await openTarget(commandConnection(url, true), history)
  const tables = contentTables(withKept(entities))
  await target.migrate()
  const text = 'select * from orders order by id'
  const rows = await filling(store, async ({ session, dialect }) => {
    const source = { ...session, dialect }
    await target.transaction(async () => {
      await target.begin(tables)
      await copyTables(source, target, tables)
      for (const table of await compare(source, target, tables))
        assert.ok(isSame(table), table.name)
    })
    return session.query({ text, values: [] })
  })
  await target.close()
  await close()
  const client = await connected(url)
  const moved = await client.query({ text, rowMode: 'array' })
  await client.end()
  const plain = (all: readonly (readonly unknown[])[]) =>
    all.map(row => row.map(value => (value === null ? null : String(value))))
  assert.deepEqual(plain(moved.rows), plain(rows))
})

for (const on of engines)
  describe(`on ${on}`, () => {
    let service: Service
    before(async () => {
      service = await serveWithMembers(entities, on, 'Ada', 'Ben')
    })
    after(async () => {
      clock.now = now
      await service?.close()
    })

    /** The answer of a request of the user, and its status. */
    const ask = async (line: string, body?: unknown) => {
      const { status, text } = await service.ask({
        line,
        as: 'user',
        ...(body !== undefined && { body }),
      })
      return { status, body: text === '' ? null : JSON.parse(text) }
    }
    const made = async (line: string, body: unknown) => {
      const { status, body: row } = await ask(`POST /api/${line}`, body)
      assert.equal(status, 201, JSON.stringify(row))
      return row
    }

    test('updatedAt is when the row was made or last changed, also by the delete of what it refers to', async () => {
      const place = await made('places', { name: 'p' })
      const note = await made('notes', { name: 'n', placeId: place.id })
      const at = (milliseconds: number) => new Date(milliseconds).toISOString()
      assert.equal(note.updatedAt, at(now))
      clock.now = now + 1000
      const changed = await ask(`PATCH /api/notes/${note.id}`, { name: 'm' })
      assert.equal(changed.body.updatedAt, at(now + 1000))
      clock.now = now + 2000
      // A change of nothing is none.
      await ask(`PATCH /api/notes/${note.id}`, {})
      assert.equal((await ask(`GET /api/notes/${note.id}`)).body.updatedAt, at(now + 1000))
      await ask(`DELETE /api/places/${place.id}`)
      const cut = await ask(`GET /api/notes/${note.id}`)
      assert.deepEqual([cut.body.placeId, cut.body.updatedAt], [null, at(now + 2000)])
      const given = await ask(`PATCH /api/notes/${note.id}`, { updatedAt: at(now) })
      assert.equal(given.status, 422)
    })

    const page = (body: object) => ask('POST /api/pages', { title: 'x', ...body })
    const faultOf = async (body: object) => {
      const { status, body: answer } = await page(body)
      assert.equal(status, 422, JSON.stringify(answer))
      return answer.error.message
    }

    test('a slug is made of its text, told apart from those that are there, and kept', async () => {
      const first = await made('pages', { title: 'Crème Brûlée, für 2!' })
      assert.equal(first.slug, 'creme-brulee-fur-2')
      const second = await made('pages', { title: 'creme brulee fur 2' })
      assert.equal(second.slug, `creme-brulee-fur-2-${second.id}`)
      const renamed = await ask(`PATCH /api/pages/${first.id}`, { title: 'Pudding' })
      assert.equal(renamed.body.slug, 'creme-brulee-fur-2')
      assert.equal((await page({ slug: 'mine' })).body.slug, 'mine')
      const taken = await page({ slug: 'mine' })
      assert.deepEqual([taken.status, taken.body.error.details[0].field], [409, 'slug'])
      assert.match(await faultOf({ slug: 'Not This' }), /small letters/)
      assert.match(await faultOf({ title: '?!' }), /slug is required, as title has neither/)
      assert.equal((await made('pages', { title: '日本 語' })).slug, '日本-語')
    })

    test('a pattern and checks tell their own messages', async () => {
      assert.match(await faultOf({ code: 'ab' }), /^code must be capital letters$/)
      assert.match(await faultOf({ size: 3 }), /^size must be even$/)
      assert.match(await faultOf({ size: 26 }), /^size must not be 13 twice$/)
      assert.equal((await page({ code: 'AB', size: 4 })).status, 201)
    })

    test('a second row with the values of a set gets the error of the set', async () => {
      const { status, body } = await page({ code: 'AB', size: 4 })
      assert.deepEqual([status, body.error.code], [409, 'SIZE_TAKEN'])
    })

    test('a list has items of its kind, and comes back as it was given', async () => {
      const given = {
        tags: [' a', 'é"\\'],
        prices: [1.5, 0, 9],
        days: ['2024-02-29'],
        moments: ['2026-01-02T03:04:05Z'],
      }
      const row = await made('pages', { title: 'lists', ...given })
      assert.deepEqual(
        [row.tags, row.prices, row.days],
        [['a', 'é"\\'], [1.5, 0, 9], ['2024-02-29']],
      )
      assert.deepEqual(row.moments, ['2026-01-02T03:04:05.000Z'])
      const query = `{ page(id: ${row.id}) { tags prices days moments } }`
      const { tags, prices, days, moments } = row
      const told = (await ask('POST /graphql', { query })).body.data.page
      assert.deepEqual(told, { tags, prices, days, moments })
      // Conditions look into some lists, and of others they ask whether they are there.
      const where = `title: { eq: "lists" }, moments: { isNull: false }, tags: { has: "a" }`
      const asked = { query: `{ pages(where: { ${where} }) { id } }` }
      const { data } = (await ask('POST /graphql', asked)).body
      assert.deepEqual(data?.pages, [{ id: `${row.id}` }])
      const byRest = await ask('GET /api/v2/pages?title=lists&moments[isNull]=false&tags[has]=a')
      assert.deepEqual([byRest.status, byRest.body.data?.[0]?.id], [200, row.id])
      assert.match(await faultOf({ tags: [] }), /^tags must be a list of 1 to 3$/)
      assert.match(await faultOf({ tags: 'a' }), /must be a list/)
      assert.match(
        await faultOf({ tags: ['a', null] }),
        /^tags has an item, number 2, that must be a string$/,
      )
      assert.match(
        await faultOf({ prices: [0.125] }),
        /^prices has an item that must have at most 2 decimals$/,
      )
    })

    test('JSON is kept as its schema gives it, and refused with what the schema says', async () => {
      const row = await made('pages', { title: 'json', shape: { sides: [1, 2], other: true } })
      assert.deepEqual(row.shape, { sides: [1, 2], sum: 3 })
      assert.match(await faultOf({ shape: {} }), /^shape does not fit: must be sides$/)
      assert.match(
        await faultOf({ shape: { sides: [1, 12] } }),
        /^shape does not fit: sides.1: must be 1 to 9$/,
      )
      assert.match(
        await faultOf({ shape: { sides: Array(30).fill(1) } }),
        /at most 60 characters as JSON$/,
      )
      const query =
        'mutation M($s: JSON) { a: createPage(input: { title: "a", shape: { sides: [4] } }) { shape } b: createPage(input: { title: "b", shape: $s }) { shape } }'
      const { body } = await ask('POST /graphql', { query, variables: { s: { sides: [5, 6] } } })
      assert.deepEqual(body.data, {
        a: { shape: { sides: [4], sum: 4 } },
        b: { shape: { sides: [5, 6], sum: 11 } },
      })
    })

    test('a computed value follows its fields, is filtered and sorted by, and given by nobody', async () => {
      const a = await made('orders', { name: 'a', price: 1.25, pieces: 3 })
      const b = await made('orders', { name: 'b', price: 100 })
      assert.deepEqual([a.total, a.label, b.total, b.label], [3.75, "a 'a", null, "b 'b"])
      const changed = await ask(`PATCH /api/orders/${a.id}`, { pieces: 9 })
      assert.equal(changed.body.total, 11.25)
      const { body } = await ask('GET /api/orders?min_total=11.25&sort=total')
      assert.deepEqual(
        body.data.map(({ id }: { id: number }) => id),
        [a.id],
      )
      const given = await ask(`PATCH /api/orders/${a.id}`, { total: 1 })
      assert.match(given.body.error.message, /total is set by the service/)
    })

    test('a count and a mean follow the rows below, with the revision of the row', async () => {
      const { id } = await made('orders', { name: 'c', price: 1 })
      const other = await made('orders', { name: 'd', price: 1 })
      const seen = async () => {
        const { text, headers } = await service.ask({ line: `GET /api/orders/${id}`, as: 'user' })
        const { gradeCount, average } = JSON.parse(text)
        return { kept: [gradeCount, average], tag: headers.get('etag') }
      }
      const first = await seen()
      assert.deepEqual(first.kept, [0, null])
      // Read twice, so that the answer is remembered where answers are.
      assert.deepEqual(await seen(), first)
      const grade = (points: number | null, orderId = id) => made('grades', { points, orderId })
      const one = await grade(1)
      await grade(-3.5)
      await grade(null)
      const second = await seen()
      assert.deepEqual(second.kept, [3, -1.25])
      assert.notEqual(second.tag, first.tag)
      await grade(2)
      assert.deepEqual((await seen()).kept, [4, -0.16667])
      await ask(`PATCH /api/grades/${one.id}`, { points: 5 })
      assert.deepEqual((await seen()).kept, [4, 1.16667])
      await ask(`PATCH /api/grades/${one.id}`, { orderId: other.id })
      assert.deepEqual((await seen()).kept, [3, -0.75])
      await ask(`DELETE /api/grades/${one.id}`)
      const query = `{ order(id: ${other.id}) { gradeCount average } }`
      const answer = await ask('POST /graphql', { query })
      assert.deepEqual(answer.body.data.order, { gradeCount: 0, average: null })
      const all = await Promise.all(Array.from({ length: 12 }, () => grade(4)))
      assert.equal(all.length, 12)
      assert.deepEqual((await seen()).kept, [15, Math.round((46.5 / 14) * 1e5) / 1e5])
    })

    test('a relation through links shows what they lead to, in both APIs, as far as the caller may see it', async () => {
      const note = await made('notes', { name: 'n' })
      const other = await made('notes', { name: 'o' })
      const labels = []
      for (const name of ['a', 'b', 'c']) {
        const { text } = await service.ask({
          line: 'POST /api/labels',
          as: 'admin',
          body: { name },
        })
        labels.push(JSON.parse(text))
      }
      const [a, b, c] = labels
      for (const label of [b, a, c]) await made('links', { noteId: note.id, labelId: label.id })
      await made('links', { noteId: other.id, labelId: a.id })
      const query = `{ notes(limit: 2) { id labels { name } some: labels(limit: 1, offset: 1) { name } } }`
      const named = (...names: string[]) => names.map(name => ({ name }))
      const shown = (await ask('POST /graphql', { query })).body.data.notes
      assert.deepEqual(shown, [
        { id: `${other.id}`, labels: named('a'), some: [] },
        { id: `${note.id}`, labels: named('c', 'a', 'b'), some: named('a') },
      ])
      const listed = async (as: Viewer = 'user') => {
        const line = `GET /api/notes/${note.id}/labels?limit=2`
        const { status, text } = await service.ask({ line, as })
        const { data = [], pagination = {} } = JSON.parse(text)
        return [status, data.map(({ name }: { name: string }) => name), pagination.total]
      }
      assert.deepEqual(await listed(), [200, ['a', 'b'], 3])
      assert.deepEqual(await listed(), [200, ['a', 'b'], 3])
      assert.equal((await listed('anonymous'))[0], 401)
      // Hidden from all but its owner, with the links to it.
      const hidden = { name: 'hidden' }
      await service.ask({ line: `PATCH /api/labels/${b.id}`, as: 'admin', body: hidden })
      assert.deepEqual(await listed('admin'), [200, ['a', 'hidden'], 3])
      assert.deepEqual(await listed(), [200, ['a', 'c'], 2])
      const again = (await ask('POST /graphql', { query })).body.data.notes
      assert.deepEqual(again[1], { id: `${note.id}`, labels: named('c', 'a'), some: named('a') })
      const { body } = await ask(`GET /api/links?limit=5`)
      const [link] = body.data.filter((one: { labelId: number }) => one.labelId === a.id)
      await ask(`DELETE /api/links/${link.id}`)
      assert.equal((await listed())[2], 2 - Number(link.noteId === note.id))
      assert.equal((await ask('GET /api/notes/999/labels')).status, 404)
    })

    test('choices are enums in GraphQL, days and times are scalars, and Strings where the content says so', async () => {
      const model = modelFor(entities)
      const textOf = (own: Model) => printSchema(deriveSchema(own).schema)
      assert.doesNotMatch(textOf(model), /^ +"{6}$/m, 'no empty description of a field')
      assert.match(textOf(model), /enum NoteState \{\n {2}open\n {2}done\n\}/)
      assert.match(
        textOf(model),
        /state: NoteState!\n {2}size: String\n {2}due: Date\n {2}at: DateTime\n/,
      )
      const plain = textOf({ ...model, graphqlStrings: true })
      assert.match(plain, /state: String!\n {2}size: String\n {2}due: String\n {2}at: String\n/)
      assert.doesNotMatch(plain, /^(enum (?!SortDirection |\w+AggregateKey )|scalar Date)/m)
      const query = `mutation M($s: NoteState!, $at: DateTime) {
        createNote(input: { name: "n", state: $s, due: "2024-02-29", at: $at }) { state due at } }`
      const asked = async (s: string, at: unknown) =>
        (await ask('POST /graphql', { query, variables: { s, at } })).body
      const at = '2026-01-02T03:04:05.678Z'
      assert.deepEqual((await asked('done', at)).data.createNote, {
        state: 'done',
        due: '2024-02-29',
        at,
      })
      assert.equal((await asked('lost', at)).errors[0].extensions.code, 'BAD_USER_INPUT')
      assert.equal((await asked('done', 5)).errors[0].extensions.code, 'BAD_USER_INPUT')
      assert.match((await asked('done', 'today')).errors[0].message, /^at must be an ISO 8601 time/)
    })

    test('the OpenAPI document tells patterns, lists and schemas', async () => {
      const { body } = await ask('GET /openapi.json')
      const { Page, PageCreate } = body.components.schemas
      assert.equal(Page.properties.code.pattern, '^[A-Z]+$')
      assert.deepEqual(Page.properties.days, {
        type: ['array', 'null'],
        items: { type: 'string', format: 'date' },
        maxItems: 2,
      })
      const [given] = PageCreate.properties.shape.anyOf
      const [kept] = Page.properties.shape.anyOf
      assert.deepEqual(
        [Object.keys(given.properties), Object.keys(kept.properties)],
        [['sides'], ['sum']],
      )
      assert.deepEqual(PageCreate.required, ['title'])
    })
  })
