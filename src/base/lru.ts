/** A cache that drops the least recently used value. */

/** A cache of at most `size` values by their keys. */
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
