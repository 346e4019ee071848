/** A primary with a replica and a service on both, for the tests of a file. */
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { type Service, type Settings, serve } from '#test/duet.ts'
import { noReplica, type Replica, startReplica } from '#test/postgres/tools/replica.ts'
import { type Postgres, startPostgres } from '#test/postgres/tools/server.ts'
import { pause, until } from '#test/support/wait.ts'
import { secret } from '../../world.ts'
import { type Client, clientOf } from '../rounds/client.ts'

/** Starts all three before the tests; what is started is there from then on. */
export const replicated = () => {
  const skip = noReplica
  let primary: Postgres
  let replica: Replica
  let service: Service
  let asked: Client
  const client: Pick<Client, 'ask' | 'gql'> = {
    ask: (...of) => asked.ask(...of),
    gql: (...of) => asked.gql(...of),
  }

  const settingsWith = (...replicas: readonly string[]): Settings => ({
    DUET_DATABASE_URL: primary.url,
    DUET_AUTH_SECRET: secret,
    ...(replicas.length > 0 && { DUET_REPLICA_URLS: replicas.join() }),
  })

  before(async () => {
    if (skip) return
    // A commit is in the log when it is answered, as in production; and a replica waits for no read with what it is sent.
    primary = await startPostgres({
      durable: true,
      settings: { fsync: 'off', max_standby_streaming_delay: '0' },
    })
    const first = await serve(settingsWith(), '--migrate')
    await first.end()
    replica = await startReplica(primary)
    service = await serve({
      ...settingsWith(replica.url),
      DUET_METRICS_PORT: '0',
      DUET_LOG: 'warn',
    })
    asked = clientOf(service)
    await until('the replica is used', isUsed)
  })
  after(async () => {
    if (skip) return
    await service?.end()
    await replica?.end()
    await primary?.end()
  })

  let names = 0
  /** Renames the user 2; gives the name and the position. */
  const rename = async (by = client) => {
    const name = `Name ${++names}`
    const written = await by.ask('PATCH /api/users/2', { as: 1, body: { name } })
    assert.equal(written.status, 200, written.text)
    return { name, position: written.headers.get('duet-position') ?? '' }
  }

  const nameOf = async (headers: Record<string, string> = {}, by = client) =>
    (await by.ask('GET /api/users/2', { as: 1, headers })).json.name

  /** Whether reads are answered by the replica: while it is held up, they do not see what was just written. */
  const isUsed = (): Promise<boolean> =>
    inThePast(async () => {
      const { name } = await rename()
      return (await nameOf()) !== name
    })

  /** Does something while the replica stays where it is. */
  const inThePast = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    await replica.pauseReplay()
    try {
      return await work()
    } finally {
      await replica.resumeReplay()
      await replica.caughtUp()
    }
  }

  /** Reads of every kind, one after another in some lanes, until `work` is done; fails where one is not answered. */
  const whileReading = async (work: (more: () => Promise<void>) => unknown): Promise<number> => {
    let reads = 0
    let isOver = false
    const failures: string[] = []
    const lane = async () => {
      for (let number = 0; !isOver; number++) {
        const answered = await [
          () => client.ask('GET /api/users/2', { as: 1 }),
          () => client.ask('GET /api/users?search=e', { as: 1 }),
          () => client.gql('{ users { name posts { comments { text } } } }', { as: 1 }),
          () => client.ask('POST /api/reports/generate', { as: 1, body: { type: 'sales' } }),
          () => client.ask('GET /api/users/1/avatar'),
        ][number % 5]?.()
        reads++
        if (answered?.status !== 200 || answered.json?.errors) failures.push(answered?.text ?? '')
        // The replica comes and goes in its own time, and needs the processor too.
        await pause(10)
      }
    }
    const more = () => {
      const enough = reads + 80
      return until('80 more reads are answered', () => reads >= enough)
    }
    const lanes = Array.from({ length: 8 }, lane)
    try {
      await work(more)
    } finally {
      isOver = true
      await Promise.all(lanes)
    }
    assert.deepEqual([...new Set(failures)], [], `${failures.length} of ${reads} reads`)
    return reads
  }

  return {
    settingsWith,
    rename,
    nameOf,
    isUsed,
    inThePast,
    whileReading,
    primary: () => primary,
    replica: () => replica,
    service: () => service,
    client,
  }
}
