/** The log of a store under writes while reads hold their snapshots for as long as they may. */
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { test } from 'node:test'
import type { QueryScript, Rows } from '#sql/engine.ts'
import { createWorld } from '../world.ts'

const mebibyte = 1_048_576
/** Where a commit carries the log over when nobody is in the way: 1,000 pages. */
const usual = 4 * mebibyte

/** A read of a table that does not end by itself. */
const endless = {
  text: 'with recursive n (n) as (select min(id) from users union all select n from n where duet_interrupt_check()) select count(*) from n',
  values: [],
}

/** As many writes as 500 a second are in the time of a read. */
const perRead = 2500
const rounds = 5

test(`while ${rounds} reads hold their snapshots until they are cut off, each beside ${perRead} writes, the log stays below 128 MiB, and below 64 after [A10]`, async t => {
  const world = await createWorld({ engine: { readers: 1, readTimeout: 5000, sync: 'full' } })
  t.after(() => world.close())
  const bytes = () => statSync(`${world.file}-wal`).size
  let [count, most] = [0, 0]
  const write = (times: number) =>
    Promise.all(
      Array.from({ length: 50 }, async () => {
        for (let n = 0; n < times / 50; n++) {
          const body = { name: 'x'.repeat(50), email: `w${count++}@example.org` }
          assert.equal((await world.ask('POST /api/users', { body })).status, 201)
          most = Math.max(most, bytes())
        }
      }),
    )
  for (let round = 0; round < rounds; round++) {
    const held = world.engine.slowly(function* (): QueryScript<Rows> {
      return yield endless
    })
    const cut = assert.rejects(held, { code: 'TIMEOUT' })
    await write(perRead)
    await cut
    await write(500)
    assert.ok(bytes() <= 64 * mebibyte, `${bytes()}`)
  }
  assert.ok(most > usual, 'the reads are in the way of nothing')
  assert.ok(most < 128 * mebibyte, `${most}`)
  t.diagnostic(`${count} writes, the log came to ${(most / mebibyte).toFixed(1)} MiB`)
})
