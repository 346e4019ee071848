/** A clock that jumps while the service runs: by an hour, by a day, past the seconds of 32 bits, and back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mint } from '#auth/token.ts'
import { createWorld, forAllTests, secret } from '../world.ts'

const noon = Date.parse('2026-11-22T12:00:00Z')
const hour = 3_600_000
const moments = {
  'an hour later': noon + hour,
  'an hour earlier': noon - hour,
  'a day later': noon + 24 * hour,
  'a day earlier': noon - 24 * hour,
  'in 2038, past the seconds of 32 bits': Date.parse('2038-01-19T03:14:08Z'),
} as const

let clock = noon
const world = forAllTests(() => createWorld({ now: () => clock }))

/** Headers of a token of the first user, made at a moment for an hour. */
const from = async (made: number) => ({
  Authorization: `Bearer ${await mint({ sub: 1, role: 'admin', ttl: 3600 }, secret, made)}`,
})

type Post = { readonly id: number; readonly createdAt: string }
type Page = {
  readonly data: readonly Post[]
  readonly pagination: { readonly nextCursor: string | null }
}

const post = async (title: string): Promise<Post> => {
  const body = { title, content: 'c' }
  const headers = await from(clock)
  const { status, json } = await world.ask('POST /api/users/1/posts', { headers, body })
  assert.equal(status, 201)
  return json as Post
}

const pageAt = async (cursor: string | undefined): Promise<Page> => {
  const more = cursor === undefined ? '' : `&cursor=${cursor}`
  const { status, json } = await world.ask(`GET /api/v2/posts?limit=2${more}`)
  assert.equal(status, 200)
  return json as Page
}

for (const [name, moment] of Object.entries(moments)) {
  test(`where the clock is ${name}, ids ascend, times are the clock's, and a walk by cursors goes on where it was [A21]`, async () => {
    clock = noon
    const first = await post('first')
    const ids: number[] = []
    let cursor: string | undefined
    do {
      const page = await pageAt(cursor)
      ids.push(...page.data.map(({ id }) => id))
      cursor = page.pagination.nextCursor ?? undefined
      clock = moment
    } while (cursor !== undefined)
    const second = await post('second')
    assert.ok(second.id > first.id)
    assert.equal(second.createdAt, new Date(moment).toISOString())
    const stored = await world.rows(`select id from posts where id <> ${second.id} order by id`)
    assert.deepEqual(
      ids.toSorted((one, other) => one - other),
      stored.map(([id]) => Number(id)),
    )
  })

  test(`where the clock is ${name}, a token counts by its times, and no longer than it should [A21]`, async () => {
    clock = moment
    const me = async (made: number) =>
      (await world.ask('GET /api/users/1', { headers: await from(made) })).status
    assert.equal(await me(moment), 200)
    assert.equal(await me(moment - hour - 60_000), 401)
  })
}

test('a pay that is sent again with its key after the clock went back a day has its one effect [A21]', async () => {
  clock = noon
  const order = await world.ask('POST /api/orders', {
    headers: await from(clock),
    body: { items: [{ productId: 1, quantity: 1 }] },
  })
  assert.equal(order.status, 201)
  const { id } = order.json as Post
  const pay = async () =>
    world.ask(`POST /api/orders/${id}/pay`, {
      headers: { ...(await from(clock)), 'Idempotency-Key': 'jump' },
      body: {},
    })
  const first = await pay()
  assert.equal(first.status, 200)
  for (const moment of [noon - 24 * hour, noon - hour, noon + 23 * hour]) {
    clock = moment
    const again = await pay()
    assert.deepEqual([again.status, again.json], [200, first.json])
    assert.equal(again.headers.get('idempotency-replayed'), 'true')
  }
  const paid = `select count(*) from order_events where order_id = ${id} and to_status = 'paid'`
  assert.equal(Number((await world.rows(paid))[0]?.[0]), 1)
})
