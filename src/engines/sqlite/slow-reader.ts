/** The slow lane of a SQLite file: reads in threads, a few at a time. */
import { availableParallelism } from 'node:os'
import { createSlowLane, usualWaiting } from '#engines/shared/slow-lane.ts'
import type { SqliteOptions } from '#engines/sqlite/options.ts'
import { type ReaderThread, startReaderThread } from '#engines/sqlite/reader-threads.ts'
import type { PlanReader } from '#read/read.ts'
import { driveBy, type ReadOptions } from '#sql/engine.ts'

type SlowReader = Required<Pick<PlanReader, 'slowly' | 'runInThread'>> & {
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
  const lane = createSlowLane({
    concurrency: readers,
    waiting: usualWaiting,
    longestWait: readTimeout,
  })
  const all = new Set<ReaderThread>()
  const idle: ReaderThread[] = []
  const take = (): ReaderThread => {
    for (let known = idle.pop(); known; known = idle.pop()) {
      if (known.isAlive()) return known
      all.delete(known)
    }
    const started = startReaderThread(setup)
    all.add(started)
    return started
  }
  const inThread = <Result>(asked: ReadOptions, work: (thread: ReaderThread) => Promise<Result>) =>
    lane.run(async gone => {
      const thread = take()
      gone.addEventListener('abort', thread.stop)
      try {
        return await work(thread)
      } finally {
        idle.push(thread)
      }
    }, asked)
  return {
    runInThread: (plan, slots, asked) => inThread(asked, thread => thread.read(plan, slots)),
    slowly: (begin, asked = {}) =>
      inThread(asked, async thread => {
        try {
          return await driveBy(begin(), thread.query)
        } finally {
          await thread.end()
        }
      }),
    close: async () => {
      await Promise.all([...all].map(thread => thread.close()))
    },
  }
}
