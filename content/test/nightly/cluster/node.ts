/** A node of the cluster: a PostgreSQL that Patroni runs, each of its ways to others through a gate. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { postgresBinaries } from '#test/postgres/tools/binaries.ts'
import { guarded, installed, type Running } from '#test/support/guard.ts'
import { freePort } from '#test/support/ports.ts'
import { startGate } from './gate.ts'

/** Why there is no Patroni here; false if there is. */
export const noPatroni: string | false =
  (installed('patroni') === undefined || postgresBinaries() === undefined) &&
  'Patroni is not installed: apt-get install patroni python3-etcd postgresql'

export type Member = {
  readonly name: string
  readonly role: string
  readonly state: string
  readonly timeline?: number
}

export type Node = {
  readonly name: string
  /** Of its PostgreSQL, past all gates. */
  readonly url: string
  /** Where a service reaches its PostgreSQL. */
  readonly host: string
  /** Patroni's REST endpoint, past all gates. */
  readonly rest: string
  /** What Patroni says of the cluster; undefined where it does not answer. */
  readonly members: () => Promise<readonly Member[] | undefined>
  readonly ask: (method: 'POST' | 'PATCH', path: string, body: unknown) => Promise<Response>
  /** Kills PostgreSQL, and Patroni too where the whole machine is meant. */
  readonly kill: (what: 'postgres' | 'machine') => Promise<void>
  /** Starts Patroni again where it is not running. */
  readonly start: () => void
  /** Holds Patroni still, so that it demotes nothing. */
  readonly freeze: () => void
  /** Cuts it off from the cluster, and from the services too where `all` is meant. */
  readonly cutOff: (from: 'cluster' | 'all') => void
  readonly heal: () => void
  readonly end: () => Promise<void>
}

type Ports = { readonly postgres: number; readonly rest: number }
type Gates = { readonly postgres: number; readonly rest: number; readonly etcd: readonly number[] }

/** How soon Patroni gives up what is silent, in seconds. */
export type Pace = Readonly<Record<'ttl' | 'loop_wait' | 'retry_timeout', number>>

export const brisk: Pace = { ttl: 8, loop_wait: 1, retry_timeout: 3 }

// As long as the others allow: a machine that is busy with all of this is slow.
export const calm: Pace = { ttl: 20, loop_wait: 1, retry_timeout: 9 }

/** Whether commits wait for a standby. */
export type Replication = 'synchronous' | 'asynchronous'

const configuration = (
  name: string,
  folder: string,
  own: Ports,
  gates: Gates,
  replication: Replication,
) => ({
  scope: 'duet',
  name,
  restapi: { listen: `127.0.0.1:${own.rest}`, connect_address: `127.0.0.1:${gates.rest}` },
  // Past the gates of this node alone, whatever the members say of themselves.
  etcd3: { hosts: gates.etcd.map(port => `127.0.0.1:${port}`), use_proxies: true },
  bootstrap: {
    dcs: {
      ...calm,
      maximum_lag_on_failover: 100_000_000,
      // A primary that crashed is replaced, not waited for.
      primary_start_timeout: 0,
      master_start_timeout: 0,
      synchronous_mode: replication === 'synchronous',
      postgresql: { use_pg_rewind: true, use_slots: true },
    },
    initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
  },
  postgresql: {
    listen: `127.0.0.1:${own.postgres}`,
    connect_address: `127.0.0.1:${gates.postgres}`,
    data_dir: join(folder, 'data'),
    bin_dir: postgresBinaries(),
    pgpass: join(folder, 'pgpass'),
    authentication: {
      superuser: { username: 'postgres', password: 'p' },
      replication: { username: 'replicator', password: 'r' },
    },
    pg_hba: [
      'local all all trust',
      'host all all 127.0.0.1/32 trust',
      'host replication all 127.0.0.1/32 trust',
    ],
    basebackup: [{ checkpoint: 'fast' }, { 'max-rate': '100M' }],
    parameters: {
      unix_socket_directories: folder,
      dynamic_shared_memory_type: 'mmap',
      max_connections: 100,
      shared_buffers: '64MB',
      wal_keep_size: '512MB',
      wal_retrieve_retry_interval: '500ms',
      // Programs are killed here, never the machine.
      fsync: 'off',
    },
  },
  tags: { nofailover: false },
})

/** Starts a node; the first of a cluster makes the database, the others copy it. */
export const startNode = async (
  name: string,
  etcd: readonly number[],
  replication: Replication,
): Promise<Node> => {
  const guard = guarded('patroni', 'TERM')
  const own: Ports = { postgres: await freePort(), rest: await freePort() }
  const [peers, rest, services] = [
    await startGate(own.postgres),
    await startGate(own.rest),
    await startGate(own.postgres),
  ]
  const toEtcd = await Promise.all(etcd.map(startGate))
  const gates = { postgres: peers.port, rest: rest.port, etcd: toEtcd.map(({ port }) => port) }
  const file = join(guard.folder, 'patroni.yml')
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(configuration(name, guard.folder, own, gates, replication)))
  let running: Running | undefined
  const start = () => {
    if (running && !running.gone()) return
    running = guard.run(installed('patroni') ?? '', [file])
    running.child.unref()
  }
  start()
  const killPostgres = () => {
    try {
      const [pid] = readFileSync(join(guard.folder, 'data/postmaster.pid'), 'utf8').split('\n')
      process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It does not run.
    }
  }
  // Patroni leaves it running where it is itself killed.
  process.once('exit', killPostgres)
  const inner = [peers, rest, ...toEtcd]
  const restUrl = `http://127.0.0.1:${own.rest}`
  return {
    name,
    url: `postgres://postgres@127.0.0.1:${own.postgres}/postgres`,
    host: `127.0.0.1:${services.port}`,
    rest: restUrl,
    members: async () => {
      try {
        const response = await fetch(`${restUrl}/cluster`, { signal: AbortSignal.timeout(5000) })
        return ((await response.json()) as { members: Member[] }).members
      } catch {
        return undefined
      }
    },
    ask: (method, path, body) => fetch(`${restUrl}${path}`, { method, body: JSON.stringify(body) }),
    kill: async what => {
      if (what === 'machine') running?.child.kill('SIGKILL')
      killPostgres()
      if (what === 'machine') await running?.ended
    },
    start,
    freeze: () => void running?.child.kill('SIGSTOP'),
    cutOff: from => {
      if (from === 'all') for (const gate of [...inner, services]) gate.shut()
      // Not in silence: Patroni's pg_rewind would wait for it, and nobody would lead.
      else for (const gate of inner) gate.refuse()
    },
    heal: () => {
      for (const gate of [...inner, services]) gate.open()
    },
    end: async () => {
      running?.child.kill('SIGKILL')
      killPostgres()
      for (const gate of [...inner, services]) gate.end()
      await guard.end()
    },
  }
}
