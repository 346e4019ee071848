/** Jobs for a writer, and worlds with access to theirs. */
import { after } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { connect } from '#engines/sqlite/connection.ts'
import type { SqlValue } from '#sql/sql.ts'
import { createWorld, type World, type WorldOptions } from '#test/market.ts'
import type { Job, Step } from '#write/job.ts'

/** What makes worlds with access to their writer threads, and the messages of their engines when these had to stop; they end with the tests of the file. */
export const writerWorlds = () => {
  const worlds: World[] = []
  after(() => Promise.all(worlds.map(world => world.close())))
  const worldWithWriter = async (options: WorldOptions = {}) => {
    let writer: Worker | undefined
    const seen = (worker: Worker) => {
      writer = worker
    }
    process.once('worker', seen)
    const fatal: string[] = []
    const world = await createWorld({
      ...options,
      engine: { ...options.engine, onFatal: message => void fatal.push(message) },
    })
    worlds.push(world)
    return { world, writer: writer as unknown as Worker, fatal }
  }
  /** Leaves a world out of those that are closed in the end. */
  const release = (world: World) => void worlds.splice(worlds.indexOf(world), 1)
  return { worldWithWriter, release }
}

/** A step with this statement. */
export const step = (
  text: string,
  values: readonly SqlValue[] = [],
  expect: Step['expect'] = 'any',
): Step => ({
  statement: { text, values },
  expect,
})

/** A job of these steps, which answers nothing. */
export const job = (...steps: readonly Step[]): Job => ({ steps, status: 200, answer: null })

/** A step that makes a user with this address. */
export const insertUser = (key: string) =>
  step(
    "insert into users (name, email, created_at, email_key) values ('A', ?1, 1, ?1) returning id",
    [key],
    'row',
  )

/** The addresses of the users in a file. */
export const keysIn = (file: string): readonly string[] => {
  const connection = connect(file)
  const rows = connection.query({ text: 'select email_key from users order by 1', values: [] })
  connection.close()
  return rows.map(([key]) => String(key))
}
