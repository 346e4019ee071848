import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { UnreachableError } from '#engines/postgres/errors.ts'
import { createPool } from '#engines/postgres/pool.ts'
import { fixedOn } from '#engines/postgres/primary.ts'

const message = (type: string, body: Buffer): Buffer => {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}
const welcome = message('R', Buffer.alloc(4))
const ready = message('Z', Buffer.from('I'))
const ended = message('E', Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0'))

test('a session that is ended in the very turn in which it is made fails its work, and nothing else [B2]', async () => {
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(Buffer.concat([welcome, ready, ended])))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const pool = createPool(
    fixedOn(`postgres://duet@127.0.0.1:${port}/content`),
    {
      prepare: true,
      statementTimeout: 0,
      lockTimeout: 0,
      silenceLimit: 1000,
    },
    { pool: 1 },
  )
  const asked = pool.use(line => line.query({ text: 'select 1', values: [] }))
  await assert.rejects(asked, UnreachableError)
  await pool.close()
  server.close()
})
