/** As many connections as a service takes, idle, and more on top: as src/serve/listen.test.ts has a dozen. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { folderOf, type Service, serve } from '../duet.ts'
import { inTime, until } from '../support/wait.ts'

const most = 5000
const more = 500
const descriptors = Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).trim())
const skip =
  process.platform !== 'linux'
    ? 'NOT TESTED: only Linux tells what a process has open'
    : descriptors < most + more + 200 && `NOT TESTED: a process may open ${descriptors} files here`

const { fresh } = folderOf('connections')
const dial = ({ port }: Service): Socket => connect(port, '127.0.0.1').on('error', () => {})

/** The status of an answer on the connection, after which it is idle; undefined where it is closed instead. */
const statusOn = (socket: Socket): Promise<number | undefined> => {
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  socket.once('data', data => resolve(Number(String(data).split(' ', 2)[1])))
  socket.once('close', () => resolve(undefined))
  socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')
  return inTime('it is answered or closed', promise)
}

/** Opens so many connections, a hundred at a time, and gives the statuses on them. */
const opened = async (service: Service, count: number) => {
  const sockets: Socket[] = []
  const statuses: (number | undefined)[] = []
  while (sockets.length < count) {
    const some = Array.from({ length: 100 }, () => dial(service))
    sockets.push(...some)
    statuses.push(...(await Promise.all(some.map(statusOn))))
  }
  return { sockets, statuses }
}

test(`${most} idle connections are kept and served, and ${more} more are closed at once [G4]`, {
  skip,
}, async t => {
  const settings = { ...fresh().settings, DUET_MAX_CONNECTIONS: String(most) }
  const service = await serve(settings)
  const files = () => readdirSync(`/proc/${service.child.pid}/fd`).length
  const before = files()
  const idle = await opened(service, most)
  assert.deepEqual(new Set(idle.statuses), new Set([200]))
  const above = await opened(service, more)
  assert.deepEqual(new Set(above.statuses), new Set([undefined]))
  t.diagnostic(`${files() - before} descriptors more than before`)
  assert.ok(files() - before < most + 100)
  const again = await Promise.all(idle.sockets.filter((_, n) => n % 50 === 0).map(statusOn))
  assert.deepEqual(new Set(again), new Set([200]))
  for (const socket of idle.sockets.slice(0, more)) socket.destroy()
  await until('there is room again', () => files() - before < most - more + 100)
  const later = await opened(service, more - 100)
  assert.deepEqual(new Set(later.statuses), new Set([200]))
  for (const socket of [...idle.sockets, ...later.sockets]) socket.destroy()
  assert.equal((await service.end()).code, 0)
})
