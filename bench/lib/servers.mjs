/** Starts the servers that are measured, each under production settings, and knows where they listen. */
import { closeSync, openSync, readFileSync, truncateSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { cores, start, stop } from './processes.mjs'

const patience = 30_000
const peer = name => fileURLToPath(new URL(`../peers/${name}.mjs`, import.meta.url))

/** Starts a program, Node's unless `command` is another, and waits until `log`, the file all its output goes to, shows its address. */
export async function startServer(
  args,
  { command = process.execPath, env = process.env, log, input },
) {
  const output = openSync(log, 'a')
  const child = start(command, args, {
    core: cores.server,
    env: { ...env, NODE_ENV: 'production' },
    stdio: [input === undefined ? 'ignore' : 'pipe', output, output],
  })
  closeSync(output)
  child.stdin?.end(input)
  return {
    url: await addressIn(log, child),
    pid: child.pid,
    stop: () => stop(child),
    // The server appends, so the file can be emptied while it runs.
    emptyLog: () => truncateSync(log),
  }
}

/** `node:http` with one answer for everything: the ceiling of what Node can do with these bytes. */
export const servePlain = (answer, log) =>
  startServer([peer('plain'), answer.type, answer.tag ?? ''], { input: answer.bytes, log })

/** One of the peers in Node, on a store made by Duet; `secret` is that of the tokens, for a peer that checks them. */
export const servePeer = (name, file, log, secret) =>
  startServer([peer(name), file], { log, env: { ...process.env, BENCH_SECRET: secret } })

async function addressIn(log, child) {
  const deadline = Date.now() + patience
  while (Date.now() < deadline) {
    const printed = readFileSync(log, 'utf8')
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0]
    if (url) return url
    if (child.exitCode !== null) throw new Error(`${child.spawnargs.join(' ')} ended:\n${printed}`)
    await sleep(2)
  }
  throw new Error(`${child.spawnargs.join(' ')} names no address:\n${readFileSync(log, 'utf8')}`)
}
