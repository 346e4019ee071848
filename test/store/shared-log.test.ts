/** A store whose log another program copies and checkpoints: DUET_WAL=shared. */
import assert from 'node:assert/strict'
import { existsSync, statSync, symlinkSync } from 'node:fs'
import { test } from 'node:test'
import { mint } from '#auth/token.ts'
import { command, folderOf, type Service, type Settings, secret, serve } from '#test/market.ts'
import { lookAtFile } from '#test/stores.ts'
import { shipperOf } from '#test/support/log-shipper.ts'
import { until } from '#test/support/wait.ts'

const { fresh } = folderOf('shared-log')

/** Some pages of log for each: after fifty Duet would checkpoint by itself. */
const long = 'x'.repeat(90_000)

/** Writes so many posts; gives their titles. */
const post = async ({ url }: Service, titles: readonly string[]): Promise<void> => {
  const token = await mint({ sub: 1, role: 'admin', ttl: 600 }, secret, Date.now())
  for (const title of titles) {
    const response = await fetch(`${url}/api/users/1/posts`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ title, content: long }),
    })
    assert.equal(response.status, 201, await response.text())
  }
}

const numbered = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name} ${index}`)

const sizeOf = (file: string) => (existsSync(file) ? statSync(file).size : 0)

/** Posts before, during and after a time in which the shipper is away and the service is restarted; gives what it has in the end. */
const shipped = async (wal: string) => {
  const { file, settings } = fresh()
  const own: Settings = { ...settings, DUET_WAL: wal }
  assert.equal((await command(['migrate'], settings)).code, 0)
  const shipper = shipperOf(file)
  const first = await serve(own)
  shipper.open()
  await post(first, numbered('before', 3))
  shipper.ship()
  shipper.close()
  await post(first, numbered('away', 80))
  assert.equal((await first.end()).code, 0)
  const left = sizeOf(`${file}-wal`)
  const second = await serve(own)
  await post(second, numbered('again', 3))
  shipper.open()
  shipper.ship()
  await post(second, numbered('before its checkpoint', 3))
  shipper.checkpoint()
  await post(second, numbered('after', 3))
  shipper.ship()
  shipper.restore(`${file}.copy`)
  shipper.close()
  assert.equal((await second.end()).code, 0)
  const titles = async (name: string) =>
    (await lookAtFile(name)('select title from posts order by id')).map(([title]) => title)
  return { gaps: shipper.gaps(), left, stored: await titles(file), copy: `${file}.copy`, titles }
}

test('with DUET_WAL=shared a program that was away finds all of the log, across a restart too [A16]', async () => {
  const { gaps, left, stored, copy, titles } = await shipped('shared')
  assert.equal(gaps, 0)
  assert.ok(left > 80 * long.length, `${left} bytes were left`)
  assert.deepEqual(await titles(copy), stored)
  assert.deepEqual(await lookAtFile(copy)('pragma integrity_check'), [['ok']])
})

test('without it Duet checkpoints the log, and such a program loses its place', async () => {
  const { gaps, left } = await shipped('own')
  assert.ok(gaps > 0)
  assert.equal(left, 0)
})

/** How many lines of level 50 say that. */
const told = ({ stdout }: Service, what: RegExp) =>
  stdout()
    .split('\n')
    .filter(line => /"level":50/.test(line) && what.test(line)).length

const did = /reached \d+ bytes, and no other program checkpointed it/

test('above DUET_WAL_MAX Duet checkpoints the log all the same and says so, or says what is in the way [A16]', async () => {
  const { file, settings } = fresh()
  assert.equal((await command(['migrate'], settings)).code, 0)
  const shipper = shipperOf(file)
  const most = 1_048_576
  const service = await serve({ ...settings, DUET_WAL: 'shared', DUET_WAL_MAX: String(most) })
  await post(service, numbered('first', 14))
  await until('it says so', () => told(service, did) === 1)
  assert.ok(sizeOf(`${file}-wal`) < most)
  // One that lives and does nothing.
  shipper.open()
  await post(service, numbered('second', 14))
  await until(
    'it says what is in the way',
    () => told(service, /and Duet cannot: another program reads it; restart that one/) > 0,
  )
  assert.ok(sizeOf(`${file}-wal`) > most)
  shipper.close()
  await post(service, numbered('third', 4))
  await until('it says so again', () => told(service, did) === 2)
  assert.ok(sizeOf(`${file}-wal`) < most)
  assert.equal((await service.end()).code, 0)
})

test('a log is bounded too where a symbolic link leads to the store', async () => {
  const { file, settings } = fresh()
  assert.equal((await command(['migrate'], settings)).code, 0)
  symlinkSync(file, `${file}.link`)
  const most = 1_048_576
  const service = await serve({
    ...settings,
    DUET_DATABASE_URL: `sqlite:${file}.link`,
    DUET_WAL: 'shared',
    DUET_WAL_MAX: String(most),
  })
  await post(service, numbered('first', 14))
  await until('it says so', () => told(service, did) === 1)
  assert.ok(sizeOf(`${file}-wal`) < most)
  assert.equal((await service.end()).code, 0)
})

test('commands beside it leave the log as well, in a store that nobody else has open', async () => {
  const { file, settings } = fresh()
  const own = { ...settings, DUET_WAL: 'shared' }
  assert.equal((await command(['seed', '--users', '3'], own)).code, 0)
  const left = sizeOf(`${file}-wal`)
  assert.ok(left > 0)
  assert.equal((await command(['export', 'users'], own)).code, 0)
  assert.equal((await command(['backup', `${file}.backup`], own)).code, 0)
  assert.equal(sizeOf(`${file}-wal`), left)
})
