/** Sign-in by a code: the content's own rows, sessions, tokens, and what both APIs make of them. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { createAuthClient } from 'better-auth/client'
import { emailOTPClient, jwtClient } from 'better-auth/client/plugins'
import { connect } from '#engines/sqlite/connection.ts'
import type { Field } from '#model/field.ts'
import { authDocument } from '#openapi/people.ts'
import { queryWith } from '#sql/engine.ts'
import { until } from '#test/support/wait.ts'
import { writeQueries } from '#write/job.ts'
import { askCode, claimsOf, codeFor, home, mailTo, signIn, visitorOf } from '../support/visitor.ts'
import { createWorld, forAllTests, sqliteTest as it, pluck, usualModel } from '../world.ts'

const world = forAllTests(() => createWorld({ people: {} }))

const rowOf = async (email: string) => {
  const [row] = await world.rows(
    'select id, name, email, email_verified, revision, role from users where email_key = ?1',
    email,
  )
  return row
}

test('a row that is there belongs to whoever proves its address by a code, and keeps its name and spelling', async () => {
  const made = await world.ask('POST /api/users', {
    body: { name: 'Grace', email: 'Grace@Example.org' },
  })
  assert.equal(made.status, 201, made.text)
  await mailTo(world, 'Grace@Example.org', /./)
  const { answer, by, id } = await signIn(world, 'grace@example.org', {
    name: 'Somebody else',
    mailed: 'Grace@Example.org',
  })
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(await rowOf('grace@example.org'), [
    Number(id),
    'Grace',
    'Grace@Example.org',
    1,
    2,
    'user',
  ])
  assert.match(answer.headers.get('cache-control') ?? '', /no-store/)
  const cookie = answer.headers.get('set-cookie') ?? ''
  assert.match(cookie, /^__Host-duet\.session_token=.*; HttpOnly; Secure; SameSite=Lax/i)

  const auth = await by.bearer()
  const { sub, role, exp, iat, iss, aud } = claimsOf(auth)
  assert.deepEqual(
    [sub, role, exp - iat, iss, aud],
    [id, 'user', 600, 'https://duet.example.org', 'https://duet.example.org'],
  )
  const post = { title: 'By REST', content: 'Here' }
  const byRest = await by.send('POST', `/api/users/${id}/posts`, post, { headers: auth })
  assert.equal(byRest.status, 201, byRest.text)
  const byGraphql = await by.post(
    '/graphql',
    {
      query: `mutation { createPost(input: { authorId: ${id}, title: "By GraphQL", content: "There" }) { author { name } } }`,
    },
    { headers: auth },
  )
  assert.equal(byGraphql.json.data?.createPost?.author?.name, 'Grace', byGraphql.text)
  const forAnother = await by.send('POST', '/api/users/1/posts', post, { headers: auth })
  assert.equal(forAnother.code, 'FORBIDDEN')
})

it('cookies alone give no right in either API', async () => {
  const { by, id } = await signIn(world, 'cookie@example.org')
  const write = await by.post(`/api/users/${id}/posts`, { title: 'x', content: 'y' })
  assert.equal(write.status, 401)
  const query = {
    query: `mutation { createPost(input: { authorId: ${id}, title: "x", content: "y" }) { id } }`,
  }
  assert.equal((await by.post('/graphql', query)).json.errors[0].extensions.code, 'UNAUTHENTICATED')
})

test('a new person gets a row with the name that was given, or none of the address', async () => {
  const named = await signIn(world, 'neu@example.org', { name: 'Neu Mann' })
  assert.equal(named.answer.json.user.name, 'Neu Mann')
  const unnamed = await signIn(world, 'unnamed@example.org')
  assert.equal(unnamed.answer.json.user.name, 'New member')
  const long = await signIn(world, 'long@example.org', { name: 'x'.repeat(300) })
  assert.equal(long.answer.json.user.name, 'x'.repeat(40))
  assert.deepEqual((await rowOf('neu@example.org'))?.slice(1), [
    'Neu Mann',
    'neu@example.org',
    1,
    1,
    'user',
  ])
})

test('a code is good once, and five wrong ones use it up', async () => {
  const { otp } = await signIn(world, 'once@example.org')
  const again = { email: 'once@example.org', otp }
  assert.equal((await visitorOf(world).post('/auth/sign-in/email-otp', again)).code, 'INVALID_OTP')
  const by = visitorOf(world)
  await askCode(by, 'once@example.org')
  const right = await codeFor(world, 'once@example.org')
  const wrong = right === '00000000' ? '00000001' : '00000000'
  for (let n = 0; n < 5; n++)
    await by.post('/auth/sign-in/email-otp', { email: 'once@example.org', otp: wrong })
  const late = await by.post('/auth/sign-in/email-otp', { email: 'once@example.org', otp: right })
  assert.notEqual(late.status, 200)
  assert.equal((await by.post('/auth/sign-in/link', { token: 'a\0' })).code, 'INVALID_LINK')
})

test('the same code typed ten times at once makes one session and one row', async () => {
  await askCode(visitorOf(world), 'race@example.org')
  const otp = await codeFor(world, 'race@example.org')
  const all = await Promise.all(
    Array.from({ length: 10 }, () =>
      visitorOf(world).post('/auth/sign-in/email-otp', { email: 'race@example.org', otp }),
    ),
  )
  assert.equal(all.filter(({ status }) => status === 200).length, 1)
  const [count] = await world.rows(
    "select count(*) from auth_sessions where user_id in (select id from users where email_key = 'race@example.org')",
  )
  assert.equal(Number(count?.[0]), 1)
})

test('one who asks a thousand times at once has half the places of sign-in, and is refused beyond [H5]', async () => {
  const { get } = visitorOf(world)
  const all = await Promise.all(Array.from({ length: 1000 }, () => get('/auth/get-session')))
  assert.deepEqual(
    new Set(all.map(({ code, status }) => code ?? status)),
    new Set([200, 'OVERLOADED']),
  )
})

test('a role in the body of a sign-in gives none, and a person who was promoted has it in the next token', async () => {
  const by = visitorOf(world)
  await askCode(by, 'climber@example.org')
  const otp = await codeFor(world, 'climber@example.org')
  const body = { email: 'climber@example.org', otp, role: 'admin', blocked: false, id: '1' }
  const { id } = (await by.post('/auth/sign-in/email-otp', body)).json.user
  assert.equal(claimsOf(await by.bearer()).role, 'user')
  const promoted = await world.ask(`POST /api/users/${id}/actions/promote-to-admin`, { as: 1 })
  assert.equal(promoted.status, 200, promoted.text)
  assert.equal(claimsOf(await by.bearer()).role, 'admin')
})

test('a blocked person gets neither session nor token and writes no more, until unblocked', async () => {
  const { by, id } = await signIn(world, 'blocked@example.org')
  const auth = await by.bearer()
  const set = (status: string) =>
    world
      .ask(`PATCH /api/users/${id}`, { as: 1, body: { status } })
      .then(({ status }) => assert.equal(status, 200))
  await set('suspended')
  const again = await signIn(world, 'blocked@example.org')
  assert.deepEqual([again.answer.status, again.answer.code], [403, 'BLOCKED'])
  const token = await by.get('/auth/token')
  assert.deepEqual([token.status, token.code], [403, 'BLOCKED'])
  const post = { title: 'x', content: 'y' }
  assert.equal(
    (await by.send('POST', `/api/users/${id}/posts`, post, { headers: auth })).status,
    403,
  )
  assert.equal((await by.get(`/api/users/${id}`, { headers: auth })).status, 200)
  const change = { newEmail: 'unblocked@example.org', otp: '12345678' }
  for (const path of ['request-email-change', 'change-email'])
    assert.equal((await by.post(`/auth/email-otp/${path}`, change)).code, 'BLOCKED')
  await set('active')
  assert.equal((await by.get('/auth/token')).status, 200)
})

test('a person who is renamed, blocked or deleted while signed in is so at once, whoever does it and how', async () => {
  const { user } = usualModel.entities
  assert.ok(user)
  const status = { ...user.fields.status, graphql: 'shown' } as Field
  const open = { ...user, bulk: true, fields: { ...user.fields, status } }
  const entities = { ...usualModel.entities, user: open }
  await using world = await createWorld({ people: {}, model: { ...usualModel, entities } })
  type Change = { readonly name?: string; readonly status?: 'active' | 'suspended' }
  const rest = async (line: string, body?: object) => {
    const { status, text } = await world.ask(line, { as: 1, ...(body && { body }) })
    assert.ok(status < 300, text)
  }
  const graphql = async (mutation: string) => {
    const { json } = await world.gql(`mutation { ${mutation} }`, { as: 1 })
    assert.equal(json.errors, undefined, JSON.stringify(json.errors))
  }
  const inputOf = (change: Change) => JSON.stringify(change).replace(/"(\w+)":/g, '$1: ')
  const where = (id: string) => ({ where: { id: { in: [Number(id)] } } })
  /** How a row is changed, or deleted where there is nothing to change. */
  const ways: Readonly<Record<string, (id: string, change?: Change) => Promise<unknown>>> = {
    REST: (id, change) => rest(`${change ? 'PATCH' : 'DELETE'} /api/users/${id}`, change),
    GraphQL: (id, change) =>
      change
        ? graphql(`updateUser(id: ${id}, input: ${inputOf(change)}) { id }`)
        : graphql(`deleteUser(id: ${id})`),
    'many rows by REST': (id, change) =>
      rest('POST /api/v2/users/bulk', {
        ...(change ? { update: change } : { delete: true }),
        ...where(id),
      }),
    'many rows by GraphQL': (id, change) => {
      const found = `where: { id: { in: [${id}] } }`
      return change
        ? graphql(`updateUsers(${found}, input: ${inputOf(change)}) { count }`)
        : graphql(`deleteUsers(${found}) { count }`)
    },
    'SQL beside the service': async (id, change) => {
      if (!change) return world.change('delete from users where id = ?1', Number(id))
      const [[key, value] = ['', '']] = Object.entries(change)
      return world.change(`update users set ${key} = ?1 where id = ?2`, value, Number(id))
    },
  }
  for (const [way, change] of Object.entries(ways)) {
    const email = `${way.replaceAll(' ', '-').toLowerCase()}@example.org`
    const { by, id } = await signIn(world, email, { name: 'Before' })
    const headers = await by.bearer()
    const write = async () =>
      (await by.send('PATCH', `/api/users/${id}`, { age: 40 }, { headers })).status
    const token = async () => (await by.get('/auth/token')).status
    await change(id, { name: 'After' })
    assert.equal((await by.get('/auth/get-session')).json.user.name, 'After', way)
    await change(id, { status: 'suspended' })
    assert.deepEqual([await token(), await write()], [403, 403], way)
    await change(id, { status: 'active' })
    assert.deepEqual([await token(), await write()], [200, 200], way)
    await change(id)
    assert.equal((await by.get('/auth/get-session')).json, null, way)
    assert.deepEqual([await token(), await write()], [401, 403], way)
    assert.notEqual((await signIn(world, email)).id, id, way)
  }
})

test('a session that was signed out makes no token, and its tokens of before write no more', async () => {
  const { by, id } = await signIn(world, 'out@example.org')
  const auth = await by.bearer()
  // Another tab has the same session.
  const tab = visitorOf(world)
  for (const [name, value] of by.jar) tab.jar.set(name, value)
  assert.equal((await by.post('/auth/sign-out')).status, 200)
  assert.equal((await by.get('/auth/token')).status, 401)
  assert.equal((await tab.get('/auth/get-session')).json, null)
  const again = await Promise.all([tab, by].map(one => one.post('/auth/sign-out')))
  assert.deepEqual(
    again.map(({ status }) => status),
    [200, 200],
  )
  const write = await by.send(
    'POST',
    `/api/users/${id}/posts`,
    { title: 'x', content: 'y' },
    { headers: auth },
  )
  assert.deepEqual([write.status, write.code], [403, 'FORBIDDEN'])
  assert.match(write.text, /session of this token was ended/)
})

it('an address that is known is answered as one that is not, and so is one in use at a change', async () => {
  const known = await askCode(visitorOf(world), 'out@example.org')
  const unknown = await askCode(visitorOf(world), 'nobody-knows@example.org')
  const told = ({ status, text }: typeof known) => [status, text]
  assert.deepEqual(told(known), told(unknown))
  const { by } = await signIn(world, 'mover@example.org')
  const change = (newEmail: string) => by.post('/auth/email-otp/request-email-change', { newEmail })
  const free = await change('free@example.org')
  assert.deepEqual(told(free), told(await change('out@example.org')))
})

it('tries of a code for nobody are answered as those for somebody, where sign-up is closed', async () => {
  await using world = await createWorld({ people: { signUp: false } })
  const nameOf = (email: string) => hash('sha256', `sign-in-otp-${email}`, 'base64url')
  const kept = 'select value from auth_verifications where identifier = ?1'
  const asked = async (email: string) => {
    await askCode(visitorOf(world), email)
    await until('a code is kept', async () => (await world.rows(kept, nameOf(email))).length === 1)
  }
  const told = async (email: string, otp: string) => {
    const { status, json } = await visitorOf(world).post('/auth/sign-in/email-otp', { email, otp })
    return [status, json.code, json.message]
  }
  const tries = async (email: string) => {
    const answers: unknown[] = []
    await asked(email)
    for (let n = 0; n < 7; n++) answers.push(await told(email, '00000000'))
    await asked(email)
    await world.change('update auth_verifications set expires_at = 1 returning id')
    return [...answers, await told(email, '00000000')]
  }
  assert.deepEqual(await tries('nobody@example.org'), await tries('ada@example.org'))
  // Who guesses the code of nobody is told that it was wrong.
  for (const email of ['nobody@example.org', 'ben@example.org']) await asked(email)
  const otp = await codeFor(world, 'ben@example.org')
  const [[value] = []] = await world.rows(kept, nameOf('ben@example.org'))
  await world.change(
    'update auth_verifications set value = ?1 where identifier = ?2',
    String(value),
    nameOf('nobody@example.org'),
  )
  assert.deepEqual(await told('nobody@example.org', otp), [400, 'INVALID_OTP', 'Invalid OTP'])
  assert.ok(world.letters.every(({ to }) => to !== 'nobody@example.org'))
})

it('tries of a code for an address of another row are answered as those for a free one', async () => {
  const { by, id } = await signIn(world, 'prober@example.org')
  const codes: string[] = []
  const kept = 'select value from auth_verifications where identifier = ?1'
  const tries = async (newEmail: string) => {
    const name = hash('sha256', `change-email-otp-${id}:${newEmail}`, 'base64url')
    const asked = async () => {
      await by.post('/auth/email-otp/request-email-change', { newEmail })
      await until('a code is kept', async () => (await world.rows(kept, name)).length === 1)
    }
    const told = async () => {
      const change = { newEmail, otp: '00000000' }
      const { status, json } = await by.post('/auth/email-otp/change-email', change)
      return [status, json.code, json.message]
    }
    const answers: unknown[] = []
    await asked()
    const [[value] = []] = await world.rows(kept, name)
    codes.push(String(value))
    for (let n = 0; n < 7; n++) answers.push(await told())
    await asked()
    await world.change('update auth_verifications set expires_at = 1 returning id')
    return [...answers, await told()]
  }
  assert.deepEqual(await tries('ben@example.org'), await tries('nobodys@example.org'))
  // Of an address of another row no code is right, so that none that is guessed tells of it.
  assert.deepEqual(
    codes.map(one => one === 'nobody:0'),
    [true, false],
  )
  assert.ok(world.letters.every(({ to }) => to !== 'ben@example.org'))
})

it('in development the terminal says why no letter goes to an address, and the caller is told nothing of it', async () => {
  const ways = ['code', 'password'] as const
  await using world = await createWorld({ people: { development: true, signUp: false, ways } })
  const shown = () => world.events.flatMap(event => (event.kind === 'shown' ? [event.text] : []))
  const next = async (count: number) => {
    await until('the terminal says it', () => shown().length === count)
    return shown().at(-1)
  }
  const visitor = visitorOf(world)
  const { status, text } = await askCode(visitor, 'nobody@example.org')
  assert.equal(
    await next(1),
    'no mail to nobody@example.org: nobody has this address, and a sign-in makes no row for it',
  )
  const known = await askCode(visitor, 'ada@example.org')
  assert.deepEqual([status, text], [known.status, known.text])
  await visitor.post('/auth/request-password-reset', { email: 'nobody2@example.org' })
  assert.match((await next(2)) ?? '', /nobody2@example.org: nobody has this address/)
})

test('an address is changed by a code to the new one, which keeps the session and tells the old one', async () => {
  const { by, id } = await signIn(world, 'before@example.org')
  await by.post('/auth/email-otp/request-email-change', { newEmail: 'after@example.org' })
  const otp = await codeFor(world, 'after@example.org')
  const changed = await by.post('/auth/email-otp/change-email', {
    newEmail: 'after@example.org',
    otp,
  })
  assert.equal(changed.status, 200, changed.text)
  assert.deepEqual((await rowOf('after@example.org'))?.slice(0, 4), [
    Number(id),
    'New member',
    'after@example.org',
    1,
  ])
  await mailTo(world, 'before@example.org', /^Your address was changed/)
  assert.equal((await by.get('/auth/token')).status, 200)
})

test('a code for the address of before makes another row', async () => {
  const { by, id } = await signIn(world, 'kim@example.org')
  const headers = await by.bearer()
  const query = `mutation { updateUser(id: ${id}, input: { email: "kim2@example.org" }) { id } }`
  await askCode(visitorOf(world), 'kim@example.org')
  const otp = await codeFor(world, 'kim@example.org')
  assert.equal((await by.post('/graphql', { query }, { headers })).json.data?.updateUser.id, id)
  const late = { email: 'kim@example.org', otp }
  const { json } = await visitorOf(world).post('/auth/sign-in/email-otp', late)
  assert.notEqual(json.user.id, id)
  assert.equal((await rowOf('kim2@example.org'))?.[3], 0)
})

test('of two rows that would have one address there is one, whoever is first', async () => {
  const { by } = await signIn(world, 'two@example.org')
  await by.post('/auth/email-otp/request-email-change', { newEmail: 'one@example.org' })
  const change = { newEmail: 'one@example.org', otp: await codeFor(world, 'one@example.org') }
  const make = (email: string) =>
    world.ask('POST /api/users', { body: { name: 'First', email } }).then(({ status }) => status)
  assert.equal(await make('One@Example.org'), 201)
  assert.equal((await by.post('/auth/email-otp/change-email', change)).status, 400)
  assert.equal((await rowOf('one@example.org'))?.[1], 'First')
  assert.equal((await rowOf('two@example.org'))?.[3], 1)

  await askCode(visitorOf(world), 'at-once@example.org')
  const proof = { email: 'at-once@example.org', otp: await codeFor(world, 'at-once@example.org') }
  const [signedIn, made] = await Promise.all([
    visitorOf(world).post('/auth/sign-in/email-otp', proof),
    make('At-once@example.org'),
  ])
  const rows = await world.rows("select id from users where email_key = 'at-once@example.org'")
  assert.equal(rows.length, 1)
  assert.ok([200, 409, 412].includes(signedIn.status), signedIn.text)
  assert.ok([201, 409].includes(made), `${made}`)
})

test('by a token of an older session the address stays as it is, in both APIs; all else may change', async () => {
  const { by, id } = await signIn(world, 'stale@example.org')
  const makeOlder = 'update auth_sessions set created_at = created_at - ?1 where user_id = ?2'
  await world.change(makeOlder, 700_000, Number(id))
  const headers = await by.bearer()
  const patch = (body: object) => by.send('PATCH', `/api/users/${id}`, body, { headers })
  const refused = await patch({ email: 'thief@example.org' })
  assert.deepEqual([refused.status, refused.code], [403, 'STEP_UP_NEEDED'])
  const query = `mutation { updateUser(id: ${id}, input: { email: "thief@example.org" }) { id } }`
  const byGraphql = await by.post('/graphql', { query }, { headers })
  assert.equal(byGraphql.json.errors[0].extensions.code, 'STEP_UP_NEEDED')
  assert.equal((await patch({ email: 'Stale@example.org', name: 'Stale too' })).status, 200)
  const change = await by.post('/auth/email-otp/request-email-change', {
    newEmail: 'thief@example.org',
  })
  assert.deepEqual([change.status, change.code], [403, 'STEP_UP_NEEDED'])
  // As of a session that was made before the clock was set back.
  await world.change(makeOlder, -1_400_000, Number(id))
  assert.equal((await by.post('/auth/email-otp/request-email-change', {})).code, 'STEP_UP_NEEDED')
})

it('pages of other origins sign nobody in, and a session as it is stored is no session', async () => {
  const by = visitorOf(world)
  const foreign = { email: 'a@example.org', type: 'sign-in' }
  for (const origin of ['https://evil.example', 'null', 'https://duet.example.org.evil.example'])
    assert.equal(
      (await by.post('/auth/email-otp/send-verification-otp', foreign, { origin })).status,
      403,
    )
  const plain = { headers: { 'content-type': 'text/plain' } }
  assert.equal((await by.post('/auth/email-otp/send-verification-otp', foreign, plain)).status, 415)
  const { answer, by: signedIn } = await signIn(world, 'bearer@example.org')
  const raw = { headers: { authorization: `Bearer ${answer.json.token}` } }
  assert.equal((await by.get('/auth/token', raw)).status, 401)
  const signed = answer.headers.get('set-auth-token') ?? ''
  assert.match(answer.headers.get('access-control-expose-headers') ?? '', /Set-Auth-Token/)
  assert.equal(
    (await visitorOf(world).get('/auth/token', { headers: { authorization: `Bearer ${signed}` } }))
      .status,
    200,
  )
  assert.equal((await signedIn.post('/auth/sign-out', {}, { origin: null })).status, 403)
})

it('a sign-in makes a session of its own, whatever session the browser had and wherever a proxy says that it is', async () => {
  const name = '__Host-duet.session_token'
  const mallory = await signIn(world, 'fixer@example.org')
  for (const planted of [mallory.by.jar.get(name) ?? '', 'planted', 'planted.AAAA']) {
    const by = visitorOf(world)
    by.jar.set(name, planted)
    await askCode(by, 'fixed@example.org')
    const body = { email: 'fixed@example.org', otp: await codeFor(world, 'fixed@example.org') }
    const headers = {
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'evil.example',
      forwarded: 'host=evil.example;proto=http',
    }
    const answer = await by.post('/auth/sign-in/email-otp', body, { headers })
    assert.match(answer.headers.get('set-cookie') ?? '', /^__Host-duet\.session_token=.*; Secure/)
    assert.notEqual(by.jar.get(name), planted)
    assert.equal((await by.get('/auth/get-session')).json.user.email, 'fixed@example.org')
  }
  const session = await mallory.by.get('/auth/get-session')
  assert.equal(session.json.user.email, 'fixer@example.org')
  const victim = await signIn(world, 'fixed@example.org')
  await mallory.by.post('/auth/revoke-session', { token: victim.answer.json.token })
  assert.equal((await victim.by.get('/auth/token')).status, 200)
})

it('bodies that are cut off, of another kind or with another header in an address are refused, and nothing is mailed', async () => {
  const before = world.letters.length
  const path = '/auth/email-otp/send-verification-otp'
  const whole = JSON.stringify({ email: 'half@example.org', type: 'sign-in' })
  const headers = { 'content-type': 'application/json', origin: home }
  const bodies = ['', ' ', 'null', '[]', '"x"', '{}', '{"__proto__":{"email":"a@example.org"}}']
  for (const body of [...bodies, ...Array.from(whole, (_, at) => whole.slice(0, at))]) {
    const { status } = await world.app.request(path, { method: 'POST', headers, body })
    assert.equal(status, 400, body)
  }
  for (const email of [
    'a@example.org\r\nBcc: b@example.org',
    'a@example.org\n',
    'a@example.org,b@example.org',
    'A <a@example.org>',
    '"a b"@example.org',
    'a@example.org\0',
    `${'a'.repeat(243)}@example.org`,
    ['a@example.org'],
    { toLowerCase: 'a@example.org' },
    5,
    null,
  ]) {
    const { status, text } = await visitorOf(world).post(path, { email, type: 'sign-in' })
    assert.equal(status, 400, `${JSON.stringify(email)}: ${text}`)
  }
  for (const type of ['forget-password', 'email-verification', 'change-email', 'else', 5, null]) {
    const { status, text } = await visitorOf(world).post(path, { email: 'ada@example.org', type })
    assert.equal(status, 400, `${type}: ${text}`)
  }
  for (const otp of [['12345678'], { length: 8 }, 12_345_678, null, '١٢٣٤٥٦٧٨'])
    for (const email of ['ada@example.org', 'half@example.org', 'a\0@example.org'])
      assert.equal(
        (await visitorOf(world).post('/auth/sign-in/email-otp', { email, otp })).status,
        400,
      )
  assert.equal(world.letters.length, before)
})

it('no event of the log holds a code, a session, a token or an address', async () => {
  const by = visitorOf(world)
  await by.post('/auth/sign-in/email-otp', { email: 'logged@example.org', otp: '00000000' })
  const { otp, answer } = await signIn(world, 'logged@example.org', { by })
  const { authorization } = await by.bearer()
  await by.get(`/auth/callback/x?code=${otp}&state=${otp}`)
  await by.get(`/signin?error=x&token=${otp}`)
  await by.post('/auth/email-otp/request-email-change', { newEmail: 'logged@example.org' })
  assert.ok(!world.events.some(({ kind }) => kind === 'problem'), 'a refusal is no problem')
  const log = JSON.stringify(world.events)
  const session = answer.headers.get('set-auth-token') ?? ''
  for (const secret of [otp, answer.json.token, session, authorization, 'logged@example.org'])
    assert.ok(secret !== '' && !log.includes(secret), secret)
})

it('what is not listed is not there, however it is spelt', async () => {
  const by = visitorOf(world)
  const closed =
    'sign-up/email update-user delete-user change-email set-password sign-in/email reset-password email-otp/verify-email email-otp/reset-password email-otp/check-verification-otp ok error'.split(
      ' ',
    )
  for (const path of [...closed, '/sign-out', 'sign-out/', 'token/', 'SIGN-OUT', 'sign%2Dout%2F'])
    for (const method of ['GET', 'POST']) {
      const { status } = await by.send(method, `/auth/${path}`, method === 'POST' ? {} : undefined)
      assert.ok(status === 404 || status === 405, `${method} ${path}: ${status}`)
    }
})

it('errors are problems with the code and the message that a client of the library reads', async () => {
  const wrong = { email: 'nobody@example.org', otp: '12345678' }
  const { status, headers, json } = await visitorOf(world).post('/auth/sign-in/email-otp', wrong)
  assert.equal(status, 400)
  assert.equal(headers.get('content-type'), 'application/problem+json')
  assert.equal(headers.get('cache-control'), 'no-store')
  const { type, code, message } = json
  assert.deepEqual([type, code, message], ['about:blank', 'INVALID_OTP', json.detail])
  const large = await visitorOf(world).post('/auth/sign-in/email-otp', {
    email: 'x'.repeat(17_000),
  })
  assert.equal(large.status, 413)
})

it('the document of sign-in is served with the paths that are switched on, and /docs shows it', async () => {
  const { json } = await visitorOf(world).get('/auth/openapi.json')
  const paths = Object.keys(json.paths)
  assert.ok(paths.includes('/sign-in/email-otp') && paths.includes('/token'), `${paths}`)
  assert.deepEqual(
    paths.filter(path => /social|password|sign-in\/email$|callback/.test(path)),
    [],
  )
  const all = authDocument({ title: 'Test' }).paths
  for (const path of paths) assert.deepEqual(json.paths[path], all[path])
  assert.match((await visitorOf(world).get('/docs')).text, /data-document="\/auth\/openapi.json"/)
})

test('tokens of a key that was replaced hold until they end, while many ask for new ones; one that another signed does not', async () => {
  const { by, id } = await signIn(world, 'rotation@example.org')
  const kidOf = ({ authorization }: { readonly authorization: string }) =>
    JSON.parse(Buffer.from(authorization.slice(7).split('.')[0] ?? '', 'base64url').toString()).kid
  const old = await by.bearer()
  const expire = (before: number) =>
    world.change(
      'update auth_keys set expires_at = ?1 where id = ?2',
      Date.now() - before,
      kidOf(old),
    )
  await expire(1)
  const renewed = await Promise.all(Array.from({ length: 8 }, () => by.bearer()))
  assert.ok(renewed.every(one => kidOf(one) !== kidOf(old)))
  for (const headers of [old, ...renewed]) {
    const { json } = await by.get(`/api/v2/users/${id}`, { headers })
    assert.equal(json.email, 'rotation@example.org')
    const write = { name: 'Rotation' }
    assert.equal((await by.send('PATCH', `/api/users/${id}`, write, { headers })).status, 200)
  }
  const [head, body, signature = ''] = old.authorization.split('.')
  const authorization = `${head}.${body}.${'A'.repeat(signature.length)}`
  assert.equal((await by.get(`/api/users/${id}`, { headers: { authorization } })).status, 401)
  const keys = async () => (await by.get('/auth/jwks')).json.keys
  assert.ok((await keys()).every((key: object) => !('d' in key)))
  const kids = async () => pluck(await keys(), 'kid')
  assert.ok((await kids()).includes(kidOf(old)))
  // An hour later its last token has ended long ago.
  await expire(3_600_001)
  assert.ok(!(await kids()).includes(kidOf(old)))
})

it("better-auth's own client signs in, has tokens, and signs out", async () => {
  const by = visitorOf(world)
  const client = createAuthClient({
    baseURL: home,
    basePath: '/auth',
    plugins: [emailOTPClient(), jwtClient()],
    fetchOptions: {
      customFetchImpl: async (input, init) => {
        const { pathname, search } = new URL(String(input))
        const { method = 'GET', body } = init ?? {}
        const sent = typeof body === 'string' ? JSON.parse(body) : undefined
        const { status, headers, text } = await by.send(method, pathname + search, sent)
        return new Response(text, { status, headers })
      },
    },
  })
  const email = 'client@example.org'
  const asked = await client.emailOtp.sendVerificationOtp({ email, type: 'sign-in' })
  assert.equal(asked.data?.success, true, JSON.stringify(asked.error))
  const otp = await codeFor(world, email)
  const wrong = await client.signIn.emailOtp({ email, otp: otp === '00000000' ? '1' : '00000000' })
  assert.deepEqual([wrong.error?.status, wrong.error?.code], [400, 'INVALID_OTP'])
  const { data } = await client.signIn.emailOtp({ email, otp, name: 'Client' })
  assert.equal(data?.user.name, 'Client')
  const session = await client.getSession()
  assert.deepEqual([session.data?.user.email, session.data?.user.id], [email, data?.user.id])
  const { data: given } = await client.token()
  assert.equal(claimsOf({ authorization: `Bearer ${given?.token}` }).sub, data?.user.id)
  assert.equal((await client.listSessions()).data?.length, 1)
  assert.equal((await client.listAccounts()).data?.length, 0)
  await client.signOut()
  assert.equal((await client.getSession()).data, null)
})

it('sign-in is not there just now while another program writes', async () => {
  await using world = await createWorld({ people: {}, on: 'sqlite' })
  await writeQueries(world.engine, [queryWith('pragma busy_timeout = 30')])
  const by = visitorOf(world)
  const email = 'busy@example.org'
  await askCode(by, email)
  const proof = { email, otp: await codeFor(world, email) }
  const other = connect(world.file)
  other.run('begin immediate')
  const { status, code, headers } = await by.post('/auth/sign-in/email-otp', proof)
  other.close()
  assert.deepEqual([status, code, headers.get('retry-after')], [503, 'OVERLOADED', '5'])
})
