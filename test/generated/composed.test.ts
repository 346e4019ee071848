/** What is unique takes canonically equivalent texts as one, however their letters are composed: on both engines, in both APIs. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { plainRows } from '#cli/transfer/rows-in.ts'
import { postgresStore } from '#engines/postgres/store.ts'
import { catalogueOf } from '#engines/shared/catalogue.ts'
import { differencesIn } from '#engines/shared/differences.ts'
import type { Migration } from '#engines/shared/migrations.ts'
import { sqliteStore } from '#engines/sqlite/store.ts'
import { lackOf, migrationsFor } from '#kit/draft/draft.ts'
import { postgresDrafting } from '#kit/draft/postgres.ts'
import { sqliteDrafting } from '#kit/draft/sqlite.ts'
import { entity, many, one } from '#model/entity.ts'
import { folded, id, int, reference, revision, text } from '#model/field.ts'
import { defineModel, type Entities, entityOf } from '#model/model.ts'
import { anonymous, anyone, signedIn } from '#model/policy.ts'
import { fillFolded, migrateStore } from '#serve/store.ts'
import type { RuledAction } from '#write/steps/action.ts'
import { insert } from '#write/steps/steps.ts'
import { changeIn, filling } from '../stores.ts'
import { forAllTests } from '../support/fixture.ts'
import { engines } from './compare.ts'
import { allRoutes, member } from './models.ts'
import { emptyStore, historyFor, postgresOptions, serveModel, withMembers } from './serve.ts'

const policy = { read: anyone, create: signedIn, update: signedIn, delete: signedIn }

const common = {
  description: '',
  policy,
  rest: { ...allRoutes, listing: { paging: 'page', limit: 9 } },
  graphql: { mutations: ['create', 'update', 'delete'] },
} as const

const entities = {
  member,
  shelf: entity({
    ...common,
    plural: 'shelves',
    fields: {
      id: id(),
      revision: revision(),
      name: text({ max: 650, unique: true }),
      code: text({ max: 20, nullable: true, unique: true }),
      // A folded copy that is unique needs no other.
      label: text({ max: 20, nullable: true, unique: true }),
      labelKey: folded('label', { nullable: true, unique: true }),
      title: text({ max: 60, nullable: true }),
      titleKey: folded('title', { nullable: true }),
    },
    search: { title: 1 },
    relations: { boxes: many('box', 'shelfId', { nestedWrites: true }) },
    rest: {
      ...allRoutes,
      listing: { paging: 'page', limit: 9, filters: { name: { kind: 'equals', field: 'name' } } },
    },
    bulk: true,
  }),
  box: entity({
    ...common,
    fields: {
      id: id(),
      revision: revision(),
      shelfId: reference('shelf', { onDelete: 'cascade' }),
      kind: text({ max: 20, nullable: true }),
      name: text({ max: 20 }),
    },
    relations: { shelf: one('shelf', 'shelfId') },
    sets: [['shelfId', 'kind', 'name']],
  }),
  tag: entity({
    ...common,
    fields: {
      id: id(),
      revision: revision(),
      word: text({ max: 20, unique: true }),
      wordKey: folded('word', { unique: true }),
    },
  }),
} as unknown as Entities

/** Makes a row with this text unless it is there. */
const keep = (
  of: 'shelf' | 'tag',
  key: string,
  path: string,
  operationId: string,
): RuledAction => ({
  method: 'POST',
  name: `keep ${path}`,
  path: `/${path}/keep`,
  about: null,
  answers: of,
  rule: signedIn,
  input: { [key]: text({ max: 20 }) },
  graphql: true,
  described: { operationId, summary: 'Keep one' },
  steps: ({ input }) => [insert(of, { [key]: input[key] } as never, { once: true })],
})
const actions = [
  keep('shelf', 'name', 'shelves', 'keepShelf'),
  keep('tag', 'word', 'tags', 'keepTag'),
]

/** Texts that are one, each written in two ways; neither is the other by its code points. */
const twins = [
  ['\u00e9', 'e\u0301'],
  // The sign of the angstrom is a letter, and that of the kelvin one of ASCII.
  ['\u00c5', '\u212b'],
  ['K2', '\u212a2'],
  [';', '\u037e'],
  // Hangul that is put together of its sounds.
  ['\ud55c\uae00', '\u1112\u1161\u11ab\u1100\u1173\u11af'],
  // Two marks of one letter, in either order.
  ['a\u0323\u0307', 'a\u0307\u0323'],
  // What is never composed again.
  ['\u0915\u093c', '\u0958'],
] as const

/** Long texts of the signs that composing makes longer, of those alone that it makes thrice as long, in no order. */
const longer = [6, 12].map(least => {
  const signs = Array.from({ length: 0x30000 }, (_, point) =>
    point >= 0xd800 && point < 0xe000 ? '' : String.fromCodePoint(point),
  ).filter(sign => Buffer.byteLength(sign.normalize('NFC')) >= least)
  let at = 1
  return Array.from({ length: 650 }, () => {
    at = (at * 48_271) % 2_147_483_647
    return signs[at % signs.length]
  }).join('')
})

for (const on of engines)
  describe(`on ${on}`, () => {
    const service = forAllTests(async () => {
      const served = await serveModel(entities, on, undefined, undefined, {}, { actions })
      return withMembers(served, ['Ada', 'Bea'])
    })
    const say = async (line: string, body?: unknown) => {
      const answer = await service.ask({ line, as: 'user', body })
      return { ...answer, json: answer.text === '' ? undefined : JSON.parse(answer.text) }
    }
    const run = async (query: string, variables: object = {}) =>
      (await say('POST /graphql', { query, variables })).json
    const make = async (body: object) => {
      const { status, json, text } = await say('POST /api/shelves', body)
      assert.equal(status, 201, text)
      return Number(json.id)
    }
    const isTaken = ({ status, text }: Awaited<ReturnType<typeof say>>, field = 'name') => {
      assert.equal(status, 409, text)
      assert.match(text, new RegExp(`"field":"[\\w.]*${field}"`))
    }

    test('a text is taken however its letters are composed, and stays as it was sent', async () => {
      for (const [first, second] of twins)
        for (const [own, other] of [
          [first, second],
          [second, first],
        ] as const) {
          const made = await make({ name: own })
          const free = await make({ name: 'free' })
          isTaken(await say('POST /api/shelves', { name: other }))
          isTaken(await say(`PATCH /api/shelves/${free}`, { name: other }))
          isTaken(await say('POST /api/shelves/bulk', { create: [{ name: 'x' }, { name: other }] }))
          const { errors } = await run(
            'mutation ($name: String!) { createShelf(input: { name: $name }) { id } }',
            { name: other },
          )
          assert.equal(errors[0].extensions.code, 'CONFLICT')
          const changed = await run(
            'mutation ($id: ID!, $name: String!) { updateShelf(id: $id, input: { name: $name }) { id } }',
            { id: free, name: other },
          )
          assert.equal(changed.errors[0].extensions.code, 'CONFLICT')
          assert.equal((await say(`GET /api/shelves/${made}`)).json.name, own)
          // Of its own row it may be written otherwise.
          assert.equal((await say(`PATCH /api/shelves/${made}`, { name: other })).status, 200)
          assert.equal((await say(`GET /api/shelves/${made}`)).json.name, other)
          const same = await say(`GET /api/shelves?name=${encodeURIComponent(own)}`)
          assert.equal(same.json.data.length, 0, 'eq is by code points')
          for (const id of [made, free]) await say(`DELETE /api/shelves/${id}`)
        }
    })

    test('case counts, nulls are many, and two of one request are found too', async () => {
      const ids = [await make({ name: '\u00e9' }), await make({ name: 'E\u0301' })]
      ids.push(await make({ name: 'e', code: null }), await make({ name: 'E', code: null }))
      isTaken(
        await say('POST /api/shelves/bulk', {
          create: [{ name: '\u00f6' }, { name: 'o\u0308' }],
        }),
      )
      isTaken(
        await say('POST /api/shelves', { name: 'x', label: '\u00c9' }).then(async () =>
          say('POST /api/shelves', { name: 'y', label: 'e\u0301' }),
        ),
        'label',
      )
      assert.equal(ids.length, 4)
      const { fields } = entityOf(service.core.model, 'shelf')
      assert.deepEqual(
        Object.keys(fields).filter(key => fields[key]?.copied === 'nfc'),
        ['nameNfc', 'codeNfc'],
      )
    })

    test('a step that is done once meets the row whose text is composed otherwise, or in other case where this is ignored', async () => {
      for (const [own, other] of [...twins, ['Soup', 'SOUP'], ['\u00e9', 'E\u0301']] as const) {
        const made = await say('POST /api/v2/tags/keep', { word: own })
        assert.equal(made.status, 201, made.text)
        const met = await say('POST /api/v2/tags/keep', { word: other })
        assert.equal(met.status, 200, met.text)
        assert.deepEqual(met.json, made.json)
        const query = 'mutation ($word: String!) { keepTag(input: { word: $word }) { id word } }'
        const { data } = await run(query, { word: other })
        assert.deepEqual(data?.keepTag, { id: String(made.json.id), word: own })
        await say(`DELETE /api/tags/${made.json.id}`)
      }
      for (const [own, other] of twins) {
        const first = await say('POST /api/v2/shelves/keep', { name: `${own} 1` })
        assert.equal(first.status, 201, first.text)
        const again = await say('POST /api/v2/shelves/keep', { name: `${other} 1` })
        assert.equal(again.status, 200, again.text)
        assert.equal(again.json.id, first.json.id)
        assert.equal(again.json.name, `${own} 1`)
        const query = 'mutation ($name: String!) { keepShelf(input: { name: $name }) { id name } }'
        const { data } = await run(query, { name: `${other} 1` })
        assert.deepEqual(data?.keepShelf, { id: String(first.json.id), name: `${own} 1` })
        await say(`DELETE /api/shelves/${first.json.id}`)
      }
    })

    test('in a set each text of it counts so, in parts too; without one of them nothing is taken', async () => {
      const shelf = await make({ name: 'boxes' })
      const box = { shelfId: shelf, kind: 'caf\u00e9', name: '\u212b' }
      assert.equal((await say('POST /api/boxes', box)).status, 201)
      isTaken(await say('POST /api/boxes', { ...box, kind: 'cafe\u0301', name: 'A\u030a' }))
      const part = { kind: 'cafe\u0301', name: '\u00c5' }
      isTaken(await say(`PATCH /api/v2/shelves/${shelf}`, { boxes: { create: [part] } }))
      const other = await make({ name: 'other' })
      assert.equal((await say('POST /api/boxes', { ...box, shelfId: other })).status, 201)
      for (const name of ['\u212b', '\u00c5'])
        assert.equal(
          (await say('POST /api/boxes', { shelfId: shelf, kind: null, name })).status,
          201,
        )
    })

    test('where case is ignored a text is found however its letters are composed, in each way to look for it', async () => {
      const found = async (word: string) => {
        const q = encodeURIComponent(word)
        const rest = await Promise.all(
          [`title[contains]=${q}`, `title[startsWith]=${q}`, `search=${q}`].map(async asked => {
            const { status, json, text } = await say(`GET /api/v2/shelves?${asked}`)
            assert.equal(status, 200, text)
            return json.data.map(({ id }: { id: number }) => Number(id))
          }),
        )
        const query = `query ($q: String!) {
          a: shelves(where: { title: { contains: $q } }) { id }
          b: shelves(where: { title: { startsWith: $q } }) { id }
          c: shelves(search: $q) { id }
        }`
        const { data, errors } = await run(query, { q: word })
        assert.equal(errors, undefined, JSON.stringify(errors))
        const graphql = ['a', 'b', 'c'].map(at =>
          data[at].map(({ id }: { id: string }) => Number(id)),
        )
        return [...rest, ...graphql]
      }
      // A sign alone is no word that a search finds.
      for (const [own, other] of twins.filter(([text]) => text !== ';'))
        for (const [kept, asked] of [
          [own, other],
          [other, own],
        ] as const) {
          const id = await make({ name: 'found', title: `${kept}xyz and more` })
          for (const word of [`${asked}xyz`, `${asked}XYZ`, `${kept}xy`])
            assert.deepEqual(await found(word), Array(6).fill([id]), `${word} in ${kept}`)
          await say(`DELETE /api/shelves/${id}`)
        }
    })

    test('an import names the line', () =>
      filling(service.store, async line => {
        const own = entityOf(service.core.model, 'shelf')
        const use = {
          mode: 'import',
          viewer: anonymous,
          now: 0,
          model: service.core.model,
          what: 'shelf',
        } as const
        const { put } = plainRows({ ...line, model: service.core.model }, own, use)
        assert.deepEqual(await put({ name: 'Zo\u00eb' }, 1), [])
        assert.deepEqual(await put({ name: 'Zoe\u0308' }, 2), [
          { field: 'name', message: 'is in use already' },
        ])
      }))

    test('the longest texts of signs that composing makes longer fit in the index', async () => {
      for (const name of longer) {
        await make({ name })
        isTaken(await say('POST /api/shelves', { name }))
      }
    })
  })

test('a store of before is migrated by a draft; two rows that become one are named, and nothing of it is applied', async t => {
  const now = {
    thing: entity({
      fields: {
        id: id(),
        name: text({ max: 20, unique: true }),
        kind: text({ max: 20, nullable: true }),
        shelf: int({ min: 0, max: 9, nullable: true }),
        revision: revision(),
      },
      sets: [
        ['kind', 'name'],
        ['kind', 'shelf'],
      ],
      policy,
    }),
  }
  const model = defineModel(now as never) as Entities
  const undone = ['name_nfc', 'kind_nfc_name_nfc', 'kind_nfc_shelf'].map(
    columns => `drop index things_by_${columns}`,
  )
  for (const column of ['name_nfc', 'kind_nfc'])
    undone.push(`alter table things drop column ${column}`)
  for (const on of engines) {
    const { store, url, drop } = await emptyStore(model, on)
    t.after(drop)
    const at = (migrations: readonly Migration[]) =>
      on === 'sqlite'
        ? sqliteStore({ file: store.label, sync: 'normal', migrations })
        : postgresStore({ ...postgresOptions, url: String(url), migrations })
    const before = [...historyFor(on, model), { name: '0002', text: `${undone.join(';\n')};` }]
    await at(before).migrate()
    const drafting = on === 'sqlite' ? sqliteDrafting : postgresDrafting
    const drafts = migrationsFor(lackOf(drafting, model, before), 3, 'composed')
    assert.ok(drafts.length > 0)
    const later = at([...before, ...drafts])
    const change = changeIn(later)
    const insert = (id: number, kind: string, name: string) =>
      change(`insert into things (id, kind, name) values (${id}, '${kind}', '${name}')`)
    for (const [id, name] of [
      [1, 'A'],
      [2, '\u00e9'],
      [3, 'e\u0301'],
    ] as const)
      await insert(id, 'k', name)
    const shown = async () => [...(await later.made()).keys()].filter(name => /nfc/.test(name))
    await assert.rejects(migrateStore(later, model), {
      message: /^nameNfc of things cannot be filled, as the things 2 and 3 have a name that counts/,
    })
    assert.deepEqual(await shown(), [])
    await change('delete from things where id = 2')
    // Neither is composed: they are known by each other.
    await insert(4, 'k', 'a\u0323\u0302\u0301')
    await insert(5, 'k', '\u00e2\u0323\u0301')
    await assert.rejects(migrateStore(later, model), { message: /the things 4 and 5 have a name/ })
    await change('delete from things where id = 5')
    // A sign beyond ASCII may be one of it once it is composed, as that of Kelvin is.
    await insert(6, 'k', 'K')
    await insert(7, 'k', '\u212a')
    await assert.rejects(migrateStore(later, model), { message: /the things 6 and 7 have a name/ })
    await change('delete from things where id in (6, 7)')
    await migrateStore(later, model)
    assert.equal((await shown()).length, 5)
    assert.deepEqual(await fillFolded(later, model), [
      'nameNfc of things in 3 rows',
      'kindNfc of things in 3 rows',
    ])
    assert.deepEqual(
      differencesIn(drafting.ddl, model, catalogueOf(await later.made())).filter(
        one => !one.isServed,
      ),
      [],
    )
    assert.deepEqual(lackOf(drafting, model, [...before, ...drafts]), { inside: [], outside: [] })
  }
})

test('a copy that nothing kept for a while is made anew by the draft that needs it again', () => {
  const named = (unique: boolean) =>
    defineModel({
      thing: entity({
        fields: { id: id(), name: text({ max: 20, unique }) },
        policy: { read: anyone },
      }),
    } as never) as Entities
  for (const drafting of [sqliteDrafting, postgresDrafting]) {
    let made: readonly Migration[] = historyFor(drafting.engine, named(true))
    const texts = [false, true].map((unique, at) => {
      const { inside, outside } = lackOf(drafting, named(unique), made)
      const text = `${[...inside, ...outside].join(';\n')};`
      made = [...made, { name: `000${at + 2}`, text }]
      return text
    })
    assert.doesNotMatch(texts[0] ?? '', /update/)
    assert.match(texts[1] ?? '', /update things set name_nfc = null where name_nfc is not null/)
    assert.deepEqual(lackOf(drafting, named(true), made), { inside: [], outside: [] })
  }
})
