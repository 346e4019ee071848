/** What the store remembers of deprecated versions: since when they are announced. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { addMonths, dayNumber, dayNumbered } from '#base/dates.ts'
import { createWorld, folderOf, serve, type World } from '#test/market.ts'
import { until } from '#test/support/wait.ts'
import { createAnnouncement, type DeprecationDays } from '#versions/deprecation.ts'

const { folder, freshStore } = folderOf('notices')

const deprecation: DeprecationDays = {
  version: 1,
  from: '2027-01-01',
  sunset: '2027-08-01',
  header: 'true',
  holds: 'notice',
}

let clock = Date.parse('2027-03-10T12:00:00Z')
const now = () => clock
const file = join(folder, 'restarted.db')
const open = () => createWorld({ now, deprecation, file, rows: {} })

let world: World
before(async () => {
  world = await open()
})
after(() => world.close())

/** The announcement of a version in another process on the same store. */
const another = (version: number, known?: string) =>
  createAnnouncement(world.core, version, now, known)

const firstDay = async (version: number) =>
  (await world.rows(`select first_day from version_notices where version = ${version}`))[0]?.[0]

test('the first day of an announcement outlives a restart, and the notice counts from it', async () => {
  const late = 'Fri, 10 Sep 2027 00:00:00 GMT'
  const first = await world.ask('GET /api/products')
  assert.equal(first.headers.get('sunset'), late)
  await until('the day is written', async () => (await firstDay(1)) !== undefined)
  await world.close()
  clock = Date.parse('2027-08-15T00:00:00Z')
  world = await open()
  const again = await world.ask('GET /api/products')
  assert.deepEqual([again.status, again.headers.get('sunset')], [200, late])
  clock = Date.parse('2027-09-09T23:59:59.999Z')
  assert.equal((await world.ask('GET /api/products')).status, 200)
  clock = Date.parse('2027-09-10T00:00:00Z')
  assert.equal((await world.ask('GET /api/products')).status, 410)
  assert.equal((await world.ask('GET /api/v2/products')).status, 200)
})

test('of the days on which several processes began to announce, the first one stays', async () => {
  const [early, later] = [another(2), another(2)]
  clock = Date.parse('2027-04-03T00:00:00Z')
  later.begin()
  await until('the later day is written', async () => (await firstDay(2)) === '2027-04-03')
  clock = Date.parse('2027-04-02T00:00:00Z')
  early.begin()
  await until('the earlier day is written', async () => (await firstDay(2)) === '2027-04-02')
  const third = another(2)
  clock = Date.parse('2027-05-01T00:00:00Z')
  third.begin()
  await until('the third knows the first day', () => third.firstDay() === '2027-04-02')
  assert.equal(await firstDay(2), '2027-04-02')
})

test('a day that cannot be written is written a minute later, and is the first one still', async () => {
  let attempts = 0
  const { engine } = world
  clock = Date.parse('2027-05-02T23:59:30Z')
  const announcement = createAnnouncement(
    {
      dialect: engine.dialect,
      writer: {
        write: job =>
          attempts++ === 0 ? Promise.reject(new Error('the store is away')) : engine.write(job),
      },
    },
    3,
    now,
  )
  announcement.begin()
  announcement.begin()
  assert.equal(attempts, 1)
  clock = Date.parse('2027-05-03T00:00:30Z')
  announcement.begin()
  assert.equal(attempts, 2)
  await until('the day is written', async () => (await firstDay(3)) === '2027-05-02')
  clock = Date.parse('2027-05-04T00:00:00Z')
  announcement.begin()
  assert.equal(attempts, 2)
})

test('a service warns of a short notice, and announces it', async () => {
  const { settings } = await freshStore()
  const today = dayNumbered(dayNumber(Date.now()))
  const days = { DUET_V1_DEPRECATED: '2020-01-01', DUET_V1_SUNSET: addMonths(today, 2) }
  const service = await serve({ ...settings, ...days, DUET_LOG: 'warn' })
  for (const path of ['/api/products', '/api/v1/products', '/api/v2/products']) {
    const answer = await fetch(`${service.url}${path}`)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('deprecation'), path.includes('v2') ? null : 'true')
  }
  await until('the warning is logged', () => service.stdout().includes('callers will have been'))
  assert.match(service.stdout(), /"level":40.*version 1 ends on .* told for \d+ days of the \d+ /)
  assert.deepEqual(await service.end(), { code: 0 })
})
