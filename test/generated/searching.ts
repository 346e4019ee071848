/** Texts of many languages and forms, searched on both engines and in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { searchedIn } from '#kit/check/reference.ts'
import { type Entity, entity } from '#model/entity.ts'
import { id, revision, text } from '#model/field.ts'
import { isStorable } from '#model/values.ts'
import { keptWords, searchedWords } from '#model/words.ts'
import { anyCharacter } from '../support/characters.ts'
import { usualSeed } from '../support/rounds.ts'
import { engines } from './compare.ts'
import { allRoutes, bySignedIn, member } from './models.ts'
import { type Service, serveWithMembers } from './serve.ts'

const weights = { title: 5, body: 1, aside: 3 } as const

export const note = entity({
  table: 'notes',
  plural: 'notes',
  description: 'A note.',
  fields: {
    id: id(),
    revision: revision(),
    title: text({ max: 400 }),
    body: text({ max: 4000 }),
    aside: text({ max: 400, nullable: true }),
  },
  search: weights,
  policy: bySignedIn,
  rest: { ...allRoutes, listing: { paging: 'page', limit: 100 } },
}) as unknown as Entity

export const searched = { member, note }

type Note = {
  readonly id: number
  readonly title: string
  readonly body: string
  readonly aside: string | null
}

// Few, so that many texts have the same; each trap stands alone and within others.
const words = fc.constantFrom(
  ...'creme Crème CRÈME brûlée brulee well-known ada.lovelace@example.com don’t l’été Straße STRASSE İstanbul ﬁn Ⅷ ½ 3.14 C++ C# AT&T _x_ __proto__'.split(
    ' ',
  ),
  ...'東京都に住む人々 北京大学 学生 カタカナ ｶﾀｶﾅ 한국어 검색 สวัสดีชาวโลก ភាសាខ្មែរ हिन्दी தமிழ்'.split(
    ' ',
  ),
  ...'שָׁלוֹם עולם مُحَمَّد أحمد می‌خواهم ﷺ ـتـ'.split(' '),
  ...'👩‍🍳 🍕 ❤️ ❤ 🇩🇪 🇫🇷 👍🏽 ©'.split(' '),
  ...'AND OR NOT NEAR " \' \\ * ^ : ( ) & | ! <-> \u00ad co\u00adop \u200b \t'.split(' '),
  'é',
  'e\u0301\u0302',
  `${'x'.repeat(63)}y`,
  `${'x'.repeat(64)}z`,
  '𝔊𝔬𝔱𝔥'.repeat(20),
  'क\u093c'.repeat(40),
)
const storable = fc.string({ unit: anyCharacter, maxLength: 6 }).filter(isStorable)
const plain = fc.string({ unit: fc.constantFrom(...'abcé -'), minLength: 1, maxLength: 4 })
const texts = fc
  .array(fc.oneof({ weight: 6, arbitrary: words }, { weight: 1, arbitrary: storable }, plain), {
    minLength: 1,
    maxLength: 7,
  })
  .chain(some => fc.constantFrom(' ', ' ', '-', ', ', '').map(between => some.join(between)))
  .filter(text => text !== '')

/** Asks a service for the ids that a search finds, the most relevant first. */
type Searching = (service: Service, query: string) => Promise<readonly number[]>

/** Searches so many generated notes, some of them changed and deleted meanwhile, on these engines. */
const searchAlike = async (
  on: readonly ('sqlite' | 'postgres')[],
  count: number,
  ways: readonly Searching[],
  seed: number,
): Promise<void> => {
  const services = await Promise.all(on.map(one => serveWithMembers(searched, one, 'Ada', 'Bob')))
  const send = async (line: string, body?: object) => {
    for (const service of services) {
      const { status, text } = await service.ask({ line, as: 'admin', body })
      assert.ok(status < 300, `${line} ${JSON.stringify(body)}: ${text}`)
    }
  }
  try {
    const drawn = fc.sample(fc.tuple(texts, texts, fc.option(texts), fc.nat(9)), {
      seed,
      numRuns: count,
    })
    const notes: Note[] = []
    for (const [title, body, aside, luck] of drawn) {
      const made = { id: notes.length + 1, title, body, aside }
      await send('POST /api/notes', { title, body, aside })
      notes.push(made)
      if (luck === 0) {
        await send(`PATCH /api/notes/${made.id}`, { title: body })
        notes[made.id - 1] = { ...made, title: body }
      }
    }
    const deleted = notes.filter(({ id }) => id % 17 === 0)
    for (const { id } of deleted) await send(`DELETE /api/notes/${id}`)
    const left = notes.filter(one => !deleted.includes(one))
    const isAsked = (query: string) => 'value' in searchedWords(query)
    const beginnings = fc.sample(fc.tuple(texts, fc.nat(8), fc.nat(count - 1)), {
      seed: seed + 1,
      numRuns: Math.ceil(count / 4),
    })
    const queries = beginnings.flatMap(([other, length, at]) => {
      const { title = '', body = '' } = notes[at] ?? {}
      const [first = ''] = keptWords(title).split(' ')
      return [other, title, [...first].slice(0, length).join(''), `${body} ${first}`]
    })
    for (const query of ['', '!', ...queries].filter(isAsked)) {
      const right = searchedIn(weights, left, query)
      for (const service of services)
        for (const ask of ways)
          assert.deepEqual(
            await ask(service, query),
            right,
            `${service.store.dialect.name}, seed ${seed}: ${JSON.stringify(query)}`,
          )
    }
  } finally {
    for (const service of services) await service.close()
  }
}

/** Asks the GraphQL API, and gives its data. */
export const graphql = async ({ ask }: Service, query: string, variables: object) => {
  const body = { query, variables }
  const { text } = await ask({ line: 'POST /graphql', as: 'user', body })
  const { data, errors } = JSON.parse(text)
  assert.equal(errors, undefined, text)
  return data
}

/** The ids of rows. */
export const ids = (nodes: readonly { readonly id: string }[]) => nodes.map(({ id }) => Number(id))

/** Searches by the plain list. */
export const inList: Searching = async (service, search) => {
  const query = `query ($search: String, $from: Int) {
    notes(search: $search, orderBy: [{ relevance: DESC }, { id: ASC }], limit: 100, offset: $from) { id }
  }`
  const found: number[] = []
  for (let more = true; more; ) {
    const { notes } = await graphql(service, query, { search, from: found.length })
    found.push(...ids(notes))
    more = notes.length === 100
  }
  return found
}

const inConnection: Searching = async (service, search) => {
  const query = `query ($search: String!, $after: String) {
    notesConnection(search: $search, orderBy: { relevance: DESC }, first: 23, after: $after) {
      totalCount pageInfo { endCursor hasNextPage } edges { node { id } }
    }
  }`
  const found: number[] = []
  for (let after: string | null = null, more = true; more; ) {
    const { notesConnection: page } = await graphql(service, query, { search, after })
    found.push(...ids(page.edges.map(({ node }: { node: { id: string } }) => node)))
    after = page.pageInfo.endCursor
    more = page.pageInfo.hasNextPage
    if (!more) assert.equal(page.totalCount, found.length)
  }
  return found
}

const inPages: Searching = async ({ ask }, search) => {
  const found: number[] = []
  for (let page = 1, more = true; more; page++) {
    const line = `GET /api/v2/notes?sort=-relevance&limit=100&page=${page}&search=${encodeURIComponent(search)}`
    const { status, text } = await ask({ line, as: 'user' })
    assert.equal(status, 200, text)
    const { data, pagination } = JSON.parse(text)
    found.push(...ids(data))
    more = pagination.hasNext
    if (!more) assert.equal(pagination.total, found.length)
  }
  return found
}

const byCursors: Searching = async ({ ask }, search) => {
  const found: number[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const parameters = new URLSearchParams({ sort: '-relevance', limit: '30', search, cursor })
    const { status, text } = await ask({ line: `GET /api/v2/notes?${parameters}`, as: 'user' })
    assert.equal(status, 200, text)
    const { data, pagination } = JSON.parse(text)
    found.push(...ids(data))
    cursor = pagination.nextCursor
  }
  return found
}

/** The test of so many generated notes; DUET_SEED makes the same ones again. */
export const searchedAlike = (usual: number): void => {
  const count = Number(process.env.DUET_TEST_ROUNDS ?? usual)
  const seed = usualSeed(7)
  test(`a search finds the same of ${count} notes in the same order on both engines as in memory`, async t => {
    t.diagnostic(`DUET_SEED=${seed}`)
    await searchAlike(engines, count, [inList, inConnection, inPages, byCursors], seed)
  })
}
