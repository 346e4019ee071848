/** Orders: pages of any of them hold each row once while others write, forwards and backwards, and their cursors are good for nothing else. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import fc from 'fast-check'
import { type Entity, entity, many, one } from '#model/entity.ts'
import {
  choice,
  date,
  decimal,
  flag,
  id,
  int,
  reference,
  revision,
  text,
  time,
} from '#model/field.ts'
import { anyone } from '#model/policy.ts'
import { forAllTests } from '../support/fixture.ts'
import { admin } from '../support/roles.ts'
import { rounds } from '../support/rounds.ts'
import { engines } from './compare.ts'
import { member } from './models.ts'
import { serveModel, type Viewer } from './serve.ts'

const rest = {
  list: true,
  one: true,
  writes: ['create', 'update', 'delete'],
  listing: { paging: 'page', limit: 20 },
} as const
const mutations = { create: admin, update: admin, delete: admin }

const entities: Record<string, Entity> = {
  member,
  shelf: entity({
    plural: 'shelves',
    policy: { read: anyone.where({ open: true }), ...mutations },
    rest,
    fields: {
      id: id(),
      label: choice(['high', 'low'], { nullable: true }),
      open: flag({ initial: { value: 1 } }),
      size: int({ min: 0, max: 9 }),
      revision: revision(),
    },
    relations: { items: many('item', 'shelfId') },
  }),
  item: entity({
    policy: { read: anyone, ...mutations },
    rest,
    fields: {
      id: id(),
      name: text({ max: 20, nullable: true }),
      size: int({ min: -9, max: 9 }),
      weight: decimal({ scale: 1, min: -9, max: 9, nullable: true }),
      madeAt: time({ nullable: true }),
      day: date({ nullable: true }),
      rare: flag({ nullable: true }),
      other: int({ min: 0, max: 9, initial: { value: 0 } }),
      steps: text({ max: 651, nullable: true }),
      shelfId: reference('shelf', { onDelete: 'cascade', nullable: true }),
      revision: revision(),
    },
    relations: { shelf: one('shelf', 'shelfId') },
    indexes: [['size'], ['shelfId', 'size']],
  }),
}

type Value = string | number | boolean | null
type Row = { readonly id: string; readonly [field: string]: unknown }
/** A field, or one of the shelf, and its direction. */
type Key = readonly [path: string, descending: boolean]

const paths = ['name', 'size', 'weight', 'madeAt', 'day', 'rare', 'shelf.label', 'shelf.size', 'id']
const orders = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...paths), fc.boolean()), {
    minLength: 1,
    maxLength: 4,
    selector: ([path]) => path,
  })
  .map(keys => keys as readonly Key[])

const names = ['a', 'B', 'ä', 'ﬀ', '𝒳y', 'a b']
const changedFields = {
  name: fc.option(fc.constantFrom(...names), { nil: null }),
  size: fc.integer({ min: -1, max: 2 }),
  weight: fc.option(fc.constantFrom(-1.5, 0, 0.1, 2), { nil: null }),
  madeAt: fc.option(
    fc.constantFrom(
      '2026-01-02T00:00:00.000Z',
      '2026-01-02T00:00:00.001Z',
      '1969-07-20T20:17:00.000Z',
    ),
    { nil: null },
  ),
  day: fc.option(fc.constantFrom('2026-01-02', '2026-01-10'), { nil: null }),
  rare: fc.option(fc.boolean(), { nil: null }),
  other: fc.integer({ min: 0, max: 9 }),
}
const items = fc.record({
  ...changedFields,
  shelfId: fc.option(fc.integer({ min: 1, max: 4 }), { nil: null }),
})
const shelves = fc.record({
  label: fc.option(fc.constantFrom('high', 'low'), { nil: null }),
  open: fc.boolean(),
  size: fc.integer({ min: 0, max: 3 }),
})

/** A write between two pages: of a row's order values or others, of a shelf, or a new row, or one less. */
const writes = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('change' as const),
      at: fc.nat(40),
      values: fc.record(changedFields, { requiredKeys: [] }),
    }),
  },
  fc.record({ kind: fc.constant('shelf' as const), at: fc.nat(3), values: shelves }),
  fc.record({ kind: fc.constant('create' as const), values: items }),
  fc.record({ kind: fc.constant('delete' as const), at: fc.nat(40) }),
)
type Write = typeof writes extends fc.Arbitrary<infer One> ? One : never

const valueAt = (row: Row, path: string): Value => {
  const [first = '', second] = path.split('.')
  const value = row[first] as Value | Record<string, Value>
  if (path === 'id') return Number(value)
  if (second === undefined) return value as Value
  return (value as Record<string, Value> | null)?.[second] ?? null
}

const byCodePoints = (a: string, b: string): number =>
  Buffer.compare(Buffer.from(a), Buffer.from(b))

const compared =
  (order: readonly Key[]) =>
  (a: Row, b: Row): number => {
    for (const [path, descending] of [...order, ['id', false] as const]) {
      const [x, y] = [valueAt(a, path), valueAt(b, path)]
      if (x === y) continue
      // Null comes last in both directions.
      if (x === null || y === null) return x === null ? 1 : -1
      const sign = typeof x === 'string' ? byCodePoints(x, String(y)) : Number(x) - Number(y)
      return descending ? -sign : sign
    }
    return 0
  }

const orderBy = (order: readonly Key[]): string => {
  const one = ([path, descending]: Key) => {
    const direction = descending ? 'DESC' : 'ASC'
    const [first, second] = path.split('.')
    return second === undefined
      ? `{ ${first}: ${direction} }`
      : `{ ${first}: { ${second}: ${direction} } }`
  }
  return `[${order.map(one).join()}]`
}

const shown = 'id name size weight madeAt day rare shelf { label size }'

for (const on of engines)
  describe(`orders on ${on}`, () => {
    const service = forAllTests(() => serveModel(entities, on))
    const send = async (line: string, body?: unknown) => {
      const answer = await service.ask({ line, as: 'admin', ...(body !== undefined && { body }) })
      assert.ok(answer.status < 300, `${line}: ${answer.text}`)
    }
    const gql = async (query: string, as: Viewer = 'user') => {
      const answer = await service.ask({ line: 'POST /graphql', as, body: { query } })
      return JSON.parse(answer.text)
    }
    const rowsFor = async (as: Viewer): Promise<readonly Row[]> =>
      (await gql(`{ items { ${shown} } }`, as)).data.items

    before(async () => {
      for (const name of ['Ada', 'Ben']) await send('POST /api/members', { name })
      for (const shelf of fc.sample(shelves, { numRuns: 4, seed: 7 }))
        await send('POST /api/shelves', shelf)
      for (const item of fc.sample(items, { numRuns: 25, seed: 7 }))
        await send('POST /api/items', item)
    })

    const perform = async (write: Write) => {
      const all = await rowsFor('admin')
      if (write.kind === 'create') return send('POST /api/items', write.values)
      if (write.kind === 'shelf') return send(`PATCH /api/shelves/${write.at + 1}`, write.values)
      const { id } = all[write.at % all.length] as Row
      if (write.kind === 'change') return send(`PATCH /api/items/${id}`, write.values)
      return all.length < 15 ? undefined : send(`DELETE /api/items/${id}`)
    }

    test('a list has the order that it is asked for, also below another row', async () => {
      await fc.assert(
        fc.asyncProperty(
          orders,
          fc.nat(9),
          fc.integer({ min: 1, max: 9 }),
          async (order, offset, limit) => {
            for (const as of ['anonymous', 'admin'] as const) {
              const rows = await rowsFor(as)
              const expected = rows.toSorted(compared(order)).map(({ id }) => id)
              const page = `orderBy: ${orderBy(order)}, limit: ${limit}, offset: ${offset}`
              const { data } = await gql(
                `{ items(${page}) { id } all: items(orderBy: ${orderBy(order)}) { id }
                 shelves { id items(${page}) { id } all: items(orderBy: ${orderBy(order)}) { id } } }`,
                as,
              )
              const ids = (of: readonly Row[]) => of.map(({ id }) => id)
              assert.deepEqual(ids(data.items), expected.slice(offset, offset + limit))
              assert.deepEqual(ids(data.all), expected)
              const of = (await gql('{ items { id shelf { id } } }', as)).data.items as readonly {
                readonly id: string
                readonly shelf: Row | null
              }[]
              for (const shelf of data.shelves) {
                const own = expected.filter(
                  id => of.find(row => row.id === id)?.shelf?.id === shelf.id,
                )
                assert.deepEqual(ids(shelf.all), own)
                assert.deepEqual(ids(shelf.items), own.slice(offset, offset + limit))
              }
            }
          },
        ),
        { numRuns: rounds(9, 1000) },
      )
    })

    /** The same order as the REST API asks for it. */
    const sortOf = (order: readonly Key[]) =>
      order.map(([path, descending]) => `${descending ? '-' : ''}${path}`).join()

    /** A page: the ids on it, and the way on, if there is one. */
    type Page = { readonly ids: readonly string[]; readonly next: string | null }
    const connection =
      (order: readonly Key[], size: number, backwards: boolean) =>
      async (from: string | null): Promise<Page> => {
        const at =
          from === null ? '' : `${backwards ? 'before' : 'after'}: ${JSON.stringify(from)}, `
        const answer = await gql(
          `{ itemsConnection(${at}${backwards ? 'last' : 'first'}: ${size}, orderBy: ${orderBy(order)}) {
               edges { cursor node { id } }
               pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
        )
        assert.equal(answer.errors, undefined, JSON.stringify(answer.errors))
        const { edges, pageInfo } = answer.data.itemsConnection
        const ids = edges.map(({ node }: { node: Row }) => node.id)
        assert.equal(pageInfo.startCursor, edges[0]?.cursor ?? null)
        assert.equal(pageInfo.endCursor, edges.at(-1)?.cursor ?? null)
        const [hasMore, cursor] = backwards
          ? [pageInfo.hasPreviousPage, pageInfo.startCursor]
          : [pageInfo.hasNextPage, pageInfo.endCursor]
        return { ids: backwards ? ids.toReversed() : ids, next: hasMore ? cursor : null }
      }

    /** The pages of a REST list by cursors; one that is walked backwards is walked to its end first. */
    const restPages = (order: readonly Key[], size: number, backwards: boolean) => {
      const read = async (cursor: string) => {
        const path = `/api/v2/items?limit=${size}&sort=${sortOf(order)}&cursor=${cursor}`
        const answer = await service.ask({ line: `GET ${path}`, as: 'user' })
        assert.equal(answer.status, 200, answer.text)
        assert.equal(answer.headers.get('cache-control'), 'private, no-cache')
        const { data, pagination } = JSON.parse(answer.text)
        const link = answer.headers.get('link') ?? ''
        const { nextCursor: next, prevCursor: prev } = pagination
        assert.deepEqual([pagination.hasNext, pagination.hasPrev], [next !== null, prev !== null])
        assert.equal(link.includes(`cursor=${next}>; rel="next"`), next !== null)
        assert.equal(link.includes(`cursor=${prev}>; rel="prev"`), prev !== null)
        const ids = data.map(({ id }: { id: number }) => String(id))
        return { ids: ids as string[], next: next as string | null, prev: prev as string | null }
      }
      return async (from: string | null): Promise<Page> => {
        if (!backwards) return read(from ?? '')
        let page = await read(from ?? '')
        // Its last page may be short.
        while (from === null && page.next !== null) page = await read(page.next)
        return { ids: page.ids.toReversed(), next: page.prev }
      }
    }

    test('a list of the REST API has the order that it is asked for, by numbers and below another row', async () => {
      await fc.assert(
        fc.asyncProperty(orders, fc.integer({ min: 1, max: 9 }), async (order, limit) => {
          const rows = await rowsFor('user')
          const expected = rows.toSorted(compared(order)).map(({ id }) => Number(id))
          const read = async (path: string) => {
            const answer = await service.ask({ line: `GET /api/v2${path}`, as: 'user' })
            assert.equal(answer.status, 200, answer.text)
            return JSON.parse(answer.text).data as readonly { id: number; shelfId: number | null }[]
          }
          const sort = `sort=${sortOf(order)}&limit=${limit}`
          const page = await read(`/items?${sort}&page=2`)
          assert.deepEqual(
            page.map(({ id }) => id),
            expected.slice(limit, 2 * limit),
          )
          const all = await read('/items?limit=100')
          for (const { id } of (await read('/shelves')) as readonly { id: number }[]) {
            const own = expected.filter(item =>
              all.some(row => row.id === item && row.shelfId === id),
            )
            const below = await read(`/shelves/${id}/items?${sort}`)
            assert.deepEqual(
              below.map(({ id }) => id),
              own.slice(0, limit),
            )
          }
        }),
        { numRuns: rounds(6, 500) },
      )
    })

    test('pages hold each row once whose order values stay, whatever is written between them', async () => {
      await fc.assert(
        fc.asyncProperty(
          orders,
          fc.integer({ min: 1, max: 9 }),
          fc.boolean(),
          fc.array(fc.array(writes, { maxLength: 3 }), { maxLength: 6 }),
          fc.boolean(),
          async (order, size, backwards, gaps, isRest) => {
            const page = (isRest ? restPages : connection)(order, size, backwards)
            const seen: string[] = []
            const snapshots = [await rowsFor('user')]
            let from: string | null = null
            do {
              const { ids, next }: Page = await page(from)
              seen.push(...ids)
              from = next
              for (const write of gaps.shift() ?? []) await perform(write)
              snapshots.push(await rowsFor('user'))
            } while (from !== null)
            const told = (row: Row | undefined) =>
              row && JSON.stringify(order.map(([path]) => valueAt(row, path)))
            const isStable = ({ id }: Row) =>
              new Set(snapshots.map(rows => told(rows.find(row => row.id === id)))).size === 1
            const stable = (snapshots[0] ?? [])
              .filter(isStable)
              .toSorted(compared(order))
              .map(({ id }) => id)
            if (backwards) stable.reverse()
            assert.deepEqual(
              seen.filter(id => stable.includes(id)),
              stable,
            )
          },
        ),
        { numRuns: rounds(9, 1000) },
      )
    })

    test('between two cursors are the rows between them, and a total is of all', async () => {
      await fc.assert(
        fc.asyncProperty(
          orders,
          fc.nat(12),
          fc.nat(12),
          fc.nat(4),
          fc.boolean(),
          async (order, start, length, size, backwards) => {
            const { edges, totalCount } = (
              await gql(
                `{ itemsConnection(first: 100, orderBy: ${orderBy(order)}) { totalCount edges { cursor node { id } } } }`,
              )
            ).data.itemsConnection
            assert.equal(totalCount, edges.length)
            const end = Math.min(start + length + 1, edges.length - 1)
            const between = edges.slice(start + 1, end).map(({ node }: { node: Row }) => node.id)
            const given = `after: "${edges[start].cursor}", before: "${edges[end].cursor}", ${backwards ? 'last' : 'first'}: ${size}`
            const { data } = await gql(
              `{ itemsConnection(${given}, orderBy: ${orderBy(order)}) { edges { node { id } } pageInfo { hasNextPage hasPreviousPage } } }`,
            )
            const found = data.itemsConnection.edges.map(({ node }: { node: Row }) => node.id)
            const expected = backwards
              ? between.slice(Math.max(between.length - size, 0))
              : between.slice(0, size)
            assert.deepEqual(found, expected)
            const isMore = between.length > size
            assert.deepEqual(data.itemsConnection.pageInfo, {
              hasNextPage: backwards || isMore,
              hasPreviousPage: !backwards || isMore,
            })
          },
        ),
        { numRuns: rounds(10, 500) },
      )
    })

    test('a cursor is good for no other list, order or caller, nor when it is changed', async () => {
      const cursorOf = async (order: string, of = 'items', as: Viewer = 'user') => {
        const { data } = await gql(
          `{ ${of}Connection(first: 1, orderBy: ${order}) { pageInfo { endCursor } } }`,
          as,
        )
        return data[`${of}Connection`].pageInfo.endCursor as string
      }
      const refused = async (cursor: string, order: string, of = 'items', as: Viewer = 'user') => {
        for (const given of [
          `first: 1, after: ${JSON.stringify(cursor)}`,
          `last: 1, before: ${JSON.stringify(cursor)}`,
        ]) {
          const answer = await gql(
            `{ ${of}Connection(${given}, orderBy: ${order}) { edges { node { id } } } }`,
            as,
          )
          assert.equal(
            answer.errors?.[0]?.extensions?.code,
            'BAD_USER_INPUT',
            JSON.stringify(answer),
          )
        }
      }
      const cursor = await cursorOf('[{ size: ASC }]')
      assert.equal(await cursorOf('[{ size: ASC }]'), cursor, 'the same row has the same cursor')
      await refused(cursor, '[{ size: DESC }]')
      await refused(cursor, '[{ weight: ASC }]')
      await refused(cursor, '[{ size: ASC }, { name: ASC }]')
      await refused(cursor, '[{ shelf: { size: ASC } }]')
      await refused(cursor, '[{ size: ASC }]', 'shelves')
      await refused(cursor, '[{ size: ASC }]', 'items', 'admin')
      await refused(cursor, '[{ size: ASC }]', 'items', 'anonymous')
      assert.doesNotMatch(
        Buffer.from(cursor, 'base64url').toString('latin1'),
        /\[-?\d/,
        'it hides its values',
      )
      await fc.assert(
        fc.asyncProperty(
          fc.nat(cursor.length - 1),
          fc.constantFrom(...'ABCxyz019-_'),
          async (at, letter) => {
            const changed = cursor.slice(0, at) + letter + cursor.slice(at + 1)
            if (changed !== cursor) await refused(changed, '[{ size: ASC }]')
          },
        ),
        { numRuns: rounds(9, 1000) },
      )
      const page = async (query: string, as: Viewer = 'user') =>
        service.ask({ line: `GET /api/v2/items?limit=3&${query}`, as })
      const { nextCursor } = JSON.parse((await page('sort=-size&cursor=')).text).pagination
      const good = await page(`sort=-size&cursor=${nextCursor}`)
      assert.equal(good.status, 200)
      const { prevCursor } = JSON.parse(good.text).pagination
      for (const [query, as] of [
        [`sort=size&cursor=${nextCursor}`],
        [`sort=-size,name&cursor=${prevCursor}`],
        [`cursor=${nextCursor}`],
        [`sort=-size&cursor=${nextCursor}`, 'admin'],
        [`sort=-size&cursor=${prevCursor}`, 'anonymous'],
        [`sort=-size&cursor=${cursor}`],
        [`sort=-size&cursor=${nextCursor}A`],
        [`sort=-size&cursor=A`],
      ] as const) {
        const answer = await page(query, as)
        assert.equal(answer.status, 422, query)
        assert.match(answer.text, /must be a cursor of this list/)
      }
      for (const text of ['', '1', 'null', cursor.slice(1), `${cursor}A`])
        await refused(text, '[{ size: ASC }]')
    })

    test('what an order or a page may not ask for is told', async () => {
      const faults: readonly (readonly [query: string, message: RegExp])[] = [
        ['{ items(orderBy: [{ sise: ASC }]) { id } }', /did you mean "size"/i],
        ['{ items(orderBy: [{ steps: ASC }]) { id } }', /"steps"/],
        ['{ items(orderBy: [{ size: ASC, name: ASC }]) { id } }', /exactly one/i],
        [
          '{ items(orderBy: [{ id: ASC }, { name: ASC }, { size: ASC }, { day: ASC }, { rare: ASC }]) { id } }',
          /has 5 keys, at most 4/,
        ],
        ['{ itemsConnection(first: 1, last: 1) { totalCount } }', /cannot be given beside "first"/],
        ['{ itemsConnection(first: -1) { totalCount } }', /must not be negative/],
      ]
      for (const [query, message] of faults)
        assert.match((await gql(query)).errors?.[0]?.message ?? '', message, query)
      const restFaults: readonly (readonly [query: string, message: RegExp])[] = [
        ['sort=sise', /names sise; did you mean size\?/],
        ['sort=-shelf.lable', /did you mean -shelf.label\?/],
        ['sort=steps', /names steps; each value must be one of id, name, /],
        ['sort=shelf', /names shelf; /],
        ['sort=', /names nothing; /],
        ['sort=id,name,size,day,rare', /names 5 members, and at most 4/],
        ['sort=size&cursor=&page=2', /goes by numbers: leave it or cursor out/],
      ]
      for (const [query, message] of restFaults) {
        const answer = await service.ask({ line: `GET /api/v2/items?${query}`, as: 'user' })
        assert.equal(answer.status, 422, query)
        assert.match(answer.text, message)
      }
    })
  })
