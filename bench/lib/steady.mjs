/**
 * Sends requests at a fixed rate, whether or not the ones before are answered, and times each from the instant it was
 * due. Usage: steady.mjs '{"url","token","rate","seconds","requests":[{"method","path","body"}]}'
 */
import { Agent, request } from 'node:http'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { percentiles } from './answers.mjs'

const clock = () => Number(process.hrtime.bigint()) / 1e6

if (isMainThread) await send(JSON.parse(process.argv[2]))
else tick(workerData)

// A timer of the event loop is up to a millisecond late, which would be most of what is measured here.
function tick({ count, period, began }) {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  for (let i = 0; i < count; i += 1) {
    const wait = began + i * period - clock()
    if (wait > 0) Atomics.wait(cell, 0, 0, wait)
    parentPort.postMessage(i)
  }
}

async function send({ url, token, rate, seconds, requests }) {
  const period = 1000 / rate
  const count = Math.round(rate * seconds)
  const began = clock() + 200
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  const times = []
  let failed = 0
  const one = async i => {
    const ask = requests[i % requests.length]
    const status = await statusOf(agent, url, token, ask).catch(() => 0)
    times.push(clock() - (began + i * period))
    if (status < 200 || status > 299) failed += 1
  }
  const all = []
  const ticker = new Worker(new URL(import.meta.url), { workerData: { count, period, began } })
  await new Promise(resolve => {
    ticker.on('message', i => {
      all.push(one(i))
      if (all.length === count) resolve()
    })
  })
  await Promise.all(all)
  agent.destroy()
  const took = (clock() - began) / 1000
  console.log(
    JSON.stringify({ requests: count, failed, rate: count / took, ...percentiles(times) }),
  )
}

function statusOf(agent, url, token, { method, path, body }) {
  const headers = { authorization: `Bearer ${token}` }
  if (body) {
    headers['content-type'] = 'application/json'
    headers['content-length'] = Buffer.byteLength(body)
  }
  return new Promise((resolve, reject) => {
    const asked = request(url + path, { agent, method, headers, timeout: 10_000 }, response => {
      response
        .on('end', () => resolve(response.statusCode))
        .on('error', reject)
        .resume()
    })
    asked
      .on('error', reject)
      .on('timeout', () => asked.destroy())
      .end(body)
  })
}
