/** The tokens that the command makes, and the secret that it shares with a service. */
import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { command } from '../commands.ts'
import { folderOf, serve } from '../duet.ts'
import { secret } from '../world.ts'

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
  assert.equal((await command(['token', '--user', '1'], development)).stderr, '')
  const kept = readFileSync(path, 'utf8')
  const service = await serve(development)
  assert.equal(readFileSync(path, 'utf8'), kept)
  const { status } = await fetch(`${service.url}/api/users`, {
    headers: { Authorization: `Bearer ${first.stdout.trim()}` },
  })
  assert.equal(status, 200)
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
