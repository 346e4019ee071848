/** A database that takes no writes for a while, as a managed one does when its disk is full: reads go on, and the service says so. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Service, serve } from '#test/duet.ts'
import { ask } from '#test/postgres/tools/ask.ts'
import { noPostgres, type Postgres, startPostgres } from '#test/postgres/tools/server.ts'
import { freePort } from '#test/support/ports.ts'
import { valuesIn } from '#test/support/prometheus.ts'
import { until } from '#test/support/wait.ts'
import { type Client, clientOf } from './rounds/client.ts'
import { freshOn } from './rounds/workload.ts'

describe('a database that is read-only', { skip: noPostgres }, () => {
  let server: Postgres
  let service: Service
  let client: Client
  let url = ''
  let metrics = ''
  before(async () => {
    server = await startPostgres()
    const database = await freshOn(server)
    const port = await freePort()
    metrics = `http://127.0.0.1:${port}/metrics`
    service = await serve({
      ...database.settings,
      DUET_METRICS_PORT: String(port),
      DUET_LOG: 'info',
    })
    client = clientOf(service)
    url = database.url
    // By a session that may write, whatever the database says.
    const writing = new URL(url)
    writing.searchParams.set('options', '-c default_transaction_read_only=off')
    url = writing.href
  })
  after(async () => {
    await service?.end('SIGKILL')
    await server?.end()
  })

  const ready = async () => {
    const response = await fetch(`${service.url}/readyz`)
    return `${response.status} ${(await response.text()).trim()}`
  }
  const gauge = async () =>
    valuesIn(await (await fetch(metrics)).text()).get('duet_store_read_only')
  let users = 0
  const signUp = () =>
    client.ask('POST /api/users', { body: { name: 'A', email: `u${++users}@example.org` } })
  const isWritable = async () => {
    await until('it is ready again', async () => (await ready()) === '200 ready')
    assert.equal(await gauge(), 0)
    const { status, text } = await signUp()
    assert.equal(status, 201, text)
  }
  const isReadOnly = async () => {
    await until('it says so', async () =>
      (await ready()).startsWith('200 read-only: the database takes no writes'),
    )
    assert.equal(await gauge(), 1)
    const refused = await signUp()
    assert.deepEqual([refused.status, refused.json.error.code], [503, 'UNAVAILABLE'])
    assert.equal(refused.json.error.message, 'The database is read-only now')
    assert.equal((await client.ask('GET /api/products')).status, 200)
  }

  test('says so by itself, without a write, when all sessions are told, and when it is over [B14]', async () => {
    await isWritable()
    await ask(url, 'alter system set default_transaction_read_only = on')
    await ask(url, 'select pg_reload_conf()')
    await isReadOnly()
    await ask(url, 'alter system reset default_transaction_read_only')
    await ask(url, 'select pg_reload_conf()')
    await isWritable()
    await until('both are in the log', () =>
      /the store is read-only: the database takes no writes[\s\S]*the database takes writes again/.test(
        service.stdout(),
      ),
    )
  })

  test('says so by a write that fails where only new sessions are told, and notices the end by itself [B14]', async () => {
    const name = new URL(url).pathname.slice(1)
    await ask(url, `alter database ${name} set default_transaction_read_only = on`)
    await ask(
      url,
      "select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = 'duet'",
    )
    await until('a write is refused', async () => (await signUp()).status === 503)
    await isReadOnly()
    await ask(url, `alter database ${name} reset default_transaction_read_only`)
    await isWritable()
  })
})
