/** The counts of a window, of one process and of several. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { afterEach, beforeEach, mock, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { countsAmongThreads, createCounts, type Report } from './counts.ts'
import { createSharedCells, openWindow } from './shared.ts'

// A mocked clock: time passes when the tests say so, however busy the machine is.
beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
afterEach(() => mock.timers.reset())

/** Lets so many milliseconds pass, and finishes after each the work that was due in it. */
const passes = async (ms: number) => {
  for (let n = 0; n < ms; n++) {
    mock.timers.tick(1)
    await turn()
    await turn()
  }
}

/** Lets time pass until the work is done; gives its result. */
const given = async <Result>(work: Promise<Result> | Result): Promise<Result> => {
  let isDone = false
  const done = () => {
    isDone = true
  }
  Promise.resolve(work).then(done, done)
  for (let ms = 0; !isDone && ms < 1000; ms++) await passes(1)
  assert.ok(isDone, 'a second has passed, and it is not done')
  return work
}

const paused = (ms: number) => new Promise<void>(resolve => void setTimeout(resolve, ms))

/** Longer than the interval after which counts are reported. */
const reported = 300

/** Shared counts, as a store has them; `batches` are the reports so far. */
const createStore = (delay = 1) => {
  const totals = new Map<string, number>()
  const batches: ReadonlyMap<string, number>[] = []
  const tally: Report = async seen => {
    batches.push(seen)
    for (const [key, n] of seen) totals.set(key, (totals.get(key) ?? 0) + n)
    const answer = new Map([...seen.keys()].map(key => [key, totals.get(key) ?? 0]))
    await paused(delay)
    return answer
  }
  return { tally, totals, batches }
}

const times = <Value>(n: number, make: () => Value): Value[] => Array.from({ length: n }, make)

test('each caller has a count of its own', () => {
  const { count } = createCounts({ limit: 2 })
  assert.deepEqual(
    times(4, () => count('viewer 1')),
    [1, 2, 3, 3],
  )
  assert.equal(count('address 10.0.0.1'), 1)
})

const few = { limit: 100, most: 2 }
for (const [where, { count }] of [
  ['one thread', createCounts(few)],
  [
    'several',
    countsAmongThreads(createSharedCells(), { ...few, kind: 'requests', window: 0, threads: 1 }),
  ],
] as const)
  test(`where many callers have counts, in ${where}, new addresses are counted by provider and users by themselves [H5]`, () => {
    count('address 10.0.0.1')
    count('address 2001:db8:0:1::/64')
    assert.equal(count('address 192.0.2.1'), 1)
    assert.equal(count('address 192.0.2.2'), 2)
    assert.equal(count('address 2001:db9:1:1::/64'), 1)
    assert.equal(count('address 2001:db9:2:2::/64'), 2)
    assert.equal(count('viewer 1'), 1)
    assert.equal(count('viewer 2'), 1)
    assert.equal(count('address 198.51.100.1'), 1)
    assert.equal(count('address 203.0.113.1'), 2)
    assert.equal(count('address 192.0.2.3'), 3)
    assert.equal(count('address 10.0.0.1'), 2)
    assert.equal(count('address 2001:db8:0:1::/64'), 2)
  })

test('far from the limit no request waits, and counts are reported once in a while', async () => {
  const { tally, batches } = createStore()
  const { count } = createCounts({ limit: 6000, report: tally })
  assert.deepEqual(
    times(80, () => count('viewer 1')),
    times(
      80,
      (
        n => () =>
          ++n
      )(0),
    ),
  )
  count('viewer 2')
  await passes(reported)
  assert.deepEqual(
    batches.map(batch => [...batch]),
    [
      [
        ['viewer 1', 80],
        ['viewer 2', 1],
      ],
    ],
  )
})

test('a fast caller is reported at once, and each 120th of its requests waits for its number', async () => {
  const { tally, batches } = createStore()
  const { count } = createCounts({ limit: 6000, report: tally })
  assert.ok(times(119, () => count('viewer 1')).every(n => typeof n === 'number'))
  await passes(20)
  assert.equal(batches.length, 0)
  assert.equal(await given(count('viewer 1')), 120)
  assert.equal(count('viewer 1'), 121)
  assert.equal(batches.length, 1)
})

test('near the limit all processes together allow exactly the limit', async () => {
  const { tally } = createStore()
  const processes = times(4, () => createCounts({ limit: 100, report: tally }))
  const ask = (n: number) => processes.flatMap(({ count }) => times(n, () => count('viewer 1')))
  const numbers: number[] = []
  for (let round = 0; round < 40; round++) {
    numbers.push(...(await given(Promise.all(ask(1)))))
    await passes(5)
  }
  assert.equal(numbers.filter(n => n <= 100).length, 100)
})

test('requests that wait in one turn of the event loop are reported together', async () => {
  const { tally, batches } = createStore()
  const { count } = createCounts({ limit: 10, report: tally })
  times(8, () => count('viewer 1'))
  const waiting = times(5, () => count('viewer 1'))
  times(8, () => count('viewer 2'))
  const alsoWaiting = count('viewer 2')
  assert.deepEqual(await given(Promise.all([...waiting, alsoWaiting])), [9, 10, 11, 11, 11, 9])
  assert.deepEqual(
    batches.map(batch => [...batch]),
    [
      [
        ['viewer 1', 10],
        ['viewer 2', 9],
      ],
    ],
  )
})

test('a request that comes while a batch is on its way gets its number with the next', async () => {
  const { tally, batches } = createStore(20)
  const { count } = createCounts({ limit: 10, report: tally })
  times(8, () => count('viewer 1'))
  const first = count('viewer 1')
  await passes(5)
  const second = count('viewer 1')
  assert.deepEqual(await given(Promise.all([first, second])), [9, 10])
  assert.deepEqual(
    batches.map(batch => batch.get('viewer 1')),
    [9, 1],
  )
})

test('of a burst at several processes exactly a small limit is allowed', async () => {
  const { tally } = createStore(5)
  const processes = times(3, () => createCounts({ limit: 50, report: tally }))
  const waiting: (number | Promise<number>)[] = []
  for (let round = 0; round < 20; round++) {
    for (const { count } of processes) waiting.push(...times(round % 5, () => count('viewer 1')))
    await passes(1)
  }
  const numbers = await given(Promise.all(waiting))
  assert.equal(numbers.filter(n => n <= 50).length, 50)
})

test('one process after the other, they allow exactly a small limit', async () => {
  const { tally } = createStore()
  let allowed = 0
  for (const { count } of times(2, () => createCounts({ limit: 20, report: tally })))
    for (let n = 0; n < 15; n++) {
      if ((await given(count('viewer 1'))) <= 20) allowed++
      await passes(2)
    }
  assert.equal(allowed, 20)
})

test('a caller that is known to be above the limit is refused without the store', async () => {
  const { tally, totals, batches } = createStore()
  totals.set('viewer 1', 99)
  const { count } = createCounts({ limit: 10, report: tally })
  assert.equal(await given(count('viewer 1')), 100)
  assert.equal(batches.length, 1)
  assert.ok((count('viewer 1') as number) > 10)
  await passes(reported)
  assert.equal(batches.length, 1)
})

test('while the store cannot be reached, the own count decides, and is reported later', async () => {
  const { tally, totals } = createStore()
  let isAway = true
  const { count } = createCounts({
    limit: 10,
    report: seen => (isAway ? Promise.reject(new Error('away')) : tally(seen)),
  })
  const waiting = times(9, () => count('viewer 1'))
  assert.deepEqual(await given(Promise.all(waiting)), [1, 2, 3, 4, 5, 6, 7, 8, 9])
  assert.equal(count('viewer 1'), 10)
  assert.equal(count('viewer 1'), 11)
  isAway = false
  await passes(reported)
  assert.equal(totals.get('viewer 1'), 10)
})

test('a store that does not answer is not waited for long', async () => {
  const { count, end } = createCounts({ limit: 10, report: () => new Promise(() => {}) })
  times(8, () => count('viewer 1'))
  assert.equal(await given(count('viewer 1')), 9)
  assert.equal(count('viewer 1'), 10)
  end()
})

test('a request that waits when the window ends still gets its number from the store', async () => {
  const { tally, totals } = createStore()
  totals.set('viewer 1', 1)
  const { count, end } = createCounts({ limit: 10, report: tally })
  times(8, () => count('viewer 1'))
  const last = count('viewer 1')
  end()
  assert.equal(await given(last), 10)
})

test('of a window of all threads each caller and each kind has its own number, and nothing above the limit is counted', () => {
  const cells = createSharedCells()
  const shared = { limit: 10, threads: 2 }
  const { count, isUsedUp } = countsAmongThreads(cells, { ...shared, kind: 'requests', window: 7 })
  const ofUsers = countsAmongThreads(cells, { ...shared, kind: 'User', window: 7 })
  assert.deepEqual([count('viewer 1'), count('viewer 1', 8), count('viewer 2', 11)], [1, 9, 11])
  assert.deepEqual([count('viewer 1', 2), count('viewer 1'), count('viewer 1')], [11, 10, 11])
  assert.deepEqual([isUsedUp('viewer 1'), isUsedUp('viewer 2')], [true, false])
  assert.equal(ofUsers.count('viewer 1'), 1)
  const next = countsAmongThreads(cells, { ...shared, kind: 'requests', window: 8 })
  assert.deepEqual([next.count('viewer 1'), next.isUsedUp('viewer 1')], [1, false])
})

/** Runs in a thread: counts so many requests of a caller in each window, after a pause in milliseconds. */
const counting = `
  const { parentPort, workerData } = require('node:worker_threads')
  const { module, cells, gate, asked } = workerData
  const pause = ms => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
  import(module).then(({ countsAmongThreads }) => {
    // All begin together.
    Atomics.sub(gate, 0, 1)
    while (Atomics.load(gate, 0) > 0) pause(0)
    let served = 0
    for (const [n, window = 0, late = 0] of asked) {
      if (late > 0) pause(late)
      const { count } = countsAmongThreads(cells, { limit: 200, kind: 'requests', window, threads: 2 })
      for (let one = 0; one < n; one++) if (count('viewer 1') <= 200) served++
    }
    parentPort.postMessage(served)
  })`

/** How many requests come at each of two threads, in which window and how late, and how many are served of them. */
const shapes: readonly (readonly [
  name: string,
  threads: readonly (readonly (readonly number[])[])[],
  served?: number,
])[] = [
  ['all at once', [[[150]], [[150]]]],
  ['very many at once', [[[100_000]], [[100_000]]]],
  ['all at one thread', [[[300]], []]],
  ['in waves', [Array(10).fill([10, 0, 3]), Array(10).fill([20, 0, 3])]],
  ['one thread late by 500 ms', [[[150]], [[150, 0, 500]]]],
  ['one thread late again and again', [[[150]], Array(5).fill([30, 0, 40])]],
  [
    'across the change of a minute',
    [
      [[150], [150, 1]],
      [[150], [150, 1]],
    ],
    400,
  ],
  [
    'one thread late at the change',
    [
      [[150], [150, 1]],
      [[150], [150, 1, 500]],
    ],
    400,
  ],
]

for (const [name, threads, served = 200] of shapes)
  test(`of 300 requests at two threads a limit of 200 serves 200: ${name} [H5]`, async () => {
    mock.timers.reset()
    const cells = createSharedCells()
    const gate = new Int32Array(new SharedArrayBuffer(4)).fill(threads.length)
    const module = new URL('./counts.ts', import.meta.url).href
    const counted = threads.map(async asked => {
      const workerData = { module, cells, gate, asked }
      const [n] = await once(new Worker(counting, { eval: true, workerData }), 'message')
      return Number(n)
    })
    const [one = 0, other = 0] = await Promise.all(counted)
    assert.equal(one + other, served)
  })

test('a thread that is still in the minute before takes no cell of the present one', () => {
  const cells = createSharedCells()
  const [before, present] = [openWindow(cells, 62), openWindow(cells, 63)]
  const callers = Array.from({ length: 20_000 }, (_, n) => `address ${n}`)
  for (const one of callers) present.add(one, 1, 5)
  for (const one of callers) before.add(one, 1, 5)
  assert.ok(callers.every(one => present.add(one, 0, 5) === 1))
})
