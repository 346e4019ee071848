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

/** A queue that was not emptied by slices of together this part of its longest wait is overloaded: it will not be by the next. */
const standing = 1 / 4

/** The part of the longest wait after which requests are shed while the queue is overloaded. */
const soon = 1 / 10

/** The most requests that are shed in a slice while others could be run: a refusal costs a part of an answer too. */
const mostShed = 25

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
 * Measures what a request costs now: all that the event loop does while the queue is never empty, by how many were run. One
 * stop of the whole process must not make it seem overloaded, so the mean is over the last hundreds of them.
 */
const createMeter = () => {
  let time = 0
  let count = 0
  let before: { readonly at: number; readonly ran: number } | undefined
  return {
    /** Milliseconds; 0 while too few were measured. */
    cost: () => (count < enough ? 0 : time / count),
    begin: (at: number) => {
      if (!before) return
      const kept = Math.max(0, 1 - before.ran / lately)
      time = time * kept + at - before.at
      count = count * kept + before.ran
    },
    /** The end of a slice; the next measure begins with it where some still wait. */
    end: (at: number, ran: number, isEmpty: boolean) => {
      before = isEmpty ? undefined : { at, ran }
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

/**
 * A queue in user space: only here can a server see that it is behind, since the kernel's own queues are silent.
 * The requests of one turn of the event loop are run one after another and their answers written together, which spares the
 * peers' wake-ups between them (measured: a tenth of a small request). Writes go first. While it is overloaded, the newest read
 * goes before the others: its client still waits, and those it passes are refused soon (CoDel with adaptive LIFO).
 */
export const createQueue = (limits: QueueLimits, { now, later }: Clock = usualClock): Queue => {
  const writes = createLine()
  const reads = createLine()
  const meter = createMeter()
  const mostInRow = (limits.wait * standing) / slice
  /** How many slices in a row did not empty it. */
  let inRow = 0
  let isScheduled = false
  const size = () => writes.size() + reads.size()
  const isOverloaded = () => inRow > mostInRow
  const schedule = () => {
    if (isScheduled) return
    isScheduled = true
    later(drain)
  }
  const shed = (at: number) => {
    for (const line of [reads, writes]) {
      shedOld(line, at, limits.wait, Number.POSITIVE_INFINITY)
      if (isOverloaded()) shedOld(line, at, limits.wait * soon, mostShed)
    }
  }
  const take = (isLate: boolean): Waiting | undefined =>
    writes.takeOldest() ?? (isLate ? reads.takeNewest() : reads.takeOldest())
  const runSlice = (started: number): number => {
    const isLate = isOverloaded()
    let ran = 0
    for (let one = take(isLate); one; one = take(isLate)) {
      one.entry.run()
      ran++
      if (now() - started > slice) break
    }
    return ran
  }
  const drain = () => {
    isScheduled = false
    const started = now()
    meter.begin(started)
    shed(started)
    const ran = runSlice(started)
    const isEmpty = size() === 0
    meter.end(started, ran, isEmpty)
    inRow = isEmpty ? 0 : inRow + 1
    if (!isEmpty) schedule()
  }
  /** How long a request that comes now would wait for its turn, in milliseconds. */
  const expected = (isWrite: boolean): number =>
    (isWrite || isOverloaded() ? writes.size() : size()) * meter.cost()
  const enter = (entry: Entry) => {
    const { isWrite = false } = entry
    if (size() >= limits.size || expected(isWrite) > limits.wait) return entry.shed()
    const line = isWrite ? writes : reads
    line.add({ entry, since: now() })
    schedule()
  }
  return { enter, size }
}
