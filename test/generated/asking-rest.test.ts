/** Conditions of callers through REST, as parameters and as JSON: they choose what they choose in memory among the rows that the caller may see. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Condition } from '#model/condition.ts'
import { type Entity, entity } from '#model/entity.ts'
import { id, revision, text } from '#model/field.ts'
import { anyone } from '#model/policy.ts'
import type { Cook } from '../support/cooking.ts'
import { forAllTests } from '../support/fixture.ts'
import { rounds, usualSeed } from '../support/rounds.ts'
import { askingKitchen, comparisons, conditions, fitting } from '../support/shelves.ts'
import { engines } from './compare.ts'
import { member } from './models.ts'
import { serveModel } from './serve.ts'

const cooks: readonly Cook[] = [null, 1, 3]
const list = '/api/v2/items?limit=100&sort=id'
const isTooMuch = (text: string) => /comparisons|deeper than/.test(text)

for (const on of engines)
  describe(`conditions of callers of REST on ${on}`, () => {
    const kitchen = forAllTests(() => askingKitchen(on))

    const ask = (as: Cook, line: string, body?: unknown) => kitchen.say(as, line, body)
    const idsOf = async (as: Cook, line: string, body?: unknown): Promise<readonly number[]> => {
      const { status, text, json } = await ask(as, line, body)
      assert.equal(status, 200, `${as} ${line} ${JSON.stringify(body)} ${text}`)
      return json.data.map(({ id }: { id: number }) => id)
    }
    const wanted = (as: Cook, condition: Condition, of = 'item') =>
      fitting(as, of, condition).map(row => Number(row.id))

    test('parameters choose what they choose in memory, those of relations each by itself', async () => {
      const parts = fc.sample(
        fc.uniqueArray(comparisons, { maxLength: 3, selector: one => one.name }),
        {
          seed: usualSeed(29),
          numRuns: rounds(20, 600),
        },
      )
      for (const part of parts) {
        const parameters = new URLSearchParams(part.map(({ name, text }) => [name, text]))
        const condition = { and: part.map(one => one.condition) } as Condition
        for (const as of cooks)
          assert.deepEqual(
            await idsOf(as, `GET ${list}&${parameters}`),
            wanted(as, condition),
            `${as} ${parameters}`,
          )
      }
    })

    test('groups are of the rows that fit, by parameters, JSON and QUERY, and having is JSON too', async () => {
      const drawn = fc.sample(conditions.item as fc.Arbitrary<Condition>, {
        seed: usualSeed(31),
        numRuns: rounds(7, 400),
      })
      const groups = '/api/v2/items/aggregate?group=rare&sum=size'
      for (const where of drawn)
        for (const as of cooks) {
          const { status, json, text } = await ask(as, `QUERY ${groups}`, { where })
          if (status === 422 && isTooMuch(text)) continue
          const about = `${as} ${JSON.stringify(where)} ${text}`
          assert.equal(status, 200, about)
          const byRare = Map.groupBy(fitting(as, 'item', where), row => row.rare ?? null)
          const expected = [...byRare].map(([rare, rows]) => {
            const sizes = rows.flatMap(({ size }) => (size == null ? [] : [Number(size)]))
            const sum = sizes.length > 0 ? sizes.reduce((all, one) => all + one) : null
            return {
              rare: rare === null ? null : rare === 1,
              count: rows.length,
              sum: { size: sum },
            }
          })
          const inOrder = (all: readonly object[]) => all.map(one => JSON.stringify(one)).sort()
          assert.deepEqual(inOrder(json.data), inOrder(expected), about)
          const having = { or: [{ count: { gte: 3 } }, { not: { sum: { size: { gte: 0 } } } }] }
          const least = await ask(as, `QUERY ${groups}`, { where, having })
          assert.equal(least.status, 200, least.text)
          const kept = expected.filter(
            ({ count, sum: { size } }) => count >= 3 || size === null || size < 0,
          )
          assert.deepEqual(inOrder(least.json.data), inOrder(kept), `${about} ${least.text}`)
          const url = new URLSearchParams({
            where: JSON.stringify(where),
            having: JSON.stringify(having),
          })
          assert.equal((await ask(as, `GET ${groups}&${url}`)).text, least.text)
        }
      const count = async (more: string) =>
        (await ask(1, `GET /api/v2/items/aggregate?${more}`)).json.data[0].count
      assert.equal(
        await count('size[gte]=0&notes.stars[gte]=1'),
        wanted(1, { size: { gte: 0 }, notes: { some: { stars: { gte: 1 } } } }).length,
      )
      for (const [parameters, field, message] of [
        [
          'having={"count":{"gtee":1}}',
          'having.count.gtee',
          /is not an operator of count: did you mean gte/,
        ],
        ['having={"count":{"in":[1]}}', 'having.count.in', /take one of eq, ne/],
        [
          'having={"min":{"name":{"contains":"a"}}}',
          'having.min.name.contains',
          /take one of eq, ne/,
        ],
        ['having={"or":[{"sum":{"siz":1}}]}', 'having.or.0.sum.siz', /did you mean/],
        ['having={"count":1}&having[count][gte]=1', 'having', /one of these ways/],
        ['having={', 'having', /as JSON/],
        ['having[count][gtee]=1', 'having[count][gtee]', /did you mean having\[count\]\[gte\]/],
        ['sise[gte]=1', 'sise[gte]', /did you mean size\[gte\]/],
        ['where={"sise":1}', 'where.sise', /did you mean size/],
      ] as const) {
        const { status, json, text } = await ask(
          1,
          `GET /api/v2/items/aggregate?${encodeURI(parameters)}`,
        )
        assert.deepEqual([status, json.errors?.[0]?.field], [422, field], text)
        assert.match(json.errors[0].message, message)
      }
      assert.equal((await ask(1, `QUERY ${groups}`, { where: { code: 'a' } })).status, 403)
    })

    test('no more than 30 comparisons are taken, parameters and JSON together', async () => {
      const sizes = (count: number) => ({
        or: Array.from({ length: count }, (_, at) => ({ size: at })),
      })
      const own = 'id[ne]=98&id[notIn]=99'
      for (const path of ['items', 'items/aggregate']) {
        const line = `QUERY /api/v2/${path}?${own}`
        assert.equal((await ask(1, line, { where: sizes(28) })).status, 200)
        const { status, json } = await ask(1, line, { where: sizes(29) })
        assert.deepEqual([status, json.errors[0].field], [422, 'where'])
      }
      const ops = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'isNull']
      const all = ['size', 'price', 'weight', 'shelf.id', 'owner.id'].flatMap(member =>
        (member.endsWith('id') ? ['eq', 'ne', 'isNull'] : ops).map(
          is => `${member}[${is}]=${is === 'isNull' ? 'false' : 1}`,
        ),
      )
      const more = ['in', 'notIn'].flatMap(is =>
        ['size', 'price', 'weight'].map(one => `${one}[${is}]=1`),
      )
      const parameters = [...all, ...more]
      assert.ok(parameters.length > 30)
      assert.equal(
        (await ask(1, `GET /api/v2/items?${parameters.slice(0, 30).join('&')}`)).status,
        200,
      )
      const { status, json } = await ask(
        1,
        `GET /api/v2/items?${parameters.slice(0, 31).join('&')}`,
      )
      assert.deepEqual([status, json.errors[0].field], [422, parameters[30]?.split('=')[0]])
    })

    test('what is not filterable is in no order, group or sum', async () => {
      for (const [line, field] of [
        ['tags?sort=id', 'sort'],
        ['tags/aggregate?min=id', 'min'],
        ['marks/aggregate?group=shade', 'group'],
        ['marks?sort=shade', 'sort'],
        ['marks?shade=plain', 'shade'],
      ] as const) {
        const { status, json, text } = await ask(1, `GET /api/v2/${line}`)
        assert.deepEqual([status, json.errors?.[0]?.field], [422, field], text)
      }
      assert.equal((await ask(1, 'GET /api/v2/tags/aggregate?group=slug')).status, 200)
    })

    test('two parameters of one relation may be of two rows; its JSON is of one', async () => {
      const both = [{ notes: { some: { stars: 1 } } }, { notes: { some: { writerId: 3 } } }]
      assert.deepEqual(
        await idsOf(3, `GET ${list}&notes.stars=1&notes.writerId=3`),
        wanted(3, { and: both }),
      )
      const one = { notes: { some: { stars: 1, writerId: 3 } } }
      assert.deepEqual(await idsOf(3, `QUERY ${list}`, { where: one }), wanted(3, one))
      assert.notDeepEqual(wanted(3, one), wanted(3, { and: both }))
    })

    test('pages, links and cursors go on within the condition, nested lists too', async () => {
      const below = (id: unknown) => wanted(1, { shelfId: Number(id), id: { ne: 99 } })
      const shelves = fitting(1, 'shelf', {}).map(({ id }) => Number(id))
      const [shelfId = 0] = shelves.sort((a, b) => below(b).length - below(a).length)
      for (const [first, condition] of [
        [
          'items?limit=3&size[gte]=-2&notes.stars[gte]=1',
          { size: { gte: -2 }, notes: { some: { stars: { gte: 1 } } } },
        ],
        [`shelves/${shelfId}/items?limit=1&id[ne]=99`, { id: { ne: 99 }, shelfId }],
        [
          'items?limit=2&cursor=&sort=-size&notes.stars[lt]=3',
          { notes: { some: { stars: { lt: 3 } } } },
        ],
      ] as const) {
        const found: number[] = []
        let next: string | undefined = `/api/v2/${first}`
        while (next) {
          const { json, headers, status, text } = await ask(1, `GET ${next}`)
          assert.equal(status, 200, text)
          found.push(...json.data.map(({ id }: { id: number }) => id))
          next = /<([^<>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
        }
        const expected = wanted(1, condition as Condition)
        assert.deepEqual(
          found.toSorted((a, b) => a - b),
          expected,
        )
        assert.ok(expected.length > 1, first)
      }
      const { json } = await ask(1, 'GET /api/v2/items?limit=2&cursor=&sort=size&size[gte]=-1')
      const { nextCursor } = json.pagination
      const again = (more: string) =>
        ask(1, `GET /api/v2/items?limit=2&sort=size&${more}&cursor=${nextCursor}`)
      assert.equal((await again('size[gte]=-1')).status, 200)
      for (const other of ['size[gte]=0', 'size[gt]=-1', ''])
        assert.equal((await again(other)).status, 422)
      const queried = await ask(1, 'QUERY /api/v2/items?limit=2', { where: { id: { ne: 99 } } })
      assert.match(queried.headers.get('link') ?? '', /where=%7B%22id%22/)
    })

    test('answers of relations and of rows by rule are private', async () => {
      for (const line of ['/api/v2/tags?items.size=1', '/api/v2/items?size=1'])
        assert.match((await ask(1, `GET ${line}`)).headers.get('cache-control') ?? '', /^private/)
      const open = await ask(null, 'GET /api/v2/members?id[ne]=9')
      assert.match(open.headers.get('cache-control') ?? '', /^public/)
    })

    const faults: readonly (readonly [string, string, RegExp])[] = [
      ['sise[gte]=4', 'sise[gte]', /did you mean size\[gte\]\?/],
      ['size[gtee]=4', 'size[gtee]', /did you mean size\[gte\]\?/],
      ['size[gte]=x', 'size[gte]', /must be a whole number/],
      ['size[gte]=1&size[gte]=2', 'size[gte]', /must be given once; a list has commas/],
      ['price=a', 'price', /must be a number/],
      ['madeAt[lt]=yesterday', 'madeAt[lt]', /ISO 8601/],
      ['day[lt]=yesterday', 'day[lt]', /must be a day/],
      ['rare=maybe', 'rare', /must be true or false/],
      ['size[isNull]=1', 'size[isNull]', /must be true or false/],
      ['shelf.label=hihg', 'shelf.label', /did you mean high\?/],
      ['notes.star=1', 'notes.star', /did you mean notes\.stars\?/],
      ['note.stars=1', 'note.stars', /did you mean notes\.stars\?/],
      ['notes=1', 'notes', /is not a parameter here; go on to a member of notes, as in notes\.id/],
      ['colour=red', 'colour', /there are page, .*, and conditions on .*size/],
      ['notes.colour=red', 'notes.colour', /notes has .*stars/],
      ['size.stars=1', 'size.stars', /size has no members/],
      ['size[contains]=1', 'size[contains]', /size takes eq, .*lte/],
      ['words=a', 'words', /words takes .*hasSome/],
      ['nameKey=a', 'nameKey', /is not a parameter here/],
      ['__proto__[eq]=1', '__proto__[eq]', /is not a parameter here/],
      ['tags.id=1', 'tags.id', /is not a parameter here/],
      ['where={', 'where', /must be a condition as JSON/],
      ['where=[]', 'where', /must be a condition/],
      ['where={"words":"a"}', 'where.words', /operators alone/],
      [String.raw`where={"name":"\u0000"}`, 'where.name', /must not contain NUL/],
      [String.raw`where={"name":{"contains":"\ud800"}}`, 'where.name.contains', /lone surr/],
      ['where={"or":[{},{"size":{"gtee":4}}]}', 'where.or.1.size.gtee', /did you mean gte\?/],
      ['where={"not":{"shelf":{"labl":1}}}', 'where.not.shelf.labl', /did you mean label\?/],
    ]
    for (const [parameters, field, message] of faults)
      test(`${parameters} is refused at ${field}`, async () => {
        const { status, json } = await ask(1, `GET /api/v2/items?${encodeURI(parameters)}`)
        assert.deepEqual([status, json.code], [422, 'VALIDATION_ERROR'])
        const [fault] = json.errors
        assert.equal(fault.field, field)
        assert.match(fault.message, message)
      })

    test('a field that a caller reads in some rows only is in no condition of theirs', async () => {
      for (const [as, status] of [
        [null, 401],
        [1, 403],
      ] as const)
        for (const line of [
          `GET ${list}&code=a`,
          `GET ${list}&code[isNull]=true`,
          `GET ${list}&where=${encodeURIComponent('{"or":[{"code":"a"}]}')}`,
          'GET /api/v2/notes?item.code=a',
        ])
          assert.equal((await ask(as, line)).status, status, `${as} ${line}`)
      assert.equal((await ask(1, `QUERY ${list}`, { where: { not: { code: 'a' } } })).status, 403)
    })

    test('a QUERY takes where alone in its JSON', async () => {
      const { status, text } = await ask(1, `QUERY ${list}`, { where: {}, limit: 1 })
      assert.equal(status, 422)
      assert.match(text, /limit is not a member here; there is only where/)
      assert.deepEqual(await idsOf(1, `QUERY ${list}`, {}), wanted(1, {}))
    })
  })

test('a filter of a content that has the name where is what the parameter is', async () => {
  const listing = {
    paging: 'page',
    limit: 5,
    filters: { where: { field: 'place', kind: 'equals' } },
  } as const
  const find = entity({
    fields: { id: id(), place: text({ max: 20 }), revision: revision() },
    policy: { read: anyone, create: anyone },
    rest: { list: true, writes: ['create'], listing },
  }) as unknown as Entity
  const { ask, close } = await serveModel({ member, find }, 'sqlite')
  try {
    for (const place of ['here', '"x"'])
      await ask({ line: 'POST /api/v2/finds', as: 'anonymous', body: { place } })
    const idsOf = async (line: string) =>
      JSON.parse((await ask({ line, as: 'anonymous' })).text).data
    assert.deepEqual(
      (await idsOf('GET /api/v2/finds?where=here')).map(({ id }: { id: number }) => id),
      [1],
    )
    assert.equal((await idsOf('GET /api/v2/finds/aggregate?where=here&id[ne]=9'))[0].count, 1)
    for (const path of ['finds', 'finds/aggregate']) {
      const line = `QUERY /api/v2/${path}`
      const { status, text } = await ask({ line, as: 'anonymous', body: { where: { id: 1 } } })
      assert.equal(status, 422)
      assert.match(text, /where is not a member here; .*parameters are in the URL/)
    }
  } finally {
    await close()
  }
})
