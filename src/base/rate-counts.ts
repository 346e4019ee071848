/**
 * For the rate limit: adds to the counts that all processes of a store share in a window of time; gives the totals of
 * those keys.
 */
export type RateCounts = (
  window: number,
  seen: ReadonlyMap<string, number>,
) => Promise<ReadonlyMap<string, number>>
