import { test } from 'node:test'
import { folderOf } from '#test/duet.ts'
import { handedOverRounds } from '../store/restart-rounds.ts'

const restarts = Number(process.env.DUET_TEST_ROUNDS ?? 20)

test(`${restarts} restarts at 300 requests a second, on a socket that outlives the service, fail none [H10]`, async t => {
  const { rows, settings } = folderOf('restarts').fresh()
  await handedOverRounds(restarts, rows, settings, text => t.diagnostic(text))
})
