/** The process in which the driver runs alone, asked over its own channel. */

import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { cores, start, stop } from './processes.mjs'

const script = fileURLToPath(new URL('../peers/driver.mjs', import.meta.url))

/** Starts it where the servers run; `ask` sends it a message and gives its answer. */
export async function serveDriver(url, log) {
  const output = openSync(log, 'a')
  const child = start(process.execPath, [script, url], {
    core: cores.server,
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', output, output, 'ipc'],
  })
  closeSync(output)
  const ended = once(child, 'exit').then(() => {
    throw new Error(`the driver's process ended: see ${log}`)
  })
  ended.catch(() => {}) // at the end of the run nobody waits for an answer
  const answer = async () => {
    const [message] = await Promise.race([once(child, 'message'), ended])
    return message
  }
  await answer()
  const ask = async message => {
    child.send(message)
    return await answer()
  }
  return { pid: child.pid, ask, stop: () => stop(child), emptyLog: () => {} }
}
