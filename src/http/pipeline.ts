/**
 * The pipelined requests of one connection: safe ones go side by side, any other waits for those before it, and those behind it for it
 * (RFC 9112, section 9.3.2). Node hands over a request as soon as it has come, whatever became of those before.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The pipeline of a connection; each request that goes on in it leaves it when it is done. */
export type Pipeline = {
  /** How many go on now, and whether one does that must be alone. */
  going: number
  isAlone: boolean
  readonly waiting: { readonly isSafe: boolean; readonly start: () => void }[]
  /** How many have come. */
  came: number
  /** An answer that was given, and the place of its request: the first of those that end the connection, or else the latest. */
  last: ServerResponse | undefined
  lastPlace: number
}

const key = Symbol('pipeline')

/** The pipeline of a socket; made with its first request. */
export const pipelineOf = (socket: Socket & { [key]?: Pipeline }): Pipeline => {
  socket[key] ??= { going: 0, isAlone: false, waiting: [], came: 0, last: undefined, lastPlace: 0 }
  return socket[key]
}

/** The place of a request that comes now. */
export const placeIn = (line: Pipeline): number => ++line.came

const isFree = ({ going, isAlone }: Pipeline, isSafe: boolean): boolean =>
  isSafe ? !isAlone : going === 0

/** Whether a request that comes now has to wait. */
export const mustWait = (line: Pipeline, isSafe: boolean): boolean =>
  line.waiting.length > 0 || !isFree(line, isSafe)

/** Goes on. */
export const goOn = (line: Pipeline, isSafe: boolean): void => {
  line.going++
  line.isAlone = !isSafe
}

/** Waits for those before it; resolves when the request may go on, and does. */
export const waitBehind = ({ waiting }: Pipeline, isSafe: boolean): Promise<void> =>
  new Promise(start => void waiting.push({ isSafe, start }))

/** Leaves the pipeline, having the answer that is given now; those go on that waited for that. */
export const leave = (line: Pipeline, place: number, answer: ServerResponse | undefined): void => {
  line.going--
  if (!isLast(line.last)) {
    line.last = answer
    line.lastPlace = place
  }
  if (line.going === 0) line.isAlone = false
  for (let next = line.waiting[0]; next && isFree(line, next.isSafe); next = line.waiting[0]) {
    line.waiting.shift()
    goOn(line, next.isSafe)
    next.start()
  }
}

const isLast = (answer: ServerResponse | undefined): boolean => answer?.shouldKeepAlive === false

/**
 * Whether the connection ends with an answer to a request before this place: then nothing more may be done there (RFC 9112, section 9.6).
 * Of requests that go side by side a later one may be answered first.
 */
export const hasEnded = ({ last, lastPlace }: Pipeline, place: number): boolean =>
  place > lastPlace && isLast(last)
