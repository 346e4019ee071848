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

/** A request that waits for its number; `position` counts those of its key in the batch. */
type Waiting = {
  readonly key: string
  readonly position: number
  readonly estimate: number
  readonly answer: (n: number) => void
}

/** The counts of one report: how many requests of each key, and those that wait for their number. */
type Batch = { readonly counts: Map<string, number>; readonly waiting: Waiting[] }

const emptyBatch = (): Batch => ({ counts: new Map(), waiting: [] })

const answerByEstimate = (batch: Batch): void => {
  for (const { estimate, answer } of batch.waiting) answer(estimate)
  batch.waiting.length = 0
}

/** Answers the waiting requests: a batch has the last numbers up to the total, in the order in which it was filled. */
const answerByTotals = (batch: Batch, totals: ReadonlyMap<string, number>): void => {
  for (const { key, position, estimate, answer } of batch.waiting) {
    const total = totals.get(key)
    answer(total === undefined ? estimate : total - (batch.counts.get(key) ?? 0) + position)
  }
}

const addTo = (counts: Map<string, number>, key: string, n: number): number => {
  const sum = (counts.get(key) ?? 0) + n
  counts.set(key, sum)
  return sum
}

export type ShareOptions = {
  readonly report: Report
  /** Called with the newly known count of a key: its total in the store and the unreported requests. */
  readonly learn: (key: string, total: number) => void
  /** So many requests of one key are reported without waiting for the interval's end; the last of them waits for the answer. */
  readonly batchSize: number
}

/** When a batch is reported: at the end of an interval, or at the end of this turn of the event loop. */
const createSchedule = (flush: () => void) => {
  let timer: NodeJS.Timeout | undefined
  let isDue = false
  let isOver = false
  return {
    later: () => {
      if (!isOver) timer ??= setTimeout(flush, interval).unref()
    },
    soon: () => {
      if (isDue) return
      isDue = true
      setImmediate(flush)
    },
    started: () => {
      clearTimeout(timer)
      timer = undefined
      isDue = false
    },
    end: () => {
      isOver = true
      clearTimeout(timer)
    },
  }
}

/** The sharing of one window at a moment. */
type State = ShareOptions & {
  readonly schedule: ReturnType<typeof createSchedule>
  /** The batch that requests are added to. */
  next: Batch
  isSending: boolean
  /** The last report failed or took too long: requests do not wait for the next. */
  isUnavailable: boolean
}

/** Answers all that wait, without the store. */
const giveUp = (state: State, sent: Batch): void => {
  state.isUnavailable = true
  answerByEstimate(sent)
  answerByEstimate(state.next)
}

/** Learns the totals of a batch that was reported. */
const learnTotals = (
  { learn, next }: State,
  sent: Batch,
  totals: ReadonlyMap<string, number>,
): void => {
  for (const key of sent.counts.keys()) {
    const total = totals.get(key)
    if (total !== undefined) learn(key, total + (next.counts.get(key) ?? 0))
  }
}

const send = async (state: State, sent: Batch): Promise<void> => {
  const timer = setTimeout(() => giveUp(state, sent), reportTimeout).unref()
  try {
    const totals = await state.report(sent.counts)
    state.isUnavailable = false
    learnTotals(state, sent, totals)
    answerByTotals(sent, totals)
  } catch {
    // The engine reports its own faults; this batch is sent again with the next.
    for (const [key, n] of sent.counts) addTo(state.next.counts, key, n)
    giveUp(state, sent)
  }
  clearTimeout(timer)
}

/** Reports the batch that was filled. One at a time: requests that come meanwhile are in the next. */
const flush = async (state: State): Promise<void> => {
  state.schedule.started()
  if (state.isSending || state.next.counts.size === 0) return
  state.isSending = true
  const sent = state.next
  state.next = emptyBatch()
  await send(state, sent)
  state.isSending = false
  if (state.next.waiting.length > 0) state.schedule.soon()
  else if (state.next.counts.size > 0) state.schedule.later()
}

/** The sharing of one window. */
export const createShare = (options: ShareOptions): Share => {
  const schedule = createSchedule(() => void flush(state))
  const state: State = {
    ...options,
    schedule,
    next: emptyBatch(),
    isSending: false,
    isUnavailable: false,
  }
  const count: Share['count'] = (key, estimate, exactly, work = 1) => {
    const position = addTo(state.next.counts, key, work)
    if (state.isUnavailable || (!exactly && position < options.batchSize)) {
      schedule.later()
      return estimate
    }
    schedule.soon()
    return new Promise(answer => state.next.waiting.push({ key, position, estimate, answer }))
  }
  return { count, end: schedule.end }
}
