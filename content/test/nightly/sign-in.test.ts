/** Many kills while people sign in and out. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { command } from '#test/commands.ts'
import { folderOf } from '#test/duet.ts'
import { freshDatabase, noDatabase } from '#test/postgres/tools/database.ts'
import { signInRounds } from '../store/sign-in-rounds.ts'
import { secret } from '../world.ts'

const rounds = Number(process.env.DUET_TEST_ROUNDS ?? 20)
const told = ({ kept, ended }: { readonly kept: number; readonly ended: number }) =>
  `${kept} sessions were there, ${ended} were ended`

test(`${rounds} times kill -9 while people sign in and out lose no session, revive none and lock nobody out`, async t => {
  t.diagnostic(told(await signInRounds(rounds, folderOf('sign-in-kill').fresh().settings)))
})

test('the same on PostgreSQL', { skip: noDatabase }, async t => {
  const { url, drop } = await freshDatabase()
  const settings = { DUET_DATABASE_URL: url, DUET_AUTH_SECRET: secret }
  assert.equal((await command(['migrate'], settings)).code, 0)
  t.diagnostic(told(await signInRounds(rounds, settings)))
  await drop()
})
