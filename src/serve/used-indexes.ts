/** Which indexes the statements of reads use, for developers: each statement is explained once, beside the requests. */
import type { PlanReader } from '#read/read.ts'
import type { Dialect } from '#sql/dialect.ts'
import { type Query, watched } from '#sql/engine.ts'

/** At most so many statements are remembered; those after them are not looked at. */
const mostKnown = 1000

/**
 * A reader to read by, and what gives the indexes that statements use, as far as they were explained, and has the others explained, with
 * the values that they were run with first. Of a table without one it says `scan of …`.
 */
export const usedIndexes = (
  engine: PlanReader,
  { explain, usesOf }: Dialect['plans'],
): {
  readonly reader: PlanReader
  readonly indexesOf: (statements: readonly string[]) => readonly string[]
} => {
  const known = new Map<string, readonly string[]>()
  /** The queries that were run and are not explained yet: on PostgreSQL values and lane decide the plan. */
  const unexplained = new Map<string, Query>()
  const note = (query: Query): void => {
    if (!known.has(query.text) && unexplained.size < mostKnown) unexplained.set(query.text, query)
  }
  let last: Promise<void> = Promise.resolve()
  const explained = async (statement: string): Promise<void> => {
    const { values = [], isQuick = true } = unexplained.get(statement) ?? {}
    unexplained.delete(statement)
    // Only those that run long have a limit of time to look at.
    const text = `${explain} ${statement.replaceAll('duet_interrupt_check()', '1')}`
    const rows = await engine.query({ text, values, isQuick })
    known.set(statement, [...new Set(usesOf(rows, statement))])
  }
  return {
    reader: {
      ...engine,
      query: (query, options) => {
        note(query)
        return engine.query(query, options)
      },
      snapshot: (begin, options) => engine.snapshot(() => watched(begin(), note), options),
      slowly: (begin, options) => engine.slowly(() => watched(begin(), note), options),
    },
    indexesOf: statements => {
      for (const statement of statements) {
        const isRead = /^\s*(select|with)\b/i.test(statement)
        if (!isRead || known.has(statement) || known.size >= mostKnown) continue
        known.set(statement, [])
        // What cannot be explained is left out.
        last = last.then(() => explained(statement)).catch(() => {})
      }
      return [...new Set(statements.flatMap(statement => known.get(statement) ?? []))]
    },
  }
}
