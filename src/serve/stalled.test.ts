import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createStalled } from './listen.ts'

const patience = 30_000

/**
 * How long a client that took things at those times had taken nothing when its connection was ended, looked at as Node does: it
 * tells only of looks that find nothing taken. `late` says when the n-th look comes that was due at a time.
 */
const endedAfter = (taken: readonly number[], late = (due: number, _: number) => due) => {
  let time = 0
  const { look, isOver } = createStalled(patience, () => time)
  const connection = {}
  for (let n = 1, last = 0; n < 100; n++, last = time) {
    time = late(last + look, n)
    const isTaken = taken.some(at => at >= last && at < time)
    if (!isTaken && isOver(connection)) return time - Math.max(...taken.filter(at => at < time))
  }
  return undefined
}

test('a connection whose client takes nothing is ended after 30 to 35 s, whenever it stopped [G2]', () => {
  for (const stopped of [0, 1, 2500, 4999, 5000, 5001, 9999, 61_234]) {
    const before = Array.from({ length: Math.ceil(stopped / 1000) }, (_, n) => n * 1000)
    const after = endedAfter([...before, stopped]) ?? Number.NaN
    assert.ok(after >= patience && after <= 35_000, `${after} ms where it stopped at ${stopped}`)
  }
})

test('a client that takes something every 29 s keeps its connection while it does', () => {
  const taken = Array.from({ length: 10 }, (_, n) => n * 29_000)
  const after = endedAfter(taken) ?? Number.NaN
  assert.ok(after >= patience && after <= 35_000, `${after} ms`)
  assert.equal(endedAfter(Array.from({ length: 30 }, (_, n) => n * 29_000)), undefined)
})

test('where looks come late, nothing that was taken between them is overlooked', () => {
  // What is taken after a late look is seen by the next one, of which nobody tells; the late one after that is told.
  const late = (due: number, n: number) => (n % 2 ? due : due + 5000)
  assert.equal(endedAfter([0], late), undefined)
})
