/**
 * A history of what clients did and saw through three services on one store has an order, as if one had done it all: nothing that
 * was acknowledged is lost, overwritten or seen in two orders.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { mint } from '#auth/token.ts'
import { type Service, serve } from '#test/duet.ts'
import { freshDatabase, noDatabase } from '#test/postgres/tools/database.ts'
import { lookInto, postgresOf } from '#test/stores.ts'
import { usualSeed } from '#test/support/rounds.ts'
import { secret } from '../world.ts'
import { faultsOf } from './history/check.ts'
import {
  askerOf,
  closeAsked,
  happen,
  type Plan,
  withIfMatch,
  withoutIfMatch,
} from './history/clients.ts'
import type { Deed, Operation } from './history/deeds.ts'

const operations = Number(process.env.DUET_TEST_ROUNDS ?? 200_000)
const seed = usualSeed(7)
const stock = 1_000_000

describe('three services on one store', { skip: noDatabase }, () => {
  let services: readonly Service[] = []
  let plan: Omit<Plan, 'operations' | 'write'>
  let look: ReturnType<typeof lookInto>

  before(async () => {
    const { url } = await freshDatabase()
    const store = postgresOf(url)
    await store.migrate()
    look = lookInto(store)
    const settings = {
      DUET_DATABASE_URL: url,
      DUET_AUTH_SECRET: secret,
      DUET_RATE_LIMIT: '100000000',
      // Without the demo content.
      DUET_ENV: 'production',
    }
    services = await Promise.all([serve(settings), serve(settings), serve(settings)])
    plan = await prepared(services)
  })
  after(async () => {
    closeAsked()
    await look?.close()
    await Promise.all(services.map(service => service.end()))
  })

  /** What the store has in the end, as one more read. */
  const lastRead = async (): Promise<Operation> => {
    const posts = await look.rows('select id, title from posts')
    const comments = await look.rows('select post_id, text from comments order by id desc')
    const products = await look.rows('select category, stock from products')
    const texts = Map.groupBy(comments, ([post]) => String(post))
    const deeds = posts.flatMap(([id, title]): Deed[] => [
      { kind: 'saw', register: `/api/posts/${id}`, value: String(title) },
      {
        kind: 'listed',
        list: `/api/posts/${id}`,
        items: (texts.get(String(id)) ?? []).map(([, text]) => String(text)),
      },
    ])
    const counts = products.map(([category, left]): Deed => {
      return { kind: 'counted', count: String(category), as: stock - Number(left) }
    })
    return { begun: Infinity, ended: Infinity, deeds: [...deeds, ...counts] }
  }

  test(`${operations} operations on 50 posts, their comments and pairs of products have an order [B11]`, async t => {
    const history = await happen({ ...plan, operations, write: withIfMatch })
    assert.deepEqual(faultsOf([...history, await lastRead()]).slice(0, 3), [])
    const count = (kind: Deed['kind']) =>
      history.filter(({ deeds }) => deeds.some(deed => deed.kind === kind)).length
    t.diagnostic(
      `DUET_SEED=${seed}; ${count('wrote')} writes, ${count('was refused')} refused, ${count('added')} comments, ${count('raised')} orders; the rest read`,
    )
  })

  test('writes over what was read, whatever came between, lose updates, and the history shows it [B11]', async () => {
    const few = { operations: 2000, keys: 3, write: withoutIfMatch }
    assert.match(faultsOf(await happen({ ...plan, ...few }))[0] ?? 'none', /^lost update/)
  })
})

/** An author, who buys too, and eight pairs of products. */
const prepared = async (services: readonly Service[]) => {
  const tokenOf = (role: 'user' | 'admin', sub: number) =>
    mint({ sub, role, ttl: 7200 }, secret, Date.now())
  const [{ port = 0 } = {}] = services
  const admin = askerOf(port, await tokenOf('admin', 1))
  const user = await admin('POST /api/users', { body: { name: 'A', email: 'a@example.org' } })
  const author: number = user.json.id
  const pairs = []
  for (let pair = 0; pair < 8; pair++) {
    const category = `pair-${pair}`
    const products: number[] = []
    for (const name of ['left', 'right']) {
      const body = { name, category, price: 1, stock }
      products.push((await admin('POST /api/products', { body })).json.id)
    }
    pairs.push({ category, products })
  }
  const token = await tokenOf('user', author)
  return {
    services: services.map(({ port }) => askerOf(port, token)),
    author,
    pairs,
    stock,
    seed,
    clients: 24,
    keys: 50,
  }
}
