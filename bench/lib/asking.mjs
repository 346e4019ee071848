/** What the conditions of callers cost beside declared filters, in one process, without HTTP and without a cache; and what groups do to point reads beside them. */
import { median } from './measure.mjs'

const things = 100_000
/** So many things are on each shelf, and have each pair of kind and status. */
const onEach = 100

/** Each pair: the list asked for by declared filters, and by a condition; `most` is what the second may cost through the first. */
export const pairs = [
  {
    title: 'GraphQL, two conditions on an index',
    most: 1.1,
    declared: graphql('$a: Int! $b: ThingStatus!', 'kind: $a, status: $b'),
    asked: graphql('$a: Int! $b: ThingStatus!', 'where: { kind: { eq: $a }, status: { eq: $b } }'),
    values: at => ({ a: at % 250, b: at % 2 ? 'draft' : 'published' }),
  },
  {
    title: 'GraphQL, the same as one variable',
    most: 1.1,
    declared: graphql('$a: Int! $b: ThingStatus!', 'kind: $a, status: $b'),
    asked: graphql('$where: ThingWhere', 'where: $where'),
    values: at => ({
      a: at % 250,
      b: at % 2 ? 'draft' : 'published',
      where: { kind: { eq: at % 250 }, status: { eq: at % 2 ? 'draft' : 'published' } },
    }),
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

export async function entities() {
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
export async function measureOn(engine, rounds, only = pairs) {
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
          if (text.startsWith('{"errors"')) throw new Error(text)
        }),
      )
    const { user, system } = process.cpuUsage(before)
    return (user + system) / times
  }
  const found = {}
  for (const { title, most, declared, asked, values } of only) {
    const taken = { declared: [], asked: [] }
    // The first rounds only warm up.
    for (let round = -2; round < rounds; round++)
      for (const [name, request] of Object.entries({ declared, asked })) {
        const took = await measure(request, values, Number(process.env.N ?? 500))
        if (round >= 0) taken[name].push(took)
      }
    const [one, other] = [median(taken.declared), median(taken.asked)]
    const ratio = other / one
    found[`${engine}, ${title}`] = { declared: one, asked: other, ratio }
    console.log(
      `${title.padEnd(40)}${one.toFixed(1).padStart(8)} µs, asked ${other.toFixed(1).padStart(8)} µs  ${ratio.toFixed(2)} ×, at most ${most.toFixed(1)} wanted`,
    )
  }
  await service.close()
  return found
}

if (process.argv[2] === 'try') {
  process.env.DUET_TEST_CACHE = '0'
  if (process.argv[3] === 'postgres') {
    const { testServer } = await import('../../scripts/test-postgres.mjs')
    const server = await testServer()
    Object.assign(process.env, server.env)
    await measureOn(
      'postgres',
      5,
      pairs.filter((_, at) => !process.argv[4] || process.argv[4] === String(at)),
    )
    await server.end()
  } else
    await measureOn(
      'sqlite',
      5,
      pairs.filter((_, at) => !process.argv[4] || process.argv[4] === String(at)),
    )
  process.exit()
}
