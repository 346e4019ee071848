/** Ends the bench's processes when the bench itself cannot any more: its input names them, its end is the alarm. */
import { createInterface } from 'node:readline'

const pids = new Set()

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})

for await (const line of createInterface({ input: process.stdin })) {
  const pid = Number(line.slice(1))
  if (line[0] === '+') pids.add(pid)
  else pids.delete(pid)
}

for (const pid of pids) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself.
  }
}
