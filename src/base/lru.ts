/** A cache that drops the least recently used values. */

/** A cache of at most `size` values by their keys, which together weigh at most `most`: each 1 unless `set` says otherwise. */
export const lru = <Value>(size: number, most = Number.POSITIVE_INFINITY) => {
  const entries = new Map<string, { readonly value: Value; readonly weight: number }>()
  let sum = 0
  const drop = (key: string) => {
    sum -= entries.get(key)?.weight ?? 0
    entries.delete(key)
  }
  return {
    get: (key: string): Value | undefined => {
      const entry = entries.get(key)
      if (entry !== undefined && (entries.size > size / 2 || sum > most / 2)) {
        entries.delete(key)
        entries.set(key, entry)
      }
      return entry?.value
    },
    /** A value that weighs more than all may is not entries. */
    set: (key: string, value: Value, weight = 1): Value => {
      drop(key)
      if (weight > most) return value
      while (entries.size >= size || sum + weight > most)
        drop(entries.keys().next().value as string)
      entries.set(key, { value, weight })
      sum += weight
      return value
    },
    size: () => entries.size,
  }
}
