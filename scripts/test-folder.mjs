// Gives a whole test run one temporary folder, so that nothing is left however the run or a test of it ends.
import { existsSync } from 'node:fs'

const guard = new URL('../test/support/guard.ts', import.meta.url)

/** Makes it that of this process and those that it starts; gives the function that removes it. */
export async function ownFolder() {
  if (!existsSync(guard)) return async () => {} // a copy without test/
  const { guarded } = await import(guard.href)
  const { folder, end } = guarded('run', 'TERM')
  process.env.TMPDIR = folder
  return end
}
