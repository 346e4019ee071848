/** A client that keeps its connection busy, and sees how it ends. */
import { connect as dial } from 'node:net'
import type { Service } from '#test/duet.ts'

/** After so many milliseconds without a request a service that ends may close a connection; a busy machine lets a client be so late. */
const idle = 200

/** What a client asks each time, and what it does with the head of the answer. */
type Talk = { readonly ask: () => string; readonly hear?: (head: string) => void }

const reading: Talk = { ask: () => 'GET /api/products?limit=5 HTTP/1.1\r\nHost: x\r\n\r\n' }

/** Asks on one connection as fast as it is answered, or after a moment; `cut`: it was closed without an answer. */
export const busyClient = (service: Service, thinks: number, talk = reading) => {
  const seen = { answers: 0, cut: false, told: false }
  const socket = dial(service.port, '127.0.0.1').setEncoding('latin1')
  let heard = ''
  let isAsking = false
  let isLeaving = false
  let asked = performance.now()
  let isLate = false
  const ask = () => {
    const now = performance.now()
    isLate = now - asked > idle
    asked = now
    isAsking = socket.writable
    if (isAsking) socket.write(talk.ask())
  }
  socket.on('error', () => {})
  socket.on('connect', ask)
  socket.on('data', text => {
    heard += text
    const [head = '', body = ''] = heard.split('\r\n\r\n')
    if (body.length < Number(/content-length: (\d+)/i.exec(head)?.[1])) return
    heard = ''
    isAsking = false
    seen.answers++
    talk.hear?.(head)
    seen.told ||= /^connection: close/im.test(head)
    if (isLeaving) socket.end()
    else if (!seen.told) setTimeout(ask, Math.random() * thinks)
  })
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  socket.on('close', () => {
    seen.cut = isAsking && !isLate
    resolve()
  })
  /** Ends the connection, after the answer where one is awaited. */
  const leave = () => {
    isLeaving = true
    if (!isAsking) socket.end()
  }
  return { seen, closed, leave }
}
