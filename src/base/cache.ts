/** Values that are kept: a cache that drops the least recently used ones, and values that are made when they are first asked for. */

/** How much values may weigh together, and how much they do. */
type Room = {
  readonly budget: number
  readonly taken: () => number
  /** Takes this much; false if it is not left. */
  readonly take: (weight: number) => boolean
  readonly give: (weight: number) => void
}

/**
 * A cache of at most `size` values by their keys; if there is a room it has to hold their weights too, each 1 unless `set` says
 * otherwise.
 */
export const lru = <Value>(size: number, room?: Room) => {
  const entries = new Map<string, { readonly value: Value; readonly weight: number }>()
  const drop = (key: string) => {
    room?.give(entries.get(key)?.weight ?? 0)
    entries.delete(key)
  }
  return {
    get: (key: string): Value | undefined => {
      const entry = entries.get(key)
      const isHalfFull =
        entries.size > size / 2 || (room !== undefined && room.taken() > room.budget / 2)
      if (entry !== undefined && isHalfFull) {
        entries.delete(key)
        entries.set(key, entry)
      }
      return entry?.value
    },
    /** A value for which there can be no room is not kept. */
    set: (key: string, value: Value, weight = 1): Value => {
      drop(key)
      if (room && weight > room.budget) return value
      while (entries.size >= size || room?.take(weight) === false) {
        const oldest = entries.keys().next().value
        if (oldest === undefined) return value
        drop(oldest)
      }
      entries.set(key, { value, weight })
      return value
    },
    size: () => entries.size,
  }
}

/** The value of `make`, which costs time that a start need not wait for: it is called when the value is first asked for. A promise that rejected stays rejected. */
export const once = <Value>(make: () => Value): (() => Value) => {
  let made: { readonly value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
