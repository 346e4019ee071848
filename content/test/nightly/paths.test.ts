/** Hundreds of spellings of paths that a caller may not use, over a socket: none of them leads anywhere. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { mint } from '#auth/token.ts'
import { duet, folderOf, serve } from '#test/duet.ts'
import { inTime } from '#test/support/wait.ts'
import { secret } from '../world.ts'
import { isMalformed, spellings } from './inputs/paths.ts'
import { stateOf } from './inputs/state.ts'

const { rows, settings } = folderOf('paths').fresh()

/** What a user or a stranger may not do with it, whose things these are not. */
const closed = {
  '/api/products/1': ['PUT', 'PATCH', 'DELETE'],
  '/api/users/1': ['PUT', 'PATCH', 'DELETE'],
  '/api/posts/1': ['PATCH', 'DELETE'],
  '/api/customers/1': ['GET', 'PUT', 'DELETE'],
  '/api/orders/1': ['GET', 'DELETE'],
} as const

const paths = spellings(Object.keys(closed))

test(`${paths.length} spellings of paths lead nobody to what is not theirs [G16]`, async () => {
  const sizes = ['--users', '5', '--posts', '5', '--comments', '5', '--products', '5']
  assert.equal((await duet(['seed', ...sizes], settings)).code, 0)
  const service = await serve(settings)
  const token = await mint({ sub: 900_000, role: 'user', ttl: 7200 }, secret, Date.now())
  const answerTo = (line: string, headers: readonly string[]) => {
    const socket = connect(service.port, '127.0.0.1')
    const all = ['Host: a', 'Connection: close', 'Content-Type: application/json', ...headers]
    socket.write(
      `${line} HTTP/1.1\r\n${all.join('\r\n')}\r\nContent-Length: 12\r\n\r\n{"name":"x"}`,
    )
    return inTime(`${line} is answered`, text(socket))
  }
  const before = await stateOf(rows)
  for (const [target, methods] of Object.entries(closed))
    for (const path of spellings([target]))
      for (const method of methods)
        for (const headers of [[], [`Authorization: Bearer ${token}`]]) {
          const answer = await answerTo(`${method} ${path}`, headers)
          const status = Number(answer.split(' ', 2)[1])
          assert.ok(status >= 400 && status < 500, `${method} ${path}: ${answer}`)
          if (isMalformed(path)) assert.equal(status, 400, `${method} ${path}: ${answer}`)
        }
  assert.deepEqual(await stateOf(rows), before)
  assert.equal((await service.end()).code, 0)
})
