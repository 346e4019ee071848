/** The processor time of processes, where the system tells it (Linux). */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The microseconds of one of the ticks that the system counts. */
const tick = 1e6 / Number(execFileSync('getconf', ['CLK_TCK']))

/** The processor time of a process so far, in microseconds: its own and the kernel's for it, in all threads. */
export function processorTime(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) * tick
}
