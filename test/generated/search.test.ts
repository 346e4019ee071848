/** The search of texts: the same rows in the same order on both engines, and the words of rows that were there before. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare, contentTables, copyTables, isSame } from '#cli/move.ts'
import { plainRows } from '#cli/transfer/rows-in.ts'
import { pagesOf } from '#cli/transfer/rows-out.ts'
import { commandConnection } from '#engines/postgres/migrate.ts'
import { openTarget } from '#engines/postgres/moving.ts'
import { catalogueOf } from '#engines/shared/catalogue.ts'
import { differencesIn } from '#engines/shared/differences.ts'
import { lackOf } from '#kit/draft/draft.ts'
import { postgresDrafting } from '#kit/draft/postgres.ts'
import { sqliteDrafting } from '#kit/draft/sqlite.ts'
import { withKept } from '#model/computed.ts'
import { type Entity, entity, many, one } from '#model/entity.ts'
import { flag, folded, id, reference, revision, text } from '#model/field.ts'
import type { Entities } from '#model/model.ts'
import { anonymous, anyone, role } from '#model/policy.ts'
import { wordsCut } from '#model/words.ts'
import { fillFolded, notesOnCopies } from '#serve/store.ts'
import { connected } from '../postgres/tools/ask.ts'
import { freshDatabase } from '../postgres/tools/database.ts'
import { filling } from '../stores.ts'
import { engines } from './compare.ts'
import { member } from './models.ts'
import { graphql, ids, inList, note, searched, searchedAlike } from './searching.ts'
import { historyFor, modelFor, serveWithMembers } from './serve.ts'

searchedAlike(60)

test('rows that are there before their texts are searched are found once they are filled, and cut anew where ICU is another', async t => {
  const entities = withKept(searched)
  for (const on of engines) {
    const service = await serveWithMembers(searched, on, 'Ada')
    t.after(service.close)
    const { store, ask } = service
    const change = (text: string, ...values: readonly (string | Uint8Array)[]) =>
      filling(store, ({ session }) => session.query({ text, values }))
    const notes = () => filling(store, line => notesOnCopies(line, entities))
    const body = { title: 'Crème brûlée', body: 'of Lyon' }
    for (let at = 0; at < 3; at++) await ask({ line: 'POST /api/notes', as: 'admin', body })
    // As they are after the migration that adds the columns.
    await change('update notes set title_words = null, body_words = null')
    assert.deepEqual(await inList(service, 'lyon BRULEE'), [])
    assert.deepEqual(await fillFolded(store, entities), [
      'titleWords of notes in 3 rows',
      'bodyWords of notes in 3 rows',
    ])
    assert.deepEqual(await inList(service, 'lyon BRULEE'), [1, 2, 3])
    assert.deepEqual(await fillFolded(store, entities, true), [])
    assert.deepEqual(await notes(), [])

    // As another ICU would have cut it.
    await change("update notes set title_words = 'cremebrulee' where id = 2")
    const former = new TextEncoder().encode('1, ICU 0')
    const [given, key] = on === 'sqlite' ? ['?', '?'] : ['$1', '$2']
    await change(`update secrets set value = ${given} where name = ${key}`, former, 'words')
    assert.deepEqual(await inList(service, 'brulee'), [1, 3])
    assert.deepEqual(await notes(), [
      `the words of rows were cut by the rules 1, ICU 0, and this release has ${wordsCut}: searches may miss rows until duet migrate cuts them anew`,
    ])
    assert.deepEqual(await fillFolded(store, entities), [])
    assert.deepEqual(await fillFolded(store, entities, true), ['titleWords of notes in 1 rows'])
    assert.deepEqual(await inList(service, 'brulee'), [1, 2, 3])
    assert.deepEqual(await notes(), [])
  }
})

test('a draft makes what a search needs, and later what another one needs', async t => {
  const searching = (search: object) =>
    withKept({ ...searched, note: { ...note, search } } as never)
  for (const on of engines) {
    const { store, close } = await serveWithMembers(searching({}), on)
    t.after(close)
    const drafting = on === 'sqlite' ? sqliteDrafting : postgresDrafting
    let made = historyFor(on, searching({}))
    for (const search of [{ title: 3, body: 1 }, { title: 1 }]) {
      const { inside, outside } = lackOf(drafting, searching(search), made)
      const statements = [...inside, ...outside].map(text => text.replace(' concurrently', ''))
      for (const text of statements)
        await filling(store, ({ session }) => session.query({ text, values: [] }))
      made = [...made, { name: `000${made.length}`, text: `${statements.join(';\n')};` }]
      assert.deepEqual(lackOf(drafting, searching(search), made), { inside: [], outside: [] })
      const differencesNow = async () =>
        differencesIn(drafting.ddl, searching(search), catalogueOf(await store.made()))
      assert.deepEqual(
        (await differencesNow()).filter(({ isServed }) => !isServed),
        [],
      )
      if (!('body' in search)) {
        const kind = on === 'sqlite' ? 'table' : 'index'
        const text = `drop ${kind} notes_title_words_search`
        await filling(store, ({ session }) => session.query({ text, values: [] }))
        const lacks = (await differencesNow()).filter(({ isAdded }) => isAdded)
        assert.match(
          String(lacks.map(({ text }) => text)),
          /lacks the (index|search) notes_title_words_search/,
        )
      }
    }
  }
})

test('a searched text that is called otherwise takes its words along, and nothing of it is left', async t => {
  const { title, ...others } = note.fields
  const heading = { ...title, renamed: 'title' }
  const called = (fields: object, search: object) =>
    withKept({
      ...searched,
      note: { ...note, fields: { ...others, ...fields }, search },
    } as never) as Entities
  const before = called({ title }, { title: 3, body: 1 })
  const subtitle = text({ max: 40, nullable: true })
  const steps = [
    called({ heading }, { heading: 3, body: 1 }),
    // A new text is not taken for the words of one.
    called({ heading, subtitle }, { heading: 3, body: 1 }),
    called({ heading, subtitle }, {}),
    called({ heading, subtitle, more: subtitle }, {}),
    called({ heading, subtitle, more: subtitle }, { heading: 1 }),
  ]
  for (const on of engines) {
    const { store, close } = await serveWithMembers(before, on)
    t.after(close)
    const drafting = on === 'sqlite' ? sqliteDrafting : postgresDrafting
    let made = historyFor(on, before)
    for (const entities of steps) {
      const { inside, outside } = lackOf(drafting, entities, made)
      const statements = [...inside, ...outside].map(one => one.replace(' concurrently', ''))
      for (const one of statements)
        await filling(store, ({ session }) => session.query({ text: one, values: [] }))
      made = [...made, { name: `001${made.length}`, text: `${statements.join(';\n')};` }]
      assert.deepEqual(lackOf(drafting, entities, made), { inside: [], outside: [] })
      const has = await store.made()
      assert.deepEqual(
        differencesIn(drafting.ddl, entities, catalogueOf(has)).filter(one => !one.isServed),
        [],
      )
      const debris = [...has.keys()].filter(name => /title_words/.test(name))
      assert.deepEqual(debris, [])
      const searches = [...has.keys()].filter(name => /words_search$/.test(name))
      assert.equal(searches.length, entities.note?.fields.headingWords ? 1 : 0, searches.join())
    }
  }
})

test('two texts that are called otherwise at once take their words, sets, indexes and copies along', () => {
  const line = (more: object = {}) => text({ max: 40, nullable: true, ...more })
  const copy = (from: string, renamed?: string) =>
    folded(from, { nullable: true, unique: true, ...(renamed && { renamed }) })
  const called = (own: object, more: object = {}): Entities => {
    const fields = { id: id(), ...own, revision: revision() }
    const named = entity({ table: 'notes', plural: 'notes', fields, ...more } as never)
    return withKept({ ...searched, note: named } as never)
  }
  const both = (one: string, other: string) => ({ search: [one, other], sets: [[one, other]] })
  const [first, ...steps] = [
    called({ a: line({ unique: true }), b: line(), aKey: copy('a') }, both('a', 'b')),
    called(
      {
        c: line({ unique: true, renamed: 'a' }),
        d: line({ renamed: 'b' }),
        cKey: copy('c', 'aKey'),
      },
      both('c', 'd'),
    ),
    // What was searched and unique is neither under its new name; what is new is not taken for a copy of it.
    called({ e: line({ renamed: 'c' }), d: line() }),
    called({ e: line(), d: line(), f: line({ renamed: false }) }),
  ]
  for (const on of engines) {
    const drafting = on === 'sqlite' ? sqliteDrafting : postgresDrafting
    let made = historyFor(on, first)
    for (const entities of steps) {
      const { inside, outside } = lackOf(drafting, entities, made)
      made = [
        ...made,
        { name: `002${made.length}`, text: `${[...inside, ...outside].join(';\n')};` },
      ]
      assert.deepEqual(lackOf(drafting, entities, made), { inside: [], outside: [] })
    }
  }
})

const rest = { list: true, one: true, writes: ['create', 'update', 'delete'] as const }
const listing = { paging: 'page', limit: 20 } as const
const mutations = { create: role('admin'), update: role('admin'), delete: role('admin') }

/** Recipes on shelves and under tags; a draft is hidden. */
const kitchen = {
  member,
  shelf: entity({
    table: 'shelves',
    plural: 'shelves',
    description: '',
    fields: { id: id(), revision: revision(), label: text({ max: 20 }) },
    relations: { recipes: many('recipe', 'shelfId') },
    policy: { read: anyone, ...mutations },
    rest: { ...rest, listing },
  }),
  tag: entity({
    table: 'tags',
    plural: 'tags',
    description: '',
    fields: { id: id(), revision: revision(), name: text({ max: 20 }) },
    relations: { recipes: many('recipe', { through: 'recipeTag' }) },
    policy: { read: anyone, ...mutations },
    rest: { ...rest, listing },
  }),
  recipeTag: entity({
    table: 'recipe_tags',
    plural: 'recipeTags',
    description: '',
    fields: {
      id: id(),
      recipeId: reference('recipe', { onDelete: 'cascade' }),
      tagId: reference('tag', { onDelete: 'cascade' }),
    },
    policy: { read: anyone, create: role('admin') },
    rest: { ...rest, writes: ['create'], listing },
  }),
  recipe: entity({
    table: 'recipes',
    plural: 'recipes',
    description: '',
    fields: {
      id: id(),
      revision: revision(),
      title: text({ max: 40 }),
      method: text({ max: 400, nullable: true }),
      isDraft: flag({ initial: { value: 0 } }),
      shelfId: reference('shelf', { onDelete: 'cascade' }),
    },
    relations: { shelf: one('shelf', 'shelfId') },
    search: { method: 1, title: 3 },
    counted: [],
    policy: { read: [anyone.where({ isDraft: false }), role('admin')], ...mutations },
    rest: { ...rest, listing },
  }),
}

for (const on of engines)
  test(`recipes on ${on} are searched below other rows, without those that are hidden, and as writes change them`, async t => {
    const service = await serveWithMembers(kitchen as never, on, 'Ada', 'Bob')
    t.after(service.close)
    const send = async (line: string, body: object) => {
      const { status, text } = await service.ask({ line, as: 'admin', body })
      assert.ok(status < 300, text)
    }
    for (const label of ['high', 'low']) await send('POST /api/shelves', { label })
    await send('POST /api/tags', { name: 'sweet' })
    for (const [title, method, shelfId, isDraft] of [
      ['Crème caramel', 'Burn the sugar', 1, false],
      ['Burnt cream', 'Like crème brûlée', 1, false],
      ['Brûlée of crème', null, 2, false],
      ['Secret crème', 'Burn after reading', 1, true],
    ])
      await send('POST /api/recipes', { title, method, shelfId, isDraft })
    for (const recipeId of [2, 3, 4]) await send('POST /api/recipeTags', { recipeId, tagId: 1 })

    const query = `query ($search: String) {
      recipes(search: $search, orderBy: { relevance: DESC }) { id }
      shelves { recipes(search: $search, orderBy: { relevance: DESC }, limit: 2) { id } }
      tags { recipes(search: $search, orderBy: { relevance: DESC }) { id } }
      recipesConnection(search: $search) { totalCount }
    }`
    const found = async (search: string | null) => {
      const data = await graphql(service, query, { search })
      const below = (rows: { recipes: { id: string }[] }[]) =>
        rows.map(({ recipes }) => ids(recipes))
      const { totalCount } = data.recipesConnection
      return [ids(data.recipes), below(data.shelves), below(data.tags)[0], totalCount]
    }
    assert.deepEqual(await found('creme'), [[1, 3, 2], [[1, 2], [3]].toReversed(), [3, 2], 3])
    assert.deepEqual(await found('brulee creme'), [[3, 2], [[3], [2]], [3, 2], 2])
    assert.deepEqual(await found('burn'), [[2, 1], [[], [2, 1]], [2], 2])
    assert.deepEqual(await found('sec'), [[], [[], []], [], 0])
    const all = [[1, 2, 3], [[3], [1, 2]], [2, 3], 3]
    assert.deepEqual(await found(null), all)
    assert.deepEqual(await found(' - '), all)

    // One field of two, a field that becomes null, a row that is shown, and one that goes.
    await send('PATCH /api/recipes/1', { title: 'Pudding' })
    await send('PATCH /api/recipes/2', { method: null })
    await send('PATCH /api/recipes/4', { isDraft: false })
    assert.deepEqual(await found('creme'), [[3, 4], [[3], [4]], [3, 4], 2])
    assert.deepEqual(await found('burn'), [[2, 1, 4], [[], [2, 1]], [2, 4], 3])
    const { status } = await service.ask({ line: 'DELETE /api/recipes/4', as: 'admin' })
    assert.equal(status, 204)
    assert.deepEqual(await found('creme'), [[3], [[3], []], [3], 1])

    // The same in REST, in the newest version only; what was cached goes with the next write.
    const listed = async (path: string) => {
      const { status, text } = await service.ask({ line: `GET ${path}`, as: 'user' })
      return status === 200 ? ids(JSON.parse(text).data) : JSON.parse(text).errors
    }
    for (let turn = 0; turn < 2; turn++) {
      assert.deepEqual(await listed('/api/v2/recipes?search=burn&sort=-relevance'), [2, 1])
      assert.deepEqual(await listed('/api/v2/recipes?search=burn'), [1, 2])
      assert.deepEqual(
        await listed('/api/v2/shelves/1/recipes?search=burn&sort=-relevance'),
        [2, 1],
      )
      assert.deepEqual(await listed('/api/v2/recipes?search=%20&sort=-relevance,title'), [1, 2, 3])
      assert.deepEqual(await listed('/api/v1/recipes?search=burn'), [1, 2, 3])
    }
    await send('PATCH /api/recipes/1', { method: 'Melt' })
    assert.deepEqual(await listed('/api/v2/recipes?search=burn&sort=-relevance'), [2])
    const { text } = await service.ask({ line: 'GET /api/v2/openapi.json', as: 'user' })
    const { paths, components } = JSON.parse(text)
    const parameters: readonly { name?: string; $ref?: string }[] = paths['/recipes'].get.parameters
    const told = parameters.map(
      one => components.parameters[one.$ref?.split('/').at(-1) ?? ''] ?? one,
    )
    const named = (name: string) => told.find(one => one.name === name)
    assert.match(named('search').description, /all these words in method, title, whatever/)
    assert.ok(named('sort').schema.items.enum.includes('-relevance'))
    const wrong: readonly (readonly [query: string, field: string, message: string])[] = [
      ['sort=-relevance', 'sort', 'names relevance, and there is no search'],
      [`search=${'w'.repeat(501)}`, 'search', 'must be at most 500 characters'],
      ['serch=a', 'serch', 'is not a parameter here; did you mean search?'],
    ]
    for (const [query, field, message] of wrong)
      assert.deepEqual(await listed(`/api/v2/recipes?${query}`), [{ field, message }])

    const faults: readonly (readonly [query: string, message: string])[] = [
      [
        '{ recipes(orderBy: { relevance: DESC }) { id } }',
        'Argument "orderBy" names relevance, and there is no argument "search".',
      ],
      [
        `{ recipes(search: "${'w'.repeat(501)}") { id } }`,
        'Argument "search" must be at most 500 characters.',
      ],
      [
        `{ shelves { recipes(search: "${Array.from({ length: 13 }, (_, at) => `w${at}`).join(' ')}") { id } } }`,
        'Argument "search" has 13 words, and at most 12 are taken.',
      ],
    ]
    for (const [query, message] of faults) {
      const { text } = await service.ask({ line: 'POST /graphql', as: 'user', body: { query } })
      const [error] = JSON.parse(text).errors
      assert.equal(error.message, message)
      assert.equal(error.extensions.code, 'BAD_USER_INPUT')
    }
  })

test('imported rows are found, exports leave words out, and moved rows keep them', async t => {
  for (const on of engines) {
    const service = await serveWithMembers(searched, on, 'Ada')
    t.after(service.close)
    const model = modelFor(searched)
    const own = model.entities.note as Entity
    const use = { mode: 'import', viewer: anonymous, now: 0, model, what: 'note' } as const
    await filling(service.store, async line => {
      const { put, settle } = plainRows({ ...line, model }, own, use)
      const rows = [
        { id: 7, title: 'Crème', body: 'brûlée' },
        { id: 9, title: 'Café', body: 'noir', aside: 'à la crème' },
      ]
      for (const [at, row] of rows.entries()) assert.deepEqual(await put(row, at + 1), [])
      assert.deepEqual(await settle(), [])
      const kind = { entity: 'note', also: [], foreign: {} }
      const { header } = await pagesOf({ ...line, model }, kind)
      assert.deepEqual(header, ['id', 'title', 'body', 'aside'])
    })
    assert.deepEqual(await inList(service, 'creme'), [7, 9])
    if (on !== 'sqlite' || engines.length === 1) continue
    const { url } = await freshDatabase()
    const target = await openTarget(commandConnection(url, true), historyFor('postgres', searched))
    const tables = contentTables(model.entities)
    await target.migrate()
    await filling(service.store, async ({ session, dialect }) => {
      const source = { ...session, dialect }
      await target.transaction(async () => {
        await target.begin(tables)
        await copyTables(source, target, tables)
        for (const table of await compare(source, target, tables))
          assert.ok(isSame(table), table.name)
      })
    })
    await target.close()
    const client = await connected(url)
    const { rows } = await client.query('select title_words, aside_words from notes order by id')
    assert.deepEqual(
      rows.map(row => Object.values(row)),
      [
        ['creme', null],
        ['cafe', 'a la creme'],
      ],
    )
    await client.end()
  }
})
