/** The queue of requests: they are run in slices, answered together, and refused when they waited too long. */

/** A request that waits: run when its turn comes, or shed when that is too late. */
export type Entry = { readonly run: () => void; readonly shed: () => void }

export type Queue = {
  readonly enter: (entry: Entry) => void
  readonly size: () => number
}

export type QueueLimits = {
  /** The longest wait, in milliseconds; a request that waited longer is shed. */
  readonly wait: number
  /** How many may wait; a request above that is shed at once. */
  readonly size: number
}

/** No queue: whoever enters is run at once. */
export const noQueue: Queue = { enter: ({ run }) => run(), size: () => 0 }

/** How long requests are run before the event loop looks at its sockets again, in milliseconds. */
const slice = 5

/**
 * A queue in user space: only here can a server see that it is behind, since the kernel's own queues are silent.
 * The requests of one turn of the event loop are run one after another and their answers written together,
 * which spares the peers' wake-ups between them (measured: a tenth of a small request).
 */
export const createQueue = (limits: QueueLimits): Queue => {
  let waiting: { entry: Entry; since: number }[] = []
  let next = 0
  let isScheduled = false
  const schedule = () => {
    if (isScheduled) return
    isScheduled = true
    setImmediate(drain)
  }
  const drain = () => {
    isScheduled = false
    const started = performance.now()
    let now = started
    while (next < waiting.length) {
      const { entry, since } = waiting[next++] as (typeof waiting)[number]
      if (now - since > limits.wait) entry.shed()
      else entry.run()
      now = performance.now()
      if (now - started > slice) break
    }
    if (next < waiting.length) return schedule()
    waiting = []
    next = 0
  }
  const enter = (entry: Entry) => {
    if (waiting.length - next >= limits.size) return entry.shed()
    waiting.push({ entry, since: performance.now() })
    schedule()
  }
  return { enter, size: () => waiting.length - next }
}
