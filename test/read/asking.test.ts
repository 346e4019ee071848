import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Predicate } from '#model/condition.ts'
import type { Role } from '#model/policy.ts'
import { boundForm, type CallerCondition, resolveCallerCondition } from '#read/caller-condition.ts'
import { levelsOf } from '#read/plan.ts'
import { plan } from '#read/planner.ts'
import { laneOf } from '#read/prepare.ts'
import { usualModel } from '#test/market.ts'
import { root } from '../goldens.ts'

const words = {
  membersOf: (name: string) => {
    const { fields = {}, relations = {} } = usualModel.entities[name] ?? {}
    return new Map([...Object.keys(fields), ...Object.keys(relations)].map(key => [key, key]))
  },
  valueOf: (_entity: string, _field: string, given: unknown) => given,
  isShort: true,
  path: 'where',
}

const resolved = (entity: string, condition: unknown) =>
  resolveCallerCondition(usualModel, entity, condition, words, 3)

const asked = (entity: string, condition: unknown): CallerCondition => {
  const found = resolved(entity, condition)
  assert.ok('values' in found, JSON.stringify(found))
  return found
}

const faultsOf = (entity: string, condition: unknown): readonly string[] => {
  const found = resolved(entity, condition)
  return 'faults' in found ? found.faults.map(({ path, message }) => `${path} ${message}`) : []
}

const planned = (entity: string, predicate: Predicate | undefined, role: Role = 'user') =>
  plan({ encoding: 'rest', roots: [root(entity, [], { condition: predicate })] }, usualModel, role)

describe('a condition of a caller', () => {
  test('has its values in slots, so that those of one shape are alike', () => {
    const one = asked('product', { price: { gte: 4.5 }, category: { in: ['a', 'b', 'c'] } })
    const other = asked('product', { price: { gte: 2 }, category: { in: ['d', 'e', 'f', 'g'] } })
    assert.equal(one.shape, other.shape)
    assert.deepEqual(one.values, [450, 'a', 'b', 'c', 'c'])
    assert.notEqual(one.shape, asked('product', { price: { gt: 4.5 } }).shape)
    assert.deepEqual(asked('product', { price: 4.005 }).values, [])
    assert.deepEqual(asked('product', { category: { in: [] } }).values, [])
  })

  test('is one for cursors in whichever order its parts are, and no other', () => {
    const bound = (condition: unknown) => {
      const { predicate, values } = asked('product', condition)
      return boundForm(predicate, slot => values[slot - 3])
    }
    const [one, other] = [{ stock: 1 }, { category: 'a' }]
    for (const [of, same] of [
      [{ and: [one, other] }, { ...other, ...one }],
      [{ or: [one, other] }, { or: [other, one] }],
      [{ stock: { in: [3, 2, 1] } }, { stock: { in: [1, 2, 3] } }],
    ])
      assert.equal(bound(of), bound(same), JSON.stringify(of))
    const all = [one, other, { stock: 2 }, { stock: { in: [1, 2] } }, { category: '1' }, {}]
    const more = [{ or: [one, other] }, { and: [one, other] }, { not: one }, { not: {} }]
    assert.equal(new Set([...all, ...more].map(bound)).size, 10)
  })

  test('is refused with the path of each fault', () => {
    const wrong = { or: [{ pice: 1 }, { price: { gtee: 4, lt: 'x' } }], not: { stock: { in: 3 } } }
    assert.deepEqual(faultsOf('product', wrong), [
      'where.or.0.pice is not a field or relation of product: did you mean price?',
      'where.or.1.price.gtee is not an operator of price: did you mean gte?',
      'where.or.1.price.lt must be a number',
      'where.not.stock.in must be a list of values',
    ])
    const many = { or: Array(10_000).fill({ stock: 1 }) }
    const empty = { and: Array(10_000).fill({}) }
    for (const each of [many, empty])
      assert.deepEqual(faultsOf('product', each), [
        'where has too many comparisons, and at most 30 are taken',
      ])
    const values = { stock: { in: Array(101).fill(1) } }
    assert.deepEqual(faultsOf('product', values), [
      'where.stock.in has 101 values, and at most 100 are taken',
    ])
  })

  test('is no way to what the caller may not read', () => {
    const byEmail = asked('post', { or: [{ id: 1 }, { author: { email: { in: ['a@b.de'] } } }] })
    assert.throws(() => planned('post', byEmail.predicate, 'anonymous'), {
      code: 'UNAUTHENTICATED',
      message: 'A token is needed to filter or sort users by where.or.1.author.email',
    })
    assert.ok(planned('post', byEmail.predicate, 'user'))
  })

  test('adds to the price of its request, which is bounded', () => {
    const { predicate } = asked('post', { or: Array(30).fill({ id: 1 }) })
    const roots = Array(4).fill(root('post', [], { condition: predicate }))
    assert.throws(() => plan({ encoding: 'rest', roots }, usualModel, 'user'), {
      code: 'QUERY_TOO_COMPLEX',
    })
  })

  test('has the lane of what serves it', () => {
    const laneFor = (entity: string, condition: unknown) => {
      const { predicate, values } = asked(entity, condition)
      return laneOf(planned(entity, predicate))([2, 20, 0, ...values])
    }
    assert.equal(laneFor('post', { authorId: 2 }), 'quick')
    assert.equal(laneFor('post', { author: { id: 2 } }), 'quick')
    assert.equal(laneFor('post', { author: { name: 'Ada' } }), 'slow')
    assert.equal(laneFor('post', { comments: { none: {} } }), 'slow')
    assert.equal(laneFor('product', { stock: { gt: 1 } }), 'slow')
  })

  test('depends on the tables that it crosses', () => {
    const { predicate } = asked('post', { comments: { some: { author: { name: 'Ada' } } } })
    const [rows] = levelsOf(planned('post', predicate)).map(({ level }) => level.where)
    assert.match(JSON.stringify(rows), /"table":"comments".*"table":"users"/)
  })
})
