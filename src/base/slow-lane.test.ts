import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Asking, createSlowLane } from '#base/slow-lane.ts'

/** A caller of that name, who can hang up. */
const callerNamed = (name: string) => {
  const client = new AbortController()
  const asked: Asking = {
    caller: () => name,
    onGone: stop => {
      if (client.signal.aborted) stop()
      client.signal.addEventListener('abort', stop)
      return () => client.signal.removeEventListener('abort', stop)
    },
  }
  return { asked, hangUp: () => client.abort() }
}

/** Runs work that lasts until it is let go, or stopped. */
const hold = (
  lane: ReturnType<typeof createSlowLane>,
  { asked }: { readonly asked: Asking },
  begins = () => {},
) => {
  const { promise, resolve: letGo, reject } = Promise.withResolvers<void>()
  const done = lane.run(gone => {
    begins()
    gone.addEventListener('abort', () => reject(new Error('stopped')))
    return promise
  }, asked)
  return { done, letGo }
}

const patient = { longestWait: 60_000, what: 'long reads' }
const code = (of: string) => ({ code: of })

test('callers take turns: one who asks once does not wait behind all that another asked before [H5]', async () => {
  const lane = createSlowLane({ concurrency: 1, waiting: 20, ...patient })
  const first = hold(lane, callerNamed('first'))
  const order: string[] = []
  const ask = (name: string) =>
    lane.run(async () => {
      if (order.push(name) === 1) all.push(ask('late'))
    }, callerNamed(name).asked)
  const all: Promise<void>[] = ['many', 'many', 'many', 'one', 'two'].map(ask)
  first.letGo()
  while (order.length < 6) await Promise.all(all)
  assert.deepEqual(order, ['many', 'one', 'two', 'late', 'many', 'many'])
})

test('as many run at a time as there are slots', async () => {
  const lane = createSlowLane({ concurrency: 2, waiting: 10, ...patient })
  const begun: string[] = []
  const ask = (name: string) => hold(lane, callerNamed(name), () => void begun.push(name))
  const held = ['a', 'b', 'c'].map(ask)
  await new Promise(setImmediate)
  assert.deepEqual(begun, ['a', 'b'])
  held[1]?.letGo()
  await held[1]?.done
  await new Promise(setImmediate)
  assert.deepEqual(begun, ['a', 'b', 'c'])
  for (const { letGo } of held) letGo()
  await Promise.all(held.map(({ done }) => done))
})

test('a caller holds at most half the slots, and all of them together no more than there are [H5]', async () => {
  const lane = createSlowLane({ concurrency: 1, waiting: 5, ...patient })
  const [one, two, three] = [callerNamed('one'), callerNamed('two'), callerNamed('three')] as const
  const held = [one, one, one, two, two].map(caller => hold(lane, caller))
  await assert.rejects(hold(lane, one).done, { message: /of your long reads/, retryAfter: 2 })
  held.push(hold(lane, two))
  await assert.rejects(hold(lane, three).done, { message: /^Too many long reads/, retryAfter: 2 })
  for (const { letGo } of held) letGo()
  await Promise.all(held.map(({ done }) => done))
  // What they held is free again.
  const again = [one, one, one].map(caller => hold(lane, caller))
  for (const { letGo } of again) letGo()
  await Promise.all(again.map(({ done }) => done))
})

test('one who waits too long is refused, and its slot is free', async () => {
  const lane = createSlowLane({ concurrency: 1, waiting: 1, ...patient, longestWait: 1 })
  const first = hold(lane, callerNamed('first'))
  await assert.rejects(hold(lane, callerNamed('second')).done, code('OVERLOADED'))
  await assert.rejects(hold(lane, callerNamed('third')).done, code('OVERLOADED'))
  first.letGo()
  await first.done
})

test('one who hangs up while waiting is not begun; one who hangs up while it runs is told to stop', async () => {
  const lane = createSlowLane({ concurrency: 1, waiting: 5, ...patient })
  const [running, waiting, gone] = [callerNamed('a'), callerNamed('b'), callerNamed('c')] as const
  const first = hold(lane, running)
  let wasBegun = false
  const second = lane.run(async () => {
    wasBegun = true
  }, waiting.asked)
  waiting.hangUp()
  await assert.rejects(second, code('CLIENT_CLOSED_REQUEST'))
  running.hangUp()
  await assert.rejects(first.done, code('CLIENT_CLOSED_REQUEST'))
  gone.hangUp()
  await assert.rejects(
    lane.run(async () => {
      wasBegun = true
    }, gone.asked),
    code('CLIENT_CLOSED_REQUEST'),
  )
  assert.equal(wasBegun, false)
  await lane.run(async () => {}, callerNamed('last').asked)
})

test('work that fails gives its slot back', async () => {
  const lane = createSlowLane({ concurrency: 1, waiting: 0, ...patient })
  const { asked } = callerNamed('one')
  const fail = () => lane.run(() => Promise.reject(new Error('broken')), asked)
  for (let time = 0; time < 3; time++) await assert.rejects(fail(), /broken/)
})
