/** Starts the processes of a run, each on its core, and sees to it that none outlives the run. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

/** Servers share one core and the load generator has another, where the machine lets us say so. */
export const cores = { server: 0, load: 1 }
export const pinning = Object.values(cores).every(
  core => spawnSync('taskset', ['-c', core, 'true']).status === 0,
)

const alive = new Set()
const leash = spawn(process.execPath, [fileURLToPath(new URL('leash.mjs', import.meta.url))], {
  stdio: ['pipe', 'ignore', 'ignore'],
  detached: true,
})
leash.stdin.on('error', () => {})
leash.stdin.unref()
leash.unref()

/** Starts a process, on a core if one is given; its end before `stop` is not an error here. */
export function start(command, args, { core, ...options } = {}) {
  const pinned = pinning && core !== undefined
  const child = pinned
    ? spawn('taskset', ['-c', core, command, ...args], options)
    : spawn(command, args, options)
  if (child.pid === undefined) return child
  alive.add(child)
  leash.stdin.write(`+${child.pid}\n`)
  child.once('exit', () => {
    alive.delete(child)
    leash.stdin.write(`-${child.pid}\n`)
  })
  return child
}

/** Runs a process to its end, with `input` to read, and gives what it printed; its failure is thrown with what it said. */
export async function finish(command, args, { input, ...options } = {}) {
  const stdin = input === undefined ? 'ignore' : 'pipe'
  const child = start(command, args, { stdio: [stdin, 'pipe', 'pipe'], ...options })
  child.stdin?.end(input)
  const [out, err, [code, signal]] = await Promise.all([
    text(child.stdout),
    child.stderr ? text(child.stderr) : '',
    once(child, 'exit'),
  ])
  if (code === 0) return out
  throw new Error(`${[command, ...args].join(' ')} ended with ${signal ?? code}\n${err}${out}`)
}

/** Ends a process politely, and after five seconds otherwise. */
export async function stop(child) {
  if (!alive.has(child)) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 5000)
  await ended
  clearTimeout(timer)
}

export const stopAll = () => Promise.all([...alive].map(stop))

/** Resident memory of a process in bytes; undefined where the system does not say. */
export function residentMemory(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024
  } catch {
    return undefined
  }
}

/** The memory that a process shares with no other and with no file, in bytes (Linux). */
export function privateMemory(pid) {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  return Number(/^Private_Dirty:\s+(\d+) kB/m.exec(rollup)[1]) * 1024
}
