/** What the store remembers of deprecated versions: since when they are announced, and who still uses them. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { addMonths, dayNumber, dayNumbered } from '#base/dates.ts'
import { anonymous } from '#model/policy.ts'
import { command, createWorld, folderOf, serve, type World } from '#test/market.ts'
import { until } from '#test/support/wait.ts'
import { createUsage } from '#versions/deprecated-use.ts'
import type { DeprecationDays } from '#versions/deprecation.ts'

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

/** The usage of another process on the same store. */
const another = (announced?: ReadonlyMap<number, string>) =>
  createUsage({
    writer: world.engine,
    dialect: world.engine.dialect,
    now,
    ...(announced && { announced }),
  })

const usesOf = (api: string) =>
  world
    .rows('select day, member, viewer, n from version_uses where api = ?1 order by 1, 2, 3', api)
    .then(rows =>
      rows.map(row => row.map(value => (typeof value === 'string' ? value : Number(value)))),
    )

test('the first day of an announcement outlives a restart, and the notice counts from it', async () => {
  const late = 'Fri, 10 Sep 2027 00:00:00 GMT'
  const first = await world.ask('GET /api/products')
  assert.equal(first.headers.get('sunset'), late)
  await world.core.usage.flush()
  await world.close()
  clock = Date.parse('2027-08-15T00:00:00Z')
  world = await open()
  assert.equal(world.core.usage.firstAnnounced(1), '2027-03-10')
  const again = await world.ask('GET /api/products')
  assert.deepEqual([again.status, again.headers.get('sunset')], [200, late])
  clock = Date.parse('2027-09-09T23:59:59.999Z')
  assert.equal((await world.ask('GET /api/products')).status, 200)
  clock = Date.parse('2027-09-10T00:00:00Z')
  assert.equal((await world.ask('GET /api/products')).status, 410)
  assert.equal((await world.ask('GET /api/v2/products')).status, 200)
})

test('of the days on which several processes began to announce, the first one stays', async () => {
  const [early, later] = [another(), another()]
  clock = Date.parse('2027-04-02T00:00:00Z')
  early.announce(2)
  clock = Date.parse('2027-04-03T00:00:00Z')
  later.announce(2)
  early.announce(2)
  await later.flush()
  await early.flush()
  await later.flush()
  const rows = await world.rows('select first_day from version_notices where version = 2')
  assert.deepEqual(rows, [['2027-04-02']])
  assert.equal(early.firstAnnounced(2), '2027-04-02')
  const third = another()
  clock = Date.parse('2027-05-01T00:00:00Z')
  third.announce(2)
  await third.flush()
  assert.equal(third.firstAnnounced(2), '2027-04-02')
})

test('uses are counted by day, member and caller, and the counts of several processes add up', async () => {
  const [one, other] = [another(), another()]
  const ben = { id: 2, role: 'user' }
  const service = { id: null, service: 'digest', role: 'user' }
  clock = Date.parse('2027-05-01T23:59:59Z')
  for (const usage of [one, other, one]) usage.count({ api: 'test' }, ben)
  one.count({ api: 'test' }, anonymous)
  other.count({ api: 'test', member: 'thing.name' }, service)
  await Promise.all([one.flush(), other.flush(), one.flush()])
  clock = Date.parse('2027-05-02T00:00:00Z')
  other.count({ api: 'test' }, ben)
  await other.flush()
  await other.flush()
  assert.deepEqual(await usesOf('test'), [
    ['2027-05-01', '', 'anonymous', 1],
    ['2027-05-01', '', 'viewer 2', 3],
    ['2027-05-01', 'thing.name', 'service digest', 1],
    ['2027-05-02', '', 'viewer 2', 1],
  ])
})

test('counts that cannot be written stay, and more than fit into one write are written too', async () => {
  let isBroken = true
  const { engine } = world
  const usage = createUsage({
    dialect: engine.dialect,
    now,
    writer: {
      write: job => (isBroken ? Promise.reject(new Error('the store is away')) : engine.write(job)),
    },
    most: 450,
  })
  usage.announce(3)
  for (let id = 1; id <= 500; id++) usage.count({ api: 'many' }, { id, role: 'user' })
  await assert.rejects(usage.flush(), /the store is away/)
  isBroken = false
  usage.count({ api: 'many' }, { id: 1, role: 'user' })
  await usage.flush()
  const sums = 'select count(*), sum(n) from version_uses where api = ?1'
  assert.deepEqual((await world.rows(sums, 'many')).flat().map(Number), [450, 451])
  assert.equal(usage.firstAnnounced(3), '2027-05-02')
})

test('counts older than thirteen months are deleted', async () => {
  clock = Date.parse('2027-06-01T00:00:00Z')
  const usage = another()
  usage.count({ api: 'old' }, anonymous)
  await usage.flush()
  const later = async (moment: string) => {
    clock = Date.parse(moment)
    const next = another()
    next.count({ api: 'next' }, anonymous)
    await next.flush()
    return (await usesOf('old')).length
  }
  assert.equal(await later('2028-07-01T23:00:00Z'), 1)
  assert.equal(await later('2028-07-02T00:00:00Z'), 0)
})

test('a service warns of a short notice, writes its counts when it ends, and contract usage prints them', async () => {
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
  const { stdout, code } = await command(['contract', 'usage', '--json'], settings)
  assert.equal(code, 0)
  assert.deepEqual(JSON.parse(stdout), [
    { api: 'v1', member: null, viewer: 'anonymous', uses: 2, last: today },
  ])
  const text = await command(['contract', 'usage', '--since', today], settings)
  assert.match(text.stdout, /^version 1 of the REST API\n {2}anonymous +2 {2}last on \S+\n$/)
  const none = await command(['contract', 'usage', '--since', '2999-01-01'], settings)
  assert.match(none.stdout, /^nobody used what is deprecated since 2999-01-01/)
  const wrong = await command(['contract', 'usage', '--since', 'spring'], settings)
  assert.deepEqual([wrong.code, wrong.stdout], [2, ''])
  assert.match(wrong.stderr, /--since must be a day, such as 2027-01-31, not spring/)
})
