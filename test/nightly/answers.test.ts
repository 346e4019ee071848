import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { raceAnswers } from '../support/answers-race.ts'
import { copyOfCheckout, inFolder } from '../support/checkout-copy.ts'

const wanted = Number(process.env.DUET_TEST_HITS ?? 1_000_000)
const seed = Number(process.env.DUET_SEED ?? Date.now() % 2 ** 31)

test(`of ${wanted} answers from the cache none is older than it may be (DUET_SEED=${seed})`, async t => {
  const { hits, writes, faults } = await raceAnswers({
    hits: wanted,
    most: 10 * wanted,
    seed,
    readsPerWrite: 100,
  })
  assert.deepEqual(faults, [])
  assert.ok(hits >= wanted, `only ${hits} answers came from the cache`)
  t.diagnostic(`${hits} answers from the cache beside ${writes} writes`)
})

const before = '    counted?.committing()\n'
const behind = '    counted?.settled()\n'
// The moment between a commit and what follows it, made longer.
const pause = '    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3)\n'
const slow = (text: string) => text.replace(behind, pause + behind)
// Moved by two at once, so that they are even again.
const late = (text: string) => text.replace(before, '').replace(behind, pause + before + behind)

/** The race in a copy of the checkout whose writer moves its counters in another way. */
const raceWith = async (changed: (text: string) => string): Promise<readonly string[]> => {
  const folder = copyOfCheckout()
  const worker = join(folder, 'src/engines/sqlite/worker.ts')
  const text = readFileSync(worker, 'utf8')
  const isAround = text.indexOf(before) > 0 && text.indexOf(before) < text.indexOf(behind)
  assert.ok(isAround, 'the writer moves its counters around the commit')
  writeFileSync(worker, changed(text))
  const program = `import { raceAnswers } from './test/support/answers-race.ts'
    const { faults } = await raceAnswers({ hits: 20000, most: 40000, seed: ${seed}, readsPerWrite: 20 })
    console.log(JSON.stringify(faults))`
  writeFileSync(join(folder, 'race.ts'), program)
  const { stdout, stderr, failed } = await inFolder(folder, {}, 'race.ts')
  assert.equal(failed, false, stderr)
  return JSON.parse(/^\[.*\]$/m.exec(stdout)?.[0] ?? stdout)
}

test('counters that are moved only after the commit let older answers through, and the race finds them', async () => {
  const faults = await raceWith(late)
  assert.match(faults[0] ?? 'none', /showed \d+ after \d+ had been told/)
})

test('a commit that takes long lets no older answer through', async () => {
  assert.deepEqual(await raceWith(slow), [])
})
