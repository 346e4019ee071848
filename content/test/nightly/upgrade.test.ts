/** A store that is served moves to a newer PostgreSQL, under traffic: deploy/upgrade-postgres.sh. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Service, serve } from '#test/duet.ts'
import { ask, connected } from '#test/postgres/tools/ask.ts'
import { twoVersions } from '#test/postgres/tools/binaries.ts'
import { type Postgres, startPostgres } from '#test/postgres/tools/server.ts'
import { installed } from '#test/support/guard.ts'
import { until } from '#test/support/wait.ts'
import { type Client, clientOf } from '../postgres/rounds/client.ts'
import { prepareOrders } from '../store/racer.ts'
import { secret } from '../world.ts'
import { seenIn } from './cluster/measure.ts'
import { ordersOf, twicePaid } from './cluster/rounds.ts'
import { type Buyer, lostIn, startTraffic, type Traffic } from './cluster/traffic.ts'

const versions = twoVersions()
const script = fileURLToPath(new URL('../../../deploy/upgrade-postgres.sh', import.meta.url))
const skip =
  versions === undefined
    ? 'NOT TESTED: there are no two versions of PostgreSQL here'
    : ['psql', 'pg_dump'].some(name => installed(name) === undefined) &&
      'NOT TESTED: psql or pg_dump is missing: apt-get install postgresql-client'

/** The counts of the store that are not those of its rows. */
const wrongCounts = `select count(*)::int from (
  select sum(n) as n from counts where entity = 'users' and field = ''
  except select count(*) from users) as t`

describe('a store under traffic, on an older PostgreSQL', { skip }, () => {
  let older: Postgres
  let newer: Postgres
  const services: Service[] = []
  let client: Client
  const buyers: Buyer[] = []
  let traffic: Traffic
  const databaseOf = ({ port }: Postgres) => `postgres://postgres@127.0.0.1:${port}/duet`
  const run = async (step: string) => {
    const program = spawn(script, [step, databaseOf(older), databaseOf(newer)])
    const said = Promise.all([text(program.stdout), text(program.stderr)])
    const [code] = await once(program, 'exit')
    const [told, faults] = await said
    return { code, told, faults }
  }

  before(async () => {
    const settings = { fsync: 'off', wal_level: 'logical' }
    older = await startPostgres({ durable: true, settings, binaries: versions?.older ?? '' })
    newer = await startPostgres({ durable: true, settings, binaries: versions?.newer ?? '' })
    await ask(older.url, 'create role duet login')
    await ask(older.url, 'create database duet owner duet')
    await ask(newer.url, 'create database duet')
    const hosts = [older, newer].map(({ port }) => `127.0.0.1:${port}`).join()
    for (const _ of [0, 1])
      services.push(
        await serve(
          {
            DUET_ENV: 'production',
            DUET_DATABASE_URL: `postgres://duet@${hosts}/duet?target_session_attrs=read-write`,
            DUET_AUTH_SECRET: secret,
            DUET_RATE_LIMIT: '0',
          },
          '--migrate',
        ),
      )
    client = clientOf(services[0] as Service)
    while (buyers.length < 8) buyers.push(await prepareOrders(services[0] as Service, 1_000_000))
    const ports = services.map(({ url }) => Number(new URL(url).port))
    traffic = startTraffic({ ports, buyers, name: `upgrade-${Math.random()}` })
  })
  after(async () => {
    await traffic?.end()
    for (const service of services) await service.end()
    await newer?.end()
    await older?.end()
  })

  const read = (position: string) =>
    client.ask('GET /api/posts', { as: 1, headers: { 'Duet-Position': position } })
  let held = ''

  const ordersArePaid = async (count: number) => {
    const enough = traffic.paid.size + count
    await until('orders are paid', () => traffic.paid.size >= enough)
  }

  test('takes writes while it is copied, and again where a switch fails after they were ended [B12]', async () => {
    await ordersArePaid(20)
    const copied = await run('copy')
    assert.equal(copied.code, 0, copied.faults)
    await ordersArePaid(20)
    await ask(older.url, `alter database duet set duet.earlier_timelines = 'none'`)
    const failed = await run('switch')
    await ask(older.url, 'alter database duet reset duet.earlier_timelines')
    assert.equal(failed.code, 1, failed.told)
    assert.match(failed.faults, /not switched: the old database takes writes again/)
    await ordersArePaid(20)
    assert.equal(await ask(databaseOf(older), 'show default_transaction_read_only'), 'off')
  })

  test('is carried to a newer one without a restart: nothing acknowledged is lost, nothing is done twice [B12]', async t => {
    const body = { name: 'Held' }
    const written = await client.ask('PATCH /api/users/1', { as: 1, body })
    held = written.headers.get('duet-position') ?? ''
    assert.notEqual(held, '', written.text)
    traffic.taken()
    const start = performance.now()
    const { code, told, faults } = await run('switch')
    assert.equal(code, 0, faults)
    await ordersArePaid(50)
    const { writesRefused, readsFailed } = seenIn(traffic.taken(), start, undefined)
    await traffic.end()
    t.diagnostic(`${await ask(newer.url, 'show server_version')}: ${told.split('\n')[0]}`)
    t.diagnostic(
      `writes were 503 for ${Math.round(writesRefused)} ms, reads failed for ${Math.round(readsFailed)} ms`,
    )
    const { lost, twice } = lostIn(traffic, await ordersOf({ url: databaseOf(newer) }))
    const doubles = await ask(databaseOf(newer), twicePaid)
    assert.deepEqual(
      { lost, twice, doubles, faults: traffic.faults.slice(0, 3) },
      { lost: 0, twice: 0, doubles: 0, faults: [] },
    )
    t.diagnostic(`${traffic.placed.size + traffic.paid.size} writes acknowledged, none lost`)
  })

  test('keeps its counts, and takes no write on the older one any more [B12]', async () => {
    assert.equal(await ask(databaseOf(newer), wrongCounts), 0)
    const session = await connected(databaseOf(older))
    await assert.rejects(session.query(`update users set name = 'Late' where id = 1`), {
      code: '25006',
    })
    await session.end()
  })

  test('answers a position from before as held, and one beyond the end of the older log as lost [B12]', async () => {
    const status = 'duet-position-status'
    await until(
      'the new timeline is known',
      async () => (await read('1-FFFFFFFF/0')).headers.get(status) === 'lost',
    )
    const { status: code, headers } = await read(held)
    assert.deepEqual([code, headers.get(status)], [200, null])
    const written = await client.ask('PATCH /api/users/1', { as: 1, body: { name: 'New' } })
    const position = written.headers.get('duet-position') ?? ''
    assert.match(position, /^2-/)
    assert.equal((await read(position)).headers.get(status), null)
  })
})
