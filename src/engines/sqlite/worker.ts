/** The single writer: a thread with the only writing connection, which commits the jobs of a moment together. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { BUSY, connect, errorCode } from '#engines/sqlite/connection.ts'
import { dialect } from '#engines/sqlite/dialect.ts'
import type { Batch, Reply, Sent, WriterSetup } from '#engines/sqlite/protocol.ts'
import { type Prepared, prepare } from '#read/read.ts'
import { drive, queryWith } from '#sql/engine.ts'
import type { Outcome } from '#write/job.ts'
import { perform } from '#write/perform.ts'

const port = parentPort
if (!port) throw new Error('the writer runs as a worker thread')
const { file, sync, digits, limits } = workerData as WriterSetup
const connection = connect(file, { sync })
const plans = new Map<number, Prepared>()
const begin = queryWith('begin immediate')
const commit = queryWith('commit')
const rollback = queryWith('rollback')
const savepoint = queryWith('savepoint job')
const release = queryWith('release job')
const undo = queryWith('rollback to job')

/** The largest group: more wait for the next commit. */
const groupSize = 500

/** A job with the read that answers it. */
type Ready = { readonly sent: Sent; readonly prepared: Prepared | undefined }

const preparedOf = (sent: Sent): Prepared | undefined => {
  if (sent.plan === null) return undefined
  const known = plans.get(sent.plan)
  if (known || !sent.job.answer) return known
  const made = prepare(sent.job.answer.plan, dialect, digits, limits)
  plans.set(sent.plan, made)
  return made
}

const failure = (error: unknown): Outcome => ({
  kind: 'failed',
  code: 'INTERNAL',
  status: 500,
  message: error instanceof Error ? `${error.message}\n${error.stack}` : String(error),
})

/** One job behind a savepoint: whatever comes of it, its neighbours do not notice. */
const runJob = ({ sent, prepared }: Ready): Outcome => {
  connection.query(savepoint)
  let outcome: Outcome
  try {
    outcome = drive(perform(sent.job, prepared), connection.query)
  } catch (error) {
    // The store itself is in trouble: that is for the whole group to know.
    if (isStorageFault(error)) throw error
    outcome = failure(error)
  }
  if (outcome.kind !== 'done') connection.query(undo)
  connection.query(release)
  return outcome
}

const FULL = 13
const isStorageFault = (error: unknown): boolean =>
  [BUSY, 6, 7, 8, 10, 11, FULL, 14, 26].includes(errorCode(error))

/**
 * Why nothing was done: another program holds the file, or the disk has no room. Neither is the store's end.
 * That holds for a commit too: the frame that would make it count is then not whole in the log.
 */
const nothingDone = { [BUSY]: 'busy', [FULL]: 'full' } as const

/** Ends the transaction, which SQLite may have done by itself; false where it does not let go of it. */
const isUndone = (): boolean => {
  try {
    if (connection.database.isTransaction) connection.query(rollback)
  } catch {
    // What counts is whether it is over.
  }
  return !connection.database.isTransaction
}

/** The group in one transaction. What fails before the commit is undone; after it nobody knows what is on the disk. */
const runGroup = (group: readonly Ready[]): Reply => {
  let isCommitting = false
  try {
    connection.query(begin)
    const outcomes = group.map(ready => [ready.sent.id, runJob(ready)] as const)
    isCommitting = true
    connection.query(commit)
    return { kind: 'outcomes', outcomes }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const ids = group.map(({ sent }) => sent.id)
    const known = nothingDone[errorCode(error) as keyof typeof nothingDone]
    const kind = known ?? (isCommitting ? 'unknown' : 'broken')
    return { kind: isUndone() ? kind : 'unknown', ids, message }
  }
}

/** Tidies up and ends. On a full disk tidying fails and nothing is lost: the next start finds the log. */
const end = (): void => {
  for (const text of ['pragma optimize', 'pragma wal_checkpoint(truncate)'])
    try {
      connection.run(text)
    } catch {}
  connection.close()
  port.close()
}

/** After an unknown outcome nothing more is written, whatever is still on its way here. */
let hasStopped = false

/** Runs all that waits, in groups; then ends where that is asked for. */
const drain = (first: Batch | 'close'): void => {
  if (hasStopped) return
  const queue: Ready[] = []
  let isLast = false
  const take = (message: Batch | 'close') => {
    if (message === 'close') {
      isLast = true
      return
    }
    if (message.forget) plans.clear()
    // Numbers mean the plans of this moment: a later batch of the same group may forget them.
    for (const sent of message.jobs) queue.push({ sent, prepared: preparedOf(sent) })
  }
  take(first)
  for (;;) {
    while (queue.length < groupSize) {
      const next = receiveMessageOnPort(port)
      if (!next) break
      take(next.message as Batch | 'close')
    }
    if (queue.length === 0) break
    const reply = runGroup(queue.splice(0, groupSize))
    port.postMessage(reply)
    if (reply.kind === 'unknown') {
      hasStopped = true
      return
    }
  }
  if (isLast) end()
}

port.on('message', drain)
port.postMessage({ kind: 'ready' } satisfies Reply)
