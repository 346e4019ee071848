/** How tests wait: for the thing itself, with one deadline for all of them. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/** The longest that a test waits for anything, in milliseconds; a slow machine has it raised by DUET_TEST_PATIENCE. */
export const longest = 120_000 * Number(process.env.DUET_TEST_PATIENCE ?? 1)

/** Waits until `isSo`; fails at the deadline, saying what was waited for, as it is then where that is a function. */
export const until = async (
  what: string | (() => string),
  isSo: () => boolean | Promise<boolean>,
): Promise<void> => {
  const begun = performance.now()
  while (!(await isSo())) {
    const waited = performance.now() - begun
    if (waited >= longest)
      assert.fail(
        `waited ${longest / 1000} s in vain until ${typeof what === 'string' ? what : what()}`,
      )
    // To look takes the processor from what is waited for: less often, the longer it takes.
    await sleep(Math.min(10 + waited / 20, 100))
  }
}

/** Gives what `work` gives; fails at the deadline, saying what was waited for. */
export const inTime = async <Result>(what: string, work: Promise<Result>): Promise<Result> => {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const error = new assert.AssertionError({
    message: `waited ${longest / 1000} s in vain until ${what}`,
  })
  const timer = setTimeout(reject, longest, error)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Lets time pass where only that is needed: a pause that turns out longer must change nothing. */
export const pause = (ms: number): Promise<void> => sleep(ms)

/** Holds the thread for so many milliseconds, as on a busy machine: nothing of it goes on meanwhile. */
export const standStill = (milliseconds: number): void =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
