/** Rounds of each kind on a cluster under traffic. */
import assert from 'node:assert/strict'
import { type Random, randomFrom } from '#content/seed/seed.ts'
import { type Service, type Settings, serve } from '#test/duet.ts'
import { ask, connected } from '#test/postgres/tools/ask.ts'
import { freePort } from '#test/support/ports.ts'
import { pause, until } from '#test/support/wait.ts'
import { prepareOrders } from '../../store/racer.ts'
import { secret } from '../../world.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { refusalsIn, type Seen, seenIn } from './measure.ts'
import { brisk, calm, type Node, type Pace, type Replication } from './node.ts'
import {
  type Answer,
  type Buyer,
  lostIn,
  type Order,
  startTraffic,
  type Traffic,
} from './traffic.ts'

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
    DUET_WRITE_WAIT: '5s',
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
  random: Random,
) => Promise<{ readonly back?: number; readonly undo?: () => Promise<void> | void }>

const oneOf = <One>(random: Random, ...some: readonly One[]): One =>
  some[Math.floor(random() * some.length)] as One

const replaced = async ({ cluster }: Stage, leader: Node) => {
  await cluster.successorOf(leader)
  return performance.now()
}

/** The kinds of rounds, by name. */
export const faults = {
  'primary killed': async (stage, leader, random) => {
    await leader.kill(oneOf(random, 'postgres', 'machine'))
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
    // As a watchdog does it: a Patroni before 3.0.3 that goes on takes the lead back, and what was written since is lost.
    const undo = async () => {
      await leader.kill('machine')
      leader.heal()
      leader.start()
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
  'standby killed': async ({ cluster }, leader, random) => {
    const standby = oneOf(random, ...cluster.nodes.filter(node => node !== leader))
    await standby.kill('machine')
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
      // Without a primary at that moment it ends at once, and a supervisor starts it again.
      const isUp = () =>
        serveOn(at).then(
          () => true,
          () => false,
        )
      await until('the service is started again', isUp)
    }
    return {}
  },
} satisfies Record<string, Fault>

/** The orders of the store, as the primary has them. */
export const ordersOf = async (node: Pick<Node, 'url'>): Promise<Map<number, Order>> => {
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

/** The statement that counts what was paid twice. */
export const twicePaid = `select count(*)::int from (select order_id from order_events
  group by order_id, to_status having count(*) > 1) as t`

/** Patroni waits for a silent primary no longer than `ttl`: as short as a busy machine bears, where a round waits for it. */
const paces: Readonly<Partial<Record<keyof typeof faults, Pace>>> = {
  'primary killed': brisk,
  'network of the primary cut': brisk,
  'primary cut off from its cluster alone': brisk,
}

/** One round under traffic; gives its answers and what callers saw. */
const roundOf = async (stage: Stage, fault: Fault, traffic: Traffic, random: Random) => {
  const leader = await stage.cluster.whole()
  const enough = traffic.paid.size + 10
  await until('orders are paid', () => traffic.paid.size >= enough)
  await pause(random() * 1000)
  traffic.taken()
  const start = performance.now()
  const { back, undo } = await fault(stage, leader, random)
  try {
    const since = traffic.paid.size
    await until('orders are paid again', () => traffic.paid.size > since + 10)
  } finally {
    await undo?.()
  }
  const answers = traffic.taken()
  return { answers, seen: seenIn(answers, start, back) }
}

type Wanted = { readonly kind: keyof typeof faults; readonly count: number; readonly seed: number }

/** So many rounds of a kind under traffic, at moments that follow from the seed; gives what was lost, what was done twice, and what callers saw. */
export const roundsOf = async (stage: Stage, { kind, count, seed }: Wanted) => {
  const { cluster, ports, buyers } = stage
  const random = randomFrom(seed)
  await cluster.keepPace(paces[kind] ?? calm)
  const before = new Set((await ordersOf(await cluster.whole())).keys())
  const name = `${kind.replaceAll(' ', '-')}-${Math.random()}`
  const traffic = startTraffic({ ports, buyers, name })
  const rounds: { readonly answers: readonly Answer[]; readonly seen: Seen }[] = []
  try {
    while (rounds.length < count) rounds.push(await roundOf(stage, faults[kind], traffic, random))
  } finally {
    await traffic.end()
  }
  const leader = await cluster.whole()
  const orders = await ordersOf(leader)
  for (const id of before) orders.delete(id)
  const { lost, twice } = lostIn(traffic, orders)
  const doubles = Number(await ask(leader.url, twicePaid))
  return {
    seen: rounds.map(({ seen }) => seen),
    refusals: refusalsIn(rounds.flatMap(({ answers }) => answers)),
    acknowledged: traffic.placed.size + traffic.paid.size,
    lost,
    twice: twice + doubles,
    faults: traffic.faults,
  }
}

export type Rounds = Awaited<ReturnType<typeof roundsOf>>
