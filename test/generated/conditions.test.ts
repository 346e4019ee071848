/** Conditions: any of them chooses the same rows on both engines as in memory, and its faults have paths and suggestions. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { type RowMemory, type StoredRow, satisfies } from '#kit/check/conditions.ts'
import { type Condition, now, resolveCondition, viewer } from '#model/condition.ts'
import { type Entity, entity, many, one } from '#model/entity.ts'
import {
  choice,
  date,
  decimal,
  flag,
  folded,
  id,
  int,
  list,
  money,
  reference,
  text,
  time,
} from '#model/field.ts'
import { columnName } from '#model/names.ts'
import { anyone } from '#model/policy.ts'
import { fold } from '#model/values.ts'
import { columnsOf, predicateSql } from '#read/predicate.ts'
import type { Session } from '#sql/engine.ts'
import { comma, join, name, sql, statement } from '#sql/sql.ts'
import { engines } from './compare.ts'
import { member } from './models.ts'
import { type Service, serveModel } from './serve.ts'

const rest = { list: true, one: true, listing: { paging: 'page', limit: 5 } } as const
const common = { description: '', policy: { read: anyone }, rest }

const entities: Record<string, Entity> = {
  member,
  shelf: entity({
    ...common,
    table: 'shelves',
    plural: 'shelves',
    fields: {
      id: id(),
      label: choice(['low', 'high'], { nullable: true }),
      keeperId: reference('member', { onDelete: 'cascade', nullable: true }),
    },
    relations: { keeper: one('member', 'keeperId') },
  }),
  item: entity({
    ...common,
    table: 'items',
    plural: 'items',
    fields: {
      id: id(),
      name: text({ max: 20, nullable: true }),
      nameKey: folded('name', { nullable: true }),
      size: int({ min: -9, max: 9, nullable: true }),
      price: money({ max: 50, nullable: true }),
      madeAt: time({ nullable: true }),
      rare: flag({ nullable: true }),
      weight: decimal({ scale: 1, min: -9, max: 9, nullable: true }),
      day: date({ nullable: true }),
      words: list(text({ max: 20 }), { max: 3, nullable: true }),
      offDays: list(date(), { max: 3, nullable: true }),
      turns: list(flag(), { max: 3, nullable: true }),
      shelfId: reference('shelf', { onDelete: 'cascade', nullable: true }),
      ownerId: reference('member', { onDelete: 'cascade', nullable: true }),
    },
    relations: {
      shelf: one('shelf', 'shelfId'),
      owner: one('member', 'ownerId'),
      notes: many('note', 'itemId'),
    },
  }),
  note: entity({
    ...common,
    table: 'notes',
    plural: 'notes',
    fields: {
      id: id(),
      stars: int({ min: 0, max: 9 }),
      itemId: reference('item', { onDelete: 'cascade' }),
      writerId: reference('member', { onDelete: 'cascade', nullable: true }),
    },
    relations: { item: one('item', 'itemId'), writer: one('member', 'writerId') },
  }),
}

const moment = Date.UTC(2026, 0, 2)
const texts = [
  '',
  'a',
  'A',
  'ä',
  'Ä',
  'ß',
  'SS',
  'b%',
  '_',
  '\\',
  "'",
  'ﬀ',
  '𝒳y',
  'a b',
  'é',
  'e\u0301',
]
const orNull = <Value>(of: fc.Arbitrary<Value>) => fc.option(of, { nil: null })
const aText = fc.constantFrom(...texts)
const anInt = fc.integer({ min: -3, max: 3 })
const anAmount = fc.constantFrom(0, 0.01, 1, 1.005, 2.5, 3)
const aMoment = fc.constantFrom(...[-1, 0, 1].map(step => new Date(moment + step)))
const days = ['2026-01-02', '2026-01-10', '2026-02-01']
const anId = fc.integer({ min: 1, max: 4 })

const rowsBy = (of: Record<string, fc.Arbitrary<string | number | null>>, most: number) =>
  fc
    .array(fc.record(of), { maxLength: most })
    .map(rows => rows.map((row, at): StoredRow => ({ id: at + 1, ...row })))

const worlds = fc
  .record({
    member: fc.constant([1, 2].map(id => ({ id, name: `m${id}`, status: 'active', revision: 1 }))),
    shelf: rowsBy(
      {
        label: orNull(fc.constantFrom('low', 'high')),
        keeperId: orNull(fc.integer({ min: 1, max: 2 })),
      },
      3,
    ),
    item: rowsBy(
      {
        name: orNull(aText),
        size: orNull(anInt),
        price: orNull(fc.constantFrom(0, 1, 100, 101, 250)),
        madeAt: orNull(fc.constantFrom(moment - 1, moment, moment + 1)),
        rare: orNull(fc.constantFrom(0, 1)),
        weight: orNull(fc.constantFrom(-15, 0, 1, 2, 10)),
        day: orNull(fc.constantFrom(...days)),
        words: orNull(fc.array(aText, { maxLength: 3 }).map(words => JSON.stringify(words))),
        offDays: orNull(fc.subarray(days).map(some => JSON.stringify(some))),
        turns: orNull(fc.constant('[1]')),
        shelfId: orNull(anId),
        ownerId: orNull(fc.integer({ min: 1, max: 2 })),
      },
      8,
    ),
    note: rowsBy(
      {
        stars: fc.integer({ min: 0, max: 3 }),
        itemId: anId,
        writerId: orNull(fc.integer({ min: 1, max: 2 })),
      },
      8,
    ),
  })
  .map(({ member, shelf, item, note }) => ({
    member,
    shelf,
    // References lead to rows that there are.
    item: item.map(row => ({
      ...row,
      shelfId: Number(row.shelfId) <= shelf.length ? (row.shelfId ?? null) : null,
      nameKey: row.name == null ? null : fold(String(row.name)),
    })) as readonly StoredRow[],
    note: note.filter(({ itemId }) => Number(itemId) <= item.length),
  }))

const compared = (value: fc.Arbitrary<unknown>, isRanged: boolean, isText = false) => {
  const list = fc.array(value, { maxLength: 3 })
  const bounds = isRanged ? ['lt', 'lte', 'gt', 'gte'] : []
  return fc.oneof(
    orNull(value),
    orNull(value).map(given => ({ eq: given })),
    orNull(value).map(given => ({ ne: given })),
    list.map(given => ({ in: given })),
    list.map(given => ({ notIn: given })),
    fc.boolean().map(isNull => ({ isNull })),
    ...bounds.map(bound => value.map(given => ({ [bound]: given }))),
    ...(isText
      ? ['contains', 'startsWith'].map(word => value.map(given => ({ [word]: given })))
      : []),
    ...(isRanged ? [fc.tuple(value, value).map(([gte, ne]) => ({ gte, ne }))] : []),
  )
}

const person = compared(fc.oneof(fc.constant(viewer), fc.integer({ min: 1, max: 2 })), false)
const conditions = fc.letrec<Record<string, Condition>>(tie => {
  const combined = (of: string) => [
    fc.record({ and: fc.array(tie(of), { maxLength: 2 }) }),
    fc.record({ or: fc.array(tie(of), { maxLength: 3 }) }),
    fc.record({ not: tie(of) }),
  ]
  const byRow = (members: Record<string, fc.Arbitrary<unknown>>, of: string) =>
    fc.oneof(
      { depthSize: 'small' },
      ...Object.entries(members).map(([key, value]) => fc.record({ [key]: value })),
      ...combined(of),
    ) as fc.Arbitrary<Condition>
  const either = (of: string) =>
    fc.oneof(fc.record({ some: tie(of) }), fc.record({ none: tie(of) }))
  return {
    member: byRow({ id: person, name: compared(fc.constantFrom('m1', 'm2'), false) }, 'member'),
    shelf: byRow(
      {
        label: compared(fc.constantFrom('low', 'high'), false),
        keeperId: person,
        keeper: fc.oneof(fc.constant(viewer), tie('member')),
      },
      'shelf',
    ),
    item: byRow(
      {
        name: compared(aText, false, true),
        size: compared(anInt, true),
        price: compared(anAmount, true),
        madeAt: compared(fc.oneof(aMoment, fc.constant(now)), true),
        rare: compared(fc.boolean(), false),
        weight: compared(fc.constantFrom(-1.5, -0.15, 0, 0.1, 0.14, 1), true),
        day: compared(fc.constantFrom(...days), true),
        words: fc.oneof(
          fc.record({ has: aText }),
          fc.record({ hasSome: fc.array(aText, { maxLength: 2 }) }),
          fc.record({ isNull: fc.boolean() }),
        ),
        offDays: fc.oneof(
          fc.record({ has: fc.constantFrom(...days) }),
          fc.record({ hasSome: fc.subarray(days) }),
        ),
        turns: fc.record({ isNull: fc.boolean() }),
        ownerId: person,
        owner: fc.oneof(fc.constant(viewer), tie('member')),
        shelf: tie('shelf'),
        shelfId: tie('shelf'),
        notes: either('note'),
      },
      'item',
    ),
    note: byRow({ stars: compared(anInt, true), writerId: person, item: tie('item') }, 'note'),
  } as never
})

for (const on of engines)
  describe(`conditions on ${on}`, () => {
    let service: Service
    let session: Session
    before(async () => {
      service = await serveModel(entities, on)
      session = await service.store.session('filling')
    })
    after(async () => {
      await session.close()
      await service.close()
    })

    const run = async (memory: RowMemory, condition: Condition) => {
      const { dialect } = service.store
      const { predicate, faults } = resolveCondition({ entities, digits: 2 }, 'item', condition)
      // Those that are too deep are refused, not answered wrongly.
      if (
        faults.some(({ message }) => message.includes('deeper') || message.includes('comparisons'))
      )
        return
      assert.deepEqual(faults, [])
      assert.deepEqual(structuredClone(predicate), predicate)
      const expected = (memory.rows.item ?? [])
        .filter(row => satisfies(memory, 'item', row, condition))
        .map(({ id }) => id)
      for (const others of ['by key', 'by row', 'locked'] as const) {
        const where = predicateSql(predicate, { dialect, columnOf: columnsOf('t'), others })
        const { text, parameters } = statement(
          sql`select id from items as t where ${where} order by id`,
          dialect.placeholder,
        )
        const values = parameters.map(one =>
          one.kind === 'value' ? one.value : one.kind === 'now' ? memory.now : memory.viewer,
        )
        const rows = await session.query({ text, values })
        assert.deepEqual(
          rows.map(([id]) => Number(id)),
          expected,
          `${others}: ${text}`,
        )
      }
    }

    test('each chooses the rows that it chooses in memory, and its not the others', async () => {
      await fc.assert(
        fc.asyncProperty(
          worlds,
          fc.array(conditions.item as fc.Arbitrary<Condition>, { minLength: 4, maxLength: 8 }),
          fc.constantFrom(1, 2),
          async (rows, asked, viewer) => {
            const memory = { entities, rows, viewer, now: moment }
            for (const table of ['notes', 'items', 'shelves', 'members'])
              await session.query({ text: `delete from ${table}`, values: [] })
            for (const [of, all] of Object.entries(rows))
              for (const row of all) {
                const columns = Object.keys(row).map(key => name(columnName(key)))
                const piece = sql`insert into ${name(entities[of]?.table ?? '')} (${join(columns, comma)})
                  ${service.store.dialect.name === 'postgres' ? sql`overriding system value` : sql``}
                  values (${join(Object.values(row), comma)})`
                const { text, parameters } = statement(piece, service.store.dialect.placeholder)
                const values = parameters.map(one => (one.kind === 'value' ? one.value : null))
                await session.query({ text, values })
              }
            for (const condition of asked) {
              await run(memory, condition)
              await run(memory, { not: condition })
            }
          },
        ),
        { numRuns: 30 },
      )
    })
  })

const faulty: readonly (readonly [unknown, string, string])[] = [
  [
    { statu: 1 },
    'statu',
    'is not a field or relation of item: name one of id, name, nameKey, size, price, madeAt, rare, weight, day, words, offDays, turns, shelfId, ownerId, shelf, owner, notes',
  ],
  [
    { or: [{ size: 1 }, { sise: 1 }] },
    'or.1.sise',
    'is not a field or relation of item: did you mean size?',
  ],
  [{ size: { gtt: 1 } }, 'size.gtt', 'is not an operator of size: did you mean gt?'],
  [{ size: '4' }, 'size', 'must be a whole number'],
  [{ size: undefined }, 'size', 'is undefined: give it a value'],
  [{ size: { lt: null } }, 'size.lt', 'must be a whole number'],
  [{ size: { in: [1, null] } }, 'size.in.1', 'must be a whole number'],
  [
    { size: {} },
    'size',
    'names no operator: take one of eq, ne, in, notIn, isNull, lt, lte, gt, gte',
  ],
  [
    { rare: { lt: true } },
    'rare.lt',
    'is not an operator of rare: take one of eq, ne, in, notIn, isNull',
  ],
  [
    { size: viewer },
    'size',
    'is compared with the viewer and is no id of a viewer: name a reference to one',
  ],
  [{ size: now }, 'size', 'is compared with now and is no time'],
  [
    { shelf: { label: 'hihg' } },
    'shelf.label',
    'is "hihg", which is not one of low, high: did you mean high?',
  ],
  [{ notes: { stars: 1 } }, 'notes', 'is a list: write { some: … } or { none: … }'],
  [{ or: { size: 1 } }, 'or', 'must be a list of conditions'],
  [{ not: [] }, 'not', 'must be a condition, such as { id: 1 }'],
  [{ size: { in: Array(101).fill(1) } }, 'size.in', 'has 101 values, and at most 100 are taken'],
  [{ or: Array(31).fill({ size: 1 }) }, '', 'has 31 comparisons, and at most 30 are taken'],
  [
    { not: { not: { not: { not: { not: { not: { size: 1 } } } } } } },
    'not.not.not.not.not.not',
    'is deeper than 6: make it flatter',
  ],
]

for (const [condition, path, message] of faulty)
  test(`a condition is refused: ${path} ${message.slice(0, 60)}`, () => {
    const { faults } = resolveCondition({ entities, digits: 2 }, 'item', condition)
    assert.deepEqual(faults, [{ path, message }])
  })

test('text is compared in part only by a folded copy', () => {
  const { faults } = resolveCondition({ entities, digits: 2 }, 'member', {
    name: { contains: 'a' },
  })
  const message = "needs a folded copy: add one to member, such as nameKey: folded('name')"
  assert.deepEqual(faults, [{ path: 'name.contains', message }])
})
