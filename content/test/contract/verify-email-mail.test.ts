/** The message that verifies an address, and failures of the mail server. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { mint } from '#auth/token.ts'
import { silentServer } from '#test/mail-server.ts'
import { inTime, longest, until } from '#test/support/wait.ts'
import { refuses } from '../rest.ts'
import { createWorld, pluck, secret, type World } from '../world.ts'
import { failures, from, hour, newEmail, posted, signUp, tokenIn, verify } from './verifying.ts'

describe('over SMTP', () => {
  test('a sign-up is followed by a message from the service to the address, with a link that verifies it', async t => {
    const { server, world } = await posted(t)
    const { json: made } = await signUp(world, { email: 'Zed.One@Example.org' })
    assert.equal(made.emailVerified, false)
    const message = await server.next()
    assert.equal(message.from, 'duet@example.org')
    assert.deepEqual(message.to, ['Zed.One@example.org'])
    assert.equal(message.header('from'), 'Duet <duet@example.org>')
    assert.equal(message.header('to'), 'Zed <Zed.One@example.org>')
    assert.equal(message.header('subject'), 'Confirm your email address')
    assert.equal(message.header('auto-submitted'), 'auto-generated')
    const link = `https://duet.example.org/verify-email#user=${made.id}&token=`
    assert.ok(message.text.startsWith('Hello Zed,'))
    assert.ok(message.text.includes(link))
    assert.ok(message.html.includes(link.replace('&', '&amp;')))
    const token = tokenIn(message.text)
    assert.ok(message.text.includes(`\n${token}\n`.replaceAll('\n', '\r\n')), message.text)
    const verified = await verify(world, made.id, made.id, token)
    assert.equal(verified.status, 200)
    assert.deepEqual(verified.json, { ...made, emailVerified: true })
    assert.equal(server.messages.length, 1)
  })

  test('createUser of GraphQL and an admin’s creation are followed by a message too', async t => {
    const { server, world } = await posted(t)
    const email = newEmail()
    await world.gql(`mutation { createUser(input: {name: "G", email: "${email}"}) { id } }`)
    assert.deepEqual((await server.next()).to, [email])
    const other = newEmail()
    await world.ask('POST /api/users', { as: 1, body: { name: 'A', email: other } })
    assert.deepEqual((await server.next()).to, [other])
  })

  test('a sign-up that fails, and one that is replayed, send nothing', async t => {
    const { server, world } = await posted(t)
    refuses(await signUp(world, { email: 'ben@example.org' }), 409, 'EMAIL_TAKEN', ['email'])
    const asking = {
      body: { name: 'Once', email: newEmail() },
      headers: { 'Idempotency-Key': 'sign-up' },
    }
    const first = await world.ask('POST /api/users', asking)
    const second = await world.ask('POST /api/users', asking)
    assert.equal(second.text, first.text)
    await server.next()
    await signUp(world)
    await server.next()
    assert.equal(server.messages.length, 2)
  })

  test('a POST without body sends the message again: 202 and the user', async t => {
    const { server, world } = await posted(t)
    const { json: made } = await signUp(world)
    await server.next()
    const asked = await verify(world, made.id, made.id)
    assert.equal(asked.status, 202)
    assert.deepEqual(asked.json, made)
    const token = tokenIn((await server.next()).text)
    assert.equal((await verify(world, made.id, made.id, token)).json.emailVerified, true)
  })

  test('an Idempotency-Key sends one message, however often the request comes', async t => {
    const { server, world } = await posted(t)
    const asking = { as: 3, headers: { 'Idempotency-Key': 'again' } }
    const first = await world.ask('POST /api/users/3/verify-email', asking)
    const second = await world.ask('POST /api/users/3/verify-email', asking)
    assert.deepEqual([first.status, second.status], [202, 202])
    assert.equal(second.headers.get('idempotency-replayed'), 'true')
    await server.next()
    await signUp(world)
    await server.next()
    assert.equal(server.messages.length, 2)
  })

  const names: readonly (readonly [what: string, name: string, hello: string, to: RegExp])[] = [
    ['line ends', 'Eve\r\nBcc: all\r\n\r\nbody', 'Hello,', /^person\d+@example\.org$/],
    ['bare line ends', 'Eve\r\nBcc all', 'Hello Eve Bcc all,', /^Eve Bcc all <person\d+@/],
    ['other scripts', 'Zoë 李小龍', 'Hello Zoë 李小龍,', /^=\?UTF-8\?[BQ]\?[^\s]+\?=/i],
    ['an address in it', 'a@b.example, Eve', 'Hello,', /^person\d+@/],
    ['a link in it', 'See https://bad.example', 'Hello,', /^person\d+@/],
    ['a bare host in it', 'win at bad.example', 'Hello,', /^person\d+@/],
    ['quotes and commas', '"Eve", Q', 'Hello "Eve", Q,', /^"\\"Eve\\", Q" <person\d+@/],
  ]
  for (const [what, name, hello, to] of names)
    test(`a name with ${what} stays a name [G6]`, async t => {
      const { server, world } = await posted(t)
      const { json: made } = await signUp(world, { name })
      const message = await server.next()
      assert.deepEqual(message.to, [made.email])
      assert.match(message.header('to') ?? '', to)
      assert.equal(message.header('bcc'), undefined)
      assert.equal(message.text.split('\r\n')[0], hello)
      assert.ok(message.raw.split('\r\n\r\n')[0]?.includes('Subject: Confirm your email address'))
    })

  test('a name with markup is escaped in the HTML', async t => {
    const { server, world } = await posted(t)
    await signUp(world, { name: '<img src="x"> & \'Eve\'' })
    const { html } = await server.next()
    assert.ok(html.includes('Hello &lt;img src=&quot;x&quot;&gt; &amp; &#39;Eve&#39;,'), html)
  })

  test('an address gets five messages in an hour at most [F6]', async t => {
    let now = Date.now()
    const { server, world } = await posted(t, {}, { now: () => now })
    for (let asked = 0; asked < 7; asked++) assert.equal((await verify(world, 3, 3)).status, 202)
    for (let sent = 0; sent < 5; sent++) await server.next()
    await until('two are refused', () => failures(world).length === 2)
    assert.deepEqual(
      failures(world).map(({ recipient, reason }) => [recipient, reason]),
      [
        [3, 'too many'],
        [3, 'too many'],
      ],
    )
    now += hour
    await world.ask('POST /api/users/3/verify-email', {
      headers: { Authorization: `Bearer ${await world.token(3)}` },
    })
    await server.next().catch(() => assert.fail('none after an hour'))
  })

  test('a user gets ten messages in an hour at most, whatever addresses they give [F6]', async t => {
    let now = Date.now()
    const { server, world } = await posted(t, {}, { now: () => now })
    const askAgain = async (address: string) => {
      const headers = {
        Authorization: `Bearer ${await mint({ sub: 3, role: 'user', ttl: 60 }, secret, now)}`,
      }
      const body = { email: address }
      assert.equal((await world.ask('PATCH /api/users/3', { headers, body })).status, 200)
      const asked = await world.ask('POST /api/users/3/verify-email', { headers })
      assert.equal(asked.status, 202)
    }
    for (let asked = 1; asked <= 12; asked++) await askAgain(`victim+${asked}@example.org`)
    await until('ten are sent', () => server.messages.length === 10)
    await until('two are refused', () => failures(world).length === 2)
    assert.deepEqual(
      failures(world).map(({ recipient, reason }) => [recipient, reason]),
      [
        [3, 'too many'],
        [3, 'too many'],
      ],
    )
    now += hour
    await askAgain('after@example.org')
    await until('one more is sent', () => server.messages.length === 11)
  })
})

describe('a mail server that fails', () => {
  const signsUp = async (world: World) => {
    const { status, json } = await signUp(world)
    assert.equal(status, 201)
    return json as { id: number; email: string }
  }

  test('a mail server that fails and is not there delays and fails no sign-up; it is tried again, and told without the address', async t => {
    const { server, world } = await posted(t)
    await server.close()
    const { id, email } = await signsUp(world)
    await until('two tries failed', () => failures(world).length >= 2)
    assert.deepEqual(
      failures(world)
        .slice(0, 2)
        .map(({ recipient, again }) => [recipient, again]),
      [
        [id, true],
        [id, true],
      ],
    )
    assert.match(failures(world)[0]?.reason ?? '', /^E[A-Z]+$/)
    assert.ok(!JSON.stringify(world.events).includes(email))
  })

  test('a mail server that fails for a moment gets the message at the second try', async t => {
    const { server, world } = await posted(t, { refuse: { code: 451, times: 1 } })
    const { email } = await signsUp(world)
    assert.deepEqual((await server.next()).to, [email])
    assert.deepEqual(pluck(failures(world), 'again'), [true])
  })

  test('a mail server that fails for good is not tried again', async t => {
    const { server, world } = await posted(t, { refuse: { code: 550, times: 9 } })
    // A second try of the first would come before the last of these.
    for (let made = 1; made <= 5; made++) {
      await signsUp(world)
      await until(`message ${made} is refused`, () => failures(world).length >= made)
    }
    assert.deepEqual(
      failures(world).map(({ reason, again }) => [reason, again]),
      Array(5).fill(['EENVELOPE 550', false]),
    )
    assert.equal(server.refusals(), 5)
  })

  /** A world whose mail goes to a silent server, with a timeout in milliseconds. */
  const unanswered = async (t: TestContext, step: number) => {
    const server = await silentServer()
    const waits = { step, whole: 2 * step }
    const world = await createWorld({
      mail: {
        delivery: { kind: 'smtp', url: server.url, from, waits },
      },
      outbox: { every: 20, retryAfter: 10 },
    })
    t.after(async () => {
      await world.close()
      await server.close()
    })
    return { server, world }
  }

  test('a mail server that fails and never speaks keeps a few connections, and the rest waits in the store', async t => {
    const { server, world } = await unanswered(t, longest)
    for (let made = 0; made < 8; made++) await signsUp(world)
    const waiting = async () =>
      (await world.rows('select tries from outbox order by tries')).map(([tries]) => Number(tries))
    await until('four are being sent', async () => (await waiting()).filter(Boolean).length === 4)
    assert.deepEqual(await waiting(), [0, 0, 0, 0, 1, 1, 1, 1])
    assert.ok(server.connections() <= 4)
  })

  test('a mail server that fails and never speaks is given up [F10]', async t => {
    const { world } = await unanswered(t, 50)
    await signsUp(world)
    await until('two tries are given up', () => failures(world).length >= 2)
  })

  test('a mail server that fails does not hold up the end of the service', async t => {
    const server = await silentServer()
    t.after(() => server.close())
    // Twice the time that the test has.
    const waits = { step: 2 * longest, whole: 2 * longest }
    const world = await createWorld({
      mail: { delivery: { kind: 'smtp', url: server.url, from, waits } },
    })
    await signsUp(world)
    await inTime('the world ends', world.close())
  })
})
