/** Watches the free space of the store's disk: while there is too little, writes are refused and reads go on. */
import { statfsSync } from 'node:fs'

type DiskOptions = {
  readonly folder: string
  /** The least free space for writes, in bytes; 0: they go on until the disk is full. */
  readonly min: number
  /** Called at each change with the reason why the store is read-only, or with null when it no longer is. */
  readonly onChange: (reason: string | null) => void
  /** Milliseconds between two checks. */
  readonly every?: number
}

/** The free bytes from which on a disk that was full is written again. */
const enough = 1_048_576

/** The free bytes of a folder's disk; Infinity where the system does not say, until a write fails. */
const freeIn = (folder: string): number => {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** Checks the disk once a second; a write only reads the result from memory. */
export const watchDisk = ({ folder, min, onChange, every = 1000 }: DiskOptions) => {
  const reasons = {
    room: null,
    low: `the disk has less than ${min} bytes free`,
    full: 'the disk is full',
  } as const
  let state: keyof typeof reasons = 'room'
  const setState = (next: typeof state) => {
    if (next === state) return
    state = next
    onChange(reasons[state])
  }
  const check = () => {
    if (min === 0 && state === 'room') return
    const free = freeIn(folder)
    if (free < min) setState('low')
    else if (state !== 'full' || free >= enough) setState('room')
  }
  check()
  const timer = setInterval(check, every).unref()
  return {
    /** Whether there is too little space for writes. */
    isLow: () => state === 'low',
    /** Why the store can only be read now; null where it can be written. */
    readOnly: () => reasons[state],
    /** To be called when a write has found the disk full. */
    wasFull: () => {
      if (state === 'room') setState('full')
    },
    close: () => clearInterval(timer),
  }
}

export type Disk = ReturnType<typeof watchDisk>
