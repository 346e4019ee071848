/** If-Match: of two writers with one ETag exactly one wins (RFC 9110, section 13.1.1). */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { refuses } from '../rest.ts'
import { rounds } from '../support/rounds.ts'
import { createWorld, type World } from '../world.ts'

// Its things are changed by many tests, and each begins with the ETags of now.
let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

/** What takes things away, or counts on how often they were changed, has a world of its own. */
const apart = async (work: () => Promise<void>) => {
  const shared = world
  world = await createWorld()
  try {
    await work()
  } finally {
    await world.close()
    world = shared
  }
}

const things = {
  '/api/users/2': { name: 'New', email: 'new@example.org' },
  '/api/posts/3': { title: 'New' },
  '/api/products/1': { name: 'New', category: 'x', price: 1 },
}
const tagOf = async (path: string) =>
  (await world.ask(`GET ${path}`, { as: 1 })).headers.get('etag') ?? ''
const send = (line: string, tag: string, body?: unknown) =>
  world.ask(line, { as: 1, headers: { 'If-Match': tag }, body })
const isUnchanged = async (path: string, tag: string) => assert.equal(await tagOf(path), tag)

/** Twenty change a thing under the ETag that they all saw. */
const raceFor = async (path: string, race: number) => {
  const tag = await tagOf(path)
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => {
      const name = `T${race}.${n}`
      return send(`PATCH ${path}`, tag, path.includes('posts') ? { title: name } : { name })
    }),
  )
  const statuses = answers.map(({ status }) => status).toSorted()
  assert.deepEqual(statuses, [200, ...Array(19).fill(412)])
  const winner = answers.find(({ status }) => status === 200)
  const read = await world.ask(`GET ${path}`, { as: 1 })
  assert.equal(read.text, winner?.text)
  assert.equal(read.headers.get('etag'), winner?.headers.get('etag'))
}

for (const [path, body] of Object.entries(things)) {
  const methods = path.includes('posts') ? ['PATCH'] : ['PATCH', 'PUT']

  test(`${path} is changed under its ETag, alone, in a list, or under *`, async () => {
    for (const method of methods)
      for (const form of ['{}', '"x", {}', '{} ,W/"y"', 'W/"x","a,b" , {}', '*', ' * ']) {
        const answer = await send(`${method} ${path}`, form.replace('{}', await tagOf(path)), body)
        assert.equal(answer.status, 200, `${method} ${form}`)
      }
  })

  test(`${path} is left alone under any other tag: weak, foreign, stale, or no tag at all`, async () => {
    const stale = await tagOf(path)
    await world.ask(`PATCH ${path}`, { as: 1, body })
    const tag = await tagOf(path)
    const foreign = await Promise.all(
      [...Object.keys(things), '/api/users/3', '/api/products/2']
        .filter(other => other !== path)
        .map(tagOf),
    )
    const wrong = [
      stale,
      `W/${tag}`,
      `"x", W/${tag}`,
      '"x"',
      '""',
      'W/"x"',
      ...foreign,
      foreign.join(', '),
    ]
    const garbage = [
      tag.slice(1, -1),
      tag.slice(0, -1),
      `${tag}x`,
      `x ${tag}`,
      `${tag} ${tag}`,
      '',
      ',',
      '**',
      '*, *',
      '"*"',
      'null',
      '0',
    ]
    for (const sent of [...wrong, ...garbage]) {
      for (const method of methods)
        refuses(await send(`${method} ${path}`, sent, body), 412, 'PRECONDITION_FAILED')
      refuses(await send(`DELETE ${path}`, sent), 412, 'PRECONDITION_FAILED')
    }
    await isUnchanged(path, tag)
  })

  test(`${path} is deleted under its ETag, and then there is nothing to match`, () =>
    apart(async () => {
      const tag = await tagOf(path)
      assert.equal((await send(`DELETE ${path}`, tag)).status, 204)
      for (const sent of [tag, '*', '"x"']) {
        refuses(await send(`DELETE ${path}`, sent), 404, 'NOT_FOUND')
        refuses(await send(`PATCH ${path}`, sent, {}), 404, 'NOT_FOUND')
      }
    }))

  test(`of twenty writers of ${path} with one ETag exactly one wins`, async t => {
    const races = rounds(1, 1000)
    for (let race = 0; race < races; race++) await raceFor(path, race)
    t.diagnostic(`${races} times`)
  })

  test(`an empty PATCH of ${path} obeys the precondition too`, async () => {
    const tag = await tagOf(path)
    refuses(await send(`PATCH ${path}`, '"x"', {}), 412, 'PRECONDITION_FAILED')
    assert.equal((await send(`PATCH ${path}`, tag, {})).headers.get('etag'), tag)
  })
}

test('the ETag of a POST or PATCH is one to go on with', async () => {
  const made = await world.ask('POST /api/products', { as: 1, body: things['/api/products/1'] })
  const path = made.headers.get('location') ?? ''
  const first = await send(`PATCH ${path}`, made.headers.get('etag') ?? '', { stock: 1 })
  const second = await send(`PATCH ${path}`, first.headers.get('etag') ?? '', { stock: 2 })
  assert.equal(second.status, 200)
  refuses(
    await send(`PATCH ${path}`, first.headers.get('etag') ?? '', {}),
    412,
    'PRECONDITION_FAILED',
  )
})

test('the ETag of a choice of fields, or below the other prefix, is an ETag of the thing', async () => {
  for (const path of ['/api/users/2?fields=name', '/api/v1/users/2', '/api/v1/users/2?fields=id']) {
    assert.equal((await send('PATCH /api/users/2', await tagOf(path), { age: 1 })).status, 200)
    refuses(
      await send('PATCH /api/users/2', await tagOf('/api/users'), {}),
      412,
      'PRECONDITION_FAILED',
    )
  }
})

test('a precondition is looked at after the right, existence and validation, and before a conflict', async () => {
  const headers = { 'If-Match': '"x"' }
  const body = { email: 'cleo@example.org' }
  refuses(await world.ask('PATCH /api/users/2', { headers, body }), 401, 'UNAUTHENTICATED')
  refuses(await world.ask('PATCH /api/users/2', { headers, body, as: 3 }), 403, 'FORBIDDEN')
  refuses(await world.ask('PATCH /api/users/9', { headers, body, as: 1 }), 404, 'NOT_FOUND')
  const bad = { email: 'x' }
  refuses(
    await world.ask('PATCH /api/users/2', { headers, body: bad, as: 2 }),
    422,
    'VALIDATION_ERROR',
  )
  refuses(
    await world.ask('PATCH /api/users/2', { headers, body, as: 2 }),
    412,
    'PRECONDITION_FAILED',
  )
  refuses(await world.ask('PATCH /api/users/2', { body, as: 2 }), 409, 'EMAIL_TAKEN')
})

test('a list of a thousand tags is read, whether one of them matches or none', () =>
  apart(async () => {
    const tag = await tagOf('/api/users/2')
    const digest = 'x'.repeat(16)
    const many = Array.from({ length: 1200 }, (_, n) => `"users-2-${(n % 400) + 7}-${digest}"`)
    const short = Array.from({ length: 1200 }, (_, n) => `"users-2-${n + 7}-x"`)
    for (const sent of [many, short])
      refuses(await send('PATCH /api/users/2', sent.join(), {}), 412, 'PRECONDITION_FAILED')
    assert.equal((await send('PATCH /api/users/2', [...many, tag].join(), {})).status, 200)
  }))

test('a new thing never has the ETag of a deleted one', async () => {
  const tag = await tagOf('/api/products/5')
  await world.ask('DELETE /api/products/5', { as: 1 })
  const made = await world.ask('POST /api/products', { as: 1, body: things['/api/products/1'] })
  assert.notEqual(made.headers.get('etag'), tag)
  refuses(await send(`PATCH ${made.headers.get('location')}`, tag, {}), 412, 'PRECONDITION_FAILED')
})

const newOrder = async () => {
  const body = { items: [{ productId: 3, quantity: 1 }] }
  const made = await world.ask('POST /api/orders', { as: 2, body })
  return { path: made.headers.get('location') ?? '', tag: made.headers.get('etag') ?? '' }
}
const act = (path: string, tag: string, as = 2) =>
  world.ask(`POST ${path}`, { as, headers: { 'If-Match': tag } })

test('an order is paid under its ETag or *, and left alone under any other tag', async () => {
  for (const form of ['{}', '"x", {}', '*']) {
    const { path, tag } = await newOrder()
    for (const wrong of ['"x"', `W/${tag}`, ''])
      refuses(await act(`${path}/pay`, wrong), 412, 'PRECONDITION_FAILED')
    assert.equal((await world.ask(`GET ${path}`, { as: 2 })).json.status, 'pending')
    const paid = await act(`${path}/pay`, form.replace('{}', tag))
    assert.equal(paid.status, 200)
    refuses(await act(`${path}/refund`, tag), 412, 'PRECONDITION_FAILED')
    assert.equal((await act(`${path}/refund`, paid.headers.get('etag') ?? '')).status, 200)
  }
})

test('the ETag of an order is looked at after the right to it and its existence, and before its state', async () => {
  const { path } = await newOrder()
  refuses(await act(`${path}/pay`, '"x"', 3), 404, 'NOT_FOUND')
  refuses(await act('/api/orders/999/pay', '"x"'), 404, 'NOT_FOUND')
  refuses(await act(`${path}/refund`, '"x"'), 412, 'PRECONDITION_FAILED')
  refuses(await act(`${path}/refund`, '*'), 409, 'INVALID_STATE')
})

test('of twenty who cancel or pay an order with one ETag exactly one does', async () => {
  const { path, tag } = await newOrder()
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => act(`${path}/${n % 2 ? 'pay' : 'cancel'}`, tag)),
  )
  const statuses = answers.map(({ status }) => status).toSorted()
  assert.deepEqual(statuses, [200, ...Array(19).fill(412)])
})

test('a user is made an admin under the ETag of the user alone', async () => {
  const tag = await tagOf('/api/users/3')
  await world.ask('PATCH /api/users/3', { as: 3, body: { age: 1 } })
  const path = '/api/users/3/actions/promote-to-admin'
  refuses(await act(path, tag, 1), 412, 'PRECONDITION_FAILED')
  assert.equal((await act(path, await tagOf('/api/users/3'), 1)).status, 200)
})

/** What is wrong with an `If-Match`, by the sentence that says it. */
const wrongTags = (tag: string, foreign: string): Record<string, readonly string[]> => {
  const stale = tag.replace(/\d+(?=-[\w-]{16}"$)/, '99')
  return {
    'is no quoted ETag; send the ETag': [tag.slice(1, -1), 'abc', `${tag} ${tag}`, '', ',', '*, *'],
    'has a weak ETag, which matches nothing; send': [`W/${tag}`, `W/"x", W/${tag}`],
    'has the ETag of another resource; read the': [foreign, `W/${tag}, ${foreign}`, '"x"'],
    'was changed since: read it again': [stale, `${foreign}, ${stale}`],
  }
}

test('a 412 says whether If-Match is malformed, weak, of another resource, or out of date', async () => {
  const { path: order, tag: orderTag } = await newOrder()
  const foreign = await tagOf('/api/users/3')
  const rows = [
    ['PATCH /api/users/2', await tagOf('/api/users/2'), 'user'],
    ['DELETE /api/posts/3', await tagOf('/api/posts/3'), 'post'],
    [`POST ${order}/pay`, orderTag, 'order'],
  ] as const
  for (const [line, tag, what] of rows)
    for (const [sentence, headers] of Object.entries(wrongTags(tag, foreign)))
      for (const header of headers) {
        const refused = await send(line, header, line.startsWith('PATCH') ? {} : undefined)
        refuses(refused, 412, 'PRECONDITION_FAILED')
        assert.ok(refused.json.error.message.includes(sentence), `${header}: ${refused.text}`)
        assert.ok(refused.json.error.message.includes(what), refused.text)
      }
})
