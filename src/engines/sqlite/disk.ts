/** Watches the free space of the store's disk: while there is too little, writes are refused and reads go on. */
import { statfsSync } from 'node:fs'

export type Disk = {
  /** Whether there is too little space for writes. */
  readonly isLow: () => boolean
  /** Why the store can only be read now; null where it can be written. */
  readonly readOnly: () => string | null
  /** To be called when a write has found the disk full. */
  readonly wasFull: () => void
  readonly close: () => void
}

type State = 'room' | 'low' | 'full'

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
export const watchDisk = ({ folder, min, onChange, every = 1000 }: DiskOptions): Disk => {
  let state: State = 'room'
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const reasons = {
    room: null,
    low: `the disk has less than ${min} bytes free`,
    full: 'the disk is full',
  } as const satisfies Record<State, string | null>
  const setState = (next: State) => {
    if (next === state) return
    state = next
    onChange(reasons[state])
  }
  const check = () => {
    const free = freeIn(folder)
    if (free < min) return setState('low')
    if (state !== 'full' || free >= enough) setState('room')
  }
  const schedule = () => {
    if (isClosed || timer || (min === 0 && state === 'room')) return
    timer = setTimeout(checkAgain, every).unref()
  }
  const checkAgain = () => {
    timer = undefined
    check()
    schedule()
  }
  if (min > 0) check()
  schedule()
  return {
    isLow: () => state === 'low',
    readOnly: () => reasons[state],
    wasFull: () => {
      if (state === 'room') setState('full')
      schedule()
    },
    close: () => {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
