import assert from 'node:assert/strict'
import { test } from 'node:test'
import { command } from '#test/commands.ts'
import { freshDatabase, noDatabase } from '#test/postgres/tools/database.ts'
import { noHaproxy } from '#test/postgres/tools/haproxy.ts'
import { lookInto, postgresOf } from '#test/stores.ts'
import { endedUnderLoad } from '../store/term-rounds.ts'
import { assertUnnoticed } from '../support/steady-load.ts'
import { secret } from '../world.ts'
import { rollingRounds } from './rounds/restart-rounds.ts'

test('services behind HAProxy are restarted in turn under load, and no request fails [H10]', {
  skip: noDatabase || noHaproxy,
}, async t => {
  assertUnnoticed(await rollingRounds(2, { perSecond: 100, mostOpen: 8 }), text =>
    t.diagnostic(text),
  )
})

test('SIGTERM to a service of one process cuts none of 16 busy keep-alive clients, and loses no write', {
  skip: noDatabase,
}, async () => {
  const { url } = await freshDatabase()
  const settings = { DUET_DATABASE_URL: url, DUET_AUTH_SECRET: secret }
  assert.equal((await command(['migrate'], settings)).code, 0)
  const { rows, close } = lookInto(postgresOf(url))
  await endedUnderLoad('one', { settings, rows }, 0)
  await close()
})
