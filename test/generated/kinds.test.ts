/** Every kind of field with every option: what docs/model.md says is served works on both engines, the rest is refused. */

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { exporting, importing } from '#cli/transfer/files.ts'
import { rowsIn, writers } from '#cli/transfer/format.ts'
import { plainRows } from '#cli/transfer/rows-in.ts'
import { pagesOf } from '#cli/transfer/rows-out.ts'
import { folderStore } from '#files/folder.ts'
import type { FileStore } from '#files/store.ts'
import { type Entity, entity } from '#model/entity.ts'
import {
  bytes,
  choice,
  computed,
  created,
  date,
  decimal,
  email,
  type Field,
  file,
  flag,
  folded,
  id,
  int,
  isDerived,
  json,
  list,
  money,
  reference,
  revision,
  slug,
  text,
  time,
  updatedAt,
  webUrl,
} from '#model/field.ts'
import { entityOf, modelFaults } from '#model/model.ts'
import { anonymous, nobody, signedIn } from '#model/policy.ts'
import { fileFields } from '#model/stored-file.ts'
import type { Rows } from '#sql/engine.ts'
import { filling } from '../stores.ts'
import { forAllTests } from '../support/fixture.ts'
import { ownFolder } from '../support/folders.ts'
import { versions } from '../support/library/versions.ts'
import { admin } from '../support/roles.ts'
import { isShort } from '../support/short.ts'
import { comparison, drawn, each, engines } from './compare.ts'
import { allRoutes, anyObject, bySignedIn, member } from './models.ts'
import { emptyStore, modelFor, type Service } from './serve.ts'

/** Each kind, with an initial value of it as it is stored. */
const kinds: Readonly<Record<string, readonly [() => Field, Field['initial']]>> = {
  id: [() => id(), { value: 1 }],
  text: [() => text({ max: 20 }), { value: 'x' }],
  slug: [() => slug({ from: 'name' }), { value: 'x' }],
  email: [() => email(), { value: 'a@example.org' }],
  webUrl: [() => webUrl(), { value: 'https://example.org/a' }],
  choice: [() => choice(['red', 'green']), { value: 'red' }],
  int: [() => int({ min: -3, max: 3 }), { value: 2 }],
  'int beyond 32 bits': [() => int({ min: 0, max: 2 ** 40 }), { value: 2 ** 35 }],
  money: [() => money({ max: 50 }), { value: 1999 }],
  decimal: [() => decimal({ scale: 3, min: -9, max: 9.5 }), { value: -1250 }],
  date: [() => date(), { value: '2024-02-29' }],
  time: [() => time(), 'now'],
  flag: [() => flag(), { value: 1 }],
  reference: [() => reference('member', { onDelete: 'cascade' }), 'viewer'],
  folded: [() => folded('name', { indexed: true }), { value: 'x' }],
  created: [() => created(), 'now'],
  updatedAt: [() => updatedAt(), 'now'],
  revision: [() => revision(), { value: 1 }],
  json: [() => json(anyObject), { value: '{"a":1}' }],
  list: [() => list(text({ max: 9 }), { max: 3 }), { value: '["a"]' }],
  'computed number': [
    () =>
      computed({
        as: int({ min: 2, max: 22 }),
        from: { times: [{ plus: ['size', { value: 1 }] }, { value: 2 }] },
      }),
    { value: 2 },
  ],
  'computed text': [
    () => computed({ as: text({ min: 0, max: 12 }), from: { concat: ['name', { text: " '" }] } }),
    { value: 'x' },
  ],
  bytes: [() => bytes(), { value: 1 }],
  file: [() => file({ accept: ['application/pdf'], max: '1 kB' }), { value: 'x' }],
}

type Change = (field: Field, initial: Field['initial']) => Field
type Listing = Partial<Pick<Entity, 'counted'>> & {
  readonly sets?: readonly (readonly string[])[]
  readonly filter?: 'equals' | 'at least' | 'contains'
  readonly sort?: boolean
  readonly graphqlFilter?: boolean
}

const nullable = { nullable: true, initial: { value: null } } as const
const same: Change = field => field

/** Each option, as a change of a field or as what its entity says of it. */
const options: Readonly<Record<string, readonly [Change, Listing?]>> = {
  plain: [same],
  nullable: [field => ({ ...field, ...nullable })],
  initial: [(field, initial) => ({ ...field, initial })],
  unique: [field => ({ ...field, unique: 'CONFLICT' })],
  set: [same, { sets: [['name', 'f']] }],
  immutable: [field => ({ ...field, immutable: true })],
  resetBy: [(field, initial) => ({ ...field, initial, resetBy: 'name' })],
  'readableBy user': [field => ({ ...field, readableBy: signedIn })],
  'readableBy admin': [field => ({ ...field, readableBy: admin })],
  'settableBy admin': [field => ({ ...field, ...nullable, settableBy: admin })],
  'settableBy nobody': [(field, initial) => ({ ...field, initial, settableBy: nobody })],
  'graphql input': [field => ({ ...field, graphql: 'input' })],
  'graphql hidden': [field => ({ ...field, ...nullable, graphql: 'hidden' })],
  'rest false': [field => ({ ...field, rest: false })],
  equals: [same, { filter: 'equals' }],
  'at least': [same, { filter: 'at least' }],
  contains: [same, { filter: 'contains' }],
  'GraphQL filter': [same, { graphqlFilter: true }],
  sort: [same, { sort: true }],
  counted: [same, { counted: ['f'] }],
}

/** The entity of a cell: a name, and field `f` unless the kind has a name of its own. */
const cell = (name: string, kind: string, option: string): Entity => {
  const [make, initial] = kinds[kind] as (typeof kinds)[string]
  const [change, listing = {}] = options[option] as (typeof options)[string]
  const key = kind === 'id' || kind === 'revision' ? kind : 'f'
  const { filter, sort, graphqlFilter, counted, sets } = listing
  const named = (keys: readonly (readonly string[])[] | undefined) =>
    keys?.map(all => all.map(one => (one === 'f' ? key : one)))
  return entity({
    table: name.toLowerCase(),
    plural: `${name}s`,
    description: `${kind} ${option}`,
    fields: {
      id: id(),
      name: text({ max: 10 }),
      size: int({ min: 0, max: 10, initial: { value: 3 } }),
      revision: revision(),
      [key]: change(make(), initial),
    },
    policy: bySignedIn,
    rest: {
      ...allRoutes,
      listing: {
        paging: 'page',
        limit: 4,
        ...(filter && { filters: { by: { kind: filter, field: key } } }),
        ...(sort && { sort: { style: 'field and order', fields: [key] } }),
      },
    },
    graphql: {
      paged: true,
      mutations: ['create', 'update'],
      ...(graphqlFilter && { filters: [key] }),
    },
    ...(counted && { counted: [key] }),
    ...(sets && { sets: named(sets) }),
  } as never) as unknown as Entity
}

const all = Object.keys(kinds).flatMap((kind, k) =>
  Object.keys(options).map((option, o) => {
    const name = `k${k}o${o}`
    const made = cell(name, kind, option)
    const faults = [...modelFaults({ member, [name]: made }, versions)]
    // In the short run each kind meets half of the options, and each option half of the kinds.
    const isTried = !isShort || (k + o) % 2 === 0
    return { kind, option, name, entity: made, faults, isTried }
  }),
)

/** The kinds of an option that are served, or those that are refused if these are fewer. */
const servedFor = (option: string): string => {
  const cells = all.filter(cell => cell.option === option)
  const [refused, served] = [true, false].map(isRefused =>
    cells.filter(({ faults }) => faults.length > 0 === isRefused).map(({ kind }) => kind),
  ) as [string[], string[]]
  return served.length < refused.length
    ? `only ${served.join(', ')}`
    : `all but ${refused.join(', ')}`
}

const table = [
  '| Option | Served for |',
  '| --- | --- |',
  ...Object.keys(options).map(option => `| ${option} | ${servedFor(option)} |`),
].join('\n')

test('docs/model.md says of each kind and option whether it is served or refused', () => {
  const text = readFileSync(new URL('../../docs/model.md', import.meta.url), 'utf8')
  assert.ok(text.includes(table), `its table should be\n${table}`)
})

const served = all.filter(({ faults, isTried }) => faults.length === 0 && isTried)
const entities = { member, ...Object.fromEntries(served.map(({ name, entity }) => [name, entity])) }
const model = modelFor(entities)

const use = { mode: 'import', viewer: anonymous, now: 0 } as const

/** The file that an export of an entity's rows is in, of each format in turns. */
const fileFor = (folder: string, name: string) => {
  const format = Object.keys(entities).indexOf(name) % 2 === 0 ? 'ndjson' : 'csv'
  return { path: join(folder, `${name}.${format}`), format } as const
}

const kindFor = (name: string) => ({ entity: name, also: [], foreign: {} })

/** Puts the rows of such files into a store as an import does, with the bytes that they name; gives the faults of each entity's rows. */
const imported = (
  { store }: Pick<Service, 'store'>,
  files: FileStore,
  names: readonly string[],
  folder: string,
) =>
  filling(store, async line => {
    const faults: Record<string, object[]> = {}
    for (const what of names) {
      const of = { ...use, model, what }
      const own = entityOf(model, what)
      const { path, format } = fileFor(folder, what)
      const { put } = plainRows({ ...line, model }, own, of)
      const withFiles = importing(files, { ...line, model }, own, path)
      const found: object[] = []
      for await (const { row, line, ...fault } of rowsIn(path, format, kindFor(what), own, false)) {
        if (!row) assert.fail(JSON.stringify(fault))
        const { row: whole, faults } = await withFiles(row)
        found.push(...faults, ...(await put(whole, line)))
      }
      faults[what] = found
    }
    return faults
  })

/** Writes the rows of entities into files as an export does, with their bytes beside them; gives how many rows each has. */
const exported = ({ store, core }: Service, names: readonly string[], folder: string) =>
  filling(store, async line => {
    const counts: Record<string, number> = {}
    for (const name of names) {
      const { header, count, pages } = await pagesOf({ ...line, model }, kindFor(name))
      const { path, format } = fileFor(folder, name)
      const { head, row: textOf } = writers[format]
      const withFiles = exporting(core.files?.store, model, entityOf(model, name), path)
      let text = head(header)
      for await (const page of pages()) for (const row of page) text += textOf(await withFiles(row))
      writeFileSync(path, text)
      counts[name] = count
    }
    return counts
  })

/** What REST does not show is in no export, so that an import lacks it where it is needed. */
const lacks = ({ fields }: Entity): readonly string[] =>
  Object.entries(fields).flatMap(([key, field]) =>
    field.rest || key === 'id' || field.initial !== undefined || isDerived(field) ? [] : [key],
  )

/** What each query finds; in one session, as one that fills the store locks all of its tables. */
const found = ({ store }: Pick<Service, 'store'>, texts: readonly string[]) =>
  filling(store, async ({ session }) => {
    const all: Rows[] = []
    for (const text of texts) all.push(await session.query({ text, values: [] }))
    return all
  })

/** All of a table, with what no export shows. */
const allOf = ({ entity: { table } }: { readonly entity: Entity }) =>
  `select * from ${table} order by id`

// All kinds go through the same services once: to make them takes longer than to ask them.
describe('on every engine', () => {
  const same = forAllTests(() => comparison(entities, drawn(1), engines, 'all kinds'))

  for (const kind of Object.keys(kinds)) {
    const names = served.filter(cell => cell.kind === kind).map(({ name }) => name)
    if (names.length === 0) continue
    test(`${kind} is served with all options that are not refused`, () => same.send(each(names)))
  }

  for (const [at, on] of engines.entries())
    test(`an export from ${on} brings what is there into an empty store as it was`, async () => {
      const from = same.services[at] ?? assert.fail(`there is no service on ${on}`)
      const names = ['member', ...served.map(({ name }) => name)]
      const into = await emptyStore(entities, on, 'all kinds')
      const folder = ownFolder('all-kinds')
      const files = folderStore(join(folder, 'files'))
      try {
        const counts = await exported(from, names, folder)
        const faults = await imported(into, files, names, folder)
        const whole: (typeof served)[number][] = []
        for (const one of served) {
          const { name, kind, option, entity } = one
          const missing = lacks(entity).map(field => ({ field, message: 'is required' }))
          const about = `${kind} ${option}`
          const count = counts[name] ?? 0
          assert.ok(count > 0, about)
          assert.deepEqual(faults[name], Array(count).fill(missing).flat(), about)
          if (missing.length === 0 && !Object.values(entity.fields).some(({ rest }) => !rest))
            whole.push(one)
        }
        const [there, before] = [
          await found(into, whole.map(allOf)),
          await found(from, whole.map(allOf)),
        ]
        for (const [at, { kind, option }] of whole.entries())
          assert.deepEqual(there[at], before[at], `${kind} ${option}`)
        // The bytes of each are there, once.
        const digests = new Set<string>()
        const withFile = fileFields(entities).map(
          ({ entity: { table }, key }) => `select ${key} from ${table} where ${key} is not null`,
        )
        for (const [text] of (await found(into, withFile)).flat())
          digests.add(JSON.parse(String(text)).digest)
        const stored = await Array.fromAsync(files.list(), ({ digest }) => digest)
        assert.deepEqual(stored, [...digests].sort())
        assert.ok(stored.length > 0)
      } finally {
        await into.drop()
      }
    })
})
