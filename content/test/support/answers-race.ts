/**
 * Readers and writers of the same rows through both APIs, each answer held against a serial model: a row never shows less
 * than what was told of it before the request began, nor more than was sent to be written.
 */
import { setImmediate } from 'node:timers/promises'
import { randomFrom } from '#base/random.ts'
import { prepareFor } from '#core.ts'
import { connect } from '#engines/sqlite/connection.ts'
import { type Answer, readCached } from '#read/read.ts'
import { comparing, type Root } from '#read/selection.ts'
import { queryWith } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'
import { field, relation, root } from '#test/goldens.ts'
import { createWorld, type World } from '../world.ts'

/** A row with a number that is written again and again: in the name of a user, in the stock of a product. */
type Row = { readonly key: string; sent: number; told: number; isBusy: boolean }

const users = [2, 3, 4]
const products = [1, 2, 3]
const categories = ['lighting', 'office']

const usersIn = (text: string): readonly (readonly [string, number])[] =>
  [...text.matchAll(/"id":"?(\d+)"?,"name":"v(\d+)"/g)].map(([, id, n]) => [
    `user ${id}`,
    Number(n),
  ])

const productsIn = (text: string): readonly (readonly [string, number])[] =>
  [...text.matchAll(/"id":(\d+),[^{}]*"stock":(\d+)/g)].map(([, id, n]) => [
    `product ${id}`,
    Number(n),
  ])

type Shown = ReturnType<typeof usersIn>
type Shows = (text: string) => Shown
type Read = (id: number) => Promise<Shown>

type Call = {
  readonly method: string
  readonly path: string
  readonly as?: number
  readonly body?: unknown
}

/** Sends requests and gives the texts of their answers, past the checks that a test's other requests go through: they cost more than an answer. */
const callsTo =
  ({ app, token }: World) =>
  async ({ method, path, as, body }: Call): Promise<string> => {
    const headers: Record<string, string> = { Accept: 'application/json' }
    if (as !== undefined) headers.Authorization = `Bearer ${await token(as)}`
    if (body !== undefined) headers['Content-Type'] = 'application/json'
    const sent = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const response = await app.request(path, sent)
    const text = await response.text()
    if (response.status !== 200 || text.startsWith('{"errors"'))
      throw new Error(`${response.status}: ${text}`)
    return text
  }

const nested =
  'query ($id: ID!) { user(id: $id) { id name posts { title comments { author { id name } } } } }'

const readsOf = (world: World): readonly Read[] => {
  const call = callsTo(world)
  const get = (path: string) => call({ method: 'GET', path, as: 2 })
  const gql = (query: string, variables = {}) =>
    call({ method: 'POST', path: '/graphql', as: 2, body: { query, variables } })
  const query = encodeURIComponent('{ posts(limit: 5) { id author { id name } } }')
  const category = (id: number) => categories[id % categories.length]
  return [
    async id => usersIn(await get(`/api/users/${users[id]}?fields=id,name`)),
    async id => usersIn(await get(`/api/users?fields=id,name&limit=${4 + id}`)),
    async id =>
      usersIn(await gql('query ($id: ID!) { user(id: $id) { id name } }', { id: users[id] })),
    async id => usersIn(await gql(nested, { id: users[id] })),
    async () => usersIn(await gql('{ users { id name posts(limit: 2) { author { id name } } } }')),
    async () => usersIn(await get(`/graphql?query=${query}`)),
    async id => productsIn(await get(`/api/products/${products[id]}`)),
    async id => productsIn(await get(`/api/products?category=${category(id)}&sort=price`)),
    async id => productsIn(await get(`/api/v2/products?sort=price&limit=${20 + id}`)),
    async () => productsIn(await get('/api/products?search=a')),
  ]
}

const byId = [comparing('id', 'eq', 1)] as const
const one = { many: false, page: null, where: byId }
const name = [field('id'), field('name')]
const stock = [field('id'), field('category'), field('stock')]
const inCategory = [comparing('category', 'eq', 3)] as const
const byPrice = [{ field: 'price', descending: false }]

/** The same kinds of reads past the APIs: where their answers are cached they cost little, so there can be many. */
const readsOfCore = ({ core }: World): readonly ((id: number) => Shown)[] => {
  const making = { by: 'race', make: ([answer]: readonly Answer[]) => answer?.text ?? '' }
  const reading = (asked: Root, slotsFor: (id: number) => readonly SqlValue[], shows: Shows) => {
    const prepared = prepareFor(core, { encoding: 'rest', roots: [asked] }, 'user')
    return (id: number) => {
      const text = readCached(core.reader, prepared, [2, ...slotsFor(id)], making)
      if (text instanceof Promise) throw new Error('a quick read is answered at once')
      return shows(text)
    }
  }
  const user = (id: number) => [users[id] ?? 0]
  const product = (id: number) => [products[id] ?? 0]
  const page = (id: number) => [20 + id, 0]
  const author = relation('author', name, null)
  const posts = relation('posts', [relation('comments', [author], null)], null)
  return [
    reading(root('user', name, one), user, usersIn),
    reading(root('user', [...name, posts], one), user, usersIn),
    reading(root('user', name), page, usersIn),
    reading(root('product', stock, one), product, productsIn),
    reading(root('product', stock), page, productsIn),
    reading(
      root('product', stock, { where: inCategory, sort: byPrice }),
      id => [...page(id), categories[id % categories.length] ?? ''],
      productsIn,
    ),
  ]
}

/** Writes the next number to a row, by REST and GraphQL in turn where both can; a product goes to another category then. */
const writeNext = async (world: World, row: Row): Promise<void> => {
  const call = callsTo(world)
  const [kind, id] = row.key.split(' ')
  const n = ++row.sent
  const patch = { method: 'PATCH', path: `/api/${kind}s/${id}`, as: 1 }
  if (kind === 'product')
    await call({ ...patch, body: { stock: n, category: categories[n % categories.length] } })
  else if (n % 2 === 0) await call({ ...patch, body: { name: `v${n}` } })
  else {
    const query =
      'mutation ($id: ID!, $input: UpdateUserInput!) { updateUser(id: $id, input: $input) { id } }'
    const variables = { id, input: { name: `v${n}` } }
    await call({ method: 'POST', path: '/graphql', as: 1, body: { query, variables } })
  }
  row.told = Math.max(row.told, n)
}

/** The numbers that the file holds at this moment, past the service. */
const lookingInto = (file: string) => {
  const { query, close } = connect(file, { readOnly: true })
  const numbers = queryWith(
    `select 'user ' || id, cast(substr(name, 2) as integer) from users where name glob 'v[0-9]*'
     union all select 'product ' || id, stock from products`,
  )
  return { look: () => query(numbers).map(([key, n]) => [String(key), Number(n)] as const), close }
}

export type Raced = {
  readonly hits: number
  readonly writes: number
  /** A sentence for each number that was too old, or came from nowhere. */
  readonly faults: readonly string[]
}

type Racing = {
  /** How many answers from the cache are wanted; above so many requests it gives up. */
  readonly hits: number
  readonly most: number
  readonly seed: number
  /** One write for so many reads. */
  readonly readsPerWrite: number
}

/** Counts how often the store of a world is read for an answer, in its own thread or another. */
export const countReads = (world: World): (() => number) => {
  const { cache, plain, ...told } = world.core.reader
  const reader = plain ?? told
  const { runInThread } = reader
  let reads = 0
  const counted = {
    ...reader,
    cache,
    query: (...given: Parameters<typeof reader.query>) => {
      reads++
      return reader.query(...given)
    },
    snapshot: (...given: Parameters<typeof reader.snapshot>) => {
      reads++
      return reader.snapshot(...given)
    },
    ...(runInThread && {
      runInThread: (...given: Parameters<typeof runInThread>) => {
        reads++
        return runInThread(...given)
      },
    }),
  } as typeof world.core.reader
  Object.assign(world.core, { reader: counted })
  return () => reads
}

/** How many reads past the APIs are made at a time. */
const readsInTurn = 20

/** Runs the race in a world of its own. */
export const raceAnswers = async ({ hits, most, seed, readsPerWrite }: Racing): Promise<Raced> => {
  const world = await createWorld({ engine: { isWatched: true, sync: 'normal' } })
  const reads = countReads(world)
  const file = lookingInto(world.file)
  const random = randomFrom(seed)
  const chosen = <One>(from: readonly One[]) => from[Math.floor(random() * from.length)] as One
  const rows = new Map<string, Row>(
    [...users.map(id => `user ${id}`), ...products.map(id => `product ${id}`)].map(key => [
      key,
      { key, sent: 1000, told: 0, isBusy: false },
    ]),
  )
  for (const row of rows.values()) await writeNext(world, row)
  const faults: string[] = []
  let asked = 0
  let writes = 0
  const told = (shown: Shown, floor: ReadonlyMap<string, number>) => {
    for (const [key, n] of shown) {
      const row = rows.get(key)
      if (!row) continue
      const least = floor.get(key) ?? 0
      if (n < least) faults.push(`${key} showed ${n} after ${least} had been told`)
      if (n > row.sent) faults.push(`${key} showed ${n}, and only ${row.sent} had been sent`)
      row.told = Math.max(row.told, n)
    }
  }
  const floorNow = () => new Map([...rows.values()].map(({ key, told }) => [key, told]))
  const isDone = () => asked - reads() >= hits || asked >= most || faults.length > 0
  const all = readsOf(world)
  const ofCore = readsOfCore(world)
  /** An open snapshot ends with the turn; a request after it may not show less than the file did. */
  const lookIntoFile = async () => {
    await setImmediate()
    for (const [key, n] of file.look()) {
      const row = rows.get(key)
      if (row) row.told = Math.max(row.told, n)
    }
  }
  const readingCore = async () => {
    while (!isDone()) {
      if (random() < 0.2) await lookIntoFile()
      // They cost so little that the writes would be left behind.
      if (asked > (writes + 2) * readsPerWrite) {
        await setImmediate()
        continue
      }
      const floor = floorNow()
      // In the slice of a turn in which requests are run, which all see its snapshot.
      await new Promise<void>((resolve, shed) => {
        const run = () => {
          for (let n = 0; n < readsInTurn; n++) {
            asked++
            told(chosen(ofCore)(Math.floor(random() * 3)), floor)
          }
          resolve()
        }
        world.edge.queue.enter({ run, shed })
      })
    }
  }
  const reading = async () => {
    while (!isDone()) {
      if (random() < 0.1) await lookIntoFile()
      const floor = floorNow()
      asked++
      told(await chosen(all)(Math.floor(random() * 3)), floor)
      // Answers are told here; each is of its request alone.
      world.events.length = 0
    }
  }
  const writing = async () => {
    while (!isDone()) {
      const due = writes * readsPerWrite
      if (asked < due) {
        await setImmediate()
        continue
      }
      const row = chosen([...rows.values()].filter(({ isBusy }) => !isBusy))
      row.isBusy = true
      writes++
      await writeNext(world, row)
      row.isBusy = false
    }
  }
  const readers = [...Array.from({ length: 6 }, reading), readingCore(), readingCore()]
  await Promise.all([...readers, writing(), writing()])
  file.close()
  await world.close()
  return { hits: asked - reads(), writes, faults }
}
