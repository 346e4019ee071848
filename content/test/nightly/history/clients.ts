/** Clients that read and write through several services at once, and note what they did and saw. */
import assert from 'node:assert/strict'
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { randomFrom } from '#base/random.ts'
import { longest } from '#test/support/wait.ts'
import { type Deed, nothing, type Operation } from './deeds.ts'

type Answer = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: an answer may be anything; what is not as expected fails the history.
  readonly json: any
}

export type Ask = (
  line: string,
  options?: { readonly body?: unknown; readonly ifMatch?: string },
) => Promise<Answer>

const agent = new Agent({ keepAlive: true })

/** Asks the service at a port; `end` of a file closes its connections. */
export const askerOf =
  (port: number, token: string): Ask =>
  async (line, { body, ifMatch } = {}) => {
    const [method = 'GET', path = '/'] = line.split(' ')
    const text = body === undefined ? '' : JSON.stringify(body)
    const headers = {
      authorization: `Bearer ${token}`,
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      ...(text !== '' && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      }),
    }
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const sent = request({ agent, port, host: '127.0.0.1', method, path, headers }, response => {
      let answer = ''
      response.setEncoding('utf8').on('data', part => {
        answer += part
      })
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          json: answer === '' ? undefined : JSON.parse(answer),
        }),
      )
    })
    sent.on('error', reject)
    sent.setTimeout(longest, () => sent.destroy(new Error(`${line} has no answer`)))
    sent.end(text)
    return promise
  }

export const closeAsked = () => agent.destroy()

/** Tells what became of the write of a value over another one. */
type Write = (
  ask: Ask,
  register: string,
  over: { readonly title: string; readonly etag: string },
  title: string,
) => Promise<Answer>

/** Writes where nobody else has written since. */
export const withIfMatch: Write = (ask, register, { etag }, title) =>
  ask(`PATCH ${register}`, { body: { title }, ifMatch: etag })

/** The control: writes what it made of what it has read, whatever others have written since. */
export const withoutIfMatch: Write = (ask, register, _over, title) =>
  ask(`PATCH ${register}`, { body: { title } })

export type Plan = {
  readonly services: readonly Ask[]
  readonly author: number
  /** Pairs of products that are ordered together, one piece of each, by their categories. */
  readonly pairs: readonly { readonly category: string; readonly products: readonly number[] }[]
  readonly stock: number
  readonly seed: number
  readonly operations: number
  readonly clients: number
  /** So many posts are read and written at a time. */
  readonly keys: number
  readonly write: Write
}

/** After so many comments a post gives way to a new one: all its comments are read at a time. */
const mostComments = 60

const commentsOf = (post: string) => `${post}/comments`
const textsOf = (comments: readonly { text: string }[]) => comments.map(({ text }) => text)

/** Does so many operations and gives their history. */
export const happen = async (plan: Plan): Promise<readonly Operation[]> => {
  const history: Operation[] = []
  let clock = 0
  let names = 0
  const name = () => `${plan.seed}.${++names}`
  /** What is done within `work` is one operation, of which it gives the parts. */
  const operation = async (work: () => Promise<readonly Deed[]>) => {
    const begun = clock++
    const deeds = await work()
    history.push({ begun, ended: clock++, deeds })
  }
  const posts: { path: string; comments: number }[] = []
  const open = (ask: Ask) =>
    operation(async () => {
      const title = name()
      const body = { title, content: 'x' }
      const { status, json } = await ask(`POST /api/users/${plan.author}/posts`, { body })
      assert.equal(status, 201, JSON.stringify(json))
      const path = `/api/posts/${json.id}`
      posts.push({ path, comments: 0 })
      return [{ kind: 'wrote', register: path, over: nothing, value: title }]
    })
  const [first] = plan.services
  assert.ok(first)
  while (posts.length < plan.keys) await open(first)
  const run = async (client: number) => {
    const random = randomFrom(plan.seed + client)
    const pick = <Item>(items: readonly Item[]): Item =>
      items[Math.floor(random() * items.length)] as Item
    const acts = actsOf({ ...plan, pick, name, operation, posts, open })
    const bag = Object.entries(shares).flatMap(([act, share]) => Array(share).fill(act))
    while (history.length < plan.operations)
      await acts[pick(bag) as keyof typeof acts](pick(plan.services))
  }
  await Promise.all(Array.from({ length: plan.clients }, (_, client) => run(client)))
  return history
}

/** How often each is done, of a hundred. */
const shares = { change: 30, look: 12, comment: 20, list: 16, compare: 12, order: 5, stocks: 5 }

type Hands = Plan & {
  readonly pick: <Item>(items: readonly Item[]) => Item
  readonly name: () => string
  readonly operation: (work: () => Promise<readonly Deed[]>) => Promise<void>
  readonly posts: { path: string; comments: number }[]
  readonly open: (ask: Ask) => Promise<void>
}

/** What a client does, each time through the service that it is given. */
const actsOf = (hands: Hands): Record<keyof typeof shares, (ask: Ask) => Promise<void>> => {
  const { operation, posts, pick, name, open, write, services, pairs, stock } = hands
  /** What this client last saw of each post: it may have been replaced since. */
  const seen = new Map<string, { title: string; etag: string }>()

  const look = (ask: Ask, path: string) =>
    operation(async () => {
      const { status, headers, json } = await ask(`GET ${path}`)
      assert.equal(status, 200, JSON.stringify(json))
      seen.set(path, { title: json.title, etag: headers.etag ?? '' })
      return [{ kind: 'saw', register: path, value: json.title }]
    })

  const change = async (ask: Ask) => {
    const { path } = pick(posts)
    if (!seen.has(path) || pick([true, false])) await look(pick(services), path)
    const over = seen.get(path) as { title: string; etag: string }
    await operation(async () => {
      const title = name()
      const { status, headers, json } = await write(ask, path, over, title)
      seen.delete(path)
      if (status === 412) return [{ kind: 'was refused', register: path, over: over.title }]
      assert.equal(status, 200, JSON.stringify(json))
      seen.set(path, { title, etag: headers.etag ?? '' })
      return [{ kind: 'wrote', register: path, over: over.title, value: title }]
    })
  }

  const comment = async (ask: Ask) => {
    const post = pick(posts)
    const isLast = ++post.comments === mostComments
    if (isLast) posts.splice(posts.indexOf(post), 1)
    await operation(async () => {
      const item = name()
      const line = `POST ${commentsOf(post.path)}`
      const { status, json } = await ask(line, { body: { text: item } })
      assert.equal(status, 201, JSON.stringify(json))
      return [{ kind: 'added', list: post.path, item }]
    })
    if (isLast) await open(ask)
  }

  const list = (ask: Ask) =>
    operation(async () => {
      const { path } = pick(posts)
      const { status, json } = await ask(`GET ${commentsOf(path)}?limit=100`)
      assert.equal(status, 200, JSON.stringify(json))
      return [{ kind: 'listed', list: path, items: textsOf(json.data) }]
    })

  /** Two posts with their comments, at one moment. */
  const compare = (ask: Ask) =>
    operation(async () => {
      const some = { one: pick(posts).path, other: pick(posts).path }
      const fields = Object.entries(some).map(
        ([alias, path]) =>
          `${alias}: post(id: ${path.split('/').at(-1)}) { title comments { text } }`,
      )
      const { status, json } = await ask('POST /graphql', { body: { query: `{ ${fields} }` } })
      assert.ok(status === 200 && !json.errors, JSON.stringify(json))
      return Object.entries(some).flatMap(([alias, path]): Deed[] => [
        { kind: 'saw', register: path, value: json.data[alias].title },
        { kind: 'listed', list: path, items: textsOf(json.data[alias].comments) },
      ])
    })

  const order = (ask: Ask) =>
    operation(async () => {
      const { category, products } = pick(pairs)
      const items = products.map(productId => ({ productId, quantity: 1 }))
      const { status, json } = await ask('POST /api/orders', { body: { items } })
      assert.equal(status, 201, JSON.stringify(json))
      return [{ kind: 'raised', count: category }]
    })

  const stocks = (ask: Ask) =>
    operation(async () => {
      const { category } = pick(pairs)
      const { status, json } = await ask(`GET /api/products?category=${category}`)
      assert.equal(status, 200, JSON.stringify(json))
      return json.data.map((product: { stock: number }) => ({
        kind: 'counted',
        count: category,
        as: stock - product.stock,
      }))
    })

  return { look: ask => look(ask, pick(posts).path), change, comment, list, compare, order, stocks }
}
