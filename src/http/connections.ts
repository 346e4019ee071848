/**
 * The connections of a server: which of their requests go on, and which connections are read. Node hands over a request as soon as it
 * has come, whatever became of those before it on its connection.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Queue } from '#http/queue.ts'
import { type Http, isSafe } from '#http/request.ts'

type AnswerRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown

type HeldRequest = readonly [IncomingMessage, ServerResponse, AnswerRequest]

class ConnectionState {
  /** How many of its requests are being answered, and whether one is that must be alone. */
  going = 0
  isAlone = false
  /** Those that wait for others of it. */
  readonly held: HeldRequest[] = []
  /** Nothing that comes now is heard any more. */
  isEnding = false
  /** Not read until some requests are answered. */
  isPaused = false
  isGuarded = false
  /** Rests after the answer where others wait. */
  mayRest = false
  /** Called when one of its answers has been taken, or never will be. */
  answered = (): void => {}
}

const key = Symbol('connection')

type KnownSocket = Socket & { [key]?: ConnectionState }

/** How many requests of one connection may be unfinished until it is no longer read. */
const mostUnfinished = 32

/** How many requests may wait in the queue before connections rest: what is run in a few milliseconds. */
const mostWaiting = 64

export type ConnectionLimits = {
  /** How many requests may wait for others of their connections; one that comes beyond that ends its connection, unless fewer than 32 wait there. */
  readonly held: number
  /** How long a connection may rest, in milliseconds. */
  readonly rest: number
}

export type Connections = {
  /** Answers a request that has come, once it may go on; where `isLast`, the connection ends with its answer. */
  readonly receive: (
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    answer: AnswerRequest,
    isLast: boolean,
  ) => void
  /** Lets the connection of a request rest when that is answered, where enough others wait. */
  readonly mayRest: (c: Http) => void
  /** How many requests wait for others of their connections. */
  readonly held: () => number
  /** Reads all connections from now on. */
  readonly end: () => void
}

/**
 * Safe requests of a connection go side by side; any other waits for those before it, and those behind it for it (RFC 9112, section
 * 9.3.2). So do those above the most that may be unfinished: the connection is then read no further, and only what came with them is
 * in memory.
 *
 * It also keeps thousands of busy connections from having as many requests in memory, where each collection of garbage copies all that
 * they hold and takes longer than answering them. While enough requests wait, a connection rests from its answer on until its turn comes
 * to be read again, in the order of the answers: as many in a turn of the event loop as there is room for in the queue. None rests for
 * longer than a request may wait: what it has sent is then judged by the queue, as else nobody would refuse it, however long it takes. It is long as its parts change the state of one list of connections.
 */
export const createConnections = (
  queue: Pick<Queue, 'size'>,
  limits: ConnectionLimits,
  now: () => number = () => performance.now(),
): Connections => {
  let held = 0
  /** When each began to rest. */
  const resting = new Map<Socket, number>()
  let isOver = false
  let isScheduled = false

  const wake = () => {
    isScheduled = false
    let room = isOver ? resting.size : mostWaiting - queue.size()
    const late = now() - limits.rest
    for (const [socket, since] of resting) {
      if (room-- <= 0 && since >= late) break
      resting.delete(socket)
      socket.resume()
    }
    scheduleWaking()
  }
  const scheduleWaking = () => {
    if (isScheduled || resting.size === 0) return
    isScheduled = true
    setImmediate(wake)
  }

  const isFree = (
    { going, isAlone }: ConnectionState,
    { method = '' }: IncomingMessage,
  ): boolean => (isSafe(method) ? !isAlone && going < mostUnfinished : going === 0)

  const start = (state: ConnectionState, [incoming, outgoing, answer]: HeldRequest) => {
    state.going++
    state.isAlone = !isSafe(incoming.method ?? '')
    outgoing.on('close', state.answered)
    answer(incoming, outgoing)
  }

  const stateOf = (socket: Socket): ConnectionState => {
    const state = new ConnectionState()
    let isGoingOn = false
    /** Starts those that waited, as many in a turn of the event loop as may be unfinished: refusing thousands at once would hold it. */
    const goOn = () => {
      isGoingOn = false
      // Where nothing can be answered any more, all go on to find that out.
      const isGone = socket.destroyed || socket.writableEnded
      for (let left = mostUnfinished; left > 0; left--) {
        const next = state.held[0]
        if (!next || !(isGone || isFree(state, next[0]))) break
        state.held.shift()
        held--
        start(state, next)
      }
      if (isGone && state.held.length > 0) goOnSoon()
      else readOn()
    }
    const goOnSoon = () => {
      if (!isGoingOn) setImmediate(goOn)
      isGoingOn = true
    }
    const readOn = () => {
      if (!state.isPaused || state.going + state.held.length >= mostUnfinished) return
      state.isPaused = false
      socket.resume()
    }
    state.answered = () => {
      state.going--
      if (state.going === 0) state.isAlone = false
      if (state.held.length > 0) goOnSoon()
      else if (state.mayRest && !isOver && !socket.destroyed) {
        state.isPaused = false
        socket.pause()
        if (!resting.has(socket)) resting.set(socket, now())
        scheduleWaking()
      } else if (state.isPaused) readOn()
      state.mayRest = false
    }
    return state
  }

  const pause = (socket: Socket, state: ConnectionState) => {
    state.isPaused = true
    socket.pause()
    if (state.isGuarded) return
    state.isGuarded = true
    // Node reads on by itself when it is done with the body of a request.
    socket.on('resume', () => void (state.isPaused && socket.pause()))
  }

  /** Ends a connection with all that waits on it. */
  const cut = (socket: Socket, state: ConnectionState) => {
    held -= state.held.splice(0).length
    state.isEnding = true
    socket.destroy()
  }

  return {
    receive: (incoming, outgoing, answer, isLast) => {
      const socket: KnownSocket = incoming.socket
      socket[key] ??= stateOf(socket)
      const state = socket[key]
      if (state.isEnding) return
      if (isLast) {
        state.isEnding = true
        outgoing.shouldKeepAlive = false
      }
      const request: HeldRequest = [incoming, outgoing, answer]
      if (state.held.length === 0 && isFree(state, incoming)) start(state, request)
      // A client with few waiting requests is not cut because others have many.
      else if (held >= limits.held && state.held.length >= mostUnfinished) return cut(socket, state)
      else {
        held++
        state.held.push(request)
      }
      if (!state.isPaused && state.going + state.held.length >= mostUnfinished) pause(socket, state)
    },
    mayRest: ({ env }) => {
      const socket: KnownSocket | undefined = env?.incoming?.socket
      const state = socket?.[key]
      // A connection that asks while others rest goes behind them.
      if (state && (resting.size > 0 || queue.size() >= mostWaiting)) state.mayRest = true
    },
    held: () => held,
    end: () => {
      isOver = true
      scheduleWaking()
    },
  }
}
