/** Which indexes the statements of reads use, for developers: each statement is explained once, beside the requests. */
import { withOpened } from '#base/with-opened.ts'
import type { Store } from '#engines/shared/store.ts'
import type { Dialect } from '#sql/dialect.ts'

/** At most so many statements are remembered; those after them are not looked at. */
const mostKnown = 1000

/** Gives the indexes that statements use, as far as they were explained, and has the others explained. Of a table without one it says `scan of …`. */
export const usedIndexes = (
  { session }: Store,
  plans: NonNullable<Dialect['plans']>,
): ((statements: readonly string[]) => readonly string[]) => {
  const known = new Map<string, readonly string[]>()
  let last: Promise<void> = Promise.resolve()
  const explain = async (statement: string): Promise<void> => {
    // A session has no limit of time for its statements to look at.
    const text = `${plans.explain} ${statement.replaceAll('duet_interrupt_check()', '1')}`
    // Its parameters are null, which the plan does not look at.
    const rows = await withOpened(session('reading'), ({ query }) => query({ text, values: [] }))
    const used = rows.flatMap(row => {
      const line = String(row.at(-1)).trim()
      const [, index] = plans.index.exec(line) ?? []
      if (index !== undefined) return [index]
      const [, scanned] = plans.table.exec(line) ?? []
      // It may be an alias.
      const [, table = scanned] = new RegExp(`"(\\w+)" as "${scanned}"`).exec(statement) ?? []
      return scanned === undefined ? [] : [`scan of ${table}`]
    })
    known.set(statement, [...new Set(used)])
  }
  return (statements: readonly string[]): readonly string[] => {
    for (const statement of statements) {
      const isRead = /^\s*(select|with)\b/i.test(statement)
      if (!isRead || known.has(statement) || known.size >= mostKnown) continue
      known.set(statement, [])
      // What cannot be explained is left out.
      last = last.then(() => explain(statement)).catch(() => {})
    }
    return [...new Set(statements.flatMap(statement => known.get(statement) ?? []))]
  }
}
