/** Finds the replicas of a primary, as they come and go. */
import { serversIn } from '#base/hosts.ts'
import { isObject } from '#base/object.ts'
import type { Hosts } from '#engines/postgres/connection/hosts.ts'
import type { Server } from '#engines/postgres/read/server.ts'
import { queryWith } from '#sql/engine.ts'

/** How long Patroni may take to answer, in milliseconds. */
const patience = 1000

// The addresses are null without the right to see them (pg_monitor).
const followers = queryWith(
  `select host(client_addr) from pg_stat_replication where state = 'streaming' and client_addr is not null`,
)

/** The same URL for another server. */
const urlAt = (url: string, host: string, port: string): string => {
  const moved = new URL(url)
  moved.host = `${host.includes(':') ? `[${host}]` : host}:${port}`
  return moved.href
}

/** The members of the cluster, by whichever of Patroni's REST endpoints answers first. */
const membersBy = (endpoints: readonly string[]): Promise<readonly unknown[]> =>
  Promise.any(
    endpoints.map(async endpoint => {
      const response = await fetch(new URL('/cluster', endpoint), {
        signal: AbortSignal.timeout(patience),
      })
      const { members } = (await response.json()) as { readonly members: readonly unknown[] }
      return members
    }),
  )

/** Whether Patroni says of a member that it follows the leader and takes reads. */
const isFollower = (member: unknown) =>
  isObject(member) &&
  /^(replica|sync_standby|quorum_standby)$/.test(String(member.role)) &&
  /^(running|streaming)$/.test(String(member.state)) &&
  !(isObject(member.tags) && member.tags.noloadbalance === true)

type Sources = {
  /** The URL of the setting, with one server or several. */
  readonly url: string
  /** Patroni's REST endpoints; none: the servers are asked themselves. */
  readonly patroni: readonly string[]
}

/**
 * A function that gives the URLs of the replicas: of Patroni's members; or the servers in the URL besides the primary; or
 * what streams from the primary, on its port. Throws where none of them answers.
 */
export const discovering =
  ({ url, patroni }: Sources, hosts: Hosts, primary: Server) =>
  async (): Promise<readonly string[]> => {
    const here = hosts.current()
    if (patroni.length > 0) {
      const members = await membersBy(patroni)
      return members.flatMap(member =>
        isFollower(member) && isObject(member)
          ? [urlAt(here, String(member.host), String(member.port))]
          : [],
      )
    }
    const others = serversIn(url).filter(one => one !== here)
    if (others.length > 0) return others
    const { port, href } = new URL(here)
    const rows = await primary.pipelined.query(followers)
    const found = rows.map(([host]) => urlAt(here, String(host), port || '5432'))
    return [...new Set(found)].filter(one => one !== href)
  }
