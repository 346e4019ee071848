/** A cache of at most `size` values by their keys; the one that was not used for the longest time goes first. */
export const lru = <Value>(size: number) => {
  const cached = new Map<string, Value>()
  return {
    get: (key: string): Value | undefined => {
      const value = cached.get(key)
      if (value !== undefined && cached.size > size / 2) {
        cached.delete(key)
        cached.set(key, value)
      }
      return value
    },
    set: (key: string, value: Value): Value => {
      if (cached.size >= size) cached.delete(cached.keys().next().value as string)
      cached.set(key, value)
      return value
    },
    size: () => cached.size,
  }
}
