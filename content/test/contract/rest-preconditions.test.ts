/** If-Match and If-None-Match on writes (RFC 9110, sections 13.1.1 and 13.1.2), of things, orders and avatars: of two writers with one ETag exactly one wins. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { rounds } from '#test/support/rounds.ts'
import { refuses, refusesInput } from '../rest.ts'
import { type Answered, createWorld, pluck, type World } from '../world.ts'
import { type Bytes, gif, joined, latin, png } from './pictures.ts'

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

/** That a precondition of a request does not hold. */
const unmet = (answer: Answered) => refuses(answer, 412, 'PRECONDITION_FAILED')

/** For a suite: what it takes away is there for others. */
const inOwnWorld = () => {
  let shared: World
  before(async () => {
    shared = world
    world = await createWorld()
  })
  after(async () => {
    await world.close()
    world = shared
  })
}

const things = {
  '/api/users/2': { name: 'New', email: 'new@example.org' },
  '/api/posts/3': { title: 'New' },
  '/api/products/1': { name: 'New', category: 'x', price: 1 },
}
const tagOf = async (path: string) =>
  (await world.ask(`GET ${path}`, { as: 1 })).headers.get('etag') ?? ''
const send = (line: string, tag: string, body?: unknown, as = 1) =>
  world.ask(line, { as, headers: { 'If-Match': tag }, body })
const sendUnless = (line: string, tag: string, body?: unknown, as = 1) =>
  world.ask(line, { as, headers: { 'If-None-Match': tag }, body })
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
      '"',
      '*x',
      'W/*',
      "' or 1=1",
      '"users-2-1"',
      '"products-1-99999999999999999999-x"',
      '"products-1--1-x"',
    ]
    for (const sent of [...wrong, ...garbage]) {
      for (const method of methods) unmet(await send(`${method} ${path}`, sent, body))
      unmet(await send(`DELETE ${path}`, sent))
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

  test(`of twenty writers of ${path} with one ETag exactly one wins [B11, C15]`, async t => {
    const races = rounds(1, 1000)
    for (let race = 0; race < races; race++) await raceFor(path, race)
    t.diagnostic(`${races} times`)
  })

  test(`an empty PATCH of ${path} obeys the precondition too`, async () => {
    const tag = await tagOf(path)
    unmet(await send(`PATCH ${path}`, '"x"', {}))
    assert.equal((await send(`PATCH ${path}`, tag, {})).headers.get('etag'), tag)
  })
}

test('the ETag of a POST or PATCH is one to go on with', async () => {
  const made = await world.ask('POST /api/products', { as: 1, body: things['/api/products/1'] })
  const path = made.headers.get('location') ?? ''
  const first = await send(`PATCH ${path}`, made.headers.get('etag') ?? '', { stock: 1 })
  const second = await send(`PATCH ${path}`, first.headers.get('etag') ?? '', { stock: 2 })
  assert.equal(second.status, 200)
  unmet(await send(`PATCH ${path}`, first.headers.get('etag') ?? '', {}))
})

test('the ETag of a choice of fields, or below the other prefix, is an ETag of the thing', async () => {
  for (const path of ['/api/users/2?fields=name', '/api/v1/users/2', '/api/v1/users/2?fields=id']) {
    assert.equal((await send('PATCH /api/users/2', await tagOf(path), { age: 1 })).status, 200)
    unmet(await send('PATCH /api/users/2', await tagOf('/api/users'), {}))
  }
})

test('a list of a thousand tags is read, whether one of them matches or none', () =>
  apart(async () => {
    const tag = await tagOf('/api/users/2')
    const digest = 'x'.repeat(16)
    const many = Array.from({ length: 1200 }, (_, n) => `"users-2-${(n % 400) + 7}-${digest}"`)
    const short = Array.from({ length: 1200 }, (_, n) => `"users-2-${n + 7}-x"`)
    for (const sent of [many, short]) unmet(await send('PATCH /api/users/2', sent.join(), {}))
    assert.equal((await send('PATCH /api/users/2', [...many, tag].join(), {})).status, 200)
  }))

test('a new thing never has the ETag of a deleted one', async () => {
  const tag = await tagOf('/api/products/5')
  await world.ask('DELETE /api/products/5', { as: 1 })
  const made = await world.ask('POST /api/products', { as: 1, body: things['/api/products/1'] })
  assert.notEqual(made.headers.get('etag'), tag)
  unmet(await send(`PATCH ${made.headers.get('location')}`, tag, {}))
})

const newOrder = async () => {
  const body = { items: [{ productId: 3, quantity: 1 }] }
  const made = await world.ask('POST /api/orders', { as: 2, body })
  return { path: made.headers.get('location') ?? '', tag: made.headers.get('etag') ?? '' }
}
const act = (path: string, tag: string, as = 2) => send(`POST ${path}`, tag, undefined, as)

test('an order is paid under its ETag or *, and left alone under any other tag', async () => {
  for (const form of ['{}', '"x", {}', '*']) {
    const { path, tag } = await newOrder()
    for (const wrong of ['"x"', `W/${tag}`, '']) unmet(await act(`${path}/pay`, wrong))
    assert.equal((await world.ask(`GET ${path}`, { as: 2 })).json.status, 'pending')
    const paid = await act(`${path}/pay`, form.replace('{}', tag))
    assert.equal(paid.status, 200)
    unmet(await act(`${path}/refund`, tag))
    assert.equal((await act(`${path}/refund`, paid.headers.get('etag') ?? '')).status, 200)
  }
})

test('the ETag of an order is looked at after the right to it and its existence, and before its state', async () => {
  const { path } = await newOrder()
  refuses(await act(`${path}/pay`, '"x"', 3), 404, 'NOT_FOUND')
  refuses(await act('/api/orders/999/pay', '"x"'), 404, 'NOT_FOUND')
  unmet(await act(`${path}/refund`, '"x"'))
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
  unmet(await act(path, tag, 1))
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
        unmet(refused)
        assert.ok(refused.json.error.message.includes(sentence), `${header}: ${refused.text}`)
        assert.ok(refused.json.error.message.includes(what), refused.text)
      }
})

describe('under If-None-Match', () => {
  inOwnWorld()

  const { '/api/users/2': user, ...others } = things
  for (const [path, body] of Object.entries({ ...others, '/api/users/3': user }))
    test(`${path} is left alone under its ETag, weak or not, and under *, and written under any other`, async () => {
      const methods = path.includes('posts') ? ['PATCH'] : ['PATCH', 'PUT']
      const tag = await tagOf(path)
      for (const sent of [tag, `"x",W/${tag}`, await tagOf(path.replace('/api', '/api/v2')), '*']) {
        for (const method of methods) unmet(await sendUnless(`${method} ${path}`, sent, body))
        unmet(await sendUnless(`PATCH ${path}`, sent, {}))
        unmet(await sendUnless(`DELETE ${path}`, sent))
      }
      assert.equal(await tagOf(path), tag)
      for (const sent of ['"x"', await tagOf('/api/users/1'), 'x', ''])
        for (const method of methods)
          assert.equal((await sendUnless(`${method} ${path}`, sent, body)).status, 200)
      assert.equal((await sendUnless(`DELETE ${path}`, tag)).status, 204)
      refuses(await sendUnless(`DELETE ${path}`, '*'), 404, 'NOT_FOUND')
    })

  test('it is looked at after the right to a thing, its existence and its place, and after validation', async () => {
    refuses(await sendUnless('PATCH /api/users/1', '*', {}, 2), 403, 'FORBIDDEN')
    refuses(await sendUnless('PATCH /api/users/9', '*', {}), 404, 'NOT_FOUND')
    refusesInput(await sendUnless('PATCH /api/users/2', '*', { email: 'x' }))
    unmet(await sendUnless('PATCH /api/users/2', '*', { email: 'ada@example.org' }))
    const made = await world.ask('POST /api/posts/1/comments', { as: 2, body: { text: 'Here' } })
    const { id } = made.json
    refuses(await sendUnless(`DELETE /api/posts/2/comments/${id}`, '*'), 404, 'NOT_FOUND')
    unmet(await sendUnless(`DELETE /api/posts/1/comments/${id}`, '*'))
  })

  test('an order is not paid under its ETag or *, and is under any other', async () => {
    const body = { items: [{ productId: 3, quantity: 1 }] }
    const { headers } = await world.ask('POST /api/orders', { as: 2, body })
    const path = headers.get('location') ?? ''
    const pay = (sent: string) => sendUnless(`POST ${path}/pay`, sent, undefined, 2)
    const tag = headers.get('etag') ?? ''
    for (const sent of [tag, `W/${tag}`, '*']) unmet(await pay(sent))
    assert.equal((await world.ask(`GET ${path}`, { as: 2 })).json.status, 'pending')
    assert.equal((await pay('"x"')).status, 200)
  })

  test('where neither If-Match nor If-None-Match holds, the 412 is about the first', async () => {
    const said = async (match: string) => {
      const headers = { 'If-Match': match, 'If-None-Match': '*' }
      const answer = await world.ask('PATCH /api/users/2', { as: 1, headers, body: {} })
      unmet(answer)
      return answer.json.error.message
    }
    assert.match(await said(`"users-2-99-${'x'.repeat(16)}"`), /changed since/)
    for (const match of ['*', await tagOf('/api/users/2')])
      assert.match(
        await said(match),
        /^If-None-Match is \* or has the ETag that the user has now: /,
      )
  })
})

describe('of an avatar', () => {
  inOwnWorld()

  const path = '/api/users/2/avatar'
  const at = (where: string) => world.app.request(where)
  const tagNow = async (where = path) => (await at(where)).headers.get('etag') ?? ''
  const bytesNow = async () => new Uint8Array(await (await at(path)).arrayBuffer())
  const under = (tag: string, raw?: Bytes) =>
    world.ask(`${raw ? 'PUT' : 'DELETE'} ${path}`, {
      as: 2,
      ...(raw && { raw }),
      headers: { 'If-Match': tag },
    })

  const unless = (sent: string, raw?: Bytes, more: Record<string, string> = {}) =>
    world.ask(`${raw ? 'PUT' : 'DELETE'} ${path}`, {
      as: 2,
      ...(raw && { raw }),
      headers: { 'If-None-Match': sent, ...more },
    })

  test('a picture is replaced and removed under its ETag, and left alone under any other', async () => {
    await under('*', png)
    const drawn = await tagNow('/api/users/3/avatar')
    for (const wrong of ['"x"', '""', '', `W/${await tagNow()}`, drawn]) {
      unmet(await under(wrong, gif))
      unmet(await under(wrong))
    }
    const ofUser = (await world.ask('GET /api/users/2', { as: 2 })).headers.get('etag') ?? ''
    for (const [wrong, sentence] of [
      ['x', /is no quoted ETag/],
      [`W/${drawn}`, /weak ETag, which/],
      [ofUser, /of another resource; read the avatar/],
      [drawn, /avatar was changed since/],
    ] as const)
      assert.match((await under(wrong, gif)).json.error.message, sentence)
    assert.deepEqual(await bytesNow(), png)
    assert.equal((await under(`"x", ${await tagNow()}`, gif)).status, 204)
    assert.equal((await under('*', png)).status, 204)
    assert.equal((await under(await tagNow())).status, 204)
    refuses(await under('"x"'), 404, 'NOT_FOUND')
  })

  test('a picture is left alone under a head full of tags that are not its own', async () => {
    await under('*', png)
    const repeated = Array(1200).fill(`"${'a'.repeat(8)}"`)
    const equal = Array(1200).fill(`"${'a'.repeat(16)}"`)
    const different = Array.from({ length: 1200 }, (_, n) => `"tag${n}"`)
    // As many as there can be of those that might be a picture's: a head has 16 KiB.
    const alike = Array.from({ length: 850 }, (_, n) => `"${String(n).padStart(16, '0')}"`)
    for (const tags of [repeated, equal, different, alike]) {
      unmet(await under(tags.join(), gif))
      unmet(await under(tags.join()))
    }
    for (const tags of [repeated, equal, different, alike])
      assert.equal((await unless(tags.join(), png)).status, 204)
    assert.equal((await under([...alike, await tagNow()].join())).status, 204)
  })

  test('a first picture is put under the ETag of the drawn one, in either version, and then not again', async () => {
    for (const where of [path, path.replace('/api', '/api/v2')]) {
      const drawn = await tagNow(where)
      unmet(await under('"x"', gif))
      assert.equal(await tagNow(where), drawn)
      assert.equal((await under(drawn, gif)).status, 204)
      unmet(await under(drawn, png))
      assert.equal((await under(await tagNow())).status, 204)
    }
  })

  test('of ten who put a picture under one ETag exactly one does, over a stored one and over the drawn one', async () => {
    for (let round = 0; round < 2; round++) {
      const tag = await tagNow()
      const pictures = Array.from({ length: 10 }, (_, n) => joined(png, latin(`${round} ${n}`)))
      const answers = await Promise.all(pictures.map(raw => under(tag, raw)))
      const statuses = answers.map(({ status }) => status).toSorted()
      assert.deepEqual(statuses, [204, ...Array(9).fill(412)])
    }
  })

  test('under If-None-Match a stored picture stays where its ETag or * is sent, and goes under any other', async () => {
    await under('*', png)
    const drawn = await tagNow('/api/users/3/avatar')
    for (const sent of [await tagNow(), `"x", W/${await tagNow()}`, '*']) {
      unmet(await unless(sent, gif))
      unmet(await unless(sent))
    }
    const said = async (match: string) =>
      (await unless('*', gif, { 'If-Match': match })).json.error.message
    assert.match(
      await said(await tagNow()),
      /^If-None-Match is \* or has the ETag that the avatar has/,
    )
    assert.match(await said(drawn), /avatar was changed since/)
    assert.deepEqual(await bytesNow(), png)
    assert.equal((await unless('"x"', gif)).status, 204)
    assert.equal((await unless(drawn)).status, 204)
    refuses(await unless('*'), 404, 'NOT_FOUND')
  })

  test('where no picture is stored, If-None-Match: * puts the first, and of ten at once exactly one; the ETag of the drawn one puts none', async () => {
    const drawn = await tagNow()
    unmet(await unless(`W/${drawn}`, gif))
    assert.equal(await tagNow(), drawn)
    const pictures = Array.from({ length: 10 }, (_, n) => joined(png, latin(`first ${n}`)))
    const answers = await Promise.all(pictures.map(raw => unless('*', raw)))
    assert.deepEqual(pluck(answers, 'status').toSorted(), [204, ...Array(9).fill(412)])
  })
})
