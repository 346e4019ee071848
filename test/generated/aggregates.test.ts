/** Groups of rows: whatever is asked of them, both engines answer what is calculated in memory with whole numbers of any size. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { formType } from '#http/request.ts'
import { viewer } from '#model/condition.ts'
import { type Entity, entity } from '#model/entity.ts'
import { choice, date, decimal, id, int, money, reference, text, time } from '#model/field.ts'
import { formatMinor } from '#model/money.ts'
import { columnName } from '#model/names.ts'
import { anyone, signedIn } from '#model/policy.ts'
import type { Session } from '#sql/engine.ts'
import { comma, join, name, sql, statement } from '#sql/sql.ts'
import { admin } from '../support/roles.ts'
import { engines } from './compare.ts'
import { member } from './models.ts'
import { type Service, serveModel } from './serve.ts'

const most = Number.MAX_SAFE_INTEGER

const entities: Record<string, Entity> = {
  member,
  sale: entity({
    fields: {
      id: id(),
      word: text({ max: 20, nullable: true }),
      kind: choice(['big', 'small']),
      size: int({ min: -most, max: most, nullable: true }),
      price: money({ max: 50, nullable: true }),
      weight: decimal({ scale: 3, min: -9, max: 9, nullable: true }),
      day: date({ nullable: true }),
      soldAt: time({ nullable: true }),
      ownerId: reference('member', { onDelete: 'cascade', nullable: true }),
      cost: int({ min: 0, max: 9, rest: false, readableBy: admin }),
      margin: int({ min: 0, max: 9, readableBy: { ownerId: viewer } }),
      tier: choice(['low', 'high'], {
        nullable: true,
        from: { 2: { form: { values: { low: 'lower', high: 'upper' } } } },
      }),
      // A filter of the list: groups have an argument of that name for themselves.
      timeZone: choice(['here', 'there'], { nullable: true }),
    },
    graphql: { filters: ['timeZone'] },
    policy: { read: [anyone.where({ kind: 'big' }), signedIn.where({ ownerId: viewer })] },
    rest: {
      list: true,
      one: true,
      listing: { paging: 'page', limit: 5, filters: { kind: { field: 'kind', kind: 'equals' } } },
    },
  }),
}

const zones = [
  'UTC',
  'Europe/Berlin',
  'America/Sao_Paulo',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'America/New_York',
  'Australia/Lord_Howe',
]

type Sale = Readonly<Record<string, string | number | null>>

const orNull = <Value>(of: fc.Arbitrary<Value>) => fc.option(of, { nil: null, freq: 4 })
// Around the days on which clocks change, on which Apia had none, and long ago.
const edges = ['2011-12-30T10:00Z', '2026-03-29T01:00Z', '2018-11-04T03:00Z', '1969-12-31T23:59Z']
const moments = fc.oneof(
  fc.integer({ min: Date.UTC(1890, 0), max: Date.UTC(2099, 0) }),
  fc
    .tuple(fc.constantFrom(...edges), fc.integer({ min: -40, max: 40 }))
    .map(([edge, hours]) => Date.parse(edge) + hours * 1_800_000 - 1),
)
const sale = fc.record({
  word: orNull(fc.constantFrom('', 'a', 'Z', 'é', '𝒳', '\uffee')),
  kind: fc.constantFrom('big', 'big', 'small'),
  size: orNull(
    fc.oneof(
      fc.constantFrom(-most, most, most - 1),
      fc.integer({ min: -5, max: 5 }),
      fc.maxSafeInteger(),
    ),
  ),
  price: orNull(fc.integer({ min: 0, max: 5000 })),
  weight: orNull(fc.integer({ min: -9000, max: 9000 })),
  day: orNull(fc.constantFrom('2026-01-31', '2025-12-31', '2026-02-01')),
  sold_at: orNull(moments),
  owner_id: orNull(fc.constantFrom(1, 2)),
  cost: fc.constant(1),
  margin: fc.constant(1),
})
const numbers = { size: 0, price: 2, weight: 3 } as const
const columns = { sold: 'sold_at', owner: 'owner_id' }
const keys = [
  'word',
  'kind',
  'day',
  'dayMonth',
  'dayYear',
  'price',
  'soldAtDay',
  'soldAtMonth',
  'soldAtYear',
]
const asks = fc.record({
  by: fc.uniqueArray(fc.constantFrom(...keys), { maxLength: 3 }),
  zone: fc.constantFrom(...zones),
  order: fc.constantFrom(
    'count',
    'sum.size',
    'avg.size',
    'avg.weight',
    'min.word',
    'max.soldAt',
    'sum.price',
  ),
  descending: fc.boolean(),
  having: orNull(
    fc.record({
      of: fc.constantFrom('count', 'sum.size', 'avg.size', 'avg.weight', 'sum.price'),
      is: fc.constantFrom('eq', 'ne', 'lt', 'lte', 'gt', 'gte'),
      to: fc.oneof(
        fc.constantFrom(0, 1, 2, 12.5, -1, 0.0005, most),
        fc.integer({ min: -9, max: 50 }),
      ),
    }),
  ),
  as: fc.constantFrom('anonymous', 'user', 'admin') as fc.Arbitrary<'anonymous' | 'user' | 'admin'>,
})
type Ask = typeof asks extends fc.Arbitrary<infer A> ? A : never

/** The day of a moment in a zone, by another way than the service goes. */
const localDay = (moment: number, timeZone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(moment)
    .toZonedDateTimeISO(timeZone)
    .toPlainDate()
    .toString()

const keyOf = (row: Sale, key: string, zone: string): string | number | null => {
  const [, field = key, part] = /^(day|soldAt)(Day|Month|Year)$/.exec(key) ?? []
  const stored = row[field === 'soldAt' ? columns.sold : field] ?? null
  if (stored === null) return null
  if (part === undefined) return stored
  const day = field === 'soldAt' ? localDay(Number(stored), zone) : String(stored)
  if (part === 'Day') return day
  return part === 'Month' ? day.slice(0, 7) : Number(day.slice(0, 4))
}

const valuesOf = (rows: readonly Sale[], field: string) => rows.flatMap(row => row[field] ?? [])

const sumOf = (rows: readonly Sale[], field: string): bigint | null => {
  const all = valuesOf(rows, field)
  return all.length === 0 ? null : all.reduce((sum, value) => sum + BigInt(value), 0n)
}

/** Half away from zero. */
const meanOf = (rows: readonly Sale[], field: string): bigint | null => {
  const sum = sumOf(rows, field)
  if (sum === null) return null
  const count = BigInt(valuesOf(rows, field).length)
  const size = sum < 0n ? -sum : sum
  const rounded = (size * 20_000n + count) / (2n * count)
  return sum < 0n ? -rounded : rounded
}

const byCodePoints = (one: string, other: string) =>
  Buffer.compare(Buffer.from(one), Buffer.from(other))

const compare = (one: bigint | number | string, other: bigint | number | string): number =>
  typeof one === 'string' && typeof other === 'string'
    ? byCodePoints(one, other)
    : one < other
      ? -1
      : one > other
        ? 1
        : 0

const nullsLast = (
  one: bigint | number | string | null,
  other: typeof one,
  sign: number,
): number => {
  if (one === null || other === null) return Number(one === null) - Number(other === null)
  return sign * compare(one, other)
}

const leastOf = (rows: readonly Sale[], field: string, sign: number) =>
  valuesOf(rows, field).toSorted((one, other) => sign * compare(one, other))[0] ?? null

const written = (whole: bigint | null, digits: number) => {
  if (whole === null) return null
  const text = formatMinor(whole, digits)
  return whole > BigInt(most) || whole < -BigInt(most) ? text : Number(text)
}

const iso = (moment: string | number | null) =>
  moment === null ? null : new Date(Number(moment)).toISOString()

/** What is to be answered. */
const expected = (rows: readonly Sale[], { by, zone, order, descending, having, as }: Ask) => {
  const viewerId = { anonymous: 0, user: 1, admin: -1 }[as]
  const seen = rows.filter(
    row => viewerId < 0 || row.kind === 'big' || (viewerId > 0 && row[columns.owner] === viewerId),
  )
  const groups = Map.groupBy(seen, row => JSON.stringify(by.map(key => keyOf(row, key, zone))))
  if (by.length === 0 && groups.size === 0) groups.set('[]', [])
  const valueIn = (rows: readonly Sale[], of: string) => {
    const [kind = '', field = ''] = of.split('.')
    const column = field === 'soldAt' ? columns.sold : field
    if (kind === 'count') return BigInt(rows.length)
    if (kind === 'sum') return sumOf(rows, column)
    return kind === 'avg' ? meanOf(rows, column) : leastOf(rows, column, kind === 'min' ? 1 : -1)
  }
  const fits = (rows: readonly Sale[]) => {
    if (having === null) return true
    const [kind = '', field = ''] = having.of.split('.')
    const digits =
      kind === 'count' ? 0 : numbers[field as keyof typeof numbers] + (kind === 'avg' ? 4 : 0)
    const value = valueIn(rows, having.of)
    // As far as the numbers of conditions go.
    if (value === null) return having.is === 'ne'
    const [whole, fraction = ''] = having.to.toFixed(4).split('.')
    const to = BigInt(`${whole}${fraction}${'0'.repeat(8)}`)
    const is = BigInt(value) * 10n ** BigInt(12 - digits)
    const by = is < to ? -1 : is > to ? 1 : 0
    return { eq: by === 0, ne: by !== 0, lt: by < 0, lte: by <= 0, gt: by > 0, gte: by >= 0 }[
      having.is
    ]
  }
  return [...groups.values()]
    .filter(fits)
    .toSorted((one, other) => {
      const first = nullsLast(valueIn(one, order), valueIn(other, order), descending ? -1 : 1)
      if (first !== 0) return first
      for (const key of by) {
        const next = nullsLast(
          keyOf(one[0] as Sale, key, zone),
          keyOf(other[0] as Sale, key, zone),
          1,
        )
        if (next !== 0) return next
      }
      return 0
    })
    .map(rows => ({
      ...Object.fromEntries(
        by.map(key => {
          const value = keyOf(rows[0] as Sale, key, zone)
          return [key, key === 'price' && value !== null ? Number(value) / 100 : value]
        }),
      ),
      count: rows.length,
      sum: Object.fromEntries(
        Object.entries(numbers).map(([of, digits]) => [of, written(sumOf(rows, of), digits)]),
      ),
      avg: Object.fromEntries(
        Object.entries(numbers).map(([of, digits]) => [of, written(meanOf(rows, of), digits + 4)]),
      ),
      min: {
        word: leastOf(rows, 'word', 1),
        soldAt: iso(leastOf(rows, columns.sold, 1)),
        day: leastOf(rows, 'day', 1),
      },
      max: {
        word: leastOf(rows, 'word', -1),
        soldAt: iso(leastOf(rows, columns.sold, -1)),
        size: leastOf(rows, 'size', -1),
      },
    }))
}

/** The same request for the REST API. */
const inRest = ({ by, zone, order, descending, having }: Ask): string => {
  const parameters = new URLSearchParams({
    ...(by.length > 0 && { group: by.join() }),
    sum: Object.keys(numbers).join(),
    avg: Object.keys(numbers).join(),
    min: 'word,soldAt,day',
    max: 'word,soldAt,size',
    tz: zone,
    sort: `${descending ? '-' : ''}${order}`,
  })
  if (having)
    parameters.set(`having[${having.of.replace('.', '][')}][${having.is}]`, String(having.to))
  return String(parameters)
}

const path = '/api/v2/sales/aggregate'

const nested = (path: string, value: unknown): unknown =>
  path.split('.').reduceRight((inner, key) => ({ [key]: inner }), value)

const query = `query ($by: [SaleAggregateKey!], $zone: String, $order: [SaleAggregateOrder!], $having: SaleAggregateHaving) {
  it: salesAggregate(groupBy: $by, timeZone: $zone, orderBy: $order, having: $having, limit: 1000) {
    KEYS count sum { size price weight } avg { size price weight } min { word soldAt day } max { word soldAt size } } }`

for (const engine of engines)
  describe(`groups on ${engine}`, () => {
    let service: Service
    let session: Session
    before(async () => {
      service = await serveModel(entities, engine)
      session = await service.store.session('filling')
      for (const member of [1, 2])
        await insert('members', { id: member, name: 'm', status: 'active', revision: 1 })
    })
    after(async () => {
      await session?.close()
      await service?.close()
    })
    const insert = async (table: string, row: Sale) => {
      const names = Object.keys(row).map(key => name(columnName(key)))
      const isOwn = service.store.dialect.name === 'postgres' && 'id' in row
      const piece = sql`insert into ${name(table)} (${join(names, comma)}) ${isOwn ? sql`overriding system value` : sql``}
        values (${join(Object.values(row), comma)})`
      const { text, parameters } = statement(piece, service.store.dialect.placeholder)
      await session.query({
        text,
        values: parameters.map(one => (one.kind === 'value' ? one.value : null)),
      })
    }
    const ask = async (query: string, as: Ask['as'] = 'user', variables = {}) => {
      const answer = await service.ask({ line: 'POST /graphql', as, body: { query, variables } })
      return JSON.parse(answer.text)
    }

    test('they are what is calculated in memory', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(sale, { maxLength: 12 }),
          fc.array(asks, { minLength: 5, maxLength: 5 }),
          async (rows, all) => {
            await session.query({ text: 'delete from sales', values: [] })
            for (const row of rows) await insert('sales', row)
            for (const one of all) {
              const { by, zone, order, descending, having } = one
              const variables = {
                by,
                zone,
                order: [nested(order, descending ? 'DESC' : 'ASC')],
                ...(having && { having: nested(having.of, { [having.is]: having.to }) }),
              }
              const isWhole =
                !['count', 'sum.size'].includes(having?.of ?? '') || Number.isInteger(having?.to)
              const isSmall = having?.to !== most || having.of === 'sum.size'
              const isInt = having?.of !== 'count' || having.to < 2 ** 31
              if (!isWhole || !isInt || !isSmall) continue
              const { data, errors } = await ask(
                query.replace('KEYS', by.join(' ')),
                one.as,
                variables,
              )
              assert.equal(errors, undefined, JSON.stringify(errors))
              const answer = expected(rows, one)
              assert.deepEqual(data.it, answer, JSON.stringify(one))
              const text = inRest(one)
              const inUrl = await service.ask({ line: `GET ${path}?${text}`, as: one.as })
              assert.equal(inUrl.status, 200, inUrl.text)
              assert.deepEqual(JSON.parse(inUrl.text).data, answer, text)
            }
          },
        ),
        { numRuns: Number(process.env.DUET_TEST_ROUNDS ?? 15) },
      )
    })

    test('REST has groups in strict versions, chosen, cached and by QUERY as lists are', async () => {
      await session.query({ text: 'delete from sales', values: [] })
      for (const [size, kind] of [
        [1, 'big'],
        [2, 'big'],
        [7, 'small'],
      ] as const)
        await insert('sales', { size, kind, cost: 0, margin: 0 })
      const text = 'group=kind&sum=size&having[count][gte]=1&having[max][size][lt]=9&limit=5'
      const asked = (line: string, more = {}) => service.ask({ line, as: 'admin', ...more })
      const got = await asked(`GET ${path}?${text}&sort=-sum.size`)
      assert.deepEqual(JSON.parse(got.text), {
        data: [
          { kind: 'small', count: 1, sum: { size: 7 } },
          { kind: 'big', count: 2, sum: { size: 3 } },
        ],
      })
      assert.deepEqual(JSON.parse((await asked(`GET ${path}?kind=big`)).text), {
        data: [{ count: 2 }],
      })
      assert.equal(got.headers.get('accept-query'), `${formType}, application/json`)
      const again = { headers: { 'If-None-Match': got.headers.get('etag') ?? '' } }
      assert.equal((await asked(`GET ${path}?${text}&sort=-sum.size`, again)).status, 304)
      const inBody = await service.ask({
        line: `QUERY ${path}?${text}`,
        as: 'admin',
        headers: { 'Content-Type': formType },
        text: 'sort=-sum.size',
      })
      assert.equal(inBody.text, got.text)

      await insert('sales', { size: 5, kind: 'small', tier: 'low', cost: 0, margin: 0 })
      const tiers = await asked(`GET ${path}?group=tier&having[count][lt]=2`)
      assert.deepEqual(JSON.parse(tiers.text).data, [{ tier: 'lower', count: 1 }])
      for (const [version, methods] of [
        ['', ['GET', 'HEAD']],
        ['/v1', ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']],
      ] as const)
        for (const method of methods) {
          const at = (id: string) => asked(`${method} /api${version}/sales/${id}`)
          const [word, other] = [await at('aggregate'), await at('aggregatf')]
          const bare = ({ text }: { text: string }) => text.replace(/"requestId":"[^"]*"/, '')
          assert.equal(bare(word), bare(other).replaceAll('aggregatf', 'aggregate'))
          assert.equal(word.status, other.status)
          assert.equal(word.headers.get('allow'), other.headers.get('allow'))
        }
    })

    test('REST names each fault by its parameter, and hides what its caller may not read', async () => {
      for (const [text, field, message] of [
        ['group=knd', 'group', /did you mean kind/],
        ['grup=kind', 'grup', /did you mean group/],
        [
          'sum=word',
          'sum',
          /names word; did you mean|names word; name some of size, price, weight/,
        ],
        ['sum=', 'sum', /names nothing/],
        ['max=cost', 'max', /names cost/],
        ['sort=-kind', 'sort', /add it to group/],
        ['sort=sum.cost', 'sort', /unknown here/],
        ['tz=Mars/Olympus', 'tz', /must be a time zone/],
        ['having[count][gtr]=2', 'having[count][gtr]', /did you mean having\[count\]\[gte?\]/],
        ['having[sum][size][gt]=x', 'having[sum][size][gt]', /must be/],
        ['having[count][gt]=1&having[count][gt]=2', 'having[count][gt]', /must be given once/],
        ['having[__proto__][gt]=1', 'having[__proto__][gt]', /is not a parameter/],
        ['kind=huge', 'kind', /huge|one of/],
        ['limit=many', 'limit', /whole number/],
      ] as const) {
        const { status, text: body } = await service.ask({
          line: `GET ${path}?${text}`,
          as: 'user',
        })
        assert.equal(status, 422, `${text} ${body}`)
        const { code, errors } = JSON.parse(body)
        assert.equal(code, 'VALIDATION_ERROR')
        assert.equal(errors[0].field, field, body)
        assert.match(errors[0].message, message)
      }
      for (const text of [
        'max=margin',
        'group=margin',
        'having[sum][margin][gt]=3',
        'sum=price&sort=avg.margin',
      ]) {
        const { status } = await service.ask({ line: `GET ${path}?${text}`, as: 'user' })
        assert.equal(status, 403, text)
      }
    })

    test('what a caller may not read in every row is in no sum, key, condition or order', async () => {
      for (const asked of [
        'salesAggregate { sum { cost } }',
        'salesAggregate { max { margin } }',
        'salesAggregate(groupBy: [cost]) { count }',
        'salesAggregate(groupBy: [margin]) { margin count }',
        'salesAggregate(having: { sum: { cost: { gt: 3 } } }) { count }',
        'salesAggregate(having: { not: { or: [{ max: { margin: { gt: 3 } } }] } }) { count }',
        'salesAggregate(orderBy: [{ avg: { margin: DESC } }]) { count }',
      ]) {
        const { data, errors } = await ask(`{ ${asked} }`)
        assert.equal(data, undefined, asked)
        assert.equal(errors[0].extensions.code, 'FORBIDDEN', asked)
      }
      assert.equal(
        (await ask('{ salesAggregate { sum { cost margin } } }', 'admin')).errors,
        undefined,
      )
    })

    test('months beyond the year 9999 come last, and of the parts of a time only years are numbers', async () => {
      await session.query({ text: 'delete from sales', values: [] })
      const values = ['2026-01-31T12:00Z', '9999-12-31T23:00Z'].map(
        moment => `('big', 0, 0, ${Date.parse(moment)})`,
      )
      await session.query({
        text: `insert into sales (kind, cost, margin, sold_at) values ${values.join()}`,
        values: [],
      })
      const { data } = await ask(
        `{ salesAggregate(groupBy: [soldAtMonth], timeZone: "Asia/Kathmandu", orderBy: [{ soldAtMonth: DESC }]) { soldAtMonth }
           __type(name: "SaleAggregate") { fields { name type { name } } } }`,
      )
      assert.deepEqual(data.salesAggregate, [
        { soldAtMonth: '+010000-01' },
        { soldAtMonth: '2026-01' },
      ])
      const types = data.__type.fields.filter(({ name }: { name: string }) => /^soldAt./.test(name))
      assert.deepEqual(
        types.map(({ name, type }: { name: string; type: { name: string } }) => [name, type.name]),
        [
          ['soldAtDay', 'Date'],
          ['soldAtMonth', 'String'],
          ['soldAtYear', 'Int'],
        ],
      )
    })

    test('groups without end, and words that there are not, are refused', async () => {
      await session.query({ text: 'delete from sales', values: [] })
      const values = Array.from({ length: 1001 }, (_, at) => `('big', ${at}, 0, 0)`).join()
      await session.query({
        text: `insert into sales (kind, size, cost, margin) values ${values}`,
        values: [],
      })
      const many = await ask('{ salesAggregate(groupBy: [size]) { size } }')
      assert.match(
        many.errors[0].message,
        /^salesAggregate makes more than 1000 groups: group by less/,
      )
      const url = await service.ask({ line: `GET ${path}?group=size`, as: 'user' })
      assert.equal(url.status, 422)
      assert.match(url.text, /group makes more than 1000 groups: group by less/)
      const few = await service.ask({
        line: `GET ${path}?group=size&limit=2&sort=-size`,
        as: 'user',
      })
      assert.deepEqual(JSON.parse(few.text).data, [
        { size: 1000, count: 1 },
        { size: 999, count: 1 },
      ])
      const some = await ask(
        '{ salesAggregate(groupBy: [size], limit: 2, orderBy: [{ size: DESC }]) { size count } }',
      )
      assert.deepEqual(some.data.salesAggregate, [
        { size: 1000, count: 1 },
        { size: 999, count: 1 },
      ])
      for (const [asked, message] of [
        [
          'groupBy: [word, kind, day, dayMonth, dayYear]',
          /"groupBy" has 5 keys, and at most 4 are taken/,
        ],
        ['timeZone: "Mars/Olympus"', /"timeZone" must be a time zone/],
        [
          'having: { avg: { price: { gt: 1e15 } } }',
          /"having" compares with a number that has more digits/,
        ],
        ['orderBy: [{ kind: ASC }]', /"orderBy" names kind, by which nothing is grouped/],
        [`having: { or: [${'{ count: { eq: 1 } } '.repeat(31)}] }`, /"having" has 31 comparisons/],
      ] as const) {
        const { errors } = await ask(`{ salesAggregate(${asked}) { count } }`)
        assert.match(errors[0].message, message)
        assert.equal(errors[0].extensions.code, 'BAD_USER_INPUT')
      }
    })
  })
