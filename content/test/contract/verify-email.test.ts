/** Email verification: the token, who may use it, and the page that its link leads to. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { mint } from '#auth/token.ts'
import { until } from '#test/support/wait.ts'
import { refuses, refusesInput } from '../rest.ts'
import { type Answered, createWorld, forAllTests, secret, type World } from '../world.ts'
import { failures, hour, newEmail, signUp, tokenIn, verify } from './verifying.ts'

/** The token of the latest message that a world without a mail server would have sent. */
const latest = async (world: World, number: number): Promise<string> => {
  await until(`message ${number} is written`, () => world.letters.length >= number)
  return tokenIn(world.letters[number - 1]?.text ?? '')
}

const revisionTag = async (world: World, id: number) =>
  (await world.ask(`GET /api/users/${id}`, { as: 1 })).headers.get('etag')

const isRefused = (answer: Answered) => refusesInput(answer, ['token'])

describe('the token', () => {
  const world = forAllTests(createWorld)
  let made: { id: number; email: string }
  let token: string
  before(async () => {
    made = (await signUp(world)).json
    token = await latest(world, 1)
  })

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
    isRefused(await verify(world, made.id, made.id, await world.token(made.id)))
    const [claims = ''] = token.split('.')
    const { mail: key } = await world.store.secrets()
    const plain = createHmac('sha256', key).update(claims).digest('base64url')
    isRefused(await verify(world, made.id, made.id, `${claims}.${plain}`))
  })

  test('the token must be a string by that name, alone', async () => {
    const ask = (body: unknown) =>
      world.ask(`POST /api/users/${made.id}/verify-email`, { as: made.id, body })
    isRefused(await ask({}))
    isRefused(await ask({ token: null }))
    isRefused(await ask({ token: 1 }))
    refusesInput(await ask({ token, email: 'x' }), ['email'])
    refusesInput(await ask({ code: token }), ['code', 'token'])
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

  test('the token is good for 24 hours and not a millisecond longer', async () => {
    let moment = Date.now()
    await using there = await createWorld({ now: () => moment })
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

  test('the token may expire before an answer that is stored under a key: that is given again', async () => {
    let moment = Date.now()
    await using there = await createWorld({ now: () => moment })
    const { json } = await signUp(there)
    const given = await latest(there, 1)
    const ask = async (key: string) => {
      const bearer = await mint({ sub: json.id, role: 'user', ttl: 60 }, secret, moment)
      return there.ask(`POST /api/users/${json.id}/verify-email`, {
        headers: { Authorization: `Bearer ${bearer}`, 'Idempotency-Key': key },
        body: { token: given },
      })
    }
    moment += hour
    const first = await ask('in-time')
    assert.equal(first.status, 200)
    moment += 23 * hour
    const again = await ask('in-time')
    assert.deepEqual([again.status, again.text], [200, first.text])
    assert.equal(again.headers.get('idempotency-replayed'), 'true')
    isRefused(await ask('late'))
  })

  test('the token is made with a key of the store, so that another store’s is refused', async () => {
    await using other = await createWorld()
    const { json } = await signUp(other, { email: made.email })
    assert.equal(json.id, made.id)
    isRefused(await verify(other, made.id, made.id, token))
  })
})

describe('without a body', () => {
  test('an admin verifies at once, again without a change, and asks nobody', async () => {
    await using world = await createWorld()
    const first = await verify(world, 3, 1)
    assert.equal(first.status, 200)
    assert.equal(first.json.emailVerified, true)
    const second = await verify(world, 3, 1)
    assert.equal(second.status, 200)
    assert.equal(second.text, first.text)
    refuses(await verify(world, 999, 1), 404, 'NOT_FOUND')
    assert.deepEqual(world.letters, [])
  })

  test('others are refused, and a suspended user is', async () => {
    await using world = await createWorld()
    refuses(await verify(world, 3, undefined), 401, 'UNAUTHENTICATED')
    refuses(await verify(world, 3, 2), 403, 'FORBIDDEN')
    refuses(await verify(world, 4, 4), 403, 'FORBIDDEN')
    assert.deepEqual(world.letters, [])
  })

  test('in production without a mail server it is 503, and sign-up and an admin’s word still hold', async () => {
    await using world = await createWorld({ mail: { delivery: { kind: 'none' } } })
    const { status, json } = await signUp(world)
    assert.equal(status, 201)
    const asked = await verify(world, json.id, json.id)
    refuses(asked, 503, 'UNAVAILABLE')
    assert.ok(Number(asked.headers.get('retry-after')) > 0)
    refuses(await verify(world, json.id, 3), 403, 'FORBIDDEN')
    assert.equal((await verify(world, json.id, 1)).json.emailVerified, true)
    assert.deepEqual([world.letters, failures(world)], [[], []])
  })

  test('an answer stored under a key is given again where no mail is sent any more', async () => {
    await using world = await createWorld()
    const asking = { as: 3, headers: { 'Idempotency-Key': 'again' } }
    const first = await world.ask('POST /api/users/3/verify-email', asking)
    assert.equal(first.status, 202)
    const { services } = world.core
    Object.assign(services, { mail: { ...services.mail, canSend: false } })
    const again = await world.ask('POST /api/users/3/verify-email', asking)
    assert.deepEqual([again.status, again.text], [202, first.text])
    refuses(await verify(world, 3, 3), 503, 'UNAVAILABLE')
  })

  test('in development the message is shown with its token, and nothing of it is logged', async () => {
    await using world = await createWorld()
    const { json } = await signUp(world)
    const token = await latest(world, 1)
    assert.equal(world.letters[0]?.to, json.email)
    assert.equal((await verify(world, json.id, json.id, token)).json.emailVerified, true)
    const log = JSON.stringify(world.events)
    assert.ok(!log.includes(token))
    assert.ok(!log.includes(json.email))
  })
})

test('the page that the link leads to is served, names the newest version, and lets no foreign code in', async () => {
  await using world = await createWorld()
  const page = await world.ask('GET /verify-email')
  assert.equal(page.status, 200)
  assert.match(
    page.headers.get('content-security-policy') ?? '',
    /default-src 'none'.*script-src 'self'/,
  )
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
  assert.match(page.text, /<form [^>]*data-rest="\/api\/v2"/)
  const script = /src="(\/assets\/verify-email\.js[^"]*)"/.exec(page.text)?.[1]
  assert.equal((await world.ask(`GET ${script}`)).status, 200)
})
