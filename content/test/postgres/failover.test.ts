/** One URL with several servers: where its primary is, when another takes its place, and what a commit without standbys is worth. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { command } from '#test/commands.ts'
import { type Service, type Settings, serve, start } from '#test/duet.ts'
import { ask } from '#test/postgres/tools/ask.ts'
import { noReplica, type Replica, startReplica } from '#test/postgres/tools/replica.ts'
import { type Postgres, startPostgres } from '#test/postgres/tools/server.ts'
import { freePort } from '#test/support/ports.ts'
import { until } from '#test/support/wait.ts'
import { secret } from '../world.ts'
import { type Client, clientOf } from './rounds/client.ts'

const sessionsOn = ({ url }: Postgres) =>
  ask(url, "select count(*)::int from pg_stat_activity where application_name = 'duet'")

describe('a service that is told of two servers', { skip: noReplica }, () => {
  let first: Postgres
  let second: Replica
  let service: Service
  let client: Client
  let url = ''
  let settings: Settings = {}

  before(async () => {
    // It keeps time for the pauses between rounds only: what matters here is not the disk.
    first = await startPostgres({ durable: true, settings: { fsync: 'off' } })
    second = await startReplica(first)
    url = `postgres://postgres@127.0.0.1:${second.port},127.0.0.1:${first.port}/postgres`
    settings = {
      DUET_DATABASE_URL: `${url}?target_session_attrs=read-write`,
      DUET_REPLICA_URLS: 'auto',
      DUET_AUTH_SECRET: secret,
    }
    const { code, stderr } = await command(['migrate'], settings)
    assert.equal(code, 0, stderr)
    service = await serve(settings)
    client = clientOf(service)
  })
  after(async () => {
    await service?.end()
    await second?.end()
    await first?.end()
  })

  const addUser = async () => {
    const email = `${Math.random()}@example.org`
    const body = { name: 'A', email }
    return { email, ...(await client.ask('POST /api/users', { body })) }
  }
  const has = async (server: Postgres, email: string) =>
    (await ask(server.url, `select count(*)::int from users where email = '${email}'`)) === 1

  test('writes to the one that is not in recovery, and reads from the other', async () => {
    const { status, text, email } = await addUser()
    assert.equal(status, 201, text)
    assert.ok(await has(first, email))
    await until('the other one is used', async () => {
      await second.pauseReplay()
      const { json } = await addUser()
      const seen = await client.ask(`GET /api/users/${json.id}`, { as: 1 })
      await second.resumeReplay()
      await second.caughtUp()
      return seen.status === 404
    })
  })

  let held = ''
  let lost = { id: 0, position: '' }

  test('goes on with the other when that is promoted, and leaves one that takes no more writes at once [B1]', async () => {
    held = (await addUser()).headers.get('duet-position') ?? ''
    await second.received()
    // What is written from now on is lost with the old one.
    await ask(second.url, "alter system set primary_conninfo = ''")
    await ask(second.url, 'select pg_reload_conf()')
    await until('it follows no more', async () => {
      return (await ask(first.url, 'select count(*)::int from pg_stat_replication')) === 0
    })
    const { status: made, text: answer, json, headers } = await addUser()
    assert.equal(made, 201, answer)
    lost = { id: json.id, position: headers.get('duet-position') ?? '' }
    await ask(first.url, 'alter system set default_transaction_read_only = on')
    await ask(first.url, 'select pg_reload_conf()')
    await until('it takes no more writes', async () => {
      const { status, text } = await addUser()
      assert.ok(status === 201 || status === 503, text)
      return status === 503
    })
    const shown = await client.ask('GET /api/users/1', { as: 1 })
    assert.equal(shown.status, 200, shown.text)
    assert.equal(await ask(second.url, 'select pg_promote()'), true)
    await until('a write is taken', async () => (await addUser()).status === 201)
    const { status, text, email } = await addUser()
    assert.equal(status, 201, text)
    assert.ok(await has(second, email))
    await until('nobody asks the old one', async () => (await sessionsOn(first)) === 0)
  })

  test('a position from before is answered as ever, and one that the new primary does not have with that word', async () => {
    const read = (id: number, position: string) =>
      client.ask(`GET /api/users/${id}`, { as: 1, headers: { 'Duet-Position': position } })
    const status = 'duet-position-status'
    await until(
      'the new timeline is known',
      async () => (await read(lost.id, lost.position)).headers.get(status) === 'lost',
    )
    for (const position of [held, '1-0/1', '2-FFFFFFFF/0', '0/1'])
      assert.equal((await read(1, position)).headers.get(status), null, position)
    const gone = await read(lost.id, lost.position)
    assert.deepEqual([gone.status, gone.headers.get(status)], [404, 'lost'])
    assert.equal((await read(1, '9-0/1')).headers.get(status), 'unknown')
    const query = await client.gql('{ users { id } }', {
      as: 1,
      headers: { 'Duet-Position': lost.position },
    })
    assert.equal(query.headers.get(status), 'lost')
    const { headers } = await addUser()
    assert.match(headers.get('duet-position') ?? '', /^2-/)
  })

  test('does not go back to the old one, even when it says that it takes writes and the new one is gone [B1]', async () => {
    await ask(
      `${first.url}?options=-c%20default_transaction_read_only%3Doff`,
      'alter system reset default_transaction_read_only',
    )
    await ask(first.url, 'select pg_reload_conf()')
    await second.stop('immediate')
    const { status, json } = await addUser()
    assert.deepEqual([status, json.error.code], [503, 'UNAVAILABLE'])
    await until('it says why', () =>
      service.stdout().includes('on timeline 1, but timeline 2 was there already'),
    )
    await second.start()
    await until('a write is taken', async () => (await addUser()).status === 201)
    // It was asked for a moment what it is, and no more.
    await until('nobody asks the old one', async () => (await sessionsOn(first)) === 0)
  })

  test('one that is started while there is no primary says so once, and serves as soon as there is one', async () => {
    await Promise.all([first.stop('fast'), second.stop('fast')])
    const waits = { ...settings, DUET_STORE_WAIT: '1h', DUET_PORT: '0' }
    const late = start(['serve'], waits)
    const told = /waiting up to 3600 s: postgres:.* has no primary now/g
    await until('it waits', () => told.test(late.stderr()))
    await second.start()
    await until('it listens', () => late.stderr().includes('listens on'))
    assert.equal(late.stderr().match(told)?.length, 1)
    late.child.kill('SIGTERM')
    assert.deepEqual(await late.closed, [0, null])
  })

  test('a migration that is started while there is no primary waits for one too', async () => {
    await second.stop('fast')
    const late = start(['migrate'], { ...settings, DUET_STORE_WAIT: '1h' })
    const waits = /waiting up to 3600 s: postgres:.* has no primary now/
    await until('it waits', () => waits.test(late.stderr()) || late.child.exitCode !== null)
    await second.start()
    assert.deepEqual(await late.closed, [0, null], late.stderr())
    assert.equal(late.stdout(), 'the store is up to date\n')
  })

  test('one whose user all servers refuse ends at once with the reason', async () => {
    const twice = `127.0.0.1:${second.port},127.0.0.1:${second.port}`
    const stranger = `postgres://stranger@${twice}/postgres`
    const waits = { ...settings, DUET_DATABASE_URL: stranger, DUET_STORE_WAIT: '1h' }
    const { code, stderr } = await command(['serve'], waits)
    assert.equal(code, 1)
    assert.match(stderr, /^duet: postgres:.* refuses the user \(role "stranger" does not exist\): /)
  })

  test('one whose user a server refuses while another is away waits for that, and says why', async () => {
    const stranger = url.replace('postgres@', 'stranger@')
    const waits = { ...settings, DUET_DATABASE_URL: stranger, DUET_STORE_WAIT: '1h' }
    const late = start(['serve'], waits)
    const told = /waiting up to 3600 s: postgres:.* refuses the user/
    await until('it waits', () => told.test(late.stderr()))
    late.child.kill('SIGTERM')
    await late.closed
  })
})

describe('a commit that its synchronous standby has not confirmed', { skip: noReplica }, () => {
  let server: Postgres
  let service: Service
  let client: Client
  let searches = 0
  /** Another server of the URL, which is asked at each search for the primary. */
  const other = createServer(socket => {
    searches++
    socket.destroy()
  })

  before(async () => {
    server = await startPostgres({ durable: true, settings: { fsync: 'off' } })
    const port = await freePort()
    await once(other.listen(port, '127.0.0.1'), 'listening')
    const hosts = `127.0.0.1:${server.port},127.0.0.1:${port}`
    const settings = {
      DUET_DATABASE_URL: `postgres://postgres@${hosts}/postgres?target_session_attrs=read-write`,
      DUET_AUTH_SECRET: secret,
    }
    // Then only a session that wants them is told of warnings.
    await ask(server.url, 'alter database postgres set client_min_messages = error')
    service = await serve(settings, '--migrate')
    client = clientOf(service)
    await ask(server.url, "alter system set synchronous_standby_names = 'nobody'")
    await ask(server.url, 'select pg_reload_conf()')
  })
  after(async () => {
    await service?.end()
    await server?.end()
    other.close()
  })

  const waiting = async (): Promise<readonly number[]> => {
    const pids =
      "select coalesce(json_agg(pid), '[]') from pg_stat_activity where wait_event = 'SyncRep'"
    return (await ask(server.url, pids)) as number[]
  }
  /** Begins a write that touches no counts, whose rows others would wait for; gives the process that waits for its commit. */
  const begun = async (title: string) => {
    const before = await waiting()
    const body = { title, content: 'A' }
    const ask = () =>
      client.ask('POST /api/users/1/posts', { as: 1, body, headers: { 'Idempotency-Key': title } })
    const answer = ask()
    let pid: number | undefined
    await until('the commit waits', async () => {
      pid = (await waiting()).find(one => !before.includes(one))
      return pid !== undefined
    })
    return { answer, pid, again: ask }
  }

  let unseen: Awaited<ReturnType<typeof begun>>

  test('makes the service look for another primary again and again before it is given up [B1]', async () => {
    unseen = await begun('unseen')
    const before = searches
    let isAnswered = false
    unseen.answer.then(() => {
      isAnswered = true
    })
    await until('it was looked for', () => searches >= before + 3)
    assert.ok(!isAnswered)
  })

  test('is answered with an unknown outcome when nobody confirms it, and stays unseen', async () => {
    const { status, json } = await unseen.answer
    assert.deepEqual([status, json.error.code], [503, 'UNAVAILABLE'])
    assert.match(json.error.message, /unknown whether this was written/)
    const repeated = await unseen.again()
    assert.equal(repeated.json.error.code, 'IDEMPOTENCY_IN_FLIGHT', repeated.text)
    const seen = `select count(*)::int from posts where title = 'unseen'`
    assert.equal(await ask(server.url, seen), 0)
  })

  test('is answered so too when its wait is cancelled, although the server then says it is committed', async () => {
    const { answer, pid } = await begun('cancelled')
    await ask(server.url, `select pg_cancel_backend(${pid})`)
    const { status, json } = await answer
    assert.equal(status, 503)
    assert.match(json.error.message, /unknown whether this was written/)
  })
})
