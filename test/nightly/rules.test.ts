/** Races of writes with changes of what their rules look at, as many as a night has time for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engines } from '../generated/compare.ts'
import { raceChildren } from '../generated/write-races.ts'

const rounds = Number(process.env.DUET_TEST_ROUNDS ?? 1000)

for (const on of engines)
  test(`what is below a recipe when it is taken from its cooks is all there ever is, ${rounds} times on ${on}`, async t => {
    const { made, refused } = await raceChildren(on, rounds)
    t.diagnostic(`${made} made, ${refused} refused`)
    assert.ok(made > 0 && refused > 0)
  })
