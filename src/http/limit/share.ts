/** Counts that several processes share: each tells the store in batches what it saw, and takes the totals back. */

/** Adds to the counts that all processes of a store share in a window; gives the totals of those keys. */
export type Tally = (
  window: number,
  seen: ReadonlyMap<string, number>,
) => Promise<ReadonlyMap<string, number>>

/** The tally of one window. */
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

/** A request that waits for its number; `place` is where it stands among those of its key in the batch. */
type Asker = {
  readonly key: string
  readonly place: number
  readonly guess: number
  readonly answer: (n: number) => void
}

const answerByGuess = (askers: readonly Asker[]) => {
  for (const { guess, answer } of askers) answer(guess)
}

export type ShareOptions = {
  readonly told: Told
  /** Handed what is now known of a key: its total, and what is still untold. */
  readonly learn: (key: string, total: number) => void
  /** So many requests of one key are told without waiting for the interval's end, and the last of them waits for that. */
  readonly hurry: number
}

/** The sharing of one window. */
export const createShare = ({ told, learn, hurry }: ShareOptions): Share => {
  let untold = new Map<string, number>()
  let askers: Asker[] = []
  let isSending = false
  let isDue = false
  let isAway = false
  let isOver = false
  let timer: NodeJS.Timeout | undefined

  const later = () => {
    if (!isOver) timer ??= setTimeout(flush, interval).unref()
  }
  // Those who ask in the same turn of the event loop go together.
  const soon = () => {
    if (isDue) return
    isDue = true
    setImmediate(flush)
  }

  const giveUp = (asked: readonly Asker[]) => {
    isAway = true
    answerByGuess(asked)
    answerByGuess(askers)
    askers = []
  }

  const takeBack = (batch: ReadonlyMap<string, number>, totals: ReadonlyMap<string, number>) => {
    for (const key of batch.keys()) {
      const total = totals.get(key)
      if (total !== undefined) learn(key, total + (untold.get(key) ?? 0))
    }
  }

  const flush = async () => {
    clearTimeout(timer)
    timer = undefined
    isDue = false
    // One batch at a time: what comes meanwhile goes with the next.
    if (isSending || untold.size === 0) return
    isSending = true
    const batch = untold
    const asked = askers
    untold = new Map()
    askers = []
    const impatience = setTimeout(() => giveUp(asked), patience).unref()
    try {
      const totals = await told(batch)
      isAway = false
      takeBack(batch, totals)
      for (const { key, place, guess, answer } of asked) {
        const total = totals.get(key)
        // The batch has the last numbers up to the total, in the order in which it was filled.
        answer(total === undefined ? guess : total - (batch.get(key) ?? 0) + place)
      }
    } catch {
      // The engine says what is wrong with it; the batch goes again with the next.
      for (const [key, n] of batch) untold.set(key, n + (untold.get(key) ?? 0))
      giveUp(asked)
    }
    clearTimeout(impatience)
    isSending = false
    if (askers.length > 0) soon()
    else if (untold.size > 0) later()
  }

  const count: Share['count'] = (key, guess, exactly) => {
    const place = (untold.get(key) ?? 0) + 1
    untold.set(key, place)
    if (isAway || (!exactly && place < hurry)) {
      later()
      return guess
    }
    soon()
    return new Promise(answer => askers.push({ key, place, guess, answer }))
  }

  const end = () => {
    isOver = true
    clearTimeout(timer)
  }
  return { count, end }
}
