// Runs a script under a Node that is able to, as if that one had been started.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { bringsNode, oldest, pinnedNode, recentEnough } from './pinned-node.mjs'

// Of the last Node makes a debugger, unless the service says otherwise.
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1']

// Read once and removed, so that it reaches neither the service's settings nor its own children.
const { DUET_HANDED_OVER_BY: handedOverBy } = process.env
delete process.env.DUET_HANDED_OVER_BY

// A socket of systemd that was meant for the first of the two is the second's: sd_listen_fds(3).
if (handedOverBy !== undefined && process.env.LISTEN_PID === handedOverBy)
  process.env.LISTEN_PID = String(process.pid)

const wasHandedOver = () => handedOverBy === String(process.ppid)

/** A Node that is recent enough; without one, prints one line on how to get it and ends the process. */
export function ableNode() {
  if (recentEnough()) return process.execPath
  const node = wasHandedOver() ? undefined : pinnedNode() // a pinned Node that is too old is none
  if (node !== undefined) return node
  const found = process.versions.node
  console.error(
    `duet: this needs Node ${oldest.replace('.0', '')} and runs ${found}: run ${bringsNode()}, which brings it`,
  )
  process.exit(1)
}

/** Starts `node` with `args` and ends this process the way that one ends. */
export function handOver(node, args) {
  const { LISTEN_PID, LISTEN_FDS } = process.env
  const sockets = LISTEN_PID === String(process.pid) ? Number(LISTEN_FDS) || 0 : 0
  const child = spawn(node, args, {
    stdio: Array.from({ length: 3 + sockets }, () => 'inherit'),
    env: { ...process.env, DUET_HANDED_OVER_BY: String(process.pid) },
  })
  for (const signal of signals) process.on(signal, () => pass(signal, child))
  child.on('error', error => {
    console.error(`duet: ${node} does not start: ${error.message}`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code)
    process.removeAllListeners(signal)
    process.exitCode = 128 + constants.signals[signal] // for the few signals that end no Node
    process.kill(process.pid, signal)
  })
}

// A terminal sends Ctrl-C to the child as well, and a second one could end it at once.
function pass(signal, child) {
  if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
}

/**
 * Ends this process when the one that started it was killed and could send no signal.
 * After a hand-over at once, as the two are one service; after `npm start` as if npm had passed
 * on a signal.
 */
export function endWithStarter() {
  if (!wasHandedOver() && process.env.npm_lifecycle_event !== 'start') return
  const starter = process.ppid
  const signal = wasHandedOver() ? 'SIGKILL' : 'SIGTERM'
  const watch = setInterval(() => {
    if (process.ppid === starter) return
    clearInterval(watch)
    process.kill(process.pid, signal)
  }, 50)
  watch.unref()
}
