/** The writer thread of SQLite: its queue, its end, its faults, and what its answers show. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '#engines/sqlite/connection.ts'
import { ApiError } from '#errors.ts'
import { pluck } from '#test/asking.ts'
import { isPlanned, rounds } from '#test/support/rounds.ts'
import { until } from '#test/support/wait.ts'
import type { Job } from '#write/job.ts'
import { insertUser, job, keysIn, step, writerWorlds } from './writing.ts'

const { worldWithWriter, release } = writerWorlds()

/** A job that takes its time: it counts so far. */
const slow = (count: number): Job =>
  job(
    step(
      'with recursive n (i) as (select 1 union all select i + 1 from n where i < ?1) select max(i) from n',
      [count],
    ),
  )

const rejection = (code: string) => (error: unknown) => {
  assert.ok(error instanceof ApiError, String(error))
  assert.equal(error.code, code)
  assert.ok((error.retryAfter ?? 0) > 0)
  return true
}

test('more writes than may wait are refused at once with OVERLOADED; those before and after are done [H6]', async t => {
  const [queue, writes] = isPlanned ? [2000, 10_000] : [10, 50]
  const groups: number[] = []
  const { world, fatal } = await worldWithWriter({
    rows: {},
    engine: { queue, onCommit: count => void groups.push(count) },
  })
  const order: string[] = []
  const all = await Promise.allSettled(
    Array.from({ length: writes }, async (_, index) => {
      const settled = world.engine.write(job(insertUser(`u${index}`)))
      await settled.then(
        () => order.push('done'),
        () => order.push('refused'),
      )
      return settled
    }),
  )
  assert.deepEqual(pluck(all, 'status'), [
    ...Array(queue).fill('fulfilled'),
    ...Array(writes - queue).fill('rejected'),
  ])
  for (const result of all) if (result.status === 'rejected') rejection('OVERLOADED')(result.reason)
  assert.equal(order.indexOf('done'), writes - queue)
  assert.equal((await world.engine.write(job(insertUser('later')))).kind, 'done')
  assert.equal(keysIn(world.file).length, queue + 1)
  assert.ok(Math.max(...groups) <= 500)
  assert.deepEqual(fatal, [])
  t.diagnostic(`${queue} of ${writes} done, in groups of at most ${Math.max(...groups)}`)
})

test('callers take turns at the writer: who has one write does not wait for all that another has [H5]', async () => {
  const { world } = await worldWithWriter()
  const other = connect(world.file)
  other.run('begin immediate')
  const signUp = async (as: object, n: number): Promise<number> =>
    (await world.ask('POST /api/users', { ...as, body: { name: 'A', email: `a${n}@a.org` } })).json
      .id
  const many = Array(40).fill({}).map(signUp)
  await until('they wait', () => world.engine.figures.writesWaiting() === 40)
  const own = world.engine.write(job(insertUser('own')))
  const one = signUp({ as: 1 }, 40)
  await until('all wait', () => world.engine.figures.writesWaiting() === 42)
  other.close()
  await own
  const [[id] = []] = await world.rows(`select id from users where email_key = 'own'`)
  assert.ok(Math.max(Number(id), await one) < Math.max(...(await Promise.all(many))))
})

test('a condition that takes the writer too long ends its write with TIMEOUT, and others are done', async () => {
  const { world, fatal } = await worldWithWriter({ rows: {} })
  const endless = job(
    insertUser('a'),
    step(
      'with recursive n (i) as (select 1 union all select i + 1 from n where duet_interrupt_check()) select max(i) from n',
    ),
  )
  const [first, other] = await Promise.all([
    world.engine.write(endless),
    world.engine.write(job(insertUser('b'))),
  ])
  assert.deepEqual(first.kind === 'failed' && [first.code, first.status], ['TIMEOUT', 503])
  assert.equal(other.kind, 'done')
  assert.deepEqual(keysIn(world.file), ['b'])
  assert.deepEqual(fatal, [])
})

test('a write whose turn comes after DUET_WRITE_WAIT is refused, however few wait, and nothing of it is done', async () => {
  const { world } = await worldWithWriter({ rows: {}, engine: { writeWait: -1 } })
  const outcome = await world.engine.write(job(insertUser('a')))
  assert.deepEqual(outcome.kind === 'failed' && outcome.code, 'OVERLOADED')
  assert.deepEqual(keysIn(world.file), [])
  const { status, headers } = await world.ask('POST /api/users', {
    body: { name: 'A', email: 'a@example.org' },
  })
  assert.equal(status, 503)
  assert.ok(Number(headers.get('retry-after')) > 0)
})

test('a full queue is 503 with Retry-After in both APIs, and reads are served meanwhile [A8]', async () => {
  const { world } = await worldWithWriter({ engine: { queue: 1 } })
  const byRest = (name: string) =>
    world.ask('POST /api/users', { body: { name: 'A', email: `${name}@example.org` } })
  const byGraphql = (name: string) =>
    world.gql(`mutation { createUser(input: {name: "A", email: "${name}@example.org"}) { id } }`)
  const [read, ...writes] = await Promise.all([
    world.ask('GET /api/products/1'),
    byRest('a'),
    byRest('b'),
    byGraphql('c'),
    byGraphql('d'),
  ])
  // Whichever arrives first has the only place; so each API is refused once at least.
  const refused = writes.filter(({ json }) => json.error ?? json.errors)
  assert.equal(refused.length, 3)
  for (const { status, json, headers } of refused) {
    assert.equal(json.error?.code ?? json.errors[0].extensions.code, 'OVERLOADED')
    if (!json.error) continue
    assert.equal(status, 503)
    assert.ok(Number(headers.get('retry-after')) > 0)
  }
  assert.equal(read.status, 200)
})

test('a writer that dies rejects what waits with UNAVAILABLE, says so once, and hangs nobody [A17]', async t => {
  const deaths = rounds(1, 200)
  for (let death = 0; death < deaths; death++) await outliveWriter()
  t.diagnostic(`${deaths} deaths`)
})

const outliveWriter = async () => {
  const { world, writer, fatal } = await worldWithWriter({
    rows: { product: [{ name: 'P', category: 'c', price: 1 }] },
  })
  const waiting = [
    slow(1_000_000),
    ...Array.from({ length: 50 }, (_, i) => job(insertUser(`u${i}`))),
  ]
  const settled = Promise.allSettled(waiting.map(each => world.engine.write(each)))
  await new Promise(resolve => setImmediate(resolve))
  await writer.terminate()
  for (const result of await settled) {
    assert.equal(result.status, 'rejected')
    if (result.status === 'rejected') rejection('UNAVAILABLE')(result.reason)
  }
  await assert.rejects(world.engine.write(job(insertUser('later'))), rejection('UNAVAILABLE'))
  assert.deepEqual(fatal, ['the writer ended'])
  assert.equal((await world.ask('GET /api/products/1')).status, 200)
  assert.deepEqual(keysIn(world.file), [])
  release(world)
  await world.close()
}

test('after a commit that fails no write is acknowledged, and nothing more is written [A4]', async () => {
  const { world, fatal } = await worldWithWriter({ rows: {} })
  const broken = job(
    step('pragma defer_foreign_keys = on'),
    step(
      "insert into posts (title, content, author_id, created_at) values ('a', 'b', 999999, 1) returning id",
    ),
  )
  // All of one moment: the first has a commit of its own where the writer was quicker than those behind it.
  const jobs = [job(insertUser('before')), broken, job(insertUser('after'))]
  const [, ...results] = await Promise.allSettled(jobs.map(each => world.engine.write(each)))
  for (const result of results) {
    assert.equal(result.status, 'rejected')
    if (result.status === 'rejected') rejection('UNAVAILABLE')(result.reason)
  }
  assert.equal(fatal.length, 1)
  assert.match(fatal[0] ?? '', /commit failed, its outcome is unknown/)
  await assert.rejects(world.engine.write(job(insertUser('later'))), rejection('UNAVAILABLE'))
  assert.deepEqual(keysIn(world.file), [])
})

test('a full disk refuses writes, keeps what is there, and takes writes again when there is room [A7]', async () => {
  const { world, fatal } = await worldWithWriter()
  const pages = await world.engine.write(job(step('pragma page_count')))
  const count = pages.kind === 'done' ? Number(pages.rows[0]?.[0]?.[0]) : 0
  await world.engine.write(job(step(`pragma max_page_count = ${count}`)))
  const post = (email: string) => ({ name: 'A', email })
  const large = { title: 'A', content: 'x'.repeat(90_000) }
  const refused = await world.ask('POST /api/users/2/posts', { as: 2, body: large })
  assert.equal(refused.status, 503)
  assert.match(refused.json.error.message, /disk is full/)
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  assert.equal((await world.ask('GET /api/users/2', { as: 2 })).status, 200)
  await world.engine.write(job(step('pragma max_page_count = 100000')))
  assert.equal((await world.ask('POST /api/users/2/posts', { as: 2, body: large })).status, 201)
  assert.equal((await world.ask('POST /api/users', { body: post('full@example.org') })).status, 201)
  assert.deepEqual(fatal, [])
})

test('while another program writes, a write that waited long enough is OVERLOADED and the service lives on [A11]', async () => {
  const { world, fatal } = await worldWithWriter({ rows: {} })
  await world.engine.write(job(step('pragma busy_timeout = 30')))
  const other = connect(world.file)
  other.run('begin immediate')
  await assert.rejects(world.engine.write(job(insertUser('early'))), rejection('OVERLOADED'))
  other.run('rollback')
  other.close()
  assert.equal((await world.engine.write(job(insertUser('late')))).kind, 'done')
  assert.deepEqual(keysIn(world.file), ['late'])
  assert.deepEqual(fatal, [])
})

test('what was taken on before a close is written, and what comes after is refused', async () => {
  const { world } = await worldWithWriter({ rows: {} })
  const writes = Array.from({ length: 20 }, (_, index) =>
    world.engine.write(job(insertUser(`u${index}`))),
  )
  const closed = world.engine.close()
  const late = assert.rejects(world.engine.write(job(insertUser('late'))), { code: 'UNAVAILABLE' })
  assert.ok((await Promise.all(writes)).every(({ kind }) => kind === 'done'))
  await Promise.all([closed, late])
  assert.equal(keysIn(world.file).length, 20)
  release(world)
  // Its engine is closed already, its folder is not removed.
  await assert.rejects(world.close())
})

test('an answer is of its own request, also when the writer forgets its plans between two of a group', async () => {
  const { world } = await worldWithWriter()
  let made = 0
  const rest = async () => {
    const name = `R${++made}`
    const { json } = await world.ask('POST /api/users', {
      body: { name, email: `${name}@example.org` },
    })
    assert.deepEqual([json.name, json.role], [name, 'user'])
  }
  const graphql = async () => {
    const name = `G${++made}`
    const { json } = await world.gql(
      `mutation { createUser(input: {name: "${name}", email: "${name}@example.org"}) { ${name}: name } }`,
    )
    assert.deepEqual(json.data, { createUser: { [name]: name } })
  }
  for (let group = 0; group < 70; group++) {
    // While the writer runs this, the next group fills.
    const busy = world.engine.write(slow(60_000))
    await new Promise(resolve => setImmediate(resolve))
    const asks = Array.from({ length: 10 }, (_, index) => (index % 5 === 2 ? rest() : graphql()))
    await Promise.all([busy, ...asks])
  }
})

/** A condition for which all posts of an author are passed for each of them, twice over. */
const cubic =
  'where: { author: { posts: { some: { author: { posts: { some: { title: { eq: "" } } } } } } } }'

for (const [name, engine, slowly] of [
  ['its time is up', { readTimeout: 0 }, 'limit: 1, offset: 2000000000'],
  ['it has held up other writes for long', {}, cubic],
] as const)
  test(`an answer whose read runs until ${name} is TIMEOUT, its write is undone, and those beside it are kept [D6]`, async () => {
    const { world } = await worldWithWriter({ engine })
    await world.change(`with recursive n (i) as (select 1 union all select i + 1 from n where i < 300)
    insert into posts (author_id, title, content, created_at) select 2, 'x', 'x', 1 from n`)
    const passing = (age: number, args: string) =>
      world.gql(
        `mutation { updateUser(id: 2, input: {age: ${age}}) { age posts(${args}) { id } } }`,
        { as: 2 },
      )
    // Each of its own row: which of them the writer gets first is open.
    const rename = (id: number, name: string) =>
      world.ask(`PATCH /api/users/${id}`, { as: id, body: { name } })
    const [before, slow, after] = await Promise.all([
      rename(3, 'Before'),
      passing(41, slowly),
      rename(1, 'After'),
    ])
    assert.deepEqual(slow.json.data, null)
    assert.equal(slow.json.errors[0].extensions.code, 'TIMEOUT')
    assert.deepEqual([before.status, after.status], [200, 200])
    const { json } = await world.gql(
      '{ one: user(id: 1) { name } two: user(id: 2) { age } three: user(id: 3) { name } }',
      { as: 1 },
    )
    assert.notEqual(json.data.two.age, 41)
    assert.deepEqual([json.data.one.name, json.data.three.name], ['After', 'Before'])
    assert.equal((await passing(42, 'limit: 1')).json.data.updateUser.age, 42)
  })
