/** Counts that several processes share: each tells the store in batches what it saw, and takes the totals back. */

/** The counts of one window. */
export type Told = (seen: ReadonlyMap<string, number>) => Promise<ReadonlyMap<string, number>>

export type Share = {
  /**
   * Takes a request to be told. Gives `guess`, its number as far as this process knows, at once; with `exactly`, or
   * where much of its key is untold, the number that the store gives it, unless the store is away.
   */
  readonly count: (key: string, guess: number, exactly: boolean) => number | Promise<number>
  readonly end: () => void
}

/** How long what nobody waits for may stay untold, in milliseconds. */
const interval = 200

/** How long a request waits for the store before it is judged without it, in milliseconds. */
const patience = 500

/** A request that waits for its number; `position` is where it stands among those of its key in the batch. */
type Asker = {
  readonly key: string
  readonly position: number
  readonly guess: number
  readonly answer: (n: number) => void
}

/** What is to be told at once: how many requests of each key, and those among them that wait for their number. */
type Batch = { readonly counts: Map<string, number>; readonly askers: Asker[] }

const emptyBatch = (): Batch => ({ counts: new Map(), askers: [] })

const answerByGuess = (batch: Batch): void => {
  for (const { guess, answer } of batch.askers) answer(guess)
  batch.askers.length = 0
}

/** The batch has the last numbers up to the total, in the order in which it was filled. */
const answerByTotals = (batch: Batch, totals: ReadonlyMap<string, number>): void => {
  for (const { key, position, guess, answer } of batch.askers) {
    const total = totals.get(key)
    answer(total === undefined ? guess : total - (batch.counts.get(key) ?? 0) + position)
  }
}

const addTo = (counts: Map<string, number>, key: string, n: number): number => {
  const sum = (counts.get(key) ?? 0) + n
  counts.set(key, sum)
  return sum
}

export type ShareOptions = {
  readonly told: Told
  /** Handed what is now known of a key: its total, and what is still untold. */
  readonly learn: (key: string, total: number) => void
  /** So many requests of one key are told without waiting for the interval's end, and the last of them waits for that. */
  readonly hurry: number
}

/** When what is untold is told: at the end of an interval, or with what is asked in the same turn of the event loop. */
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
    begun: () => {
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

/** The sharing of one window. */
export const createShare = ({ told, learn, hurry }: ShareOptions): Share => {
  let next = emptyBatch()
  let isSending = false
  let isAway = false
  const schedule = createSchedule(() => void flush())

  const giveUp = (sent: Batch) => {
    isAway = true
    answerByGuess(sent)
    answerByGuess(next)
  }

  const send = async (sent: Batch): Promise<void> => {
    const impatience = setTimeout(() => giveUp(sent), patience).unref()
    try {
      const totals = await told(sent.counts)
      isAway = false
      for (const key of sent.counts.keys()) {
        const total = totals.get(key)
        if (total !== undefined) learn(key, total + (next.counts.get(key) ?? 0))
      }
      answerByTotals(sent, totals)
    } catch {
      // The engine says what is wrong with it; the batch goes again with the next.
      for (const [key, n] of sent.counts) addTo(next.counts, key, n)
      giveUp(sent)
    }
    clearTimeout(impatience)
  }

  const flush = async (): Promise<void> => {
    schedule.begun()
    // One batch at a time: what comes meanwhile goes with the next.
    if (isSending || next.counts.size === 0) return
    isSending = true
    const sent = next
    next = emptyBatch()
    await send(sent)
    isSending = false
    if (next.askers.length > 0) schedule.soon()
    else if (next.counts.size > 0) schedule.later()
  }

  const count: Share['count'] = (key, guess, exactly) => {
    const position = addTo(next.counts, key, 1)
    if (isAway || (!exactly && position < hurry)) {
      schedule.later()
      return guess
    }
    schedule.soon()
    return new Promise(answer => next.askers.push({ key, position, guess, answer }))
  }

  return { count, end: schedule.end }
}
