/**
 * The requests of one connection in line: safe ones go side by side, any other waits for those before it, and those behind it for it
 * (RFC 9112, section 9.3.2). Node tells of a request as soon as it has come, whatever became of those before.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The line of a connection; each request that goes on in it leaves it when it is done. */
export type Line = {
  /** How many go on now, and whether one does that must be alone. */
  going: number
  isAlone: boolean
  readonly waiting: { readonly isSafe: boolean; readonly start: () => void }[]
  /** The answer after which somebody who waited went on. */
  last: ServerResponse | undefined
}

const key = Symbol('line')

/** The line of a socket; made with its first request. */
export const lineOf = (socket: Socket & { [key]?: Line }): Line => {
  socket[key] ??= { going: 0, isAlone: false, waiting: [], last: undefined }
  return socket[key]
}

const isFree = ({ going, isAlone }: Line, isSafe: boolean): boolean =>
  isSafe ? !isAlone : going === 0

/** Whether a request that comes now has to wait. */
export const mustWait = (line: Line, isSafe: boolean): boolean =>
  line.waiting.length > 0 || !isFree(line, isSafe)

/** Goes on in line. */
export const goOn = (line: Line, isSafe: boolean): void => {
  line.going++
  line.isAlone = !isSafe
}

/** Waits in line; resolves when the request may go on, and does. */
export const wait = ({ waiting }: Line, isSafe: boolean): Promise<void> =>
  new Promise(start => void waiting.push({ isSafe, start }))

/** Leaves the line, having the answer that is given now; those go on that waited for that. */
export const leave = (line: Line, answer: ServerResponse | undefined): void => {
  line.going--
  if (line.going === 0) line.isAlone = false
  for (let next = line.waiting[0]; next && isFree(line, next.isSafe); next = line.waiting[0]) {
    line.waiting.shift()
    line.last = answer
    goOn(line, next.isSafe)
    next.start()
  }
}

/** Whether the connection ends with an answer that was given before: then nothing more may be done on it (RFC 9112, section 9.6). */
export const hasEnded = ({ last }: Line): boolean => last?.shouldKeepAlive === false
