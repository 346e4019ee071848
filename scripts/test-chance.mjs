// Loaded into each test file's process: what fast-check draws is the same in each run, as all that is drawn by chance is (test/support/rounds.ts).
import { isMainThread } from 'node:worker_threads'

if (isMainThread) {
  const { configureGlobal } = await import('fast-check')
  configureGlobal({ seed: Number(process.env.DUET_SEED ?? 7) })
}
