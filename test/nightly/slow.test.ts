/** Clients who are slow on purpose, a thousand of each kind: they are ended in time, and others are served beside them. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { mint } from '#auth/token.ts'
import { folderOf, type Service, serve } from '../duet.ts'
import { until } from '../support/wait.ts'
import { secret } from '../world.ts'
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
  service = await serve({ ...settings, DUET_QUEUE_WAIT: '1000' })
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

/** Asks for others until no more is open than before; gives how many were served, and how many told to come again. */
const othersServed = async (before: number) => {
  const told = { served: 0, again: 0 }
  await until('they are ended', async () => {
    const answer = await fetch(`${service.url}/api/products/1`)
    await answer.body?.cancel()
    if (answer.headers.has('retry-after')) told.again++
    else {
      assert.equal(answer.status, 200)
      told.served++
    }
    return open() <= before + 1
  })
  return told
}

for (const [name, first] of kinds)
  test(`${count} connections that are slow with ${name} are all ended, and others are served meanwhile`, {
    skip,
  }, async t => {
    await fetch(`${service.url}/healthz`)
    const before = open()
    const begun = performance.now()
    const all = Array.from({ length: count }, () => slowly(first))
    await until('they are connected', () => open() >= before + count / 2)
    const { served, again } = await othersServed(before)
    const seconds = ((performance.now() - begun) / 1000).toFixed(1)
    t.diagnostic(`all are ended after ${seconds} s; ${served} others served meanwhile`)
    assert.equal(again, 0)
    for (const { answer } of all) assert.match(answer(), /^HTTP\/1\.1 408 /)
    for (const { socket } of all) socket.destroy()
  })

/** Writes a post of 300 KB. */
const posted = async (token: string): Promise<void> => {
  const { status } = await fetch(`${service.url}/api/users/1/posts`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ title: 'long', content: '€'.repeat(100_000) }),
  })
  assert.equal(status, 201)
}

/** Asks for an answer of some megabytes and takes nothing of it. */
const unread = (): Socket => {
  const socket = connect(service.port, '127.0.0.1').on('error', () => {})
  socket.pause()
  socket.write('GET /api/posts?limit=20 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  return socket
}

test(`${count} connections whose clients take nothing of large answers are all ended, and others are served meanwhile`, {
  skip,
}, async t => {
  const token = await mint({ sub: 1, role: 'user', ttl: 3600 }, secret, Date.now())
  for (let n = 0; n < 20; n++) await posted(token)
  const before = open()
  const begun = performance.now()
  const all = Array.from({ length: count }, unread)
  await until('they are connected', () => open() >= before + 20)
  const { served, again } = await othersServed(before)
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  t.diagnostic(
    `all are ended after ${seconds} s; ${served} others served meanwhile, ${again} told to come again`,
  )
  assert.ok(served > 9 * again)
  for (const socket of all) socket.destroy()
})
