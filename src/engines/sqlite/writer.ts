/** The writer as the threads that serve see it: jobs go to the writer thread, and its replies settle them. */
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads'
import type { Tally } from '#base/tallies.ts'
import { tooManyWrites, usualWriteWait } from '#engines/shared/store.ts'
import { type Disk, goneOf, type SqliteOptions } from '#engines/sqlite/file.ts'
import {
  createPacker,
  type JobOutcome,
  type SentJob,
  sharedNow,
  slowFlush,
  startThread,
  unpackOutcome,
  type WriterReply,
  type WriterSetup,
  type WriterTask,
} from '#engines/sqlite/protocol.ts'
import { ApiError, overloaded } from '#errors.ts'
import type { Job, Outcome } from '#write/job.ts'

const unavailable = (message: string, retryAfter: number) =>
  new ApiError('UNAVAILABLE', message, { retryAfter })

/** Failures after which nothing was written and the next write may succeed. */
const nothingDone = {
  full: () => unavailable('The disk is full: nothing was written, reads go on', 10),
  busy: () =>
    overloaded('Another program writes to the store: nothing was written, reads go on', 2),
  broken: () => unavailable('The store failed before the commit: nothing was written', 2),
} as const

/**
 * How many outcomes are delivered in a turn: each is an answer to write and mostly brings another request at once, for which others wait. If many wait, a part of them is delivered in a turn, since turns are long when there is much else to do.
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

type WriterOptions = Pick<
  SqliteOptions,
  'onProblem' | 'onCommit' | 'onFatal' | 'queue' | 'writeWait'
> & {
  readonly disk: Pick<Disk, 'isLow' | 'wasFull'>
  /** Ends the open snapshot, so that reads after an answer see its write. */
  readonly beforeAnswers: () => void
  /** Called when a write meets a damaged page. */
  readonly onDamage: (message: string) => void
  /** The writes of all threads that wait; absent where only one sends any. */
  readonly tally: Tally | undefined
}

/** Sends jobs to the writer thread through its own port or one that was made for this thread, and takes its replies. */
const createWriter = (channel: MessagePort | Worker, options: WriterOptions) => {
  const { disk, tally, writeWait = usualWriteWait } = options
  const pack = createPacker()
  /** The jobs that wait for their outcomes, by number. */
  const waiters = new Map<number, PromiseWithResolvers<Outcome>>()
  const { promise: ready, resolve: setReady, reject: setFailed } = Promise.withResolvers<void>()
  ready.catch(() => {})
  const emptied = Promise.withResolvers<void>()
  /** The jobs of what runs now, with all that its promises lead to: they are sent together, and commit together. */
  let jobs: SentJob[] = []
  let lastId = 0
  let stopped: ApiError | undefined
  let isClosing = false

  const take = (id: number) => {
    const waiter = waiters.get(id)
    waiters.delete(id)
    tally?.put(waiters.size)
    if (isClosing && waiters.size === 0) emptied.resolve()
    return waiter
  }
  const delivery = createDelivery(([id, outcome]) => take(id)?.resolve(outcome))
  const rejectAll = (ids: Iterable<number>, error: () => unknown) => {
    for (const id of ids) take(id)?.reject(error())
  }
  const flush = () => {
    const sent = jobs
    jobs = []
    if (sent.length > 0) channel.postMessage(sent satisfies WriterTask, [])
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

  channel.on('message', (reply: WriterReply) => {
    switch (reply.kind) {
      case 'ready':
        return setReady()
      case 'look':
        return options.beforeAnswers()
      case 'problem':
        return options.onProblem?.(reply.message)
      case 'damaged':
        return options.onDamage(reply.message)
      case 'outcomes':
        options.beforeAnswers()
        if (reply.committed > 0) options.onCommit?.(reply.committed, reply.milliseconds)
        return delivery.add(reply.outcomes.map(unpackOutcome), reply.milliseconds)
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

  return {
    write: async (job: Job): Promise<Outcome> => {
      if (stopped) throw stopped
      if (isClosing) throw new ApiError('UNAVAILABLE', 'The store is closed')
      if (disk.isLow())
        throw unavailable('The disk is almost full: nothing was written, reads go on', 10)
      if (waiters.size + (tally?.others() ?? 0) >= options.queue) throw tooManyWrites()
      const id = ++lastId
      if (jobs.length === 0) process.nextTick(flush)
      jobs.push(pack(id, sharedNow() + writeWait, job))
      const waiter = Promise.withResolvers<Outcome>()
      waiters.set(id, waiter)
      tally?.put(waiters.size)
      return waiter.promise
    },
    /** Takes no more, and resolves when all that was taken is sent. */
    end: async () => {
      isClosing = true
      await ready
      // Jobs that were accepted before go first.
      flush()
    },
    /** Resolves when none waits any more. */
    settled: () => (waiters.size === 0 ? undefined : emptied.promise),
    isClosing: () => isClosing,
    hasStopped: () => stopped !== undefined,
    stop,
    waiting: () => waiters.size,
    ready: () => ready,
  }
}

/** Starts the writer thread. */
export const startWriter = (
  options: WriterOptions & SqliteOptions & Pick<WriterSetup, 'served' | 'versions' | 'hasReader'>,
) => {
  const { served, versions, sharedLog, sync = 'full', digits, limits, readTimeout } = options
  const { hasReader } = options
  const setup = { served, sync, digits, limits, readTimeout, sharedLog, versions, hasReader }
  const module = new URL('./writer-thread.ts', import.meta.url)
  const thread = startThread(module, setup satisfies WriterSetup)
  const writer = createWriter(thread, options)
  const { stop, end } = writer
  // It may have opened another file than the one that is served, or a new one.
  thread.on('error', (error: Error) =>
    stop(goneOf(served) ?? `the writer failed: ${error.message}`),
  )
  thread.on('exit', () => writer.isClosing() || stop('the writer ended'))
  return {
    ...writer,
    /** A port through which a further thread sends jobs; its reader has that number. */
    connect: (number: number): MessagePort => {
      const { port1, port2 } = new MessageChannel()
      thread.postMessage({ port: port1, number } satisfies WriterTask, [port1])
      return port2
    },
    close: async () => {
      if (writer.hasStopped()) return void (await thread.terminate())
      await end()
      const ended = new Promise(resolve => thread.once('exit', resolve))
      thread.postMessage('close' satisfies WriterTask)
      await ended
    },
  }
}

/** The writer of another thread, through a port that was made there. */
export const joinWriter = (port: MessagePort, options: WriterOptions) => {
  const writer = createWriter(port, options)
  port.on('close', () => writer.isClosing() || writer.stop('the writer ended'))
  return {
    ...writer,
    close: async () => {
      if (!writer.hasStopped()) {
        await writer.end()
        await writer.settled()
      }
      port.close()
    },
  }
}
