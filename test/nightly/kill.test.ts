import { test } from 'node:test'
import { folderOf } from '../duet.ts'
import { killRounds } from '../store/kill-rounds.ts'

const rounds = Number(process.env.DUET_TEST_ROUNDS ?? 200)

test(`${rounds} times kill -9 under writes lose no acknowledged write`, async t => {
  const { file, settings } = folderOf('kill').fresh()
  t.diagnostic(`${await killRounds(rounds, file, settings)} writes were acknowledged`)
})

test(`${rounds} times kill -9 amid the restart after a kill -9 lose no acknowledged write either`, async t => {
  const { file, settings } = folderOf('kill-restart').fresh()
  const kills = Math.ceil(rounds / 5)
  t.diagnostic(`${await killRounds(kills, file, settings, 5)} writes were acknowledged`)
})
