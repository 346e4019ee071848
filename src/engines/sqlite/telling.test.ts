import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTelling, type Told } from '#engines/sqlite/telling.ts'
import { machineErrors } from '#errors.ts'

const group = (from: number, count: number): readonly Told[] =>
  Array.from({ length: count }, (_, index) => [
    from + index,
    { kind: 'failed', ...machineErrors.INTERNAL, message: '' },
  ])

/** A telling whose turns only the test takes: it gives the numbers that were told since it was last asked. */
const tellingInTurns = () => {
  const turns: (() => void)[] = []
  const told: number[] = []
  const telling = createTelling(
    ([id]) => void told.push(id),
    work => void turns.push(work),
  )
  return { ...telling, turn: () => turns.shift()?.(), told: () => told.splice(0) }
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

test('eight of a group are told in a turn, in order, and those of a later group behind them', () => {
  const { add, turn, told } = tellingInTurns()
  add(group(1, 20), 1)
  assert.deepEqual(told(), numbers(1, 8))
  turn()
  assert.deepEqual(told(), numbers(9, 16))
  add(group(21, 3), 1)
  assert.deepEqual(told(), [])
  turn()
  assert.deepEqual(told(), numbers(17, 23))
  turn()
  assert.deepEqual(told(), [])
  add(group(24, 1), 1)
  assert.deepEqual(told(), [24])
})

test('a large group is told within few turns', () => {
  const { add, turn, told } = tellingInTurns()
  add(group(1, 500), 1)
  for (let number = 0; number < 15; number++) turn()
  assert.deepEqual(told(), numbers(1, 500))
})

test('after a commit that took long all are told at once, and those that wait before them', () => {
  const { add, turn, told } = tellingInTurns()
  add(group(1, 20), 1)
  add(group(21, 20), 10)
  assert.deepEqual(told(), numbers(1, 40))
  turn()
  assert.deepEqual(told(), [])
})

test('all that wait are told at once where nothing is told later', () => {
  const { add, flush, turn, told } = tellingInTurns()
  add(group(1, 20), 1)
  flush()
  turn()
  assert.deepEqual(told(), numbers(1, 20))
})
