/** `duet people`, and the link by which it signs the first admin of a production store in. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { command, commandsOf } from '#test/commands.ts'
import { folderOf, program, serve, serveBy } from '#test/duet.ts'
import { sqliteTest as it } from '#test/stores.ts'
import { peopleSecret } from '../world.ts'

const { freshStore } = folderOf('people')

test('the first admin of a production store signs in by the link that people add prints, once, and is administered by the same command', async () => {
  const { settings, change } = await freshStore()
  const production = {
    ...settings,
    DUET_ENV: 'production',
    DUET_HOST: '127.0.0.1',
    DUET_PEOPLE_SECRET: peopleSecret,
    DUET_PUBLIC_URL: 'http://localhost:3000',
    DUET_SIGNUP: 'closed',
    DUET_SMTP_URL: 'smtp://127.0.0.1:9',
    DUET_MAIL_FROM: 'duet@example.org',
  }
  const service = await serve(production)
  const people = (...args: readonly string[]) => command(['people', ...args], production)
  const added = await people('add', '--email', 'Ada@example.org', '--role', 'admin')
  assert.deepEqual([added.code, added.stderr], [0, ''])
  const [, token = ''] =
    /^user 1\nhttp:\/\/localhost:3000\/signin#link=([\w-]{43})\n$/.exec(added.stdout) ?? []
  const signIn = () =>
    fetch(`${service.url}/auth/sign-in/link`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ token }),
    })
  const first = await signIn()
  assert.equal(first.status, 200, await first.clone().text())
  assert.equal((await signIn()).status, 400)
  const session = { Authorization: `Bearer ${first.headers.get('set-auth-token')}` }
  const tokenOf = () => fetch(`${service.url}/auth/token`, { headers: session })
  const given = (await (await tokenOf()).json()) as { token: string }
  const headers = { Authorization: `Bearer ${given.token}` }
  const found = await fetch(`${service.url}/api/users?role=admin`, { headers })
  assert.equal(found.status, 200)

  assert.match((await people('add', '--email', 'ada@example.org')).stdout, /^user 1\n/)
  const elsewhere = { ...settings, DUET_ENV: 'production', DUET_PORT: '41234', DUET_HOST: '::1' }
  const assumed = await command(['people', 'add', '--email', 'ada@example.org'], elsewhere)
  assert.match(assumed.stdout, /^user 1\nhttp:\/\/\[::1\]:41234\/signin#link=/)
  assert.match(assumed.stderr, /at http:\/\/\[::1\]:41234: if it is not, set DUET_PUBLIC_URL\n/)
  assert.match(assumed.stderr, /sign-in is off without DUET_PEOPLE_SECRET/)
  const list = await people('list')
  assert.equal(list.stdout, '1  Ada@example.org  New member  (admin, unproved, 1 session)\n')
  await people('add', '--email', 'eve@example.org', '--name', 'Eve\n3  \u001b[2K')
  assert.match((await people('list')).stdout, /\n2 {2}eve@example\.org {2}Eve 3 {3}\[2K {2}\(user/)
  assert.equal(
    (await people('role', 'ada@example.org', 'user')).stdout,
    'user 1 has the role user\n',
  )
  assert.equal((await people('block', '1')).stdout, 'user 1 is blocked\n')
  assert.match((await people('list')).stdout, /\(user, blocked, unproved, 1 session\)/)
  assert.equal((await tokenOf()).status, 403)
  assert.equal((await people('unblock', '1')).stdout, 'user 1 is not blocked any more\n')
  assert.equal((await tokenOf()).status, 200)
  await change(`insert into auth_sessions (id, token, user_id, expires_at, created_at, updated_at)
    values ('old', 'old', 1, 1, 1, 1)`)
  assert.equal((await people('signout', '1')).stdout, 'user 1 is signed out; sessions ended: 1\n')
  assert.equal((await tokenOf()).status, 401)
  assert.match(
    (await people('role', '1', 'king')).stderr,
    /there is no role king: name one of user, admin/,
  )
  assert.match(
    (await people('block', 'bob@example.org')).stderr,
    /there is no user bob@example.org/,
  )
  await service.end()

  const other = { ...production, DUET_PEOPLE_SECRET: `${peopleSecret}x` }
  await assert.rejects(
    serve(other),
    /DUET_PEOPLE_SECRET is not the one that this store was used with/,
  )
  const patience = ['--network-family-autoselection-attempt-timeout', '500']
  const run = ['--import', 'data:text/javascript,', ...patience, program]
  const rotated = await serveBy(run, { ...other, DUET_PEOPLE_SECRET_OLD: peopleSecret })
  assert.equal((await fetch(`${rotated.url}/auth/token`, { headers: session })).status, 401)
  const [, later = ''] =
    /#link=(\S+)/.exec((await people('add', '--email', 'ada@example.org')).stdout) ?? []
  const anew = await fetch(`${rotated.url}/auth/sign-in/link`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token: later }),
  })
  const renewed = { Authorization: `Bearer ${anew.headers.get('set-auth-token')}` }
  // The key that the old secret sealed signs on.
  assert.equal((await fetch(`${rotated.url}/auth/token`, { headers: renewed })).status, 200)
  assert.equal(
    ((await (await fetch(`${rotated.url}/auth/jwks`)).json()) as { keys: unknown[] }).keys.length,
    1,
  )
  await rotated.end()
  assert.match((await people('keys', 'retire')).stdout, /^the keys that sign tokens are given up: /)
})

it('settings that cannot be stop the start with one sentence, and without a secret sign-in is off', async () => {
  const { settings } = await freshStore()
  const production = { ...settings, DUET_ENV: 'production', DUET_HOST: '127.0.0.1' }
  const withSecret = { ...production, DUET_PEOPLE_SECRET: peopleSecret }
  const mail = { DUET_SMTP_URL: 'smtp://127.0.0.1:9', DUET_MAIL_FROM: 'duet@example.org' }
  const home = { DUET_PUBLIC_URL: 'https://example.org' }
  const provider = {
    DUET_OIDC: 'corp',
    DUET_OIDC_CORP_ISSUER: 'https://login.example.org',
    DUET_OIDC_CORP_CLIENT_ID: 'duet',
    DUET_OIDC_CORP_CLIENT_SECRET: 'secret',
  }
  const cases: readonly (readonly [Record<string, string>, RegExp])[] = [
    [withSecret, /DUET_PUBLIC_URL is not set/],
    [{ ...withSecret, ...mail, DUET_PUBLIC_URL: 'http://example.org' }, /DUET_PUBLIC_URL is http/],
    [
      { ...withSecret, ...mail, DUET_PUBLIC_URL: 'https://example.org/x' },
      /DUET_PUBLIC_URL has a path/,
    ],
    [{ ...withSecret, ...home }, /no way to sign in/],
    [
      { ...withSecret, ...home, ...provider },
      /providers alone, and anonymous callers may make rows/,
    ],
    [
      { ...withSecret, ...home, DUET_SIGNIN: 'code' },
      /DUET_SIGNIN names code, which comes by mail/,
    ],
    [
      { ...withSecret, ...home, ...mail, DUET_SIGNIN: 'oidc' },
      /DUET_SIGNIN names oidc, and there is no provider/,
    ],
    [
      { ...withSecret, ...home, ...mail, DUET_PEOPLE_SECRET: 'x'.repeat(40) },
      /DUET_PEOPLE_SECRET is too weak/,
    ],
    [{ ...withSecret, ...home, ...mail, DUET_OIDC: 'corp' }, /DUET_OIDC_CORP_ISSUER is needed/],
    [
      { ...withSecret, ...home, ...mail, ...provider, DUET_OIDC: 'credential' },
      /DUET_OIDC must be names/,
    ],
    [
      { ...withSecret, ...home, ...mail, ...provider, DUET_OIDC_CORP_ISSUER: 'http://example.org' },
      /DUET_OIDC_CORP_ISSUER must be an https URL/,
    ],
  ]
  for (const [wrong, sentence] of cases) {
    const { code, stderr } = await command(['serve'], wrong)
    assert.match(stderr, sentence)
    assert.equal(code, 1)
    assert.doesNotMatch(stderr, new RegExp(peopleSecret))
  }
  const ofNobody = await commandsOf('default', 'examples/empty/duet.config.ts')(
    ['serve'],
    withSecret,
  )
  assert.match(ofNobody.stderr, /DUET_PEOPLE_SECRET is for a content whose people sign in/)
  const off = await serve(production)
  assert.match(off.stderr(), /sign-in is off without DUET_PEOPLE_SECRET/)
  for (const path of ['/auth/get-session', '/signin', '/auth/jwks'])
    assert.equal((await fetch(off.url + path)).status, 404)
  await off.end()
})
