/** The processor time of processes, where the system tells it (Linux). */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** Whether the system tells it. */
export const tellsTime = existsSync('/proc/self/task')

/** The microseconds of one of the ticks that the system counts. */
export const tick = 1e6 / Number(execFileSync('getconf', ['CLK_TCK']))

/** The processor time so far of a process and of those that it started, in microseconds: their own and the kernel's for them, in all threads. */
export function processorTime(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  const own = (Number(fields[11]) + Number(fields[12])) * tick
  return childrenOf(pid).reduce((sum, child) => sum + processorTime(child), own)
}

/** The processor time of the processes that this one started and that ended, in microseconds. */
export function endedTime() {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ')
  return (Number(fields[13]) + Number(fields[14])) * tick
}

// A thread that starts a process is named as its parent, so all are asked.
const childrenOf = pid =>
  readdirSync(`/proc/${pid}/task`).flatMap(thread =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  )
