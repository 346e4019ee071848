/** A cache that drops the least recently used value. */

/** A cache of at most `size` values by their keys. */
export const lru = <Value>(size: number) => {
  const entries = new Map<string, Value>()
  return {
    get: (key: string): Value | undefined => {
      const value = entries.get(key)
      if (value !== undefined && entries.size > size / 2) {
        entries.delete(key)
        entries.set(key, value)
      }
      return value
    },
    set: (key: string, value: Value): Value => {
      if (entries.size >= size) entries.delete(entries.keys().next().value as string)
      entries.set(key, value)
      return value
    },
    size: () => entries.size,
  }
}
