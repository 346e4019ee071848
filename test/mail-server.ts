/** A real mail server on loopback for a test: it keeps what it is sent, or does what a bad one does. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'
import { until } from './support/wait.ts'

export type Received = {
  readonly from: string
  readonly to: readonly string[]
  /** The message as it came over the wire. */
  readonly raw: string
  /** A header, its folds undone. */
  readonly header: (name: string) => string | undefined
  /** The plain text, decoded. */
  readonly text: string
  readonly html: string
}

/** A message to somebody. */
export const message = {
  to: { name: 'Ada', address: 'ada@example.org' },
  subject: 'Hello',
  text: 'Hello',
  html: '<p>Hello</p>',
}

type Behaviour = {
  /** Answers RCPT with this code, so many times. */
  readonly refuse?: { readonly code: number; readonly times: number }
  /** The one password that whoever signs in there has. */
  readonly password?: string
}

const headersOf = (head: string) => {
  const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n')
  return (name: string) =>
    lines
      .find(line => line.toLowerCase().startsWith(`${name.toLowerCase()}: `))
      ?.slice(name.length + 2)
}

const decodedPart = (raw: string): string => {
  const [head = '', body = ''] = raw.split(/\r\n\r\n(.*)/s)
  const encoding = headersOf(head)('content-transfer-encoding') ?? '7bit'
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString()
  if (encoding !== 'quoted-printable') return body
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}

const received = (from: string, to: readonly string[], raw: string): Received => {
  const [head = '', body = ''] = raw.split(/\r\n\r\n(.*)/s)
  const header = headersOf(head)
  const boundary = /boundary="([^"]+)"/.exec(header('content-type') ?? '')?.[1]
  const parts =
    boundary === undefined ? [raw] : body.split(`--${boundary}`).map(part => part.slice(2))
  const part = (type: string) =>
    decodedPart(parts.find(text => text.toLowerCase().includes(`content-type: ${type}`)) ?? '')
  return { from, to, raw, header, text: part('text/plain'), html: part('text/html') }
}

/** A mail server; `next` waits for the next message, and fails where none comes. */
export const mailServer = async ({ refuse, password }: Behaviour = {}) => {
  const messages: Received[] = []
  let taken = 0
  let refusals = 0
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    onAuth: (given, _session, done) =>
      given.password === password
        ? done(null, { user: given.username })
        : done(Object.assign(new Error('No'), { responseCode: 535 })),
    disabledCommands: ['STARTTLS'],
    onRcptTo: (_address, _session, done) => {
      if (refuse && refusals < refuse.times) {
        refusals++
        const error = Object.assign(new Error('no'), { responseCode: refuse.code })
        return done(error)
      }
      done()
    },
    onData: (stream, session, done) => {
      text(stream).then(raw => {
        const { mailFrom, rcptTo } = session.envelope
        const from = mailFrom ? mailFrom.address : ''
        messages.push(
          received(
            from,
            rcptTo.map(({ address }) => address),
            raw,
          ),
        )
        done()
      }, done)
    },
  })
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as { port: number }
  const next = async (): Promise<Received> => {
    const index = taken++
    await until(`message ${taken} comes`, () => messages.length > index)
    return messages[index] as Received
  }
  return {
    url: `smtp://127.0.0.1:${port}`,
    messages,
    refusals: () => refusals,
    next,
    close: () => new Promise<void>(resolve => server.close(() => resolve())),
  }
}

/** A server that takes connections and never says a word. */
export const silentServer = async () => {
  const sockets = new Set<import('node:net').Socket>()
  const server: Server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return {
    url: `smtp://127.0.0.1:${port}`,
    connections: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
