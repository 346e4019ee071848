import assert from 'node:assert/strict'
import { test } from 'node:test'
import { folderOf, type Service } from '#test/duet.ts'
import { killRounds } from '../store/kill-rounds.ts'

const rounds = Number(process.env.DUET_TEST_ROUNDS ?? 1000)

/** So many on a store before the next has a fresh one: after each all rows are read. */
const onStore = 100

test(`${rounds} times kill -9 under writes lose no acknowledged write [A1]`, async t => {
  const { fresh } = folderOf('kill')
  let acknowledged = 0
  for (let left = rounds; left > 0; left -= onStore) {
    const { file, settings } = fresh()
    acknowledged += await killRounds(Math.min(left, onStore), file, settings)
  }
  t.diagnostic(`${acknowledged} writes were acknowledged`)
})

const restarts = Math.ceil(rounds / 25)
test(`${restarts} times kill -9 amid the restart after a kill -9 lose no acknowledged write either [A6]`, async t => {
  const { file, settings } = folderOf('kill-restart').fresh()
  t.diagnostic(`${await killRounds(restarts, file, settings, 5)} writes were acknowledged`)
})

const starved = `--max-old-space-size=64 --import=${new URL('../../../test/support/glutton.mjs', import.meta.url)}`

/** Ends as V8 ends a process whose heap is full. */
const dieOfMemory = async (service: Service) => {
  await service.end('SIGUSR2')
  assert.equal(service.child.signalCode, 'SIGABRT')
  assert.match(service.stderr(), /heap out of memory/)
}

const deaths = Math.ceil(rounds / 50)
test(`${deaths} deaths by memory under writes lose no acknowledged write [A23]`, async t => {
  const { file, settings } = folderOf('memory').fresh()
  const little = { ...settings, NODE_OPTIONS: starved }
  t.diagnostic(`${await killRounds(deaths, file, little, 0, dieOfMemory)} writes were acknowledged`)
})
