/** Commands that end with one line on standard error. */
import assert from 'node:assert/strict'
import type { duet, Settings } from '#test/market.ts'
import { command } from '#test/market.ts'

type Case = readonly [string, readonly string[], number, RegExp]

/** The settings of a store that is brought up to date, so that `serve` reports no migrations. */
export const migrated = async (settings: Settings) => {
  assert.equal((await command(['migrate'], settings)).code, 0)
  return settings
}

/** Runs the cases; each must print one line on standard error and nothing else. */
export const oneLine = async (
  cases: readonly Case[],
  settings: Settings,
  run: typeof command | typeof duet = command,
) => {
  const runs = await Promise.all(cases.map(([, args]) => run(args, settings)))
  for (const [index, { code, stdout, stderr }] of runs.entries()) {
    const [what, , status, message] = cases[index] as Case
    assert.equal(code, status, `${what}: ${stderr}`)
    assert.equal(stdout, '', what)
    assert.match(stderr, /^duet: [^\n]+\n$/, what)
    assert.match(stderr, message, what)
  }
}
