/** Measures, in the service that loads it, the processor time of each turn of the event loop, and tells the longest on a port of its own. */
import { createServer } from 'node:http'

let last = process.threadCpuUsage()
let longest = 0
const turn = () => {
  const now = process.threadCpuUsage()
  longest = Math.max(longest, now.user - last.user + now.system - last.system)
  last = now
  setImmediate(turn).unref()
}
const tell = response => {
  response.end(String(longest / 1000))
  longest = 0
}
// The turn that is told of may be the one before this.
const server = createServer((_, response) => void setImmediate(setImmediate, tell, response))
server.listen(0, '127.0.0.1', () => {
  server.unref()
  process.stderr.write(`turns on http://127.0.0.1:${server.address().port}\n`)
  turn()
})
