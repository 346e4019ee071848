import assert from 'node:assert/strict'
import { test } from 'node:test'
import content from '#content/duet.config.ts'
import { startService } from '#serve/temporary.ts'
import { command } from '#test/commands.ts'
import { folderOf } from '#test/duet.ts'
import { sqliteTest as it } from '#test/stores.ts'

const { freshStore } = folderOf('user')
const ada = ['user', 'add', '--name', 'Ada', '--email', 'ada@example.org']

/** Runs the last line that a command printed, which is to be one of `bin/duet`. */
const follow = async (printed: string, settings: Readonly<Record<string, string>>) => {
  const [program, ...args] = printed.trim().split('\n').at(-1)?.split(' ') ?? []
  assert.equal(program, 'bin/duet')
  return (await command(args, settings)).stdout.trim()
}

test('the first admin of a production store is added, while it is served and sign-up is closed', async () => {
  const { settings } = await freshStore()
  const production = { ...settings, DUET_ENV: 'production', DUET_HOST: '127.0.0.1' }
  const service = await startService(content, {
    settings: { ...production, DUET_SIGNUP: 'closed' },
  })
  const added = await command([...ada, '--role', 'admin'], production)
  assert.deepEqual([added.code, added.stderr], [0, ''])
  assert.match(added.stdout, /^user 1\nbin\/duet token --user 1 --role admin --ttl 1h\n$/)
  const headers = { Authorization: `Bearer ${await follow(added.stdout, production)}` }
  const found = await fetch(`${service.url}/api/users?role=admin`, { headers })
  const { data } = (await found.json()) as { data: readonly Record<string, unknown>[] }
  assert.deepEqual(
    data.map(({ id, name, email, role, status }) => [id, name, email, role, status]),
    [[1, 'Ada', 'ada@example.org', 'admin', 'active']],
  )
  const removed = await fetch(`${service.url}/api/users/1`, { method: 'DELETE', headers })
  assert.equal(removed.status, 204)
  await service.stop()
})

test('a user that is added without a role is no admin, and gets a line for a token of a user; a value may be help', async () => {
  const { settings, rows } = await freshStore()
  const { stdout } = await command(ada.with(3, 'help'), settings)
  assert.equal(stdout, 'user 1\nbin/duet token --user 1 --ttl 1h\n')
  assert.deepEqual(await rows('select name, role from users'), [['help', 'user']])
})

it('a user that the model refuses is not added, and each fault is named by its option', async () => {
  const { settings, rows } = await freshStore()
  await command(ada, settings)
  const cases = [
    [ada.with(5, 'ADA@example.org'), 1, /--email is in use already/],
    [ada.slice(0, 4), 2, /--email is required/],
    [
      [...ada.with(5, 'x'), '--role', 'root'],
      2,
      /--email must be an email address; --role must be/,
    ],
    [['user'], 2, /duet user add --name NAME --email EMAIL/],
    [[...ada, '--status', 'active'], 2, /there is no --status/],
  ] as const
  const runs = await Promise.all(cases.map(([args]) => command(args, settings)))
  for (const [index, [args, code, message]] of cases.entries()) {
    assert.equal(runs[index]?.code, code, args.join(' '))
    assert.match(runs[index]?.stderr ?? '', message)
    assert.match(runs[index]?.stderr ?? '', /^duet: [^\n]+\n$/)
  }
  assert.equal((await rows('select id from users')).length, 1)
})
