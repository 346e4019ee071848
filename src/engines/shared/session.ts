/** The transactions of a session for CLI commands, given the statements that begin and end them. */
import type { Session } from '#sql/engine.ts'

type Run = (text: string) => void | Promise<void>

const framed =
  (run: Run, end: Run, [first, last, undone]: readonly [string, string, string]) =>
  async <Result>(work: () => Promise<Result>): Promise<Result> => {
    await run(first)
    try {
      const result = await work()
      await end(last)
      return result
    } catch (error) {
      try {
        await run(undone)
      } catch {
        // The first error has the reason: a lost connection, say, or a full disk, which ends a transaction by itself.
      }
      throw error
    }
  }

/** Transactions that begin and end with these statements; `end` runs those that commit. */
export const transactionsOf = (
  run: Run,
  begin: string,
  commit: string,
  end: Run = run,
): Pick<Session, 'transaction' | 'attempt'> => ({
  transaction: framed(run, end, [begin, commit, 'rollback']),
  attempt: framed(run, run, [
    'savepoint attempt',
    'release attempt',
    'rollback to attempt; release attempt',
  ]),
})
