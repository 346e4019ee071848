/**
 * Sends requests on 32 connections, each its next when the last is answered, and prints how many there were and how long they
 * took. What is asked for is drawn by Zipf's law: the n-th thing 1/n as often as the first. Usage: mix.mjs FILE, which holds
 * {"url","token","seconds","seed","reads":[{"method","path","body"}],"writes":[…],"every"}; `every`: one request in so
 * many is a write, 0 is none. Sockets are used directly, and each is answered once before the time begins: a connection that waits
 * to be accepted is no latency.
 */
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { onAnswer, percentiles, requestOf } from './answers.mjs'

const connections = 32
const { url, token, seconds, seed, reads, writes, every } = JSON.parse(
  readFileSync(process.argv[2], 'utf8'),
)
const { host, hostname, port } = new URL(url)
const random = randomBy(seed)
const pick = zipf(reads.length)
const texts = new Map()
const times = []
let end = Number.POSITIVE_INFINITY
let written = 0

const lines = await Promise.all(Array.from({ length: connections }, open))
end = performance.now() + seconds * 1000
await Promise.all(lines.map(send))
for (const { socket } of lines) socket.destroy()
console.log(JSON.stringify({ requests: times.length, written, ...percentiles(times) }))

/** A connection that has been answered; `ask` sends a request and gives the status of its answer. */
async function open() {
  const socket = connect({ host: hostname, port, noDelay: true })
  let answered = () => {}
  let failed = () => {}
  onAnswer(socket, status => answered(status))
  socket.on('error', error => failed(error))
  socket.on('close', () => failed(new Error('the server closed the connection')))
  const ask = text =>
    new Promise((resolve, reject) => {
      answered = resolve
      failed = reject
      socket.write(text)
    })
  await ask(textOf({ method: 'GET', path: '/healthz' }))
  return { socket, ask }
}

async function send({ ask }) {
  while (performance.now() < end) {
    const isWrite = every > 0 && random() * every < 1
    const asked = isWrite ? writes[Math.floor(random() * writes.length)] : reads[pick()]
    const text = texts.getOrInsertComputed(asked, textOf)
    const began = performance.now()
    const status = await ask(text)
    times.push(performance.now() - began)
    if (status < 200 || status > 299) throw new Error(`${asked.method} ${asked.path}: ${status}`)
    if (isWrite) written += 1
  }
}

function textOf(asked) {
  return requestOf({ ...asked, host, token })
}

/** Gives places from 0 on, the first most often. */
function zipf(count) {
  const sums = new Float64Array(count)
  for (let place = 0, sum = 0; place < count; place += 1) {
    sum += 1 / (place + 1)
    sums[place] = sum
  }
  return () => {
    const wanted = random() * sums[count - 1]
    let low = 0
    let high = count - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (sums[middle] < wanted) low = middle + 1
      else high = middle
    }
    return low
  }
}

// mulberry32
function randomBy(start) {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
