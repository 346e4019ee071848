/** A cache that forgets what was not used for the longest time. */

/** A cache of so many values by their keys. */
export const lru = <Value>(size: number) => {
  const kept = new Map<string, Value>()
  return {
    get: (key: string): Value | undefined => {
      const value = kept.get(key)
      if (value !== undefined && kept.size > size / 2) {
        kept.delete(key)
        kept.set(key, value)
      }
      return value
    },
    set: (key: string, value: Value): Value => {
      if (kept.size >= size) kept.delete(kept.keys().next().value as string)
      kept.set(key, value)
      return value
    },
    size: () => kept.size,
  }
}
