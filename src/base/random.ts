/** Numbers by chance that a seed makes again. */

/** From 0 up to 1, without 1: the same ones for the same seed, by mulberry32. */
export const randomFrom = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** One of some items, drawn; undefined if there are none. */
export const oneOf = <Item>(items: readonly Item[], random: () => number): Item | undefined =>
  items[Math.floor(random() * items.length)]

/** All items, from a drawn one on. */
export const rotated = <Item>(items: readonly Item[], random: () => number): readonly Item[] => {
  const first = Math.floor(random() * items.length)
  return [...items.slice(first), ...items.slice(0, first)]
}
