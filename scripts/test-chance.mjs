// Loaded into each test file's process: what fast-check draws is the same in each run, as all that is drawn by chance is (test/support/rounds.ts).
import { existsSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

// A copy without packages draws nothing.
if (isMainThread && existsSync(new URL('../node_modules/fast-check', import.meta.url))) {
  const { configureGlobal } = await import('fast-check')
  configureGlobal({ seed: Number(process.env.DUET_SEED ?? 7) })
}
