/** Clients who are slow on purpose, a thousand of each kind: they are ended in time, and others are served beside them. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { folderOf, type Service, serve } from '../duet.ts'
import { until } from '../support/wait.ts'
import { seedMany } from './seed-many.ts'

const count = 1000
const descriptors = Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).trim())
const skip =
  process.platform !== 'linux'
    ? 'NOT TESTED: only Linux tells what a process has open'
    : descriptors < 2 * count && `NOT TESTED: a process may open ${descriptors} files here`

let service: Service
before(async () => {
  const { settings } = folderOf('slow').fresh()
  await seedMany(settings, 100)
  service = await serve(settings)
})
after(() => service?.end())

/** What the service has open. */
const open = () => readdirSync(`/proc/${service.child.pid}/fd`).length

/** A connection that says something at once, and a letter each second as long as it can; gives what it is answered so far. */
const slowly = (first: string): { socket: Socket; answer: () => string } => {
  const socket = connect(service.port, '127.0.0.1')
  let answer = ''
  socket.write(first)
  const timer = setInterval(() => socket.writable && socket.write('a'), 1000)
  socket.once('close', () => clearInterval(timer)).on('error', () => {})
  socket.setEncoding('latin1').on('data', text => {
    answer += text
  })
  return { socket, answer: () => answer }
}

const kinds = [
  ['headers', 'GET /api/products HTTP/1.1\r\nHost: a\r\nX-Slow: '],
  [
    'a body',
    'POST /api/users HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{"name":"',
  ],
] as const

for (const [name, first] of kinds)
  test(`${count} connections that are slow with ${name} are all ended, and others are served meanwhile`, {
    skip,
  }, async t => {
    await fetch(`${service.url}/healthz`)
    const before = open()
    const begun = performance.now()
    const all = Array.from({ length: count }, () => slowly(first))
    await until('they are connected', () => open() >= before + count / 2)
    let served = 0
    await until('they are ended', async () => {
      const answer = await fetch(`${service.url}/api/products/1`)
      await answer.body?.cancel()
      assert.equal(answer.status, 200)
      served++
      return open() <= before + 1
    })
    const seconds = ((performance.now() - begun) / 1000).toFixed(1)
    t.diagnostic(`all are ended after ${seconds} s; ${served} others served meanwhile`)
    for (const { answer } of all) assert.match(answer(), /^HTTP\/1\.1 408 /)
    for (const { socket } of all) socket.destroy()
  })
