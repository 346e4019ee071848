import { test } from 'node:test'
import { noDatabase } from './database.ts'
import { noHaproxy } from './haproxy.ts'
import { assertUnnoticed, rollingRounds } from './restart-rounds.ts'

test('services behind HAProxy are restarted in turn at 300 requests a second, and no request fails', {
  skip: noDatabase || noHaproxy,
}, async t => {
  assertUnnoticed(await rollingRounds(2), text => t.diagnostic(text))
})
