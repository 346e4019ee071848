/** The single writer: a thread with the only writing connection, which commits jobs in groups: one flush to the disk holds for all of a group commit. */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { createFairLine } from '#base/fair-line.ts'
import { tookTooLong } from '#engines/shared/slow-reads.ts'
import { countCommits, type Watcher } from '#engines/sqlite/changes.ts'
import {
  BUSY,
  connect,
  errorCode,
  lookWhileReading,
  type SqliteConnection,
} from '#engines/sqlite/connection.ts'
import { dialect } from '#engines/sqlite/dialect.ts'
import { goneOf } from '#engines/sqlite/file.ts'
import { boundLog } from '#engines/sqlite/log.ts'
import {
  createUnpacker,
  packOutcome,
  type SentJob,
  type SentOutcome,
  sharedNow,
  slowFlush,
  type WriterReply,
  type WriterSetup,
  type WriterTask,
} from '#engines/sqlite/protocol.ts'
import { machineErrors } from '#errors.ts'
import type { ReadPlan } from '#read/plan.ts'
import { type Prepared, prepare } from '#read/prepare.ts'
import { drive, queryWith } from '#sql/engine.ts'
import type { Job, Outcome } from '#write/job.ts'
import { perform } from '#write/perform.ts'

if (!parentPort) throw new Error('the writer runs as a worker thread')
const { served, sync, digits, limits, readTimeout, sharedLog, versions, hasReader } =
  workerData as WriterSetup
const { file } = served

type Client = { readonly port: MessagePort; readonly unpack: (sent: SentJob) => Job }
const owner: Client = { port: parentPort, unpack: createUnpacker() }
const clients = [owner]
const reply = (message: WriterReply, { port }: Client = owner): void => port.postMessage(message)
const watchers = new Set<Watcher>(hasReader ? [{ number: 0 }] : [])
const connection: SqliteConnection = connect(file, {
  sync,
  sharesLog: sharedLog !== undefined,
  takesResponses: true,
  onDamage: message => reply({ kind: 'damaged', message }),
  ...(versions && { onWrite: (table, replaces) => counted?.wrote(table, replaces) }),
})
const counted = versions && countCommits(versions, connection, watchers)
const checkLog =
  sharedLog === undefined
    ? () => {}
    : boundLog(connection, file, sharedLog, message => reply({ kind: 'problem', message }))
const answers = new WeakMap<ReadPlan, Prepared>()
const begin = queryWith('begin immediate')
const commit = queryWith('commit')
const rollback = queryWith('rollback')
const savepoint = queryWith('savepoint job')
const release = queryWith('release job')
const undo = queryWith('rollback to job')

/**
 * The jobs in a group: a few, as all are answered at once and reads wait meanwhile, but no less than take as long as the last
 * flush did so many times, so that a slow disk does not have more than a fifth of the time. Where even a few take long, in milliseconds
 * of the processor, those that are done are answered first.
 */
const groupSize = { least: 20, long: 100, flushes: 4, most: 500 }
let flush = 0

/**
 * Callers who were just answered mostly write again at once: after a slow flush the next group waits for them for a part of its time,
 * but for no more than so many milliseconds since the answers, and not if they were only a few.
 */
const gathering = { few: 8, part: 1 / 10, most: 50 }
let lastGroup = 0
let repliedAt = Number.NEGATIVE_INFINITY

/** The result codes of a store that fails: they end the whole group. */
const FULL = 13
const storageFaults = [BUSY, 6, 7, 8, 10, 11, FULL, 14, 26]

/**
 * Why nothing was done: another program has locked the file, or the disk is full. The store can still be used.
 * A failed commit is undone as well: its last frame, which would make it valid, is not whole in the log.
 */
const nothingDone = { [BUSY]: 'busy', [FULL]: 'full' } as const

/** When the present job must be done with the read that answers it. */
let deadline = Number.POSITIVE_INFINITY

/** How long a job may compare rows with a caller's condition and read its answer, which all other writes wait for, in milliseconds of the processor: five times what an answer of 10,000 objects takes. */
const longestHeld = 250
const processorTime = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
/** The processor's time at the first look of the present job. */
let heldSince: number | undefined

lookWhileReading(connection, () => {
  if (performance.now() > deadline) throw tookTooLong()
  heldSince ??= processorTime()
  if (processorTime() - heldSince > longestHeld) throw tookTooLong()
})

/** So many rows are passed in a few dozen milliseconds; looking at the clock meanwhile would take longer than the rows. */
const uncheckedRows = 100_000

/** Prepares the read of an answer: one that may pass more rows looks at the clock. */
const prepareAnswer = (plan: ReadPlan): Prepared => {
  const quick = prepare(plan, dialect, digits, { ...limits, quickRows: uncheckedRows })
  let slow: Prepared | undefined
  const script: Prepared['script'] = parameters => {
    if (quick.lane(parameters) === 'quick') return quick.script(parameters)
    const checked = { ...dialect, checksWithin: true }
    slow ??= prepare(plan, checked, digits, limits, { interruptible: true })
    deadline = performance.now() + readTimeout
    return slow.script(parameters)
  }
  return { ...quick, script }
}

type QueuedJob = {
  readonly id: number
  readonly due: number
  readonly job: Job
  readonly prepared: Prepared | undefined
  readonly client: Client
}

/** The jobs that wait. Their callers take turns, as each may take as long as `longestHeld`. */
type Queue = ReturnType<typeof createFairLine<QueuedJob>>

/** Runs one job in a savepoint, so that its failure does not affect the others of its group. */
const runJob = ({ job, prepared }: QueuedJob): Outcome => {
  connection.query(savepoint)
  deadline = Number.POSITIVE_INFINITY
  heldSince = undefined
  let outcome: Outcome
  try {
    outcome = drive(perform(job, prepared), connection.query)
  } catch (error) {
    if (storageFaults.includes(errorCode(error))) throw error
    const message = error instanceof Error ? `${error.message}\n${error.stack}` : String(error)
    outcome = { kind: 'failed', ...machineErrors.INTERNAL, message }
  }
  if (outcome.kind !== 'done') connection.query(undo)
  counted?.endJob(outcome.kind === 'done')
  connection.query(release)
  return outcome
}

/** The outcome of a job whose turn came too late: its caller was promised an answer by then. */
const tooLate: Outcome = {
  kind: 'failed',
  ...machineErrors.OVERLOADED,
  message: 'Other writes took all the time: nothing was written, try again soon',
}

/** What became of a group: all its jobs, and their outcomes unless nothing was done or nobody knows. */
type GroupResult = {
  readonly jobs: readonly QueuedJob[]
  readonly kind: Exclude<WriterReply['kind'], 'ready' | 'look' | 'problem' | 'damaged'>
  readonly outcomes: readonly Outcome[]
  readonly message: string
}

/** Runs jobs off the queue, until the group is large enough, in one transaction. A failure before the commit is undone; after one in the commit the outcome may be unknown. */
const runGroup = (queue: Queue): GroupResult => {
  const jobs: QueuedJob[] = []
  const outcomes: Outcome[] = []
  let isCommitting = false
  try {
    connection.query(begin)
    counted?.begin()
    const begun = performance.now()
    const worked = processorTime()
    while (jobs.length < groupSize.most) {
      const took = performance.now() - begun
      // To ask for the processor's time costs as much as a statement.
      const isLong = took >= groupSize.long && processorTime() - worked >= groupSize.long
      const isFew = jobs.length < groupSize.least && !isLong
      if (!isFew && took >= groupSize.flushes * flush) break
      const next = queue.next()
      if (!next) break
      jobs.push(next)
      outcomes.push(sharedNow() > next.due ? tooLate : runJob(next))
    }
    isCommitting = true
    counted?.committing()
    const started = performance.now()
    connection.query(commit)
    flush = performance.now() - started
    counted?.settled()
    // What was written to a file that nobody will open again must not be acknowledged.
    const gone = goneOf(served)
    if (gone !== undefined) return { kind: 'gone', jobs, outcomes, message: gone }
    return { kind: 'outcomes', jobs, outcomes, message: '' }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    // Those that would have been next have no better chance, and would wait as long again.
    for (let next = queue.next(); next; next = queue.next()) jobs.push(next)
    try {
      // SQLite may have ended the transaction by itself.
      if (connection.database.isTransaction) connection.query(rollback)
    } catch {
      // Whether it is open still is what counts.
    }
    const known = nothingDone[errorCode(error) as keyof typeof nothingDone]
    const isUnknown = connection.database.isTransaction || (isCommitting && !known)
    if (isCommitting && !isUnknown) counted?.settled()
    return { kind: isUnknown ? 'unknown' : (known ?? 'broken'), jobs, outcomes, message }
  }
}

const tell = ({ kind, jobs, outcomes, message }: GroupResult): void => {
  let committed = jobs.length
  for (const client of clients) {
    if (kind !== 'outcomes') {
      const ids = jobs.filter(job => job.client === client).map(({ id }) => id)
      if (ids.length > 0 || client === owner) reply({ kind, ids, message }, client)
      continue
    }
    const own: SentOutcome[] = []
    for (const [at, job] of jobs.entries())
      if (job.client === client) own.push(packOutcome(job.id, outcomes[at] as Outcome))
    if (own.length === 0) continue
    reply({ kind, outcomes: own, milliseconds: flush, committed }, client)
    committed = 0
  }
}

const still = new Int32Array(new SharedArrayBuffer(4))

/** After an unknown outcome, or if the file or its log is gone, nothing more is written, whatever still arrives. */
let hasStopped = false

/** How often the files of the store are looked at while nothing is written, in milliseconds. */
const betweenLooks = 250

const watch = setInterval(() => {
  const gone = hasStopped ? undefined : goneOf(served)
  if (gone === undefined) return
  hasStopped = true
  reply({ kind: 'gone', ids: [], message: gone })
}, betweenLooks)

/** Runs all waiting jobs in groups, then ends if the last message was `close`. */
const drain = (sender: Client, first: WriterTask): void => {
  if (hasStopped) return
  const queue: Queue = createFairLine()
  let isLast = false
  const take = (client: Client, message: WriterTask) => {
    if (message === 'close') {
      isLast = true
      return
    }
    if ('port' in message) return addClient(message)
    for (const sent of message) {
      const job = client.unpack(sent)
      const { plan } = job.answer ?? {}
      const prepared = plan && answers.getOrInsertComputed(plan, prepareAnswer)
      queue.add(job.caller ?? '', { id: sent[0], due: sent[1], job, prepared, client })
    }
  }
  const takeSent = () => {
    for (let hasMore = true; hasMore; ) {
      hasMore = false
      for (const client of clients) {
        const next = receiveMessageOnPort(client.port)
        if (next) take(client, next.message as WriterTask)
        hasMore ||= next !== undefined
      }
    }
  }
  take(sender, first)
  for (;;) {
    takeSent()
    if (queue.size() === 0) break
    // Callers who were just answered mostly write again: the next group waits for them.
    const mayWait = !isLast && queue.size() < groupSize.most && lastGroup > gathering.few
    const since = performance.now() - repliedAt
    const left = Math.min(flush * gathering.part, gathering.most) - since
    if (mayWait && flush >= slowFlush && left > 0) {
      Atomics.wait(still, 0, 0, left)
      takeSent()
    }
    const result = runGroup(queue)
    tell(result)
    lastGroup = result.kind === 'outcomes' ? result.outcomes.length : 0
    repliedAt = performance.now()
    if (result.kind === 'unknown' || result.kind === 'gone') {
      hasStopped = true
      return
    }
    checkLog()
  }
  if (!isLast) return
  clearInterval(watch)
  counted?.close()
  // Empties the log unless another program does. If that fails on a full disk nothing is lost: the next start reads the log.
  const last = sharedLog === undefined ? ['pragma wal_checkpoint(truncate)'] : []
  for (const text of ['pragma optimize', ...last])
    try {
      connection.run(text)
    } catch {}
  connection.close()
  for (const { port } of clients) port.close()
}

/** Takes jobs of a further thread, which reads too, until it ends. */
const addClient = ({ port, number }: Extract<WriterTask, { port: unknown }>): void => {
  const client: Client = { port, unpack: createUnpacker() }
  const watcher: Watcher = { number, remind: () => reply({ kind: 'look' }, client) }
  clients.push(client)
  watchers.add(watcher)
  port.on('message', (task: WriterTask) => drain(client, task))
  port.on('close', () => {
    clients.splice(clients.indexOf(client), 1)
    watchers.delete(watcher)
  })
  reply({ kind: 'ready' }, client)
}

parentPort.on('message', (task: WriterTask) => drain(owner, task))
reply({ kind: 'ready' })
