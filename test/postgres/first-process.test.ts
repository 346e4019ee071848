/** The first of several processes: what it survives, and what becomes of its socket. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { command } from '../commands.ts'
import type { Settings } from '../duet.ts'
import { boundSocket } from '../support/bound-socket.ts'
import { inTime, until } from '../support/wait.ts'
import { secret } from '../world.ts'
import { freshDatabase, noDatabase } from './tools/database.ts'
import { othersOf, serveTwo } from './tools/several.ts'

const skip = noDatabase
let settings: Settings = {}

before(async () => {
  if (skip) return
  const { url } = await freshDatabase()
  settings = { DUET_DATABASE_URL: url, DUET_AUTH_SECRET: secret }
  assert.equal((await command(['migrate'], settings)).code, 0)
})

test('where nobody reads what the first process says, one that is killed is started again all the same', {
  skip,
}, async () => {
  const service = await serveTwo(settings)
  service.child.stderr?.destroy()
  const [killed = 0] = await othersOf(service)
  process.kill(killed, 'SIGKILL')
  await until('there are two again', async () => {
    const others = await othersOf(service)
    return (others.length === 2 && !others.includes(killed)) || service.child.exitCode !== null
  })
  assert.equal((await service.end()).code, 0)
})

test('on a socket that was handed over the first process ends when no other is left, to be handed it anew', {
  skip,
}, async t => {
  const socket = boundSocket()
  t.after(() => socket.close())
  const service = await serveTwo(settings, socket)
  for (const pid of await othersOf(service)) process.kill(pid, 'SIGKILL')
  await inTime('it ends', service.gone)
  assert.equal(service.child.exitCode, 1)
  assert.match(service.stderr(), /the socket that was handed over is closed with them: /)
  const next = await serveTwo(settings, socket)
  assert.equal((await fetch(`${next.url}/readyz`)).status, 200)
  assert.equal((await next.end()).code, 0)
})
