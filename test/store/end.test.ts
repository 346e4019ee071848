/** How a service ends: what runs is finished, and nothing holds it up. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect as dial, type Socket } from 'node:net'
import { test } from 'node:test'
import { connect } from '#engines/sqlite/connection.ts'
import { folderOf, type Service, serve } from '#test/market.ts'
import { longest, pause, until } from '#test/support/wait.ts'

const { fresh } = folderOf('end')

const emailsIn = (file: string): ReadonlySet<unknown> => {
  const connection = connect(file)
  const rows = connection.query({ text: 'select email from users', values: [] })
  connection.close()
  return new Set(rows.map(([email]) => email))
}

/** A POST of a user that the service has begun to read, and whose body has not come to its end yet. */
const slowRequest = async (service: Service, email: string) => {
  const body = JSON.stringify({ name: 'Slow', email })
  const sent = request(`${service.url}/api/users`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      Expect: '100-continue',
    },
  })
  sent.flushHeaders()
  await once(sent, 'continue')
  sent.write(body.slice(0, 10))
  const answered = once(sent, 'response').then(async ([response]) => {
    response.resume()
    await once(response, 'end')
    return { status: response.statusCode as number, connection: response.headers.connection }
  })
  answered.catch(() => {})
  return { answered, finish: () => sent.end(body.slice(10)) }
}

/** Waits until the service takes no connection any more, as soon as it has heard of its end. */
const isClosing = ({ url }: Service) =>
  until('it takes no new connection', () =>
    fetch(`${url}/healthz`).then(
      () => false,
      () => true,
    ),
  )

for (const signal of ['SIGTERM', 'SIGHUP'] as const)
  test(`on ${signal} a running request is finished, no new one is taken, and the end is exit 0 [H8]`, async () => {
    const { file, settings } = fresh()
    const service = await serve(settings)
    const slow = await slowRequest(service, 'slow@example.org')
    const ended = service.end(signal)
    await isClosing(service)
    assert.equal(service.child.exitCode, null)
    slow.finish()
    const { status, connection } = await slow.answered
    assert.equal(status, 201)
    assert.equal(connection, 'close')
    assert.equal((await ended).code, 0)
    assert.ok(emailsIn(file).has('slow@example.org'))
  })

test('SIGTERM under load loses nothing that was acknowledged, and the log is carried over into the store [A10, H8]', async () => {
  const { file, settings } = fresh()
  const service = await serve(settings)
  const acknowledged: string[] = []
  const statuses = new Set<number>()
  const write = async (name: string) => {
    for (let count = 0; ; count++) {
      const email = `${name}.${count}@example.org`
      try {
        const { status } = await fetch(`${service.url}/api/users`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ name, email }),
        })
        statuses.add(status)
        if (status === 201) acknowledged.push(email)
      } catch {
        return
      }
    }
  }
  const writing = Array.from({ length: 16 }, (_, index) => write(`w${index}`))
  await until('100 writes are acknowledged', () => acknowledged.length >= 100)
  const { code } = await service.end('SIGTERM')
  await Promise.all(writing)
  assert.equal(code, 0)
  assert.deepEqual([...statuses], [201])
  const stored = emailsIn(file)
  assert.deepEqual(
    acknowledged.filter(email => !stored.has(email)),
    [],
  )
})

const dialed = async (service: Service, text: string): Promise<Socket> => {
  const socket = dial(service.port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

test('idle and slow connections do not keep a service from its end beyond the limit [G2, H9]', async () => {
  const { settings } = fresh()
  const service = await serve({ ...settings, DUET_SHUTDOWN_TIMEOUT: '500' })
  const whole = 'GET /healthz HTTP/1.1\r\nHost: x\r\n'
  const idle = await Promise.all(Array.from({ length: 10 }, () => dialed(service, `${whole}\r\n`)))
  await Promise.all(idle.map(socket => once(socket, 'data')))
  const slow = await Promise.all(Array.from({ length: 50 }, () => dialed(service, whole)))
  let heard = ''
  for (const socket of slow) socket.on('data', data => (heard += data))
  assert.equal((await service.end('SIGTERM')).code, 0)
  // Without the limit the service would answer them, after a while, with 408.
  assert.equal(heard, '')
  for (const socket of [...idle, ...slow]) socket.destroy()
})

test('idle connections alone do not keep a service from its end [H9]', async () => {
  const { settings } = fresh()
  const service = await serve({ ...settings, DUET_SHUTDOWN_TIMEOUT: String(2 * longest) })
  const idle = await Promise.all(
    Array.from({ length: 10 }, () => dialed(service, 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')),
  )
  await Promise.all(idle.map(socket => once(socket, 'data')))
  assert.equal((await service.end('SIGTERM')).code, 0)
})

test('one Ctrl-C that comes twice is one: what runs is finished', async () => {
  const { file, settings } = fresh()
  const service = await serve(settings)
  const slow = await slowRequest(service, 'twice@example.org')
  // It hears of both in one turn, as it cannot run between them. Of one signal twice it would hear once.
  service.child.kill('SIGSTOP')
  const ended = service.end('SIGINT')
  service.child.kill('SIGTERM')
  service.child.kill('SIGCONT')
  await isClosing(service)
  assert.equal(service.child.exitCode, null)
  slow.finish()
  assert.equal((await slow.answered).status, 201)
  assert.equal((await ended).code, 0)
  assert.ok(emailsIn(file).has('twice@example.org'))
})

test('a second Ctrl-C a second later ends it at once, with exit 1 [H8]', async () => {
  const { file, settings } = fresh()
  const service = await serve({ ...settings, DUET_SHUTDOWN_TIMEOUT: String(2 * longest) })
  const slow = await slowRequest(service, 'never@example.org')
  const ended = service.end('SIGINT')
  await isClosing(service)
  await pause(1100)
  service.child.kill('SIGINT')
  assert.equal((await ended).code, 1)
  await assert.rejects(slow.answered)
  assert.equal(emailsIn(file).has('never@example.org'), false)
})
