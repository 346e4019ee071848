/** Threads of the service beside those that serve: they begin where all are less urgent. */
import { Worker, type WorkerOptions } from 'node:worker_threads'

const bootstrap = new URL('./thread.ts', import.meta.url)

/**
 * Starts a thread that runs the module at that address, which reads `workerData`. What the operator has the process load before the program, such as
 * OpenTelemetry, sees nothing of what a thread does, and would take the memory and the time of a second program there.
 */
export const startThread = (
  module: URL,
  workerData: unknown,
  options?: Pick<WorkerOptions, 'execArgv' | 'env' | 'resourceLimits' | 'stdout' | 'stderr'>,
): Worker => {
  const { NODE_OPTIONS: _, ...env } = process.env
  return new Worker(bootstrap, { argv: [module.href], execArgv: [], env, workerData, ...options })
}
