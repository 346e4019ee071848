/** The slow lane of a SQLite file: reads in threads, which are started when reads need them, each doing one thing at a time. */
import { availableParallelism } from 'node:os'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createSlowLane } from '#base/slow-lane.ts'
import { slowReads, tookTooLong } from '#engines/shared/slow-reads.ts'
import type { SqliteOptions } from '#engines/sqlite/file.ts'
import {
  createNumbers,
  type ReaderReply,
  type ReaderSetup,
  type ReaderTask,
  startThread,
} from '#engines/sqlite/protocol.ts'
import { ApiError } from '#errors.ts'
import type { ReadPlan } from '#read/plan.ts'
import type { Answer, PlanReader } from '#read/read.ts'
import { driveBy, type Query, type ReadOptions, type Rows } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'

/** From so many characters on a text is long. */
const longText = 1_048_576

/** After a longer one a thread is ended: it would keep several times its length of memory, and another is soon started. */
const mostText = 4_194_304

/** How much longer than its time limit a read may take until its thread is given up, in milliseconds. */
const grace = 1000

const lost = () => new ApiError('UNAVAILABLE', 'The read was lost; try again', { retryAfter: 1 })

/** Starts a reader thread; `onEnd` says why it ended before it was closed. */
const startReader = (
  setup: Omit<ReaderSetup, 'stopped'>,
  onEnd: (why: string) => void,
  onDamage: (message: string) => void,
) => {
  const stopped = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const thread = startThread(new URL('./reader-thread.ts', import.meta.url), { ...setup, stopped })
  const plans = createNumbers<ReadPlan>()
  const exited = Promise.withResolvers<void>()
  let waiting = Promise.withResolvers<ReaderReply>()
  const ready = waiting.promise
  ready.catch(() => {})
  let isAlive = true
  // The number of its present read lets a late stop end no other one.
  let number = 1
  const lose = (why: string, error: ApiError = lost()) => {
    waiting.reject(error)
    if (isAlive) onEnd(why)
    isAlive = false
  }
  thread.on('message', (reply: ReaderReply) => {
    // It is no answer; that comes too.
    if (reply.kind === 'damaged') onDamage(reply.message)
    else waiting.resolve(reply)
  })
  thread.on('error', (error: Error) => lose(error.message))
  thread.on('exit', code => {
    lose(`exit code ${code}`)
    exited.resolve()
  })
  /** Sends a task; the kind of its result goes with that of the task. */
  const send = async <Result extends readonly Answer[] | Rows>(
    task: ReaderTask,
  ): Promise<Result> => {
    await ready
    if (!isAlive) throw lost()
    waiting = Promise.withResolvers()
    const timer = setTimeout(() => {
      // It does not even look whether it shall end.
      lose('it did not answer in time', tookTooLong())
      thread.terminate()
    }, setup.readTimeout + grace)
    thread.postMessage(task)
    try {
      const reply = await waiting.promise
      if (reply.kind === 'done') return reply.result as Result
      if (reply.kind !== 'refused') throw new Error('message' in reply ? reply.message : reply.kind)
      const { code, message, retryAfter } = reply
      throw new ApiError(code, message, { retryAfter })
    } finally {
      clearTimeout(timer)
    }
  }
  /** Ends what it does now, within a moment. */
  const stop = () => void Atomics.store(stopped, 0, number)
  const close = async (): Promise<void> => {
    isAlive = false
    thread.postMessage('close')
    await exited.promise
  }
  return {
    read: async (plan: ReadPlan, parameters: readonly SqlValue[]): Promise<readonly Answer[]> => {
      const { isAnew: dropPlans, met } = plans.begin()
      const known = plans.of(plan)
      const [made = null] = met
      try {
        const answers = await send<readonly Answer[]>({
          kind: 'read',
          number,
          plan: known,
          made,
          dropPlans,
          parameters,
        })
        // To receive a long text takes some milliseconds, and so does what is made of it: others come in between.
        const length = answers.reduce((sum, { text }) => sum + text.length, 0)
        if (length > longText) await nextTurn()
        if (length > mostText) void close()
        return answers
      } finally {
        number++
      }
    },
    /** One query of a script; all until `end` see the same snapshot. */
    query: (query: Query) => send<Rows>({ kind: 'query', number, query }),
    end: async () => {
      if (isAlive) await send({ kind: 'end', number })
      number++
    },
    stop,
    isAlive: () => isAlive,
    close: (): Promise<void> => {
      stop()
      return close()
    },
  }
}

type SlowReader = ReturnType<typeof startReader>

/**
 * Opens the slow lane; a thread that ended is replaced when it is needed. `onDamage` is called when a read meets a damaged page. It is one of
 * so many `lanes`, which divide the readers and the places for those that wait.
 */
export const openReaderPool = (
  options: SqliteOptions,
  onDamage: (message: string) => void,
  lanes = 1,
): Required<Pick<PlanReader, 'slowly' | 'runInThread'>> & {
  readonly close: () => Promise<void>
} => {
  const { file, digits, limits, readTimeout, onProblem } = options
  // One for each core beside that of the main thread.
  const { readers = Math.max(1, availableParallelism() - 1) } = options
  const lane = createSlowLane({
    concurrency: Math.max(1, Math.floor(readers / lanes)),
    waiting: Math.ceil(slowReads.waiting / lanes),
    longestWait: readTimeout,
    what: slowReads.what,
  })
  const all = new Set<SlowReader>()
  const idle: SlowReader[] = []
  const take = (): SlowReader => {
    for (let known = idle.pop(); known; known = idle.pop()) {
      if (known.isAlive()) return known
      all.delete(known)
    }
    const started = startReader(
      { file, digits, limits, readTimeout },
      why => onProblem?.(`a reader thread ended: ${why}; another is started when it is needed`),
      onDamage,
    )
    all.add(started)
    return started
  }
  const inThread = <Result>(
    readOptions: ReadOptions,
    work: (reader: SlowReader) => Promise<Result>,
  ) =>
    lane.run(async gone => {
      const reader = take()
      gone.addEventListener('abort', reader.stop)
      try {
        return await work(reader)
      } finally {
        idle.push(reader)
      }
    }, readOptions)
  return {
    runInThread: (plan, parameters, readOptions) =>
      inThread(readOptions, reader => reader.read(plan, parameters)),
    slowly: (begin, readOptions = {}) =>
      inThread(readOptions, async reader => {
        try {
          return await driveBy(begin(), reader.query)
        } finally {
          await reader.end()
        }
      }),
    close: async () => {
      await Promise.all([...all].map(reader => reader.close()))
    },
  }
}
