/** Which connections are read: while enough requests wait in memory, the next ones of those that were answered stay in the kernel. */
import type { Socket } from 'node:net'
import type { Queue } from '#http/queue.ts'
import type { Http } from '#http/request.ts'

export type Pacing = {
  /** Lets the connection of a request rest when that is answered, where enough others wait. */
  readonly answering: (c: Http) => void
  /** Reads all connections from now on. */
  readonly end: () => void
}

/** How many requests may wait before connections rest: what is run in a few milliseconds. */
const mostWaiting = 64

/**
 * Keeps thousands of busy connections from having as many requests in memory, where each collection of garbage copies all that they
 * hold and takes longer than answering them. A connection rests from its answer on until its turn comes to be read again, in the
 * order in which they were answered: so many in a turn of the event loop as there is room for in the queue, where those that wait
 * for others of their connection do not count. One that has nothing to say by then no longer rests. None rests for longer than a
 * request may wait, in milliseconds: what it has sent is then judged by the queue, as else nobody would refuse it, however long it takes.
 */
export const createPacing = (
  { entered }: Pick<Queue, 'entered'>,
  longest: number,
  now: () => number = () => performance.now(),
): Pacing => {
  /** When each began to rest. */
  const resting = new Map<Socket, number>()
  let isOver = false
  let isScheduled = false
  const schedule = () => {
    if (isScheduled || resting.size === 0) return
    isScheduled = true
    setImmediate(wake)
  }
  const wake = () => {
    isScheduled = false
    let room = isOver ? resting.size : mostWaiting - entered()
    const late = now() - longest
    for (const [socket, since] of resting) {
      if (room-- <= 0 && since >= late) break
      resting.delete(socket)
      socket.resume()
    }
    schedule()
  }
  const rest = (socket: Socket) => {
    if (isOver || socket.destroyed) return
    socket.pause()
    if (!resting.has(socket)) resting.set(socket, now())
    schedule()
  }
  return {
    answering: ({ env }) => {
      const { incoming, outgoing } = env
      // A connection that asks while others rest goes behind them.
      if (!incoming || !outgoing || (resting.size === 0 && entered() < mostWaiting)) return
      // Not earlier: what Node does with a request that has been answered makes it read the connection.
      outgoing.once('close', () => rest(incoming.socket))
    },
    end: () => {
      isOver = true
      schedule()
    },
  }
}
