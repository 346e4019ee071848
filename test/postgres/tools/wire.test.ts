/** Checks the proxies that tests put between a service and its server, and their faults. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { before, describe, test } from 'node:test'
import { Client } from 'pg'
import { pause, until } from '../../support/wait.ts'
import { ask, connected } from './ask.ts'
import { freshDatabase, noDatabase } from './database.ts'
import { noHaproxy, startHaproxy } from './haproxy.ts'
import { noPgbouncer, startPgbouncer } from './pgbouncer.ts'
import { startProxy } from './proxy.ts'

describe('a wire with faults', { skip: noDatabase }, () => {
  let direct: string
  before(async () => {
    direct = (await freshDatabase()).url
    await ask(direct, 'create table t (n int)')
  })
  const wired = async () => {
    const { through, faults } = await startProxy(Number(new URL(direct).port))
    return { url: through(direct), faults }
  }

  const commits = {
    'a simple query': (client: Client) => client.query('commit'),
    'an unnamed statement': (client: Client) =>
      client.query({ text: 'COMMIT', values: [], queryMode: 'extended' } as { text: string }),
    'a named statement': (client: Client) => client.query({ name: 'c', text: 'Commit' }),
    'the last of several statements': (client: Client) => client.query('select 1; commit'),
  }
  for (const [name, commit] of Object.entries(commits))
    test(`the reply to a commit as ${name} is lost, the commit is not`, async () => {
      const { url, faults } = await wired()
      await ask(direct, 'truncate t')
      faults.loseCommitReplies(1)
      const client = await connected(url)
      await client.query('begin')
      await client.query('insert into t values (1)')
      await assert.rejects(commit(client), /terminated|ECONNRESET/)
      assert.equal(faults.lost(), 1)
      assert.equal(await ask(direct, 'select n from t'), 1)
      const next = await connected(url)
      await next.query('begin; insert into t values (2); commit')
      await next.end()
      assert.equal(faults.lost(), 1)
    })

  test('the reply to a commit that rolls back is not lost', async () => {
    const { url, faults } = await wired()
    faults.loseCommitReplies()
    const client = await connected(url)
    await client.query('begin')
    await assert.rejects(client.query('insert into nothing values (1)'), { code: '42P01' })
    assert.equal((await client.query('commit')).command, 'ROLLBACK')
    assert.equal(faults.lost(), 0)
    await client.end()
  })

  test('a client that asks for encryption first is followed too', async () => {
    const { url, faults } = await wired()
    const refused = new Client({ connectionString: url, ssl: true })
    await assert.rejects(refused.connect(), /does not support SSL/)
    assert.equal(await ask(url, 'select 1'), 1)
    assert.equal(faults.lost(), 0)
  })

  test('a large answer passes whole', async () => {
    const { url } = await wired()
    assert.equal(String(await ask(url, `select repeat('x', 5000000)`)).length, 5_000_000)
  })

  test('cut connections end with an error, and new ones work', async () => {
    const { url, faults } = await wired()
    const client = await connected(url)
    const asked = assert.rejects(client.query('select pg_sleep(600)'))
    const asleep = "select count(*)::int from pg_stat_activity where wait_event = 'PgSleep'"
    await until('the server is at it', async () => (await ask(direct, asleep)) !== 0)
    faults.cut()
    await asked
    assert.equal(await ask(url, 'select 1'), 1)
  })

  test('new connections are refused while the old ones go on, until it heals', async () => {
    const { url, faults } = await wired()
    const client = await connected(url)
    faults.refuse()
    await assert.rejects(ask(url, 'select 1'), { code: 'ECONNREFUSED' })
    assert.equal((await client.query('select 1')).rowCount, 1)
    await client.end()
    await faults.heal()
    assert.equal(await ask(url, 'select 1'), 1)
  })

  test('a black hole is silent, and gives back what it held when it heals', async () => {
    const { url, faults } = await wired()
    const client = await connected(url)
    faults.blackHole()
    const answer = client.query('select 1')
    const other = await connected(direct)
    // Another connection to the same server gets twenty answers meanwhile.
    for (let n = 0; n < 20; n++) await other.query('select 2')
    await other.end()
    const first = await Promise.race([answer, pause(0).then(() => 'silence')])
    assert.equal(first, 'silence')
    await faults.heal()
    assert.equal((await answer).rowCount, 1)
    await client.end()
  })

  test('each chunk is held back both ways', async () => {
    const { url, faults } = await wired()
    const client = await connected(url)
    faults.delay(60)
    const answer = client.query('select 1').then(() => 'answer')
    assert.equal(await Promise.race([answer, pause(110).then(() => 'pause')]), 'pause')
    await answer
    await client.end()
  })
})

test('PgBouncer gives two hundred clients ten sessions', {
  skip: noDatabase || noPgbouncer,
}, async () => {
  const { url } = await freshDatabase()
  const bouncer = await startPgbouncer(Number(new URL(url).port))
  const clients = await Promise.all(
    Array.from({ length: 200 }, () => connected(bouncer.through(url))),
  )
  const answers = await Promise.all(
    clients.map(client => client.query('select pg_backend_pid() as pid, pg_sleep(0.002)')),
  )
  assert.ok(new Set(answers.map(({ rows }) => rows[0].pid)).size <= 10)
  await Promise.all(clients.map(client => client.end()))
  await bouncer.end()
})

test('HAProxy leaves out a service that is not ready', { skip: noHaproxy }, async t => {
  let ready = true
  const services = [true, false].map(isSick =>
    createServer(({ url }, response) => {
      const status = url === '/readyz' && isSick && !ready ? 503 : 200
      response.writeHead(status, { connection: 'close' }).end(isSick ? 'sick' : 'sound')
    }).listen(0, '127.0.0.1'),
  )
  t.after(() => services.map(service => service.close()))
  await Promise.all(services.map(service => once(service, 'listening')))
  const haproxy = await startHaproxy(
    services.map(service => (service.address() as AddressInfo).port),
  )
  const asked = async () => {
    const texts = [1, 2, 3, 4].map(async () => (await fetch(haproxy.url)).text())
    return [...new Set(await Promise.all(texts))].sort().join()
  }
  assert.equal(await asked(), 'sick,sound')
  ready = false
  await until('the sick one is left out', async () => (await asked()) === 'sound')
  ready = true
  await until('it is taken back', async () => (await asked()) === 'sick,sound')
  await haproxy.end()
})
