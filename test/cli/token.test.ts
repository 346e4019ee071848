/** The tokens that the command makes, and the secret that it shares with a service. */
import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { command, folderOf, secret, serve } from '#test/market.ts'
import { commandsOf } from '../commands.ts'

const { fresh, freshStore } = folderOf('token')

test('a token of the command is accepted by the server, with its role and no longer than its life', async () => {
  const { settings } = await freshStore()
  const service = await serve(settings)
  const [user, admin, short] = (
    await Promise.all([
      command(['token', '--user', '2'], settings),
      command(['token', '--user', '1', '--role', 'admin', '--ttl', '15m'], settings),
      command(['token', '--user', '2', '--ttl', '90s'], settings),
    ])
  ).map(({ stdout }) => stdout.trim())
  const claims = (bearer = '') =>
    JSON.parse(Buffer.from(bearer.split('.')[1] ?? '', 'base64url').toString())
  assert.equal(claims(short).exp - claims(short).iat, 90)
  assert.equal(claims(admin).role, 'admin')
  assert.equal(claims(user).sub, '2')
  const ask = async (method: string, bearer?: string) => {
    const { status } = await fetch(`${service.url}/api/users/3`, {
      method,
      ...(bearer && { headers: { Authorization: `Bearer ${bearer}` } }),
    })
    return status
  }
  assert.equal(await ask('GET'), 401)
  assert.equal(await ask('GET', user), 200)
  assert.equal(await ask('DELETE', user), 403)
  assert.equal(await ask('DELETE', admin), 204)
  assert.equal(await ask('GET', `${admin}x`), 401)
  await service.end()
})

test('development makes a secret once, for the owner alone, and token and server share it', async () => {
  const { file, settings } = fresh()
  const { DUET_AUTH_SECRET: _, ...development } = settings
  const first = await command(['token', '--user', '1'], development)
  assert.equal(first.code, 0)
  const path = join(dirname(file), 'secret')
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.match(first.stderr, /the secret .*secret is new: the token fits only a service/)
  // Another terminal may have other settings than the service, so it is told what the token is signed with.
  const again = await command(['token', '--user', '1'], development)
  const signed = `duet: signed with the secret of the file ${path}; a service that was started with DUET_AUTH_SECRET or another DUET_DATABASE_URL refuses the token: set the same here\n`
  assert.equal(again.stderr, signed)
  const kept = readFileSync(path, 'utf8')
  const service = await serve(development)
  assert.equal(readFileSync(path, 'utf8'), kept)
  const { status } = await fetch(`${service.url}/api/users`, {
    headers: { Authorization: `Bearer ${first.stdout.trim()}` },
  })
  assert.equal(status, 200)
  // The start says what the command needs to sign alike.
  const needed = `bin/duet token --user 1 --role admin, in ${process.cwd()} with the same DUET_DATABASE_URL\n`
  assert.ok(service.stderr().includes(needed), service.stderr())
  await service.end()
})

test('a token of another secret is refused with the reason, and the log says once where the key is from', async () => {
  const { settings } = await freshStore()
  const service = await serve({ ...settings, DUET_LOG: 'warn' })
  const { stdout } = await command(['token', '--user', '1'], {
    ...settings,
    DUET_AUTH_SECRET: [...secret].reverse().join(''),
  })
  for (const user of [1, 2]) {
    const response = await fetch(`${service.url}/api/users/${user}`, {
      headers: { Authorization: `Bearer ${stdout.trim()}` },
    })
    assert.equal(response.status, 401)
    const { error } = (await response.json()) as { error: { message: string } }
    assert.match(error.message, /^The signature does not fit: the token was made with another key/)
  }
  await service.end()
  const lines = service.stdout().trim().split('\n')
  assert.equal(lines.length, 1)
  assert.match(lines[0] ?? '', /"level":40,.*not signed with the key of DUET_AUTH_SECRET;/)
})

const inKitchen = commandsOf('kitchen', 'test/support/kitchen/index.ts')
const parties = { DUET_AUTH_ISSUER: 'https://login.example', DUET_AUTH_AUDIENCE: 'kitchen' }

test('where tokens have subjects it takes that of a row, or any, with claims', async () => {
  const { settings } = fresh()
  const of = { ...settings, ...parties }
  const run = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await inKitchen(['token', ...args], of)
    const [, payload = ''] = stdout.split('.')
    return {
      code,
      stderr,
      claims: payload && JSON.parse(Buffer.from(payload, 'base64url').toString()),
    }
  }
  const { code } = await inKitchen(['migrate'], of)
  assert.equal(code, 0)
  const file = join(dirname(of.DUET_DATABASE_URL.slice('sqlite:'.length)), 'cooks.ndjson')
  writeFileSync(file, '{"name":"Ada","subject":"idp|1"}\n')
  const imported = await inKitchen(['import', 'cooks', file], of)
  assert.equal(imported.code, 0, imported.stderr)

  const { claims } = await run('--cook', '1', '--role', 'chef')
  assert.deepEqual(
    [claims.sub, claims.aud, claims.iss],
    ['idp|1', 'kitchen', 'https://login.example'],
  )
  assert.deepEqual(claims.realm_access, { roles: 'head-chef' })
  assert.equal(claims.role, undefined)
  const other = await run('--subject', 'idp|9', '--claims', '{"name":"Ben"}')
  assert.deepEqual([other.claims.sub, other.claims.name], ['idp|9', 'Ben'])
  const words = '{"realm_access":{"roles":["head-chef","x"],"more":1}}'
  const own = await run('--subject', 'idp|9', '--claims', words)
  assert.deepEqual(own.claims.realm_access, JSON.parse(words).realm_access)
  const more = ['--role', 'chef', '--claims', '{"realm_access":{"a":1}}']
  const beside = await run('--subject', 'x', ...more)
  assert.deepEqual(beside.claims.realm_access, { a: 1, roles: 'head-chef' })
  for (const [args, sentence] of [
    [['--cook', '2'], 'there is no cook 2: name one that there is, or a --subject'],
    [['--cook', 'x'], '--cook must be the id of a cook, such as 1'],
    [[], 'name whom the token is for by one of --cook, --subject'],
    [['--cook', '1', '--subject', 'x'], 'name whom the token is for by one of --cook, --subject'],
    [
      ['--subject', 'x', '--role', 'chef', '--claims', words],
      '--claims gives a role and so does --role: leave one out',
    ],
    [
      ['--subject', 'x', '--role', 'chef', '--claims', '{"realm_access":["chef"]}'],
      'the claim realm_access would be written over: a role belongs there',
    ],
    [
      ['--subject', 'x', '--claims', '{"exp":1}'],
      '--claims has exp, which --ttl gives: leave it out of the claims',
    ],
    [
      ['--subject', 'x', '--claims', '[]'],
      '--claims must be a JSON object, such as \'{"name":"Ada"}\', not []',
    ],
  ] as const) {
    const { code, stderr } = await run(...args)
    assert.equal(code, sentence.startsWith('the claim') ? 1 : 2)
    assert.match(stderr, new RegExp(sentence.replace(/[.[\]{}|]/g, '\\$&')))
  }
})

test('where tokens have subjects nothing starts without their issuer and audience', async () => {
  const { settings } = fresh()
  for (const given of [{}, { DUET_AUTH_ISSUER: 'https://x' }, { DUET_AUTH_AUDIENCE: 'kitchen' }])
    for (const args of [['serve'], ['token', '--subject', 'x']]) {
      const { code, stderr } = await inKitchen(args, { ...settings, ...given })
      assert.equal(code, 1)
      assert.match(
        stderr,
        /the content finds its viewers by the subject of tokens.*: set DUET_AUTH_ISSUER to .* and DUET_AUTH_AUDIENCE to/,
      )
    }
})
