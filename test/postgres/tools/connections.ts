/** Connections to a service of several processes, as clients keep them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Service } from '../../duet.ts'
import { inTime, until } from '../../support/wait.ts'

/** A connection that asks again and again. */
export const keptAlive = async (service: Service) => {
  const socket = connect(service.port, '127.0.0.1')
  let isClosed = false
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
  })
  await once(socket, 'connect')
  const asks = async (): Promise<string> => {
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
    const [answer] = await once(socket, 'data')
    return String(answer)
  }
  assert.match(await asks(), /^HTTP\/1.1 200 /)
  return { asks, isClosed: () => isClosed, close: () => socket.destroy() }
}

/** Waits until the service answers although one of its processes stands still: so another one listens. */
export const answersWithout = async (service: Service, pid: number) => {
  process.kill(pid, 'SIGSTOP')
  const lines: Awaited<ReturnType<typeof dialed>>[] = []
  // The first goes to the stopped process, which gets no more until it has accepted that one.
  await until('the new process listens', async () => {
    lines.push(await dialed(service))
    return lines.some(({ isAnswered }) => isAnswered())
  })
  process.kill(pid, 'SIGCONT')
  for (const { answered, close } of lines) {
    await inTime('a waiting connection is answered', answered)
    close()
  }
}

/** A connection that has asked. */
const dialed = async ({ port }: Service) => {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  let isAnswered = false
  socket.once('data', () => {
    isAnswered = true
  })
  const answered = once(socket, 'data')
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
  return { answered, isAnswered: () => isAnswered, close: () => socket.destroy() }
}
