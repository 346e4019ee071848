/** A thread for slow reads, with a connection of its own: they hold up nobody but each other. */
import { parentPort, workerData } from 'node:worker_threads'
import { tookTooLong } from '#engines/shared/slow-reads.ts'
import { connect, endRead, lookWhileReading } from '#engines/sqlite/connection.ts'
import { dialect } from '#engines/sqlite/dialect.ts'
import type { ReaderReply, ReaderSetup, ReaderTask } from '#engines/sqlite/protocol.ts'
import { ApiError, type ErrorCode } from '#errors.ts'
import { type Answer, type Prepared, prepare } from '#read/prepare.ts'
import { drive, type Query, queryWith, type Rows } from '#sql/engine.ts'

const port = parentPort
if (!port) throw new Error('the reader runs as a worker thread')
const { file, digits, limits, readTimeout, stopped } = workerData as ReaderSetup
const reply = (message: ReaderReply): void => port.postMessage(message)
const connection = connect(file, {
  readOnly: true,
  onDamage: message => reply({ kind: 'damaged', message }),
})
const plans = new Map<number, Prepared>()
const begin = queryWith('begin')

let number = 0
let deadline = Number.POSITIVE_INFINITY

/** Throws if the read shall go on no longer: its client is gone, or its time is up. */
const look = (): void => {
  if (Atomics.load(stopped, 0) === number) throw new ApiError('CLIENT_CLOSED_REQUEST')
  if (performance.now() > deadline) throw tookTooLong()
}

lookWhileReading(connection, look)

const ask = (query: Query): Rows => {
  look()
  return connection.query(query)
}

/** Opens a snapshot, which shows all that was committed until now. */
const beginSnapshot = (): void => {
  connection.query(begin)
  deadline = performance.now() + readTimeout
}

const perform = (task: ReaderTask): readonly Answer[] | Rows => {
  if (task.kind === 'query') {
    if (!connection.database.isTransaction) beginSnapshot()
    return ask(task.query)
  }
  if (task.kind === 'end') {
    endRead(connection)
    return []
  }
  const { plan, made, dropPlans, parameters } = task
  if (dropPlans) plans.clear()
  if (made) plans.set(plan, prepare(made, dialect, digits, limits, { interruptible: true }))
  const prepared = plans.get(plan)
  if (!prepared) throw new Error(`the reader has no plan ${plan}`)
  beginSnapshot()
  try {
    return prepared.answers(drive(prepared.script(parameters), ask), parameters)
  } finally {
    endRead(connection)
  }
}

port.on('message', (task: ReaderTask | 'close') => {
  if (task === 'close') {
    connection.close()
    port.close()
    return
  }
  number = task.number
  try {
    reply({ kind: 'done', result: perform(task) })
  } catch (error) {
    if (error instanceof ApiError) {
      const { code, message, retryAfter } = error
      reply({ kind: 'refused', code: code as ErrorCode, message, retryAfter })
    } else {
      const message = error instanceof Error ? `${error.message}\n${error.stack}` : String(error)
      reply({ kind: 'failed', message })
    }
  }
})
reply({ kind: 'ready' })
