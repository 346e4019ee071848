/** The number of statements that lists below rows take: it is the same for one row above them, for ten and for fifty. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { askingKitchen } from '../support/shelves.ts'
import { watchReader } from '../support/watched-reader.ts'
import { engines } from './compare.ts'

const page = 'pageInfo { hasNextPage endCursor }'

/** Each document by what it asks for, and the most statements that it takes on SQLite, where each level and each total has its own, and tags, which are behind marks, have two. */
const documents: Readonly<Record<string, readonly [most: number, selection: string]>> = {
  'lists below lists': [5, 'items(limit: 3) { id tags(limit: 2) { slug } notes(limit: 2) { id } }'],
  'lists by a condition in an order': [
    2,
    'items(where: { size: { gte: 0 } }, orderBy: [{ size: DESC }, { id: ASC }], limit: 3) { id }',
  ],
  'connections below connections': [
    4,
    `itemsConnection(first: 3) { edges { cursor node { id tagsConnection(first: 2) { edges { node { slug } } ${page} } } } ${page} }`,
  ],
  'connections with their totals': [
    6,
    `itemsConnection(first: 3) { totalCount edges { node { id tagsConnection(first: 2) { totalCount edges { node { slug } } } } } }`,
  ],
  'connections by a condition': [
    3,
    'itemsConnection(first: 3, where: { tags: { some: { slug: { eq: "x" } } } }) { totalCount edges { cursor node { id } } }',
  ],
}

for (const on of engines)
  describe(`the statements of lists below rows on ${on}`, () => {
    test('are as many for one row above them as for fifty', async t => {
      const kitchen = await askingKitchen(on)
      t.after(kitchen.close)
      const session = await kitchen.store.session('filling')
      const run = (text: string) => session.query({ text, values: [] })
      const upTo = (most: number) =>
        `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${most})`
      const id = on === 'sqlite' ? '' : 'overriding system value'
      await run(`insert into shelves (id, label, open) ${id} ${upTo(60)}
        select 100 + i, 'low', 1 from n`)
      // Each has five, and every seventh is hidden from all.
      await run(`insert into items (id, size, rare, shelf_id) ${id} ${upTo(300)}
        select 1000 + i, i % 4, case when i % 7 = 0 then 1 else 0 end, 101 + i % 60 from n`)
      await run(`insert into marks (id, item_id, tag_id, shade) ${id} ${upTo(300)}
        select 1000 + i, 1000 + i, i % 2 + 1, 'plain' from n`)
      await run(`insert into notes (id, stars, item_id) ${id} ${upTo(300)}
        select 1000 + i, i % 9 + 1, 1000 + i from n`)
      await session.close()
      // Run as a whole in another thread, its statements would not be seen.
      const { runInThread: _, ...here } = kitchen.core.reader
      Object.assign(kitchen.core, { reader: here })
      const look = watchReader(kitchen.core)
      for (const [title, [most, selection]] of Object.entries(documents)) {
        const counts: number[] = []
        for (const parents of [1, 10, 50]) {
          const query = `query ($n: Int!) { shelves(limit: $n, orderBy: [{ id: DESC }]) { id ${selection} } }`
          const body = { query, variables: { n: parents } }
          const { json, text } = await kitchen.say(1, 'POST /graphql', body)
          assert.equal(json.data?.shelves.length, parents, text)
          assert.match(text, /"(node|items)":.*"id":"1\d{3}"/)
          counts.push(look().texts.length)
        }
        const [one = 0] = counts
        assert.deepEqual(counts, [one, one, one], title)
        assert.ok(one > 0 && one <= (on === 'sqlite' ? most : 1), `${title}: ${one}`)
      }
    })
  })
