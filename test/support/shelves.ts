/** A small content whose rows callers choose by conditions: its rules look at rows, and its rows are known in memory. */
import fc from 'fast-check'
import { type RowMemory, type StoredRow, satisfies } from '#kit/check/conditions.ts'
import { referenceOver } from '#kit/check/reference.ts'
import { withKept } from '#model/computed.ts'
import { type Condition, now, viewer } from '#model/condition.ts'
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
import { anyone, signedIn } from '#model/policy.ts'
import { fold } from '#model/values.ts'
import { fillFolded } from '#serve/store.ts'
import { comma, join, name, sql, statement } from '#sql/sql.ts'
import { member } from '../generated/models.ts'
import { modelFor } from '../generated/serve.ts'
import { type Cook, type Kitchen, kitchenOn } from './cooking.ts'

const rest = { list: true, one: true, listing: { paging: 'page', limit: 50 } } as const
const listed = { description: '', rest, graphql: { paged: true } } as const

/** The texts of items that are searched, with what a word in each counts for. */
export const searchedTexts = { name: 2 } as const

const entities: Record<string, Entity> = {
  member,
  shelf: entity({
    ...listed,
    table: 'shelves',
    plural: 'shelves',
    fields: {
      id: id(),
      label: choice(['low', 'high'], { nullable: true }),
      open: flag(),
      keeperId: reference('member', { onDelete: 'cascade', nullable: true }),
    },
    relations: { keeper: one('member', 'keeperId'), items: many('item', 'shelfId') },
    policy: { read: [anyone.where({ open: true }), signedIn.where({ keeper: viewer })] },
  }),
  item: entity({
    ...listed,
    table: 'items',
    plural: 'items',
    fields: {
      id: id(),
      name: text({ max: 20, nullable: true }),
      nameKey: folded('name', { nullable: true }),
      code: text({ max: 20, nullable: true, readableBy: { owner: viewer } }),
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
      tags: many('tag', { through: 'mark' }),
    },
    // By these the rows behind a relation are found first.
    indexes: [['size'], ['day', 'size']],
    search: searchedTexts,
    policy: { read: [anyone.where({ rare: { ne: true } }), signedIn.where({ owner: viewer })] },
  }),
  note: entity({
    ...listed,
    table: 'notes',
    plural: 'notes',
    fields: {
      id: id(),
      stars: int({ min: 0, max: 9 }),
      itemId: reference('item', { onDelete: 'cascade' }),
      writerId: reference('member', { onDelete: 'cascade', nullable: true }),
    },
    relations: { item: one('item', 'itemId'), writer: one('member', 'writerId') },
    policy: { read: [anyone.where({ stars: { gt: 0 } }), signedIn.where({ writer: viewer })] },
  }),
  tag: entity({
    ...listed,
    table: 'tags',
    plural: 'tags',
    fields: { id: id(), slug: text({ max: 20 }), secret: flag() },
    relations: { items: many('item', { through: 'mark' }) },
    filterable: ['slug', 'secret', 'items'],
    policy: { read: anyone.where({ secret: false }) },
  }),
  mark: entity({
    ...listed,
    table: 'marks',
    plural: 'marks',
    fields: {
      id: id(),
      itemId: reference('item', { onDelete: 'cascade' }),
      tagId: reference('tag', { onDelete: 'cascade' }),
      shade: choice(['plain', 'hidden']),
    },
    relations: { item: one('item', 'itemId'), tag: one('tag', 'tagId') },
    filterable: [],
    policy: { read: anyone.where({ shade: { ne: 'hidden' } }) },
  }),
} as never

/** A moment that rows are before, at and after. */
export const moment = Date.UTC(2026, 0, 2)
export const texts = [
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
const aMoment = fc.constantFrom(...[-1, 0, 1].map(step => new Date(moment + step)))
export const days = ['2026-01-02', '2026-01-10', '2026-02-01']
const person = fc.constantFrom(1, 3)

const rowsBy = (of: Record<string, fc.Arbitrary<string | number | null>>, count: number) =>
  fc.sample(fc.record(of), { seed: count, numRuns: count }).map(
    (row, at): StoredRow => ({
      id: at + 1,
      ...row,
    }),
  )

/** The rows. */
export const world: Readonly<Record<string, readonly StoredRow[]>> = {
  shelf: rowsBy(
    {
      label: orNull(fc.constantFrom('low', 'high')),
      open: fc.constantFrom(0, 1),
      keeperId: orNull(person),
    },
    6,
  ),
  item: rowsBy(
    {
      name: orNull(aText),
      code: orNull(aText),
      size: orNull(anInt),
      price: orNull(fc.constantFrom(0, 1, 100, 101, 250)),
      madeAt: orNull(fc.constantFrom(moment - 1, moment, moment + 1)),
      rare: orNull(fc.constantFrom(0, 1, 1)),
      weight: orNull(fc.constantFrom(-15, 0, 1, 2, 10)),
      day: orNull(fc.constantFrom(...days)),
      words: orNull(fc.array(aText, { maxLength: 3 }).map(words => JSON.stringify(words))),
      offDays: orNull(fc.subarray(days).map(some => JSON.stringify(some))),
      turns: orNull(fc.constant('[1]')),
      shelfId: orNull(fc.integer({ min: 1, max: 6 })),
      ownerId: orNull(person),
    },
    24,
  ).map(row => ({ ...row, nameKey: row.name == null ? null : fold(String(row.name)) })),
  note: rowsBy(
    {
      stars: fc.integer({ min: 0, max: 3 }),
      itemId: fc.integer({ min: 1, max: 24 }),
      writerId: orNull(person),
    },
    40,
  ),
  tag: rowsBy({ slug: fc.constantFrom('x', 'y'), secret: fc.constantFrom(0, 1) }, 5),
  mark: rowsBy(
    {
      itemId: fc.integer({ min: 1, max: 24 }),
      tagId: fc.integer({ min: 1, max: 5 }),
      shade: fc.constantFrom('plain', 'plain', 'hidden'),
    },
    40,
  ),
}

const members = ['Ann', 'Boss', 'Cleo', 'Dora', 'Edda'].map(
  (name, at): StoredRow => ({ id: at + 1, name, status: 'active' }),
)

/** The same model without rules: everybody sees all rows. */
const open = Object.fromEntries(
  Object.entries(entities).map(([name, entity]) => [
    name,
    name === 'member' ? entity : { ...entity, policy: { ...entity.policy, read: anyone } },
  ]),
)

const rows = new Map(Object.entries({ ...world, member: members })) as never

/** The rows that a member sees, by the reference. */
export const seenBy = (who: Cook, hasRules = true): RowMemory =>
  referenceOver(modelFor(hasRules ? entities : (open as never)), rows).memoryOf({
    id: who,
    role: who === null ? 'anonymous' : 'user',
  })

/** What a member is compared with: its name, a value and the text of a parameter that stands for it. */
const comparedBy = {
  name: [...texts.filter(one => !one.includes(',')), 'x'],
  size: [-3, -1, 0, 2, 9],
  price: [0, 0.01, 1, 1.005, 2.5],
  madeAt: [-1, 0, 1].map(step => new Date(moment + step).toISOString()),
  rare: [true, false],
  weight: [-1.5, -0.15, 0, 0.1, 0.14],
  day: days,
  ownerId: [1, 3],
  words: texts.filter(one => !one.includes(',')),
  'shelf.label': ['low', 'high'],
  'shelf.open': [true, false],
  'notes.stars': [0, 1, 3],
  'tags.slug': ['x', 'y'],
  'shelf.keeper.name': ['Ann', 'Cleo'],
}

/** One comparison as a parameter, and the condition that it stands for. */
export const comparisons = fc
  .constantFrom(...(Object.keys(comparedBy) as (keyof typeof comparedBy)[]))
  .chain(path => {
    const value = fc.constantFrom<string | number | boolean>(...comparedBy[path])
    const isRanged = ['size', 'price', 'madeAt', 'weight', 'day', 'notes.stars'].includes(path)
    const single = [
      ...(path === 'words' ? ['has'] : ['eq', 'ne']),
      ...(isRanged ? ['lt', 'lte', 'gt', 'gte'] : []),
      ...(path === 'name' ? ['contains', 'startsWith'] : []),
    ]
    const many = path === 'words' ? ['hasSome'] : ['in', 'notIn']
    return fc
      .oneof(
        { weight: 4, arbitrary: fc.tuple(fc.constantFrom(...single), value) },
        fc.tuple(fc.constantFrom(...many), fc.array(value, { minLength: 1, maxLength: 3 })),
        fc.tuple(fc.constant('isNull'), fc.boolean()),
      )
      .map(([is, given]) => {
        const [member = '', ...to] = path.split('.').reverse()
        const own: object = { [member]: { [is]: given } }
        const lists = ['notes', 'tags']
        const condition = to.reduce((of, step) => {
          return { [step]: lists.includes(step) ? { some: of } : of }
        }, own)
        const name = is === 'eq' && path.length % 2 === 0 ? path : `${path}[${is}]`
        return { name, text: String(given), condition: condition as Condition }
      })
  })

/** Comparisons with a value; an author may also write the value alone. */
const comparing =
  (isAuthor: boolean) =>
  (value: fc.Arbitrary<unknown>, isRanged: boolean, isText = false) => {
    const list = fc.array(value, { maxLength: 3 })
    const bounds = isRanged ? ['lt', 'lte', 'gt', 'gte'] : []
    return fc.oneof(
      ...(isAuthor ? [orNull(value)] : []),
      orNull(value).map(given => ({ eq: given })),
      orNull(value).map(given => ({ ne: given })),
      list.map(given => ({ in: given })),
      list.map(given => ({ notIn: given })),
      fc.boolean().map(isNull => ({ isNull })),
      ...bounds.map(bound => value.map(given => ({ [bound]: given }))),
      ...(isText ? ['contains', 'startsWith'] : []).map(word => value.map(of => ({ [word]: of }))),
      ...(isRanged ? [fc.tuple(value, value).map(([gte, ne]) => ({ gte, ne }))] : []),
    )
  }

/** Conditions on the rows of each entity, as callers write them, or the author of a rule, who may also name the viewer and the moment. */
const conditionsOf = (isAuthor: boolean) =>
  fc.letrec<Record<string, Condition>>(tie => {
    const compared = comparing(isAuthor)
    const byRow = (members: Record<string, fc.Arbitrary<unknown>>, of: string) =>
      fc.oneof(
        { depthSize: 'small' },
        ...Object.entries(members).map(([key, value]) => fc.record({ [key]: value })),
        fc.record({ and: fc.array(tie(of), { maxLength: 2 }) }),
        fc.record({ or: fc.array(tie(of), { maxLength: 3 }) }),
        fc.record({ not: tie(of) }),
      ) as fc.Arbitrary<Condition>
    const either = (of: string) =>
      fc.oneof(
        fc.record({ some: tie(of) }),
        fc.record({ none: tie(of) }),
        fc.constant({ none: {} }),
      )
    const who = compared(isAuthor ? fc.oneof(fc.constant(viewer), person) : person, false)
    const one = isAuthor ? fc.oneof(fc.constant(viewer), tie('member')) : tie('member')
    const time = isAuthor
      ? fc.oneof(aMoment, fc.constant(now))
      : aMoment.map(one => one.toISOString())
    const ofAuthor = {
      shelfId: tie('shelf'),
      offDays: fc.oneof(
        fc.record({ has: fc.constantFrom(...days) }),
        fc.record({ hasSome: fc.subarray(days) }),
      ),
      turns: fc.record({ isNull: fc.boolean() }),
    }
    return {
      member: byRow({ id: who, name: compared(fc.constantFrom('Ann', 'Cleo'), false) }, 'member'),
      shelf: byRow(
        {
          label: compared(fc.constantFrom('low', 'high'), false),
          open: compared(fc.boolean(), false),
          keeper: one,
          items: either('item'),
          ...(isAuthor && { keeperId: who }),
        },
        'shelf',
      ),
      item: byRow(
        {
          name: compared(aText, false, true),
          size: compared(anInt, true),
          price: compared(fc.constantFrom(0, 0.01, 1, 1.005, 2.5, 3), true),
          madeAt: compared(time, true),
          rare: compared(fc.boolean(), false),
          weight: compared(fc.constantFrom(-1.5, -0.15, 0, 0.1, 0.14, 1), true),
          day: compared(fc.constantFrom(...days), true),
          words: fc.oneof(
            fc.record({ has: aText }),
            fc.record({ hasSome: fc.array(aText, { maxLength: 2 }) }),
            fc.record({ isNull: fc.boolean() }),
          ),
          ownerId: who,
          owner: one,
          shelf: tie('shelf'),
          notes: either('note'),
          tags: either('tag'),
          ...(isAuthor && ofAuthor),
        },
        'item',
      ),
      note: byRow({ stars: compared(anInt, true), writerId: who, item: tie('item') }, 'note'),
      tag: byRow(
        { slug: compared(fc.constantFrom('x', 'y'), false), items: either('item') },
        'tag',
      ),
    } as never
  })

export const conditions = conditionsOf(false)
export const authorsConditions = conditionsOf(true)

/** A service of the rows for five members, as `kitchenOn` gives it. */
export const askingKitchen = async (
  on: 'sqlite' | 'postgres',
  hasRules = true,
): Promise<Kitchen> => {
  const served = (hasRules ? entities : open) as never
  const kitchen = await kitchenOn(on, served)
  const session = await kitchen.store.session('filling')
  const { dialect } = kitchen.store
  for (const entity of ['shelf', 'item', 'note', 'tag', 'mark'])
    for (const row of world[entity] ?? []) {
      const columns = Object.keys(row).map(key => name(columnName(key)))
      const piece = sql`insert into ${name(entities[entity]?.table ?? '')} (${join(columns, comma)})
        ${dialect.name === 'postgres' ? sql`overriding system value` : sql``}
        values (${join(Object.values(row), comma)})`
      const { text, parameters } = statement(piece, dialect.placeholder)
      const values = parameters.map(one => (one.kind === 'value' ? one.value : null))
      await session.query({ text, values })
    }
  await session.close()
  await fillFolded(kitchen.store, withKept(served))
  return kitchen
}

/** The rows of an entity that a member sees and that fit a condition, in memory; all that fit where there are no rules. */
export const fitting = (
  who: Cook,
  of: string,
  condition: Condition,
  hasRules = true,
): readonly StoredRow[] => {
  const memory = seenBy(who, hasRules)
  return (memory.rows[of] ?? []).filter(row => satisfies(memory, of, row, condition))
}
