import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JobOutcome } from '#engines/sqlite/protocol.ts'
import { machineErrors } from '#errors.ts'
import { createDelivery } from './writer.ts'

const group = (from: number, count: number): readonly JobOutcome[] =>
  Array.from({ length: count }, (_, index) => [
    from + index,
    { kind: 'failed', ...machineErrors.INTERNAL, message: '' },
  ])

/** A delivery whose turns only the test takes: it gives the numbers that were delivered since it was last asked. */
const deliveryInTurns = () => {
  const turns: (() => void)[] = []
  const delivered: number[] = []
  const delivery = createDelivery(
    ([id]) => void delivered.push(id),
    work => void turns.push(work),
  )
  return { ...delivery, turn: () => turns.shift()?.(), delivered: () => delivered.splice(0) }
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

test('eight of a group are delivered in a turn, in order, and those of a later group behind them', () => {
  const { add, turn, delivered } = deliveryInTurns()
  add(group(1, 20), 1)
  assert.deepEqual(delivered(), numbers(1, 8))
  turn()
  assert.deepEqual(delivered(), numbers(9, 16))
  add(group(21, 3), 1)
  assert.deepEqual(delivered(), [])
  turn()
  assert.deepEqual(delivered(), numbers(17, 23))
  turn()
  assert.deepEqual(delivered(), [])
  add(group(24, 1), 1)
  assert.deepEqual(delivered(), [24])
})

test('a large group is delivered within few turns', () => {
  const { add, turn, delivered } = deliveryInTurns()
  add(group(1, 500), 1)
  for (let number = 0; number < 15; number++) turn()
  assert.deepEqual(delivered(), numbers(1, 500))
})

test('after a commit that took long all are delivered at once, and those that wait before them', () => {
  const { add, turn, delivered } = deliveryInTurns()
  add(group(1, 20), 1)
  add(group(21, 20), 10)
  assert.deepEqual(delivered(), numbers(1, 40))
  turn()
  assert.deepEqual(delivered(), [])
})

test('after a commit that took so long that very many may wait they are delivered in turns', () => {
  const { add, turn, delivered } = deliveryInTurns()
  add(group(1, 100), 200)
  assert.deepEqual(delivered(), numbers(1, 25))
  turn()
  assert.deepEqual(delivered(), numbers(26, 44))
})

test('all that wait are delivered at once where nothing is delivered later', () => {
  const { add, flush, turn, delivered } = deliveryInTurns()
  add(group(1, 20), 1)
  flush()
  turn()
  assert.deepEqual(delivered(), numbers(1, 20))
})
