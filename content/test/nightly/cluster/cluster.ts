/** Three nodes under Patroni and etcd, and what a test wants to know of them. */
import assert from 'node:assert/strict'
import { ask } from '#test/postgres/tools/ask.ts'
import { longest, pause } from '#test/support/wait.ts'
import { type Etcd, startEtcd } from './etcd.ts'
import { type Member, type Node, type Pace, type Replication, startNode } from './node.ts'

export type Cluster = {
  readonly etcd: Etcd
  readonly nodes: readonly Node[]
  /** The URL for a service: all nodes, of which one takes writes. */
  readonly url: string
  /** Tells Patroni how soon to give up what is silent. */
  readonly keepPace: (pace: Pace) => Promise<void>
  /** The node that leads, as Patroni says, where all three are well. */
  readonly whole: () => Promise<Node>
  /** The node besides `old` that takes writes, as soon as it does. */
  readonly successorOf: (old: Node) => Promise<Node>
  readonly end: () => Promise<void>
}

/** Waits for what a cluster does by itself, which takes longer than a test usually waits. */
const eventually = async <Result>(
  what: string,
  find: () => Promise<Result | undefined>,
  every = 200,
): Promise<Result> => {
  const deadline = performance.now() + 5 * longest
  for (;;) {
    const found = await find()
    if (found !== undefined) return found
    assert.ok(performance.now() < deadline, `waited in vain until ${what}`)
    await pause(every)
  }
}

const isLeader = ({ role }: Member) => role === 'leader'
const isUp = ({ state }: Member) => /^(running|streaming)$/.test(state)

/** The leader's name where all three are up and on one timeline, and one of them is synchronous where that is asked for. */
const leaderOf = (members: readonly Member[], replication: Replication): string | undefined => {
  const timelines = new Set(members.map(({ timeline }) => timeline))
  const hasStandby = members.some(({ role }) => role === 'sync_standby')
  const isWhole = members.length === 3 && members.every(isUp) && timelines.size === 1
  if (!isWhole || (replication === 'synchronous' && !hasStandby)) return undefined
  return members.find(isLeader)?.name
}

const takesWrites = async ({ url }: Node): Promise<boolean> => {
  try {
    return (await ask(url, 'select pg_is_in_recovery()')) === false
  } catch {
    return false
  }
}

/** Starts a cluster; resolves when all three are up. */
export const startCluster = async (replication: Replication): Promise<Cluster> => {
  const etcd = await startEtcd()
  const nodes: Node[] = []
  for (const name of ['one', 'two', 'three'])
    nodes.push(await startNode(name, etcd.ports, replication))
  /** Patroni 3.0 may forget which standby is synchronous where etcd was slow: it is asked to choose anew. */
  const chooseAnew = async () => {
    if (replication === 'asynchronous') return
    for (const isOn of [false, true]) {
      await nodes[0]?.ask('PATCH', '/config', { synchronous_mode: isOn }).catch(() => {})
      await pause(5000)
    }
  }
  /** It also waits forever for a node that has more of the log than it should: that is copied anew. */
  const copyAnew = async () => {
    for (const node of nodes) {
      const own = (await node.members())?.find(({ name }) => name === node.name)
      if (own?.state === 'starting') await node.ask('POST', '/reinitialize', { force: true })
    }
  }
  const whole = async () => {
    let lastHelp = performance.now()
    return eventually('all three nodes are well', async () => {
      // One that was cut off may still tell what was.
      const views = await Promise.all(nodes.map(node => node.members()))
      const names = new Set(views.map(members => members && leaderOf(members, replication)))
      const leader = nodes.find(({ name }) => names.size === 1 && names.has(name))
      if (leader && (await takesWrites(leader))) return leader
      if (performance.now() - lastHelp > 45_000) {
        await copyAnew()
        await chooseAnew()
        lastHelp = performance.now()
      }
      return undefined
    })
  }
  const keepPace = async (pace: Pace) => {
    const answer = await (await whole()).ask('PATCH', '/config', pace)
    assert.equal(answer.status, 200, await answer.text())
  }
  const successorOf = (old: Node) =>
    eventually(
      'another node takes writes',
      async () => {
        for (const node of nodes) if (node !== old && (await takesWrites(node))) return node
        return undefined
      },
      20,
    )
  const end = async () => {
    await Promise.all(nodes.map(node => node.end()))
    await etcd.end()
  }
  const hosts = nodes.map(({ host }) => host).join()
  const url = `postgres://postgres@${hosts}/postgres?target_session_attrs=read-write`
  try {
    await whole()
  } catch (error) {
    await end()
    throw error
  }
  return { etcd, nodes, url, keepPace, whole, successorOf, end }
}
