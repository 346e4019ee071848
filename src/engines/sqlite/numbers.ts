/** Numbers for what threads keep, so that each thing is sent to a thread only once. */

/** The most things of a kind that a thread keeps; then it forgets them all. */
const most = 500

/** Numbers for things of a kind that one thread keeps, in the order in which they are first met. */
export const createNumbers = <Thing>() => {
  const numbers = new Map<Thing, number>()
  let met: Thing[] = []
  return {
    has: (thing: Thing) => numbers.has(thing),
    /** Whether there are so many that all are to be numbered anew. */
    isFull: () => numbers.size >= most,
    clear: () => numbers.clear(),
    of: (thing: Thing): number => {
      const known = numbers.get(thing)
      if (known !== undefined) return known
      met.push(thing)
      const number = numbers.size
      numbers.set(thing, number)
      return number
    },
    /** The things that were first met since this was last asked, which the thread does not have. */
    takeMet: (): readonly Thing[] => {
      const some = met
      met = []
      return some
    },
  }
}
