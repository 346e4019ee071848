// Gives a whole test run one temporary folder, so that nothing is left however the run or a test of it ends.
import { chmodSync, chownSync, existsSync } from 'node:fs'

const guard = new URL('../test/support/guard.ts', import.meta.url)

/** Makes it that of this process and those that it starts; gives the function that removes it. */
export async function ownFolder() {
  if (!existsSync(guard)) return async () => {} // a copy without test/
  const { guarded } = await import(guard.href)
  const { folder, end } = guarded('run', 'TERM')
  // Processes of a browser give up the rights by which root writes anywhere: the folder is root's own, and users of servers pass through it.
  if (process.getuid?.() === 0) {
    chownSync(folder, 0, 0)
    chmodSync(folder, 0o711)
  }
  process.env.TMPDIR = folder
  return end
}
