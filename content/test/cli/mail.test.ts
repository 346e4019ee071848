/** Mail of the whole program under different settings. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mint } from '#auth/token.ts'
import { folderOf, type Service, serve } from '#test/duet.ts'
import { mailServer } from '#test/mail-server.ts'
import { until } from '#test/support/wait.ts'
import { secret } from '../world.ts'

const { fresh } = folderOf('mail')

const post = async (service: Service, path: string, body?: unknown, as?: number) => {
  const token = as && (await mint({ sub: as, role: 'user', ttl: 60 }, secret, Date.now()))
  const response = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: {
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(token && { Authorization: `Bearer ${token}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: the tests say what they expect of it.
  return { status: response.status, json: (await response.json()) as any }
}

const person = { name: 'Zed', email: 'zed.mail@example.org' }

test('in development the message is on standard error, with a token that is good, and not in the log', async () => {
  const service = await serve({ ...fresh().settings, DUET_LOG: 'info' })
  let log = ''
  service.child.stdout?.on('data', text => {
    log += text
  })
  const { json } = await post(service, '/api/users', person)
  await until('the message is shown', () => /token=\S+\s/.test(service.stderr()))
  const [, base, token] = /(\S+)\/verify-email#user=\d+&token=(\S+)/.exec(service.stderr()) ?? []
  assert.equal(base, service.url)
  const verified = await post(service, `/api/users/${json.id}/verify-email`, { token }, json.id)
  assert.equal(verified.json.emailVerified, true)
  assert.equal((await service.end()).code, 0)
  assert.match(log, /"path":"\/api\/users\/\d+\/verify-email","status":200/)
  assert.ok(!log.includes(person.email) && !log.includes(token ?? ''))
})

test('in production without a mail server nothing is shown, and asking for a message is 503', async () => {
  const service = await serve({ ...fresh().settings, DUET_ENV: 'production' })
  const { status, json } = await post(service, '/api/users', person)
  assert.equal(status, 201)
  const asked = await post(service, `/api/users/${json.id}/verify-email`, undefined, json.id)
  assert.equal(asked.status, 503)
  assert.equal(asked.json.error.code, 'UNAVAILABLE')
  await service.end()
  assert.ok(!service.stderr().includes(person.email))
})

test('in production mail goes to the server that is set, also when the service ends just then', async t => {
  const server = await mailServer()
  t.after(() => server.close())
  const service = await serve({
    ...fresh().settings,
    DUET_ENV: 'production',
    DUET_HOST: '127.0.0.1',
    DUET_SMTP_URL: server.url,
    DUET_MAIL_FROM: 'Content <content@example.org>',
    DUET_PUBLIC_URL: 'https://content.example.org/',
  })
  assert.equal((await post(service, '/api/users', person)).status, 201)
  const [{ code }, message] = await Promise.all([service.end(), server.next()])
  assert.equal(code, 0)
  assert.equal(message.from, 'content@example.org')
  assert.deepEqual(message.to, [person.email])
  assert.match(message.text, /\nhttps:\/\/content\.example\.org\/verify-email#user=\d+&token=\S+\r/)
})
