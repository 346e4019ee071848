/** The slow lane of a SQLite file: reads in threads, a few at a time. */
import { availableParallelism } from 'node:os'
import { createSlowLane, usualWaiting } from '#engines/slow-lane.ts'
import type { SqliteOptions } from '#engines/sqlite/options.ts'
import { type ReaderThread, startReaderThread } from '#engines/sqlite/reader-threads.ts'
import type { PlanReader } from '#read/read.ts'
import { driveBy } from '#sql/engine.ts'

type SlowReader = Required<Pick<PlanReader, 'slowly' | 'elsewhere'>> & {
  readonly close: () => Promise<void>
}

/** One for each core beside that of the main thread. */
const spareCores = (): number => Math.max(1, availableParallelism() - 1)

/** Opens the slow lane; its threads are started when reads need them, and again where one ended. `onDamage` is called when a read meets a damaged page. */
export const openSlowReader = (
  options: SqliteOptions,
  onDamage: (message: string) => void,
): SlowReader => {
  const { file, digits, limits, readTimeout, onProblem, readers = spareCores() } = options
  const setup = { file, digits, limits, readTimeout, onProblem, onDamage }
  const lane = createSlowLane({ slots: readers, waiting: usualWaiting, patience: readTimeout })
  const all = new Set<ReaderThread>()
  const idle: ReaderThread[] = []
  const take = (): ReaderThread => {
    const known = idle.pop()
    if (known?.isAlive()) return known
    if (known) {
      all.delete(known)
      return take()
    }
    const started = startReaderThread(setup)
    all.add(started)
    return started
  }
  const use = async <Result>(work: (thread: ReaderThread) => Promise<Result>): Promise<Result> => {
    const thread = take()
    try {
      return await work(thread)
    } finally {
      idle.push(thread)
    }
  }
  return {
    elsewhere: (plan, slots, asked) =>
      lane.run(
        onStop =>
          use(thread => {
            const answers = thread.read(plan, slots)
            onStop(thread.stop)
            return answers
          }),
        asked,
      ),
    slowly: (begin, asked = {}) =>
      lane.run(
        onStop =>
          use(async thread => {
            onStop(thread.stop)
            try {
              return await driveBy(begin(), thread.query)
            } finally {
              await thread.end()
            }
          }),
        asked,
      ),
    close: async () => {
      await Promise.all([...all].map(thread => thread.close()))
    },
  }
}
