// A thread that runs threads of stores one after another, each of which has the port, the data and the end of a thread of its own.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { compileFunction } from 'node:vm'
import workers, { parentPort } from 'node:worker_threads'

const require = createRequire(import.meta.url)
const modules = new Map()

/** The module as a function, which makes all that it has anew whenever it is called. */
const moduleAt = filename =>
  modules.getOrInsertComputed(filename, () =>
    compileFunction(readFileSync(filename, 'utf8'), ['require', 'module'], { filename }),
  )

parentPort.on('message', ({ file, port, workerData }) => {
  const own = { ...workers, parentPort: port, workerData }
  port.once('close', () => setImmediate(end))
  moduleAt(file)(name => (name === 'node:worker_threads' ? own : require(name)), {})
})

/** What still runs keeps a thread alive: one in which something does is not used again. */
const end = () => {
  const running = process.getActiveResourcesInfo()
  if (running.length === 1) parentPort.postMessage('free')
  else parentPort.unref()
}
