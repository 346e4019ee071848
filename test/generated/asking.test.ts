/** Conditions of callers: any of them finds the rows that it finds in memory among those that the caller may see. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type StoredRow, satisfies } from '#kit/check/conditions.ts'
import type { Condition } from '#model/condition.ts'
import type { Cook } from '../support/cooking.ts'
import { forAllTests } from '../support/fixture.ts'
import { rounds, usualSeed } from '../support/rounds.ts'
import {
  askingKitchen,
  conditions,
  days,
  moment,
  seenBy,
  texts,
  world,
} from '../support/shelves.ts'
import { engines } from './compare.ts'

for (const on of engines)
  describe(`conditions of callers on ${on}`, () => {
    const kitchen = forAllTests(() => askingKitchen(on))

    const ask = async (as: Cook, query: string, variables: object = {}) => {
      const { json, headers } = await kitchen.say(as, 'POST /graphql', { query, variables })
      const errors = (json.errors ?? []) as { message: string; extensions: { code: string } }[]
      return {
        data: json.data,
        headers,
        codes: errors.map(({ extensions }) => extensions.code),
        messages: errors.map(({ message }) => message),
      }
    }

    test('connections below rows have the pages that they have in memory, for all those rows at once', async () => {
      type Key = readonly [field: string, descending: boolean]
      const order = (...of: (readonly Key[])[]) => fc.constantFrom<readonly Key[]>([], ...of)
      const drawn = fc.sample(
        fc.record({
          w: conditions.item as fc.Arbitrary<Condition>,
          t: fc.option(conditions.tag as fc.Arbitrary<Condition>, { nil: null, freq: 2 }),
          byItem: order(
            [['size', true]],
            [['name', false]],
            [
              ['rare', false],
              ['size', false],
            ],
          ),
          byTag: order([['slug', false]], [['slug', true]]),
          n: fc.integer({ min: 0, max: 3 }),
          backwards: fc.boolean(),
          at: fc.nat(40),
        }),
        { seed: usualSeed(31), numRuns: rounds(9, 400) },
      )
      type Place = { readonly row: StoredRow; readonly keys: readonly unknown[] }
      const isBefore = (a: Place, b: Place, by: readonly Key[]): boolean => {
        for (const [at, key] of a.keys.entries()) {
          const [x, y] = [key, b.keys[at]] as [string | number | null, string | number | null]
          if (x === y) continue
          // Null comes last in both directions.
          if (x === null || y === null) return y === null
          const isLess =
            typeof x === 'string'
              ? Buffer.compare(Buffer.from(x), Buffer.from(String(y))) < 0
              : x < Number(y)
          return isLess !== (by[at]?.[1] ?? false)
        }
        return false
      }
      let paged = 0
      for (const { w, t, byItem, byTag, n, backwards, at } of drawn)
        for (const who of [null, 1, 3]) {
          const memory = seenBy(who)
          const fit = (of: string, condition: Condition | null) =>
            (memory.rows[of] ?? []).filter(
              row => condition === null || satisfies(memory, of, row, condition),
            )
          const sorted = (places: readonly Place[], by: readonly Key[]) =>
            places.toSorted((a, b) => (isBefore(a, b, by) ? -1 : 1))
          const keysOf = (row: StoredRow, by: readonly Key[]) => by.map(([field]) => row[field])
          // What is asked for no order has the newest first: a row, or the link to it.
          const itemKeys: readonly Key[] = byItem.length > 0 ? byItem : [['id', true]]
          const itemsIn = (shelf: number) =>
            sorted(
              fit('item', w)
                .filter(({ shelfId }) => shelfId === shelf)
                .map(row => ({ row, keys: [...keysOf(row, itemKeys), row.id] })),
              itemKeys,
            )
          const tagKeys: readonly Key[] = byTag.length > 0 ? byTag : [['id', true]]
          const tags = fit('tag', t)
          const tagsOf = (item: number) =>
            sorted(
              (memory.rows.mark ?? []).flatMap(mark => {
                const row = tags.find(({ id }) => id === mark.tagId)
                if (mark.itemId !== item || !row) return []
                return [
                  {
                    row,
                    keys: [...keysOf(row, byTag), ...(byTag.length > 0 ? [row.id] : []), mark.id],
                  },
                ]
              }),
              tagKeys,
            )
          const page = (name: string, by: readonly Key[]) => {
            const keys = by.map(([field, down]) => `{ ${field}: ${down ? 'DESC' : 'ASC'} }`)
            const sort = keys.length > 0 ? `orderBy: [${keys}], ` : ''
            return `${sort}${backwards ? 'last' : 'first'}: $n, ${backwards ? 'before' : 'after'}: $${name}`
          }
          const told = `{ totalCount edges { cursor node { id } }
            pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }`
          const query = `query ($w: ItemWhere, $t: TagWhere, $n: Int, $itemAt: String, $tagAt: String) {
            shelves { id of: itemsConnection(where: $w, ${page('itemAt', byItem)}) ${told} }
            items(limit: 100) { id of: tagsConnection(where: $t, ${page('tagAt', byTag)}) ${told} } }`
          type Edge = { readonly cursor: string; readonly node: { readonly id: string } }
          type Above = { readonly id: string; readonly of: { readonly edges: readonly Edge[] } }
          const variables: Record<string, unknown> = { w, t, n }
          const froms: [Place | undefined, Place | undefined] = [undefined, undefined]
          for (const round of ['from an end', 'from a cursor']) {
            const { data, messages } = await ask(who, query, variables)
            if (/comparisons|deeper/.test(String(messages))) break
            const about = `${round} ${who} ${JSON.stringify({ ...variables, byItem, byTag, backwards })}`
            assert.deepEqual(messages, [], about)
            const lists = [
              ['itemAt', data.shelves, itemsIn, itemKeys],
              ['tagAt', data.items, tagsOf, tagKeys],
            ] as const
            for (const [place, [name, above, placesOf, by]] of lists.entries()) {
              const from = froms[place]
              for (const { id, of } of above) {
                const all = placesOf(Number(id))
                const rest = all.filter(
                  one => !from || (backwards ? isBefore(one, from, by) : isBefore(from, one, by)),
                )
                const start = backwards ? Math.max(rest.length - n, 0) : 0
                const isMore = rest.length > n
                const cursors = of.edges.map(({ cursor }: Edge) => cursor)
                assert.deepEqual(
                  {
                    ...of,
                    edges: of.edges.map(({ node }: Edge) => Number(node.id)),
                  },
                  {
                    totalCount: all.length,
                    edges: rest.slice(start, start + n).map(({ row }) => row.id),
                    pageInfo: {
                      hasNextPage: backwards ? from !== undefined : isMore,
                      hasPreviousPage: backwards ? isMore : from !== undefined,
                      startCursor: cursors[0] ?? null,
                      endCursor: cursors.at(-1) ?? null,
                    },
                  },
                  about,
                )
                if (isMore) paged++
              }
              // A place in the list of one row is one in those of all.
              const edges = (above as readonly Above[]).flatMap(({ id, of }) =>
                of.edges.map(({ cursor, node }) => ({ id, cursor, node })),
              )
              const chosen = edges[at % Math.max(edges.length, 1)]
              if (!chosen) continue
              variables[name] = chosen.cursor
              froms[place] = placesOf(Number(chosen.id)).find(
                ({ row }) => row.id === Number(chosen.node.id),
              )
            }
          }
        }
      assert.ok(paged > drawn.length, `${paged}`)
    })

    test('a cursor of one relation is good for no other', async () => {
      const page = 'edges { cursor }'
      const { data } = await ask(1, `{ shelves { itemsConnection(first: 1) { ${page} } } }`)
      const cursors = data.shelves.flatMap(({ itemsConnection }: { itemsConnection: never }) =>
        (itemsConnection as { edges: { cursor: string }[] }).edges.map(({ cursor }) => cursor),
      )
      const of = (field: string, args = '') =>
        ask(1, `query ($at: String) { ${field}(after: $at, first: 1${args}) { ${page} } }`, {
          at: cursors[0],
        })
      const below = (field: string, args = '') =>
        ask(
          1,
          `query ($at: String) { shelves { ${field}(after: $at, first: 1${args}) { ${page} } } }`,
          { at: cursors[0] },
        )
      assert.deepEqual((await below('itemsConnection')).codes, [])
      const refused = [
        of('itemsConnection'),
        below('itemsConnection', ', orderBy: [{ size: ASC }]'),
        below('itemsConnection', ', where: { size: { gt: 0 } }'),
        ask(3, `query ($at: String) { shelves { itemsConnection(after: $at) { ${page} } } }`, {
          at: cursors[0],
        }),
        ask(1, `query ($at: String) { tags { itemsConnection(after: $at) { ${page} } } }`, {
          at: cursors[0],
        }),
      ]
      for (const { codes } of await Promise.all(refused))
        assert.deepEqual(codes, ['BAD_USER_INPUT'])
    })

    test('a row that is hidden is in no answer, not even in what is denied', async () => {
      const owned = (world.item ?? []).find(({ rare, ownerId }) => rare === 1 && ownerId === 3)
      assert.ok(owned)
      const query = `query ($id: ID!) {
        items(where: { id: { eq: $id } }) { id }
        itemsAggregate(where: { id: { eq: $id } }) { count }
        some: notes(where: { item: { id: { eq: $id } } }) { id }
        not: notes(where: { not: { item: { not: { id: { eq: $id } } } } }) { item { id } }
      }`
      for (const who of [null, 1] as const) {
        const { data } = await ask(who, query, { id: owned.id })
        assert.deepEqual([data.items, data.some], [[], []])
        assert.deepEqual(data.itemsAggregate, [{ count: 0 }])
        // A hidden item is a missing one, so that those of any hidden item are alike.
        assert.ok(data.not.every(({ item }: { item: unknown }) => item === null))
      }
      const { data } = await ask(3, query, { id: owned.id })
      assert.deepEqual(data.items, [{ id: String(owned.id) }])
    })

    test('a field that a caller reads in some rows only is in no condition of theirs', async () => {
      for (const where of ['code: { eq: "a" }', 'not: { code: { isNull: true } }']) {
        const { codes } = await ask(1, `{ items(where: { ${where} }) { id } }`)
        assert.deepEqual(codes, ['FORBIDDEN'])
        const nested = `{ notes(where: { item: { ${where} } }) { id } }`
        assert.deepEqual((await ask(null, nested)).codes, ['UNAUTHENTICATED'])
      }
    })

    test('a variable that is not set asks for nothing else than it says', async () => {
      const refused = [
        ['items(where: { size: { gte: $n } }) { id }', 'where.size.gte'],
        ['items(where: { or: [{}, { size: { gte: $n } }] }) { id }', 'where.or.1.size.gte'],
        [
          'shelves { items(where: { notes: { none: { stars: { eq: $n } } } }) { id } }',
          'where.notes.none.stars.eq',
        ],
        ['itemsConnection(where: { size: { ne: $n } }) { edges { node { id } } }', 'where.size.ne'],
        ['itemsAggregate(where: { not: { size: { lt: $n } } }) { count }', 'where.not.size.lt'],
      ] as const
      for (const [asked, path] of refused) {
        const { codes, messages } = await ask(null, `query ($n: Int) { ${asked} }`)
        assert.deepEqual(codes, ['BAD_USER_INPUT'], asked)
        assert.deepEqual(messages, [`Argument "${path}" has a variable without a value.`])
      }
      const isNull = 'query ($n: Int) { items(where: { size: { eq: $n } }, limit: 100) { size } }'
      const { data } = await ask(null, isNull, { n: null })
      assert.ok(
        data.items.length > 0 && data.items.every(({ size }: { size: unknown }) => size === null),
      )
      const lower = 'query ($n: Int) { items(where: { size: { lt: $n } }) { size } }'
      assert.deepEqual((await ask(null, lower, { n: null })).messages, [
        'Argument "where.size.lt" must be a whole number.',
      ])
      // A whole condition that is not given is none.
      const whole = 'query ($w: ItemWhere) { items(where: $w, limit: 100) { id } }'
      const all = await ask(null, '{ items(limit: 100) { id } }')
      for (const variables of [{}, { w: null }, { w: {} }])
        assert.deepEqual((await ask(null, whole, variables)).data, all.data)
    })

    test('a variable in a condition means in each request what its value would there', async () => {
      // Its condition, the type of the variable, and its values in this order: what one brings must not stay for the next.
      const asked: readonly (readonly [string, string, readonly unknown[]])[] = [
        ['size: { gte: $v, ne: 2 }', 'Int', [1, -1, null, 1]],
        ['price: { eq: $v }', 'Float', [1, 1.005, 0.01, null, 2.5]],
        ['price: { lte: $v }', 'Float', [1, 1.005, 0.994]],
        ['or: [{ price: { gt: $v } }, { weight: { lt: $v } }]', 'Float', [1, 0.14]],
        ['madeAt: { gt: $v }', 'DateTime', [new Date(moment - 1).toISOString()]],
        ['day: { in: ["2026-02-01", $v] }', 'Date!', ['2026-01-02', '2026-01-10', 'x']],
        ['shelf: { id: { eq: $v } }', 'ID', ['2', '3', 'x', '9007199254740993']],
        ['shelf: { label: { eq: $v } }', 'ShelfLabel', ['low', 'high', null]],
        ['name: { contains: $v }', 'String', ['a', 'b%', '']],
        ['words: { has: $v }', 'String', ['a', 'b%']],
        ['rare: { ne: $v }', 'Boolean', [true, false, null]],
      ]
      for (const [where, type, values] of asked)
        for (const value of values) {
          const of = (where: string) =>
            `{ items(where: { ${where} }, limit: 100) { id notes(where: { stars: { gte: 1 } }) { id } } }`
          const isWord = type === 'ShelfLabel' && value !== null
          const written = isWord ? String(value) : JSON.stringify(value)
          const plain = await ask(1, of(where.replaceAll('$v', written)))
          const brought = await ask(1, `query ($v: ${type}) ${of(where)}`, { v: value })
          const about = `${where} ${written} ${plain.messages} ${brought.messages}`
          assert.deepEqual(brought.data, plain.data, about)
          // A literal that has not the form of its type is a fault of the document.
          assert.equal(brought.codes.length, plain.codes.length, about)
        }
    })

    test('a long list of values finds what each of them finds', async () => {
      const lists: Readonly<Record<string, readonly unknown[]>> = {
        name: texts,
        size: [-9, -3, -2, -1, 0, 1, 2, 3, 9],
        price: [0, 0.01, 1, 1.005, 1.01, 2.5, 3, 4, 5, 6],
        weight: [-1.5, -0.15, 0, 0.1, 0.14, 0.2, 1, 2, 3],
        madeAt: [-4, -3, -2, -1, 0, 1, 2, 3, 4].map(step => new Date(moment + step).toISOString()),
        day: [...days, ...Array.from({ length: 9 }, (_, at) => `2025-01-0${at + 1}`)],
        rare: Array(9).fill(true),
        ownerId: [1, 2, 4, 5, 6, 7, 8, 9, 10],
      }
      const query = 'query ($w: ItemWhere) { items(where: $w, limit: 100) { id } }'
      for (const [field, values] of Object.entries(lists)) {
        const each = { or: values.map(eq => ({ [field]: { eq } })) }
        const found = await ask(3, query, { w: each })
        assert.deepEqual(found.messages, [])
        assert.ok(found.data.items.length > 0, field)
        for (const w of [{ [field]: { in: values } }, { not: { [field]: { notIn: values } } }])
          assert.deepEqual((await ask(3, query, { w })).data, found.data, field)
      }
    })

    test('faults have their paths', async () => {
      const query = 'query ($w: ItemWhere) { items(where: $w) { id } }'
      const faults = [
        [{ size: null }, 'Argument "where.size" must be comparisons, such as { isNull: true }.'],
        [{ or: null }, 'Argument "where.or" must be a list of conditions.'],
        [{ shelf: null }, 'Argument "where.shelf" must be a condition, such as { id: 1 }.'],
        [
          { or: [{}, { size: { in: null } }] },
          'Argument "where.or.1.size.in" must be a list of values.',
        ],
        [{ ownerId: { eq: 'x' } }, 'Argument "where.ownerId.eq" must be a whole number.'],
        [{ day: { lt: 'x' } }, 'Argument "where.day.lt" must be a day, such as 2026-01-31.'],
        [
          { or: Array(31).fill({ size: { eq: 1 } }) },
          'Argument "where" has too many comparisons, and at most 30 are taken.',
        ],
      ] as const
      for (const [w, message] of faults) {
        const { codes, messages } = await ask(null, query, { w })
        assert.deepEqual([codes, messages], [['BAD_USER_INPUT'], [message]])
      }
    })

    test('what is not filterable is in no input', async () => {
      const inputs = `{ where: __type(name: "TagWhere") { inputFields { name } }
        order: __type(name: "TagOrder") { inputFields { name } }
        mark: __type(name: "MarkOrder") { name }
        note: __type(name: "NoteWhere") { inputFields { name type { name } } }
        item: __type(name: "ItemWhere") { inputFields { name type { name } } }
        query: __type(name: "Query") { fields { name args { name } } } }`
      const { data } = await ask(null, inputs)
      const names = (of: { inputFields: { name: string }[] }) => of.inputFields.map(one => one.name)
      assert.deepEqual(names(data.where), ['slug', 'secret', 'items', 'and', 'or', 'not'])
      assert.deepEqual(names(data.order), ['slug', 'secret'])
      assert.equal(data.mark, null)
      const marks = data.query.fields.find(({ name }: { name: string }) => name === 'marks')
      assert.deepEqual(
        marks.args.map(({ name }: { name: string }) => name),
        ['limit', 'offset'],
      )
      const types = Object.fromEntries(
        data.item.inputFields.map(({ name, type }: { name: string; type: { name: string } }) => [
          name,
          type.name,
        ]),
      )
      assert.deepEqual(
        [
          types.name,
          types.code,
          types.size,
          types.price,
          types.madeAt,
          types.rare,
          types.words,
          types.ownerId,
        ],
        [
          'StringSearchCondition',
          'StringCondition',
          'IntCondition',
          'FloatCondition',
          'DateTimeCondition',
          'BooleanCondition',
          'StringListCondition',
          'IDCondition',
        ],
      )
    })

    test('a cursor belongs to its condition', async () => {
      const query = `query ($w: ItemWhere, $after: String) {
        itemsConnection(where: $w, first: 2, after: $after) { edges { node { id } } pageInfo { endCursor } } }`
      const w = { size: { gte: -2 } }
      const first = await ask(1, query, { w })
      const after = first.data.itemsConnection.pageInfo.endCursor
      const second = await ask(1, query, { w, after })
      assert.deepEqual(second.codes, [])
      assert.equal(second.data.itemsConnection.edges.length, 2)
      for (const other of [null, { size: { gte: -1 } }, { size: { gt: -2 } }])
        assert.deepEqual((await ask(1, query, { w: other, after })).codes, ['BAD_USER_INPUT'])
    })

    test('the conditions of an operation are bounded together', async () => {
      const one = 'items(where: { or: [{ size: { eq: 1 } }, { size: { eq: 2 } }] }) { id }'
      const many = (count: number) =>
        `{ ${Array.from({ length: count }, (_, at) => `a${at}: shelf(id: 1) { ${one} }`).join(' ')} }`
      assert.deepEqual((await ask(null, many(3))).codes, [])
      const nested = Array.from({ length: 51 }, (_, at) => `a${at}: ${one}`).join(' ')
      const { codes } = await ask(null, `{ shelf(id: 1) { ${nested} } }`)
      assert.deepEqual(codes, ['QUERY_TOO_COMPLEX'])
    })

    test('an answer that depends on whom rows belong to is shared with nobody', async () => {
      const line = (query: string) => `GET /graphql?query=${encodeURIComponent(query)}`
      const plain = '{ members(where: { id: { ne: 9 } }) { id } }'
      const open = await kitchen.say(null, line(plain))
      assert.match(open.headers.get('cache-control') ?? '', /public/)
      const byRow = await kitchen.say(null, line('{ tags(where: { items: { some: {} } }) { id } }'))
      assert.match(byRow.headers.get('cache-control') ?? '', /private/)
      const asked = '{ tags(where: { items: { some: { rare: { eq: true } } } }) { id } }'
      const answers = []
      for (const who of [null, 1, 3, null] as const)
        answers.push((await ask(who, asked)).data.tags.length)
      assert.equal(answers[0], 0)
      assert.equal(answers[3], 0)
      assert.ok(Number(answers[1]) + Number(answers[2]) > 0)
    })
  })
