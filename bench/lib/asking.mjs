/** What the conditions of callers cost beside declared filters, in one process, without HTTP and without a cache; and what groups do to point reads beside them. */

import { writeFileSync } from 'node:fs'
import { median } from './measure.mjs'
import { benchOnCopy } from './on-copy.mjs'
import { flood, get, pointReads } from './overload.mjs'

/** Names to choose from by `--only`. */
export const names = ['conditions', 'groups']

const things = 100_000
/** So many things are on each shelf, and have each pair of kind and status. */
const onEach = 100

/** Each pair: the list asked for by declared filters, and by a condition; `most` is what the second may cost through the first, if it is judged. */
const pairs = [
  {
    title: 'GraphQL, two conditions on an index',
    most: 1.1,
    declared: graphql('$a: Int! $b: ThingStatus!', 'kind: $a, status: $b'),
    asked: graphql('$a: Int! $b: ThingStatus!', 'where: { kind: { eq: $a }, status: { eq: $b } }'),
    values: at => ({ a: at % 250, b: at % 2 ? 'draft' : 'published' }),
  },
  {
    title: 'GraphQL, the same in one variable',
    declared: graphql('$a: Int! $b: ThingStatus!', 'kind: $a, status: $b'),
    asked: graphql('$where: ThingWhere', 'where: $where'),
    values: at => ({
      a: at % 250,
      b: at % 2 ? 'draft' : 'published',
      where: { kind: { eq: at % 250 }, status: { eq: at % 2 ? 'draft' : 'published' } },
    }),
  },
  {
    title: 'REST, two conditions on an index',
    most: 1.1,
    declared: ({ a, b }) => ({ line: `GET /api/v2/things?kind=${a}&status=${b}` }),
    asked: ({ a, b }) => ({ line: `GET /api/v2/things?kind%5Beq%5D=${a}&status%5Beq%5D=${b}` }),
    values: at => ({ a: at % 250, b: at % 2 ? 'draft' : 'published' }),
  },
  {
    title: 'GraphQL, across a relation by a unique field',
    most: 3,
    declared: graphql('$a: ID!', 'shelfId: $a'),
    asked: graphql('$b: String!', 'where: { shelf: { code: { eq: $b } } }'),
    values: at => ({ a: `${(at % 1000) + 1}`, b: `shelf ${(at % 1000) + 1}` }),
  },
  {
    title: 'GraphQL, across a relation to few',
    most: 3,
    declared: graphql('$a: ID!', 'shelfId: $a'),
    asked: graphql('$b: String!', 'where: { shelf: { label: { eq: $b } } }'),
    values: at => ({ a: `${(at % 1000) + 1}`, b: `shelf ${(at % 1000) + 1}` }),
  },
  {
    title: 'GraphQL, across a relation to many',
    most: 3,
    declared: graphql('$b: ThingStatus!', 'status: $b'),
    asked: graphql('$a: Int!', 'where: { shelf: { floor: { eq: $a } } }'),
    values: at => ({ a: at % 3, b: at % 2 ? 'draft' : 'published' }),
  },
]

/** A list of things by some arguments. */
function graphql(variables, given) {
  const query = `query(${variables}) { things(${given}, limit: 20) { id title size } }`
  return values => ({ line: 'POST /graphql', body: { query, variables: values } })
}

async function entities() {
  const { entity, one } = await import('../../src/model/entity.ts')
  const { choice, id, int, reference, text } = await import('../../src/model/field.ts')
  const { anyone } = await import('../../src/model/policy.ts')
  const { member } = await import('../../test/generated/models.ts')
  const usual = { description: '', policy: { read: anyone }, rest: { list: true, one: true } }
  return {
    member,
    shelf: entity({
      ...usual,
      table: 'shelves',
      plural: 'shelves',
      fields: {
        id: id(),
        code: text({
          max: 20,
          unique: {
            code: 'CODE_TAKEN',
            status: 409,
            title: 'Code taken',
            example: 'The code is taken',
          },
        }),
        label: text({ max: 20 }),
        floor: int({ min: 0, max: 9 }),
      },
      indexes: [['label']],
    }),
    thing: entity({
      ...usual,
      table: 'things',
      plural: 'things',
      fields: {
        id: id(),
        title: text({ max: 40 }),
        kind: int({ min: 0, max: 999 }),
        status: choice(['draft', 'published']),
        size: int({ min: 0, max: 9 }),
        shelfId: reference('shelf'),
      },
      relations: { shelf: one('shelf', 'shelfId') },
      indexes: [['kind', 'status'], ['status']],
      rest: {
        list: true,
        one: true,
        listing: {
          paging: 'cursor',
          limit: 20,
          filters: {
            kind: { kind: 'equals', field: 'kind' },
            status: { kind: 'equals', field: 'status' },
          },
        },
      },
      graphql: { filters: ['kind', 'status', 'shelfId'] },
    }),
  }
}

/** Serves the things from an engine and measures each pair in turns: the median of the rounds, and their ratio. */
async function measureOn(engine, rounds) {
  const { serveModel } = await import('../../test/generated/serve.ts')
  const service = await serveModel(await entities(), engine)
  const session = await service.store.session('filling')
  const run = text => session.query({ text, values: [] })
  const numbers = most =>
    `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${most})`
  await run(`insert into shelves (code, label, floor) ${numbers(things / onEach)}
    select 'shelf ' || i, 'shelf ' || i, i % 3 from n`)
  await run(`insert into things (title, kind, status, size, shelf_id) ${numbers(things)}
    select 'thing ' || i, i % 500 / 2, case when i % 2 = 0 then 'published' else 'draft' end,
      i % 10, i * 7919 % ${things / onEach} + 1 from n`)
  await session.analyze()
  await session.close()
  const measure = async (request, values, times) => {
    const before = process.cpuUsage()
    for (let done = 0; done < times; done += 20)
      await Promise.all(
        Array.from({ length: 20 }, async (_, at) => {
          const { text } = await service.ask({ ...request(values(done + at)), as: 'anonymous' })
          if (!text.startsWith('{"data"')) throw new Error(text)
        }),
      )
    const { user, system } = process.cpuUsage(before)
    return (user + system) / times
  }
  console.log(engine)
  const found = {}
  for (const { title, most, declared, asked, values } of pairs) {
    const taken = { declared: [], asked: [] }
    // The first rounds only warm up.
    for (let round = -2; round < rounds; round++)
      for (const [name, request] of Object.entries({ declared, asked })) {
        const took = await measure(request, values, 1000)
        if (round >= 0) taken[name].push(took)
      }
    const [one, other] = [median(taken.declared), median(taken.asked)]
    const ratio = other / one
    found[`${engine}, ${title}`] = { declared: one, asked: other, ratio }
    console.log(
      `${title.padEnd(46)}${one.toFixed(1).padStart(8)} µs, asked ${other.toFixed(1).padStart(8)} µs  ${ratio.toFixed(2)} ×${most ? `, at most ${most.toFixed(1)} wanted` : ''}`,
    )
  }
  found[`${engine}, groups`] = await measureHeld(service)
  await service.close()
  return found
}

const grouped = `query($least: Int!) {
  thingsAggregate(groupBy: [kind, status], having: { count: { gte: $least } }, orderBy: [{ sum: { size: DESC } }]) {
    kind status count sum { size } avg { size } min { title } max { title }
  }
}`

/**
 * What groups of all things take of the thread that answers everybody: its processor time for one request, and the longest of its
 * turns meanwhile, by processor time too, since others on this machine do not add to that.
 */
async function measureHeld(service) {
  const used = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  const times = []
  const turns = []
  for (let least = 0; least < 40; least++) {
    let isOver = false
    const asked = service
      .ask({
        line: 'POST /graphql',
        body: { query: grouped, variables: { least } },
        as: 'anonymous',
      })
      .finally(() => {
        isOver = true
      })
    let longest = 0
    let before = used()
    const begun = before
    while (!isOver) {
      await new Promise(resolve => setTimeout(resolve, 1))
      const now = used()
      longest = Math.max(longest, now - before)
      before = now
    }
    const { text } = await asked
    if (text.startsWith('{"errors"')) throw new Error(text)
    times.push(before - begun)
    turns.push(longest)
  }
  const found = { time: median(times.slice(10)), longest: Math.max(...turns.slice(10)) }
  console.log(
    `groups of all things: ${found.time.toFixed(1)} ms of the serving thread each, ${found.longest.toFixed(1)} ms in its longest turn`,
  )
  return found
}

/** Clients that ask for groups of all products, one request after another. */
const groupClients = 4
/** So many different requests that the cache answers none. */
const limits = 900
const pointsPerSecond = 200

const groups = Array.from({ length: limits }, (_, less) =>
  get(
    `/api/v2/products/aggregate?group=category,createdAtMonth&sum=stock,price&avg=price&tz=Europe/Berlin&sort=-sum.price&limit=${1000 - less}`,
  ),
)

const answeredIn = ({ groups: { ok, unanswered } }) => ok + unanswered + groupClients

/** Point reads alone and beside the groups, in turns; the figure is the median of the ratios of their p99s. */
async function measureGroups({ run, server, facts }) {
  const { token, seconds, rounds } = run
  const points = {
    name: 'points',
    rate: pointsPerSecond,
    connections: 32,
    requests: pointReads(facts),
  }
  // Each round goes on where the last one ended, or the cache would answer.
  let done = 0
  const askingFor = count => ({
    name: 'groups',
    connections: count,
    requests: [...groups.slice(done % limits), ...groups.slice(0, done % limits)],
  })
  done += answeredIn(await flood(server, token, 2, [points, askingFor(1)]))
  const all = []
  for (let round = 0; round < rounds; round++) {
    const idle = await flood(server, token, seconds, [points])
    const busy = await flood(server, token, seconds, [points, askingFor(groupClients)])
    done += answeredIn(busy)
    all.push({ idle, busy, ratio: busy.points.p99 / idle.points.p99 })
    const { p50, p99 } = busy.points
    console.log(
      `point reads: idle p50 ${idle.points.p50.toFixed(2)} p99 ${idle.points.p99.toFixed(2)} ms, beside groups p50 ${p50.toFixed(2)} p99 ${p99.toFixed(2)} ms, ${(p99 / idle.points.p99).toFixed(2)} ×; groups ${JSON.stringify(busy.groups.statuses)}, p50 ${busy.groups.p50.toFixed(0)} ms; the load itself late by ${idle.own.late.toFixed(1)} and ${busy.own.late.toFixed(1)} ms`,
    )
  }
  const ratio = median(all.map(({ ratio }) => ratio))
  console.log(
    `p99 beside groups through that of the idle service: ${ratio.toFixed(2)} ×, at most 3.0 wanted`,
  )
  return { groups: { ratio, rounds: all } }
}

/** Conditions on both engines, and groups on SQLite. */
export async function benchAsking(options, tools) {
  const wanted = name => options.only.length === 0 || options.only.includes(name)
  const { json, rounds } = options
  const found = {}
  if (wanted('conditions')) {
    process.env.DUET_TEST_CACHE = '0'
    const { testServer } = await import('../../scripts/test-postgres.mjs')
    const postgres = await testServer()
    Object.assign(process.env, postgres.env)
    try {
      Object.assign(found, await measureOn('sqlite', 2 * rounds + 1))
      if (postgres.env.DUET_TEST_POSTGRES_URL)
        Object.assign(found, await measureOn('postgres', 2 * rounds + 1))
    } finally {
      await postgres.end()
    }
  }
  if (wanted('groups'))
    await benchOnCopy({ ...options, json: undefined }, tools, async tested =>
      Object.assign(found, await measureGroups(tested)),
    )
  if (json) writeFileSync(json, `${JSON.stringify(found, null, 2)}\n`)
}
