/** Look-ups of single rows in the same turn of the event loop, batched into one query: one round trip for all. */
import type { Query, Row, Rows } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'

/** The first query, and the callers that wait for the row of each key. */
type Batch = {
  readonly first: Query
  readonly waiting: Map<SqlValue, PromiseWithResolvers<Rows>>
}

/** The most keys in one query. */
const mostKeys = 200

/** A `query` that batches look-ups and sends them by `ask`; anything else it sends at once. */
export const batchingLookups = (ask: (query: Query) => Promise<Rows>) => {
  const batches = new Map<string, Batch>()

  const answer = ({ waiting }: Batch, rows: Rows): void => {
    const found = new Map<string, Row>(rows.map(row => [String(row[0]), row]))
    for (const [key, { resolve }] of waiting) {
      const row = found.get(String(key))
      resolve(row ? [row] : [])
    }
  }
  const flush = async (text: string, batch: Batch): Promise<void> => {
    if (batches.get(text) === batch) batches.delete(text)
    const { first, waiting } = batch
    const isOne = waiting.size === 1
    const query = isOne ? first : { ...first, text, values: [`{${[...waiting.keys()].join()}}`] }
    try {
      answer(batch, await ask(query))
    } catch (error) {
      for (const { reject } of waiting.values()) reject(error)
    }
  }
  const begin = (text: string, first: Query): Batch => {
    const batch: Batch = { first, waiting: new Map() }
    batches.set(text, batch)
    // After the requests of this turn have added their look-ups.
    queueMicrotask(() => flush(text, batch))
    return batch
  }
  return (query: Query): Promise<Rows> => {
    const { forMany } = query
    if (forMany === undefined) return ask(query)
    const open = batches.get(forMany)
    const { waiting } = open && open.waiting.size < mostKeys ? open : begin(forMany, query)
    const key = query.values[0] ?? null
    const waiter = waiting.get(key) ?? Promise.withResolvers<Rows>()
    waiting.set(key, waiter)
    return waiter.promise
  }
}
