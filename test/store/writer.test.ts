import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { connect } from '#engines/sqlite/connection.ts'
import { ApiError } from '#errors.ts'
import { drive } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'
import type { Job, Outcome, Step } from '#write/job.ts'
import { perform } from '#write/perform.ts'
import { isPlanned, rounds } from '../support/rounds.ts'
import { createWorld, type World, type WorldOptions } from '../world.ts'

const worlds: World[] = []
after(() => Promise.all(worlds.map(world => world.close())))

/** A world with access to its writer thread, and the message of its engine when it had to stop. */
const worldWithWriter = async (options: WorldOptions = {}) => {
  let writer: Worker | undefined
  const seen = (worker: Worker) => {
    writer = worker
  }
  process.once('worker', seen)
  const fatal: string[] = []
  const world = await createWorld({
    ...options,
    engine: { ...options.engine, onFatal: message => void fatal.push(message) },
  })
  worlds.push(world)
  return { world, writer: writer as unknown as Worker, fatal }
}

const step = (
  text: string,
  values: readonly SqlValue[] = [],
  expect: Step['expect'] = 'any',
): Step => ({
  statement: { text, values },
  expect,
})
const job = (...steps: readonly Step[]): Job => ({ steps, status: 200, answer: null })

const insertUser = (key: string) =>
  step(
    "insert into users (name, email, created_at, email_key) values ('A', ?1, 1, ?1) returning id",
    [key],
    'row',
  )

const keysIn = (file: string): readonly string[] => {
  const connection = connect(file)
  const rows = connection.query({ text: 'select email_key from users order by 1', values: [] })
  connection.close()
  return rows.map(([key]) => String(key))
}

/** A job that takes its time: it counts so far. */
const slow = (count: number): Job =>
  job(
    step(
      'with recursive n (i) as (select 1 union all select i + 1 from n where i < ?1) select max(i) from n',
      [count],
    ),
  )

/** What a job of the property does: with `key` put in first, and then something that fails, or nothing. */
const deeds = {
  put: (key: string) => job(insertUser(key)),
  'put two': (key: string) => job(insertUser(key), insertUser(`${key}${key}`)),
  'put twice': (key: string) => job(insertUser(key), insertUser(key)),
  'put, then expect what is not': (key: string) =>
    job(insertUser(key), step('select 1 where false', [], 'row')),
  'put, then refer to nobody': (key: string) =>
    job(
      insertUser(key),
      step(
        "insert into posts (title, content, author_id, created_at) values ('a', 'b', 999999, 1) returning id",
      ),
    ),
  'put, then say nonsense': (key: string) => job(insertUser(key), step('select * from nowhere')),
  'put out of range': (key: string) =>
    job(
      insertUser(key),
      step(
        "insert into users (id, name, email, created_at, email_key) values (0, 'A', 'a', 1, 'zero') returning id",
      ),
    ),
  take: (key: string) =>
    job(step('delete from users where email_key = ?1 returning id', [key], 'row')),
}
type Deed = readonly [keyof typeof deeds, string]

/** The same deeds on a set: what each comes to, one after another. */
const expected = (list: readonly Deed[]) => {
  const keys = new Set<string>()
  const put = (...added: readonly string[]): Outcome['kind'] => {
    if (added.some(key => keys.has(key))) return 'violation'
    for (const key of added) keys.add(key)
    return 'done'
  }
  const kinds = list.map(([deed, key]): Outcome['kind'] => {
    const isThere = keys.has(key)
    switch (deed) {
      case 'put':
        return put(key)
      case 'put two':
        return put(key, `${key}${key}`)
      case 'take':
        return keys.delete(key) ? 'done' : 'refused'
      case 'put, then expect what is not':
        return isThere ? 'violation' : 'refused'
      case 'put, then say nonsense':
        return isThere ? 'violation' : 'failed'
      case 'put twice':
      case 'put, then refer to nobody':
      case 'put out of range':
        return 'violation'
      default:
        return deed satisfies never
    }
  })
  return { kinds, keys: [...keys].sort() }
}

const someDeeds = fc.array(
  fc.tuple(
    fc.constantFrom(...(Object.keys(deeds) as Deed[0][])),
    fc.constantFrom('a', 'b', 'aa', 'c', 'd'),
  ),
  { minLength: 1, maxLength: 60 },
)

test('of jobs that commit together, just those fail that would fail alone, and leave nothing', async t => {
  const groups = rounds(100, 10_000)
  const { world } = await worldWithWriter({ rows: {} })
  await fc.assert(
    fc.asyncProperty(someDeeds, async list => {
      await world.engine.write(job(step('delete from users')))
      const outcomes = await Promise.all(
        list.map(([deed, key]) => world.engine.write(deeds[deed](key))),
      )
      const { kinds, keys } = expected(list)
      assert.deepEqual(
        outcomes.map(({ kind }) => kind),
        kinds,
      )
      assert.deepEqual(keysIn(world.file), keys)
    }),
    { numRuns: groups },
  )
  t.diagnostic(`${groups} groups`)
})

test('without a savepoint for each job the same property does not hold', async () => {
  const { world } = await worldWithWriter({ rows: {} })
  const connection = connect(world.file)
  const { failed } = fc.check(
    fc.property(someDeeds, list => {
      connection.run('delete from users; begin immediate')
      const outcomes = list.map(([deed, key]) => {
        try {
          return drive(perform(deeds[deed](key), undefined), connection.query).kind
        } catch {
          return 'failed'
        }
      })
      connection.run('commit')
      const { kinds, keys } = expected(list)
      assert.deepEqual(outcomes, kinds)
      assert.deepEqual(keysIn(world.file), keys)
    }),
    { numRuns: 100 },
  )
  connection.close()
  assert.equal(failed, true)
})

/** How many transactions the write-ahead log holds: frames that end one, of the log's present turn. */
const commitsIn = (file: string): number => {
  const log = readFileSync(`${file}-wal`)
  if (log.length === 0) return 0
  const frame = 24 + log.readUInt32BE(8)
  const turn = log.subarray(16, 24)
  let commits = 0
  for (let at = 32; at + frame <= log.length; at += frame) {
    if (!log.subarray(at + 8, at + 16).equals(turn)) break
    if (log.readUInt32BE(at + 4) !== 0) commits++
  }
  return commits
}

test('writes of one moment share their commits, and so their waits for the disk', async () => {
  const { world } = await worldWithWriter({ rows: {} })
  const before = commitsIn(world.file)
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, (_, index) => world.engine.write(job(insertUser(`u${index}`)))),
  )
  assert.ok(outcomes.every(({ kind }) => kind === 'done'))
  const shared = commitsIn(world.file) - before
  assert.ok(shared >= 1 && shared <= 10, `${shared} commits`)
  for (let index = 0; index < 5; index++) await world.engine.write(job(insertUser(`v${index}`)))
  assert.equal(commitsIn(world.file) - before - shared, 5)
})

/** How many of 40 writes of one moment are answered in each turn of the event loop, where each commit is said to take so many milliseconds. */
const answeredInTurns = async (milliseconds: number) => {
  const { world, writer } = await worldWithWriter({ rows: {} })
  writer.prependListener('message', reply => {
    if (reply.kind === 'outcomes') reply.milliseconds = milliseconds
  })
  let turn = 0
  const inTurns: number[] = []
  const one = async (number: number) => {
    await world.engine.write(job(insertUser(`u${number}`)))
    inTurns[turn] = (inTurns[turn] ?? 0) + 1
  }
  const all = Array.from({ length: 40 }, (_, number) => one(number))
  let open = true
  const ended = Promise.all(all).finally(() => {
    open = false
  })
  for (; open; turn++) await new Promise(setImmediate)
  await ended
  return Object.values(inTurns)
}

test('callers whose writes commit together are answered a few in each turn of the event loop, unless commits take long', async () => {
  const quick = await answeredInTurns(1)
  assert.ok(Math.max(...quick) <= 10, `${quick}`)
  const slow = await answeredInTurns(10)
  assert.ok(Math.max(...slow) >= 20, `${slow}`)
})

const rejection = (code: string) => (error: unknown) => {
  assert.ok(error instanceof ApiError, String(error))
  assert.equal(error.code, code)
  assert.ok((error.retryAfter ?? 0) > 0)
  return true
}

test('more writes than may wait are refused at once with OVERLOADED; those before and after are done', async t => {
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
  assert.deepEqual(
    all.map(({ status }) => status),
    [...Array(queue).fill('fulfilled'), ...Array(writes - queue).fill('rejected')],
  )
  for (const result of all) if (result.status === 'rejected') rejection('OVERLOADED')(result.reason)
  assert.equal(order.indexOf('done'), writes - queue)
  assert.equal((await world.engine.write(job(insertUser('later')))).kind, 'done')
  assert.equal(keysIn(world.file).length, queue + 1)
  assert.ok(Math.max(...groups) <= 500)
  assert.deepEqual(fatal, [])
  t.diagnostic(`${queue} of ${writes} done, in groups of at most ${Math.max(...groups)}`)
})

test('a full queue is 503 with Retry-After in both APIs, and reads are served meanwhile', async () => {
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

test('a writer that dies rejects what waits with UNAVAILABLE, says so once, and hangs nobody', async t => {
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
  worlds.splice(worlds.indexOf(world), 1)
  await world.close()
}

test('after a commit that fails no write is acknowledged, and nothing more is written', async () => {
  const { world, fatal } = await worldWithWriter({ rows: {} })
  const broken = job(
    step('pragma defer_foreign_keys = on'),
    step(
      "insert into posts (title, content, author_id, created_at) values ('a', 'b', 999999, 1) returning id",
    ),
  )
  const jobs = [job(insertUser('before')), broken, job(insertUser('after'))]
  for (const result of await Promise.allSettled(jobs.map(each => world.engine.write(each)))) {
    assert.equal(result.status, 'rejected')
    if (result.status === 'rejected') rejection('UNAVAILABLE')(result.reason)
  }
  assert.equal(fatal.length, 1)
  assert.match(fatal[0] ?? '', /commit failed, its outcome is unknown/)
  await assert.rejects(world.engine.write(job(insertUser('later'))), rejection('UNAVAILABLE'))
  assert.deepEqual(keysIn(world.file), [])
})

test('a full disk refuses writes, keeps what is there, and takes writes again when there is room', async () => {
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

test('while another program writes, a write that waited long enough is OVERLOADED and the service lives on', async () => {
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
  worlds.splice(worlds.indexOf(world), 1)
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

test('what is written through one API is read through the other at once', async () => {
  const { world } = await worldWithWriter()
  const one = async (index: number) => {
    const rest = await world.ask('POST /api/users', {
      body: { name: `R${index}`, email: `r${index}@example.org` },
    })
    const read = await world.gql(`{ user(id: "${rest.json.id}") { name email } }`, { as: 1 })
    assert.deepEqual(read.json.data.user, { name: `R${index}`, email: `r${index}@example.org` })
    const changed = await world.gql(
      `mutation { updateUser(id: "${rest.json.id}", input: {name: "G${index}"}) { id } }`,
      { as: 1 },
    )
    assert.equal(changed.json.data.updateUser.id, String(rest.json.id))
    const again = await world.ask(`GET /api/users/${rest.json.id}`, { as: 1 })
    assert.equal(again.json.name, `G${index}`)
    await world.ask(`DELETE /api/users/${rest.json.id}`, { as: 1 })
    assert.equal(
      (await world.gql(`{ user(id: "${rest.json.id}") { id } }`, { as: 1 })).json.data.user,
      null,
    )
  }
  for (let turn = 0; turn < 40; turn++)
    await Promise.all(Array.from({ length: 8 }, (_, index) => one(turn * 8 + index)))
})
