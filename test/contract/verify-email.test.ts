/** Email verification: the message, its token, who may use it, and failures of the mail server. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, describe, type TestContext, test } from 'node:test'
import { mint } from '#auth/token.ts'
import type { Event } from '#observe.ts'
import { mailServer, silentServer } from '../mail-server.ts'
import { refuses } from '../rest.ts'
import { inTime, longest, until } from '../support/wait.ts'
import { type Answered, createWorld, secret, type World, type WorldOptions } from '../world.ts'

const hour = 3_600_000
const from = 'Duet <duet@example.org>'
let count = 0
const newEmail = () => `person${++count}@example.org`

/** A world whose mail goes to a real server on loopback. */
const posted = async (
  t: { after: (done: () => unknown) => void },
  behaviour: Parameters<typeof mailServer>[0] = {},
  options: WorldOptions = {},
) => {
  const server = await mailServer(behaviour)
  const world = await createWorld({
    ...options,
    mail: { delivery: { kind: 'smtp', url: server.url, from }, pace: { retryAfter: 20 } },
  })
  t.after(async () => {
    await world.close()
    await server.close()
  })
  return { server, world }
}

const signUp = (world: World, body: Record<string, unknown> = {}) =>
  world.ask('POST /api/users', { body: { name: 'Zed', email: newEmail(), ...body } })

const verify = (world: World, id: number, as: number | undefined, token?: unknown) =>
  world.ask(`POST /api/users/${id}/verify-email`, {
    ...(as !== undefined && { as }),
    ...(token !== undefined && { body: { token } }),
  })

const tokenIn = (text: string): string => /token=(\S+)/.exec(text)?.[1] ?? ''

const failures = (world: World): readonly (Event & { kind: 'mail failed' })[] =>
  world.events.filter(event => event.kind === 'mail failed')

/** The token of the latest message that a world without a mail server would have sent. */
const latest = async (world: World, number: number): Promise<string> => {
  await until(`message ${number} is written`, () => world.letters.length >= number)
  return tokenIn(world.letters[number - 1]?.text ?? '')
}

const revisionTag = async (world: World, id: number) =>
  (await world.ask(`GET /api/users/${id}`, { as: 1 })).headers.get('etag')

const isRefused = (answer: Answered) => refuses(answer, 422, 'VALIDATION_ERROR', ['token'])

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
    test(`a name with ${what} stays a name`, async t => {
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

  test('an address gets five messages in an hour at most', async t => {
    let now = Date.now()
    const { server, world } = await posted(t, {}, { now: () => now })
    for (let asked = 0; asked < 7; asked++) assert.equal((await verify(world, 3, 3)).status, 202)
    for (let sent = 0; sent < 5; sent++) await server.next()
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
})

describe('a mail server that fails', () => {
  const signsUp = async (world: World) => {
    const { status, json } = await signUp(world)
    assert.equal(status, 201)
    return json as { id: number; email: string }
  }

  test('a mail server that fails and is not there delays and fails no sign-up; it is tried twice, and told without the address', async t => {
    const { server, world } = await posted(t)
    await server.close()
    const { id, email } = await signsUp(world)
    await until('both tries failed', () => failures(world).length === 2)
    assert.deepEqual(
      failures(world).map(({ recipient, again }) => [recipient, again]),
      [
        [id, true],
        [id, false],
      ],
    )
    assert.match(failures(world)[0]?.reason ?? '', /^E[A-Z]+$/)
    assert.ok(!JSON.stringify(world.events).includes(email))
  })

  test('a mail server that fails for a moment gets the message at the second try', async t => {
    const { server, world } = await posted(t, { refuse: { code: 451, times: 1 } })
    const { email } = await signsUp(world)
    assert.deepEqual((await server.next()).to, [email])
    assert.deepEqual(
      failures(world).map(({ again }) => again),
      [true],
    )
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
        pace: { size: 3, atOnce: 2, retryAfter: 10 },
      },
    })
    t.after(async () => {
      await world.close()
      await server.close()
    })
    return { server, world }
  }

  test('a mail server that fails and never speaks keeps a few connections, and a queue of which the end is dropped', async t => {
    const { server, world } = await unanswered(t, longest)
    for (let made = 0; made < 8; made++) {
      await signsUp(world)
      await new Promise(resolve => setImmediate(resolve))
    }
    await until('the queue is full', () => failures(world).some(({ reason }) => reason === 'full'))
    assert.ok(server.connections() <= 2)
  })

  test('a mail server that fails and never speaks is given up', async t => {
    const { world } = await unanswered(t, 50)
    await signsUp(world)
    await until('both tries are given up', () => failures(world).length === 2)
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

describe('the token', () => {
  let world: World
  let made: { id: number; email: string }
  let token: string
  before(async () => {
    world = await createWorld()
    made = (await signUp(world)).json
    token = await latest(world, 1)
  })
  after(() => world.close())

  test('the token is refused to anonymous and to a stranger, whatever it is', async () => {
    for (const given of [token, 'x', 5]) {
      refuses(await verify(world, made.id, undefined, given), 401, 'UNAUTHENTICATED')
      refuses(await verify(world, made.id, 3, given), 403, 'FORBIDDEN')
    }
    refuses(await verify(world, made.id, 4, token), 403, 'FORBIDDEN')
    refuses(await verify(world, 999, 999, token), 404, 'NOT_FOUND')
    refuses(await verify(world, 999, 1, 'x'), 404, 'NOT_FOUND')
  })

  test('the token of another user is refused', async () => {
    isRefused(await verify(world, 3, 3, token))
    isRefused(await verify(world, 3, 1, token))
  })

  test('the token that was changed anywhere is refused', async () => {
    const flip = (at: number) =>
      `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`
    for (let at = 0; at < token.length; at++) {
      if (token[at] !== '.') isRefused(await verify(world, made.id, made.id, flip(at)))
    }
    const [claims = '', seal = ''] = token.split('.')
    const others = [
      '',
      '.',
      claims,
      `${claims}.`,
      `.${seal}`,
      `${token}=`,
      `${token}A`,
      ` ${token}`,
    ]
    for (const other of others) isRefused(await verify(world, made.id, made.id, other))
  })

  test('the token is good for nothing else, and no other signature of the same key is good for it', async () => {
    const headers = { Authorization: `Bearer ${token}` }
    refuses(await world.ask('GET /api/users', { headers }), 401, 'UNAUTHENTICATED')
    const access = await world.token(made.id)
    isRefused(await verify(world, made.id, made.id, access))
    const [claims = ''] = token.split('.')
    const key = await world.store.secret('mail')
    const plain = createHmac('sha256', key).update(claims).digest('base64url')
    isRefused(await verify(world, made.id, made.id, `${claims}.${plain}`))
  })

  test('the token must be a string by that name, alone', async () => {
    const ask = (body: unknown) =>
      world.ask(`POST /api/users/${made.id}/verify-email`, { as: made.id, body })
    isRefused(await ask({}))
    isRefused(await ask({ token: null }))
    isRefused(await ask({ token: 1 }))
    refuses(await ask({ token, email: 'x' }), 422, 'VALIDATION_ERROR', ['email'])
    refuses(await ask({ code: token }), 422, 'VALIDATION_ERROR', ['code', 'token'])
    refuses(await ask([token]), 400, 'MALFORMED_REQUEST')
    assert.equal(
      (await world.ask(`GET /api/users/${made.id}`, { as: 1 })).json.emailVerified,
      false,
    )
  })

  test('verifies the address once; used again it changes nothing more, and an admin may use it', async () => {
    const before = await revisionTag(world, made.id)
    const first = await verify(world, made.id, made.id, token)
    assert.equal(first.status, 200)
    assert.equal(first.json.emailVerified, true)
    assert.notEqual(first.headers.get('etag'), before)
    const tag = await revisionTag(world, made.id)
    for (const who of [made.id, 1]) {
      const again = await verify(world, made.id, who, token)
      assert.equal(again.status, 200)
      assert.equal(again.text, first.text)
    }
    assert.equal(await revisionTag(world, made.id), tag)
  })

  test('the token for an address that is no longer theirs is refused, and the one for the new address is good', async () => {
    const email = newEmail()
    const changed = await world.ask(`PATCH /api/users/${made.id}`, { as: made.id, body: { email } })
    assert.equal(changed.json.emailVerified, false)
    isRefused(await verify(world, made.id, made.id, token))
    assert.equal((await verify(world, made.id, made.id)).status, 202)
    const fresh = await latest(world, 2)
    assert.equal((await verify(world, made.id, made.id, fresh)).json.emailVerified, true)
  })

  test('the token is good for 24 hours and not a millisecond longer', async t => {
    let moment = Date.now()
    const there = await createWorld({ now: () => moment })
    t.after(() => there.close())
    const { json } = await signUp(there)
    const given = await latest(there, 1)
    const ask = async () => {
      const headers = {
        Authorization: `Bearer ${await mint({ sub: 1, role: 'admin', ttl: 60 }, secret, moment)}`,
      }
      return there.ask(`POST /api/users/${json.id}/verify-email`, {
        headers,
        body: { token: given },
      })
    }
    moment += 24 * hour
    const late = await ask()
    isRefused(late)
    assert.match(late.json.error.message, /expired/)
    moment -= 1
    assert.equal((await ask()).status, 200)
  })

  test('the token is made with a key of the store, so that another store’s is refused', async t => {
    const other = await createWorld()
    t.after(() => other.close())
    const { json } = await signUp(other, { email: made.email })
    assert.equal(json.id, made.id)
    isRefused(await verify(other, made.id, made.id, token))
  })
})

describe('without a body', () => {
  test('an admin verifies at once, again without a change, and asks nobody', async t => {
    const world = await createWorld()
    t.after(() => world.close())
    const first = await verify(world, 3, 1)
    assert.equal(first.status, 200)
    assert.equal(first.json.emailVerified, true)
    const second = await verify(world, 3, 1)
    assert.equal(second.status, 200)
    assert.equal(second.text, first.text)
    refuses(await verify(world, 999, 1), 404, 'NOT_FOUND')
    assert.deepEqual(world.letters, [])
  })

  test('others are refused, and a suspended user is', async t => {
    const world = await createWorld()
    t.after(() => world.close())
    refuses(await verify(world, 3, undefined), 401, 'UNAUTHENTICATED')
    refuses(await verify(world, 3, 2), 403, 'FORBIDDEN')
    refuses(await verify(world, 4, 4), 403, 'FORBIDDEN')
    assert.deepEqual(world.letters, [])
  })

  test('in production without a mail server it is 503, and sign-up and an admin’s word still hold', async t => {
    const world = await createWorld({ mail: { delivery: { kind: 'none' } } })
    t.after(() => world.close())
    const { status, json } = await signUp(world)
    assert.equal(status, 201)
    const asked = await verify(world, json.id, json.id)
    refuses(asked, 503, 'UNAVAILABLE')
    assert.ok(Number(asked.headers.get('retry-after')) > 0)
    refuses(await verify(world, json.id, 3), 403, 'FORBIDDEN')
    assert.equal((await verify(world, json.id, 1)).json.emailVerified, true)
    assert.deepEqual([world.letters, failures(world)], [[], []])
  })

  test('in development the message is shown with its token, and nothing of it is logged', async t => {
    const world = await createWorld()
    t.after(() => world.close())
    const { json } = await signUp(world)
    const token = await latest(world, 1)
    assert.equal(world.letters[0]?.to, json.email)
    assert.equal((await verify(world, json.id, json.id, token)).json.emailVerified, true)
    const log = JSON.stringify(world.events)
    assert.ok(!log.includes(token))
    assert.ok(!log.includes(json.email))
  })
})

test('the page that the link leads to is served, and lets no foreign code in', async t => {
  const world = await createWorld()
  t.after(() => world.close())
  const page = await world.ask('GET /verify-email')
  assert.equal(page.status, 200)
  assert.match(
    page.headers.get('content-security-policy') ?? '',
    /default-src 'none'.*script-src 'self'/,
  )
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
  const script = /src="(\/assets\/verify-email\.js[^"]*)"/.exec(page.text)?.[1]
  assert.equal((await world.ask(`GET ${script}`)).status, 200)
})
