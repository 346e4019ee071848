/** The queue under more than can be served, in a simulation of the event loop: time is counted, not measured, so every run is the same. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createQueue } from '#http/queue.ts'

/** What parts of a request cost, in milliseconds, as measured on one core of a usual server. */
const usual = { taking: 0.025, running: 0.04, refusing: 0.025 }

type Load = {
  readonly connections: number
  /** How many times as slow the machine is. */
  readonly slower?: number
  /** A stop of so many milliseconds, twice a second, as of the garbage collector. */
  readonly stop?: number
}

const seconds = 5
/** What happens before, in milliseconds, is not counted: a queue that knows no costs yet takes all that comes. */
const known = 1000

/** Numbers that look random, the same each time. */
const randomly = () => {
  let last = 1
  return () => {
    last = (last * 16_807) % 2_147_483_647
    return last / 2_147_483_647
  }
}

const percentile99 = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0

/** Each connection sends its next request as soon as the last is answered, whatever the answer: what is due at ten times the load. */
const simulate = ({ connections, slower = 1, stop = 0 }: Load) => {
  const [taking, running, refusing] = [usual.taking, usual.running, usual.refusing].map(
    cost => cost * slower,
  ) as [number, number, number]
  let at = 0
  let turn: (() => void) | undefined
  const later = (work: () => void) => {
    turn = work
  }
  const queue = createQueue({ wait: 200, writeWait: 5000, size: 5000 }, { now: () => at, later })
  const random = randomly()
  const waits = { answered: [] as number[], refused: [] as number[], turns: [] as number[] }
  let sent = Array.from({ length: connections }, () => 0)
  const answered = (to: number[], since: number, cost: number) => {
    at += cost
    if (at >= known) to.push(at - since)
    sent.push(at)
  }
  let nextStop = 500
  while (at < known + seconds * 1000) {
    const began = at
    // The loop takes in all that has arrived, and then the queue has its turn.
    const arrived = sent
    sent = []
    for (const since of arrived) {
      at += taking
      queue.enter({
        run: () => answered(waits.answered, since, running * (0.5 + random())),
        shed: () => answered(waits.refused, since, refusing),
      })
    }
    if (at >= nextStop) {
      at += stop
      nextStop = at + 500
    }
    turn?.()
    if (at >= known) waits.turns.push(at - began)
  }
  const most = 1000 / (taking + running)
  return {
    goodput: waits.answered.length / seconds / most,
    refused: waits.refused.length / seconds,
    answered99: percentile99(waits.answered),
    refused99: percentile99(waits.refused),
    turn99: percentile99(waits.turns),
  }
}

test('2,000 connections that wait for nothing are all served, each within the time that all of them take [H1]', () => {
  const { goodput, refused, answered99, turn99 } = simulate({ connections: 2000 })
  assert.equal(refused, 0)
  assert.ok(goodput > 0.98, `goodput ${goodput}`)
  assert.ok(answered99 < 140, `answered within ${answered99}`)
  assert.ok(turn99 < 10, `turns of ${turn99}`)
})

test('stops of the process cost no more than their time [H3]', () => {
  const { goodput, answered99, refused99 } = simulate({ connections: 2000, stop: 25 })
  assert.ok(goodput > 0.9, `goodput ${goodput}`)
  assert.ok(answered99 < 250, `answered within ${answered99}`)
  assert.ok(refused99 < 100, `refused within ${refused99}`)
})

test('where not all can be served in time, refusals leave four fifths of the time for answers, which come in time [H1]', () => {
  for (const load of [
    { connections: 2000, slower: 2 },
    { connections: 2000, slower: 3 },
    { connections: 10_000 },
  ]) {
    const { goodput, turn99 } = simulate(load)
    assert.ok(goodput > 0.8, `goodput ${goodput} of ${JSON.stringify(load)}`)
    assert.ok(turn99 < 50, `turns of ${turn99} of ${JSON.stringify(load)}`)
  }
  const { answered99, refused } = simulate({ connections: 2000, slower: 2 })
  assert.ok(answered99 < 250, `answered within ${answered99}`)
  assert.ok(refused > 0)
})
