/** A copy of the checkout, in which a test does what a document says and runs programs. */
import { execFile } from 'node:child_process'
import { cpSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ownFolder } from './folders.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))

// A test run inside a test run does nothing with the first; with the last it counts what is counted for this one.
const ofThisRun = ['NODE_TEST_CONTEXT', 'DUET_TEST_RUN', 'DUET_TEST_STORE', 'DUET_TEST_PROCESSOR']
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !ofThisRun.includes(name)),
)

/** Runs a Node program in a folder. */
export const inFolder = (folder: string, more: NodeJS.ProcessEnv, ...args: readonly string[]) =>
  new Promise<{ readonly failed: boolean; readonly stdout: string; readonly stderr: string }>(
    resolve => {
      const options = { cwd: folder, env: { ...env, ...more }, maxBuffer: 1e8 }
      const child = execFile(process.execPath, args, options, (error, stdout, stderr) => {
        process.off('exit', kill)
        resolve({ failed: error !== null, stdout, stderr })
      })
      const kill = () => child.kill()
      process.on('exit', kill)
    },
  )

/** The folder of a copy, which is gone when the process ends. */
export const copyOfCheckout = (): string => {
  const folder = ownFolder('example')
  // The bench has packages of its own, which are many thousand files.
  const skipped = ['.git', 'data'].map(name => join(root, name))
  const filter = (path: string) => basename(path) !== 'node_modules' && !skipped.includes(path)
  cpSync(root, folder, { recursive: true, filter })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}
