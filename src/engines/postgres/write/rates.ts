/** The counts of the rate limit, shared by all processes: a row for each caller and window. */
import type { RateCounts } from '#base/rate-counts.ts'
import { type Query, queryWith, type Rows } from '#sql/engine.ts'

// In the order of the keys, so that two batches cannot deadlock.
const add = `insert into "rates" as "r" ("window", "key", "n")
  select $1::bigint, "seen"."key", "seen"."value"::bigint from json_each_text($2::json) as "seen"
  order by "seen"."key" collate "C"
  on conflict ("window", "key") do update set "n" = "r"."n" + excluded."n"
  returning "key", "n"`

// Skips rows that another process is deleting now.
const drop = `delete from "rates" where ("window", "key") in (
  select "window", "key" from "rates" where "window" < $1::bigint for update skip locked)`

/** The rate counts of a database. `query` runs a statement as a transaction of its own, on a connection that may write. */
export const createRateCounts = (query: (query: Query) => Promise<Rows>): RateCounts => {
  let dropped = 0
  /** Once in each window; the counts of the one before stay, since the clocks of processes differ. */
  const dropOld = (window: number) => {
    if (window <= dropped) return
    dropped = window
    // A failure is ignored: the next window tries again.
    query(queryWith(drop, window - 1)).catch(() => {})
  }
  return async (window, seen) => {
    const rows = await query(queryWith(add, window, JSON.stringify(Object.fromEntries(seen))))
    dropOld(window)
    return new Map(rows.map(([key, n]) => [String(key), Number(n)]))
  }
}
