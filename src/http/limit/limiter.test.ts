/** The time of the processor that each caller may take. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTimes } from './limiter.ts'

/** Times at a limit of requests; `take` is work of so many milliseconds, and gives the seconds to wait where it is refused. */
const timesAt = (limit: number) => {
  const clock = { now: Date.UTC(2026, 5, 1), taken: 0 }
  const within = createTimes({ limit, now: () => clock.now, processor: () => clock.taken })
  const take = (milliseconds: number, caller = 'viewer 1'): number => {
    try {
      within(caller, () => {
        clock.taken += milliseconds
      })
      return 0
    } catch (error) {
      const { code, retryAfter = 0 } = error as { code: string; retryAfter?: number }
      assert.equal(code, 'RATE_LIMITED')
      return retryAfter
    }
  }
  return { clock, take, within }
}

test('a second may be taken at once, and a millisecond more is refused until it is given back [D9]', () => {
  const { clock, take } = timesAt(3000)
  assert.deepEqual([take(500), take(500), take(1)], [0, 0, 0])
  assert.equal(take(1), 1)
  clock.now += 9
  assert.equal(take(1), 1)
  clock.now += 1
  assert.equal(take(1), 0)
})

test('for each request of the limit two milliseconds are given back in a minute', () => {
  const { clock, take } = timesAt(600)
  take(2200)
  assert.equal(take(1), 60)
  clock.now += 59_000
  assert.equal(take(1), 1)
  clock.now += 1000
  assert.equal(take(1), 0)
})

test('each caller has a time of its own, and what fails takes of it too', () => {
  const { clock, take, within } = timesAt(6000)
  const failing = () => {
    clock.taken += 1001
    throw new Error('a fault')
  }
  assert.throws(() => within('viewer 1', failing), /a fault/)
  assert.equal(take(1), 1)
  assert.equal(take(1, 'viewer 2'), 0)
})

test('after a clock was set back, what was taken is given back as fast as before', () => {
  const { clock, take } = timesAt(6000)
  take(1100)
  clock.now -= 3_600_000
  assert.equal(take(1), 1)
  clock.now += 1000
  assert.equal(take(1), 0)
})
