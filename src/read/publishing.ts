/** Publishes on the channel of reads also what is asked of a reader directly, past `read()`, as routes of a content do. */
import { type ReadFacts, reads, traced } from '#channels.ts'
import type { PlanReader } from '#read/read.ts'
import type { Query, QueryScript, Rows } from '#sql/engine.ts'

/** The queries of a piece of work and the number of their rows, counted while it runs. */
type Seen = { readonly texts: string[]; rows: number }

/** The same work, which counts what it asks for; one that is begun again counts anew. */
function* counted<Result>(work: QueryScript<Result>, seen: Seen): QueryScript<Result> {
  seen.texts.length = 0
  seen.rows = 0
  let step = work.next()
  while (!step.done) {
    const query: Query = step.value
    seen.texts.push(query.text)
    let rows: Rows
    try {
      rows = yield query
    } catch (error) {
      step = work.throw(error)
      continue
    }
    seen.rows += rows.length
    step = work.next(rows)
  }
  return step.value
}

const factsOf = (texts: readonly string[], lane: ReadFacts['lane']): ReadFacts => ({
  get levels() {
    return texts.length
  },
  lane,
  statements: () => texts,
})

/** Runs work as `run` does, and publishes it. */
const publish = <Result>(
  lane: ReadFacts['lane'],
  begin: () => QueryScript<Result>,
  run: (begin: () => QueryScript<Result>) => Result | Promise<Result>,
): Result | Promise<Result> => {
  if (!reads.hasSubscribers) return run(begin)
  const seen: Seen = { texts: [], rows: 0 }
  return traced(
    reads,
    factsOf(seen.texts, lane),
    () => run(() => counted(begin(), seen)),
    facts => {
      facts.rows = seen.rows
    },
  )
}

const publishQuery = (
  query: Query,
  run: () => Rows | Promise<Rows>,
): ReturnType<PlanReader['query']> => {
  if (!reads.hasSubscribers) return run()
  const facts = factsOf([query.text], query.isQuick ? 'quick' : 'slow')
  return traced(reads, facts, run, (facts, rows) => {
    facts.rows = rows.length
  })
}

/** The same reader, which publishes direct reads where somebody subscribes; `plain` is the one that does not. */
export const publishing = (plain: PlanReader): PlanReader => ({
  ...plain,
  plain,
  query: (query, asked) => publishQuery(query, () => plain.query(query, asked)),
  snapshot: (begin, asked) => publish('quick', begin, begun => plain.snapshot(begun, asked)),
  slowly: async (begin, asked) => publish('slow', begin, begun => plain.slowly(begun, asked)),
})
