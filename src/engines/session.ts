/** The transactions of a session for CLI commands, given the statements that begin and end them. */
import type { Session } from '#sql/engine.ts'

type Run = (text: string) => void | Promise<void>

const framed =
  (run: Run, undo: Run, [first, last, undone]: readonly [string, string, string]) =>
  async <Result>(work: () => Promise<Result>): Promise<Result> => {
    await run(first)
    try {
      const result = await work()
      await run(last)
      return result
    } catch (error) {
      await undo(undone)
      throw error
    }
  }

/** Transactions that begin and end with these statements; `undo` runs those that roll back. */
export const transactionsOf = (
  run: Run,
  begin: string,
  commit: string,
  undo: Run = run,
): Pick<Session, 'transaction' | 'attempt'> => ({
  transaction: framed(run, undo, [begin, commit, 'rollback']),
  attempt: framed(run, undo, [
    'savepoint attempt',
    'release attempt',
    'rollback to attempt; release attempt',
  ]),
})
