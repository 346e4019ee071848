/**
 * Sends requests at a fixed rate over many connections, whether or not those before are answered, and tells what became of them.
 * It reads {"url","token","seconds","pid","groups":[{"name","rate","connections","requests"}]} from its input. A group without a `rate`
 * sends its next request on each connection when the last is answered. With `retries`, a request that is refused is sent again at once, so often;
 * with `patience`, answers that took longer, in milliseconds, are counted as late; with `isKept` it tells of each answer when it was sent,
 * in milliseconds since 1970, and what it took. Sockets are used directly: at ten times what a service can
 * serve, a client library would need more than the core it has. With the `pid` of the server it tells the processor time that this took meanwhile, in
 * milliseconds, and in any case how busy it was itself: latencies are no shorter than what it is late by.
 */
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { onAnswer, percentiles, requestOf } from './answers.mjs'
import { processorTime } from './processor.mjs'

const { url, token, seconds, groups, pid } = JSON.parse(readFileSync(0, 'utf8'))
const { host, hostname, port } = new URL(url)
const clock = () => performance.now()

const bytesOf = asked => requestOf({ ...asked, host, token })

/** One connection: a request at a time; it is opened again where the server closes it. */
class Line {
  sentAt = 0
  isBusy = false
  isGreeted = false
  retries = 0

  constructor(group) {
    this.group = group
    this.open()
  }

  open() {
    this.socket = connect({ host: hostname, port, noDelay: true })
    onAnswer(this.socket, (status, head) => this.done(status, head))
    this.socket.on('error', () => {})
    this.socket.on('close', () => {
      if (this.isBusy) this.done(0)
      if (!isOver) setTimeout(() => isOver || this.open(), 50)
    })
  }

  send(bytes) {
    this.isBusy = true
    this.bytes = bytes
    this.sentAt = clock()
    this.socket.write(bytes)
  }

  /** Asks for something that is not counted, to be sure that the connection is served. */
  greet(bytes) {
    if (!this.isGreeted) this.send(bytes)
  }

  done(status, head = '') {
    this.isBusy = false
    if (!this.isGreeted) {
      this.isGreeted = status === 200
      if (!this.isGreeted) setTimeout(() => this.greet(health), 100)
      return
    }
    this.group.took(this, status, clock() - this.sentAt, head)
  }

  end() {
    this.socket.destroy()
  }
}

class Group {
  times = { ok: [], refused: [] }
  statuses = {}
  due = 0
  unsent = 0
  bare = 0
  late = 0
  kept = []
  #next = 0
  #free = []

  constructor({
    name,
    rate,
    connections,
    requests,
    retries = 0,
    patience = Number.POSITIVE_INFINITY,
    isKept = false,
  }) {
    Object.assign(this, { name, rate, retries, patience, isKept })
    this.requests = requests.map(bytesOf)
    this.lines = Array.from({ length: connections }, () => new Line(this))
    this.#free = [...this.lines]
  }

  send(line) {
    line.retries = this.retries
    line.send(this.requests[this.#next++ % this.requests.length])
  }

  /** Sends what is due; without a free connection it is not sent at all, as its client would have gone elsewhere. */
  keepUp(at) {
    const due = Math.floor(((at - began) / 1000) * this.rate)
    for (; this.due < due; this.due++) {
      const line = this.#free.pop()
      if (line) this.send(line)
      else this.unsent++
    }
  }

  begin() {
    if (this.rate === undefined) for (const line of this.#free.splice(0)) this.send(line)
  }

  took(line, status, milliseconds, head) {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1
    if (status === 503) {
      this.times.refused.push(milliseconds)
      if (!/\r\nretry-after: *\d/i.test(head)) this.bare++
    } else if (status >= 200 && status < 300) this.times.ok.push(milliseconds)
    if (milliseconds > this.patience) this.late++
    if (this.isKept) this.kept.push([performance.timeOrigin + line.sentAt, milliseconds])
    if (status === 503 && !isOver && line.retries-- > 0) return line.send(line.bytes)
    if (this.rate !== undefined) this.#free.unshift(line)
    else if (!isOver && clock() < ends) this.send(line)
  }

  figures() {
    const { ok, refused } = this.times
    return {
      name: this.name,
      statuses: this.statuses,
      unsent: this.unsent,
      withoutRetryAfter: this.bare,
      late: this.late,
      unanswered: this.lines.filter(line => line.isBusy).length,
      ok: ok.length,
      goodput: ok.length / seconds,
      ...percentiles(ok),
      refusedP99: percentiles(refused).p99,
      ...(this.isKept && { kept: this.kept }),
    }
  }
}

let isOver = false
let began = Number.POSITIVE_INFINITY
let ends = Number.POSITIVE_INFINITY
const all = groups.map(group => new Group(group))
const pause = ms => new Promise(resolve => setTimeout(resolve, ms))

// All connections are taken by the server before the first request: it takes one in each turn of its event loop.
const lines = all.flatMap(group => group.lines)
const health = bytesOf({ method: 'GET', path: '/healthz' })
for (const line of lines) line.greet(health)
while (lines.some(({ isGreeted }) => !isGreeted)) await pause(20)
const late = monitorEventLoopDelay({ resolution: 1 })
late.enable()
const ownBefore = process.cpuUsage()
const theirsBefore = pid && processorTime(pid)
began = clock()
ends = began + seconds * 1000
for (const group of all) group.begin()
while (clock() < ends) {
  for (const group of all) if (group.rate !== undefined) group.keepUp(clock())
  await pause(1)
}
const stopped = Date.now()
late.disable()
const { user, system } = process.cpuUsage(ownBefore)
const own = { busy: (user + system) / (seconds * 1e6), late: late.percentile(99) / 1e6 }
const server = pid && (processorTime(pid) - theirsBefore) / 1000
// What is on its way is waited for, but not for ever.
const last = clock() + 10_000
while (lines.some(line => line.isBusy) && clock() < last) await pause(5)
isOver = true
for (const line of lines) line.end()
console.log(JSON.stringify({ stopped, own, server, groups: all.map(group => group.figures()) }))
process.exit(0)
