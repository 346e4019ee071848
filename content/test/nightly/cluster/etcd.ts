/** Three members of an etcd, of which one leads. */
import { join } from 'node:path'
import { guarded, installed, type Running } from '#test/support/guard.ts'
import { freePort } from '#test/support/ports.ts'
import { until } from '#test/support/wait.ts'

export type Etcd = {
  readonly ports: readonly number[]
  /** Kills the one that leads, and gives the function that starts it again. */
  readonly killLeader: () => Promise<() => void>
  readonly end: () => Promise<void>
}

/** Why there is no etcd here; false if there is. */
export const noEtcd: string | false =
  installed('etcd') === undefined && 'etcd is not installed: apt-get install etcd-server'

type Status = { readonly leader: string; readonly header: { readonly member_id: string } }

const statusOf = async (port: number): Promise<Status | undefined> => {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/v3/maintenance/status`, {
      method: 'POST',
      body: '{}',
      signal: AbortSignal.timeout(5000),
    })
    return (await response.json()) as Status
  } catch {
    return undefined
  }
}

/** Whether the members have agreed on a version; Patroni ends where they have not. */
const hasVersion = async (port: number): Promise<boolean> => {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/version`)
    return /^\d/.test(((await response.json()) as { etcdcluster: string }).etcdcluster)
  } catch {
    return false
  }
}

/** Starts the three; resolves when they agree. */
export const startEtcd = async (): Promise<Etcd> => {
  const names = ['one', 'two', 'three']
  const members = await Promise.all(
    names.map(async name => ({
      name,
      port: await freePort(),
      peerPort: await freePort(),
      guard: guarded('etcd', 'TERM'),
    })),
  )
  const all = members.map(({ name, peerPort }) => `${name}=http://127.0.0.1:${peerPort}`).join()
  const start = ({ name, port, peerPort, guard }: (typeof members)[number]): Running => {
    const [url, peerUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`]
    const options = {
      name,
      'data-dir': join(guard.folder, 'data'),
      'listen-client-urls': url,
      'advertise-client-urls': url,
      'listen-peer-urls': peerUrl,
      'initial-advertise-peer-urls': peerUrl,
      'initial-cluster': all,
      // A busy machine keeps its leader.
      'heartbeat-interval': '200',
      'election-timeout': '2000',
    }
    const args = Object.entries(options).map(([option, value]) => `--${option}=${value}`)
    const running = guard.run(installed('etcd') ?? '', args)
    running.child.unref()
    return running
  }
  const running = members.map(start)
  const ports = members.map(({ port }) => port)
  for (const port of ports) await until('etcd agrees', () => hasVersion(port))
  return {
    ports,
    killLeader: async () => {
      const statuses = await Promise.all(ports.map(statusOf))
      const at = statuses.findIndex(status => status?.leader === status?.header.member_id)
      const member = members[at]
      if (!member) throw new Error('etcd has no leader')
      running[at]?.child.kill('SIGKILL')
      await running[at]?.ended
      return () => {
        running[at] = start(member)
      }
    },
    end: async () => {
      await Promise.all(members.map(({ guard }) => guard.end()))
    },
  }
}
