/** The queue of requests: they are run in slices, answered together, and refused before they wait in vain. */

/** A request that waits: run when its turn comes, or shed when that would be too late. */
export type Entry = {
  readonly run: () => void
  readonly shed: () => void
  /** Whether it may change something: then it goes before those that only read. */
  readonly isWrite?: boolean
}

export type Queue = {
  readonly enter: (entry: Entry) => void
  readonly size: () => number
}

export type QueueLimits = {
  /** The longest wait, in milliseconds; a request that would wait longer is shed at once. */
  readonly wait: number
  /** How many may wait; a request above that is shed at once. */
  readonly size: number
}

/** No queue: whoever enters is run at once. */
export const noQueue: Queue = { enter: ({ run }) => run(), size: () => 0 }

/** The time and the turns of the event loop. */
type Clock = { readonly now: () => number; readonly later: (work: () => void) => void }

const usualClock: Clock = { now: () => performance.now(), later: setImmediate }

/** How long requests are run before the event loop looks at its sockets again, in milliseconds. */
const slice = 5

/**
 * While the queue is overloaded, a slice takes so many times as long as all that came before it in its turn of the event loop,
 * up to so many milliseconds: else reading what cannot be done would take the time from what can.
 */
const longSlice = { times: 4, most: 25 }

/** A queue that was not emptied for this part of its longest wait is overloaded; no slice counts for more than that part. */
const standing = 1 / 4
const mostAtOnce = 1 / 10

/** The part of the longest wait after which requests are shed while the queue is overloaded. */
const soon = 1 / 10

/** While the queue is overloaded, no more are shed in a slice than were run in the one before, or so many: refusals cost too. */
const leastShed = 25

/** How many requests the mean cost is of, and how few are too few. */
const lately = 500
const enough = 50

type Waiting = { readonly entry: Entry; readonly since: number }

/** Requests in the order in which they came, taken from either end. */
const createLine = () => {
  let all: (Waiting | undefined)[] = []
  let first = 0
  /** Gives the room of those that were taken back, now and then. */
  const tidy = () => {
    if (first < 1024 && first < all.length) return
    all = all.slice(first)
    first = 0
  }
  return {
    add: (one: Waiting) => void all.push(one),
    size: () => all.length - first,
    oldest: () => all[first],
    takeOldest: (): Waiting | undefined => {
      if (first >= all.length) return undefined
      const one = all[first]
      all[first++] = undefined
      tidy()
      return one
    },
    takeNewest: (): Waiting | undefined => (first < all.length ? all.pop() : undefined),
  }
}

type Line = ReturnType<typeof createLine>

/**
 * Measures what a request costs now, in milliseconds, as the mean of the last hundreds; 0 while too few were measured. Only the
 * running counts: if refusals made requests seem dearer, the more were refused the more would have to be.
 */
const createMeter = () => {
  let time = 0
  let count = 0
  return {
    cost: () => (count < enough ? 0 : time / count),
    add: (milliseconds: number, ran: number) => {
      const kept = Math.max(0, 1 - ran / lately)
      time = time * kept + milliseconds
      count = count * kept + ran
    },
  }
}

/** Sheds the oldest that waited longer than so many milliseconds, up to a number of them; gives how many it shed. */
const shedOld = (line: Line, at: number, wait: number, most: number): number => {
  let shed = 0
  for (let one = line.oldest(); one && shed < most; one = line.oldest()) {
    if (at - one.since <= wait) break
    line.takeOldest()
    one.entry.shed()
    shed++
  }
  return shed
}

/** The two lines of a queue: writes go before reads, and under overload the newest read before the others. */
const createLines = ({ wait }: QueueLimits) => {
  const writes = createLine()
  const reads = createLine()
  const all = Number.POSITIVE_INFINITY
  return {
    add: (one: Waiting) => (one.entry.isWrite ? writes : reads).add(one),
    size: () => writes.size() + reads.size(),
    writes: () => writes.size(),
    /** Sheds those that waited too long; under overload sooner, but not more than so many. */
    shedOld: (at: number, isOverloaded: boolean, most: number) => {
      shedOld(writes, at, wait, all)
      shedOld(reads, at, isOverloaded ? wait * soon : wait, isOverloaded ? most : all)
    },
    take: (isOverloaded: boolean): Waiting | undefined =>
      writes.takeOldest() ?? (isOverloaded ? reads.takeNewest() : reads.takeOldest()),
  }
}

/** Tells whether a queue is overloaded: it was not emptied for some time, of which a stop of the process counts little. */
const createWatch = ({ wait }: QueueLimits) => {
  let busy = 0
  let last: number | undefined
  return {
    isOverloaded: () => busy > wait * standing,
    /** The end of a slice. */
    end: (at: number, isEmpty: boolean) => {
      busy = isEmpty || last === undefined ? 0 : busy + Math.min(at - last, wait * mostAtOnce)
      last = isEmpty ? undefined : at
    },
  }
}

/**
 * A queue in user space: only here can a server see that it is behind, since the kernel's own queues are silent.
 * The requests of one turn of the event loop are run one after another and their answers written together, which spares the
 * peers' wake-ups between them (measured: a tenth of a small request). Writes go first. While it is overloaded, the newest read
 * goes before the others: its client still waits, and those it passes are refused soon (CoDel with adaptive LIFO).
 */
export const createQueue = (limits: QueueLimits, { now, later }: Clock = usualClock): Queue => {
  const lines = createLines(limits)
  const meter = createMeter()
  const watch = createWatch(limits)
  /** When the last slice ended, and how many it ran. */
  let ended = 0
  let ran = 0
  let isScheduled = false
  const schedule = () => {
    if (isScheduled) return
    isScheduled = true
    later(drain)
  }
  /** Runs requests for some time; gives how many. */
  const runSlice = (started: number, isOverloaded: boolean): number => {
    const usual = isOverloaded ? (started - ended) * longSlice.times : slice
    const length = Math.min(Math.max(usual, slice), longSlice.most)
    let count = 0
    for (let one = lines.take(isOverloaded); one; one = lines.take(isOverloaded)) {
      if (started - one.since > limits.wait) {
        one.entry.shed()
        continue
      }
      one.entry.run()
      count++
      if (now() - started > length) break
    }
    return count
  }
  const drain = () => {
    isScheduled = false
    const started = now()
    const isOverloaded = watch.isOverloaded()
    lines.shedOld(started, isOverloaded, Math.max(leastShed, ran))
    ran = runSlice(started, isOverloaded)
    ended = now()
    meter.add(ended - started, ran)
    const isEmpty = lines.size() === 0
    watch.end(ended, isEmpty)
    if (!isEmpty) schedule()
  }
  /** How long a request that comes now would wait for its turn, in milliseconds. */
  const expected = ({ isWrite }: Entry): number =>
    (isWrite || watch.isOverloaded() ? lines.writes() : lines.size()) * meter.cost()
  const enter = (entry: Entry) => {
    if (lines.size() >= limits.size || expected(entry) > limits.wait) return entry.shed()
    lines.add({ entry, since: now() })
    schedule()
  }
  return { enter, size: lines.size }
}
