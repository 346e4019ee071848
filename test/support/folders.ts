/** Folders of tests, which are gone when the process ends. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const made: string[] = []
// One listener for all: of more than ten Node warns that they may be a leak.
process.on('exit', () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
})

/** A new folder with this word in its name, which is gone when the process ends. */
export const ownFolder = (name: string): string => {
  const folder = mkdtempSync(join(tmpdir(), `duet-${name}-`))
  made.push(folder)
  return folder
}
