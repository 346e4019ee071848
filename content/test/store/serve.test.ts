/** A service on its file: kills, locks, and a file that is taken away. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { holdStore, holdWhenFree, StoreInUseError } from '#engines/sqlite/file.ts'
import { duet, folderOf, patient, plain, type Service, serve, start } from '#test/duet.ts'
import { inTime, longest, until } from '#test/support/wait.ts'
import { killRounds } from './kill-rounds.ts'
import { handedOverRounds } from './restart-rounds.ts'
import { endedUnderLoad } from './term-rounds.ts'

const { fresh } = folderOf('serve')

test('kill -9 under writes, twice, loses no acknowledged write [A1]', async t => {
  const { file, settings } = fresh()
  t.diagnostic(`${await killRounds(2, file, settings)} writes were acknowledged`)
})

test('kill -9 amid the restart after a kill -9 loses no acknowledged write either [A6]', async t => {
  const { file, settings } = fresh()
  t.diagnostic(`${await killRounds(1, file, settings, 2)} writes were acknowledged`)
})

test('a second service on one store refuses with a line that says what to do, and the first goes on [A12]', async () => {
  const { file, settings } = fresh()
  const first = await serve(settings)
  assert.equal((await fetch(`${first.url}/readyz`)).status, 200)
  assert.throws(() => holdStore(file), StoreInUseError)
  // Nothing beside the store keeps it: nothing can be deleted that lets a second service in.
  const beside = readdirSync(dirname(file)).filter(name => name !== 'files')
  assert.deepEqual(beside.sort(), ['duet.db', 'duet.db-shm', 'duet.db-wal', 'people-secret'])
  const second = await duet(['serve'], { ...settings, DUET_PORT: '0' })
  assert.equal(second.code, 1)
  assert.equal(
    second.stderr,
    `duet: ${file} is served by another process already; stop that one, or name another store in DUET_DATABASE_URL\n`,
  )
  assert.equal((await fetch(`${first.url}/readyz`)).status, 200)
  assert.equal((await first.end()).code, 0)
  holdStore(file)()
})

test('a lock that another has is waited for as long as asked, and no longer', async () => {
  const { file } = fresh()
  const release = holdStore(file)
  let told = 0
  const onWait = () => void told++
  await assert.rejects(holdWhenFree(file, 0, onWait), StoreInUseError)
  assert.equal(told, 0)
  await assert.rejects(holdWhenFree(file, 1, onWait), StoreInUseError)
  assert.equal(told, 1)
  const waiting = holdWhenFree(file, longest, onWait)
  await until('it is waited for', () => told === 2)
  release()
  const releaseAgain = await waiting
  assert.throws(() => holdStore(file), StoreInUseError)
  releaseAgain()
})

test('with DUET_STORE_WAIT a second service waits for the end of the first, then takes over its store and its port', async () => {
  const { settings } = fresh()
  const first = await serve(settings)
  const more = { ...patient, ...settings, DUET_STORE_WAIT: '1h', DUET_PORT: String(first.port) }
  const second = start(['serve'], more)
  await until('the second waits', () =>
    /waiting up to 3600 s: .* is served by another/.test(second.stderr()),
  )
  assert.equal((await signUp(first, 'first@example.org')).status, 201)
  assert.equal((await first.end()).code, 0)
  await until('the second listens', () => /listens on/.test(second.stderr()))
  // The address is in use: the store is the same.
  assert.equal((await signUp(first, 'first@example.org')).status, 409)
  second.child.kill('SIGTERM')
  assert.deepEqual(await second.closed, [0, null])
})

test('the lock of a service that was killed is not left behind [A12]', async () => {
  const { file, settings } = fresh()
  const service = await serve(settings)
  await service.end('SIGKILL')
  holdStore(file)()
})

const signUp = (service: Service, email: string) =>
  fetch(`${service.url}/api/users`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'One', email }),
  })

test('when its file is replaced, a service acknowledges no further write, says so and ends with 1 [A12]', async () => {
  const { file, settings } = fresh()
  const service = await serve(settings)
  assert.equal((await signUp(service, 'before@example.org')).status, 201)
  copyFileSync(file, `${file}.other`)
  renameSync(`${file}.other`, file)
  // Faster than the watch, which looks each quarter of a second.
  const after = await signUp(service, 'after@example.org')
  assert.equal(after.status, 503)
  assert.ok(Number(after.headers.get('retry-after')) >= 1)
  const later = await signUp(service, 'later@example.org').catch(() => undefined)
  assert.ok(later === undefined || later.status === 503)
  await inTime('the service ends by itself', service.gone)
  assert.equal(service.child.exitCode, 1)
  assert.match(service.stderr(), /was deleted, moved or replaced while it was served/)
  assert.match(service.stdout(), /"level":60,.*was deleted, moved or replaced/)
})

test('when its file is deleted, a service without any request ends with 1 [A12]', async () => {
  const { file, settings } = fresh()
  const service = await serve(settings)
  rmSync(file)
  await inTime('the service ends by itself', service.gone)
  assert.equal(service.child.exitCode, 1)
  assert.match(service.stderr(), /was deleted, moved or replaced while it was served/)
})

test('when its log is deleted, a service acknowledges no further write, keeps those before, and ends with 1 [A12]', async () => {
  const { file, settings } = fresh()
  const service = await serve(settings)
  assert.equal((await signUp(service, 'before@example.org')).status, 201)
  rmSync(`${file}-wal`)
  const after = await signUp(service, 'after@example.org')
  assert.equal(after.status, 503)
  assert.ok(Number(after.headers.get('retry-after')) >= 1)
  await inTime('the service ends by itself', service.gone)
  assert.equal(service.child.exitCode, 1)
  assert.match(service.stderr(), /the log \S+-wal of the store was deleted, moved or replaced/)
  assert.match(service.stdout(), /"level":60,.*was deleted, moved or replaced/)
  const again = await serve(settings)
  assert.equal((await signUp(again, 'before@example.org')).status, 409)
  await again.end()
})

test('when its log is replaced, a service without any request ends with 1 [A12]', async () => {
  const { file, settings } = fresh()
  const service = await serve(settings)
  assert.equal((await signUp(service, 'before@example.org')).status, 201)
  copyFileSync(`${file}-wal`, `${file}.other`)
  renameSync(`${file}.other`, `${file}-wal`)
  await inTime('the service ends by itself', service.gone)
  assert.equal(service.child.exitCode, 1)
  assert.match(service.stderr(), /the log \S+-wal of the store was deleted, moved or replaced/)
})

test('a log that is emptied is no reason to end [A12]', async () => {
  const { file, settings } = fresh()
  const service = await serve(settings)
  assert.equal((await signUp(service, 'before@example.org')).status, 201)
  // A snapshot of the service may be in the way for a moment.
  const other = new DatabaseSync(file, { timeout: longest })
  other.exec('pragma wal_checkpoint(truncate)')
  other.close()
  assert.equal(statSync(`${file}-wal`).size, 0)
  assert.equal((await signUp(service, 'after@example.org')).status, 201)
  assert.equal((await service.end()).code, 0)
})

test('a store that was not there is not left behind empty by a lock that came to nothing', () => {
  const { file } = fresh()
  const release = holdStore(file)
  assert.throws(() => holdStore(file), StoreInUseError)
  release()
  assert.equal(existsSync(file), false)
})

test('restarts on a socket that outlives the service fail no request, lose no write and do none twice [H10]', async t => {
  const { rows, settings } = fresh()
  await handedOverRounds(2, rows, settings, text => t.diagnostic(text), 100)
})

test('a descriptor that is no socket of TCP is refused with a line', async () => {
  const { settings } = fresh()
  const line = 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" bin/duet serve 3</dev/null'
  const { status, stderr } = spawnSync('/bin/sh', ['-c', line, process.execPath], {
    env: { ...plain, ...settings },
    encoding: 'utf8',
  })
  assert.equal(status, 1)
  assert.match(
    stderr,
    /duet: descriptor 3, which LISTEN_FDS names, is no socket to listen on: .+\n$/,
  )
})

test('SIGTERM cuts none of 16 busy keep-alive clients: they are told that an answer is the last [H8]', async () => {
  const store = fresh()
  for (const thinks of [0, 100]) await endedUnderLoad(`t${thinks}`, store, thinks)
})
