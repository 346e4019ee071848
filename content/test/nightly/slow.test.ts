/** Clients who are slow on purpose, a thousand of each kind: they are ended in time, and others are served beside them. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { mint } from '#auth/token.ts'
import { folderOf, type Service, serve } from '#test/duet.ts'
import { until } from '#test/support/wait.ts'
import { secret } from '../world.ts'
import { seedMany } from './seed-many.ts'

const count = 1000
const descriptors = Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).trim())
const skip =
  process.platform !== 'linux'
    ? 'NOT TESTED: only Linux tells what a process has open'
    : descriptors < 2 * count && `NOT TESTED: a process may open ${descriptors} files here`

const { settings } = folderOf('slow').fresh()
let service: Service
before(async () => {
  await seedMany(settings, 100)
  service = await serve(settings)
})
after(() => service?.end())

/** How many sockets the service has open; a descriptor may be closed between two looks. */
const open = () => {
  const folder = `/proc/${service.child.pid}/fd`
  const isSocket = (descriptor: string) => {
    try {
      return readlinkSync(`${folder}/${descriptor}`).startsWith('socket:')
    } catch {
      return false
    }
  }
  return readdirSync(folder).filter(isSocket).length
}

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
  test(`${count} connections that are slow with ${name} are all ended, and others are served meanwhile [G2]`, {
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
      await answer.text()
      assert.equal(answer.status, 200)
      served++
      return open() <= before + 1
    })
    const seconds = ((performance.now() - begun) / 1000).toFixed(1)
    t.diagnostic(`all are ended after ${seconds} s; ${served} others served meanwhile`)
    for (const { answer } of all) assert.match(answer(), /^HTTP\/1\.1 408 /)
    for (const { socket } of all) socket.destroy()
  })

const posts = 60

/** Writes a post of 300 KB. */
const posted = async (token: string): Promise<void> => {
  const { status } = await fetch(`${service.url}/api/users/1/posts`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ title: 'long', content: '€'.repeat(100_000) }),
  })
  assert.equal(status, 201)
}

/** Asks for an answer of 18 MB, more than the buffers of two sockets, and takes nothing of it until what this gives is called, which gives what had come. */
const unread = () => {
  const socket = connect(service.port, '127.0.0.1').on('error', () => {})
  socket.setEncoding('latin1').pause()
  socket.write(`GET /api/posts?limit=${posts} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
  return async () => {
    let text = ''
    socket.on('data', more => {
      text += more
    })
    socket.resume()
    if (!socket.closed) await once(socket, 'close')
    return text
  }
}

test(`${count} connections whose clients take nothing of large answers are all ended, and others are served after the first are refused [G2]`, {
  skip,
}, async t => {
  const token = await mint({ sub: 1, role: 'user', ttl: 3600 }, secret, Date.now())
  for (let n = 0; n < posts; n++) await posted(token)
  await service.end()
  service = await serve({ ...settings, DUET_QUEUE_WAIT: '1000', DUET_WRITE_WAIT: '5s' })
  await fetch(`${service.url}/healthz`)
  const before = open()
  const begun = performance.now()
  const all = Array.from({ length: count }, unread)
  await until('they are connected', () => open() > before + 10)
  let served = 0
  await until('they are ended', async () => {
    const answer = await fetch(`${service.url}/api/products/1`)
    await answer.text()
    if (answer.status === 200) served++
    else assert.ok(answer.status === 503 && answer.headers.has('retry-after'))
    return open() <= before + 1
  })
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  const answers = await Promise.all(all.map(taken => taken()))
  const given = answers.filter(text => text.startsWith('HTTP/1.1 200 '))
  const cut = given.filter(({ length }) => length < posts * 300_000)
  const refused = answers.filter(text => /^HTTP\/1\.1 503 .*\r\nretry-after: /is.test(text))
  t.diagnostic(
    `all are ended after ${seconds} s, ${cut.length} of them amid an answer; ${served} others served meanwhile`,
  )
  assert.equal(given.length + refused.length, count)
  assert.ok(cut.length >= 3 && served >= 10, `${cut.length} cut, ${served} served`)
})
