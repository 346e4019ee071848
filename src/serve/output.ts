/** What a program says that goes on whether or not it is read: lines on standard output that nobody waits for. */
import { write, writeSync } from 'node:fs'

const stdout = 1

/** How long to wait for a reader that takes nothing just now, in milliseconds, and how often at the end of the process. */
const pause = 100
const lastTries = 30

const isBusy = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EAGAIN'

/** Lets the process go on where what it writes there is lost, on a full disk or because nobody reads it any more: Node would end it. */
export const goOnWithout = (stream: NodeJS.WriteStream): void => {
  stream.on('error', () => {})
}

export type Output = {
  readonly write: (text: string) => void
  /** Begins to write what waits. */
  readonly flush: () => void
  /** Writes all that waits before it returns, unless that is impossible. */
  readonly flushSync: () => void
}

/** Writes all of it, however long a reader takes for that, within bounds; throws where it is impossible. */
const writeWhole = (bytes: Buffer): void => {
  const still = new Int32Array(new SharedArrayBuffer(4))
  let tries = 0
  for (let rest = bytes; rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(stdout, rest))
    } catch (error) {
      if (!isBusy(error) || ++tries > lastTries) throw error
      Atomics.wait(still, 0, 0, pause)
    }
  }
}

/**
 * Writes without waiting, once at least so many characters are there. What cannot be written, as on a full disk or where a reader
 * takes nothing, waits too: up to `most` characters, and above that it is lost. `onFault` is called with each failure.
 */
export const createOutput = (
  { least, most }: { readonly least: number; readonly most: number },
  onFault: (error: Error) => void,
): Output => {
  let waiting = ''
  let present = Buffer.alloc(0)
  let isWriting = false
  const next = (): void => {
    if (isWriting) return
    if (present.length === 0) {
      present = Buffer.from(waiting)
      waiting = ''
    }
    if (present.length === 0) return
    isWriting = true
    write(stdout, present, written)
  }
  const written = (error: Error | null, count: number): void => {
    isWriting = false
    if (error === null) {
      present = present.subarray(count)
      next()
    } else if (isBusy(error)) setTimeout(next, pause).unref()
    else onFault(error)
  }
  return {
    write: text => {
      const before = waiting.length
      if (before + text.length <= most) waiting += text
      // Once: where that fails, the next flush tries again.
      if (before < least && waiting.length >= least) next()
    },
    flush: next,
    flushSync: () => {
      // What is being written now is not this thread's any more.
      const bytes = Buffer.concat([isWriting ? Buffer.alloc(0) : present, Buffer.from(waiting)])
      present = Buffer.alloc(0)
      waiting = ''
      try {
        writeWhole(bytes)
      } catch (error) {
        onFault(error as Error)
      }
    },
  }
}
