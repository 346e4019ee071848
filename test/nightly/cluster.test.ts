/** Two services on three nodes of PostgreSQL under Patroni and etcd, through the loss of each part, for long. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { noEtcd } from './cluster/etcd.ts'
import { noPatroni } from './cluster/node.ts'
import { faults, roundsOf, type Stage, startStage } from './cluster/rounds.ts'

const rounds = Number(process.env.DUET_TEST_ROUNDS ?? 20)
const skip = noPatroni || noEtcd

describe('two services on a cluster with synchronous replication', { skip }, () => {
  let stage: Stage
  before(async () => {
    stage = await startStage('synchronous')
  })
  after(() => stage?.end())

  for (const kind of Object.keys(faults) as (keyof typeof faults)[])
    test(`${rounds} rounds, ${kind}: nothing acknowledged is lost, nothing is done twice`, async t => {
      const { row, refusals, lost, twice, faults } = await roundsOf(stage, kind, rounds)
      t.diagnostic(JSON.stringify(row))
      t.diagnostic(JSON.stringify(refusals))
      assert.deepEqual(
        { lost, twice, faults: faults.slice(0, 3) },
        { lost: 0, twice: 0, faults: [] },
      )
    })
})

// The control: what the rounds look for is there where commits wait for no standby.
describe('two services on a cluster with asynchronous replication', { skip }, () => {
  let stage: Stage
  before(async () => {
    stage = await startStage('asynchronous')
  })
  after(() => stage?.end())

  test('lose what was acknowledged by a primary that is cut off from its cluster, and the rounds show it', async t => {
    const { row, lost } = await roundsOf(stage, 'primary cut off from its cluster alone', 2)
    t.diagnostic(JSON.stringify({ ...row, lost }))
    assert.ok(lost > 0)
  })
})
