/** A network to a port of this machine that can be shut: it then swallows all that is sent, and closes nothing. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { freePort } from '#test/support/ports.ts'

export type Gate = {
  readonly port: number
  readonly shut: () => void
  /** Cuts all connections, and new ones at once. */
  readonly refuse: () => void
  /** Lets new connections through; those that have lost something are cut. */
  readonly open: () => void
  readonly end: () => void
}

/** A gate that is open at first. */
export const startGate = async (target: number): Promise<Gate> => {
  const port = await freePort()
  const pairs = new Map<readonly [Socket, Socket], { hasLost: boolean }>()
  let isShut = false
  let isRefusing = false
  const listener = createServer({ noDelay: true }, client => {
    if (isRefusing) return void client.on('error', () => {}).destroy()
    const server = connect({ port: target, host: '127.0.0.1', noDelay: true })
    const pair = [client, server] as const
    const state = { hasLost: false }
    pairs.set(pair, state)
    /** Does it while the gate is open, and else forgets it. */
    const pass = (work: () => void) => {
      if (isShut) state.hasLost = true
      else work()
    }
    for (const [from, to] of [pair, [server, client]] as const) {
      from.on('data', chunk => pass(() => void to.write(chunk)))
      from.on('error', () => {})
      from.on('close', () =>
        pass(() => {
          pairs.delete(pair)
          to.destroySoon()
        }),
      )
    }
  }).listen(port, '127.0.0.1')
  await once(listener, 'listening')
  const cut = (isMeant: (hasLost: boolean) => boolean) => {
    for (const [pair, { hasLost }] of pairs)
      if (isMeant(hasLost)) {
        pairs.delete(pair)
        for (const socket of pair) socket.destroy()
      }
  }
  return {
    port,
    shut: () => {
      isShut = true
    },
    refuse: () => {
      isRefusing = true
      cut(() => true)
    },
    open: () => {
      isShut = false
      isRefusing = false
      cut(hasLost => hasLost)
    },
    end: () => {
      listener.close()
      cut(() => true)
    },
  }
}
