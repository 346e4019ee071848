/** Checks the tools with which tests control a real PostgreSQL. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { forAllTests } from '../../support/fixture.ts'
import { until } from '../../support/wait.ts'
import { ask, connected } from './ask.ts'
import { freshDatabase, noDatabase, templateFor } from './database.ts'
import { noReplica, type Replica, startReplica } from './replica.ts'
import { noPostgres, type Postgres, startPostgres } from './server.ts'

const isRefused = (url: string): Promise<boolean> =>
  ask(url, 'select 1').then(
    () => false,
    error => error.code === 'ECONNREFUSED',
  )

describe('a server of its own', { skip: noPostgres }, () => {
  const server = forAllTests(() =>
    startPostgres({ durable: true, settings: { work_mem: '5MB', fsync: 'off' } }),
  )
  before(async () => {
    // A slow disk would only cost time here: nobody takes its power.
    await ask(server.url, 'create table kept (n int)')
  })

  const ends = {
    'a fast stop': () => server.stop('fast'),
    'an immediate stop': () => server.stop('immediate'),
    'a kill': () => server.kill(),
  }
  for (const [name, end] of Object.entries(ends))
    test(`it starts again on its port, with its data, after ${name}`, async () => {
      const { pid, port } = server
      await ask(server.url, 'insert into kept values (1)')
      const rows = await ask(server.url, 'select count(*)::int from kept')
      await end()
      // The sessions of a killed server hold its port until they notice.
      await until('nobody listens on its port', () => isRefused(server.url))
      await server.start()
      assert.equal(await ask(server.url, 'select count(*)::int from kept'), rows)
      assert.equal(server.port, port)
      assert.notEqual(server.pid, pid)
    })

  test('it has the settings it was given, and is as durable as was asked', async () => {
    assert.equal(await ask(server.url, 'show work_mem'), '5MB')
    assert.equal(await ask(server.url, 'show synchronous_commit'), 'on')
    assert.equal(await ask(server.url, 'show server_encoding'), 'UTF8')
    assert.equal(await ask(server.url, 'show lc_collate'), 'C')
  })
})

test('a killed test leaves no server, though started again, and no folder', {
  skip: noPostgres,
}, async () => {
  const program = `
    const { startPostgres } = await import(${JSON.stringify(new URL('server.ts', import.meta.url))})
    const server = await startPostgres()
    await server.stop('fast')
    await server.start()
    console.log(JSON.stringify([server.url, server.folder]))
    setTimeout(() => {}, 20_000)`
  const killed = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said] = await once(killed.stdout, 'data')
  const [url, folder] = JSON.parse(said)
  assert.equal(await ask(url, 'select 1'), 1)
  killed.kill('SIGKILL')
  await until('the folder is gone', () => !existsSync(folder))
  await until('nobody listens on its port', () => isRefused(url))
})

describe('a database of its own', { skip: noDatabase }, () => {
  test('it is new and empty each time', async () => {
    const [one, two] = await Promise.all([freshDatabase(), freshDatabase()])
    await ask(one.url, 'create table t (n int)')
    assert.equal(await ask(two.url, `select to_regclass('t')`), null)
  })

  test('a dropped one is gone, with the sessions in it', async () => {
    const { url, drop } = await freshDatabase()
    const client = await connected(url)
    const ended = new Promise<void>(resolve => client.once('end', resolve))
    await drop()
    await ended
    await assert.rejects(connected(url), { code: '3D000' })
  })

  test('a template is made once, and its copies are apart', async () => {
    let made = 0
    const make = async (url: string) => {
      made++
      await ask(url, 'create table t as select 7 as n')
    }
    const names = await Promise.all([templateFor('seven', make), templateFor('seven', make)])
    assert.equal(new Set(names).size, 1)
    assert.equal(made, 1)
    const template = await templateFor('seven', make)
    const [one, two] = [await freshDatabase({ template }), await freshDatabase({ template })]
    await ask(one.url, 'update t set n = 8')
    assert.equal(await ask(two.url, 'select n from t'), 7)
  })

  test('a template whose making failed is made anew', async () => {
    const fails = () => Promise.reject(new Error('no'))
    await assert.rejects(templateFor('odd', fails), /no/)
    const template = await templateFor('odd', async () => {})
    await freshDatabase({ template })
  })
})

describe('a replica', { skip: noReplica }, () => {
  let primary: Postgres
  let replica: Replica
  before(async () => {
    primary = await startPostgres()
    await ask(primary.url, 'create table t (n int)')
    replica = await startReplica(primary)
  })
  after(() => Promise.all([replica.end(), primary.end()]))
  const count = () => ask(replica.url, 'select count(*)::int from t')

  test('it shows what the primary commits, and takes no writes', async () => {
    await ask(primary.url, 'insert into t values (1)')
    await replica.caughtUp()
    assert.equal(await count(), 1)
    await assert.rejects(ask(replica.url, 'insert into t values (2)'), { code: '25006' })
  })

  test('a paused one stays in the past until it goes on', async () => {
    const before = await count()
    await replica.pauseReplay()
    await ask(primary.url, 'insert into t values (3)')
    await replica.received()
    assert.equal(await count(), before)
    await replica.resumeReplay()
    await replica.caughtUp()
    assert.equal(await count(), Number(before) + 1)
  })

  test('one that was away catches up', async () => {
    await replica.stop('fast')
    await ask(primary.url, 'insert into t values (4)')
    await replica.start()
    await replica.caughtUp()
    assert.equal(await count(), await ask(primary.url, 'select count(*)::int from t'))
  })
})
