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
  /** The place of the first request with whose answer the connection ends. */
  endsAt: number
}

const key = Symbol('pipeline')
const place = Symbol('place')

type PipelinedSocket = Socket & { [key]?: Pipeline }
type PlacedAnswer = ServerResponse & { [place]?: number }

/** The pipeline of a socket; made with its first request. */
export const pipelineOf = (socket: PipelinedSocket): Pipeline => {
  socket[key] ??= { going: 0, isAlone: false, waiting: [], came: 0, endsAt: Infinity }
  return socket[key]
}

/** Gives a request that comes now its place, by its answer. */
export const takePlace = (line: Pipeline, answer: PlacedAnswer): void => {
  answer[place] = ++line.came
}

/** Has the connection end with this answer: nothing behind it is done any more (RFC 9112, section 9.6). */
export const endWith = (answer: PlacedAnswer): void => {
  answer.shouldKeepAlive = false
  const line = (answer.req.socket as PipelinedSocket)[key]
  if (line) line.endsAt = Math.min(line.endsAt, answer[place] ?? Infinity)
}

/** Whether the connection ends with an answer to an earlier request than this one. Of those that go side by side a later one may be answered first. */
export const isBehindEnd = (line: Pipeline, answer: PlacedAnswer | undefined): boolean =>
  (answer?.[place] ?? 0) > line.endsAt

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

/** Leaves the pipeline; those go on that waited for that. */
export const leave = (line: Pipeline): void => {
  line.going--
  if (line.going === 0) line.isAlone = false
  for (let next = line.waiting[0]; next && isFree(line, next.isSafe); next = line.waiting[0]) {
    line.waiting.shift()
    goOn(line, next.isSafe)
    next.start()
  }
}
