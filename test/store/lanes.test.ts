/** Slow reads: they hold up no quick one, end when told, take turns, and answer as quick ones do. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { slowReads } from '#engines/shared/slow-reads.ts'
import type { ReadOptions } from '#sql/engine.ts'
import { type Answered, createWorld, forAllTests, type World } from '#test/market.ts'
import { sqliteTest as it } from '#test/stores.ts'
import { serveApp } from '#test/support/served.ts'
import { inTime, until } from '#test/support/wait.ts'
import { asking, endless, slowPath } from './laned.ts'

/** How many slow reads run at a time in the world. */
const places = 1

let world: World
let server: Server
before(async () => {
  world = await createWorld({ engine: { readers: places }, pool: places })
  ;({ server } = await serveApp(world.app.fetch))
})
after(async () => {
  server.closeAllConnections()
  server.close()
  await world.close()
})

/** A caller who can hang up. */
const callerNamed = (name: string) => {
  const stops = new Set<() => void>()
  const asked: ReadOptions = {
    caller: () => name,
    onGone: stop => {
      stops.add(stop)
      return () => void stops.delete(stop)
    },
  }
  return {
    asked,
    hangUp: () => {
      for (const stop of stops) stop()
    },
  }
}

/** Runs work while endless reads have all places of the slow lane. */
const whileHeld = async (work: () => Promise<void>) => {
  const holder = callerNamed('holder')
  const held = Array.from({ length: places }, () =>
    assert.rejects(world.engine.slowly(asking(endless), holder.asked), {
      code: 'CLIENT_CLOSED_REQUEST',
    }),
  )
  try {
    await work()
  } finally {
    holder.hangUp()
    await inTime('the endless reads end', Promise.all(held))
  }
}

const refusedBy = (answer: Answered, reason: RegExp) => {
  assert.equal(answer.status, 503, answer.text)
  assert.equal(answer.json.error.code, 'OVERLOADED')
  assert.match(answer.json.error.message, reason)
  assert.ok(Number(answer.headers.get('retry-after')) >= 1)
}

test('quick reads are answered while a slow one runs, and the slow ones behind it when it ends [H4, H12]', async () => {
  const order: string[] = []
  const done: Promise<unknown>[] = []
  const ask = (line: string, as: number) =>
    world.ask(line, { as }).then(answer => {
      assert.equal(answer.status, 200, answer.text)
      order.push(line)
    })
  await whileHeld(async () => {
    done.push(ask(`GET ${slowPath}`, 2))
    for (const id of [1, 2, 3]) await ask(`GET /api/products/${id}`, 2)
    await ask('GET /api/products?category=lighting&sort=price', 2)
    assert.equal(order.length, 4)
  })
  await inTime('the slow read is answered', Promise.all(done))
  assert.equal(order.at(-1), `GET ${slowPath}`)
})

it('a quick list whose texts turn out to be long is read in the slow lane, and the same list of short ones is not [H12]', async () => {
  const title = 'Long'
  const post = (content: string) =>
    world.ask('POST /api/users/2/posts', { as: 2, body: { title, content } })
  for (let n = 0; n < 11; n++) assert.equal((await post('é'.repeat(100_000))).status, 201)
  let isAnswered = false
  const long: Promise<Answered>[] = []
  await whileHeld(async () => {
    long.push(world.ask('GET /api/posts?limit=40'))
    void long[0]?.then(() => {
      isAnswered = true
    })
    assert.equal((await world.ask('GET /api/posts?limit=3')).json.data.length, 3)
    assert.equal((await world.ask('GET /api/posts/1/comments?limit=100')).status, 200)
    assert.equal(isAnswered, false)
  })
  const answer = await inTime('the long list is answered', Promise.race(long))
  assert.equal(answer.status, 200)
  assert.equal(answer.json.data[0].content.length, 100_000)
  assert.equal(answer.json.data.length, 15)
})

it('a list below a row whose condition leaves out thousands is read in the slow lane [H12]', async () => {
  await world.change(`with recursive n (i) as (select 1 union all select i + 1 from n where i < 3000)
    insert into posts (author_id, title, content, created_at) select 3, 'x', 'x', 1 from n`)
  const order: string[] = []
  const titled = async (title: string) => {
    const where = `where: { title: { eq: "${title}" } }`
    const { json } = await world.gql(`{ user(id: 3) { posts(${where}, limit: 1) { id } } }`, {
      as: 3,
    })
    order.push(title)
    return json.data.user.posts.length
  }
  const none: Promise<number>[] = []
  await whileHeld(async () => {
    none.push(titled('none'))
    assert.equal(await titled('x'), 1)
    assert.deepEqual(order, ['x'])
  })
  assert.equal(await inTime('the list is answered', Promise.race(none)), 0)
})

test('a slow read whose client hangs up leaves the lane, and has a line with 499 [H7]', async () => {
  await whileHeld(async () => {
    world.events.splice(0)
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    await once(socket, 'connect')
    const accepted = once(server, 'request')
    socket.write(`GET ${slowPath} HTTP/1.1\r\nHost: a\r\n\r\n`)
    await accepted
    socket.destroy()
    await until('the request has a line', () => world.events.length > 0)
    const [line] = world.events
    assert.deepEqual(line?.kind === 'request' && [line.status, line.code], [
      499,
      'CLIENT_CLOSED_REQUEST',
    ])
  })
})

test('the lane takes half its places from one caller and no more, and from all together what it has', async () => {
  const size = places + slowReads.waiting
  const callers = ['a', 'b', 'c'].map(callerNamed)
  const [first, second, third] = callers as [
    ReturnType<typeof callerNamed>,
    ReturnType<typeof callerNamed>,
    ReturnType<typeof callerNamed>,
  ]
  const ask = ({ asked }: typeof first) => world.engine.slowly(asking('select 1'), asked)
  const waiting: Promise<unknown>[] = []
  const fill = (caller: typeof first, count: number) => {
    for (let n = 0; n < count; n++) waiting.push(ask(caller))
  }
  await whileHeld(async () => {
    const half = Math.ceil(size / 2)
    fill(first, half)
    await assert.rejects(ask(first), { code: 'OVERLOADED', message: /of your long reads/ })
    // The others are the holder's.
    fill(second, size - half - places)
    await assert.rejects(ask(third), { code: 'OVERLOADED', message: /^Too many long reads/ })
    refusedBy(await world.ask(`GET ${slowPath}`), /^Too many long reads/)
    assert.equal((await world.ask('GET /api/products/1')).status, 200)
  })
  await inTime('those that waited are answered', Promise.all(waiting))
})

test('a slow read sees what was acknowledged before it was asked, and is one snapshot', async () => {
  const search = async () => {
    const { json } = await world.ask('GET /api/products?search=newly&sort=name')
    return [json.data.length, json.pagination.total]
  }
  for (const count of [1, 2, 3]) {
    const body = { name: `Newly made ${count}`, category: 'new', price: 1 }
    assert.equal((await world.ask('POST /api/products', { as: 1, body })).status, 201)
    assert.deepEqual(await search(), [count, count])
  }
})

describe('with a short time for each read', () => {
  const hasty = forAllTests(() => createWorld({ engine: { readers: 1, readTimeout: 100 } }))

  test('a read that runs until its time is up is 503 TIMEOUT, and the next one is served [D6]', async () => {
    await assert.rejects(hasty.engine.slowly(asking(endless)), (error: { retryAfter?: number }) => {
      assert.equal((error as { code?: string }).code, 'TIMEOUT')
      return Number(error.retryAfter) >= 1
    })
    // On a machine that stands still for a moment this one is over time too.
    await until('the next one is served', async () => {
      const rows = await hasty.engine.slowly(asking('select 7')).catch(error => {
        if (error.code !== 'TIMEOUT') throw error
      })
      if (rows) assert.deepEqual(rows, [[7]])
      return rows !== undefined
    })
  })
})

/** Lines that each make reads of several kinds. */
const lines = [
  ...[2, 'anonymous'].flatMap(as =>
    [
      'GET /api/users/2',
      'GET /api/users/99',
      'GET /api/users?limit=2&sort=name',
      'GET /api/users/2/posts',
      'GET /api/users/99/posts',
      'GET /api/posts?limit=2',
      'GET /api/posts/1/comments',
      'GET /api/products?search=an&sort=-price,name',
      'GET /api/products?page=2&limit=2',
      'GET /api/products?offset=2000&limit=2',
      'GET /api/products?fields=name,price&category=lighting',
      'GET /api/v2/products?sort=-price&limit=3',
      'GET /api/orders',
      'GET /api/customers/1',
    ].map(line => ({ line, as: as as number | 'anonymous', body: undefined })),
  ),
  ...[
    '{ users(limit: 3) { id name posts(limit: 2) { title comments { text author { name } } } } }',
    '{ user(id: 2) { name } post(id: 1) { title } other: post(id: 99) { title } }',
    '{ posts(limit: 100) { id content author { email } } __typename }',
  ].map(query => ({ line: 'POST /graphql', as: 2, body: { query } })),
]

/** All that an answer says, but for its cursor, which is sealed with a key of the store, and what is made from that. */
const told = ({ status, text, headers }: Answered) => {
  const plain = text.replace(/"nextCursor":"[^"]*"/, '"nextCursor":"sealed"')
  const others = [...headers].filter(([name]) => plain === text || !/^(etag|link)$/.test(name))
  return [status, plain, others]
}

test('every read is answered alike in both lanes, to the byte', async () => {
  const slow = await createWorld({
    engine: { readers: 2, limits: { objects: 10_000, bytes: 33_554_432, quickRows: 0 } },
  })
  const quick = await createWorld()
  try {
    for (const { line, as, body } of lines) {
      const asking = { as, ...(body && { body }), headers: { 'X-Request-Id': 'same' } }
      const [one, other] = await Promise.all([quick.ask(line, asking), slow.ask(line, asking)])
      assert.deepEqual(told(one), told(other), line)
    }
  } finally {
    await Promise.all([slow.close(), quick.close()])
  }
})

test('an answer that is too large is refused alike in both lanes', async () => {
  const limits = { objects: 3, bytes: 1000 }
  const worlds = [
    await createWorld({ engine: { limits } }),
    await createWorld({ engine: { limits: { ...limits, quickRows: 0 } } }),
  ]
  try {
    for (const of of worlds) {
      const { status, json } = await of.ask('GET /api/products?limit=100')
      assert.deepEqual([status, json.error.code], [400, 'RESPONSE_TOO_LARGE'])
    }
  } finally {
    for (const of of worlds) await of.close()
  }
})
