/** The embedded store: reads on this thread's own connection, writes through the writer thread. */
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { connect, type Durability } from '#engines/sqlite/connection.ts'
import { dialect } from '#engines/sqlite/dialect.ts'
import { type Disk, watchDisk } from '#engines/sqlite/disk.ts'
import type { Batch, Reply, Sent, WriterSetup } from '#engines/sqlite/protocol.ts'
import type { Engine, Serving } from '#engines/store.ts'
import { ApiError } from '#errors.ts'
import type { ReadPlan } from '#read/plan.ts'
import { drive, type Work } from '#sql/engine.ts'
import type { Job, Outcome } from '#write/job.ts'

export type SqliteFile = {
  readonly file: string
  readonly sync?: Durability
  /** Below so many free bytes on the disk writes are refused; 0 or none: they go on until it is full. */
  readonly minDisk?: number
}

export type SqliteOptions = Serving & SqliteFile

type Waiting = {
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

/** Failures after which nothing was written and the next write may succeed. */
const nothingDone = {
  full: {
    code: 'UNAVAILABLE',
    message: 'The disk is full: nothing was written, reads go on',
    after: 10,
  },
  busy: {
    code: 'OVERLOADED',
    message: 'Another program writes to the store: nothing was written, reads go on',
    after: 2,
  },
  broken: {
    code: 'UNAVAILABLE',
    message: 'The store failed before the commit: nothing was written',
    after: 2,
  },
} as const

const low = () =>
  new ApiError('UNAVAILABLE', 'The disk is almost full: nothing was written, reads go on', {
    retryAfter: 10,
  })

/** The writer keeps so many plans ready; then it starts afresh. */
const plansKept = 500

/** `beforeAnswers` ends the open snapshot: whoever is told of a write sees it from then on. */
const createWriter = (options: SqliteOptions, disk: Disk, beforeAnswers: () => void) => {
  const setup: WriterSetup = {
    file: options.file,
    sync: options.sync ?? 'full',
    digits: options.digits,
    limits: options.limits,
  }
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: setup })
  const waiting = new Map<number, Waiting>()
  const planNumbers = new Map<ReadPlan, number>()
  let batch: Sent[] = []
  let forget = false
  let lastId = 0
  let down: ApiError | undefined
  const { promise: ready, resolve: setReady, reject: setFailed } = Promise.withResolvers<void>()
  ready.catch(() => {})

  const send = () => {
    const jobs = batch
    batch = []
    const message: Batch = { forget, jobs }
    forget = false
    worker.postMessage(message)
  }
  const planNumber = (job: Job): readonly [number | null, boolean] => {
    if (!job.answer) return [null, true]
    const known = planNumbers.get(job.answer.plan)
    if (known !== undefined) return [known, true]
    if (planNumbers.size >= plansKept) {
      // What is on its way refers to plans by number: it goes first.
      if (batch.length > 0) send()
      planNumbers.clear()
      forget = true
    }
    planNumbers.set(job.answer.plan, planNumbers.size)
    return [planNumbers.size - 1, false]
  }
  const stop = (message: string) => {
    if (down) return
    down = new ApiError('UNAVAILABLE', 'The store stopped; whether this was written is unknown', {
      retryAfter: 2,
    })
    for (const { reject } of waiting.values()) reject(down)
    waiting.clear()
    setFailed(new Error(message))
    options.onFatal(message)
  }
  const refuse = (ids: readonly number[], kind: keyof typeof nothingDone) => {
    const { code, message, after } = nothingDone[kind]
    for (const id of ids) {
      waiting.get(id)?.reject(new ApiError(code, message, { retryAfter: after }))
      waiting.delete(id)
    }
  }
  const onReply = (reply: Reply) => {
    switch (reply.kind) {
      case 'ready':
        return setReady()
      case 'outcomes':
        beforeAnswers()
        for (const [id, outcome] of reply.outcomes) {
          waiting.get(id)?.resolve(outcome)
          waiting.delete(id)
        }
        return
      case 'full':
        disk.wasFull()
        return refuse(reply.ids, reply.kind)
      case 'busy':
      case 'broken':
        options.onTrouble?.(`${nothingDone[reply.kind].message} (${reply.message})`)
        return refuse(reply.ids, reply.kind)
      case 'unknown':
        return stop(`a commit failed, its outcome is unknown: ${reply.message}`)
      default:
        return reply satisfies never
    }
  }
  let closing = false
  worker.on('message', onReply)
  worker.on('error', (error: Error) => stop(`the writer failed: ${error.message}`))
  worker.on('exit', () => closing || stop('the writer ended'))

  const write = (job: Job): Promise<Outcome> => {
    if (down) return Promise.reject(down)
    if (closing) return Promise.reject(new ApiError('UNAVAILABLE', 'The store is closed'))
    if (disk.isLow()) return Promise.reject(low())
    if (waiting.size >= options.queue)
      return Promise.reject(
        new ApiError('OVERLOADED', 'Too many writes are waiting; try again soon', {
          retryAfter: 1,
        }),
      )
    const [plan, sentBefore] = planNumber(job)
    // Requests that arrived together are sent together, and commit together.
    if (batch.length === 0) setImmediate(() => batch.length > 0 && send())
    const id = ++lastId
    // A plan travels once; later jobs name it by its number.
    batch.push({
      id,
      plan,
      job: sentBefore && job.answer ? { ...job, answer: { ...job.answer, plan: known } } : job,
    })
    return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
  }
  const close = async () => {
    if (down) return void (await worker.terminate())
    closing = true
    await ready
    // What was taken on before goes first.
    if (batch.length > 0) send()
    const ended = new Promise(resolve => worker.once('exit', resolve))
    worker.postMessage('close')
    await ended
  }
  return { write, close, ready: () => ready, waiting: () => waiting.size }
}

/** Stands for a plan that the writer has. */
const known: ReadPlan = { encoding: 'rest', roots: [] }

/** Opens a migrated SQLite file for reading and writing. */
export const openSqlite = (options: SqliteOptions): Engine => {
  const reader = connect(options.file, { readOnly: true })
  let deadline = Number.POSITIVE_INFINITY
  let ticks = 0
  // Called for each row of a scan; looking at the clock each time would cost more than the row.
  reader.database.function('duet_tick', () => {
    if ((++ticks & 0xff) === 0 && performance.now() > deadline)
      throw new ApiError('TIMEOUT', 'Reading took too long; ask for less', {
        retryAfter: 5,
      })
    return 1
  })
  const begin = { text: 'begin', values: [] }
  const commit = { text: 'commit', values: [] }
  // Requests that arrive together read from one snapshot: opening one costs three system calls, as much as the read.
  let isOpen = false
  const leave = () => {
    if (!isOpen) return
    isOpen = false
    // A read that failed on the disk has ended the snapshot by itself.
    if (reader.database.isTransaction) reader.query(commit)
  }
  const snapshot = <Result>(work: () => Work<Result>): Result => {
    if (!isOpen) {
      reader.query(begin)
      isOpen = true
      setImmediate(leave)
    }
    deadline = performance.now() + options.readTimeout
    return drive(work(), reader.query)
  }
  const disk = watchDisk({
    folder: dirname(options.file),
    min: options.minDisk ?? 0,
    onChange: reason =>
      options.onTrouble?.(
        reason === null
          ? 'there is room on the disk again: the store takes writes'
          : `the store is read-only: ${reason}`,
      ),
  })
  const writer = createWriter(options, disk, leave)
  const close = async () => {
    disk.close()
    leave()
    reader.close()
    await writer.close()
  }
  return {
    dialect,
    snapshot,
    write: writer.write,
    ready: writer.ready,
    readOnly: disk.readOnly,
    close,
  }
}
