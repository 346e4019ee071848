/** The writer as the main thread sees it: jobs go to the writer thread, and its replies settle them. */
import type { Worker } from 'node:worker_threads'
import { tooManyWrites } from '#engines/shared/store.ts'
import type { Cells } from '#engines/sqlite/changes.ts'
import { createDelivery } from '#engines/sqlite/delivery.ts'
import type { Disk } from '#engines/sqlite/disk.ts'
import { goneOf, type ServedFiles } from '#engines/sqlite/lock.ts'
import type { SqliteOptions } from '#engines/sqlite/options.ts'
import { createPacker } from '#engines/sqlite/packing.ts'
import type { Reply, Sent, WriterSetup } from '#engines/sqlite/protocol.ts'
import { startThread } from '#engines/sqlite/start-thread.ts'
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

/** The jobs that wait for their outcomes, by number. */
const createWaiters = () => {
  const waiters = new Map<number, PromiseWithResolvers<Outcome>>()
  const take = (id: number) => {
    const waiter = waiters.get(id)
    waiters.delete(id)
    return waiter
  }
  const delivery = createDelivery(([id, outcome]) => take(id)?.resolve(outcome))
  const reject = (ids: readonly number[], error: () => unknown) => {
    for (const id of ids) take(id)?.reject(error())
  }
  return {
    count: () => waiters.size,
    wait: (id: number): Promise<Outcome> => {
      const waiter = Promise.withResolvers<Outcome>()
      waiters.set(id, waiter)
      return waiter.promise
    },
    resolve: delivery.add,
    reject,
    /** Rejects all but those whose outcomes are known. */
    rejectAll: (error: ApiError) => {
      delivery.flush()
      reject([...waiters.keys()], () => error)
    },
  }
}

type Options = SqliteOptions & {
  readonly disk: Disk
  /** Ends the open snapshot, so that reads after an answer see its write. */
  readonly beforeAnswers: () => void
  /** Numbered around each commit; undefined where nobody watches them. */
  readonly cells: Cells | undefined
  /** What the reader has open. */
  readonly served: ServedFiles
  /** Called when a write meets a damaged page. */
  readonly onDamage: (message: string) => void
}

/** The error for a write that cannot be accepted now; undefined where it can. */
const refusal = ({ disk, queue }: Options, waiting: number): ApiError | undefined => {
  if (disk.isLow())
    return unavailable('The disk is almost full: nothing was written, reads go on', 10)
  return waiting < queue ? undefined : tooManyWrites()
}

const startWorker = (options: Options): Worker => {
  const { served, sync = 'full', digits, limits, readTimeout, sharedLog, cells } = options
  const setup: WriterSetup = { served, sync, digits, limits, readTimeout, sharedLog, cells }
  return startThread(new URL('./worker.ts', import.meta.url), setup)
}

/** Sends jobs to the thread: those of one turn of the event loop are sent together, and commit together. */
const createBatcher = (worker: Worker) => {
  const pack = createPacker()
  let jobs: Sent[] = []
  const flush = () => {
    const batch = jobs
    jobs = []
    if (batch.length > 0) worker.postMessage(batch)
  }
  const add = (id: number, job: Job) => {
    if (jobs.length === 0) setImmediate(flush)
    jobs.push(pack(id, job))
  }
  return { add, flush }
}

type Waiters = ReturnType<typeof createWaiters>

/** A function that settles jobs by the replies of the writer thread. */
const settling =
  (
    { disk, beforeAnswers, onDamage, onProblem, onCommit }: Options,
    waiters: Waiters,
    setReady: () => void,
    stop: (message: string) => void,
  ) =>
  (reply: Reply) => {
    switch (reply.kind) {
      case 'ready':
        return setReady()
      case 'problem':
        return onProblem?.(reply.message)
      case 'damaged':
        return onDamage(reply.message)
      case 'outcomes':
        beforeAnswers()
        onCommit?.(reply.outcomes.length, reply.milliseconds)
        return waiters.resolve(reply.outcomes, reply.milliseconds)
      case 'full':
        disk.wasFull()
        return waiters.reject(reply.ids, nothingDone.full)
      case 'busy':
      case 'broken':
        onProblem?.(`${nothingDone[reply.kind]().message} (${reply.message})`)
        return waiters.reject(reply.ids, nothingDone[reply.kind])
      case 'gone':
        return stop(reply.message)
      case 'unknown':
        return stop(`a commit failed, its outcome is unknown: ${reply.message}`)
      default:
        return reply satisfies never
    }
  }

/** Starts the writer thread. */
export const startWriter = (options: Options) => {
  const worker = startWorker(options)
  const waiters = createWaiters()
  const batcher = createBatcher(worker)
  const { promise: ready, resolve: setReady, reject: setFailed } = Promise.withResolvers<void>()
  ready.catch(() => {})
  let lastId = 0
  let stopped: ApiError | undefined
  let isClosing = false

  /** Ends the writing for good: waiting writes are rejected, later ones refused. */
  const stop = (message: string) => {
    if (stopped) return
    const error = unavailable('The store stopped; whether this was written is unknown', 2)
    stopped = error
    waiters.rejectAll(error)
    setFailed(new Error(message))
    options.onFatal(message)
  }
  worker.on('message', settling(options, waiters, setReady, stop))
  worker.on('error', (error: Error) => {
    // It may have opened another file than the one that is served, or a new one.
    stop(goneOf(options.served) ?? `the writer failed: ${error.message}`)
  })
  worker.on('exit', () => isClosing || stop('the writer ended'))

  const write = async (job: Job): Promise<Outcome> => {
    if (stopped) throw stopped
    if (isClosing) throw new ApiError('UNAVAILABLE', 'The store is closed')
    const refused = refusal(options, waiters.count())
    if (refused) throw refused
    const id = ++lastId
    batcher.add(id, job)
    return waiters.wait(id)
  }
  const close = async () => {
    if (stopped) return void (await worker.terminate())
    isClosing = true
    await ready
    // Jobs that were accepted before go first.
    batcher.flush()
    const ended = new Promise(resolve => worker.once('exit', resolve))
    worker.postMessage('close')
    await ended
  }
  return { write, close, stop, waiting: waiters.count, ready: () => ready }
}
