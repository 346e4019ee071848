/** The queue of requests: they are run in slices, answered together, and refused before they wait in vain. */

/** A request that waits: run when its turn comes, or shed when that would be too late. */
export type Entry = {
  readonly run: () => void
  readonly shed: () => void
  /** Whether it may change something: then it goes before those that only read once any wait for long. */
  readonly isWrite?: boolean
}

export type Queue = {
  readonly enter: (entry: Entry) => void
  /** Counts one that will enter and waits elsewhere first; false where so many wait that it is to be refused. */
  readonly keepPlace: () => boolean
  readonly leavePlace: () => void
  /** How many have entered and wait. */
  readonly entered: () => number
  /** How many wait, also elsewhere. */
  readonly size: () => number
}

export type QueueLimits = {
  /** The longest wait, in milliseconds; a request that would wait longer is shed. */
  readonly wait: number
  /** How many may wait to be run; a request above that is shed. */
  readonly size: number
}

/** No queue: each request is run at once. */
export const noQueue: Queue = {
  enter: ({ run }) => run(),
  keepPlace: () => true,
  leavePlace: () => {},
  entered: () => 0,
  size: () => 0,
}

/** The time and the turns of the event loop. */
type Clock = { readonly now: () => number; readonly later: (work: () => void) => void }

const usualClock: Clock = { now: () => performance.now(), later: setImmediate }

/** How long requests are run before the event loop looks at its sockets again, in milliseconds. */
const slice = 5

/**
 * How many writes are run in a slice while nobody waits for longer than a slice: they go after the reads, and a read that comes next
 * waits for no more of them.
 */
const writesAtOnce = 8

/**
 * The part of the time of running that may go to shedding while requests wait to be run, and how many may be shed beyond it when it
 * was long not needed. A refusal costs nearly as much as a small read, and a client that is refused at once may come again at once:
 * shedding all that could be shed would leave no time for answers.
 */
const sheddingPart = 1 / 8
const mostSaved = 25

/** How many that were to be shed are run after all in a slice, where nobody else waits. */
const takenBack = 25

/** What was expected to wait no longer than it may is run all the same until it has waited so many times as long. */
const patience = 5

/** How many requests a mean cost is of, and how few are too few. */
const lately = 500
const enough = 50

/** One measurement counts as no more than this part of the longest wait: a stop of the process says little of what requests cost. */
const mostAtOnce = 1 / 4

type Waiting = { readonly entry: Entry; readonly since: number }

/** Requests in the order in which they came. */
const createLine = () => {
  let all: (Waiting | undefined)[] = []
  let first = 0
  return {
    add: (one: Waiting) => void all.push(one),
    size: () => all.length - first,
    oldest: () => all[first],
    take: (): Waiting | undefined => {
      if (first >= all.length) return undefined
      const one = all[first]
      all[first++] = undefined
      // The room of those that were taken is given back now and then.
      if (first < 1024 && first < all.length) return one
      all = all.slice(first)
      first = 0
      return one
    },
  }
}

/** Measures what a request costs now, in milliseconds, as the mean of the last hundreds; 0 while too few were measured. */
const createMeter = (most: number) => {
  let time = 0
  let count = 0
  return {
    cost: () => (count < enough ? 0 : time / count),
    add: (milliseconds: number, requests: number) => {
      const decay = Math.max(0, 1 - requests / lately)
      time = time * decay + Math.min(milliseconds, most)
      count = count * decay + requests
    },
  }
}

/**
 * What a request costs now: to take one in, whatever becomes of it; to run one; and to shed one, which is no part of the cost from
 * bytes to answer: if refusals made requests seem dearer, the more were refused the more would have to be.
 */
const createCosts = (most: number) => {
  const arriving = createMeter(most)
  const running = createMeter(most)
  const shedding = createMeter(most)
  return {
    arriving,
    running,
    shedding,
    toAnswer: () => arriving.cost() + running.cost(),
    /** How many can be shed in the time that one takes to run: a ratio, as a stop of the process makes both seem dearer. */
    shedForOne: () => (shedding.cost() > 0 ? running.cost() / shedding.cost() : 1),
  }
}

type Line = ReturnType<typeof createLine>
type Costs = ReturnType<typeof createCosts>

/** The lines of a queue: those to be run, and those to be shed. */
const createLines = () => {
  const writes = createLine()
  const reads = createLine()
  const refused = createLine()
  /** Puts those that were to be shed and came since then back to those that are run, so many at most. */
  const takeBack = (since: number, most: number) => {
    for (let number = 0; number < most; number++) {
      const one = refused.oldest()
      if (!one || one.since < since) return
      refused.take()
      const line = one.entry.isWrite ? writes : reads
      line.add(one)
    }
  }
  /** A function that takes those of a slice: reads and then some writes, but all writes before reads where anybody came before `late`. */
  const taking = (late: number): (() => Waiting | undefined) => {
    if ([reads, writes].some(line => (line.oldest()?.since ?? late) < late))
      return () => writes.take() ?? reads.take()
    let left = writesAtOnce
    return () => reads.take() ?? (left-- > 0 ? writes.take() : undefined)
  }
  return {
    writes,
    reads,
    refused,
    takeBack,
    taking,
    toRun: () => writes.size() + reads.size(),
    all: () => writes.size() + reads.size() + refused.size(),
  }
}

type Lines = ReturnType<typeof createLines>

/** Runs requests for a slice; gives how many. Those that waited too long by far are to be shed instead. */
const runSome = (lines: Lines, started: number, wait: number, now: Clock['now']): number => {
  let count = 0
  const take = lines.taking(started - slice)
  for (let one = take(); one; one = take()) {
    if (started - one.since > wait * patience) {
      lines.refused.add(one)
      continue
    }
    one.entry.run()
    count++
    if (now() - started > slice) break
  }
  return count
}

/** Sheds as many as it may for those that were run, and those that came before `late` for a slice. */
const createShedding = (refused: Line, costs: Costs, now: Clock['now']) => {
  let may = mostSaved
  const isLate = (late: number) => (refused.oldest()?.since ?? late) < late
  return (started: number, ran: number, late: number): void => {
    may = Math.min(may + ran * costs.shedForOne() * sheddingPart, mostSaved)
    let count = 0
    while (may >= 1 || (isLate(late) && now() - started < slice)) {
      const one = refused.take()
      if (!one) break
      one.entry.shed()
      count++
      may = Math.max(0, may - 1)
    }
    if (count > 0) costs.shedding.add(now() - started, count)
  }
}

/**
 * A queue in user space: only here can a server see that it is behind, since the kernel's own queues are silent.
 * The requests of one turn of the event loop are run one after another and their answers written together, which spares the
 * peers' wake-ups between them (measured: a tenth of a small request). Whether a request is run is decided when it
 * comes, by how many wait before it and what one costs; those that are not are shed beside the others, as fast as leaves time for these.
 */
export const createQueue = (limits: QueueLimits, { now, later }: Clock = usualClock): Queue => {
  const lines = createLines()
  const costs = createCosts(limits.wait * mostAtOnce)
  const shedSome = createShedding(lines.refused, costs, now)
  /** When the last slice ended, if it left anybody waiting: then the time since went to those who came. */
  let ended: number | undefined
  let came = 0
  let isScheduled = false
  const schedule = () => {
    if (isScheduled) return
    isScheduled = true
    later(drain)
  }
  /** Where nobody is left to be run, those are shed that cannot be taken back. */
  const lateNow = (at: number): number => {
    if (lines.toRun() > 0) return Number.NEGATIVE_INFINITY
    return limits.size > 0 ? at - limits.wait : Number.POSITIVE_INFINITY
  }
  const drain = () => {
    isScheduled = false
    const started = now()
    if (ended !== undefined) costs.arriving.add(started - ended, came)
    came = 0
    // The costs were thought to be higher than they are.
    if (lines.toRun() === 0) lines.takeBack(started - limits.wait, Math.min(takenBack, limits.size))
    const ran = runSome(lines, started, limits.wait, now)
    const between = now()
    costs.running.add(between - started, ran)
    shedSome(between, ran, lateNow(between))
    ended = lines.all() > 0 ? now() : undefined
    if (ended !== undefined) schedule()
  }
  /** How many will enter that wait elsewhere. */
  let elsewhere = 0
  const isFull = () => lines.toRun() + elsewhere >= limits.size
  const keepPlace = () => {
    if (isFull()) return false
    elsewhere++
    return true
  }
  const leavePlace = () => void elsewhere--
  const isTooMuch = ({ isWrite }: Entry): boolean =>
    isFull() || (isWrite ? lines.writes.size() : lines.toRun()) * costs.toAnswer() > limits.wait
  const enter = (entry: Entry) => {
    const line = isTooMuch(entry) ? lines.refused : entry.isWrite ? lines.writes : lines.reads
    line.add({ entry, since: now() })
    came++
    schedule()
  }
  return { enter, keepPlace, leavePlace, entered: lines.all, size: () => lines.all() + elsewhere }
}
