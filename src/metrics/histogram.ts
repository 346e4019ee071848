/** Histograms in which a value costs two additions: prom-client's own look the labels up for each value, which takes a twentieth of a small read. */
import type { Metric, Registry } from 'prom-client'

/** The values of one combination of labels. */
type HistogramSeries = { readonly observe: (value: number) => void }

/** The series of a histogram by the values of its labels; the same one for the same values. */
type Histogram = { readonly series: (...labels: readonly string[]) => HistogramSeries }

type HistogramOptions = {
  readonly name: string
  readonly help: string
  readonly labels?: readonly string[]
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[]
}

/** Puts a metric of our own on a registry, with what it prints when Prometheus asks. */
export const register = (
  registry: Registry,
  what: { readonly name: string; readonly help: string; readonly type: string },
  values: () => readonly object[],
): void => {
  const get = async () => ({ ...what, aggregator: 'sum', values: values() })
  // A name and `get` are all that a registry asks of a metric; the types know prom-client's own alone.
  registry.registerMetric({ name: what.name, get } as unknown as Metric)
}

/** A histogram on a registry. */
export const createHistogram = (
  registry: Registry,
  { name, help, labels = [], buckets }: HistogramOptions,
): Histogram => {
  const createSeries = (given: readonly string[]) => {
    /** By bucket, and above the last one. */
    const counts = new Float64Array(buckets.length + 1)
    const series = {
      labels: Object.fromEntries(labels.map((label, index) => [label, given[index]])),
      counts,
      sum: 0,
      observe: (value: number): void => {
        let index = 0
        while (index < buckets.length && value > (buckets[index] as number)) index++
        ;(counts[index] as number)++
        series.sum += value
      },
    }
    return series
  }
  const all = new Map<string, ReturnType<typeof createSeries>>()
  register(registry, { name, help, type: 'histogram' }, () =>
    [...all.values()].flatMap(({ labels, counts, sum }) => {
      // Each bucket also counts the values of the buckets below it.
      let count = 0
      const lines = [...buckets, '+Inf'].map((le, index) => {
        count += counts[index] as number
        return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count }
      })
      return [
        ...lines,
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ]
    }),
  )
  return {
    series: (...given) => all.getOrInsertComputed(given.join('\n'), () => createSeries(given)),
  }
}
