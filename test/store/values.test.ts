/** Values as callers write them, in both APIs: what is taken, what is refused, and what of them is found again. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { lackOf } from '#kit/draft/draft.ts'
import { postgresDrafting } from '#kit/draft/postgres.ts'
import { sqliteDrafting } from '#kit/draft/sqlite.ts'
import { checkSchema } from '#serve/store.ts'
import { notebook } from '#test/support/notebook.ts'
import { until } from '#test/support/wait.ts'
import { createWorld, filling, forAllTests, onPostgres, pluck } from '#test/world.ts'
import { historyFor } from '../generated/serve.ts'

const world = forAllTests(() => createWorld({ content: notebook }))

const raw = (line: string, text: string) =>
  world.ask(line, { raw: text, headers: { 'Content-Type': 'application/json' } })

let made = 0
const note = async (body: object = {}) => {
  const answer = await world.ask('POST /api/notes', { body: { name: `Note ${++made}`, ...body } })
  assert.equal(answer.status, 201, answer.text)
  return answer.json
}

const faultsOf = ({ json }: { json: { errors?: object[]; error?: { details: object[] } } }) =>
  json.errors ?? json.error?.details

describe('a number of JSON that would be read as another one', () => {
  const changed = ['9007199254740993', '1e400', '-1e400', '1e-400', '0.1000000000000000000001']
  const kept = ['9007199254740991', '1.50', '1e2', '-0.0', '0e999', '0.1', '1e-7', '5e-324']

  test('is refused by its path, wherever in a body it stands', async () => {
    for (const number of changed) {
      const answer = await raw('POST /api/notes', `{"name":"a","meta":{"b":[1,{"c":${number}}]}}`)
      assert.equal(answer.status, 422, number)
      assert.deepEqual(faultsOf(answer), [
        {
          field: 'meta.b.1.c',
          message: `is ${number}, which would be read as ${Number(number)}: send fewer digits, or a text if the field is one`,
        },
      ])
    }
    const several = await raw(
      'POST /api/notes',
      '{"name":"a","rank":9007199254740990.9,"price":1e-400}',
    )
    assert.deepEqual(
      faultsOf(several)?.map(fault => 'field' in fault && fault.field),
      ['rank', 'price'],
    )
  })

  test('is refused in GraphQL as a variable and as a literal', async () => {
    const create = 'mutation ($input: CreateNoteInput!) { createNote(input: $input) { id } }'
    const fields = { rank: '9007199254740990.9', price: '1e-400', ratio: '0.5000000000000000001' }
    const inJson = changed.map(one => ['meta', `{"a": [${one}]}`] as const)
    for (const [field, value] of [...Object.entries(fields), ...inJson]) {
      const body = `{"query":${JSON.stringify(create)},"variables":{"input":{"name":"a","${field}":${value}}}}`
      const { json } = await raw('POST /graphql', body)
      assert.equal(json.errors[0].extensions.code, 'BAD_USER_INPUT', field)
      const literal = `mutation { createNote(input: { name: "a", ${field}: ${value.replaceAll('"', '')} }) { id } }`
      const answer = await world.gql(literal)
      const [error] = answer.json.errors
      assert.equal(error.extensions.code, 'BAD_USER_INPUT', answer.text)
      assert.equal(
        error.extensions.details[0].field,
        field === 'meta' ? 'input.meta.a' : `input.${field}`,
      )
      assert.match(error.message, /^The number is .*, which would be read as /)
    }
  })

  test('has neighbours that are kept', async () => {
    for (const number of kept) {
      const answer = await raw('POST /api/notes', `{"name":"a","meta":[${number}]}`)
      assert.equal(answer.status, 201, answer.text)
      assert.equal(answer.json.meta[0], Number(JSON.stringify(Number(number))))
      const literal = await world.gql(
        `mutation { createNote(input: { name: "a", meta: [${number}] }) { meta } }`,
      )
      assert.deepEqual(literal.json.data?.createNote.meta, answer.json.meta, literal.text)
    }
    // Ids are texts in GraphQL, and one beyond all numbers names nothing.
    const none = await world.gql('{ note(id: 99999999999999999999) { id } }')
    assert.deepEqual(none.json, { data: { note: null } })
  })

  test('is refused in a condition as JSON, and compared exactly in one as a parameter', async () => {
    const cents = await note({ price: 0, ratio: 0.5 })
    const { status, json } = await world.ask('GET /api/notes?where={"price":{"gte":1e-400}}')
    assert.equal(status, 422)
    assert.equal(json.errors[0].field, 'where.price.gte')
    const found = async (query: string) => {
      const { json } = await world.ask(`GET /api/notes?id=${cents.id}&${query}`)
      return json.data?.length
    }
    assert.equal(await found('price[gte]=1e-400'), 0)
    assert.equal(await found('price[gt]=-1e-400'), 1)
    assert.equal(await found('price=1e-400'), 0)
    assert.equal(await found('ratio[lt]=0.50000000000000000000001'), 1)
    assert.equal(await found('ratio=0.50000000000000000000001'), 0)
    assert.equal(await found('ratio=0.5000000000000000000000'), 1)
  })

  test('is never made of an enum value of GraphQL', async () => {
    for (const meta of ['[RED]', '{ a: RED }', '{ a: [{ b: RED }] }']) {
      const { json } = await world.gql(
        `mutation { createNote(input: { name: "a", meta: ${meta} }) { id } }`,
      )
      assert.equal(json.errors[0].extensions.code, 'BAD_USER_INPUT')
      assert.match(json.errors[0].message, /enum value RED, and JSON has none: write "RED"/)
    }
    const { json } = await world.gql(
      'mutation { createNote(input: { name: "a", meta: { a: "RED", b: true, c: null } }) { meta } }',
    )
    assert.deepEqual(json.data.createNote.meta, { a: 'RED', b: true, c: null })
  })
})

describe('a slug that nobody gave', () => {
  test('is another one for each of many rows that are made at once, in both APIs', async () => {
    const names = ['Soup!', 'Soup?', 'soup', 'SOUP.', 'Soup…', 'Söup', '(soup)', 'soup;']
    const answers = await Promise.all(
      names.flatMap(name => [
        note({ name }).then(({ slug }) => slug),
        world
          .gql('mutation ($name: String!) { createNote(input: { name: $name }) { slug } }', {
            variables: { name },
          })
          .then(({ json, text }) => json.data?.createNote.slug ?? text),
      ]),
    )
    assert.equal(new Set(answers).size, 2 * names.length, answers.join())
    for (const slug of answers) assert.match(slug, /^soup(-\d+)?$/)
  })

  test('is another one where that with the id is taken, and the numbers after it too', async () => {
    const { id } = await note({ name: 'Stew' })
    for (const more of [4, 5, 7]) await note({ slug: `stew-${id + more}` })
    const slugs: string[] = []
    for (let more = 4; more < 7; more++) slugs.push((await note({ name: 'Stew' })).slug)
    assert.deepEqual(slugs, [`stew-${id + 6}`, `stew-${id + 8}`, `stew-${id + 9}`])
    assert.equal((await note({ name: `Stew ${id + 4}` })).slug, `stew-${id + 4}-${id + 7}`)
    const many = await world.ask('POST /api/notes/bulk', {
      body: { create: [{ name: 'Stew' }, { name: 'Stew' }, { name: 'Stew' }] },
    })
    assert.equal(many.json.count, 3, many.text)
    const given = await world.ask('POST /api/notes', { body: { name: 'Own', slug: 'stew' } })
    assert.deepEqual([given.status, given.json.errors[0].field], [409, 'slug'])
  })

  test('is another one where another process takes it first', {
    skip: !onPostgres && 'only one process writes to SQLite at a time',
  }, async () => {
    const { create } = await filling(world.store, async ({ session }) => {
      await session.query({
        text: `insert into notes (name, name_key, name_words, slug, ranks, kind, is_done, created_at, revision)
            values ('x', 'x', 'x', 'broth', '[]', 'plain', 0, 0, 1)`,
        values: [],
      })
      const create = note({ name: 'Broth' })
      await until('the create waits for the other one', async () => {
        const waiting = await world.rows(
          `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        )
        return waiting.length > 0
      })
      // In an object: a promise that is given back would be awaited before the commit.
      return { create }
    })
    assert.match((await create).slug, /^broth-\d+$/)
  })
})

describe('a cursor', () => {
  /** The cursor of the first page of a list, and whether each other spelling of the list takes it. */
  const rest = async (query: string) => {
    const { json, text } = await world.ask(`GET /api/notes?limit=1&${query}&cursor=`)
    const cursor = json.pagination?.nextCursor
    assert.ok(cursor, text)
    return async (other: string) =>
      (await world.ask(`GET /api/notes?limit=1&${other}&cursor=${cursor}`)).status
  }
  const gql = async (where: string) => {
    const page = (where: string, after: string) =>
      world.gql(
        `{ notesConnection(first: 1, orderBy: [{ rank: ASC }], where: ${where}${after}) { pageInfo { endCursor } } }`,
      )
    const { json, text } = await page(where, '')
    const cursor = json.data?.notesConnection.pageInfo.endCursor
    assert.ok(cursor, text)
    return async (other: string) => !(await page(other, `, after: "${cursor}"`)).json.errors
  }

  before(async () => {
    for (const rank of [1, 2, 3])
      await note({ rank, price: rank, ratio: -1, code: `cursor ${rank}` })
  })

  test('goes on in the same list, in whichever order its conditions are written', async () => {
    const same = [
      'sort=rank&rank[gte]=1&ratio=-1',
      'sort=rank&ratio=-1.0&rank[gte]=1',
      'sort=rank&ratio[eq]=-1.000&rank[gte]=1',
      'sort=rank&where={"and":[{"rank":{"gte":1}},{"ratio":-1}]}',
      'sort=rank&ratio=-1&where={"rank":{"gte":1}}',
    ]
    for (const query of same) {
      const statusOf = await rest(query)
      for (const other of same) assert.equal(await statusOf(other), 200, `${query} ${other}`)
    }
    const alike = [
      '{ rank: { gte: 1 }, ratio: { eq: -1 } }',
      '{ ratio: { eq: -1.0 }, rank: { gte: 1 } }',
      '{ and: [{ ratio: { eq: -1 } }, { rank: { gte: 1 } }] }',
    ]
    for (const where of alike) {
      const isTaken = await gql(where)
      for (const other of alike) assert.ok(await isTaken(other), `${where} ${other}`)
    }
  })

  test('is refused in another list, however near its conditions are', async () => {
    const statusOf = await rest('sort=rank&rank[gte]=1&ratio=-1')
    for (const other of [
      'sort=rank&rank[gte]=2&ratio=-1',
      'sort=rank&rank[lte]=1&ratio=-1',
      'sort=rank&rank[gte]=1',
      'sort=-rank&rank[gte]=1&ratio=-1',
      'sort=rank&rank[gte]=1&ratio[ne]=-1',
      'sort=rank&where={"or":[{"rank":{"gte":1}},{"ratio":-1}]}',
      'sort=rank&rank[gte]=1&ratio=-1&search=note',
    ])
      assert.equal(await statusOf(other), 422, other)
    const isTaken = await gql('{ rank: { gte: 1 }, ratio: { eq: -1 } }')
    for (const other of ['{ rank: { gte: 1 } }', '{ rank: { gte: 1 }, ratio: { isNull: false } }'])
      assert.equal(await isTaken(other), false, other)
  })
})

describe('a letter that is composed', () => {
  const [composed, decomposed] = ['Crème brûlée', 'Cre\u0300me bru\u0302le\u0301e']
  let ids: readonly number[] = []
  before(async () => {
    const notes = [await note({ name: composed }), await note({ name: decomposed })]
    ids = notes.map(({ id }) => id)
    assert.deepEqual([notes[0].name, notes[1].name], [composed, decomposed])
  })
  const found = async (query: string) =>
    pluck((await world.ask(`GET /api/notes?${query}`)).json.data, 'id')
  const inGraphql = async (where: string) =>
    (await world.gql(`{ notes(where: ${where}, limit: 100) { id } }`)).json.data.notes
      .map(({ id }: { id: string }) => Number(id))
      .sort()

  test('is found as one that is not, where case does not count', async () => {
    for (const text of [composed, decomposed, 'CRÈME', 'CRE\u0300ME', 'brûlée', 'bru\u0302l']) {
      const isStart = /^cr/i.test(text)
      for (const operator of isStart ? ['contains', 'startsWith'] : ['contains']) {
        assert.deepEqual(await found(`name[${operator}]=${encodeURIComponent(text)}`), ids, text)
        assert.deepEqual(await inGraphql(`{ name: { ${operator}: "${text}" } }`), ids, text)
      }
      assert.deepEqual(await found(`search=${encodeURIComponent(text)}`), ids, text)
    }
    // Accents count.
    assert.deepEqual(await found('name[contains]=creme'), [])
    assert.deepEqual(await found('name[startsWith]=cre'), [])
  })

  test('is another one for what compares code points', async () => {
    for (const [at, text] of [composed, decomposed].entries()) {
      assert.deepEqual(await found(`name=${encodeURIComponent(text)}`), [ids[at]])
      assert.deepEqual(await inGraphql(`{ name: { in: ["${text}"] } }`), [ids[at]])
    }
  })

  test('is the same for what is unique without regard to case', async () => {
    await note({ email: 'André' })
    for (const email of ['andre\u0301', 'ANDRE\u0301', 'ANDRÉ']) {
      const answer = await world.ask('POST /api/notes', { body: { name: 'a', email } })
      assert.deepEqual([answer.status, answer.json.errors?.[0].field], [409, 'email'], email)
    }
    await note({ email: 'Andre' })
  })
})

describe('a time', () => {
  const at = '2026-01-31T09:30:00.000Z'
  let id = 0
  before(async () => {
    id = (await note({ name: 'Timed', at })).id
  })
  const found = async (query: string) => {
    const { json, text } = await world.ask(`GET /api/notes?id=${id}&${query}`)
    return json.data?.length ?? text
  }
  const inGraphql = async (condition: string) => {
    const { json, text } = await world.gql(
      `{ notes(where: { id: { eq: ${id} }, at: ${condition} }) { id } }`,
    )
    return json.data?.notes.length ?? text
  }

  test('is taken with any offset and cut off after milliseconds, and shown in UTC', async () => {
    for (const [given, shown] of [
      ['2026-01-31T10:30:00+01:00', at],
      ['2026-01-31T09:30:00+00:00', at],
      ['2026-01-30T23:30:00.0009-10:00', at],
      ['2026-01-31t09:30:00z', at],
      ['2026-02-01T00:15:00+14:45', at],
      ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ] as const) {
      assert.equal((await note({ at: given })).at, shown, given)
      const { json } = await world.gql(
        'mutation ($at: DateTime) { createNote(input: { name: "a", at: $at }) { at } }',
        { variables: { at: given } },
      )
      assert.equal(json.data?.createNote.at, shown, given)
    }
    for (const wrong of ['2026-01-31', '2026-01-31T09:30:00', '9999-12-31T23:30:00-01:00']) {
      const answer = await world.ask('POST /api/notes', { body: { name: 'a', at: wrong } })
      assert.deepEqual([answer.status, answer.json.errors?.[0].field], [422, 'at'], wrong)
    }
  })

  test('is compared exactly, with any offset, and with the beginning of a day', async () => {
    const holds: readonly (readonly [operator: string, value: string, isSo: boolean])[] = [
      ['lt', '2026-01-31T09:30:00.0009Z', true],
      ['lte', '2026-01-31T09:30:00.0001Z', true],
      ['gt', '2026-01-31T09:29:59.9999Z', true],
      ['gte', '2026-01-31T09:30:00.0009Z', false],
      ['gt', '2026-01-31T09:30:00.0009Z', false],
      ['eq', '2026-01-31T09:30:00.0009Z', false],
      ['ne', '2026-01-31T09:30:00.0009Z', true],
      ['eq', '2026-01-31T09:30:00.000000Z', true],
      ['eq', '2026-01-31T10:30:00+01:00', true],
      ['gte', '2026-01-31', true],
      ['lt', '2026-02-01', true],
      ['gte', '2026-02-01', false],
      ['eq', '2026-01-31', false],
    ]
    for (const [operator, value, isSo] of holds) {
      const count = isSo ? 1 : 0
      assert.equal(await found(`at[${operator}]=${encodeURIComponent(value)}`), count, value)
      // As it is typed, with a plus that is a space.
      assert.equal(await found(`at[${operator}]=${value}`), count, value)
      const where = JSON.stringify({ at: { [operator]: value } })
      for (const written of [encodeURIComponent(where), where])
        assert.equal(await found(`where=${written}`), count, value)
      assert.equal(await inGraphql(`{ ${operator}: "${value}" }`), count, value)
    }
    for (const value of ['2026-01-31T09:30:00.0009Z,2026-01-31', at])
      assert.equal(await found(`at[in]=${value}`), value === at ? 1 : 0)
    assert.equal(await inGraphql('{ in: ["2026-01-31T09:30:00.0009Z"] }'), 0)
    const variable = await world.gql(
      `query ($at: DateTime) { notes(where: { id: { eq: ${id} }, at: { lt: $at } }) { id } }`,
      { variables: { at: '2026-01-31T09:30:00.0009Z' } },
    )
    assert.equal(variable.json.data.notes.length, 1, variable.text)
  })

  test('is compared exactly and with any offset in conditions on groups, in both APIs', async () => {
    for (const [value, count] of [
      ['2026-01-31T10:30:00+01:00', 1],
      ['2026-01-31T10:30:00.0001+01:00', 0],
      ['2026-01-31', 1],
      ['2026-02-01', 0],
    ] as const) {
      const having = JSON.stringify({ 'max.at': { gte: value } })
      for (const written of [
        `having=${encodeURIComponent(having)}`,
        `having=${having}`,
        `having[max][at][gte]=${value}`,
      ]) {
        const { json, text } = await world.ask(
          `GET /api/notes/aggregate?where={"id":${id}}&group=slug&max=at&${written}`,
        )
        assert.equal(json.data?.length, count, text)
      }
      const { json, text } = await world.gql(
        `{ notesAggregate(where: { id: { eq: ${id} } }, groupBy: [slug], having: { max: { at: { gte: "${value}" } } }) { slug } }`,
      )
      assert.equal(json.data?.notesAggregate.length, count, text)
    }
  })

  test('is in a group of its own at the ends of the years, in their order', async () => {
    const ends = [
      '9999-12-31T23:59:59.999Z',
      '0000-01-01T00:00:00.000Z',
      '9999-06-01T00:00:00.000Z',
    ]
    for (const at of ends) await note({ at, code: `end ${at}` })
    await note({ at: null, code: 'end' })
    const groups = async (by: string, tz: string) => {
      const query = `code[in]=end,${ends.map(at => `end ${at}`).join()}&group=${by}&tz=${tz}&sort=${by}`
      const { json, text } = await world.ask(`GET /api/notes/aggregate?${query}`)
      return json.data?.map((group: Record<string, unknown>) => group[by]) ?? text
    }
    const [east, west] = ['Europe/Berlin', 'America/New_York']
    assert.deepEqual(await groups('atDay', east), [
      '0000-01-01',
      '9999-06-01',
      '+010000-01-01',
      null,
    ])
    assert.deepEqual(await groups('atMonth', east), ['0000-01', '9999-06', '+010000-01', null])
    assert.deepEqual(await groups('atYear', east), [0, 9999, 10_000, null])
    assert.deepEqual(await groups('atDay', west), [
      '-000001-12-31',
      '9999-05-31',
      '9999-12-31',
      null,
    ])
    assert.deepEqual(await groups('atMonth', west), ['-000001-12', '9999-05', '9999-12', null])
    assert.deepEqual(await groups('atYear', west), [-1, 9999, null])
    const { json, text } = await world.gql(
      `{ notesAggregate(where: { code: { in: ["end ${ends[0]}", "end ${ends[1]}"] } }, groupBy: [atDay], timeZone: "${east}") { atDay count } }`,
    )
    assert.deepEqual(
      json.data?.notesAggregate,
      [
        { atDay: '0000-01-01', count: 1 },
        { atDay: '+010000-01-01', count: 1 },
      ],
      text,
    )
  })
})

describe('a choice of odd words', () => {
  test('is kept by the store as the model has it, and served in both APIs', async () => {
    const { values = [] } = notebook.entities.note?.fields.kind ?? {}
    assert.ok(values.length > 6)
    const { entities } = world.core.model
    assert.deepEqual(await checkSchema(world.store, entities), [])
    // Nor is anything drafted, neither of the migrations nor anew.
    const [on, drafting] = onPostgres
      ? (['postgres', postgresDrafting] as const)
      : (['sqlite', sqliteDrafting] as const)
    const history = historyFor(on, notebook.entities as never)
    assert.deepEqual(lackOf(drafting, entities, history), { inside: [], outside: [] })
    for (const kind of values) {
      const { id } = await note({ kind })
      assert.equal((await world.ask(`GET /api/notes/${id}`)).json.kind, kind)
      const { json, text } = await world.gql(
        'mutation ($id: ID!, $kind: String!) { updateNote(id: $id, input: { kind: $kind }) { kind } }',
        { variables: { id, kind } },
      )
      assert.equal(json.data?.updateNote.kind, kind, text)
      const found = await world.ask(
        `GET /api/notes?id=${id}&where=${encodeURIComponent(JSON.stringify({ kind }))}`,
      )
      assert.equal(found.json.data?.length, 1, found.text)
    }
    const { status, json } = await world.ask('POST /api/notes', {
      body: { name: 'a', kind: 'other' },
    })
    assert.deepEqual([status, json.errors[0].field], [422, 'kind'])
  })
})

describe('an order without case', () => {
  const names = ['anna', 'Berta', 'ÄNNE', 'änne', 'Anna', 'berta']
  const codes = names.map((_, at) => `order ${at}`)
  before(async () => {
    for (const [at, name] of names.entries()) await note({ name, code: codes[at] })
  })
  const loosely = ['anna', 'Anna', 'Berta', 'berta', 'ÄNNE', 'änne']
  const inRest = async (sort: string) => {
    const { json, text } = await world.ask(`GET /api/notes?code[in]=${codes.join()}&sort=${sort}`)
    return json.data ? pluck(json.data, 'name') : text
  }
  const inGraphql = async (direction: string) => {
    const { json, text } = await world.gql(
      `{ notes(limit: 10, where: { code: { in: ${JSON.stringify(codes)} } }, orderBy: [{ name: ${direction} }]) { name } }`,
    )
    return pluck(json.data?.notes, 'name') ?? text
  }

  test('is that of the folded copy, ties in the order of their ids, in both APIs', async () => {
    assert.deepEqual(await inRest('name:ignoringCase'), loosely)
    assert.deepEqual(await inGraphql('ASC_IGNORING_CASE'), loosely)
    const down = ['ÄNNE', 'änne', 'Berta', 'berta', 'anna', 'Anna']
    assert.deepEqual(await inRest('-name:ignoringCase'), down)
    assert.deepEqual(await inGraphql('DESC_IGNORING_CASE'), down)
    const strictly = ['Anna', 'Berta', 'anna', 'berta', 'ÄNNE', 'änne']
    assert.deepEqual(await inRest('name'), strictly)
    assert.deepEqual(await inGraphql('ASC'), strictly)
  })

  test('goes on from page to page', async () => {
    const found: string[] = []
    let cursor = ''
    for (let pages = 0; cursor !== null && pages < 9; pages++) {
      const { json } = await world.ask(
        `GET /api/notes?code[in]=${codes.join()}&sort=name:ignoringCase&limit=1&cursor=${cursor}`,
      )
      found.push(json.data[0].name)
      cursor = json.pagination.nextCursor
    }
    assert.deepEqual(found, loosely)
  })

  test('is refused by name where a text has none', async () => {
    const { status, json } = await world.ask('GET /api/notes?sort=code:ignoringCase')
    assert.deepEqual([status, json.errors[0].field], [422, 'sort'])
    const { json: refused } = await world.gql(
      '{ notes(orderBy: [{ code: DESC_IGNORING_CASE }]) { id } }',
    )
    assert.match(
      refused.errors[0].message,
      /names code, which has no order without case: take DESC/,
    )
    const { json: groups } = await world.gql(
      '{ notesAggregate(groupBy: [kind], orderBy: [{ kind: ASC_IGNORING_CASE }]) { kind } }',
    )
    assert.match(groups.errors[0].message, /groups have no order without case/)
  })
})
