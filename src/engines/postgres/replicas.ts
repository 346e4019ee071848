/** Replicas that reads go to: the one with the least to do, if it is there and has come far enough. */
import { placeIn } from '#engines/postgres/position.ts'
import { createServer, type Server, type ServerOptions } from '#engines/postgres/server.ts'
import { UnreachableError } from '#engines/postgres/trouble.ts'
import type { Position } from '#sql/engine.ts'

/** How long a read waits for a replica to come as far as the read must see, in milliseconds. */
const shortWait = 100
/** Milliseconds between two looks meanwhile. */
const lookEvery = 10

const replayed = {
  text: 'select pg_last_wal_replay_lsn()::text',
  values: [],
  alone: 'quick',
} as const

type Replica = {
  readonly server: Server
  /** How far it had come when it was last asked. */
  readonly known: () => bigint
  /** Asks it how far it has come. */
  readonly look: () => Promise<bigint>
}

const createReplica = (options: ServerOptions): Replica => {
  const server = createServer(options)
  let known = 0n
  const look = async (): Promise<bigint> => {
    const [row] = await server.shared.query(replayed)
    const place = row?.[0] == null ? 0n : placeIn(String(row[0]))
    if (place > known) known = place
    return known
  }
  return { server, known: () => known, look }
}

export type Replicas = {
  /** The replica for a read that must see `after`; undefined where the primary must answer. */
  readonly choose: (after: Position | undefined) => Promise<Server | undefined> | Server | undefined
  readonly close: () => Promise<void>
}

/** Waits a moment until the replica has come to a place; false where it does not, or is lost. */
const reaches = async (replica: Replica, place: bigint): Promise<boolean> => {
  const last = performance.now() + shortWait
  try {
    for (;;) {
      if ((await replica.look()) >= place) return true
      if (performance.now() >= last) return false
      await new Promise(resolve => setTimeout(resolve, lookEvery))
    }
  } catch (error) {
    if (error instanceof UnreachableError) return false
    throw error
  }
}

export const createReplicas = (servers: readonly ServerOptions[]): Replicas => {
  const replicas = servers.map(createReplica)
  const best = (): Replica | undefined => {
    let found: Replica | undefined
    for (const replica of replicas) {
      const { shared } = replica.server
      if (shared.isUp() && (!found || shared.waiting() < found.server.shared.waiting()))
        found = replica
    }
    return found
  }
  const choose: Replicas['choose'] = after => {
    const replica = best()
    if (!replica || after === undefined) return replica?.server
    const place = placeIn(after)
    if (replica.known() >= place) return replica.server
    return reaches(replica, place).then(isThere => (isThere ? replica.server : undefined))
  }
  return {
    choose,
    close: async () => {
      await Promise.all(replicas.map(({ server }) => server.close()))
    },
  }
}
