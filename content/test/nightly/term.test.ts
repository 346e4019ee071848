import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { folderOf } from '#test/duet.ts'
import { endedUnderLoad } from '../store/term-rounds.ts'

const rounds = Number(process.env.DUET_TEST_ROUNDS ?? 100)
const { fresh } = folderOf('term')

test(`${rounds} times SIGTERM under load cuts nobody, loses no acknowledged write, and carries the log over [H8]`, async t => {
  let acknowledged = 0
  const lane = async (first: number) => {
    const store = fresh()
    for (let round = first; round < rounds; round += 2) {
      acknowledged += await endedUnderLoad(`r${round}`, store, (round % 4) * 30)
      assert.equal(existsSync(`${store.file}-wal`), false)
    }
  }
  await Promise.all([lane(0), lane(1)])
  t.diagnostic(`${acknowledged} writes were acknowledged`)
})
