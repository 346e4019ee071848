import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { folderOf } from '#test/duet.ts'
import { copyOfCheckout, inFolder } from '#test/support/checkout-copy.ts'
import { usualSeed } from '#test/support/rounds.ts'
import { raceAnswers } from '../support/answers-race.ts'
import { raceThreads } from '../support/threads-race.ts'

const wanted = Number(process.env.DUET_TEST_HITS ?? 1_000_000)
const seed = usualSeed(7)

test(`of ${wanted} answers from the cache none is older than it may be (DUET_SEED=${seed}) [A19]`, async t => {
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

// The moment between a commit and what follows it, made longer.
const pause = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)\n'
const settling = '    settled: () => {\n'
const slow = (text: string) => text.replace(settling, settling + pause)

const telling = 'for (const place of written.group) Atomics.store(values, place, number)\n'
const late = (text: string) =>
  slow(text.replace(telling, '')).replace(
    pause,
    `${pause} const number = Atomics.load(values, numbers.begun)\n ${telling}`,
  )

// Without the values that a row had before an update.
const both = "update: ['old', 'new']"
const forgetful = (text: string) => text.replace(both, "update: ['new']")

/** The race in a copy of the checkout with another text of one of its files. */
const raceWith = async (
  file: string,
  changed: (text: string) => string,
  parts: readonly string[],
): Promise<readonly string[]> => {
  const folder = copyOfCheckout()
  const text = readFileSync(join(folder, file), 'utf8')
  for (const part of parts) assert.ok(text.includes(part), part)
  writeFileSync(join(folder, file), changed(text))
  const program = `import { folderOf } from '#test/duet.ts'
import { raceAnswers } from './content/test/support/answers-race.ts'
    const { faults } = await raceAnswers({ hits: 20000, most: 40000, seed: ${seed}, readsPerWrite: 10 })
    console.log(JSON.stringify(faults))`
  writeFileSync(join(folder, 'race.ts'), program)
  const { stdout, stderr, failed } = await inFolder(folder, {}, 'race.ts')
  assert.equal(failed, false, stderr)
  return JSON.parse(/^\[.*\]$/m.exec(stdout)?.[0] ?? stdout)
}

const changes = 'src/engines/sqlite/changes.ts'
const old = /showed \d+ after \d+ had been told/

test('changes that are told only after the commit let older answers through, and the race finds them [A19]', async () => {
  assert.match((await raceWith(changes, late, [settling, telling]))[0] ?? 'none', old)
})

test('a commit that takes long lets no older answer through', async () => {
  assert.deepEqual(await raceWith(changes, slow, [settling]), [])
})

test('where a write tells only the new values of its keys, lists of the old ones are too old, and the race finds them', async () => {
  const faults = await raceWith('src/engines/sqlite/changes.ts', forgetful, [both])
  assert.match(faults[0] ?? 'none', old)
  assert.match(faults.join(), /product/)
})

test(`of ${wanted} answers from the caches of two threads none is older than it may be (DUET_SEED=${seed})`, async t => {
  const { settings } = folderOf('threads-race').fresh()
  const { faults, hits, writes, asked } = await raceThreads({
    settings,
    threads: 2,
    reads: wanted,
    hits: wanted,
    readsPerWrite: 100,
    seed,
    connections: 24,
  })
  assert.deepEqual(faults, [])
  assert.ok(hits >= wanted, `only ${hits} answers came from the caches`)
  t.diagnostic(`${asked} answers, ${hits} of them from the cache, beside ${writes} writes`)
})

test('numbers of a commit that move only after the answer let older answers through on other threads, and the race finds them', async () => {
  const folder = copyOfCheckout()
  const change = (file: string, ...changed: readonly (readonly [string, string])[]) => {
    let text = readFileSync(join(folder, file), 'utf8')
    for (const [part, other] of changed) {
      assert.ok(text.includes(part), part)
      text = text.replace(part, other)
    }
    writeFileSync(join(folder, file), text)
  }
  const begun = 'const number = Atomics.load(values, numbers.begun)\n'
  change(changes, [telling, ''], [settling, `${settling}${begun}${telling}`])
  change(
    'src/engines/sqlite/writer-thread.ts',
    ['    counted?.settled()\n    // What', '    // What'],
    ['    tell(result)\n', `    tell(result)\n${pause}    counted?.settled()\n`],
  )
  const program = `import { folderOf } from '#test/duet.ts'
    import { raceThreads } from './content/test/support/threads-race.ts'
    const { settings } = folderOf('race').fresh()
    const { faults } = await raceThreads({ settings, threads: 2, reads: 40000, seed: ${seed} })
    console.log(JSON.stringify(faults))
    process.exit()`
  writeFileSync(join(folder, 'race.ts'), program)
  const { stdout, failed, stderr } = await inFolder(folder, {}, 'race.ts')
  assert.equal(failed, false, stderr)
  assert.match(stdout, / showed \d+ of \d after \d+ had been told/)
})
