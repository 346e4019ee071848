/** Connections on which requests follow one another, and what was answered on them. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { noQueue, type Queue, type QueuedRequest } from '#http/queue.ts'
import type { Listening } from '#serve/listen.ts'
import { until } from '#test/support/wait.ts'

/** A connection, and all that was answered on it. */
export const dial = async (to: Listening) => {
  const socket: Socket = connect(Number(new URL(to.url).port), '127.0.0.1')
  const heard = { text: '' }
  socket.setEncoding('utf8').on('data', text => {
    heard.text += text
  })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return { socket, heard }
}

/** The statuses of the answers so far. */
export const answers = ({ text }: { readonly text: string }) =>
  [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))

/** The names in the answers so far. */
export const nameOf = (text: string) =>
  [...text.matchAll(/"name":"([^"]+)"/g)].map(([, name]) => name)

const typed = 'Content-Type: application/json'

/** Requests in JSON with a token. */
export const requestsOf = (token: string) => {
  const head = (line: string, ...more: readonly string[]) =>
    `${[`${line} HTTP/1.1`, 'Host: a', `Authorization: Bearer ${token}`, ...more].join('\r\n')}\r\n\r\n`
  const withBody = (line: string, body: string) =>
    `${head(line, typed, `Content-Length: ${Buffer.byteLength(body)}`)}${body}`
  const chunked = (line: string, body: string) =>
    `${head(line, typed, 'Transfer-Encoding: chunked')}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  return { head, withBody, chunked }
}

/** The body that gives a user another name, by either API. */
export const patch = (name: string) => JSON.stringify({ name })
export const mutation = (name: string) =>
  JSON.stringify({ query: `mutation { updateUser(id: 2, input: { name: "${name}" }) { name } }` })

/** A queue that the test empties. */
export const heldQueue = () => {
  const waiting: QueuedRequest[] = []
  const queue: Queue = { ...noQueue, enter: entry => void waiting.push(entry) }
  const inQueue = (count: number) =>
    until(`${count} are in the queue`, () => waiting.length === count)
  return { queue, waiting, inQueue, runNext: () => waiting.shift()?.run() }
}
