/** The writer as the main thread sees it: jobs go to the writer thread, and its replies settle them. */
import { tooManyWrites } from '#engines/shared/store.ts'
import type { VersionTable } from '#engines/sqlite/changes.ts'
import { type Disk, goneOf, type ServedFiles, type SqliteOptions } from '#engines/sqlite/file.ts'
import {
  createPacker,
  type JobOutcome,
  type SentJob,
  slowFlush,
  startThread,
  type WriterReply,
  type WriterSetup,
} from '#engines/sqlite/protocol.ts'
import { ApiError } from '#errors.ts'
import type { Job, Outcome } from '#write/job.ts'

const unavailable = (message: string, retryAfter: number) =>
  new ApiError('UNAVAILABLE', message, { retryAfter })

/** Failures after which nothing was written and the next write may succeed. */
const nothingDone = {
  full: () => unavailable('The disk is full: nothing was written, reads go on', 10),
  busy: () =>
    new ApiError(
      'OVERLOADED',
      'Another program writes to the store: nothing was written, reads go on',
      { retryAfter: 2 },
    ),
  broken: () => unavailable('The store failed before the commit: nothing was written', 2),
} as const

/**
 * How many outcomes are delivered in a turn: each is an answer to write, and mostly another request at once, and who comes meanwhile waits for
 * all of them. If many wait, a part of them, so that it takes few turns, which are long when there is much else to do.
 */
const atOnce = { least: 8, part: 1 / 4 }

/** The longest commit, in milliseconds, that is quick: after a longer one all are delivered, as what they write next is then to share the next one. */
const quickCommit = 4

/** Delivers the outcomes of jobs with `deliver`, in the order in which they are added; `later` calls a function in the next turn. */
export const createDelivery = (
  deliver: (outcome: JobOutcome) => void,
  later: (work: () => void) => void = setImmediate,
) => {
  let waiting: readonly JobOutcome[] = []
  let isScheduled = false
  const deliverSome = (most: number) => {
    const some = waiting.slice(0, most)
    waiting = waiting.slice(most)
    for (const outcome of some) deliver(outcome)
  }
  const turn = () => {
    isScheduled = false
    deliverSome(Math.max(atOnce.least, Math.ceil(waiting.length * atOnce.part)))
    if (isScheduled || waiting.length === 0) return
    isScheduled = true
    later(turn)
  }
  return {
    /** Adds the outcomes of a group, whose commit took so many `milliseconds`: the first of them are delivered in this turn, unless others wait. */
    add: (outcomes: readonly JobOutcome[], milliseconds: number) => {
      waiting = [...waiting, ...outcomes]
      if (milliseconds > quickCommit && milliseconds < slowFlush) deliverSome(waiting.length)
      else if (!isScheduled) turn()
    },
    /** Delivers all that wait. */
    flush: () => deliverSome(waiting.length),
  }
}

type WriterOptions = SqliteOptions & {
  readonly disk: Disk
  /** Ends the open snapshot, so that reads after an answer see its write. */
  readonly beforeAnswers: () => void
  /** Numbered around each commit; undefined if nobody watches them. */
  readonly versions: VersionTable | undefined
  /** What the reader has open. */
  readonly served: ServedFiles
  /** Called when a write meets a damaged page. */
  readonly onDamage: (message: string) => void
}

/** Starts the writer thread. */
export const startWriter = (options: WriterOptions) => {
  const { disk, served, versions, sharedLog, sync = 'full', digits, limits, readTimeout } = options
  const setup: WriterSetup = { served, sync, digits, limits, readTimeout, sharedLog, versions }
  const thread = startThread(new URL('./writer-thread.ts', import.meta.url), setup)
  const pack = createPacker()
  /** The jobs that wait for their outcomes, by number. */
  const waiters = new Map<number, PromiseWithResolvers<Outcome>>()
  const { promise: ready, resolve: setReady, reject: setFailed } = Promise.withResolvers<void>()
  ready.catch(() => {})
  /** The jobs of this turn of the event loop: they are sent together, and commit together. */
  let jobs: SentJob[] = []
  let lastId = 0
  let stopped: ApiError | undefined
  let isClosing = false

  const take = (id: number) => {
    const waiter = waiters.get(id)
    waiters.delete(id)
    return waiter
  }
  const delivery = createDelivery(([id, outcome]) => take(id)?.resolve(outcome))
  const rejectAll = (ids: Iterable<number>, error: () => unknown) => {
    for (const id of ids) take(id)?.reject(error())
  }
  const flush = () => {
    const sent = jobs
    jobs = []
    if (sent.length > 0) thread.postMessage(sent)
  }

  /** Ends the writing for good: waiting writes are rejected, unless their outcomes are known, and later ones refused. */
  const stop = (message: string) => {
    if (stopped) return
    const error = unavailable('The store stopped; whether this was written is unknown', 2)
    stopped = error
    delivery.flush()
    rejectAll([...waiters.keys()], () => error)
    setFailed(new Error(message))
    options.onFatal(message)
  }

  thread.on('message', (reply: WriterReply) => {
    switch (reply.kind) {
      case 'ready':
        return setReady()
      case 'problem':
        return options.onProblem?.(reply.message)
      case 'damaged':
        return options.onDamage(reply.message)
      case 'outcomes':
        options.beforeAnswers()
        options.onCommit?.(reply.outcomes.length, reply.milliseconds)
        return delivery.add(reply.outcomes, reply.milliseconds)
      case 'full':
        disk.wasFull()
        return rejectAll(reply.ids, nothingDone.full)
      case 'busy':
      case 'broken':
        options.onProblem?.(`${nothingDone[reply.kind]().message} (${reply.message})`)
        return rejectAll(reply.ids, nothingDone[reply.kind])
      case 'gone':
        return stop(reply.message)
      case 'unknown':
        return stop(`a commit failed, its outcome is unknown: ${reply.message}`)
      default:
        return reply satisfies never
    }
  })
  // It may have opened another file than the one that is served, or a new one.
  thread.on('error', (error: Error) =>
    stop(goneOf(served) ?? `the writer failed: ${error.message}`),
  )
  thread.on('exit', () => isClosing || stop('the writer ended'))

  return {
    write: async (job: Job): Promise<Outcome> => {
      if (stopped) throw stopped
      if (isClosing) throw new ApiError('UNAVAILABLE', 'The store is closed')
      if (disk.isLow())
        throw unavailable('The disk is almost full: nothing was written, reads go on', 10)
      if (waiters.size >= options.queue) throw tooManyWrites()
      const id = ++lastId
      if (jobs.length === 0) setImmediate(flush)
      jobs.push(pack(id, job))
      const waiter = Promise.withResolvers<Outcome>()
      waiters.set(id, waiter)
      return waiter.promise
    },
    close: async () => {
      if (stopped) return void (await thread.terminate())
      isClosing = true
      await ready
      // Jobs that were accepted before go first.
      flush()
      const ended = new Promise(resolve => thread.once('exit', resolve))
      thread.postMessage('close')
      await ended
    },
    stop,
    waiting: () => waiters.size,
    ready: () => ready,
  }
}
