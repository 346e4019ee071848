/** Threads of the engine, which begin in thread.ts. */
import { Worker } from 'node:worker_threads'

/** Starts a thread that runs the module at that address, which reads `workerData`. */
export const startThread = (module: URL, workerData: unknown): Worker =>
  new Worker(new URL('./thread.ts', import.meta.url), { argv: [module.href], workerData })
