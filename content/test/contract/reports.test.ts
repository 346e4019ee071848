/** Reports: who gets them, their options, figures equal to a plain recount, and their three forms. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import content, { entities } from '#content/duet.config.ts'
import { modelOf } from '#content.ts'
import { inserter } from '#serve/insert.ts'
import { refuses, refusesInput } from '../rest.ts'
import { createWorld, filling, forAllTests, sqliteSuite, type World } from '../world.ts'
import { additions, day, type Rows, recount, sample, shown } from './recount.ts'

const world = forAllTests(createWorld)

const put = (into: World, rows: Rows) =>
  filling(into.store, async line => {
    for (const [name, list] of Object.entries(rows)) {
      const entity = entities[name as keyof typeof entities]
      const insert = inserter(line, entity)
      for (const row of list) await insert(new Map(Object.entries(row)))
      await line.session.settleIds([entity.table])
    }
  })

const worldOf = async (data: Parameters<typeof put>[1]) => {
  const full = await createWorld({ rows: {} as never })
  await put(full, data)
  return full
}

const generate = (body: unknown, headers: Record<string, string> = {}, from = world) =>
  from.ask('POST /api/reports/generate', { as: 1, body, headers })

describe('the figures of random data', () => {
  const data = sample(7)
  const full = forAllTests(() => worldOf(data))

  const ranges = [
    [undefined, undefined],
    ['1970-01-01', undefined],
    [undefined, '1970-01-01'],
    ['1969-12-30T12:00:00Z', '1970-03-02T00:00:00.001Z'],
    ['1969-12-31', '1970-01-01'],
    ['1950-01-01', '1960-01-01'],
    ['1970-02-28', '1976-03-01'],
  ] as const
  for (const type of ['sales', 'content', 'users'] as const)
    for (const by of ['day', 'month'] as const)
      for (const [from, to] of ranges)
        test(`the figures of random data are those of a recount: ${type} by ${by} from ${from} to ${to}`, async () => {
          const body = { type, by, ...(from && { from }), ...(to && { to }) }
          const { text, status } = await generate(body, { Accept: 'text/csv' }, full)
          assert.equal(status, 200, text)
          const bound = (text: string | undefined) => (text ? Date.parse(text) : undefined)
          assert.equal(text, recount(data, type, by, bound(from), bound(to)))
        })
  test('the figures are by the calendar of today, in the first year and in the last', async () => {
    const times = [
      '0001-01-01',
      '0001-12-31',
      '1582-10-04',
      '1582-10-15',
      '2024-02-29',
      '9999-12-30',
    ]
    const user = times.map((time, n) => {
      const email = `r${n}@example.org`
      return { name: 'n', email, emailKey: email, createdAt: Date.parse(time) + n }
    })
    await using old = await createWorld({ rows: {} as never })
    await put(old, { user })
    for (const [from, to] of [
      ['0001-01-01', '0002-01-01'],
      ['1582-10-01', '1582-11-01'],
      ['2024-02-01', '2024-03-01'],
      ['9999-01-01', '9999-12-31'],
    ] as const)
      for (const by of ['day', 'month'] as const) {
        const { text } = await generate(
          { type: 'users', by, from, to },
          { Accept: 'text/csv' },
          old,
        )
        const right = recount({ ...data, user }, 'users', by, Date.parse(from), Date.parse(to))
        assert.equal(text, right)
      }
  })
  test('the figures of random data are the same as JSON, digit for digit, and add up to the totals', async () => {
    const csv = await generate({ type: 'sales' }, { Accept: 'text/csv' }, full)
    const { text } = await generate({ type: 'sales' }, {}, full)
    const rows = [...text.matchAll(/\{"period":"([\d-]+)",([^}]*)\}/g)].map(
      ([, period, members = '']) =>
        [period, ...members.split(',').map(m => m.split(':')[1])].join(),
    )
    assert.deepEqual(rows, csv.text.trim().split('\r\n').slice(1))
    const totals = /"totals":\{(.*),"currency":"USD"\}\}$/.exec(text)?.[1] ?? ''
    const all = additions.sales(data).reduce((sum, [, { amount = 0n }]) => sum + amount, 0n)
    assert.ok(all > 2n ** 53n)
    assert.ok(totals.includes(`"amount":${shown('amount', all)},`), totals)
  })
})

test('a report says what it is about, in this order', async () => {
  const before = Date.now()
  const { status, json, headers } = await generate({ type: 'users', by: 'day' })
  const afterwards = Date.now()
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(json), ['type', 'generatedAt', 'from', 'to', 'by', 'rows', 'totals'])
  const { generatedAt, ...report } = json
  const at = Date.parse(generatedAt)
  assert.ok(at >= before && at <= afterwards, generatedAt)
  assert.deepEqual(report, {
    type: 'users',
    from: '2026-01-01T00:00:00.000Z',
    to: '2026-01-02T00:00:00.000Z',
    by: 'day',
    rows: [{ period: '2026-01-01', signUps: 4 }],
    totals: { signUps: 4 },
  })
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.match(headers.get('vary') ?? '', /Accept/)
  assert.equal(headers.get('api-version'), '1')
})

test('it is by month unless asked otherwise, of everything, and of nothing where there is nothing', async () => {
  const { json } = await generate({ type: 'content' })
  assert.equal(json.by, 'month')
  assert.deepEqual(json.rows, [{ period: '2026-01', posts: 4, comments: 3, likes: 2 }])
  const { generatedAt: _, ...empty } = (await generate({ type: 'sales' })).json
  const totals = { orders: 0, items: 0, amount: 0, refundedOrders: 0, refundedAmount: 0 }
  assert.deepEqual(empty, {
    ...{ type: 'sales', from: null, to: null, by: 'month', rows: [] },
    totals: { ...totals, currency: 'USD' },
  })
})

test('an order counts when it is paid, and apart when it is refunded', async () => {
  await using own = await createWorld()
  const figures = async () => (await generate({ type: 'sales' }, {}, own)).json.totals
  const items = [{ productId: 1, quantity: 2 }]
  const { id } = (await own.ask('POST /api/orders', { as: 2, body: { items } })).json
  assert.equal((await figures()).orders, 0)
  await own.ask(`POST /api/orders/${id}/pay`, { as: 2 })
  const paid = { orders: 1, items: 2, amount: 159.8, refundedOrders: 0, refundedAmount: 0 }
  assert.deepEqual(await figures(), { ...paid, currency: 'USD' })
  await own.ask(`POST /api/orders/${id}/refund`, { as: 2 })
  const back = { orders: 0, items: 0, amount: 0, refundedOrders: 1, refundedAmount: 159.8 }
  assert.deepEqual(await figures(), { ...back, currency: 'USD' })
})

for (const [code, digits, minor, amount] of [
  ['JPY', 0, 1999, 1999],
  ['KWD', 3, 1999, 1.999],
] as const)
  test(`amounts in ${code} have its own decimals`, async () => {
    const model = modelOf(content, { switches: { signup: true }, currency: { code, digits } })
    await using own = await createWorld({ model, rows: {} as never })
    const paid = { status: 'paid', amount: minor, currency: code, customerId: 1, createdAt: 0 }
    await put(own, { customer: [{ id: 1, name: 'n', createdAt: 0 }], order: [paid] })
    const { totals } = (await generate({ type: 'sales' }, {}, own)).json
    assert.equal(totals.amount, amount)
    assert.equal(totals.currency, code)
  })

test('reports are for admins', async () => {
  const body = { type: 'nonsense' }
  const path = 'POST /api/reports/generate'
  refuses(await world.ask(path, { body }), 401, 'UNAUTHENTICATED')
  refuses(await world.ask(path, { as: 2, body }), 403, 'FORBIDDEN')
  refuses(await world.ask(path, { as: 2, raw: 'x' }), 403, 'FORBIDDEN')
})

test('all faults of a request are reported at once', async () => {
  const cases: readonly (readonly [unknown, readonly string[]])[] = [
    [{}, ['type']],
    [{ type: 'Sales' }, ['type']],
    [
      { type: 1, by: 'week', from: 'x', to: '2026-02-30', more: 1 },
      ['by', 'from', 'more', 'to', 'type'],
    ],
    [{ type: 'users', from: null, to: null, by: null }, ['by', 'from', 'to']],
    [{ type: 'users', from: 0 }, ['from']],
    [{ type: 'users', from: '2026-01-01T00:00:00' }, ['from']],
    [{ type: 'users', from: '2026-01-01T00:00:00+0200' }, ['from']],
    [{ type: 'users', from: '2026-01' }, ['from']],
    [{ type: 'users', from: '2026-01-02', to: '2026-01-02' }, ['to']],
    [{ type: 'users', from: '2026-01-02', to: '2026-01-01', by: 'year' }, ['by', 'to']],
    [{ type: 'users', from: '2000-01-01', to: '2026-01-01', by: 'day' }, ['by']],
    [{ type: 'users', from: '1999-01-01', by: 'day' }, ['by']],
    [{ type: 'users', to: '2999-01-01', by: 'day' }, ['by']],
  ]
  for (const [body, fields] of cases) refusesInput(await generate(body), fields)
  refuses(await generate([]), 400, 'MALFORMED_REQUEST')
  const text = { 'Content-Type': 'text/plain' }
  refuses(await generate({ type: 'users' }, text), 415, 'UNSUPPORTED_MEDIA_TYPE')
})

test('a time has any offset, and more than its milliseconds count', async () => {
  const asked = async (from: string, to = '2026-02-01') => {
    const { json } = await generate({ type: 'users', from, to })
    return [json.from, json.to, json.rows]
  }
  const usual = await asked('2026-01-01')
  for (const from of ['2026-01-01T02:00:00+02:00', '2025-12-31T14:30:00.0000-09:30'])
    assert.deepEqual(await asked(from, '2026-02-01T00:00:00-00:00'), usual)
  const [from, to] = await asked('2026-01-01T00:00:00.0009Z', '2026-02-01T00:00:00.0001Z')
  assert.deepEqual([from, to], ['2026-01-01T00:00:00.001Z', '2026-02-01T00:00:00.001Z'])
})

test('5,000 periods are given, and not one more', async () => {
  const from = '2026-01-01'
  const until = (days: number) => new Date(Date.parse(from) + days * day).toISOString()
  const most = await generate({ type: 'users', by: 'day', from, to: until(5000) })
  assert.equal(most.json.rows.length, 5000)
  const more = await generate({ type: 'users', by: 'day', from, to: until(5001) })
  refusesInput(more, ['by'])
  const years = { from: '0000-01-01', to: '0416-09-01' }
  const { json } = await generate({ type: 'users', ...years })
  assert.equal(json.rows.length, 5000)
  assert.equal(json.rows[0].period, '0000-01')
})

test('an Idempotency-Key must be one and keeps nothing, as a report has no effect', async () => {
  const key = { 'Idempotency-Key': 'report-1' }
  for (const type of ['users', 'content', 'users']) {
    const answer = await generate({ type }, key)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('idempotency-replayed'), null)
  }
  refuses(await generate({ type: 'users' }, { 'Idempotency-Key': 'a b' }), 400, 'MALFORMED_REQUEST')
})

sqliteSuite('the form', () => {
  const forms: readonly (readonly [string, RegExp])[] = [
    ['application/json', /^application\/json/],
    ['*/*', /^application\/json/],
    ['application/vnd.duet.v1+json', /^application\/vnd\.duet\.v1\+json/],
    ['text/csv', /^text\/csv; charset=utf-8; header=present$/],
    ['text/*', /^text\/csv/],
    ['image/svg+xml', /^image\/svg\+xml; charset=utf-8$/],
    ['image/svg+xml;q=0.4, text/csv;q=0.5', /^text\/csv/],
    ['application/pdf', /^application\/json/],
  ]
  for (const [accept, type] of forms)
    test(`the form for ${accept} is ${type.source}`, async () => {
      const answer = await generate({ type: 'users' }, { Accept: accept })
      assert.equal(answer.status, 200)
      assert.match(answer.headers.get('content-type') ?? '', type)
    })
  test('the form of an error is JSON whatever is asked for', async () => {
    refusesInput(await generate({}, { Accept: 'text/csv' }), ['type'])
  })
  test('the form of CSV is to be saved under a name', async () => {
    const { headers } = await generate({ type: 'users', by: 'day' }, { Accept: 'text/csv' })
    assert.equal(headers.get('content-disposition'), 'attachment; filename="users-by-day.csv"')
  })
})

sqliteSuite('the chart', () => {
  const full = forAllTests(() => worldOf(sample(3)))
  const cases = [
    ['of nothing', { type: 'users', from: '2020-01-01', to: '2020-02-01', by: 'day' }],
    ['of 3 days', { type: 'content', from: '1970-01-01', to: '1970-01-04', by: 'day' }],
    ['of 23 months', { type: 'sales', from: '1969-01-01', to: '1970-12-01', by: 'month' }],
    ['of 400 days', { type: 'content', from: '1969-11-20', to: '1970-12-25', by: 'day' }],
    ['of 5,000 days', { type: 'users', from: '1965-01-01', to: '1978-09-10', by: 'day' }],
  ] as const
  for (const [name, body] of cases)
    test(`${name} has a title and a description, marks that do not touch, and nothing that runs`, async () => {
      const { text, headers } = await generate(body, { Accept: 'image/svg+xml' }, full)
      assert.equal(headers.get('content-security-policy'), "default-src 'none'; sandbox")
      assert.match(text, /<title id="title">[^<]+<\/title>\n<desc id="desc">[^<]+<\/desc>/)
      assert.doesNotMatch(text, /<script|href|NaN|Infinity|undefined|style=/)
      const below = [...text.matchAll(/<text x="([\d.]+)" y="452"[^>]*>([^<]+)</g)]
      const marks = below.map(([, x, label = '']) => ({ x: Number(x), half: label.length * 3.7 }))
      assert.ok(marks.length <= 12)
      if (name !== 'of nothing') assert.ok(marks.length >= 3, `${marks.length} marks`)
      for (const [n, mark] of marks.entries())
        assert.ok(
          n === 0 || mark.x - mark.half > (marks[n - 1]?.x ?? 0) + (marks[n - 1]?.half ?? 0),
        )
      const ys = [...text.matchAll(/(?:V| y=")(-?[\d.]+)/g)].map(([, y]) => Number(y))
      assert.ok(ys.every(y => y >= 0 && y <= 480))
    })
  test('the chart of few periods says each value in words', async () => {
    const body = { type: 'users', by: 'month' }
    const { text } = await generate(body, { Accept: 'image/svg+xml' }, full)
    const { json } = await generate(body, {}, full)
    for (const { period, signUps } of json.rows)
      if (signUps > 0) assert.ok(text.includes(`<title>${period}: Sign-ups ${signUps}</title>`))
  })
})
