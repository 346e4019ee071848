/** Numbers that several threads keep, each its own, and add up: what one does not use of a limit is left to the others. */

/** What is counted: requests and answers by the bytes that they take up, or pieces. */
const names = ['bodies', 'answers', 'cached', 'documents', 'connections', 'writes'] as const
export type TallyName = (typeof names)[number]

/** One thread's number of a kind, and those of the others. */
export type Tally = {
  readonly put: (value: number) => void
  /** The sum of the others' numbers. */
  readonly others: () => number
  /** How many threads have one. */
  readonly threads: number
}

/** The numbers of all threads, in memory that they share. */
export type Tallies = Int32Array<SharedArrayBuffer>

/** The numbers in a line of a processor's cache: where each thread writes a line of its own, none waits for another. */
const line = 16

/** Bytes are counted in so many, so that their numbers fit. */
const unit = 1024

/** The numbers of so many threads, all 0. */
export const createTallies = (threads: number): Tallies =>
  new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * line * threads))

/** Forgets the numbers of a thread that ended. */
export const forget = (all: Tallies, thread: number): void => {
  for (let at = 0; at < line; at++) Atomics.store(all, thread * line + at, 0)
}

/** The tallies of a thread, which is one of those from 0 on. */
export const talliesOf =
  (all: Tallies, thread: number) =>
  (name: TallyName): Tally => {
    const at = names.indexOf(name)
    const size = at < names.indexOf('connections') ? unit : 1
    const threads = all.length / line
    return {
      threads,
      put: value => void Atomics.store(all, thread * line + at, Math.ceil(value / size)),
      others: () => {
        let sum = 0
        for (let other = 0; other < threads; other++)
          if (other !== thread) sum += Atomics.load(all, other * line + at)
        return sum * size
      },
    }
  }

/** The numbers of one kind, by thread. */
export const numbersOf = (all: Tallies, name: TallyName): readonly number[] =>
  Array.from({ length: all.length / line }, (_, thread) =>
    Atomics.load(all, thread * line + names.indexOf(name)),
  )
