/** Counts that several processes share: each reports to the store in batches, and takes the totals back. */

/** Adds counts to those of one window in the store; gives the totals of their keys. */
export type Report = (seen: ReadonlyMap<string, number>) => Promise<ReadonlyMap<string, number>>

export type Share = {
  /**
   * Counts a request. Gives `estimate`, its number as far as this process knows, at once; with `exactly`, or where
   * much of its key is unreported, the number that the store gives it, unless the store is unavailable.
   */
  readonly count: (
    key: string,
    estimate: number,
    exactly: boolean,
    work?: number,
  ) => number | Promise<number>
  readonly end: () => void
}

/** The longest time until counts that no request waits for are reported, in milliseconds. */
const interval = 200

/** The longest time that a request waits for the store before it is decided without it, in milliseconds. */
const reportTimeout = 500

type Totals = ReadonlyMap<string, number>

/** The counts of one report: how many requests of each key. Those that need their number wait for `totals`, which is empty where the store did not say. */
type Batch = {
  readonly counts: Map<string, number>
  totals: PromiseWithResolvers<Totals>
  isAwaited: boolean
}

const emptyBatch = (): Batch => ({
  counts: new Map(),
  totals: Promise.withResolvers(),
  isAwaited: false,
})

const addTo = (counts: Map<string, number>, key: string, n: number): number => {
  const sum = (counts.get(key) ?? 0) + n
  counts.set(key, sum)
  return sum
}

/** The number of a request that was the n-th of its key in the batch: a batch has the last numbers up to the total. */
const numberIn = async (batch: Batch, key: string, nth: number, estimate: number) => {
  batch.isAwaited = true
  const totals = await batch.totals.promise
  const total = totals.get(key)
  return total === undefined ? estimate : total - (batch.counts.get(key) ?? 0) + nth
}

/** Answers all that wait for a batch by their estimates; it may be sent later all the same. */
const answerByEstimate = (batch: Batch): void => {
  batch.totals.resolve(new Map())
  batch.totals = Promise.withResolvers()
  batch.isAwaited = false
}

type ShareOptions = {
  readonly report: Report
  /** Called with the newly known count of a key: its total in the store and the unreported requests. */
  readonly learn: (key: string, total: number) => void
  /** So many requests of one key are reported without waiting for the interval's end; the last of them waits for the answer. */
  readonly batchSize: number
}

/** The sharing of one window. */
export const createShare = ({ report, learn, batchSize }: ShareOptions): Share => {
  let filling = emptyBatch()
  let isSending = false
  /** The last report failed or took too long: requests do not wait for the next. */
  let isUnavailable = false
  let timer: NodeJS.Timeout | undefined
  let isDue = false
  let isOver = false
  const later = () => {
    if (!isOver) timer ??= setTimeout(flush, interval).unref()
  }
  const soon = () => {
    if (!isDue) setImmediate(flush)
    isDue = true
  }
  const giveUp = (sent: Batch) => {
    isUnavailable = true
    for (const batch of [sent, filling]) answerByEstimate(batch)
  }
  const send = async (sent: Batch) => {
    const timeout = setTimeout(() => giveUp(sent), reportTimeout).unref()
    try {
      const totals = await report(sent.counts)
      isUnavailable = false
      for (const [key, total] of totals) learn(key, total + (filling.counts.get(key) ?? 0))
      sent.totals.resolve(totals)
    } catch {
      // The engine reports its own faults; this batch is sent again with the next.
      for (const [key, n] of sent.counts) addTo(filling.counts, key, n)
      giveUp(sent)
    }
    clearTimeout(timeout)
  }
  /** Reports the batch that was filled. One at a time: requests that come meanwhile are in the next. */
  const flush = async () => {
    clearTimeout(timer)
    timer = undefined
    isDue = false
    if (isSending || filling.counts.size === 0) return
    isSending = true
    const sent = filling
    filling = emptyBatch()
    await send(sent)
    isSending = false
    if (filling.isAwaited) soon()
    else if (filling.counts.size > 0) later()
  }
  const count: Share['count'] = (key, estimate, exactly, work = 1) => {
    const nth = addTo(filling.counts, key, work)
    const waits = !isUnavailable && (exactly || nth >= batchSize)
    if (waits) soon()
    else later()
    return waits ? numberIn(filling, key, nth, estimate) : estimate
  }
  const end = () => {
    isOver = true
    clearTimeout(timer)
  }
  return { count, end }
}
