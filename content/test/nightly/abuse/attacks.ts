/** Clients that mean no good, each at one thing until it is told to stop; what they are answered is counted by status. */
import { randomBytes, randomInt } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { bodies } from '../hold/bodies.ts'
import { operations } from '../hold/documents.ts'

export type Target = {
  readonly port: number
  /** The line of an `Authorization` header of an admin. */
  readonly authorization: string
  readonly isOver: () => boolean
  readonly statuses: Map<number, number>
}

/** A connection whose answers are counted; `reads` is false for one that takes none of them. */
const dial = ({ port, statuses }: Target, reads = true): Promise<Socket> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.on('error', () => socket.destroy()).once('close', () => resolve(socket))
    if (!reads) return void socket.pause()
    socket.setEncoding('latin1').on('data', (text: string) => {
      for (const [, status] of text.matchAll(/HTTP\/1\.1 (\d{3}) /g))
        statuses.set(Number(status), (statuses.get(Number(status)) ?? 0) + 1)
    })
  })

const head = (line: string, headers: Readonly<Record<string, string | number>> = {}): string =>
  `${line} HTTP/1.1\r\nHost: a\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`

/** Sends something whole, waits up to a time for the end of the connection, and hangs up. */
const exchange = async (
  target: Target,
  parts: readonly (string | Uint8Array)[],
  patience = 5000,
) => {
  const socket = await dial(target)
  for (const part of parts) if (socket.writable) socket.write(part)
  await Promise.race([
    new Promise(resolve => socket.once('close', resolve)),
    sleep(patience, undefined, { ref: false }),
  ])
  socket.destroy()
}

/** Does something on a connection of its own, and hangs up. */
const onConnection =
  (act: (socket: Socket, target: Target) => Promise<void>): Attack['once'] =>
  async target => {
    const socket = await dial(target)
    await act(socket, target)
    socket.destroy()
  }

const lastOne = { Connection: 'close' }

/** One thing that a client does again and again, and how many clients do it at the same time. */
type Attack = {
  readonly name: string
  readonly clients: number
  readonly once: (target: Target, round: number) => Promise<void>
}

const slowReader: Attack = {
  name: 'asks for much and reads nothing',
  clients: 25,
  once: async (target, round) => {
    const socket = await dial(target, false)
    socket.write(head(`GET /api/posts?limit=${20 + (round % 80)}`))
    await sleep(20_000)
    socket.destroy()
  },
}

const halfOpen: Attack = {
  name: 'connects and says nothing',
  clients: 100,
  once: onConnection(async () => {
    await sleep(randomInt(15_000))
  }),
}

const slowloris: Attack = {
  name: 'says its head letter by letter',
  clients: 50,
  once: onConnection(async socket => {
    for (const letter of head('GET /api/products', { 'X-Slow': 'a'.repeat(200) })) {
      if (!socket.writable) break
      socket.write(letter)
      await sleep(250)
    }
  }),
}

const unfinishedBody: Attack = {
  name: 'does not finish its body',
  clients: 80,
  once: onConnection(async socket => {
    const headers = { 'Content-Type': 'application/json', 'Content-Length': 1_048_576 }
    socket.write(head('POST /api/users', headers))
    socket.write(Buffer.alloc(1_000_000, 'x'))
    await sleep(randomInt(40_000))
  }),
}

const hugeBody: Attack = {
  name: 'sends a body without an end, in small chunks',
  clients: 4,
  once: onConnection(async socket => {
    socket.write(
      head('POST /graphql', { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' }),
    )
    const chunks = '1\r\nx\r\n'.repeat(10_000)
    for (let n = 0; n < 50 && socket.writable; n++) {
      socket.write(chunks)
      await sleep(20)
    }
  }),
}

const hangUp: Attack = {
  name: 'hangs up',
  clients: 8,
  once: async target => {
    const socket = await dial(target)
    const { authorization } = target
    socket.write(head('GET /api/users?sort=-age&page=20', { authorization }))
    await sleep(randomInt(30))
    if (randomInt(2)) socket.resetAndDestroy()
    else socket.destroy()
  },
}

const wrongToken: Attack = {
  name: 'guesses tokens',
  clients: 4,
  once: target => {
    const part = () => randomBytes(60).toString('base64url')
    const authorization = `Bearer eyJhbGciOiJIUzI1NiJ9.${part()}.${part()}`
    return exchange(target, [head('GET /api/users', { authorization, ...lastOne })])
  },
}

const posting = (path: string, target: Target, content: string | Uint8Array, more = {}) => [
  head(`POST ${path}`, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(content),
    authorization: target.authorization,
    ...more,
    ...lastOne,
  }),
  content,
]

const newDocument: Attack = {
  name: 'sends documents that are new each time',
  clients: 4,
  once: target => {
    const name = `a${randomBytes(8).toString('hex')}`
    const fields = Array.from({ length: 25 }, (_, n) => `${name}${n}: name`).join(' ')
    const query = `query ${name} { users(limit: 1) { id ${fields} } } #${'x'.repeat(12_000)}`
    return exchange(target, posting('/graphql', target, JSON.stringify({ query })))
  },
}

const slowReads = [
  (n: number) =>
    `/api/products?search=e&min_price=1&max_price=900&in_stock=true&sort=-price,name&offset=${n}`,
  (n: number) => `/api/posts?limit=${20 + (n % 80)}`,
  (n: number) =>
    `/graphql?query=${encodeURIComponent(`{ users(limit: 100, offset: ${n % 900}) { id posts(limit: 20) { id title comments(limit: 4) { id text } } } }`)}`,
]

const expensiveRead: Attack = {
  name: 'asks for what is slow',
  clients: 6,
  once: (target, round) => {
    const path = slowReads[round % slowReads.length]?.(randomInt(40_000)) ?? ''
    const { authorization } = target
    return exchange(target, [head(`GET ${path}`, { authorization, ...lastOne })], 30_000)
  },
}

const bad = [...bodies, ...operations].filter(
  ({ name, status }) => status >= 400 || name.startsWith('GraphQL'),
)

const badInput: Attack = {
  name: 'sends bad input of 1 MiB',
  clients: 4,
  once: (target, round) => {
    const { line, body } = bad[round % bad.length] as (typeof bad)[number]
    return exchange(target, posting(line.split(' ')[1] ?? '', target, body?.(round) ?? ''), 15_000)
  },
}

const keys: Attack = {
  name: 'uses up keys',
  clients: 4,
  once: target => {
    const key = { 'Idempotency-Key': randomBytes(100).toString('hex') }
    return exchange(target, posting('/api/users', target, '{"name":"n","email":"none"}', key))
  },
}

const flood: Attack = {
  name: 'opens 200 connections at a time',
  clients: 1,
  once: async target => {
    const sockets = await Promise.all(Array.from({ length: 200 }, () => dial(target)))
    for (const socket of sockets) if (socket.writable) socket.write(head('GET /api/products/1'))
    await sleep(500)
    for (const socket of sockets) socket.destroy()
  },
}

const pipeline: Attack = {
  name: 'sends 1,000 requests at once on one connection',
  clients: 2,
  once: target =>
    exchange(
      target,
      [head('GET /api/products/1').repeat(999), head('GET /api/products/2', lastOne)],
      10_000,
    ),
}

const attacks: readonly Attack[] = [
  slowReader,
  halfOpen,
  slowloris,
  unfinishedBody,
  hugeBody,
  hangUp,
  wrongToken,
  newDocument,
  expensiveRead,
  badInput,
  keys,
  flood,
  pipeline,
]

/** Begins all attacks; resolves when they are over. */
export const attack = async (target: Target): Promise<void> => {
  const clients = attacks.flatMap(({ clients, once }) =>
    Array.from({ length: clients }, async (_, client) => {
      for (let round = client; !target.isOver(); round++) {
        await once(target, round)
        // A client that is refused at once would else leave no time for the others, who are of the same process.
        await sleep(randomInt(20, 60))
      }
    }),
  )
  await Promise.all(clients)
}
