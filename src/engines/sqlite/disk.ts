/** The room on the store's disk: while there is too little, writes are refused and reads go on. */
import { statfsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'

export type Disk = {
  /** Whether there is less room than writes are let use. */
  readonly isLow: () => boolean
  /** Why the store can only be read now; null where it can be written. */
  readonly readOnly: () => string | null
  /** To be told that a write found no room. */
  readonly wasFull: () => void
  readonly close: () => void
}

type State = 'room' | 'low' | 'full'

type DiskOptions = {
  readonly folder: string
  /** The least room for writes, in bytes; 0: they go on until the disk is full. */
  readonly min: number
  /** Told of each change, with why the store is read-only, or null where it is not any more. */
  readonly onChange: (reason: string | null) => void
  /** Milliseconds between two looks. */
  readonly every?: number
}

/** A disk that was full takes writes again from so many bytes on. */
const enough = 1_048_576

type Sizes = { readonly bavail: number; readonly bsize: number }
const bytesOf = ({ bavail, bsize }: Sizes): number => bavail * bsize

/** Where the system does not say how much there is, writes find out. */
const unknown = Number.POSITIVE_INFINITY

const firstLook = (folder: string): number => {
  try {
    return bytesOf(statfsSync(folder))
  } catch {
    return unknown
  }
}

/** Looks at the disk once a second, beside the writes: what they ask is a value in memory. */
export const watchDisk = ({ folder, min, onChange, every = 1000 }: DiskOptions): Disk => {
  let state: State = 'room'
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const reasons = {
    room: null,
    low: `the disk has less than ${min} bytes free`,
    full: 'the disk is full',
  } as const satisfies Record<State, string | null>
  const become = (next: State) => {
    if (next === state) return
    state = next
    onChange(reasons[state])
  }
  const judge = (free: number) => {
    if (free < min) return become('low')
    if (state !== 'full' || free >= enough) become('room')
  }
  const schedule = () => {
    if (isClosed || timer || (min === 0 && state === 'room')) return
    timer = setTimeout(look, every)
    timer.unref()
  }
  const look = async () => {
    judge(await statfs(folder).then(bytesOf, () => unknown))
    timer = undefined
    schedule()
  }
  if (min > 0) judge(firstLook(folder))
  schedule()
  return {
    isLow: () => state === 'low',
    readOnly: () => reasons[state],
    wasFull: () => {
      if (state === 'room') become('full')
      schedule()
    },
    close: () => {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
