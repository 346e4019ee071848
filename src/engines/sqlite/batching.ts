/** Sends jobs to the writer thread, those of one turn of the event loop together. */
import { createPacker } from '#engines/sqlite/packing.ts'
import type { Batch, Sent } from '#engines/sqlite/protocol.ts'
import type { Job } from '#write/job.ts'

export type Batcher = {
  readonly add: (id: number, job: Job) => void
  /** Sends the jobs that were added. */
  readonly flush: () => void
}

/** A batcher without jobs, which sends its batches with `send`. */
export const createBatcher = (send: (batch: Batch) => void): Batcher => {
  const pack = createPacker()
  let jobs: Sent[] = []
  const flush = () => {
    if (jobs.length === 0) return
    const batch = jobs
    jobs = []
    send(batch)
  }
  const add = (id: number, job: Job) => {
    // Requests that arrived together are sent together, and commit together.
    if (jobs.length === 0) setImmediate(flush)
    jobs.push(pack(id, job))
  }
  return { add, flush }
}
