/** The processes that a process has started. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The ids of those that live. */
export const childrenOf = async (parent: number | undefined): Promise<readonly number[]> => {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,stat=,args='])
  return stdout.split('\n').flatMap(line => {
    const [pid, ppid, state = '', ...args] = line.trim().split(/\s+/)
    // One that has ended and was not yet asked why is still listed; `ps` is our own child.
    const lives = !state.startsWith('Z') && !args.join(' ').startsWith('ps ')
    return Number(ppid) === parent && lives ? [Number(pid)] : []
  })
}

/** Whether a process lives. */
export const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
