/** Rounds of each kind on a cluster under traffic. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Service, type Settings, serve } from '../../duet.ts'
import { ask, connected } from '../../postgres/tools/ask.ts'
import { freePort } from '../../postgres/tools/guard.ts'
import { prepareOrders } from '../../store/racer.ts'
import { pause, until } from '../../support/wait.ts'
import { secret } from '../../world.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { refusalsIn, rowOf, type Seen, seenIn } from './measure.ts'
import type { Node, Replication } from './node.ts'
import { type Answer, type Buyer, lostIn, type Order, startTraffic } from './traffic.ts'

/** Two services on a cluster; each can be killed and started again on its port. */
export type Stage = {
  readonly cluster: Cluster
  readonly ports: readonly number[]
  readonly services: Service[]
  readonly serveOn: (at: number) => Promise<void>
  readonly buyers: readonly Buyer[]
  readonly end: () => Promise<void>
}

/** Starts a cluster and two services on it, one of which asks Patroni for the replicas. */
export const startStage = async (replication: Replication): Promise<Stage> => {
  const cluster = await startCluster(replication)
  const ports = [await freePort(), await freePort()]
  const settings: Settings = {
    DUET_ENV: 'production',
    DUET_DATABASE_URL: cluster.url,
    DUET_REPLICA_URLS: 'auto',
    DUET_AUTH_SECRET: secret,
    DUET_RATE_LIMIT: '0',
    DUET_READ_TIMEOUT: '5000',
    DUET_QUEUE_WAIT: '5000',
  }
  const services: Service[] = []
  const serveOn = async (at: number) => {
    const own = at === 1 ? { DUET_PATRONI_URLS: cluster.nodes.map(({ rest }) => rest).join() } : {}
    services[at] = await serve({ ...settings, ...own, DUET_PORT: String(ports[at]) }, '--migrate')
  }
  await serveOn(0)
  await serveOn(1)
  const buyers: Buyer[] = []
  while (buyers.length < 32) buyers.push(await prepareOrders(services[0] as Service, 1_000_000))
  const end = async () => {
    await Promise.all(services.map(service => service.end('SIGKILL')))
    await cluster.end()
  }
  return { cluster, ports, services, serveOn, buyers, end }
}

/** Does something to the cluster; gives the moment when its new primary took writes, and how to undo it. */
type Fault = (
  stage: Stage,
  leader: Node,
  number: number,
) => Promise<{ readonly back?: number; readonly undo?: () => Promise<void> | void }>

const replaced = async ({ cluster }: Stage, leader: Node) => {
  await cluster.successorOf(leader)
  return performance.now()
}

/** The kinds of rounds, by name. */
export const faults = {
  'primary killed': async (stage, leader, number) => {
    leader.kill(number % 2 === 0 ? 'postgres' : 'machine')
    return { back: await replaced(stage, leader), undo: leader.start }
  },
  'network of the primary cut': async (stage, leader) => {
    leader.cutOff('all')
    return { back: await replaced(stage, leader), undo: leader.heal }
  },
  // Nobody tells it that it was replaced, and the services still reach it.
  'primary cut off from its cluster alone': async (stage, leader) => {
    leader.freeze()
    leader.cutOff('cluster')
    const back = await replaced(stage, leader)
    const undo = () => {
      leader.thaw()
      leader.heal()
    }
    return { back, undo }
  },
  'planned switchover': async (stage, leader) => {
    const asked = leader.ask('POST', '/switchover', { leader: leader.name })
    const back = await replaced(stage, leader)
    const { status } = await asked
    assert.equal(status, 200)
    return { back }
  },
  'standby killed': async ({ cluster }, leader, number) => {
    const standbys = cluster.nodes.filter(node => node !== leader)
    const standby = standbys[number % 2] as Node
    standby.kill('machine')
    await pause(3000)
    return { undo: standby.start }
  },
  'leader of etcd killed': async ({ cluster }) => {
    const undo = await cluster.etcd.killLeader()
    await pause(5000)
    return { undo }
  },
  'both services killed': async ({ services, serveOn }) => {
    for (const at of [0, 1]) {
      await services[at]?.end('SIGKILL')
      await serveOn(at)
    }
    return {}
  },
} satisfies Record<string, Fault>

/** The orders of the store, as the primary has them. */
const ordersOf = async (node: Node): Promise<Map<number, Order>> => {
  const client = await connected(node.url)
  try {
    const { rows } = await client.query('select id, status, created_at from orders')
    return new Map(
      rows.map(({ id, status, created_at }) => [
        Number(id),
        { status, createdAt: Number(created_at) },
      ]),
    )
  } finally {
    await client.end()
  }
}

const twicePaid = `select count(*)::int from (select order_id from order_events
  group by order_id, to_status having count(*) > 1) as t`

/** So many rounds of a kind under traffic; gives what was lost, what was done twice, and what callers saw. */
export const roundsOf = async (stage: Stage, kind: keyof typeof faults, count: number) => {
  const { cluster, ports, buyers } = stage
  const fault: Fault = faults[kind]
  const before = new Set((await ordersOf(await cluster.whole())).keys())
  const name = `${kind.replaceAll(' ', '-')}-${Math.random()}`
  const traffic = startTraffic({ ports, buyers, name })
  const seen: Seen[] = []
  const all: Answer[] = []
  try {
    for (let number = 0; number < count; number++) {
      const leader = await cluster.whole()
      const enough = traffic.paid.size + 10
      await until('orders are paid', () => traffic.paid.size >= enough)
      traffic.taken()
      const start = performance.now()
      const { back, undo } = await fault(stage, leader, number)
      try {
        const since = traffic.paid.size
        await until('orders are paid again', () => traffic.paid.size > since + 10)
        await sleep(1000)
      } finally {
        await undo?.()
      }
      const answers = traffic.taken()
      seen.push(seenIn(answers, start, back))
      all.push(...answers)
    }
  } finally {
    await traffic.end()
  }
  const leader = await cluster.whole()
  const orders = await ordersOf(leader)
  for (const id of before) orders.delete(id)
  const { lost, twice } = lostIn(traffic, orders)
  const doubles = Number(await ask(leader.url, twicePaid))
  return {
    row: { ...rowOf(kind, seen), acknowledged: traffic.placed.size + traffic.paid.size },
    refusals: refusalsIn(all),
    lost,
    twice: twice + doubles,
    faults: traffic.faults,
  }
}
