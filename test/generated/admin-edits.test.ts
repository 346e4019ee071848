/** Two editors of the admin change one row at once: fields, nested rows and links. What each of them changed is there in the end, or was put before them. And what the admin reads and writes: numbers, and rows as CSV. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { entity, many } from '#model/entity.ts'
import { choice, decimal, id, int, reference, revision, text } from '#model/field.ts'
import {
  changesOf,
  conflictsOf,
  membersOf,
  merged,
  type Side,
  saveOver,
} from '../../admin/changes.ts'
import { csvOf, importedOf, rowsOf, textOf } from '../../admin/csv.ts'
import { columnsOf, type Entity, type Field, type Model, type Row } from '../../admin/model.ts'
import { numbersOf } from '../../admin/words.ts'
import type { Draw } from '../operations.ts'
import { forAllTests } from '../support/fixture.ts'
import { rounds, usualSeed } from '../support/rounds.ts'
import { drawn, engines } from './compare.ts'
import { allRoutes, bySignedIn, member } from './models.ts'
import { serveWithMembers } from './serve.ts'

const listing = { paging: 'page', limit: 100 } as const
const nested = { list: false, one: true, nested: ['one', 'create', 'delete'], listing } as const
const entities = {
  member,
  dish: entity({
    fields: {
      id: id(),
      title: text({ max: 40 }),
      notes: text({ max: 4000, nullable: true }),
      servings: int({ min: 1, max: 99, initial: { value: 2 } }),
      minutes: int({ min: 1, max: 999, nullable: true, initial: { value: 20 } }),
      status: choice(['draft', 'published'], { initial: { value: 'draft' } }),
      revision: revision(),
    },
    relations: {
      ingredients: many('ingredient', 'dishId', { oldestFirst: true, nestedWrites: true }),
      tags: many('tag', { through: 'dishTag', nestedWrites: true }),
    },
    policy: bySignedIn,
    rest: { ...allRoutes, listing },
  }),
  ingredient: entity({
    fields: {
      id: id(),
      dishId: reference('dish', { onDelete: 'cascade' }),
      name: text({ max: 20 }),
      amount: decimal({ scale: 2, min: 0, max: 999 }),
      unit: choice(['g', 'ml'], { nullable: true, initial: { value: 'g' } }),
      hint: text({ min: 1, max: 40, nullable: true }),
      revision: revision(),
    },
    policy: bySignedIn,
    rest: { ...nested, writes: ['update', 'delete'] },
  }),
  tag: entity({
    fields: { id: id(), name: text({ max: 20 }), revision: revision() },
    policy: bySignedIn,
    rest: { ...allRoutes, listing },
  }),
  dishTag: entity({
    fields: {
      id: id(),
      dishId: reference('dish', { onDelete: 'cascade' }),
      tagId: reference('tag', { onDelete: 'cascade' }),
    },
    policy: { read: bySignedIn.read, create: bySignedIn.create, delete: bySignedIn.delete },
    rest: { list: false, one: true, writes: ['create', 'delete'], listing },
    sets: [['dishId', 'tagId']],
  }),
}

type Part = { id?: number; name: string; amount: number; [member: string]: unknown }

/** What somebody typed: some members of the row, each changed once or more. */
const edited = (draw: Draw, row: Row, tags: readonly number[], who: string): Row => {
  const mine = structuredClone(row)
  const word = () => `${who}${draw.upTo(3)}`
  const edits: Readonly<Record<string, () => unknown>> = {
    title: word,
    notes: () => draw.of(word(), `${word()}\n${word()}`, ''),
    servings: () => draw.upTo(5, 1),
    status: () => draw.of('draft', 'published'),
    ingredients: () => {
      const parts = [...(mine.ingredients as Part[])]
      const [first, ...others] = parts
      if (!first || draw.chance(40)) return [...parts, { name: word(), amount: draw.upTo(9) }]
      return draw.chance(50) ? others : [{ ...first, amount: draw.upTo(9) }, ...others]
    },
    tags: () => {
      const tag = draw.of(...(tags as [number, ...number[]]))
      const now = mine.tags as number[]
      return now.includes(tag) ? now.filter(one => one !== tag) : [...now, tag]
    },
  }
  for (let count = draw.upTo(4, 1); count > 0; count--) {
    const name = draw.of(...(Object.keys(edits) as [string, ...string[]]))
    mine[name] = edits[name]?.()
  }
  return mine
}

/** A member as people see it: without ids and revisions, which saving gives. */
const shown = (name: string, value: unknown): unknown => {
  if (name === 'tags') return [...(value as number[])].sort((a, b) => a - b)
  if (name === 'ingredients')
    return (value as Part[]).map(({ name, amount }) => `${name} ${amount}`).sort()
  return value === '' ? null : value
}

/** What two sides made of lines, put together: all that either of them put in is there, and nothing that either took out. */
const together = (was: unknown[], mine: unknown[], theirs: unknown[]) =>
  [
    ...theirs.filter(one => mine.includes(one) || !was.includes(one)),
    ...mine.filter(one => !was.includes(one) && !theirs.includes(one)),
  ].sort()

for (const on of engines)
  describe(`two editors of one row on ${on}`, () => {
    const service = forAllTests(() => serveWithMembers(entities, on, 'Ann', 'Ben'))
    let model: Model
    let dish: Entity
    let tags: readonly number[]
    const send = async (line: string, body?: unknown, etag?: string | null) => {
      const headers = etag ? { 'If-Match': etag } : {}
      const answer = await service.ask({ line, as: 'admin', body, headers })
      const json = answer.text.startsWith('{') ? JSON.parse(answer.text) : undefined
      if (answer.status >= 300)
        throw Object.assign(new Error(`${line}: ${answer.text}`), { status: answer.status })
      return { json, etag: answer.headers.get('etag') }
    }
    const whole = async (id: number): Promise<Row> => {
      const at = `/api/v2/dishes/${id}`
      const { json, etag } = await send(`GET ${at}`)
      const ingredients = await send(`GET ${at}/ingredients?limit=100`)
      const linked = await send(`GET ${at}/tags?limit=100`)
      return {
        ...json,
        _etag: etag,
        ingredients: ingredients.json.data,
        tags: linked.json.data.map((tag: Row) => tag.id),
      }
    }
    const save = async (base: Row, mine: Partial<Row>): Promise<Row> => {
      const changes = changesOf(model, dish, base, mine, 'update')
      if (Object.keys(changes).length > 0)
        await send(`PATCH /api/v2/dishes/${base.id}`, changes, base._etag)
      return whole(base.id)
    }
    before(async () => {
      const { json } = await send('GET /admin/model.json')
      model = json
      dish = json.entities.find(({ name }: Entity) => name === 'dish')
      const made = ['soup', 'quick', 'baking'].map(name => send('POST /api/v2/tags', { name }))
      tags = (await Promise.all(made)).map(({ json }) => json.id)
    })

    test('what was emptied is empty, in new rows and their parts, and what was left has what it begins with', async () => {
      const parts: Partial<Part>[] = [
        { name: 'salt', amount: 1, unit: '', hint: null },
        { name: 'oil', amount: 2, unit: null, hint: '' },
        { name: 'rice', amount: 3, unit: 'g', hint: 'rinsed' },
      ]
      const own = { title: 'Soup', servings: null, minutes: null, notes: '', status: 'draft' }
      const written = changesOf(model, dish, {}, { ...own, ingredients: parts }, 'create')
      assert.deepEqual(Object.keys(written), ['title', 'minutes', 'ingredients'])
      const { json } = await send('POST /api/v2/dishes', written)
      const made = await whole(json.id)
      assert.deepEqual([made.servings, made.minutes, made.notes], [2, null, null])
      const shown = (row: Row) =>
        (row.ingredients as Part[]).map(({ unit, hint }) => [unit, hint ?? null])
      assert.deepEqual(shown(made), [
        [null, null],
        [null, null],
        ['g', 'rinsed'],
      ])
      const emptied = (made.ingredients as Part[]).map(part => ({ ...part, hint: '', unit: '' }))
      const saved = await save(made, { ...made, ingredients: emptied })
      assert.deepEqual(shown(saved), Array(3).fill([null, null]))
    })

    test('nothing that either of them changed is lost', async t => {
      const count = rounds(20, 1000)
      const begun = usualSeed(46)
      let clashes = 0
      for (let round = 0; round < count; round++) {
        const draw = drawn(begun * 10_000 + round)
        const told = `DUET_SEED=${begun}, round ${round} on ${on}`
        const create = ['salt', 'oil'].map(name => ({ name, amount: 1 }))
        const made = await send('POST /api/v2/dishes', {
          ...{ title: 'Soup', ingredients: { create } },
          tags: { set: tags.slice(0, 1) },
        })
        const base = await whole(made.json.id)
        const [mine, theirs] = [edited(draw, base, tags, 'a'), edited(draw, base, tags, 'b')]
        // Theirs comes before mine, or while mine is being saved.
        let isSaved = draw.chance(50)
        if (isSaved) await save(base, theirs)
        const saved = await saveOver(
          dish,
          base,
          mine,
          async (under, values) => {
            if (!isSaved) await save(base, theirs)
            isSaved = true
            return save(under, values)
          },
          () => whole(base.id),
        )
        assert.notEqual(saved.kind, 'failed', `${told}: ${JSON.stringify(saved)}`)
        const chosen: Record<string, Side> = {}
        if (saved.kind === 'clash') {
          clashes++
          const both = conflictsOf(dish, base, mine, saved.theirs)
          assert.notEqual(both.length, 0, told)
          for (const { name } of both) chosen[name] = draw.of('mine', 'theirs')
          await save(saved.theirs, merged(dish, base, mine, saved.theirs, chosen))
        }
        const end = await whole(base.id)
        for (const { name } of membersOf(dish)) {
          const [was, my, their, is] = [base, mine, theirs, end].map(row => shown(name, row[name]))
          const same = (one: unknown, other: unknown) =>
            JSON.stringify(one) === JSON.stringify(other)
          const side = chosen[name] ?? (!same(my, was) && same(their, was) ? 'mine' : 'theirs')
          const wanted =
            Array.isArray(was) && !(name in chosen)
              ? together(was, my as unknown[], their as unknown[])
              : { mine: my, theirs: their }[side]
          assert.deepEqual(is, wanted, `${told}: ${name}`)
        }
      }
      t.diagnostic(`${count} pairs of edits, ${clashes} of them put before the editor`)
    })
  })

test('a number is read as people of each language write it, shown so that it reads the same, and never taken for another', () => {
  const texts: Readonly<Record<string, readonly (readonly [string, number | undefined])[]>> = {
    en: [
      ['100.5', 100.5],
      ['100,5', undefined],
      ['1,000.5', 1000.5],
      ['1.000,5', undefined],
      ['12,34', undefined],
      ['1,0000', undefined],
      ['1 000', 1000],
      ['0,125', undefined],
      ['0.125', 0.125],
      ['1,000 500', undefined],
      ['1 000,500', undefined],
      ['12,34,567', undefined],
      ['1,234,567', 1_234_567],
      [' -.5', -0.5],
      ['−7', -7],
      ['+7.', 7],
      ...['.', '-', '1.2.3', '1e3', '0x10', 'Infinity', '5 g', '1 5'].map(
        text => [text, undefined] as const,
      ),
      // More digits than a number holds are another number.
      ['9007199254740991', 9_007_199_254_740_991],
      ['9007199254740993', undefined],
      ['9007199254740991.4', undefined],
      ['0.1234567890123456', undefined],
    ],
    de: [
      ['100,5', 100.5],
      ['1.000,5', 1000.5],
      ['100.5', undefined],
      ['1,000.5', undefined],
      ['1 000,5', 1000.5],
      ['0.125', undefined],
      ['0,125', 0.125],
      ['1.125', 1125],
      ['1.25.500', undefined],
      ['1.000 500', undefined],
      ['1.000.500,25', 1_000_500.25],
    ],
    'de-CH': [
      ['1’000.5', 1000.5],
      ["1'000.5", 1000.5],
    ],
    fr: [
      ['1 000,5', 1000.5],
      ['1\u202f000,5', 1000.5],
    ],
    'en-IN': [
      ['12,34,567.5', 1_234_567.5],
      ['123,45,678', undefined],
      ['12,345', 12_345],
    ],
    'ar-EG': [
      ['١٢', 12],
      ['١٬٢٣٤٫٥', 1234.5],
      ['\u061c-١٢', -12],
      ['12', 12],
      ['۱۲', undefined],
    ],
    fa: [['\u200e−۱٬۲۳۴٫۵', -1234.5]],
  }
  for (const [language, cases] of Object.entries(texts))
    for (const [text, value] of cases)
      assert.equal(numbersOf(language).read(text), value, `${language}: ${text}`)
  for (const language of ['en', 'de', 'fr', 'sv', 'ar-EG', 'he', 'fa', 'hi', 'es']) {
    const { show, read } = numbersOf(language)
    for (const value of [0, -1234.5, 79.9, 0.000_000_1, 123_456_789.123_456, 2 ** 53 - 1])
      assert.equal(read(show(value)), value, `${language}: ${show(value)}`)
    assert.equal(read(show(79.9, 2)), 79.9)
  }
  assert.deepEqual(
    ['en', 'de'].map(language => numbersOf(language).show(1079.9, 2)),
    ['1079.90', '1079,90'],
  )
})

const field = (name: string, kind: string, more: Partial<Field> = {}): Field => ({
  ...{ name, kind, label: `The ${name}`, set: 'always', nullable: true },
  ...more,
})
const columns = [field('name', 'text'), field('price', 'decimal'), field('cookId', 'reference')]
const german = numbersOf('de').read

test('a column of numbers is read in one way, by the language of a spreadsheet or else as programs write them', () => {
  const cases: Readonly<Record<string, readonly unknown[]>> = {
    'de: 9,50|9.500': [9.5, 9500],
    'de: 9.50|9.500': [9.5, 9.5],
    'de: 9.50|9,500|9.500': ['9.50', 9.5, 9500],
    'de:  |\u00a0| 7 ': [null, null, 7],
    'de: Infinity|0x1F|1e400|9007199254740993|-.5': [
      ...['Infinity', '0x1F', '1e400', '9007199254740993', '-.5'],
    ],
    // A spreadsheet of another language has commas where an English one has points.
    'en: 9,50|1.000,5|7': [9.5, 1000.5, 7],
    'en: 9.50|1,000.5': [9.5, 1000.5],
    'en: 1,234|1.5': [1234, 1.5],
    'en: 9,50|1,000.5': ['9,50', 1000.5],
  }
  const read = { de: german, en: numbersOf('en').read }
  for (const separator of [';', '\t'])
    for (const [language, prices] of Object.entries(cases)) {
      const cells = language.slice(4).split('|')
      const lines = ['name', ...cells.map(() => 'Soup')].map(
        (name, at) => `${name}${separator}${['price', ...cells][at]}`,
      )
      const { rows, faults } = rowsOf(
        columns,
        lines.join('\r\n'),
        language.startsWith('de') ? read.de : read.en,
      )
      assert.deepEqual(faults, [])
      assert.deepEqual(
        rows.map(({ price }) => price),
        prices,
        `${separator} ${language}`,
      )
    }
  // Whole numbers have no such other one.
  for (const cell of ['1,234', '1.234'])
    assert.deepEqual(rowsOf(columns, `name;cookId\nTea;${cell}`, read.en).rows, [
      { name: 'Tea', cookId: 1234 },
    ])
  for (const may of ['1,234 may be 1234 or 1.234', '1.250 may be 1.25 or 1250']) {
    const text = `name;price\nTea;7\nSoup;${may.slice(0, 5)}`
    const message = `price ${may}: write it with a point alone.`
    assert.deepEqual(rowsOf(columns, text, read.en).faults, [{ line: 'Line 3', message }])
  }
  const { rows } = rowsOf(
    columns,
    'name,price,cookId\nSoup,9.500,1\n,-1e3,0x1F\nTea,"9,5", ',
    german,
  )
  assert.deepEqual(rows, [
    { name: 'Soup', price: 9.5, cookId: 1 },
    { name: null, price: -1000, cookId: '0x1F' },
    { name: 'Tea', price: '9,5', cookId: null },
  ])
})

test('values that the header does not name are a fault of their row, and none of the file is taken', () => {
  const told = (text: string) =>
    rowsOf(columns, text).faults.map(({ line, message }) => `${line} ${message}`)
  assert.deepEqual(told('name,price\nTea,2\nSoup,1,50\nBread'), [
    'Line 3 has 3 values, the header names 2',
    'Line 4 has 1 values, the header names 2',
  ])
  assert.deepEqual(told('name,price,\nSoup,1,50'), ['Line 2 has 3 values, the header names 2'])
  assert.deepEqual(told('name,,price\nSoup,1,50'), ['Line 2 has 3 values, the header names 2'])
  // Spreadsheets save empty cells beside and below the others.
  assert.deepEqual(told('name,price,,\nSoup,1,,\nTea,2\n,,,\n\n'), [])
  assert.deepEqual(told('name,The Name\nSoup,Tea'), ['Line 1 The header names The Name twice.'])
  assert.deepEqual(told('name,price\n"Soup,1'), [
    'Line 2 This is not CSV: a quote is missing or too many.',
    'Line 2 has 1 values, the header names 2',
  ])
  assert.deepEqual(rowsOf(columns, 'name, hue ,\nSoup,red,').unknown, ['hue'])
})

test('what the admin writes as CSV it reads again, but for files, which are told by their address', () => {
  const fields = [...columns, field('photo', 'file'), field('tags', 'list'), field('on', 'flag')]
  const row = { id: 1, name: '=1+1', price: -0.5, cookId: 7, tags: ['a', 'b,c'], on: false }
  const photo = { name: 'a.png', url: '/api/v1/recipes/1/photo' }
  const text = csvOf(fields, [
    { ...row, photo },
    { ...row, photo: null },
  ])
  assert.match(text, /,\/api\/v1\/recipes\/1\/photo,/)
  const read = rowsOf(importedOf({ fields }), text)
  const { id: _, ...given } = row
  assert.deepEqual(read, { rows: [given, given], unknown: ['photo'], faults: [] })
})

test('a file is read in the encoding that it begins with, and it is said where that was guessed', () => {
  const bytes = (...parts: (readonly number[] | Buffer)[]) => {
    const all = Buffer.concat(parts.map(part => Buffer.from(part)))
    return all.buffer.slice(all.byteOffset, all.byteOffset + all.length) as ArrayBuffer
  }
  const wide = Buffer.from('Töpfe', 'utf16le')
  const whole = { text: 'Töpfe', isGuessed: false }
  assert.deepEqual(textOf(bytes(Buffer.from('Töpfe'))), whole)
  assert.deepEqual(textOf(bytes([0xef, 0xbb, 0xbf], Buffer.from('Töpfe'))), whole)
  assert.deepEqual(textOf(bytes([0xff, 0xfe], wide)), whole)
  assert.deepEqual(textOf(bytes([0xfe, 0xff], Buffer.from(wide).swap16())), whole)
  const latin = Buffer.from('Töpfe', 'latin1')
  assert.deepEqual(textOf(bytes(latin)), { text: 'Töpfe', isGuessed: true })
  assert.throws(() => textOf(bytes([0xef, 0xbb, 0xbf], latin)))
  assert.throws(() => textOf(bytes([0xff, 0xfe], wide, [0])))
})

test('a list shows the state of its rows, however late the model has it', () => {
  const fields = [...'abcdef'].map(name => ({ name, kind: 'text' }))
  const entity = { title: 'b', fields: [...fields, { name: 'state', kind: 'choice' }] }
  assert.deepEqual(columnsOf(entity as never), ['b', 'state', 'a', 'c', 'd', 'e'])
})
