/**
 * Sends requests on 32 connections, each its next when the last is answered, and prints how many there were. What is asked
 * for is drawn by Zipf's law: the n-th thing 1/n as often as the first. Usage: mix.mjs FILE, which holds
 * {"url","token","seconds","seed","reads":[{"method","path","body"}],"writes":[…],"every"}; `every`: one request in so
 * many is a write, 0 is none.
 */
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'

const connections = 32
const { url, token, seconds, seed, reads, writes, every } = JSON.parse(
  readFileSync(process.argv[2], 'utf8'),
)
const agent = new Agent({ keepAlive: true, maxSockets: connections })
const random = randomBy(seed)
const pick = zipf(reads.length)
const end = performance.now() + seconds * 1000
let requests = 0
let written = 0

await Promise.all(Array.from({ length: connections }, send))
agent.destroy()
console.log(JSON.stringify({ requests, written }))

async function send() {
  while (performance.now() < end) {
    const isWrite = every > 0 && random() * every < 1
    const ask = isWrite ? writes[Math.floor(random() * writes.length)] : reads[pick()]
    const status = await statusOf(ask)
    if (status < 200 || status > 299) throw new Error(`${ask.method} ${ask.path}: ${status}`)
    requests += 1
    if (isWrite) written += 1
  }
}

function statusOf({ method, path, body }) {
  const headers = { authorization: `Bearer ${token}` }
  if (body) {
    headers['content-type'] = 'application/json'
    headers['content-length'] = Buffer.byteLength(body)
  }
  return new Promise((resolve, reject) => {
    request(url + path, { agent, method, headers }, response => {
      response
        .on('end', () => resolve(response.statusCode))
        .on('error', reject)
        .resume()
    })
      .on('error', reject)
      .end(body)
  })
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
