/** `DUET_REPLICA_URLS=auto` with one server in the URL: its replicas are what streams from it, each at an address of its own. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { command } from '#test/commands.ts'
import { type Service, serve } from '#test/duet.ts'
import { ask } from '#test/postgres/tools/ask.ts'
import { noReplica, type Replica, startReplica } from '#test/postgres/tools/replica.ts'
import { type Postgres, startPostgres } from '#test/postgres/tools/server.ts'
import { freePort, urlAt } from '#test/support/ports.ts'
import { until } from '#test/support/wait.ts'
import { secret } from '../world.ts'
import { type Client, clientOf } from './rounds/client.ts'

/** The address of the replica: the loopback network has more than one, though not on every system. */
const host = '127.0.0.2'

const noAddress: string | false = await new Promise(resolve => {
  const server = createServer()
    .once('error', () =>
      resolve(`this machine has no address ${host}: sudo ifconfig lo0 alias ${host}`),
    )
    .listen(0, host, () => server.close(() => resolve(false)))
})

const urlOf = ({ url }: Postgres, database: string) => url.replace(/postgres$/, database)

/** A way to a server on which it sees the replica's address as that of the client. */
const startWay = async (port: number): Promise<{ readonly way: Server; readonly port: number }> => {
  const way = createServer(client => {
    const server = connect({ port, host: '127.0.0.1', localAddress: host })
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const)
      one
        .on('error', () => {})
        .on('close', () => other.destroy())
        .pipe(other)
  }).listen(await freePort(), '127.0.0.1')
  await once(way, 'listening')
  return { way, port: (way.address() as { readonly port: number }).port }
}

describe('a service that is told of the primary alone', { skip: noReplica || noAddress }, () => {
  let primary: Postgres
  let way: Server
  let replica: Replica
  let service: Service
  let client: Client

  before(async () => {
    primary = await startPostgres({
      durable: true,
      settings: { fsync: 'off', max_standby_streaming_delay: '0' },
    })
    const rules = ['all', 'replication'].map(what => `host ${what} all 127.0.0.0/8 trust\n`)
    appendFileSync(join(primary.folder, 'data/pg_hba.conf'), rules.join(''))
    for (const sql of [
      'select pg_reload_conf()',
      'create role duet login',
      'create database duet owner duet',
    ])
      await ask(primary.url, sql)
    const opened = await startWay(primary.port)
    way = opened.way
    replica = await startReplica(
      { ...primary, url: urlAt(primary.url, opened.port) },
      { host, port: primary.port },
    )
    const settings = {
      DUET_DATABASE_URL: `postgres://duet@127.0.0.1:${primary.port}/duet`,
      DUET_REPLICA_URLS: 'auto',
      DUET_AUTH_SECRET: secret,
    }
    assert.equal((await command(['migrate'], settings)).code, 0)
    assert.equal((await command(['seed'], settings)).code, 0)
    // As a store has it that was moved here from another system, whose log was left at FF/0.
    const moved = `insert into timelines select 'another', 3, null
      union all select system_identifier::text, 4, 'FF/0' from pg_control_system()`
    await ask(urlOf(primary, 'duet'), moved)
    await ask(primary.url, 'alter database duet set duet.earlier_timelines = 3')
    service = await serve(settings)
    client = clientOf(service)
  })
  after(async () => {
    await service?.end()
    await replica?.end()
    way?.close()
    await primary?.end()
  })

  let names = 0
  const read = (position = '') =>
    client.ask('GET /api/users/2', {
      as: 1,
      headers: position === '' ? {} : { 'Duet-Position': position },
    })
  /** Whether a read, of that position, sees a write that the replica does not have yet. */
  const seesAtOnce = async (position = '') => {
    await replica.pauseReplay()
    try {
      const body = { name: `Name ${++names}` }
      const { status, text } = await client.ask('PATCH /api/users/2', { as: 1, body })
      assert.equal(status, 200, text)
      return (await read(position)).json.name === body.name
    } finally {
      await replica.resumeReplay()
      await replica.caughtUp()
    }
  }

  test('reads from the primary alone while its user may not see where the replicas are', async () => {
    assert.equal(await ask(primary.url, 'select host(client_addr) from pg_stat_replication'), host)
    assert.ok(await seesAtOnce())
  })

  test('reads from what streams from the primary, at the port of the primary, as soon as its user may see it', async () => {
    await ask(primary.url, 'grant pg_monitor to duet')
    await until('the replica is used', async () => !(await seesAtOnce()))
  })

  test('reads from it with a position of an earlier system too, as far as that was carried over', async () => {
    const status = 'duet-position-status'
    assert.ok(!(await seesAtOnce('3-FE/0')))
    assert.equal((await read('3-FE/0')).headers.get(status), null)
    assert.equal((await read('3-FF/1')).headers.get(status), 'lost')
    assert.ok(await seesAtOnce('3-FF/1'))
  })

  test('gives positions whose timelines are counted on, which the replica is waited for', async () => {
    const body = { name: `Name ${++names}` }
    const { headers } = await client.ask('PATCH /api/users/2', { as: 1, body })
    const position = headers.get('duet-position') ?? ''
    assert.match(position, /^4-/)
    assert.equal((await read(position)).json.name, body.name)
  })

  test('goes on without a replica that has gone, and uses it again when it is back', async () => {
    await replica.stop('fast')
    await until('it has left the list', async () => {
      assert.equal((await read()).status, 200)
      return (await ask(primary.url, 'select count(*)::int from pg_stat_replication')) === 0
    })
    assert.equal((await read()).json.name, `Name ${names}`)
    await replica.start()
    await until('the replica is used', async () => !(await seesAtOnce()))
  })
})
