/** The queue of requests: reads and writes wait in lines of their own, are run in slices, and are refused where that would be too late. */

/** A request that waits for its turn. */
export type QueuedRequest = {
  /** Runs it; for a write the promise settles when it is answered. */
  readonly run: () => unknown
  /** Refuses it; with `isLast`, its connection ends with that answer. */
  readonly shed: (isLast?: boolean) => void
  /** Whether it may change something. */
  readonly isWrite?: boolean
  /** Whose write it is, by the name that its jobs have; absent without a token. */
  readonly caller?: string | undefined
  /** Whether its body has yet to come: how long it takes says nothing of what writes cost. */
  readonly isReceiving?: boolean
}

export type Queue = {
  readonly enter: (request: QueuedRequest) => void
  /** Lets the event loop have some turns of its own, in each of which it accepts one new connection. */
  readonly giveWay: () => void
  /** How many wait. */
  readonly size: () => number
}

export type QueueLimits = {
  /** The longest wait of a read, in milliseconds; one that waited longer is refused. */
  readonly wait: number
  /** The same of a write, to its answer; one that would wait longer is refused when it comes. */
  readonly writeWait: number
  /** Whether the store does the writes of callers in turns; else as they come. */
  readonly takesTurns?: boolean
  /** How many reads, and how many writes, may wait; those above that are refused. */
  readonly size: number
}

/** No queue: each request is run at once. */
export const noQueue: Queue = { enter: ({ run }) => void run(), giveWay: () => {}, size: () => 0 }

type LoopClock = { readonly now: () => number; readonly later: (work: () => void) => void }

const usualClock: LoopClock = { now: performance.now.bind(performance), later: setImmediate }

/** How long requests are run before the event loop looks at its sockets again, in milliseconds. */
const slice = 5

/**
 * How many writes are run in a slice while nobody has waited for longer than a slice: they go after the reads, and a read that comes
 * next waits for no more of them.
 */
const writesAtOnce = 8

/**
 * The part of the time that refusals of reads get while others wait to be run. A refusal costs nearly as much as a small read, and a
 * client that is refused at once may come again at once: without a bound, refusals alone would fill the processor.
 */
const refusingPart = 1 / 8

/** How many turns in a row the queue gives way to new connections. */
const mostGivenUp = 8

type Queued = { readonly request: QueuedRequest; readonly since: number }

/** Requests in the order in which they came, from place `first` on. */
type WaitingLine = { all: (Queued | undefined)[]; first: number }

const lengthOf = ({ all, first }: WaitingLine): number => all.length - first

const takeOldest = (line: WaitingLine): Queued | undefined => {
  const { all, first } = line
  if (first >= all.length) return undefined
  const one = all[first]
  all[first] = undefined
  line.first++
  // The room of those that were taken is given back now and then.
  if (line.first >= 1024 || line.first === all.length) {
    line.all = all.slice(line.first)
    line.first = 0
  }
  return one
}

/** From so many unanswered writes on, the time that each takes is measured, and trusted: fewer do not fill a commit. */
const manyWrites = 32

/** How many times make a mean, how few are too few, and how long a mean holds, in milliseconds. */
const lately = 200
const enough = 50
const meanHolds = 10_000

/**
 * Counts the writes that were begun and not answered yet, and measures the time from one answer to the next while many wait, without
 * that in which the answered one had not come: nobody may have asked for anything then. One measurement counts as a quarter of the longest wait at most: a stop of the process says little of what writes cost.
 */
const createWriteMeter = (writeWait: number, takesTurns: boolean, now: () => number) => {
  const byCaller = new Map<string, number>()
  let unanswered = 0
  let time = 0
  let count = 0
  let last = 0
  return {
    began: ({ caller = '' }: QueuedRequest) => {
      byCaller.set(caller, (byCaller.get(caller) ?? 0) + 1)
      if (++unanswered === manyWrites) last = now()
    },
    answered: (since: number, { caller = '' }: QueuedRequest) => {
      const at = now()
      if (unanswered >= manyWrites) {
        const decay = 1 - 1 / lately
        time = time * decay + Math.min(at - Math.max(last, since), writeWait / 4)
        count = count * decay + 1
        last = at
      }
      unanswered--
      const left = Number(byCaller.get(caller)) - 1
      if (left > 0) byCaller.set(caller, left)
      else byCaller.delete(caller)
    },
    /** Whether one more would be answered too late: where callers take turns, as many of each other go before it as its caller has. */
    isTooMuch: ({ caller = '' }: QueuedRequest): boolean => {
      if (unanswered < manyWrites || count < enough || now() - last > meanHolds) return false
      const most = writeWait / (time / count)
      if (unanswered <= most || !takesTurns) return unanswered > most
      const own = (byCaller.get(caller) ?? 0) + 1
      const before = byCaller.values().reduce((sum, many) => sum + Math.min(many, own), 0)
      return before > most
    },
  }
}

/**
 * A queue in user space: only here can a server see that it is behind, since the kernel's own queues are silent. The requests of one
 * turn of the event loop are run one after another and their answers written together, which spares the peers' wake-ups between them
 * (measured: a tenth of a small request).
 *
 * Reads are run in the order in which they came. Once one has waited for too long there are more than can be done, and from then on the
 * newest goes first until none is left: those that are served are served soon, and only the oldest wait in vain. Whether a write can be
 * answered in time is decided when it comes, as its caller would rather wait than try again.
 */
export const createQueue = (
  { wait, writeWait, takesTurns = false, size: most }: QueueLimits,
  { now, later }: LoopClock = usualClock,
): Queue => {
  const reads: WaitingLine = { all: [], first: 0 }
  const writes: WaitingLine = { all: [], first: 0 }
  const meter = createWriteMeter(writeWait, takesTurns, now)
  let isScheduled = false
  let isBehind = false
  let hasNewcomers = false
  let givenUp = 0
  const schedule = () => {
    if (isScheduled) return
    isScheduled = true
    later(drain)
  }
  const drain = () => {
    isScheduled = false
    if (hasNewcomers && givenUp < mostGivenUp) {
      hasNewcomers = false
      givenUp++
      return schedule()
    }
    hasNewcomers = false
    givenUp = 0
    const started = now()
    // Reads go first, and then some writes; but all writes go before reads once anybody has waited for longer than a slice.
    const late = started - slice
    const writesFirst =
      (reads.all[reads.first]?.since ?? late) < late ||
      (writes.all[writes.first]?.since ?? late) < late
    let writesLeft = writesFirst ? Number.POSITIVE_INFINITY : writesAtOnce
    do {
      if (!writesFirst || lengthOf(writes) === 0) {
        const oldest = reads.all[reads.first]
        const tooOld = started - wait
        isBehind = oldest !== undefined && (isBehind || oldest.since < tooOld)
        let read: Queued | undefined
        if (!isBehind) read = takeOldest(reads)
        else if ((reads.all.at(-1)?.since ?? tooOld) >= tooOld) read = reads.all.pop()
        if (read) {
          read.request.run()
          continue
        }
      }
      const write = writesLeft-- > 0 ? takeOldest(writes) : undefined
      if (write === undefined) break
      const { request, since } = write
      const result = started - since > writeWait ? request.shed() : request.run()
      if (request.isReceiving) continue
      const answered = () => meter.answered(since, request)
      if (result instanceof Promise) result.then(answered, answered)
      else answered()
    } while (now() - started <= slice)
    const between = now()
    const tooOld = between - wait
    // Where nobody can be run, refusals have the time of all.
    const others = lengthOf(writes) > 0 || (reads.all.at(-1)?.since ?? tooOld) > tooOld
    const until = between + (others ? slice * refusingPart : slice)
    for (let one = reads.all[reads.first]; one && now() < until; one = reads.all[reads.first]) {
      if (lengthOf(reads) <= most && one.since >= tooOld) break
      takeOldest(reads)
      one.request.shed()
    }
    if (lengthOf(reads) + lengthOf(writes) > 0) schedule()
  }
  const enter = (request: QueuedRequest) => {
    if (request.isWrite) {
      if (lengthOf(writes) >= most || meter.isTooMuch(request)) return request.shed()
      if (!request.isReceiving) meter.began(request)
      writes.all.push({ request, since: now() })
    } else {
      // Those above the size wait to be refused, and there is a bound to them too.
      if (lengthOf(reads) >= 2 * most) return request.shed(true)
      reads.all.push({ request, since: now() })
    }
    schedule()
  }
  return {
    enter,
    giveWay: () => {
      hasNewcomers = true
    },
    size: () => lengthOf(reads) + lengthOf(writes),
  }
}
