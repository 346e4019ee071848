/** The first of several processes: what it survives, and what its end does to requests and to its socket. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { command } from '#test/commands.ts'
import type { Settings } from '#test/duet.ts'
import { ask, connected } from '#test/postgres/tools/ask.ts'
import { keptAlive } from '#test/postgres/tools/connections.ts'
import { freshDatabase, noDatabase } from '#test/postgres/tools/database.ts'
import { isAlive } from '#test/postgres/tools/family.ts'
import { othersOf, serveTwo } from '#test/postgres/tools/several.ts'
import { boundSocket } from '#test/support/bound-socket.ts'
import { inTime, until } from '#test/support/wait.ts'
import { secret } from '../world.ts'

const skip = noDatabase
let url = ''
let settings: Settings = {}

before(async () => {
  if (skip) return
  url = (await freshDatabase()).url
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

test('a request that is on its way when the first process is killed outright is answered', {
  skip,
}, async t => {
  const service = await serveTwo({ ...settings, DUET_SHUTDOWN_TIMEOUT: '60000' })
  const pids = await othersOf(service)
  const holder = await connected(url)
  t.after(() => holder.end())
  await holder.query('begin')
  await holder.query('lock table products in access exclusive mode')
  const answer = fetch(`${service.url}/api/products`).then(({ status }) => status, String)
  const waiting = `select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await until('it waits', async () => Number(await ask(url, waiting)) > 0)
  // One for each process: they are closed once that has noticed.
  const idle = [await keptAlive(service), await keptAlive(service)]
  service.child.kill('SIGKILL')
  await until('both processes are ending', () => idle.every(({ isClosed }) => isClosed()))
  await holder.query('rollback')
  assert.equal(await answer, 200)
  await until('they have ended', () => !pids.some(isAlive))
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
