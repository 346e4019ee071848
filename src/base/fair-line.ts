/** A line in which callers take turns. */

/** An empty line. What one caller adds keeps its order, and the caller whose turn was longest ago is next. */
export const createFairLine = <Item>() => {
  const turns = new Map<string, Set<Item>>()
  let last = ''
  let size = 0
  return {
    add: (caller: string, item: Item): void => {
      turns.getOrInsertComputed(caller, () => new Set()).add(item)
      size++
    },
    /** Takes out one that does not wait any more, if it still does. */
    remove: (caller: string, item: Item): void => {
      const own = turns.get(caller)
      if (!own?.delete(item)) return
      size--
      if (own.size === 0) turns.delete(caller)
    },
    /** Takes out the next one. */
    next: (): Item | undefined => {
      // Who came since the last turn goes before the caller who had it.
      const more = turns.get(last)
      turns.delete(last)
      if (more) turns.set(last, more)
      for (const [caller, own] of turns)
        for (const item of own) {
          own.delete(item)
          if (own.size === 0) turns.delete(caller)
          last = caller
          size--
          return item
        }
      return undefined
    },
    /** How many wait. */
    size: () => size,
  }
}
