/** deploy/upgrade-postgres.sh on a store whose tables are in a schema of their own; what callers see of it is a nightly test. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { command } from '#test/commands.ts'
import { ask } from '#test/postgres/tools/ask.ts'
import { noPostgres, type Postgres, startPostgres } from '#test/postgres/tools/server.ts'
import { installed } from '#test/support/guard.ts'

const script = fileURLToPath(new URL('../../../deploy/upgrade-postgres.sh', import.meta.url))
const skip =
  noPostgres ||
  (['psql', 'pg_dump'].some(name => installed(name) === undefined) &&
    'psql or pg_dump is missing: apt-get install postgresql-client')

const urlOf = ({ port }: Postgres, user: string) => `postgres://${user}@127.0.0.1:${port}/duet`

test('a store outside of the schema public is carried to another server, with its sequences and its search_path', {
  skip,
}, async () => {
  const start = () => startPostgres({ settings: { wal_level: 'logical' } })
  const [older, newer] = await Promise.all([start(), start()])
  const run = async (step: string) => {
    const program = spawn(script, [step, urlOf(older, 'postgres'), urlOf(newer, 'postgres')])
    const faults = text(program.stderr)
    program.stdout.resume()
    const [code] = await once(program, 'exit')
    assert.equal(code, 0, await faults)
  }
  const addUser = async (server: Postgres, name: string) => {
    const args = ['--name', name, '--email', `${name}@example.org`]
    const settings = { DUET_DATABASE_URL: urlOf(server, 'duet') }
    const { stdout, stderr } = await command(['user', 'add', ...args], settings)
    return stdout.split('\n')[0] || stderr
  }
  try {
    await ask(older.url, 'create role duet login')
    await ask(older.url, 'create database duet owner duet')
    await ask(newer.url, 'create database duet')
    await ask(urlOf(older, 'duet'), 'create schema "Kept apart"')
    await ask(older.url, 'alter role duet set search_path = "Kept apart", pg_catalog')
    assert.match(await addUser(older, 'ada'), /user 1$/m)
    await run('copy')
    await run('switch')
    assert.equal(await addUser(newer, 'grace'), 'user 2')
  } finally {
    await Promise.all([older.end(), newer.end()])
  }
})
