import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noDatabase } from '#test/postgres/tools/database.ts'
import { noHaproxy } from '#test/postgres/tools/haproxy.ts'
import { rollingRounds } from '../postgres/rounds/restart-rounds.ts'
import { assertUnnoticed } from '../support/steady-load.ts'

const restarts = Number(process.env.DUET_TEST_ROUNDS ?? 20)

test(`${restarts} restarts in turn behind HAProxy at up to 300 requests a second fail no request [H10]`, {
  skip: noDatabase || noHaproxy,
}, async t => {
  assertUnnoticed(await rollingRounds(restarts), text => t.diagnostic(text))
})

test('without a wait at the end callers do notice: it is needed, and this sees it [H10]', {
  skip: noDatabase || noHaproxy,
}, async () => {
  let noticed = 0
  // A few restarts may go by unnoticed, not forty.
  for (let tries = 0; noticed === 0 && tries < 10; tries++)
    noticed = (await rollingRounds(4, { wait: 0 })).errors.length
  assert.ok(noticed > 0)
})
