/** Services that are killed while they take, replace, remove and collect files, whose disk is full, or whose S3 fails: no row is without its bytes, nothing stays that no row has, and each caller is told. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { oneOf, randomFrom } from '#base/random.ts'
import { loadConfig } from '#config.ts'
import { sqliteStore } from '#engines/sqlite/store.ts'
import { folderStore } from '#files/folder.ts'
import type { FileStore } from '#files/store.ts'
import { listen } from '#serve/listen.ts'
import { type Service, type Settings, serve } from '../duet.ts'
import { historyFor } from '../history.ts'
import { onPostgres, ownStore, postgresOf, sqliteTest } from '../stores.ts'
import { ownFolder } from '../support/folders.ts'
import { gallery, galleryRows } from '../support/gallery.ts'
import { smallDisk } from '../support/guard.ts'
import { isPlanned, rounds, usualSeed } from '../support/rounds.ts'
import { type Fault, startS3 } from '../support/s3.ts'
import { longest } from '../support/wait.ts'
import { createWorld, secret } from '../world.ts'
import { checkCollected, checkKept, fileLoad, pass } from './file-load.ts'

const folder = ownFolder('file-services')
const config = join(folder, 'duet.config.ts')
const path = new URL('../support/gallery.ts', import.meta.url).href
writeFileSync(config, `export { gallery as default } from '${path}'\n`)

/** A store that is served with its members, and its files; all that is on the disk of its service is in \`root\`. */
const begin = async (place: 'a folder' | 'S3', root: string) => {
  mkdirSync(root, { recursive: true })
  const spool = join(root, 'spool')
  mkdirSync(spool)
  const s3 = place === 'S3' ? await startS3(ownFolder('s3')) : undefined
  const file = join(s3 ? ownFolder('file-services') : root, 'duet.db')
  const { url, rows, change } = await ownStore(file, false, gallery)
  const files = join(root, 'files')
  const settings: Settings = {
    ...{ DUET_DATABASE_URL: url, DUET_AUTH_SECRET: secret, DUET_MIN_DISK: '0' },
    ...{ DUET_FILES: s3?.address ?? files, TMPDIR: spool },
    ...(s3 && { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' }),
  }
  const own = join(spool, `duet-files-${process.getuid?.() ?? 0}`)
  const store: FileStore = s3?.store({ spool: own }) ?? folderStore(files)
  const first = await serve(settings, '--migrate', '--config', config)
  for (const { name } of galleryRows.member)
    await change('insert into members (name, revision) values (?1, 1)', name)
  return { rows, change, s3, settings, store, file, first }
}

type Begun = Awaited<ReturnType<typeof begin>>

/** Fails unless a store that nobody serves any more has the files of its rows once all garbage is collected, and nothing else. */
const checkEnd = async ({ file, settings, rows, store, s3 }: Begun) => {
  const { DUET_DATABASE_URL: url = '', TMPDIR: spool = '', DUET_FILES: files = '' } = settings
  const own = onPostgres
    ? postgresOf(url, gallery)
    : sqliteStore({ file, migrations: historyFor('sqlite', gallery) })
  const engine = own.open({
    ...{ digits: 2, readTimeout: longest, queue: 2000, isWatched: false, onFatal: () => {} },
    limits: { objects: 10_000, bytes: 33_554_432 },
  })
  const kept = { rows, store }
  await checkCollected({ reader: engine, writer: engine, dialect: engine.dialect, store }, kept)
  await engine.close()
  await s3?.close()
  const entries = readdirSync(s3 ? spool : files, { recursive: true, encoding: 'utf8' })
  const parts = entries.filter(entry => entry.endsWith('.part'))
  assert.deepEqual(parts, [])
}

/** So many on one store, before the next has a fresh one. */
const onStore = 50

/** How often S3 does not do what it is asked, while services are killed. */
const s3Faults = 0.03

const sometimes =
  (random: () => number): Fault =>
  (passOn, outgoing) => {
    if (random() > s3Faults) passOn()
    else if (random() < 0.5) outgoing.writeHead(503).end('<Error><Code>SlowDown</Code></Error>')
    else outgoing.destroy()
  }

const places = ['a folder', 'S3'] as const
const killed = rounds(1, 1000)
// What S3 does is no matter of the rows: on PostgreSQL, which has two services over one folder, it is there at night.
for (const place of onPostgres && !isPlanned ? places.slice(0, 1) : places)
  test(`${killed} times kill -9 while files come and go in ${place} leave no row without bytes and no garbage`, async t => {
    const random = randomFrom(usualSeed(place.length))
    const told = new Map<string, number>()
    for (let left = killed, turn = 0; left > 0; left -= onStore, turn++) {
      const begun = await begin(place, join(folder, `killed in ${place} ${turn}`))
      const { change, settings, s3 } = begun
      const another = () => serve(settings, '--config', config)
      // One process serves a file of SQLite; PostgreSQL has two here, over one place of files.
      const services = [begun.first, ...(onPostgres ? [await another()] : [])]
      let victims: readonly Service[] = []
      let pieces = Number.POSITIVE_INFINITY
      const load = await fileLoad(6, {
        urls: () => services.map(({ url }) => url),
        random,
        told,
        mayBeLost: () => pieces <= 0,
        // Where processes are several, what one was removing is removed by another only in an hour.
        refusals: s3 || onPostgres ? ['503 UNAVAILABLE'] : [],
        moved: () => {
          if (--pieces === 0) for (const { child } of victims) child.kill('SIGKILL')
        },
      })
      for (let round = 0; round < Math.min(left, onStore); round++) {
        const isAll = services.length === 1 || random() < 0.5
        victims = isAll ? services.slice() : services.slice(0, 1)
        pieces = 1 + Math.floor(300 * random() ** 2)
        if (s3) s3.fault = sometimes(random)
        await load.run(() => pieces <= 0)
        await Promise.all(victims.map(({ gone }) => gone))
        if (s3) s3.fault = undefined
        await checkKept(begun)
        // A service that starts collects what has become garbage by now, beside the load.
        await pass(change, isAll)
        services.splice(0, victims.length)
        for (const _ of victims) services.push(await another())
      }
      pieces = Number.POSITIVE_INFINITY
      await load.lookAll()
      await load.putAll()
      for (const { end } of services) await end()
      await checkEnd(begun)
    }
    t.diagnostic(`refused: ${JSON.stringify(Object.fromEntries(told))}`)
  })

const points = rounds(onPostgres ? 1 : 3, 100)
// PostgreSQL is on a disk of its own, and so is a store of SQLite before S3.
for (const place of onPostgres ? places.slice(0, 1) : places)
  test(`a disk that is full at ${points} points while files are sent to ${place} is told as such, and leaves nothing`, {
    skip: process.getuid?.() !== 0 && 'NOT TESTED: mounting a small disk needs root',
  }, async t => {
    const random = randomFrom(usualSeed(place.length))
    const disk = await smallDisk(6)
    if (!disk) return t.skip('NOT TESTED: no small disk may be mounted here')
    const root = disk.folder
    const told = new Map<string, number>()
    const begun = await begin(place, root)
    const { url, end } = begun.first
    const load = await fileLoad(6, {
      ...{ urls: () => [url], random, told },
      mayBeLost: () => false,
      // Any other is beside the folder, so it has no room either.
      refusals: ['507 STORAGE_FULL', ...(begun.s3 || onPostgres ? [] : ['503 UNAVAILABLE'])],
    })
    const ballast = join(root, 'ballast')
    for (let point = 0; point < points; point++) {
      const { bavail, bsize } = statfsSync(root)
      const left = Math.floor(500_000 * random() ** 2)
      writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - left)))
      let steps = 0
      await load.run(() => ++steps > 40)
      rmSync(ballast)
      await load.lookAll()
      await checkKept(begun)
      // As after 24 hours: else those that wait would fill their sender's share.
      await begun.change('delete from uploads')
    }
    await load.putAll()
    assert.equal((await end()).code, 0)
    await checkEnd(begun)
    assert.ok((told.get('507 STORAGE_FULL') ?? 0) > 0)
    await disk.end()
    t.diagnostic(`refused: ${JSON.stringify(Object.fromEntries(told))}`)
  })

const failures = rounds(14, 1000)
const it = isPlanned ? test : sqliteTest
it(`S3 that stalls, tears or answers 503 to ${failures} requests is told as such, and leaves nothing`, async t => {
  const random = randomFrom(usualSeed(failures))
  const root = ownFolder('failing-s3')
  const s3 = await startS3(root)
  const [store, hasty] = [s3.store(), s3.store({ patience: 300 })]
  const fileStore = new Proxy(store, { get: (_, key) => (s3.fault ? hasty : store)[key as 'put'] })
  const world = await createWorld({ content: gallery, rows: galleryRows, fileStore })
  const draining = { versions: gallery.versions, state: { isDraining: false } }
  const server = await listen(world.app, loadConfig({ DUET_PORT: '0' }), draining)
  const told = new Map<string, number>()
  let left = 0
  const load = await fileLoad(6, {
    ...{ urls: () => [server.url], random, told },
    mayBeLost: () => true,
    refusals: ['503 UNAVAILABLE'],
  })
  const faults: readonly Fault[] = [
    () => {},
    (_, outgoing) => void outgoing.destroy(),
    (_, outgoing) => void outgoing.writeHead(503).end('<Error><Code>SlowDown</Code></Error>'),
    // What was done is not told.
    (passOn, outgoing) => {
      outgoing.writeHead = () => outgoing.destroy()
      passOn()
    },
    (_, outgoing) => {
      outgoing.writeHead(200, { 'Content-Length': '500' })
      outgoing.write('%PDF', () => outgoing.destroy())
    },
  ]
  s3.fault = (passOn, outgoing, incoming) => {
    const fault = left > 0 && random() < 0.4 ? oneOf(faults, random) : undefined
    if (!fault) return passOn()
    left--
    fault(passOn, outgoing, incoming)
  }
  for (let rest = failures; rest > 0; rest -= onStore) {
    left = Math.min(rest, onStore)
    await load.run(() => left <= 0)
    await world.change('delete from uploads')
  }
  s3.fault = undefined
  await load.lookAll()
  await load.putAll()
  await server.close(0)
  const { engine, rows } = world
  await checkCollected(
    { reader: engine, writer: engine, dialect: engine.dialect, store },
    { rows, store },
  )
  await world.close()
  await s3.close()
  assert.deepEqual(readdirSync(join(root, 'spool')), [])
  t.diagnostic(`refused: ${JSON.stringify(Object.fromEntries(told))}`)
})
