/** Ports of this machine for the programs of tests. */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { Running } from './guard.ts'
import { until } from './wait.ts'

/** Whether nobody listens on a port. */
const isFree = async (port: number): Promise<boolean> => {
  const server = createServer()
  const free = await new Promise<boolean>(resolve => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
  })
  if (!free) return false
  server.close()
  await once(server, 'close')
  return true
}

/**
 * A free port that stays ours while its server is down: below the range from which systems hand
 * out ports by themselves. With `count`, the first of so many in a row.
 */
export const freePort = async (count = 1): Promise<number> => {
  for (;;) {
    const first = 15_000 + Math.floor(Math.random() * 15_000)
    let free = 0
    while (free < count && (await isFree(first + free))) free++
    if (free === count) return first
  }
}

/** Waits until a program that was started takes connections on a port. */
export const listening = async (running: Running, port: number): Promise<void> => {
  await until(`something listens on port ${port}`, async () => {
    if (running.gone()) throw new Error(running.lastWords())
    const socket = connect(port, '127.0.0.1')
    const open = await new Promise<boolean>(resolve => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    socket.destroy()
    return open
  })
  running.child.unref()
}

/** The same address on another port of this machine. */
export const urlAt = (url: string, port: number): string => {
  const moved = new URL(url)
  moved.searchParams.delete('host') // a socket
  moved.host = `127.0.0.1:${port}`
  return moved.href
}
