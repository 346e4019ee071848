/** Counts that the threads of a process share, in memory of which each reads what the others have counted: none has to be told, so none can be late. */
import { randomBytes } from 'node:crypto'

/** A cell for each caller of a window, of 6 bits for the window, 30 of the caller's hash, and 28 for the number; before them one with the seeds of hashes. Cells of other windows are free. */
export type SharedCells = BigUint64Array<SharedArrayBuffer>

/** Four times as many as callers are counted by themselves; memory is taken by those alone that were used. */
const cells = 2 ** 20
const numberBits = 28n
const windowShift = 58n
const numberMask = (1n << numberBits) - 1n

/** The longest way to a free cell, which is a few steps where a quarter is used. */
const mostSteps = 1000

export const createSharedCells = (): SharedCells => {
  const made = new BigUint64Array(new SharedArrayBuffer((1 + cells) * 8))
  made[0] = randomBytes(8).readBigUInt64LE()
  return made
}

/** 32 bits of a text that nobody can choose who does not know the seed (FNV-1a, with the end of MurmurHash3). */
const hash = (text: string, seed: number): number => {
  let bits = seed
  for (let at = 0; at < text.length; at++) bits = Math.imul(bits ^ text.charCodeAt(at), 16777619)
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}

/** The numbers of one window. */
export const openWindow = (all: SharedCells, window: number) => {
  const [seed = 0, other = 0] = new Uint32Array(all.buffer, 0, 2)
  const present = BigInt(1 + (window % 63))
  // Where another thread is in the next minute already, its cells are not free.
  const next = BigInt(1 + ((window + 1) % 63))
  let taken = 0
  return {
    /** How many cells were taken here. */
    taken: () => taken,
    /** Adds to the number of a key, unless that makes more than `most`; gives what it is with that, 0 for a key without a number. */
    add: (key: string, work: number, most: number): number => {
      const own = (present << 30n) | BigInt(hash(key, other) >>> 2)
      let at = hash(key, seed ^ window) % cells
      for (let steps = 0; steps < mostSteps; ) {
        const cell = Atomics.load(all, 1 + at)
        const isOwn = cell >> numberBits === own
        const its = cell >> windowShift
        if (isOwn || (its !== present && its !== next)) {
          const before = isOwn ? Number(cell & numberMask) : 0
          const sum = before + work
          if (sum > most || work === 0) return sum
          const counted = (own << numberBits) | BigInt(sum)
          // Where another thread was faster, it is looked at again.
          if (Atomics.compareExchange(all, 1 + at, cell, counted) !== cell) continue
          if (!isOwn) taken++
          return sum
        }
        at = (at + 1) % cells
        steps++
      }
      return work
    },
  }
}
