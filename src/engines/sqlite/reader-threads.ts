/** The reader threads as the main thread sees them: started when they are needed, each does one thing at a time. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { tookTooLong } from '#engines/shared/slow-lane.ts'
import { createNumbers } from '#engines/sqlite/numbers.ts'
import type { ReaderSetup, Task, TaskReply } from '#engines/sqlite/protocol.ts'
import { startThread } from '#engines/sqlite/start-thread.ts'
import { ApiError } from '#errors.ts'
import type { ReadPlan } from '#read/plan.ts'
import type { Answer } from '#read/read.ts'
import type { Query, Rows } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'

export type ReaderOptions = Omit<ReaderSetup, 'stopped'> & {
  readonly onProblem?: ((message: string) => void) | undefined
  /** Called when a read meets a damaged page. */
  readonly onDamage: (message: string) => void
}

/** From so many characters on a text is long. */
const longText = 1_048_576

/** After a longer one a thread is ended: it would keep several times its length of memory, and another is soon started. */
const mostText = 4_194_304

/** How much longer than its time limit a read may take until its thread is given up, in milliseconds. */
const grace = 1000

const lost = () => new ApiError('UNAVAILABLE', 'The read was lost; try again', { retryAfter: 1 })

/** The result in a reply; throws where it has none. */
const resultOf = (reply: TaskReply) => {
  if (reply.kind === 'done') return reply.result
  if (reply.kind !== 'refused') throw new Error('message' in reply ? reply.message : reply.kind)
  const { code, message, retryAfter } = reply
  throw new ApiError(code, message, { retryAfter })
}

/** A worker to which one task at a time is sent; `onEnd` says why it ended before it was closed. */
const startWorker = (
  setup: ReaderSetup,
  onEnd: (why: string) => void,
  onDamage: (message: string) => void,
) => {
  const worker = startThread(new URL('./reader-thread.ts', import.meta.url), setup)
  const exited = Promise.withResolvers<void>()
  let waiting = Promise.withResolvers<TaskReply>()
  const ready = waiting.promise
  ready.catch(() => {})
  let isAlive = true
  const lose = (why: string, error: ApiError = lost()) => {
    waiting.reject(error)
    if (isAlive) onEnd(why)
    isAlive = false
  }
  worker.on('message', (reply: TaskReply) => {
    // It is no answer; that comes too.
    if (reply.kind === 'damaged') onDamage(reply.message)
    else waiting.resolve(reply)
  })
  worker.on('error', (error: Error) => lose(error.message))
  worker.on('exit', code => {
    lose(`exit code ${code}`)
    exited.resolve()
  })
  // It does not even look whether it shall end.
  const giveUp = () => {
    lose('it did not answer in time', tookTooLong())
    worker.terminate()
  }
  /** Sends a task; the kind of its result goes with that of the task. */
  const send = async <Result extends readonly Answer[] | Rows>(task: Task): Promise<Result> => {
    await ready
    if (!isAlive) throw lost()
    waiting = Promise.withResolvers()
    const timer = setTimeout(giveUp, setup.readTimeout + grace)
    worker.postMessage(task)
    try {
      return resultOf(await waiting.promise) as Result
    } finally {
      clearTimeout(timer)
    }
  }
  const close = async () => {
    isAlive = false
    worker.postMessage('close')
    await exited.promise
  }
  return { send, isAlive: () => isAlive, close }
}

/** Starts a reader thread. */
export const startReaderThread = ({ onProblem, onDamage, ...options }: ReaderOptions) => {
  const stopped = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const { send, isAlive, close } = startWorker(
    { ...options, stopped },
    why => onProblem?.(`a reader thread ended: ${why}; another is started when it is needed`),
    onDamage,
  )
  const plans = createNumbers<ReadPlan>()
  // Of the read that it does now, so that a late stop ends no other.
  let number = 1
  const stop = () => void Atomics.store(stopped, 0, number)
  return {
    read: async (plan: ReadPlan, slots: readonly SqlValue[]): Promise<readonly Answer[]> => {
      const dropPlans = plans.isFull() && !plans.has(plan)
      if (dropPlans) plans.clear()
      const known = plans.of(plan)
      const [made = null] = plans.takeMet()
      const task = { kind: 'read', number, plan: known, made, dropPlans, slots } as const
      try {
        const answers = await send<readonly Answer[]>(task)
        // To receive a long text takes some milliseconds, and so does what is made of it: others come in between.
        const length = answers.reduce((sum, { text }) => sum + text.length, 0)
        if (length > longText) await nextTurn()
        if (length > mostText) void close()
        return answers
      } finally {
        number++
      }
    },
    /** One query of a work; all until `end` see the same snapshot. */
    query: (query: Query) => send<Rows>({ kind: 'query', number, query }),
    end: async () => {
      if (isAlive()) await send({ kind: 'end', number })
      number++
    },
    /** Ends what it does now, within a moment. */
    stop,
    isAlive,
    close: (): Promise<void> => {
      stop()
      return close()
    },
  }
}

export type ReaderThread = ReturnType<typeof startReaderThread>
