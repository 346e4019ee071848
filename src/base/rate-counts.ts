/**
 * For the rate limit: adds to the counts that all processes of a store share in a window of time; gives the totals of
 * those keys.
 */
export type RateCounts = (
  window: number,
  seen: ReadonlyMap<string, number>,
) => Promise<ReadonlyMap<string, number>>

/** The totals of a window that others told. */
export type OnTotals = (window: number, totals: ReadonlyMap<string, number>) => void

/** The counts that the threads of a process share. */
export type ThreadCounts = {
  readonly threads: number
  /** Those of things of one kind, such as requests; `onTotals` is told the totals of callers who have used a part of the limit, whoever counted them. */
  readonly of: (kind: string, limit: number, onTotals: OnTotals) => RateCounts
}
