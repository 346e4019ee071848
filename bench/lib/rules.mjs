/** What a rule by value costs a read: processor time in one process, without HTTP and without a cache, beside the same rows for everybody. */
import { writeFileSync } from 'node:fs'

const reads = { one: ['/1', 4_000], list: ['?limit=20', 1_000] }
/** What each may cost at most, by the rule and the read. */
const most = { 'own row': { one: 1.05, list: 1.15 }, 'one relation': { one: 1.15, list: 1.5 } }

/** The entities: the same but for their rules. */
async function subjects() {
  const { viewer } = await import('../../src/model/condition.ts')
  const { entity, one } = await import('../../src/model/entity.ts')
  const { choice, id, int, reference, revision, text } = await import('../../src/model/field.ts')
  const { anyone, signedIn } = await import('../../src/model/policy.ts')
  const { member } = await import('../../test/generated/models.ts')
  const rest = { list: true, one: true, listing: { paging: 'cursor', limit: 20 } }
  const state = () => choice(['draft', 'published'])
  const page = { description: '', rest }
  const guarded = (table, read) =>
    entity({
      ...page,
      table,
      plural: table,
      fields: {
        id: id(),
        title: text({ max: 40 }),
        size: int({ min: 0, max: 9 }),
        status: state(),
        ownerId: reference('member'),
        shelfId: reference('shelf'),
        revision: revision(),
      },
      relations: { owner: one('member', 'ownerId'), shelf: one('shelf', 'shelfId') },
      policy: { read },
    })
  const fields = { id: id(), status: state() }
  return {
    member,
    shelf: entity({
      ...page,
      table: 'shelves',
      plural: 'shelves',
      fields,
      policy: { read: anyone },
    }),
    none: guarded('open', anyone),
    'own row': guarded('own', [
      anyone.where({ status: 'published' }),
      signedIn.where({ owner: viewer }),
    ]),
    'one relation': guarded('beside', anyone.where({ shelf: { status: 'published' } })),
  }
}

/** Measures each entity in turns on either engine: the median of the rounds, and how much more a rule costs. */
export async function benchRules({ rounds, seconds, json }) {
  process.env.DUET_TEST_CACHE = '0'
  const { testServer } = await import('../../scripts/test-postgres.mjs')
  const server = await testServer()
  Object.assign(process.env, server.env)
  try {
    const found = await measureOn('sqlite', rounds * seconds)
    if (server.env.DUET_TEST_POSTGRES_URL)
      Object.assign(found, await measureOn('postgres', rounds * seconds))
    if (json) writeFileSync(json, `${JSON.stringify(found, null, 2)}\n`)
  } finally {
    await server.end()
  }
}

async function measureOn(engine, rounds) {
  console.log(engine)
  const { serveWithMembers } = await import('../../test/generated/serve.ts')
  const { none, 'own row': own, 'one relation': beside, ...others } = await subjects()
  const entities = { ...others, openThing: none, ownThing: own, besideThing: beside }
  const service = await serveWithMembers(entities, engine, 'user', 'admin')
  const session = await service.store.session('filling')
  const run = text => session.query({ text, values: [] })
  await run("insert into shelves (status) values ('published')")
  for (const { table } of [none, own, beside])
    await run(`insert into ${table} (title, size, status, owner_id, shelf_id, revision)
      with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000)
      select 'title ' || i, i % 10, case when i % 10 = 0 then 'draft' else 'published' end, 1, 1, 1 from n`)
  await session.analyze()
  await session.close()
  const measure = async (line, times) => {
    const before = process.cpuUsage()
    for (let done = 0; done < times; done += 20)
      await Promise.all(Array.from({ length: 20 }, () => service.ask({ line, as: 'user' })))
    const { user, system } = process.cpuUsage(before)
    return (user + system) / times
  }
  const tables = { none: 'open', 'own row': 'own', 'one relation': 'beside' }
  const found = {}
  for (const [what, [path, times]] of Object.entries(reads)) {
    const all = Object.keys(tables).map(rule => ({ rule, micros: [] }))
    // The first rounds only warm up; rounds are short, so that some of them are not disturbed.
    for (let round = -2; round < rounds; round++)
      for (const { rule, micros } of round % 2 ? all : all.toReversed()) {
        const took = await measure(`GET /api/${tables[rule]}${path}`, times)
        if (round >= 0) micros.push(took)
      }
    const median = ({ micros }) => micros.toSorted((a, b) => a - b)[micros.length >> 1]
    for (const one of all) {
      const ratio = median(one) / median(all[0])
      found[`${engine}, ${what}, ${one.rule}`] = { micros: median(one), ratio }
      const wanted = most[one.rule] ? `, at most ${most[one.rule][what].toFixed(2)} wanted` : ''
      console.log(
        `${what.padEnd(6)}${one.rule.padEnd(14)}${median(one).toFixed(1)} µs  ${ratio.toFixed(2)} ×${wanted}`,
      )
    }
  }
  await service.close()
  return found
}
