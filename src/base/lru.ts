/** A cache that drops the least recently used values. */

/** How much values may weigh together, and how much they do. */
type Room = {
  readonly budget: number
  readonly taken: () => number
  /** Takes so much; false where it is not left. */
  readonly take: (weight: number) => boolean
  readonly give: (weight: number) => void
}

const unlimited: Room = {
  budget: Number.POSITIVE_INFINITY,
  taken: () => 0,
  take: () => true,
  give: () => {},
}

/** A cache of at most `size` values by their keys, for whose weights there is room: each 1 unless `set` says otherwise. */
export const lru = <Value>(size: number, room = unlimited) => {
  const entries = new Map<string, { readonly value: Value; readonly weight: number }>()
  const drop = (key: string) => {
    room.give(entries.get(key)?.weight ?? 0)
    entries.delete(key)
  }
  return {
    get: (key: string): Value | undefined => {
      const entry = entries.get(key)
      if (entry !== undefined && (entries.size > size / 2 || room.taken() > room.budget / 2)) {
        entries.delete(key)
        entries.set(key, entry)
      }
      return entry?.value
    },
    /** A value for which there can be no room is not kept. */
    set: (key: string, value: Value, weight = 1): Value => {
      drop(key)
      if (weight > room.budget) return value
      while (entries.size >= size || !room.take(weight)) {
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
