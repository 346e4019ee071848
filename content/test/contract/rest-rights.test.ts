/** Who may write what, and which refusal comes first where several hold. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { refuses } from '../rest.ts'
import { type Asking, createWorld, type World } from '../world.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

/** Ada is admin; Ben wrote post 1 and Cleo comment 1 on it; Dan is suspended; nobody has id 99. */
const callers = { anonymous: 'anonymous', ada: 1, ben: 2, cleo: 3, dan: 4, ghost: 99 } as const
type Caller = keyof typeof callers
const everyone = Object.keys(callers) as Caller[]

const product = { name: 'x', category: 'y', price: 1 }

/** Each write with its body and who may: the others get 401 without a token, 403 with one. */
const writes: readonly [string, unknown, readonly Caller[]][] = [
  [
    'POST /api/users',
    { name: 'n', email: 'E@example.org' },
    ['anonymous', 'ada', 'ben', 'cleo', 'ghost'],
  ],
  ['PUT /api/users/2', { name: 'n', email: 'ben@example.org' }, ['ada', 'ben']],
  ['PATCH /api/users/2', { name: 'n' }, ['ada', 'ben']],
  ['DELETE /api/users/2', undefined, ['ada', 'ben']],
  ['PATCH /api/users/4', { name: 'n' }, ['ada']],
  ['DELETE /api/users/4', undefined, ['ada']],
  ['POST /api/users/2/posts', { title: 't', content: 'c' }, ['ada', 'ben']],
  ['POST /api/users/4/posts', { title: 't', content: 'c' }, ['ada']],
  ['PATCH /api/posts/1', { title: 't' }, ['ada', 'ben']],
  ['DELETE /api/posts/1', undefined, ['ada', 'ben']],
  ['POST /api/posts/1/comments', { text: 't' }, ['ada', 'ben', 'cleo']],
  // Comment 1 is Cleo's, on Ben's post: either may delete it. Comment 2 is Ada's there, 3 Ben's on Cleo's.
  ['DELETE /api/posts/1/comments/1', undefined, ['ada', 'ben', 'cleo']],
  ['DELETE /api/posts/1/comments/2', undefined, ['ada', 'ben']],
  ['DELETE /api/posts/4/comments/3', undefined, ['ada', 'ben', 'cleo']],
  ['POST /api/comments/1/likes', undefined, ['ada', 'ben', 'cleo']],
  ['DELETE /api/comments/1/likes', undefined, ['ada', 'ben', 'cleo']],
  ['POST /api/orders', { items: [{ productId: 3, quantity: 1 }] }, ['ada', 'ben', 'cleo']],
  ['POST /api/products', product, ['ada']],
  ['PUT /api/products/1', product, ['ada']],
  ['PATCH /api/products/1', { stock: 1 }, ['ada']],
  ['DELETE /api/products/1', undefined, ['ada']],
]

const refusal = (caller: Caller): [number, string] =>
  caller === 'anonymous' ? [401, 'UNAUTHENTICATED'] : [403, 'FORBIDDEN']

const snapshot = async () =>
  Promise.all(
    [
      '/api/users',
      '/api/posts',
      '/api/products',
      '/api/posts/1/comments',
      '/api/posts/4/comments',
      '/api/comments/1/likes',
    ].map(async path => (await world.ask(`GET ${path}`, { as: 1 })).text),
  )

for (const [line, body, may] of writes) {
  const others = everyone.filter(caller => !may.includes(caller))
  test(`${line} is refused to ${others.join(', ')} and changes nothing`, async () => {
    const before = await snapshot()
    for (const caller of others) {
      const asking: Asking = { as: callers[caller], body }
      refuses(await world.ask(line, asking), ...refusal(caller))
      refuses(await world.ask(line.replace('/api', '/api/v1'), asking), ...refusal(caller))
    }
    assert.deepEqual(await snapshot(), before)
  })
  test(`${line} is done for ${may.join(', ')}`, async () => {
    for (const caller of may) {
      // A thing can be deleted only once.
      const own = line.startsWith('DELETE') ? await createWorld() : world
      const email = `${caller}@new.example.org`
      const given = line === 'POST /api/users' ? { name: 'n', email } : body
      const answer = await own.ask(line, { as: callers[caller], body: given })
      assert.ok([200, 201, 204].includes(answer.status), `${caller} ${answer.text}`)
      if (own !== world) await own.close()
    }
  })
}

test('without a token it is 401, before anything of the path or the body is looked at', async () => {
  const lines = [
    ...[
      'PUT /api/users/99',
      'PATCH /api/users/abc',
      'DELETE /api/users/0',
      'POST /api/users/x/posts',
    ],
    ...['PATCH /api/posts/99', 'DELETE /api/posts/x', 'POST /api/posts/99/comments'],
    ...[
      'DELETE /api/posts/99/comments/x',
      'POST /api/comments/99/likes',
      'POST /api/comments/x/likes',
    ],
    ...['DELETE /api/comments/x/likes', 'POST /api/products', 'DELETE /api/products/99'],
  ]
  for (const line of lines) {
    const answer = await world.ask(line, line.startsWith('DELETE') ? {} : { raw: '{' })
    refuses(answer, 401, 'UNAUTHENTICATED')
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="duet"')
  }
})

test('a post for an author who is not there is 404, for an admin and for anybody else', async () => {
  for (const as of [1, 2, 3])
    for (const body of [{ title: 't', content: 'c' }, { bogus: 1 }])
      refuses(await world.ask('POST /api/users/98/posts', { as, body }), 404, 'NOT_FOUND')
})

test('a comment below another post than its own is 404 for every caller', async () => {
  for (const as of [1, 2, 3])
    refuses(await world.ask('DELETE /api/posts/2/comments/1', { as }), 404, 'NOT_FOUND')
})

test('the media type comes before the size, the size before the form, the form before validation', async () => {
  const large = 'x'.repeat(1_048_577)
  const ask = (raw: string, type: string) =>
    world.ask('PATCH /api/users/2', { as: 2, raw, headers: { 'Content-Type': type } })
  refuses(await ask(large, 'text/plain'), 415, 'UNSUPPORTED_MEDIA_TYPE')
  refuses(await ask(large, 'application/json'), 413, 'PAYLOAD_TOO_LARGE')
  refuses(await ask('{"bogus":1,"bogus":2}', 'application/json'), 400, 'MALFORMED_REQUEST')
  refuses(await ask('{"bogus":1}', 'application/json'), 422, 'VALIDATION_ERROR', ['bogus'])
})

test('a body of exactly the limit is read, one byte more is 413, announced or chunked [G5]', async () => {
  const padded = (size: number) => {
    const text = JSON.stringify({ title: 'Third' })
    return text + ' '.repeat(size - text.length)
  }
  const ask = async (raw: string, headers: Record<string, string> = {}) =>
    world.ask('PATCH /api/posts/3', {
      as: 1,
      raw,
      headers: { 'Content-Type': 'application/json', ...headers },
    })
  const length = (size: number) => ({ 'Content-Length': String(size) })
  assert.equal((await ask(padded(1_048_576))).status, 200)
  assert.equal((await ask(padded(1_048_576), length(1_048_576))).status, 200)
  refuses(await ask(padded(1_048_577)), 413, 'PAYLOAD_TOO_LARGE')
  refuses(await ask(padded(1_048_577), length(1_048_577)), 413, 'PAYLOAD_TOO_LARGE')
  refuses(await ask('{}', length(99_999_999)), 413, 'PAYLOAD_TOO_LARGE')
})

test('a body that comes in chunks is cut off above the limit [G5]', async () => {
  const token = await world.token(1)
  const send = async (size: number) => {
    let left = size
    const body = new ReadableStream({
      pull: controller => {
        const chunk = Math.min(left, 65_536)
        left -= chunk
        if (chunk === 0) controller.close()
        else
          controller.enqueue(
            Buffer.from(left === size - chunk ? '{}'.padEnd(chunk) : ' '.repeat(chunk)),
          )
      },
    })
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const request = { method: 'PATCH', headers, body, duplex: 'half' }
    return (await world.app.request('/api/posts/3', request as RequestInit)).status
  }
  assert.equal(await send(1_048_576), 200)
  assert.equal(await send(1_048_577), 413)
  assert.equal(await send(8_000_000), 413)
})

test('a token that its own user was suspended after writes no more, and still reads [E6]', async () => {
  const own = await createWorld()
  assert.equal((await own.ask('PATCH /api/users/2', { as: 2, body: {} })).status, 200)
  await own.ask('PATCH /api/users/2', { as: 1, body: { status: 'suspended' } })
  refuses(await own.ask('PATCH /api/users/2', { as: 2, body: {} }), 403, 'FORBIDDEN')
  assert.equal((await own.ask('GET /api/users/2', { as: 2 })).json.status, 'suspended')
  await own.close()
})

test('a suspended admin writes nothing either [E6]', async () => {
  const own = await createWorld()
  const suspended = await own.ask('PATCH /api/users/1', { as: 1, body: { status: 'suspended' } })
  assert.equal(suspended.status, 200)
  for (const body of [product, { bad: 1 }])
    refuses(await own.ask('POST /api/products', { as: 1, body }), 403, 'FORBIDDEN')
  refuses(
    await own.ask('PATCH /api/users/1', { as: 1, body: { status: 'active' } }),
    403,
    'FORBIDDEN',
  )
  await own.close()
})

test('the role is the one in the token, whatever the user of it is [E6]', async () => {
  const ask = async (id: number, role: 'user' | 'admin', line: string, body?: unknown) =>
    world.ask(line, { headers: { Authorization: `Bearer ${await world.token(id, role)}` }, body })
  refuses(await ask(1, 'user', 'PATCH /api/products/1', { stock: 1 }), 403, 'FORBIDDEN')
  assert.equal((await ask(3, 'admin', 'PATCH /api/products/1', {})).status, 200)
  assert.equal((await ask(99, 'admin', 'PATCH /api/products/1', {})).status, 200)
  assert.equal((await ask(99, 'admin', 'PATCH /api/users/2', {})).status, 200)
  refuses(await ask(99, 'admin', 'POST /api/posts/1/comments', { text: 'x' }), 403, 'FORBIDDEN')
  refuses(await ask(99, 'admin', 'POST /api/comments/1/likes'), 403, 'FORBIDDEN')
})
