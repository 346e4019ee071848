/** The single writer: a thread with the only writing connection, which commits the jobs of a moment together. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { connect } from '#engines/sqlite/connection.ts'
import { dialect } from '#engines/sqlite/dialect.ts'
import type { Batch, Reply, Sent, WriterSetup } from '#engines/sqlite/protocol.ts'
import { type Prepared, prepare } from '#read/read.ts'
import { drive } from '#sql/engine.ts'
import type { Outcome } from '#write/job.ts'
import { perform } from '#write/perform.ts'

const port = parentPort
if (!port) throw new Error('the writer runs as a worker thread')
const { file, sync, digits, limits } = workerData as WriterSetup
const connection = connect(file, { sync })
const plans = new Map<number, Prepared>()
const begin = { text: 'begin immediate', values: [] }
const commit = { text: 'commit', values: [] }
const rollback = { text: 'rollback', values: [] }
const savepoint = { text: 'savepoint job', values: [] }
const release = { text: 'release job', values: [] }
const undo = { text: 'rollback to job', values: [] }

/** The largest group: more wait for the next commit. */
const groupSize = 500

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
  message: error instanceof Error ? `${error.message}\n${error.stack}` : String(error),
})

/** One job behind a savepoint: whatever comes of it, its neighbours do not notice. */
const runJob = (sent: Sent): Outcome => {
  connection.query(savepoint)
  let outcome: Outcome
  try {
    outcome = drive(perform(sent.job, preparedOf(sent)), connection.query)
  } catch (error) {
    // The store itself is in trouble: that is for the whole group to know.
    if (isStorageFault(error)) throw error
    outcome = failure(error)
  }
  if (outcome.kind !== 'done') connection.query(undo)
  connection.query(release)
  return outcome
}

const errorCode = (error: unknown): number =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0

const FULL = 13
const isStorageFault = (error: unknown): boolean =>
  [7, 8, 10, 11, FULL, 14, 26].includes(errorCode(error))

/** The group in one transaction. After a failed commit nobody knows what is on the disk, unless there was no room. */
const runGroup = (group: readonly Sent[]): Reply => {
  try {
    connection.query(begin)
    const outcomes = group.map(sent => [sent.id, runJob(sent)] as const)
    connection.query(commit)
    return { kind: 'outcomes', outcomes }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    try {
      connection.query(rollback)
    } catch {
      // SQLite has rolled back by itself already.
    }
    const ids = group.map(sent => sent.id)
    return { kind: errorCode(error) === FULL ? 'full' : 'unknown', ids, message }
  }
}

const drain = (first: Batch): void => {
  const queue: Sent[] = []
  const take = (batch: Batch) => {
    if (batch.forget) plans.clear()
    queue.push(...batch.jobs)
  }
  take(first)
  for (;;) {
    while (queue.length < groupSize) {
      const next = receiveMessageOnPort(port)
      if (!next) break
      take(next.message as Batch)
    }
    if (queue.length === 0) return
    const reply = runGroup(queue.splice(0, groupSize))
    port.postMessage(reply)
    if (reply.kind === 'unknown') return
  }
}

port.on('message', (batch: Batch | 'close') => {
  if (batch !== 'close') return drain(batch)
  connection.run('pragma optimize')
  connection.run('pragma wal_checkpoint(truncate)')
  connection.close()
  port.close()
})
port.postMessage({ kind: 'ready' } satisfies Reply)
