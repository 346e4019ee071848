/** Two services on three nodes of PostgreSQL under Patroni and etcd, through the loss of each part, for long. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { forAllTests } from '#test/support/fixture.ts'
import { usualSeed } from '#test/support/rounds.ts'
import { noEtcd } from './cluster/etcd.ts'
import { tableOf } from './cluster/measure.ts'
import { noPatroni } from './cluster/node.ts'
import { faults, type Rounds, roundsOf, startStage } from './cluster/rounds.ts'

const rounds = Number(process.env.DUET_TEST_ROUNDS ?? 20)
const seed = usualSeed(7)
const skip = noPatroni || noEtcd
const kinds = Object.keys(faults) as (keyof typeof faults)[]

describe('two services on a cluster with synchronous replication', { skip }, () => {
  const stage = forAllTests(() => startStage('synchronous'))
  const found = new Map<string, Rounds>()

  for (const kind of kinds)
    test(`${rounds} rounds, ${kind}: nothing acknowledged is lost, nothing is done twice [B1]`, async t => {
      t.diagnostic(`DUET_SEED=${seed}`)
      const all = await roundsOf(stage, { kind, count: rounds, seed })
      found.set(kind, all)
      const { lost, twice, faults, refusals } = all
      if (lost + twice + faults.length > 0) t.diagnostic(JSON.stringify(refusals))
      assert.deepEqual(
        { lost, twice, faults: faults.slice(0, 3) },
        { lost: 0, twice: 0, faults: [] },
      )
    })

  test('rounds of each kind are done, and are a table', t => {
    t.diagnostic(`DUET_SEED=${seed}`)
    for (const line of tableOf(found)) t.diagnostic(line)
    assert.deepEqual([...found.keys()], kinds)
  })
})

// The control: what the rounds look for is there where commits wait for no standby.
describe('two services on a cluster with asynchronous replication', { skip }, () => {
  const stage = forAllTests(() => startStage('asynchronous'))

  test('lose what was acknowledged by a primary that is cut off from its cluster, and the rounds show it', async t => {
    const kind = 'primary cut off from its cluster alone'
    const { acknowledged, lost } = await roundsOf(stage, { kind, count: 2, seed })
    t.diagnostic(`${lost} of ${acknowledged} acknowledged writes lost`)
    assert.ok(lost > 0)
  })
})
