/** A thread for slow reads, with a connection of its own: they hold up nobody but each other. */
import { parentPort, workerData } from 'node:worker_threads'
import { tookTooLong } from '#engines/shared/slow-lane.ts'
import { connect, endRead, lookWhileReading } from '#engines/sqlite/connection.ts'
import { dialect } from '#engines/sqlite/dialect.ts'
import type { ReaderSetup, Task, TaskReply } from '#engines/sqlite/protocol.ts'
import { ApiError, type ErrorCode } from '#errors.ts'
import { type Answer, type Prepared, prepare } from '#read/prepare.ts'
import { drive, type Query, queryWith, type Rows } from '#sql/engine.ts'

const port = parentPort
if (!port) throw new Error('the reader runs as a worker thread')
const { file, digits, limits, readTimeout, stopped } = workerData as ReaderSetup
const connection = connect(file, {
  readOnly: true,
  onDamage: message => port.postMessage({ kind: 'damaged', message } satisfies TaskReply),
})
const plans = new Map<number, Prepared>()
const begin = queryWith('begin')

let task = 0
let deadline = Number.POSITIVE_INFINITY

/** Throws where the read shall go on no longer: its client is gone, or its time is up. */
const look = (): void => {
  if (Atomics.load(stopped, 0) === task) throw new ApiError('CLIENT_CLOSED_REQUEST')
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

const preparedFor = ({ plan, made, dropPlans }: Task & { kind: 'read' }): Prepared => {
  if (dropPlans) plans.clear()
  const known = plans.get(plan)
  if (known) return known
  if (!made) throw new Error(`the reader has no plan ${plan}`)
  const prepared = prepare(made, dialect, digits, limits, { interruptible: true })
  plans.set(plan, prepared)
  return prepared
}

const read = (asked: Task & { kind: 'read' }): readonly Answer[] => {
  const { script, answers } = preparedFor(asked)
  beginSnapshot()
  try {
    return answers(drive(script(asked.slots), ask), asked.slots)
  } finally {
    endRead(connection)
  }
}

const query = (query: Query): Rows => {
  if (!connection.database.isTransaction) beginSnapshot()
  return ask(query)
}

const perform = (asked: Task): readonly Answer[] | Rows => {
  switch (asked.kind) {
    case 'read':
      return read(asked)
    case 'query':
      return query(asked.query)
    case 'end':
      endRead(connection)
      return []
    default:
      return asked satisfies never
  }
}

const failure = (error: unknown): TaskReply => {
  if (error instanceof ApiError) {
    const { code, message, retryAfter } = error
    return { kind: 'refused', code: code as ErrorCode, message, retryAfter }
  }
  const message = error instanceof Error ? `${error.message}\n${error.stack}` : String(error)
  return { kind: 'failed', message }
}

const reply = (message: TaskReply): void => port.postMessage(message)

port.on('message', (asked: Task | 'close') => {
  if (asked === 'close') {
    connection.close()
    port.close()
    return
  }
  task = asked.number
  try {
    reply({ kind: 'done', result: perform(asked) })
  } catch (error) {
    reply(failure(error))
  }
})
reply({ kind: 'ready' })
