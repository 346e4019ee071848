/** Bodies that arrive late or never, over real sockets. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { mint } from '#auth/token.ts'
import { loadConfig } from '#config.ts'
import { createMemory } from '#http/memory.ts'
import { createQueue } from '#http/queue.ts'
import { type Listening, listen } from '#serve/listen.ts'
import { createWorld, secret, type World } from '#test/market.ts'
import { sqliteTest as it } from '#test/stores.ts'
import { versions } from '#test/support/market/duet.config.ts'
import { inTime, pause, until } from '#test/support/wait.ts'

let world: World
let server: Listening
const memory = createMemory()
const clock = { ahead: 0 }
const now = () => Date.now() + clock.ahead
before(async () => {
  world = await createWorld({ now, edge: { memory } })
  server = await listen(world.app, loadConfig({ DUET_PORT: '0' }), {
    versions,
    state: { isDraining: false },
  })
})
after(async () => {
  await server.close(0)
  await world.close()
})

/** A request whose head was sent, with a part of its body; `next` sends more and gives what is answered. */
const begun = async (line: string, headers: readonly string[], first: string) => {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  await once(socket, 'connect')
  const type = 'Content-Type: application/json'
  socket.write(`${[`${line} HTTP/1.1`, 'Host: a', type, ...headers].join('\r\n')}\r\n\r\n${first}`)
  const answer = async () => {
    const [data] = await inTime('it is answered', once(socket.setEncoding('utf8'), 'data'))
    socket.destroy()
    return { status: Number(data.slice(9, 12)), code: /"code":"(\w+)"/.exec(data)?.[1] }
  }
  return {
    answer,
    next: (rest: string) => {
      socket.write(rest)
      return answer()
    },
  }
}

const expired = { status: 401, code: 'UNAUTHENTICATED' }
/** The line of a request, the body it has, and what is answered where the token has expired meanwhile. */
const sent: readonly (readonly [string, string, typeof expired])[] = [
  ['PATCH /api/users/2', '{"name":"Late"}', expired],
  ['PATCH /api/users/999', '{"name":"Late"}'.padEnd(40_000), expired],
  [
    'POST /graphql',
    JSON.stringify({ query: 'mutation { updateUser(id: 2, input: { name: "Late" }) { name } }' }),
    { ...expired, status: 200 },
  ],
]

for (const [line, body, refused] of sent)
  for (const isChunked of [false, true])
    it(`a token that expires while ${body.length} bytes ${isChunked ? 'in chunks ' : ''}arrive for ${line} is refused`, async () => {
      const token = await mint({ sub: 2, role: 'user', ttl: 600 }, secret, now())
      const length = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`
      const [first, rest] = isChunked
        ? [`${body.length.toString(16)}\r\n${body}\r\n`, '0\r\n\r\n']
        : [body.slice(0, -1), body.slice(-1)]
      const { next } = await begun(line, [length, `Authorization: Bearer ${token}`], first)
      await until('it is being received', () => memory.bodies.taken() >= body.length - 1)
      clock.ahead += 3_600_000
      assert.deepEqual(await next(rest), refused)
      const [[name] = []] = await world.rows('select name from users where id = 2')
      assert.equal(name, 'Ben')
    })

test('who is suspended while the body arrives writes nothing', async () => {
  const body = '{"name":"Late"}'
  const token = await mint({ sub: 3, role: 'user', ttl: 600 }, secret, now())
  const headers = [`Content-Length: ${body.length}`, `Authorization: Bearer ${token}`]
  const { next } = await begun('PATCH /api/users/3', headers, body.slice(0, -1))
  await until('it is being received', () => memory.bodies.taken() >= body.length - 1)
  await world.change("update users set status = 'suspended' where id = 3")
  assert.deepEqual(await next('}'), { status: 403, code: 'FORBIDDEN' })
})

it('who may not send a request at all is told so before its body has come', async () => {
  const token = await mint({ sub: 2, role: 'user', ttl: 600 }, secret, now())
  const user = [`Authorization: Bearer ${token}`]
  const cases: readonly (readonly [string, readonly string[], number])[] = [
    ['PATCH /api/users/2', [], 401],
    ['PUT /api/v1/products/1', [], 401],
    ['POST /api/users/2/posts', [], 401],
    ['POST /api/v2/products', [], 401],
    ['POST /api/comments/1/likes', [], 401],
    ['POST /api/products/1/restock', [], 401],
    ['POST /api/products', user, 403],
    ['POST /api/products/1/restock', user, 403],
  ]
  for (const [line, headers, status] of cases)
    for (const length of [10, 100_000]) {
      const { answer } = await begun(line, [...headers, `Content-Length: ${length}`], '{')
      assert.equal((await answer()).status, status, `${line} ${length}`)
    }
})

it('who is refused before its body has come may take its time with the rest, and ask again', async () => {
  const rest = 100_000
  const head = 'POST /api/products HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1').setEncoding('utf8')
  socket.write(`${head}Content-Length: ${rest}\r\n\r\n`)
  const [refused] = await inTime('it is refused', once(socket, 'data'))
  assert.match(refused, /^HTTP\/1\.1 401 /)
  await pause(1000)
  socket.write(`${' '.repeat(rest)}GET /api/products HTTP/1.1\r\nHost: a\r\n\r\n`)
  const [next] = await inTime('the next is answered', once(socket, 'data'))
  assert.match(next, /^HTTP\/1\.1 200 /)
  socket.destroy()
})

it('a body of no bytes is none: its type is looked at only where one is needed', async () => {
  const token = await mint({ sub: 2, role: 'user', ttl: 600 }, secret, now())
  const headers = {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/x-www-form-urlencoded',
  }
  const send = async (path: string, body: string) => {
    const answer = await fetch(`${server.url}${path}`, { method: 'POST', headers, body })
    await answer.text()
    return answer.status
  }
  assert.equal(await send('/api/comments/2/likes', ''), 201)
  assert.equal(await send('/api/comments/2/likes', 'a=1'), 415)
  assert.equal(await send('/api/posts/1/comments', ''), 415)
})

it('bodies that come slowly have no other write refused, however few are sent beside them', async () => {
  const queue = createQueue({ wait: 200, writeWait: 500, size: 5000 })
  const busy = await createWorld({ edge: { queue } })
  const config = loadConfig({ DUET_PORT: '0' })
  const { url, close } = await listen(busy.app, config, {
    versions,
    state: { isDraining: false },
    queue,
  })
  const head = 'POST /api/users HTTP/1.1\r\nHost: a\r\nContent-Type: application/json'
  const slow = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      await once(socket, 'connect')
      socket.write(`${head}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`)
      return socket
    }),
  )
  const token = await busy.token(2)
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const statuses = new Set<number>()
  for (let number = 0; number < 80; number++) {
    const body = JSON.stringify({ name: `Quick ${number}` })
    const answer = await fetch(`${url}/api/users/2`, { method: 'PATCH', headers, body })
    await answer.text()
    statuses.add(answer.status)
    await sleep(20)
  }
  assert.deepEqual([...statuses], [200])
  for (const socket of slow) socket.destroy()
  await close(0)
  await busy.close()
})
