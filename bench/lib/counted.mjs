/**
 * Stands in for wrk where a machine does other work: sends so many requests instead of as many as a time allows, so that what is
 * measured is as warm each time. Latency begins when a connection is open. The same request from the same environment, the same line
 * of JSON. Usage: counted.mjs CONNECTIONS REQUESTS URL
 */
import { once } from 'node:events'
import { connect } from 'node:net'

const [connections, requests, url] = process.argv.slice(2)
const { BENCH_METHOD, BENCH_BODY = '', BENCH_TOKEN, BENCH_IF_NONE_MATCH } = process.env
const { hostname, port, pathname, search } = new URL(url)
const head = [
  `${BENCH_METHOD} ${pathname}${search} HTTP/1.1`,
  `Host: ${hostname}:${port}`,
  `Authorization: Bearer ${BENCH_TOKEN}`,
  ...(BENCH_IF_NONE_MATCH ? [`If-None-Match: ${BENCH_IF_NONE_MATCH}`] : []),
  ...(BENCH_BODY
    ? ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(BENCH_BODY)}`]
    : []),
]
const request = Buffer.from(`${head.join('\r\n')}\r\n\r\n${BENCH_BODY}`)
const times = []
let left = Number(requests)
let failed = 0

const sockets = Array.from({ length: Number(connections) }, () =>
  connect({ host: hostname, port, noDelay: true }),
)
await Promise.all(sockets.map(socket => once(socket, 'connect')))
const began = performance.now()
await Promise.all(sockets.map(send))
const seconds = (performance.now() - began) / 1000
times.sort((a, b) => a - b)
const [p50, p99] = [0.5, 0.99].map(part => times[Math.floor(times.length * part)])
console.log(JSON.stringify({ requests: times.length, seconds, failed, p50, p99 }))

/** Sends the next request when the last is answered, until there are none left. */
function send(socket) {
  return new Promise((resolve, reject) => {
    let asked = 0
    const next = () => {
      if (left-- <= 0) {
        socket.destroy()
        return resolve()
      }
      asked = performance.now()
      socket.write(request)
    }
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server closed the connection')))
    onAnswer(socket, status => {
      times.push(performance.now() - asked)
      if (status !== 304 && (status < 200 || status > 299)) failed += 1
      next()
    })
    next()
  })
}

/** Calls back with the status of each answer when its last byte is there. */
function onAnswer(socket, answered) {
  let text = ''
  let missing = -1
  socket.on('data', chunk => {
    if (missing < 0) {
      text += chunk.latin1Slice()
      const ends = text.indexOf('\r\n\r\n')
      if (ends < 0) return
      const isEmpty = text.startsWith('HTTP/1.1 304')
      const length = isEmpty ? 0 : Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? 0)
      missing = length - (text.length - ends - 4)
    } else missing -= chunk.length
    if (missing > 0) return
    const status = Number(text.slice(9, 12))
    text = ''
    missing = -1
    answered(status)
  })
}
