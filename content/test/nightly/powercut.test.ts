import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { randomFrom } from '#base/random.ts'
import { connect } from '#engines/sqlite/connection.ts'
import { migrateSqlite } from '#engines/sqlite/migrate.ts'
import { folderOf } from '#test/duet.ts'
import { historyFor } from '#test/history.ts'
import { usualSeed } from '#test/support/rounds.ts'
import { load } from './load.ts'
import { createDisks, type Deed, recordInto, recordingOf } from './recording.ts'
import { type programs, serveTraced, without } from './trace.ts'

const cuts = Number(process.env.DUET_TEST_ROUNDS ?? 10_000)
const seed = usualSeed(7)
const { folder, fresh } = folderOf('powercut')
const skip = without('strace')

/** Writes through a service until it is killed; gives its store from before, and what it did to the disk and told its callers. */
const record = async (program: keyof typeof programs, loadRounds: number) => {
  const { file, settings } = fresh()
  migrateSqlite(file, historyFor('sqlite'))
  const bytes = (name: string) => (existsSync(name) ? readFileSync(name) : Buffer.alloc(0))
  const base = { db: bytes(file), wal: bytes(`${file}-wal`) }
  const log = join(folder, `${program}.log`)
  const empty = {
    ...settings,
    DUET_ENV: 'production',
    DUET_HOST: '127.0.0.1',
    DUET_SIGNUP_RATE: '1000000',
  }
  const service = await serveTraced(empty, recordInto(log), program)
  await load(service.url, 8, loadRounds)
  await service.end('SIGKILL')
  const deeds = await recordingOf(log)
  rmSync(log)
  return { base, deeds }
}

/** The writes that the service had acknowledged before a moment. */
const createPromises = () => {
  const emails = new Set<string>()
  const paid = new Set<number>()
  const hear = (deed: Deed) => {
    if (deed.kind !== 'told' || deed.status >= 300) return
    const answer = JSON.parse(deed.body)
    if (deed.status === 201 && answer.email) emails.add(answer.email)
    if (answer.status === 'paid') paid.add(answer.id)
  }
  return { emails, paid, hear }
}

type Found = { lost: number; halves: number; damaged: number }

const look = (file: string, promised: ReturnType<typeof createPromises>): Found => {
  const connection = connect(file)
  const column = (text: string) =>
    connection.query({ text, values: [] }).map(([value]) => value as string | number)
  try {
    const emails = new Set(column('select email from users'))
    const paid = new Set(column("select id from orders where status = 'paid'"))
    const lost =
      [...promised.emails].filter(email => !emails.has(email)).length +
      [...promised.paid].filter(id => !paid.has(id)).length
    // A pay is its order's state, its event and the stored response; an order is its items and the stock.
    const [halves = 0] = column(`select
      (select count(*) from orders as o where o.status = 'paid' and not exists
        (select 1 from order_events as e where e.order_id = o.id and e.to_status = 'paid'))
      + (select count(*) from order_events as e join orders as o on o.id = e.order_id
        where e.to_status = 'paid' and o.status <> 'paid')
      + abs((select count(*) from order_events where to_status = 'paid')
        - (select count(*) from replies))
      + abs((select count(*) from orders) - (select count(*) from order_items))
      + abs((select coalesce(max(1000000 - stock), 0) from products where name = 'Lamp'
          and stock > 900000) - (select count(*) from order_items where name = 'Lamp' and quantity = 1))
      + abs((select count(*) from users)
        - coalesce((select n from counts where entity = 'users' and field = ''), 0))`)
    const damaged = column('pragma integrity_check').join() === 'ok' ? 0 : 1
    return { lost, halves: Number(halves), damaged }
  } finally {
    connection.close()
  }
}

/** Cuts the power at so many random moments of a recording; sums up what was found after them. */
const simulate = async (
  program: keyof typeof programs,
  count: number,
  { loadRounds = 25, syncs = true } = {},
) => {
  const recorded = await record(program, loadRounds)
  const { base } = recorded
  const deeds = recorded.deeds.filter(({ kind }) => syncs || kind !== 'sync')
  const random = randomFrom(seed)
  const begin = deeds.findIndex(({ kind }) => kind === 'told')
  const moments = Array.from(
    { length: count },
    () => begin + Math.floor(random() * (deeds.length - begin)),
  ).sort((a, b) => a - b)
  const disks = createDisks(base, random)
  const promised = createPromises()
  const sum = { cuts: count, withLoss: 0, mostLost: 0, halves: 0, damaged: 0, unreadable: 0 }
  let done = 0
  for (const moment of moments) {
    for (; done <= moment; done++) {
      disks.happen(deeds[done] as Deed)
      promised.hear(deeds[done] as Deed)
    }
    const place = join(folder, 'cut')
    rmSync(place, { recursive: true, force: true })
    mkdirSync(place)
    const { db, wal } = disks.cut()
    writeFileSync(join(place, 'duet.db'), db)
    writeFileSync(join(place, 'duet.db-wal'), wal)
    try {
      const { lost, halves, damaged } = look(join(place, 'duet.db'), promised)
      if (lost > 0) sum.withLoss++
      sum.mostLost = Math.max(sum.mostLost, lost)
      sum.halves += halves
      sum.damaged += damaged
    } catch {
      sum.unreadable++
    }
  }
  for (; done < deeds.length; done++) promised.hear(deeds[done] as Deed)
  const of = (kind: Deed['kind']) => deeds.filter(deed => deed.kind === kind).length
  const promises = promised.emails.size + promised.paid.size
  const told = `${of('write')} writes, ${of('sync')} syncs, ${promises} promises`
  return { sum, told, promises }
}

test(`${cuts} power cuts lose no acknowledged write and leave nothing half done [A2, A3, A5]`, {
  skip,
}, async t => {
  // So many rounds that more than a thousand writes are acknowledged.
  const { sum, told, promises } = await simulate('duet', cuts, { loadRounds: 70 })
  assert.ok(promises >= 1000)
  t.diagnostic(`DUET_SEED=${seed}; ${told}; ${JSON.stringify(sum)}`)
  const { withLoss, halves, damaged, unreadable } = sum
  assert.deepEqual(
    { withLoss, halves, damaged, unreadable },
    { withLoss: 0, halves: 0, damaged: 0, unreadable: 0 },
  )
})

test('a writer that does not wait for the disk loses acknowledged writes in the same simulation [A2]', {
  skip,
}, async t => {
  const { sum, told } = await simulate('lax', Math.min(cuts, 300))
  t.diagnostic(`DUET_SEED=${seed}; ${told}; ${JSON.stringify(sum)}`)
  assert.ok(sum.withLoss > 0)
  assert.equal(sum.damaged + sum.unreadable + sum.halves, 0)
})

test('on a disk that is never synced power cuts damage the store in the same simulation [A2]', {
  skip,
}, async t => {
  const { sum, told } = await simulate('lax', Math.min(cuts, 300), { syncs: false })
  t.diagnostic(`DUET_SEED=${seed}; ${told}; ${JSON.stringify(sum)}`)
  assert.ok(sum.damaged + sum.unreadable > 0)
})
