import { test } from 'node:test'
import { noDatabase } from '#test/postgres/tools/database.ts'
import { noHaproxy } from '#test/postgres/tools/haproxy.ts'
import { assertUnnoticed } from '../support/steady-load.ts'
import { rollingRounds } from './rounds/restart-rounds.ts'

test('services behind HAProxy are restarted in turn under load, and no request fails [H10]', {
  skip: noDatabase || noHaproxy,
}, async t => {
  assertUnnoticed(await rollingRounds(2, { perSecond: 100, mostOpen: 8 }), text =>
    t.diagnostic(text),
  )
})
