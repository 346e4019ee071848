/** A wire to a PostgreSQL that fails as wires do: cut, silent, slow, or at the worst moment. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, urlAt } from '../../support/ports.ts'
import { conversation } from './protocol.ts'

export type Faults = {
  /** Cuts all connections at once. */
  readonly cut: () => void
  /** Refuses new connections, as a server that is down does. */
  readonly refuse: () => void
  /** Lets nothing through any more, and closes nothing. */
  readonly blackHole: () => void
  /** Holds each chunk back for so long, in both directions. */
  readonly delay: (ms: number) => void
  /** Cuts the next connections, so many, whose COMMIT the server has answered, before they hear of it. */
  readonly loseCommitReplies: (times?: number) => void
  /** How many replies to a COMMIT were lost so far. */
  readonly lost: () => number
  /** Ends all faults; what a black hole held back goes on its way. */
  readonly heal: () => Promise<void>
}

export type Proxy = {
  readonly port: number
  /** A server's address by way of this proxy. */
  readonly through: (url: string) => string
  readonly faults: Faults
  readonly close: () => Promise<void>
}

type Conversation = ReturnType<typeof conversation>

const open = new Set<Proxy>()
after(() => Promise.all([...open].map(proxy => proxy.close())))

/** A proxy without faults at first, before the server on a port of this machine. */
export const startProxy = async (target: number): Promise<Proxy> => {
  const port = await freePort()
  const pairs = new Set<readonly [Socket, Socket]>()
  let delay = 0
  let toLose = 0
  let lost = 0
  let hole = Promise.withResolvers<void>()
  hole.resolve()

  async function* held(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      if (delay > 0) await sleep(delay)
      await hole.promise
      yield chunk
    }
  }
  async function* toServer(chunks: AsyncIterable<Buffer>, { heard }: Conversation) {
    for await (const chunk of held(chunks)) {
      heard(chunk)
      yield chunk
    }
  }
  async function* toClient(chunks: AsyncIterable<Buffer>, { replies }: Conversation) {
    for await (const chunk of held(chunks)) {
      const { bytes, commitAt } = replies(chunk)
      const loses = commitAt !== undefined && toLose > 0
      yield loses ? bytes.subarray(0, commitAt) : bytes
      if (!loses) continue
      toLose--
      lost++
      return
    }
  }
  const listener = createServer({ noDelay: true }, client => {
    const server = connect({ port: target, host: '127.0.0.1', noDelay: true })
    const pair = [client, server] as const
    pairs.add(pair)
    const said = conversation()
    const close = () => {
      pairs.delete(pair)
      for (const socket of pair) socket.destroySoon()
    }
    pipeline(client, chunks => toServer(chunks, said), server).then(close, close)
    pipeline(server, chunks => toClient(chunks, said), client).then(close, close)
  })
  const listen = async () => {
    listener.listen(port, '127.0.0.1')
    await once(listener, 'listening')
  }
  await listen()

  const faults: Faults = {
    cut: () => {
      for (const pair of pairs) for (const socket of pair) socket.resetAndDestroy()
    },
    refuse: () => {
      if (listener.listening) listener.close()
    },
    blackHole: () => {
      hole = Promise.withResolvers()
    },
    delay: ms => {
      delay = ms
    },
    loseCommitReplies: (times = Number.POSITIVE_INFINITY) => {
      toLose = times
    },
    lost: () => lost,
    heal: async () => {
      delay = 0
      toLose = 0
      hole.resolve()
      if (!listener.listening) await listen()
    },
  }
  const close = async () => {
    open.delete(proxy)
    hole.resolve()
    faults.refuse()
    faults.cut()
  }
  const proxy: Proxy = { port, through: url => urlAt(url, port), faults, close }
  open.add(proxy)
  return proxy
}
