/** The counts of a window, of one process and of several. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, mock, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Hono } from 'hono'
import type { OnTotals } from '#base/rate-counts.ts'
import type { Http } from '#http/request.ts'
import { createCounts, createTotals, type Report } from './counts.ts'
import { createLimiter } from './limiter.ts'

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

test('where many callers have counts, new addresses are counted by provider and users by themselves [H5]', () => {
  const { count } = createCounts({ limit: 100, most: 2 })
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

/** A main thread, which may fall silent, and two threads that serve: what they tell each other takes a millisecond. */
const createThreads = async (limit: number) => {
  const contexts: Http[] = []
  const app = new Hono().all('*', c => {
    contexts.push(c as never)
    return c.body(null)
  })
  await app.request('/api/posts')
  const totals = createTotals()
  const clock = { now: 0 }
  const learning: OnTotals[] = []
  let isSilent = false
  let held: (() => void)[] = []
  /** What the main thread does with a message, now or when it is back. */
  const atMain = (work: () => void) => void (isSilent ? held.push(work) : work())
  const threads = times(2, () => {
    const at = learning.length
    return createLimiter({
      limit,
      now: () => clock.now,
      threadCounts: {
        threads: 2,
        of: (kind, most, onTotals) => {
          learning.push(onTotals)
          return (window, seen) =>
            new Promise(resolve =>
              setTimeout(
                () =>
                  atMain(() => {
                    const { counted, told } = totals(kind, most, window, seen)
                    setTimeout(() => resolve(counted), 1)
                    for (const [other, learn] of learning.entries())
                      if (other !== at) setTimeout(() => learn(window, told), 1)
                  }),
                1,
              ),
            )
        },
      },
    })
  })
  const [context] = contexts
  let served = 0
  let refused = 0
  const ask = async (thread: number, n = 1) => {
    const one = async () => {
      try {
        await threads[thread]?.count(context as Http, { id: 1, role: 'user' })
        served++
      } catch {
        refused++
      }
    }
    await Promise.all(times(n, one))
  }
  return {
    /** Asks so often on a thread; the requests wait as others do. */
    ask: (thread: number, n?: number) => void ask(thread, n),
    clock,
    silence: (isSo: boolean) => {
      isSilent = isSo
      if (isSo) return
      for (const work of held) work()
      held = []
    },
    end: async () => {
      await passes(1200)
      for (const { close } of threads) close()
      return { served, refused }
    },
  }
}

type Threads = Awaited<ReturnType<typeof createThreads>>

/** How 300 requests come at two threads, where 200 are served; and how few may be while the main thread says nothing. */
const shapes: readonly (readonly [
  name: string,
  send: (threads: Threads) => unknown,
  least?: number,
  most?: number,
])[] = [
  [
    'all at once',
    ({ ask }) => {
      ask(0, 150)
      ask(1, 150)
    },
  ],
  ['all at one thread', ({ ask }) => ask(0, 300)],
  [
    'one after another, by turns',
    async ({ ask }) => {
      for (let n = 0; n < 300; n++) {
        ask(n % 2)
        await passes(1)
      }
    },
  ],
  [
    'in waves',
    async ({ ask }) => {
      for (let n = 0; n < 10; n++) {
        ask(0, 10)
        ask(1, 20)
        await passes(30)
      }
    },
  ],
  [
    'one thread late by 700 ms: its own time is up when it reads the answer',
    async ({ ask }) => {
      ask(0, 150)
      ask(1, 150)
      await turn()
      mock.timers.tick(700)
    },
  ],
  [
    'the main thread silent from the start',
    async ({ ask, silence }) => {
      silence(true)
      ask(0, 150)
      ask(1, 150)
      await passes(1500)
      ask(0, 50)
      silence(false)
    },
  ],
  [
    'the main thread silent when one thread has had half',
    async ({ ask, silence }) => {
      ask(0, 100)
      await passes(20)
      silence(true)
      ask(0, 100)
      ask(1, 100)
      await passes(1500)
      silence(false)
    },
  ],
  [
    'the main thread silent when one thread has had all',
    async ({ ask, silence }) => {
      ask(0, 200)
      await passes(20)
      silence(true)
      ask(1, 100)
      await passes(1500)
      silence(false)
    },
  ],
  [
    'the main thread silent for a while, at one thread alone',
    async ({ ask, silence }) => {
      silence(true)
      ask(0, 150)
      await passes(1500)
      silence(false)
      await passes(20)
      ask(0, 150)
    },
    190,
    200,
  ],
  [
    'across the change of a minute',
    async ({ ask, clock, silence }) => {
      ask(0, 150)
      ask(1, 150)
      silence(true)
      clock.now += 60_000
      ask(0, 150)
      ask(1, 150)
      await passes(20)
      silence(false)
    },
    390,
    420,
  ],
]

for (const [name, send, least = 190, most = 210] of shapes)
  test(`of 300 requests at two threads a limit of 200 serves 200, to within a twentieth: ${name}`, async () => {
    const threads = await createThreads(200)
    await send(threads)
    const { served, refused } = await threads.end()
    assert.ok(served >= least && served <= most, `${served} served, ${refused} refused`)
  })
