/** The checker of histories finds each contradiction, and nothing in what has an order. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultsOf } from './check.ts'
import type { Deed, Operation } from './deeds.ts'

/** Operations one after another. */
const inTurn = (...operations: readonly (readonly Deed[])[]): readonly Operation[] =>
  operations.map((deeds, number) => ({ begun: 2 * number, ended: 2 * number + 1, deeds }))

/** Operations at the same time. */
const atOnce = (...operations: readonly (readonly Deed[])[]): readonly Operation[] =>
  operations.map((deeds, number) => ({ begun: number, ended: 1000 + number, deeds }))

const wrote = (over: string, value: string, register = 'r'): Deed => ({
  kind: 'wrote',
  register,
  over,
  value,
})
const saw = (value: string, register = 'r'): Deed => ({ kind: 'saw', register, value })
const wasRefused = (over: string): Deed => ({ kind: 'was refused', register: 'r', over })
const added = (item: string): Deed => ({ kind: 'added', list: 'l', item })
const listed = (...items: readonly string[]): Deed => ({ kind: 'listed', list: 'l', items })
const raised: Deed = { kind: 'raised', count: 'c' }
const counted = (as: number): Deed => ({ kind: 'counted', count: 'c', as })

const sound: Readonly<Record<string, readonly Operation[]>> = {
  'of one after another': inTurn(
    [wrote('', 'a')],
    [saw('a')],
    [wrote('a', 'b')],
    [wasRefused('a')],
    [added('x')],
    [added('y')],
    [saw('b'), listed('y', 'x')],
    [raised],
    [counted(1)],
  ),
  'of reads beside writes, some before and some after them': atOnce(
    [wrote('', 'a'), wrote('', 'a', 'q')],
    [wrote('a', 'b')],
    [wrote('a', 'b', 'q')],
    [saw('a'), saw('b', 'q')],
    [saw('b'), saw('b', 'q')],
    [wasRefused('a')],
    [added('x')],
    [listed(), counted(0)],
    [raised],
    [listed('x'), counted(1)],
  ),
}
for (const [name, history] of Object.entries(sound))
  test(`a history ${name} has an order`, () => assert.deepEqual(faultsOf(history), []))

const unsound: Readonly<Record<string, readonly [RegExp, readonly Operation[]]>> = {
  'two writes over one value': [
    /^lost update: 2 writes of r each replaced a$/,
    atOnce([wrote('', 'a')], [wrote('a', 'b')], [wrote('a', 'c')]),
  ],
  'a value that nobody wrote': [
    /^0 operations wrote b to r$/,
    inTurn([wrote('', 'a')], [saw('b')]),
  ],
  'a read of what had been replaced before': [
    /^no order/,
    inTurn([wrote('', 'a')], [wrote('a', 'b')], [saw('a')]),
  ],
  'a write that was acknowledged and is gone': [
    /^no order/,
    inTurn([wrote('', 'a')], [wrote('a', 'b')], [wrote('b', 'c')], [saw('b')]),
  ],
  'a refusal before anything was replaced': [
    /^no order/,
    inTurn([wrote('', 'a')], [wasRefused('a')], [wrote('a', 'b')]),
  ],
  'a refusal though nothing is replaced': [
    /was never replaced$/,
    inTurn([wrote('', 'a')], [wasRefused('a')]),
  ],
  'reads that go back, of a write that has no end yet': [
    /^no order/,
    [
      { begun: 0, ended: 1, deeds: [wrote('', 'a')] },
      { begun: 2, ended: 9, deeds: [wrote('a', 'b')] },
      { begun: 3, ended: 4, deeds: [saw('b')] },
      { begun: 5, ended: 6, deeds: [saw('a')] },
    ],
  ],
  'two reads that see two writes in different orders': [
    /^no order/,
    atOnce(
      [wrote('', 'a'), wrote('', 'a', 'q')],
      [wrote('a', 'b')],
      [wrote('a', 'b', 'q')],
      [saw('b'), saw('a', 'q')],
      [saw('a'), saw('b', 'q')],
    ),
  ],
  'an item that is missing after it was acknowledged': [
    /^no order/,
    inTurn([added('x')], [listed()]),
  ],
  'an item that is there twice': [
    /^an item is in l more than once$/,
    inTurn([added('x')], [listed('x', 'x')]),
  ],
  'an item that nobody added': [/^x in l was not added by one operation$/, inTurn([listed('x')])],
  'items that change their order': [
    /^items of l have changed their order/,
    atOnce([added('x')], [added('y')], [listed('x', 'y')], [listed('y', 'x')]),
  ],
  'lists of which neither is the beginning of the other': [
    /^no order/,
    atOnce([added('x')], [added('y')], [listed('x')], [listed('y')], [listed('x', 'y')]),
  ],
  'one read that saw two numbers': [
    /^no order/,
    atOnce([raised], [raised], [counted(1), counted(2)]),
  ],
  'a number that is less than were acknowledged': [
    /^c was 0, when 1 had raised it and 1 might have$/,
    inTurn([raised], [counted(0)]),
  ],
  'a number that is more than were begun': [
    /^c was 1, when 0 had raised it and 0 might have$/,
    inTurn([counted(1)], [raised]),
  ],
}
for (const [name, [fault, history]] of Object.entries(unsound))
  test(`a history is found out by ${name}`, () => {
    assert.match(faultsOf(history)[0] ?? 'no fault', fault)
  })
