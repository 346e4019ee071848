/** Conditions: any of them chooses the same rows on both engines as in memory, and its faults have paths and suggestions. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { satisfies } from '#kit/check/conditions.ts'
import { type Condition, now, resolveCondition, viewer } from '#model/condition.ts'
import { columnsOf, predicateSql } from '#read/predicate.ts'
import type { Session } from '#sql/engine.ts'
import { sql, statement } from '#sql/sql.ts'
import type { Kitchen } from '../support/cooking.ts'
import { askingKitchen, authorsConditions, moment, seenBy } from '../support/shelves.ts'
import { engines } from './compare.ts'

const memory = { ...seenBy(null, false), now: moment }
const { entities } = memory

for (const on of engines)
  describe(`conditions on ${on}`, () => {
    let kitchen: Kitchen
    let session: Session
    before(async () => {
      kitchen = await askingKitchen(on, false)
      session = await kitchen.store.session('filling')
    })
    after(async () => {
      await session.close()
      await kitchen.close()
    })

    const run = async (condition: Condition, viewer: number) => {
      const { dialect } = kitchen.store
      const { predicate, faults } = resolveCondition({ entities, digits: 2 }, 'item', condition)
      // Those that are too deep are refused, not answered wrongly.
      if (
        faults.some(({ message }) => message.includes('deeper') || message.includes('comparisons'))
      )
        return
      assert.deepEqual(faults, [])
      assert.deepEqual(structuredClone(predicate), predicate)
      const expected = (memory.rows.item ?? [])
        .filter(row => satisfies({ ...memory, viewer }, 'item', row, condition))
        .map(({ id }) => id)
      for (const others of ['by key', 'by row', 'locked'] as const) {
        const where = predicateSql(predicate, { dialect, columnOf: columnsOf('t'), others })
        const { text, parameters } = statement(
          sql`select id from items as t where ${where} order by id`,
          dialect.placeholder,
        )
        const values = parameters.map(one =>
          one.kind === 'value' ? one.value : one.kind === 'now' ? memory.now : viewer,
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
      const asked = authorsConditions.item as fc.Arbitrary<Condition>
      await fc.assert(
        fc.asyncProperty(asked, fc.constantFrom(1, 3), async (condition, viewer) => {
          await run(condition, viewer)
          await run({ not: condition }, viewer)
        }),
        { numRuns: 180 },
      )
    })
  })

const faulty: readonly (readonly [unknown, string, string])[] = [
  [
    { statu: 1 },
    'statu',
    'is not a field or relation of item: name one of id, name, nameKey, code, size, price, madeAt, rare, weight, day, words, offDays, turns, shelfId, ownerId, nameWords, shelf, owner, notes, tags',
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
