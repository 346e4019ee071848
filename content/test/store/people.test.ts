/** Sign-in by providers and passwords, and the attacks on whose row it is. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { getAuthTables } from 'better-auth/db'
import { withOpened } from '#base/with-opened.ts'
import content from '#content/duet.config.ts'
import { columnName } from '#model/names.ts'
import type { PeopleServices } from '#people/hooks.ts'
import { optionsOf } from '#people/options.ts'
import { checkStore, forgetSecret, type PeopleSettings } from '#people/settings.ts'
import { sweep } from '#people/store.ts'
import { queryOf } from '#sql/engine.ts'
import { mailServer, silentServer } from '#test/mail-server.ts'
import { until } from '#test/support/wait.ts'
import { from } from '../contract/verifying.ts'
import {
  type Forge,
  forgingProvider,
  newKey,
  sealedWith,
  signedWith,
  unsigned,
} from '../support/forging-provider.ts'
import { identityProvider, throughProvider } from '../support/identity-provider.ts'
import {
  askCode,
  claimsOf,
  codeFor,
  home,
  mailTo,
  type Seen,
  signIn,
  type Visitor,
  visitorOf,
} from '../support/visitor.ts'
import { createWorld, sqliteTest as it, peopleSecret, pluck, type World } from '../world.ts'

let provider: Awaited<ReturnType<typeof identityProvider>>
let liar: Awaited<ReturnType<typeof forgingProvider>>
let other: Awaited<ReturnType<typeof forgingProvider>>
let world: World
const people = () => ({
  ways: ['code', 'oidc', 'password'] as const,
  providers: [provider, liar, other].map(({ settings }) => settings),
})
before(async () => {
  ;[provider, liar, other] = await Promise.all([
    identityProvider(),
    forgingProvider('liar'),
    forgingProvider('other'),
  ])
  world = await createWorld({ people: people() })
})
after(async () => {
  await world.close()
  for (const { close } of [provider, liar, other]) close()
})

/** Starts with the provider; gives the path by which the browser comes back, or the code of why not. */
const comingBack = async (
  by: Visitor,
  path = '/auth/sign-in/social',
  more: object = { requestSignUp: true },
) => {
  const where = { callbackURL: '/account', errorCallbackURL: '/signin' }
  const { json, code } = await by.post(path, { provider: 'test', ...where, ...more })
  if (typeof json?.url !== 'string') return String(code)
  const { pathname, search } = await throughProvider(json.url)
  return pathname + search
}
/** Signs in with the provider as somebody; gives where the browser is sent in the end. */
const withProvider = async (
  [sub, email, verified]: readonly [string, string, boolean],
  by: Visitor = visitorOf(world),
  ...start: readonly [path?: string, more?: object]
) => {
  provider.as({ sub, email, verified })
  const back = await comingBack(by, ...start)
  if (!back.startsWith('/')) return { by, to: back }
  const done = await by.get(back)
  return { by, to: (done.headers.get('location') ?? done.text).replace(home, '') }
}
/** Adds an identity to the account of somebody who is signed in. */
const link = (identity: Parameters<typeof withProvider>[0], by: Visitor) =>
  withProvider(identity, by, '/auth/link-social', {})
const userOf = async (by: Visitor) => (await by.get('/auth/get-session')).json?.user
const count = async (text: string, ...values: readonly (string | number)[]) =>
  Number((await world.rows(text, ...values))[0]?.[0])

test('the tables have exactly the columns that the library asks for, on this engine', async () => {
  const options = optionsOf(
    { ...people(), url: home, secret: peopleSecret, origins: [home] } as unknown as PeopleSettings,
    // None is called: the options are read alone.
    {} as PeopleServices,
  )
  const tables = Object.values(getAuthTables(options)).filter(({ modelName }) =>
    modelName.startsWith('auth_'),
  )
  assert.equal(tables.length, 5)
  const { dialect, session } = world.store
  for (const { modelName, fields } of tables) {
    const wanted = Object.entries(fields).map(([key, { fieldName = key }]) =>
      columnName(fieldName.replace('ID', 'Id')),
    )
    const columns = queryOf(dialect.columnsOf(modelName), dialect)
    const there = (await withOpened(session('reading'), ({ query }) => query(columns))).map(
      ([name]) => String(name),
    )
    assert.deepEqual(there.toSorted(), ['id', ...wanted].toSorted(), modelName)
  }
})

it('a letter that was answered for leaves before the service ends, once, and one that is refused is told', async t => {
  const server = await mailServer({ refuse: { code: 450, times: 1 } })
  t.after(server.close)
  const delivery = { kind: 'smtp', url: server.url, from } as const
  const ended = await createWorld({ people: people(), mail: { delivery } })
  await askCode(visitorOf(ended), 'refused@example.org')
  const isTold = () => ended.events.some(one => one.kind === 'mail failed' && !one.again)
  await until('the log says that nobody tries it again', isTold)
  const asked = await askCode(visitorOf(ended), 'late@example.org')
  await ended.close()
  assert.equal(asked.status, 200)
  assert.deepEqual(pluck(server.messages, 'to'), [['late@example.org']])
})

it('ten letters leave at a time, however slow the mail server is, and those to one address take turns with others', async () => {
  const server = await silentServer()
  const delivery = { kind: 'smtp', url: server.url, from } as const
  const begun: string[] = []
  const mails = ({ language }: { readonly language: string }) => {
    begun.push(language)
    return { subject: 'Code', text: 'Code', html: 'Code' }
  }
  const own = { ...content, ...(content.people && { people: { ...content.people, mails } }) }
  await using slow = await createWorld({ content: own, people: people(), mail: { delivery } })
  for (let n = 0; n < 14; n++) await askCode(visitorOf(slow), 'flooded@example.org')
  const german = { headers: { 'accept-language': 'de' } }
  await askCode(visitorOf(slow), 'other@example.org', german)
  await until('all have a code', async () => {
    const [[made] = []] = await slow.rows('select count(*) from auth_verifications')
    return Number(made) === 15 && server.connections() >= 10
  })
  await visitorOf(slow).get('/auth/get-session')
  assert.equal(server.connections(), 10)
  await server.close()
  await until('all have begun', () => begun.length === 15)
  assert.ok(begun.indexOf('de') < 12, `${begun}`)
})

test('a new person comes by a provider that vouches for the address, and its tokens are not kept', async () => {
  const { by, to } = await withProvider(['alice', 'Alice@example.org', true])
  assert.equal(to, '/account')
  const user = await userOf(by)
  assert.deepEqual([user.name, user.emailVerified, user.role], ['alice', true, 'user'])
  const kept = await world.rows(
    "select access_token, refresh_token, id_token from auth_accounts where account_id = 'alice'",
  )
  assert.deepEqual(kept, [[null, null, null]])
  assert.equal(claimsOf(await by.bearer()).sub, user.id)
  const again = await withProvider(
    ['alice', 'elsewhere@example.org', false],
    undefined,
    undefined,
    {},
  )
  assert.equal((await userOf(again.by)).id, user.id)
})

it('a provider makes no row of an address that it does not vouch for, nor without being asked to', async () => {
  const unproved = await withProvider(['un', 'un@example.org', false])
  assert.match(unproved.to, /^\/signin\?error=email_not_proved/)
  const unasked = await withProvider(['zed', 'zed@example.org', true], undefined, undefined, {})
  assert.match(unasked.to, /^\/signin\?error=/)
  assert.equal(
    await count(
      "select count(*) from users where email_key in ('un@example.org', 'zed@example.org')",
    ),
    0,
  )
})

test('a provider never claims a known address, proved or not; its owner takes a code, and links then', async () => {
  // Of an address that it does not vouch for a provider learns nothing, not even that it is known.
  const refusals = [
    [true, /error=account_not_linked/],
    [false, /error=email_not_proved/],
  ] as const
  await signIn(world, 'victim@example.org', { name: 'Victim' })
  for (const [verified, error] of refusals)
    assert.match((await withProvider(['mallory', 'victim@example.org', verified])).to, error)
  await world.ask('POST /api/users', { body: { name: 'Row', email: 'Row@example.org' } })
  await mailTo(world, 'Row@example.org', /./)
  for (const [verified, error] of refusals)
    assert.match((await withProvider(['row', 'row@example.org', verified])).to, error)
  const owner = await signIn(world, 'row@example.org', { mailed: 'Row@example.org' })
  assert.equal((await link(['row', 'row@example.org', true], owner.by)).to, '/account')
  assert.equal(
    (await userOf((await withProvider(['row', 'row@example.org', true])).by)).id,
    owner.id,
  )

  const other = await signIn(world, 'other@example.org')
  assert.match((await link(['row', 'row@example.org', true], other.by)).to, /error=/)
  assert.match((await link(['new', 'other@example.org', false], other.by)).to, /error=/)
})

test('an identity is removed by a fresh session alone, signs in no more, and does so again when it is moved as docs/auth.md says', async () => {
  const { by, id } = await signIn(world, 'linker@example.org')
  await link(['linker', 'linker-there@example.org', true], by)
  const [account] = (await by.get('/auth/list-accounts')).json
  const unlink = { accountId: account.id }
  const older = 'update auth_sessions set created_at = created_at + ?1 where user_id = ?2'
  const age = (by: number) => world.change(older, by, Number(id))
  await age(-700_000)
  assert.equal((await by.post('/auth/unlink-account', unlink)).code, 'STEP_UP_NEEDED')
  const asked = { provider: 'test', callbackURL: '/account' }
  assert.equal((await by.post('/auth/link-social', asked)).code, 'STEP_UP_NEEDED')
  await age(700_000)
  const set = (status: string) =>
    world.ask(`PATCH /api/users/${id}`, { as: 1, body: { status } }).then(({ status }) => status)
  assert.equal(await set('suspended'), 200)
  const change = { currentPassword: 'x', newPassword: 'a long one of mine' }
  for (const [path, body] of [
    ['link-social', asked],
    ['unlink-account', unlink],
    ['change-password', change],
  ] as const)
    assert.equal((await by.post(`/auth/${path}`, body)).code, 'BLOCKED')
  assert.equal(await set('active'), 200)
  assert.equal((await by.post('/auth/unlink-account', unlink)).status, 200)
  const identity = ['linker', 'linker-there@example.org', true] as const
  assert.match((await withProvider(identity, undefined, undefined, {})).to, /error=/)
  const doc = readFileSync('docs/auth.md', 'utf8')
  const [filled = ''] = /update users set email = .*?'…'/.exec(doc) ?? []
  const [moving = ''] = /insert into auth_accounts.*? null/s.exec(doc) ?? []
  const [back = ''] = /update users set subject = .*'corp'\)/.exec(doc) ?? []
  await world.change('alter table users add column subject text')
  await world.change("update users set subject = 'linker' where id = ?1", Number(id))
  await world.change(filled.replace('…', 'linker').replaceAll(/ada@/gi, 'linker@'))
  await world.change(moving.replace('corp', 'test'))
  assert.equal((await userOf((await withProvider(identity)).by)).id, id)
  await link(['linker2', 'linker2@example.org', true], by)
  await world.change(back.replace('corp', 'test'))
  const moved = await world.rows('select subject, role from users where id = ?1', Number(id))
  assert.deepEqual(moved, [['linker2', 'admin']])
  await world.change('alter table users drop column subject')
})

it('two tabs of a browser that start with a provider both sign in, whichever is back first', async () => {
  provider.as({ sub: 'tabs', email: 'tabs@example.org', verified: true })
  const by = visitorOf(world)
  const [first, second] = [await comingBack(by), await comingBack(by)]
  for (const back of [second, first]) {
    const { headers } = await by.get(back)
    assert.equal(headers.get('location'), '/account')
    assert.equal((await userOf(by))?.email, 'tabs@example.org')
  }
  assert.deepEqual([...by.jar.keys()], ['__Host-duet.session_token'])
})

it('a callback in another browser, or a second time, signs nobody in, and none leads elsewhere', async () => {
  provider.as({ sub: 'carol', email: 'carol@example.org', verified: true })
  const by = visitorOf(world)
  const back = await comingBack(by)
  const other = visitorOf(world)
  await other.get(back)
  assert.equal(await userOf(other), undefined)
  const { by: owner } = await signIn(world, 'led@example.org')
  for (const url of [
    'https://evil.example/',
    'https://duet.example.org.evil.example/',
    'https://duet.example.org@evil.example/',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '/%2F/evil.example',
    'javascript:alert(1)',
    'evil.example',
  ])
    for (const member of ['callbackURL', 'errorCallbackURL'])
      for (const path of ['/auth/sign-in/social', '/auth/link-social']) {
        const { status } = await owner.post(path, { provider: 'test', [member]: url })
        assert.equal(status, 403, `${path} ${member} ${url}`)
      }
  for (const path of [
    'test?state=x',
    'test',
    '%0d%0aX-Evil:x',
    '..%2f..%2fevil',
    '//evil.example',
  ]) {
    const { status, headers } = await by.get(`/auth/callback/${path}`)
    const to = headers.get('location') ?? `${home}/signin?`
    assert.ok([302, 404].includes(status) && to.startsWith(`${home}/signin?`), `${path}: ${to}`)
  }
  const idToken = { provider: 'test', idToken: { token: 'x.y.z' } }
  const withToken = await visitorOf(world).post('/auth/sign-in/social', idToken)
  assert.equal(withToken.json?.user, undefined)
  // The cookie of the start would not come back to a page elsewhere, though that may sign people in by a code.
  const elsewhere = { origin: 'https://app.example.org' }
  const apart = await visitorOf(world).post('/auth/sign-in/social', { provider: 'test' }, elsewhere)
  assert.equal(apart.code, 'INVALID_ORIGIN')
  assert.match(apart.text, /start at https:\/\/duet\.example\.org"/)
})

/** Starts a sign-in with a provider that lies; `back` comes home from it with a token that is forged so. */
const withLiar = async (by: Visitor, sub: string, forge: Forge) => {
  const where = { callbackURL: '/account', errorCallbackURL: '/signin', requestSignUp: true }
  const { json, text } = await by.post('/auth/sign-in/social', { provider: 'liar', ...where })
  assert.equal(typeof json?.url, 'string', text)
  liar.answer(json.url, sub, forge)
  const state = new URL(json.url).searchParams.get('state') ?? ''
  return (path = 'liar', more: Readonly<Record<string, string>> = {}) =>
    by.get(`/auth/callback/${path}?${new URLSearchParams({ code: 'code', state, ...more })}`)
}

it('an ID token that is forged signs nobody in, whatever of it is forged', async () => {
  const stranger = newKey()
  const own =
    (changed: object, head?: Readonly<Record<string, unknown>>): Forge =>
    claims =>
      signedWith(liar.key, { ...claims, ...changed }, head)
  const forgeries: Readonly<Record<string, Forge>> = {
    'no signature': unsigned,
    'a signature cut off': claims => signedWith(liar.key, claims).replace(/[^.]+$/, ''),
    'sealed with the secret of the client': claims =>
      sealedWith(liar.settings.clientSecret, claims),
    'sealed with the public key': claims =>
      sealedWith(String(liar.publicKey.export({ format: 'pem', type: 'spki' })), claims),
    'signed with a key of the same name': claims => signedWith(stranger.privateKey, claims),
    'signed with a key that it brings along': claims =>
      signedWith(stranger.privateKey, claims, {
        jwk: stranger.publicKey.export({ format: 'jwk' }),
      }),
    'signed with a key of another name': claims =>
      signedWith(stranger.privateKey, claims, { kid: 'another' }),
    'of another provider': claims =>
      signedWith(other.key, { ...claims, iss: other.settings.issuer }),
    'by the key of another provider': claims => signedWith(other.key, claims),
    'of another issuer': own({ iss: other.settings.issuer }),
    'without an issuer': own({ iss: undefined }),
    'for another client': own({ aud: other.settings.clientId }),
    'for nobody': own({ aud: undefined }),
    'asked for by another client': own({ azp: other.settings.clientId }),
    'for several, and nobody says for whom of them': own({
      aud: [liar.settings.clientId, other.settings.clientId],
    }),
    'for several, and asked for by another of them': own({
      aud: [liar.settings.clientId, other.settings.clientId],
      azp: other.settings.clientId,
    }),
    'with the nonce of another sign-in': own({ nonce: 'of another sign-in' }),
    'without a nonce': own({ nonce: undefined }),
    'of yesterday': own({ exp: Math.floor(Date.now() / 1000) - 86_400 }),
    'of tomorrow': own({ nbf: Math.floor(Date.now() / 1000) + 86_400 }),
    'of somebody else than the provider tells': own({ sub: 'another', email: undefined }),
    'without a subject': own({ sub: undefined, email: undefined }),
    'with an empty subject': own({ sub: '' }),
    'of a subject that is no text': own({ sub: ['honest'] }),
    'of a subject that is too long': own({ sub: 'x'.repeat(256) }),
    'of a subject with NUL': own({ sub: 'honest\0' }),
    'no token at all': () => undefined,
    'a text': () => 'a.b.c',
  }
  const { clientId } = liar.settings
  for (const said of [{}, { azp: clientId }, { aud: [clientId, 'else'], azp: clientId }]) {
    const honest = visitorOf(world)
    const back = await withLiar(honest, 'honest', claims =>
      signedWith(liar.key, { ...claims, ...said }),
    )
    await back()
    assert.equal((await userOf(honest))?.email, 'honest@forged.example', JSON.stringify(said))
  }
  const signedIn: string[] = []
  // A row that is there is signed in by less than a row that is made.
  for (const [what, forge] of Object.entries(forgeries))
    for (const sub of ['honest', 'forger']) {
      const by = visitorOf(world)
      const done = await (await withLiar(by, sub, forge))()
      assert.equal(done.status, 302, `${what}: ${done.text}`)
      if (await userOf(by)) signedIn.push(`${what}: ${sub}`)
    }
  assert.deepEqual(signedIn, [])
  assert.equal(
    await count("select count(*) from users where email_key = 'forger@forged.example'"),
    0,
  )
})

it('what one provider sends home is nothing at the callback of another, and its code goes to no other', async () => {
  const by = visitorOf(world)
  const back = await withLiar(by, 'mixed', claims => signedWith(liar.key, claims))
  const before = liar.asked()
  await back('other')
  await back('liar', { iss: other.settings.issuer })
  assert.equal(await userOf(by), undefined)
  assert.deepEqual([other.asked(), liar.asked()], [0, before])
})

it('the same subject at two providers is two people, and an address that is no text makes no row, as a name that is none does', async () => {
  await withProvider(['twin', 'twin@example.org', true])
  const by = visitorOf(world)
  await (await withLiar(by, 'twin', claims => signedWith(liar.key, claims)))()
  assert.equal((await userOf(by)).email, 'twin@forged.example')
  for (const [at, name] of [5, { a: 1 }, null, 'a\0'].entries()) {
    const named = visitorOf(world)
    await (
      await withLiar(named, `named${at}`, claims => signedWith(liar.key, { ...claims, name }))
    )()
    assert.equal((await userOf(named))?.name, 'New member', String(name))
  }
  for (const email of [5, ['typed@example.org'], { toLowerCase: 1 }]) {
    const typed = visitorOf(world)
    const forge: Forge = claims => signedWith(liar.key, { ...claims, email })
    const { headers } = await (await withLiar(typed, 'typed', forge))()
    assert.match(headers.get('location') ?? '', /error=email_not_proved/)
    assert.equal(await userOf(typed), undefined)
  }
})

it('a provider that says nothing keeps waiting whoever asks for it, and nobody else', async t => {
  let asked = 0
  const silent = createServer(() => asked++).listen(0, '127.0.0.1')
  const hangUp = () => silent.close().closeAllConnections()
  t.after(hangUp)
  await once(silent, 'listening')
  const issuer = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const providers = [{ ...liar.settings, name: 'silent', issuer }, liar.settings]
  await using held = await createWorld({ people: { ...people(), providers } })
  const start = (provider: string) => visitorOf(held).post('/auth/sign-in/social', { provider })
  await signIn(held, 'first@example.org')
  assert.equal(asked, 0)
  const answered: string[] = []
  const told = ({ code }: Pick<Seen, 'code'>) => answered.push(`silent ${code}`)
  const waiting = Array.from({ length: 40 }, () => start('silent').then(told))
  await until('as many wait as may', () => asked === 16)
  // These name it where the library looks, and need none.
  const by = visitorOf(held)
  const unlinked = { providerId: 'silent', accountId: '1' }
  for (let n = 0; n < 16; n++) {
    waiting.push(by.post('/auth/unlink-account', unlinked).then(() => n))
    assert.equal((await by.get('/auth/get-session?provider=silent')).status, 200)
    assert.equal((await by.get('/auth/callback/liar?provider=silent&state=x')).status, 302)
  }
  await signIn(held, 'second@example.org')
  answered.push('a code', `another ${(await start('liar')).status}`)
  hangUp()
  await Promise.all(waiting)
  assert.deepEqual([...new Set(answered)], ['a code', 'another 200', 'silent UNAVAILABLE'])
})

const long = 'correct horse of mine'
const enter = (email: string, password: string, by = visitorOf(world)) =>
  by.post('/auth/sign-in/email', { email, password })
const askLink = (email: string) => visitorOf(world).post('/auth/request-password-reset', { email })
const linkTo = async (email: string, mailed = email) => {
  const asked = await askLink(email)
  assert.equal(asked.status, 200, asked.text)
  const { text } = await mailTo(world, mailed, /^Set your password/)
  return /#reset=(\S+)/.exec(text)?.[1] ?? ''
}
const reset = (token: string, newPassword = long) =>
  visitorOf(world).post('/auth/reset-password', { newPassword, token })

test('a password comes by a mail to a proved address, ends all sessions, and each link is good once', async () => {
  const { by, id } = await signIn(world, 'pat@example.org')
  assert.equal((await enter('pat@example.org', long)).status, 401)
  const token = await linkTo('pat@example.org')
  assert.equal((await reset(token, 'short')).status, 400)
  assert.equal((await reset(token)).status, 200)
  assert.equal((await reset(token)).status, 400)
  assert.equal((await by.get('/auth/token')).status, 401)
  const entered = await enter('PAT@example.org', long)
  assert.equal(entered.json?.user?.id, id, entered.text)
  const wrong = await enter('pat@example.org', 'another horse of mine')
  const unknown = await enter('nobody-here@example.org', 'another horse of mine')
  assert.deepEqual([wrong.status, wrong.code], [unknown.status, unknown.code])
  await world.ask('POST /api/users', { body: { name: 'Un', email: 'unproved@example.org' } })
  await mailTo(world, 'unproved@example.org', /./)
  const before = world.letters.length
  for (const email of ['unproved@example.org', 'unknown-here@example.org'])
    assert.equal((await askLink(email)).text, '{"status":true}')
  await linkTo('pat@example.org')
  assert.equal(world.letters.length, before + 1)
})

it('a blocked person comes in by no provider, and gets no password, no identity, and no proof of an address', async () => {
  const ways = (id: string) =>
    count('select count(*) from auth_accounts where user_id = ?1', Number(id))
  const block = async (id: string) => {
    const body = { status: 'suspended' }
    assert.equal((await world.ask(`PATCH /api/users/${id}`, { as: 1, body })).status, 200)
  }
  const { by, id } = await signIn(world, 'barred@example.org')
  const token = await linkTo('barred@example.org')
  provider.as({ sub: 'barred', email: 'barred@example.org', verified: true })
  const back = await comingBack(by, '/auth/link-social', {})
  await block(id)
  const refused = await reset(token)
  assert.deepEqual([refused.status, refused.code], [400, 'INVALID_TOKEN'])
  const { headers } = await by.get(back)
  assert.match(headers.get('location') ?? '', /\/signin\?error=BLOCKED/)
  assert.equal(await ways(id), 0)
  await signIn(world, 'free@example.org')
  const before = world.letters.length
  assert.equal((await askLink('barred@example.org')).text, '{"status":true}')
  await linkTo('free@example.org')
  assert.equal(world.letters.length, before + 1)

  const linked = await withProvider(['una', 'una@example.org', true])
  const { id: una } = await userOf(linked.by)
  const patched = await linked.by.send(
    ...(['PATCH', `/api/users/${una}`, { email: 'una2@example.org' }] as const),
    { headers: await linked.by.bearer() },
  )
  assert.equal(patched.status, 200)
  const made = await world.ask('POST /api/users', {
    body: { name: 'Unproved', email: 'una3@example.org' },
  })
  for (const [id, email] of [
    [una, 'una2@example.org'],
    [String(made.json.id), 'una3@example.org'],
  ] as const) {
    await block(id)
    const { answer } = await signIn(world, email)
    assert.deepEqual([answer.status, answer.code], [403, 'BLOCKED'])
    assert.equal(await count('select email_verified from users where id = ?1', Number(id)), 0)
  }
  assert.equal(await ways(una), 1)
  assert.equal(await userOf((await withProvider(['una', 'una2@example.org', true])).by), undefined)
})

it('a link that was mailed before the address changed sets no password', async () => {
  const { by, id } = await signIn(world, 'moved@example.org')
  const token = await linkTo('moved@example.org')
  const headers = await by.bearer()
  const patched = await by.send(
    'PATCH',
    `/api/users/${id}`,
    { email: 'moved2@example.org' },
    { headers },
  )
  assert.equal(patched.status, 200)
  assert.equal((await reset(token)).status, 400)
  await signIn(world, 'moved2@example.org')
  assert.equal((await reset(token)).status, 400)
})

it('six passwords for one address in ten minutes are too many, and its code still signs in', async () => {
  const { id } = await signIn(world, 'tried@example.org')
  await reset(await linkTo('tried@example.org'))
  const tries = await Promise.all(
    Array.from({ length: 8 }, (_, n) => enter('tried@example.org', `wrong horse of mine ${n}`)),
  )
  assert.deepEqual(pluck(tries, 'status').toSorted(), [401, 401, 401, 401, 401, 429, 429, 429])
  assert.equal((await enter('tried@example.org', long)).code, 'TOO_MANY_ATTEMPTS')
  assert.equal((await signIn(world, 'tried@example.org')).id, id)
})

it('passwords that are tried at once leave room for what reads files', async () => {
  let [answered, read] = [0, 0]
  const tries = Array.from({ length: 16 }, async (_, n) => {
    await enter(`room${n}@example.org`, long)
    answered++
  })
  // As long as many wait; in one queue with them a few would be read.
  for (; answered < 8; await stat('.')) if (answered > 0) read++
  await Promise.all(tries)
  assert.ok(read > 50, `${read}`)
})

test('a stranger who gives a row of theirs an address, with password and identity, keeps none of them once its owner comes', async () => {
  const mal = await signIn(world, 'mal@example.org')
  await reset(await linkTo('mal@example.org'))
  const back = await signIn(world, 'mal@example.org')
  await link(['mal', 'mal-there@example.org', true], back.by)
  const headers = await back.by.bearer()
  const patch = (email: string) =>
    back.by.send('PATCH', `/api/users/${mal.id}`, { email }, { headers })
  assert.equal((await patch('prey@example.org')).status, 200)
  const prey = await signIn(world, 'prey@example.org')
  assert.equal(prey.id, mal.id)
  assert.equal(
    await count('select count(*) from auth_accounts where user_id = ?1', Number(mal.id)),
    0,
  )
  assert.equal(
    await count('select count(*) from auth_sessions where user_id = ?1', Number(mal.id)),
    1,
  )
  assert.notEqual((await enter('prey@example.org', long)).status, 200)
  assert.equal((await back.by.get('/auth/token')).status, 401)
  assert.equal((await patch('mal@example.org')).status, 403)
})

test('an address that is patched while its code is proved is never proved by the code of another', async () => {
  for (let n = 0; n < 8; n++) {
    const { by, id } = await signIn(world, `race${n}@example.org`)
    const headers = await by.bearer()
    const patch = (email: string) => by.send('PATCH', `/api/users/${id}`, { email }, { headers })
    await patch(`mine${n}@example.org`)
    await askCode(visitorOf(world), `mine${n}@example.org`)
    const otp = await codeFor(world, `mine${n}@example.org`)
    const proving = visitorOf(world).post('/auth/sign-in/email-otp', {
      email: `mine${n}@example.org`,
      otp,
    })
    await Promise.all([proving, patch(`theirs${n}@example.org`)])
    const [row] = await world.rows(
      'select email, email_verified from users where id = ?1',
      Number(id),
    )
    assert.ok(!(String(row?.[0]).startsWith('theirs') && row?.[1] === 1), String(row))
  }
})

test('letters to one address are limited, and beyond that nothing is made: no code comes with new tries', async () => {
  await using strict = await createWorld({ people: { ...people(), limited: true } })
  const by = visitorOf(strict)
  const first = await askCode(by, 'limited@example.org')
  const otp = await codeFor(strict, 'limited@example.org')
  const second = await askCode(by, 'limited@example.org')
  assert.deepEqual([second.status, second.text], [first.status, first.text])
  const entered = await by.post('/auth/sign-in/email-otp', { email: 'limited@example.org', otp })
  assert.equal(entered.status, 200, entered.text)
  const lettersThen = () => strict.letters.filter(({ to }) => to === 'limited@example.org').length
  assert.equal(lettersThen(), 1)
  // Twenty letters of five tries each are a hundred guesses in a day.
  for (const sent of [20, 19]) {
    await strict.change("delete from auth_rates where key not like 'mail 86400 %' returning id")
    await strict.change(`update auth_rates set count = ${sent} returning id`)
    await askCode(by, 'limited@example.org')
    const counted = "select count from auth_rates where key like 'mail 86400 %'"
    await until('it is counted', async () => {
      const [[count] = []] = await strict.rows(counted)
      return Number(count) === sent + 1
    })
  }
  await until('the twentieth is sent', () => lettersThen() > 1)
  const [ofAny] = await strict.rows('select count(*) from auth_rates')
  for (let n = 0; n < 40; n++) {
    const { status, headers } = await by.get(`/auth/callback/made-up-${n}?state=x`)
    assert.equal(status, 302)
    assert.match(headers.get('location') ?? '', /\/signin\?error=state_mismatch$/)
  }
  assert.deepEqual(await strict.rows('select count(*) from auth_rates'), [ofAny])
  let last = await askCode(by, 'other0@example.org')
  for (let n = 1; n < 12; n++) last = await askCode(by, `other${n}@example.org`)
  assert.equal(last.status, 429)
  const wait = Number(last.headers.get('retry-after'))
  assert.ok(wait > 0 && wait <= 60, `${wait}`)
  assert.equal(lettersThen(), 2, 'no twenty-first was sent meanwhile')
  // As if the clock were set back by three hours.
  await strict.change('update auth_rates set last_request = last_request + 10800000 returning id')
  assert.equal((await askCode(by, 'other12@example.org')).status, 200)
})

test('of two that start on a new store under different secrets, one does', async () => {
  const { dialect, session: opened } = world.store
  await withOpened(opened('filling'), async session => {
    await session.query(queryOf(forgetSecret, dialect))
    const start = (secret: string) =>
      checkStore({ session, dialect }, { secret, oldSecret: undefined }, false)
    const done = await Promise.allSettled([start('one'), start('two')])
    assert.deepEqual(pluck(done, 'status').toSorted(), ['fulfilled', 'rejected'])
  })
})

test('all that has expired is deleted, however much it is', async () => {
  const { engine, change, rows } = world
  await change(
    `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 1001)
    insert into auth_rates (id, key, count, last_request) select 'old ' || n, 'old ' || n, 1, 1 from numbers returning id`,
  )
  await sweep({ writer: engine, dialect: engine.dialect }, Date.now())
  assert.deepEqual(await rows(`select id from auth_rates where id like 'old %'`), [])
})
