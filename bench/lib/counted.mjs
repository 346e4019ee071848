/**
 * Stands in for wrk where a machine does other work: sends so many requests instead of as many as a time allows, so that what is
 * measured is as warm each time. Latency begins when a connection is open. The same request from the same environment, the same line
 * of JSON. Usage: counted.mjs CONNECTIONS REQUESTS URL
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import { onAnswer, percentiles, requestOf } from './answers.mjs'

const [connections, requests, url] = process.argv.slice(2)
const { BENCH_METHOD, BENCH_BODY = '', BENCH_TOKEN, BENCH_IF_NONE_MATCH } = process.env
const { host, hostname, port, pathname, search } = new URL(url)
const request = requestOf({
  method: BENCH_METHOD,
  path: `${pathname}${search}`,
  body: BENCH_BODY,
  host,
  token: BENCH_TOKEN,
  headers: BENCH_IF_NONE_MATCH ? [`If-None-Match: ${BENCH_IF_NONE_MATCH}`] : [],
})
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
console.log(JSON.stringify({ requests: times.length, seconds, failed, ...percentiles(times) }))

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
