/** The memory that requests and answers take up while they are on their way, and what is kept of them, with a budget for each purpose. */
import type { Tally, TallyName } from '#base/tallies.ts'
import { overloaded } from '#errors.ts'

/** The error for a read whose answer would be one too many of those that nobody takes. */
export const tooManyUnread = () =>
  overloaded('Too many answers wait for their clients to read them; try again soon', 2)

/**
 * Throws `OVERLOADED` where half of the memory for answers is taken, as files take their clients longer, and leave the rest to others; or
 * where a caller has as many files on their way as stay free of that half.
 */
export const checkFileRoom = ({ answers }: Pick<Memory, 'answers'>, caller: string): void => {
  if (!answers.of(caller).hasRoom(answers.budget / 2 + 1)) throw tooManyUnread()
}

/** Bytes that are taken and given back. */
export type Account = {
  readonly budget: number
  readonly taken: () => number
  readonly hasRoom: (bytes: number) => boolean
  /** Takes so many bytes; false where not so many are left, and then nothing is taken. */
  readonly take: (bytes: number) => boolean
  /** Takes them even where they are not left. */
  readonly force: (bytes: number) => void
  readonly give: (bytes: number) => void
}

/** The other threads that take of the same budget; `own` is the part of it that a thread has whatever they take, from 0 to 1. */
type Beside = { readonly tally: Tally; readonly own: number }

const accountOf = (budget: number, whole?: Account, beside?: Beside): Account => {
  let taken = 0
  const account: Account = {
    budget,
    taken: () => taken,
    hasRoom: bytes =>
      beside === undefined
        ? taken + bytes <= budget && whole?.hasRoom(bytes) !== false
        : taken + bytes <= beside.own * budget || taken + beside.tally.others() + bytes <= budget,
    take: bytes => {
      const fits = account.hasRoom(bytes)
      if (fits) account.force(bytes)
      return fits
    },
    force: bytes => {
      taken += bytes
      whole?.force(bytes)
      beside?.tally.put(taken)
    },
    give: bytes => {
      taken -= bytes
      whole?.give(bytes)
      beside?.tally.put(taken)
    },
  }
  return account
}

/** A share of an account, from 0 to 1, as an account of its own: what is taken of it is taken of the whole. */
export const partOf = (whole: Account, share: number): Account =>
  accountOf(Math.floor(share * whole.budget), whole)

/**
 * An account of which each caller may take as much as stays free, as in switches with a shared buffer: one caller gets half, two get
 * a third each. So the next caller finds room, however many addresses one attacker has.
 */
const sharedAccountOf = (account: Account) => {
  const byCaller = new Map<string, number>()
  const of = (caller: string) => ({
    hasRoom: (bytes: number): boolean => account.hasRoom(bytes + (byCaller.get(caller) ?? 0)),
    take: (bytes: number): boolean => {
      const own = (byCaller.get(caller) ?? 0) + bytes
      if (!account.hasRoom(bytes + own)) return false
      account.force(bytes)
      byCaller.set(caller, own)
      return true
    },
    force: (bytes: number): void => {
      account.force(bytes)
      byCaller.set(caller, (byCaller.get(caller) ?? 0) + bytes)
    },
    give: (bytes: number): void => {
      account.give(bytes)
      const left = (byCaller.get(caller) ?? 0) - bytes
      if (left > 0) byCaller.set(caller, left)
      else byCaller.delete(caller)
    },
  })
  return { ...account, of }
}

const mebibyte = 1_048_576

/** The budgets in bytes. A request above one of the first two is refused with 503; above the others, what was not used for the longest time is dropped. */
const budgets = {
  /** Bodies, from their first byte to the answer. */
  bodies: 32 * mebibyte,
  /** Answers that their clients have not taken yet: at least one of the longest, each character in three bytes. */
  answers: 96 * mebibyte,
  cached: 32 * mebibyte,
  /** Documents of GraphQL, their faults, and what is derived from them. */
  documents: 12 * mebibyte,
}

/**
 * The accounts of a process, empty; with other budgets where some are given. Where several threads serve, `tally` counts what each takes:
 * of what is on its way all take from one budget; of what is kept each has its part, and borrows what the others leave of theirs.
 */
export const createMemory = (
  other: Partial<typeof budgets> = {},
  tally?: (name: TallyName) => Tally,
) => {
  const { bodies, answers, cached, documents } = { ...budgets, ...other }
  const besideIn = (name: TallyName, isKept: boolean): Beside | undefined => {
    const own = tally?.(name)
    return own && { tally: own, own: isKept ? 1 / own.threads : 0 }
  }
  return {
    bodies: sharedAccountOf(accountOf(bodies, undefined, besideIn('bodies', false))),
    answers: sharedAccountOf(accountOf(answers, undefined, besideIn('answers', false))),
    /** It also has how often an answer was found in the cache, and how often not. */
    cached: {
      ...accountOf(cached, undefined, besideIn('cached', true)),
      lookups: { hit: 0, miss: 0 },
    },
    documents: accountOf(documents, undefined, besideIn('documents', true)),
  }
}

export type Memory = ReturnType<typeof createMemory>
