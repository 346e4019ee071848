/** A streaming replica of a test's server, whose replay can be held up. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { guarded } from '../../support/guard.ts'
import { until } from '../../support/wait.ts'
import { ask } from './ask.ts'
import { postgresBinaries } from './binaries.ts'
import { type Address, noPostgres, type Postgres, postmaster, toItsEnd } from './server.ts'

export type Replica = Postgres & {
  /** Holds it in the past: it goes on to receive, but shows nothing of it. */
  readonly pauseReplay: () => Promise<void>
  readonly resumeReplay: () => Promise<void>
  /** Waits until it has received all that the primary has committed until now, whether it shows it or not. */
  readonly received: () => Promise<void>
  /** Waits until it shows all that the primary has committed until now. */
  readonly caughtUp: () => Promise<void>
}

/** Why no replica can be made here, for a test that needs one to skip with; false if it can. */
export const noReplica: string | false =
  noPostgres ||
  (!existsSync(join(postgresBinaries() ?? '', 'pg_basebackup')) &&
    'PostgreSQL has no pg_basebackup here: apt-get install postgresql')

/** Copies the primary and follows it from then on, on a port of its own unless told otherwise. */
export const startReplica = async (primary: Postgres, at?: Address): Promise<Replica> => {
  const isDurable = primary.settings.fsync !== 'off'
  const guard = guarded('replica', 'QUIT', !isDurable)
  const data = join(guard.folder, 'data')
  const copy = ['-d', primary.url, '-D', data, '-R', '-X', 'stream', '-c', 'fast', '--no-sync']
  await toItsEnd(guard, join(primary.binaries, 'pg_basebackup'), copy)
  // It looks for a primary that was away this often; 5 s if nothing is said.
  const settings = { ...primary.settings, wal_retrieve_retry_interval: '100ms' }
  const server = await postmaster(guard, primary.binaries, settings, at)
  // Not spread into a new one: its `pid` changes with each start.
  return Object.assign(server, {
    pauseReplay: async () => {
      await ask(server.url, 'select pg_wal_replay_pause()')
      const state = () => ask(server.url, 'select pg_get_wal_replay_pause_state()')
      await until('the replay stands', async () => (await state()) === 'paused')
    },
    resumeReplay: async () => {
      // What it replays may cancel any query.
      const resume = () => ask(server.url, 'select pg_wal_replay_resume()')
      await until('the replay goes on', async () => {
        const isCancelled = (error: { code?: unknown }) => error.code === '40001'
        return await resume().then(
          () => true,
          error => (isCancelled(error) ? false : Promise.reject(error)),
        )
      })
    },
    received: () => follows(primary, server, 'receive'),
    caughtUp: () => follows(primary, server, 'replay'),
  })
}

async function follows(
  primary: Postgres,
  replica: Postgres,
  how: 'receive' | 'replay',
): Promise<void> {
  // A server that is not durable writes its log when it likes; this commit has it written so far.
  const settings = encodeURIComponent('-c synchronous_commit=local')
  const mark = `select pg_logical_emit_message(true, 'test', '')`
  const position = await ask(`${primary.url}?options=${settings}`, mark)
  const isThere = async () =>
    (await ask(replica.url, `select pg_last_wal_${how}_lsn() >= '${position}'`)) === true
  await until(`the replica has come to ${how} all`, isThere)
}
