/** Finds the series of a request without making a key for it, since that is done for each. */
import type { Histogram, Series } from '#metrics/histogram.ts'
import type { RequestEvent } from '#observe.ts'

/** The methods of RFC 9110, RFC 5789 and RFC 10008; any other is `_OTHER`, as the semantic conventions have it. */
const methods: ReadonlySet<string> = new Set([
  'CONNECT',
  'DELETE',
  'GET',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'POST',
  'PUT',
  'QUERY',
  'TRACE',
])

/** The series of a request in a histogram by method, route and status. */
export const requestSeries = (histogram: Histogram) => {
  const known = new Map<string | undefined, Map<number, Map<string, Series>>>()
  return ({ route, status, method }: RequestEvent): Series => {
    const found = known.get(route)?.get(status)?.get(method)
    if (found) return found
    const label = methods.has(method) ? method : '_OTHER'
    const series = histogram.series(label, route ?? '', String(status))
    const byStatus = known.getOrInsertComputed(route, () => new Map())
    byStatus.getOrInsertComputed(status, () => new Map()).set(method, series)
    return series
  }
}
