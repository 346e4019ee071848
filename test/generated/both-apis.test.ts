/** Generated requests, each through REST and GraphQL on both engines: what they choose, order, page and sum is what they do in memory. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import type { StoredRow } from '#kit/check/conditions.ts'
import { searchedIn } from '#kit/check/reference.ts'
import type { Condition } from '#model/condition.ts'
import type { Cook, Kitchen } from '../support/cooking.ts'
import { rounds, usualSeed } from '../support/rounds.ts'
import { askingKitchen, conditions, fitting, searchedTexts } from '../support/shelves.ts'
import { engines } from './compare.ts'

/** A member, or one of the row that a relation leads to; and whether it descends. */
type Key = readonly [path: string, descending: boolean]
type Value = string | number | boolean | null

const own = ['id', 'name', 'size', 'price', 'madeAt', 'rare', 'weight', 'day'] as const
const shown = [...own, 'words', 'shelfId', 'ownerId']
const paths = [...own, 'shelf.label', 'shelf.open']
const ids = ['id', 'shelfId', 'ownerId']

const orders = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...paths), fc.boolean()), {
    maxLength: 3,
    selector: ([path]) => path,
  })
  .map(keys => keys as readonly Key[])
const asked = fc.record({
  who: fc.constantFrom<Cook>(null, 1, 3),
  where: fc.option(conditions.item as fc.Arbitrary<Condition>, { nil: undefined, freq: 5 }),
  search: fc.option(fc.constantFrom('a', 'A b', 'ss', 'y', 'b%', 'É a'), { nil: '', freq: 1 }),
  byRelevance: fc.boolean(),
  order: orders,
  limit: fc.integer({ min: 1, max: 9 }),
  page: fc.integer({ min: 1, max: 3 }),
  kind: fc.constantFrom('numbers', 'numbers', 'cursors', 'groups', 'groups'),
  by: fc.uniqueArray(fc.constantFrom('rare', 'day', 'dayMonth', 'size'), { maxLength: 2 }),
  least: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
})
type Asked = typeof asked extends fc.Arbitrary<infer One> ? One : never

/** The value of a member as both APIs show it. */
const shownValue = (row: StoredRow, member: string): unknown => {
  const stored = row[member] ?? null
  if (stored === null) return null
  if (member === 'price') return Number(stored) / 100
  if (member === 'weight') return Number(stored) / 10
  if (member === 'madeAt') return new Date(Number(stored)).toISOString()
  if (member === 'rare') return stored === 1
  return member === 'words' ? JSON.parse(String(stored)) : stored
}

const compare = (one: Value, other: Value): number =>
  typeof one === 'string'
    ? Buffer.compare(Buffer.from(one), Buffer.from(String(other)))
    : Number(one) - Number(other)

/** The rows that are to be found, in their order. */
const expectedRows = (
  { who, where, search, byRelevance, order }: Asked,
  hasRules: boolean,
): readonly StoredRow[] => {
  const fit = fitting(who, 'item', where ?? {}, hasRules)
  // The most relevant first.
  const found =
    search === '' ? fit.map(({ id }) => id) : searchedIn(searchedTexts, fit as never, search)
  const rows = found.map(id => fit.find(row => row.id === id) as StoredRow)
  const shelves = new Map(fitting(who, 'shelf', {}, hasRules).map(row => [row.id, row]))
  const valueAt = (row: StoredRow, path: string): Value => {
    const [first = '', second] = path.split('.')
    const of = second === undefined ? row : shelves.get(Number(row.shelfId))
    return (of?.[second ?? first] ?? null) as Value
  }
  if (byRelevance && search !== '') return rows
  return rows.toSorted((one, other) => {
    for (const [path, descending] of order) {
      const [a, b] = [valueAt(one, path), valueAt(other, path)]
      if (a === b) continue
      // Null comes last in both directions.
      if (a === null || b === null) return Number(a === null) - Number(b === null)
      const by = compare(a, b)
      if (by !== 0) return descending ? -by : by
    }
    return Number(one.id) - Number(other.id)
  })
}

const expectedGroups = (asked: Asked, hasRules: boolean): readonly object[] => {
  const { by, least = 0 } = asked
  const keyOf = (row: StoredRow, key: string) =>
    key === 'dayMonth'
      ? row.day == null
        ? null
        : String(row.day).slice(0, 7)
      : shownValue(row, key)
  const keys = (row: StoredRow) => Object.fromEntries(by.map(key => [key, keyOf(row, key)]))
  const rows = expectedRows({ ...asked, order: [] }, hasRules)
  const groups = Map.groupBy(rows, row => JSON.stringify(keys(row)))
  if (by.length === 0 && groups.size === 0) groups.set('{}', [])
  return [...groups].flatMap(([key, rows]) => {
    if (rows.length < least) return []
    const of = (member: string) => rows.flatMap(row => row[member] ?? []).map(Number)
    const sum = (member: string, scale: number) => {
      const all = of(member)
      return all.length === 0 ? null : all.reduce((total, one) => total + one) / scale
    }
    const sizes = of('size').sort((a, b) => a - b)
    return [
      {
        ...JSON.parse(key),
        count: rows.length,
        sum: { size: sum('size', 1), price: sum('price', 100), weight: sum('weight', 10) },
        min: { size: sizes[0] ?? null },
        max: { size: sizes.at(-1) ?? null },
      },
    ]
  })
}

for (const hasRules of [true, false])
  describe(`requests to a model ${hasRules ? 'whose rules look at rows' : 'without rules'}`, () => {
    const kitchens: Kitchen[] = []
    before(async () => {
      kitchens.push(...(await Promise.all(engines.map(on => askingKitchen(on, hasRules)))))
    })
    after(async () => {
      for (const { close } of kitchens) await close()
    })

    /** The answer of all engines, whose bytes are the same unless they have cursors. */
    const ask = async (as: Cook, line: string, body?: unknown, hasCursors = false) => {
      const answers = await Promise.all(kitchens.map(kitchen => kitchen.say(as, line, body)))
      const [first] = answers
      assert.ok(first)
      for (const { bugs } of kitchens) assert.deepEqual(bugs, [], line)
      for (const { status, text } of answers) {
        assert.equal(status, first.status)
        if (status === 200 && !hasCursors) assert.equal(text, first.text, line)
      }
      return { ...first, all: answers.map(({ json }) => json) }
    }

    test('each is answered alike by both APIs and engines, as it is in memory', async () => {
      const drawn = fc.sample(asked, {
        seed: usualSeed(29),
        numRuns: rounds(174, 20_000) / 2,
      })
      const counts = { numbers: 0, cursors: 0, groups: 0, refused: 0 }
      for (const one of drawn) {
        const { who, where, search, byRelevance, order, limit, page, by, least } = one
        const about = JSON.stringify(one)
        const byWords = byRelevance && search !== ''
        const words = search === '' ? '' : `, search: ${JSON.stringify(search)}`
        const keys = byWords
          ? ['{ relevance: DESC }']
          : order.map(([path, descending]) => {
              const way = descending ? 'DESC' : 'ASC'
              const [first, second] = path.split('.')
              return second ? `{ ${first}: { ${second}: ${way} } }` : `{ ${first}: ${way} }`
            })
        // What is asked for no order has one in a search: it is given here.
        if (search !== '' && keys.length === 0) keys.push('{ id: ASC }')
        const orderBy = keys.length === 0 ? '' : `, orderBy: [${keys}]`
        const sort = byWords
          ? '-relevance'
          : order.map(([path, down]) => `${down ? '-' : ''}${path}`).join() || 'id'
        const isGroups = one.kind === 'groups'
        const sums = 'sum { size price weight } min { size } max { size }'
        const having = least === undefined ? '' : `, having: { count: { gte: ${least} } }`
        const query = isGroups
          ? `query ($w: ItemWhere) { found: itemsAggregate(where: $w${words}, groupBy: [${by}]${having}) {
              ${by.join(' ')} count ${sums} } }`
          : one.kind === 'numbers'
            ? `query ($w: ItemWhere) {
              found: items(where: $w${words}${orderBy}, limit: ${limit}, offset: ${(page - 1) * limit}) {
                ${shown.join(' ')} }
              all: itemsConnection(where: $w${words}${orderBy}, first: ${limit}) {
                totalCount edges { node { id } } } }`
            : `query ($w: ItemWhere, $after: String) {
              found: itemsConnection(where: $w${words}${orderBy}, first: ${limit}, after: $after) {
                edges { node { ${shown.join(' ')} } } pageInfo { endCursor hasNextPage } } }`
        const parameters = new URLSearchParams({
          ...(search !== '' && { search }),
          ...(isGroups
            ? { sum: 'size,price,weight', min: 'size', max: 'size' }
            : { sort, limit: String(limit) }),
          ...(isGroups && by.length > 0 && { group: by.join() }),
          ...(isGroups && least !== undefined && { 'having[count][gte]': String(least) }),
          ...(one.kind === 'numbers' && { page: String(page) }),
        })
        const path = `/api/v2/items${isGroups ? '/aggregate' : ''}?${parameters}`
        const body = where === undefined ? {} : { where }
        const isByCursor = one.kind === 'cursors'
        const line = `QUERY ${path}${isByCursor ? '&cursor=' : ''}`
        const rest = await ask(who, line, body, isByCursor)
        const variables = { w: where }
        const graphql = await ask(who, 'POST /graphql', { query, variables }, isByCursor)
        if (rest.status === 422) {
          assert.match(rest.text, /comparisons|deeper than/, about)
          assert.match(graphql.text, /comparisons|deeper than/, about)
          counts.refused++
          continue
        }
        assert.deepEqual(
          [rest.status, graphql.json.errors],
          [200, undefined],
          `${about} ${rest.text}`,
        )
        if (isGroups) {
          const inOrder = (all: readonly object[]) => all.map(group => JSON.stringify(group)).sort()
          const expected = inOrder(expectedGroups(one, hasRules))
          assert.deepEqual(inOrder(rest.json.data), expected, about)
          assert.deepEqual(graphql.json.data.found, rest.json.data, about)
          counts.groups++
          continue
        }
        const expected = expectedRows(one, hasRules)
        const rowsOf = (rows: readonly Record<string, unknown>[]) =>
          rows.map(row =>
            Object.fromEntries(
              shown.map(key => {
                const value = row[key] ?? null
                return [key, ids.includes(key) && value !== null ? Number(value) : value]
              }),
            ),
          )
        const pageOf = (number: number) =>
          expected
            .slice((number - 1) * limit, number * limit)
            .map(row => Object.fromEntries(shown.map(key => [key, shownValue(row, key)])))
        if (!isByCursor) {
          assert.deepEqual(rowsOf(rest.json.data), pageOf(page), about)
          assert.deepEqual(rowsOf(graphql.json.data.found), pageOf(page), about)
          assert.equal(rest.json.pagination.total, expected.length, about)
          const { totalCount, edges } = graphql.json.data.all
          assert.equal(totalCount, expected.length, about)
          assert.deepEqual(
            edges.map(({ node }: { node: { id: string } }) => Number(node.id)),
            pageOf(1).map(({ id }) => id),
            about,
          )
          counts.numbers++
          continue
        }
        const rowsIn = (json: typeof graphql.json) =>
          rowsOf(json.data.found.edges.map(({ node }: { node: object }) => node))
        for (const json of rest.all) assert.deepEqual(rowsOf(json.data), pageOf(1), about)
        for (const json of graphql.all) assert.deepEqual(rowsIn(json), pageOf(1), about)
        const { nextCursor: next } = rest.json.pagination
        const { endCursor, hasNextPage } = graphql.json.data.found.pageInfo
        assert.deepEqual(
          [next !== null, hasNextPage],
          Array(2).fill(expected.length > limit),
          about,
        )
        if (next === null) continue
        // A cursor of one engine is one of the other.
        const second = await ask(who, `QUERY ${path}&cursor=${next}`, body, true)
        const further = await ask(
          who,
          'POST /graphql',
          { query, variables: { w: where, after: endCursor } },
          true,
        )
        for (const json of second.all) assert.deepEqual(rowsOf(json.data), pageOf(2), about)
        for (const json of further.all) assert.deepEqual(rowsIn(json), pageOf(2), about)
        counts.cursors++
      }
      assert.ok(
        Math.min(counts.numbers, counts.cursors, counts.groups) > drawn.length / 20,
        JSON.stringify(counts),
      )
    })
  })
