/** Replacements and updates: what is answered, and what is stored. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { refuses, refusesInput, requestsTo } from '../rest.ts'
import { createWorld, forEachTest, pluck } from '../world.ts'

const world = forEachTest(createWorld)

const { post, put, patch, remove, get } = requestsTo(world)
const totalOf = async (path: string) => (await get(path)).json.pagination.total
const idsOf = async (path: string) => pluck((await get(path)).json.data, 'id')

const lamp = { name: 'Lamp', category: 'lighting', price: 9.5 }

describe('replacing', () => {
  test('a PUT without an age clears it, keeps role, status and moment, and carries no ETag', async () => {
    await patch('/api/users/2', { role: 'admin', status: 'active' })
    const before = (await get('/api/users/2')).json
    const answer = await put('/api/users/2', { name: 'Benjamin', email: 'ben@example.org' })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('etag'), null)
    assert.deepEqual(answer.json, { ...before, name: 'Benjamin', age: null })
    assert.equal((await get('/api/users/2')).text, answer.text)
  })

  test('a row that is sent back whole is told in one sentence which members to leave out', async () => {
    for (const version of [1, 2])
      for (const path of ['/users/2', '/products/1']) {
        const whole = (await get(`/api/v${version}${path}`)).json
        const { status, json } = await put(`/api/v${version}${path}`, whole)
        assert.equal(status, 422)
        const details: { field: string }[] = json.errors ?? json.error.details
        const names = details.map(({ field }) => field)
        assert.ok(names.length > 1)
        assert.equal(
          json.detail ?? json.error.message,
          `Leave out ${names.join(', ')}: a row that is sent back is taken without them`,
        )
        // Where more is wrong with it, that is told like any fault.
        const wrong = (await put(`/api/v${version}${path}`, { ...whole, name: '' })).json
        assert.doesNotMatch(wrong.detail ?? wrong.error.message, /^Leave out/)
        const rest = Object.entries(whole).filter(([name]) => !names.includes(name))
        assert.equal((await put(`/api/v${version}${path}`, Object.fromEntries(rest))).status, 200)
      }
  })

  test('a PUT needs name and email, and says so of both at once', async () => {
    refusesInput(await put('/api/users/2', {}, 2), ['name', 'email'])
    refusesInput(await put('/api/users/2', { name: 'B' }, 2), ['email'])
    assert.equal((await get('/api/users/2')).json.name, 'Ben')
  })

  test('a PUT of a product takes stock and image back to their beginning', async () => {
    const answer = await put('/api/products/5', lamp)
    assert.equal(answer.headers.get('etag'), null)
    const { created_at, ...rest } = answer.json
    assert.deepEqual(rest, { id: 5, ...lamp, stock: 0, image: null })
    assert.equal(created_at, '2026-01-01T00:18:00.000Z')
    refusesInput(await put('/api/products/5', {}), ['name', 'category', 'price'])
  })

  test('a PUT of a part is refused and replaces nothing; names of content codings have no case', async () => {
    const before = await get('/api/products/1')
    const send = (headers: Record<string, string>) =>
      world.ask('PUT /api/products/1', { as: 1, body: lamp, headers })
    const part = await send({ 'Content-Range': 'bytes 0-49/200' })
    refuses(part, 400, 'MALFORMED_REQUEST')
    assert.equal((await get('/api/products/1')).text, before.text)
    for (const coding of ['Identity', '', 'identity'])
      assert.equal((await send({ 'Content-Encoding': coding })).status, 200, coding)
    const refused = await send({ 'Content-Encoding': 'GZIP' })
    refuses(refused, 415, 'UNSUPPORTED_MEDIA_TYPE')
    assert.equal(refused.headers.get('accept-encoding'), 'identity')
    const long = await send({ 'Content-Encoding': 'g'.repeat(8000) })
    refuses(long, 415, 'UNSUPPORTED_MEDIA_TYPE')
    assert.ok(long.text.length < 400)
  })

  test('a PUT makes nothing where nothing is', async () => {
    refuses(await put('/api/users/5', { name: 'E', email: 'e@example.org' }), 404, 'NOT_FOUND')
    refuses(await put('/api/products/6', lamp), 404, 'NOT_FOUND')
    assert.equal(await totalOf('/api/users'), 4)
  })
})

describe('updating', () => {
  test('a PATCH changes what it names, and null clears what may be null', async () => {
    const before = (await get('/api/users/2')).json
    assert.deepEqual((await patch('/api/users/2', { name: 'B' }, 2)).json, { ...before, name: 'B' })
    assert.deepEqual((await patch('/api/users/2', { age: null }, 2)).json, {
      ...before,
      name: 'B',
      age: null,
    })
    assert.equal((await patch('/api/products/5', { image: null })).json.image, null)
    assert.equal((await patch('/api/posts/3', { title: 'T' }, 2)).json.content, 'three')
    refusesInput(await patch('/api/users/2', { name: null, email: null }, 2), ['name', 'email'])
    const nulls = { name: null, category: null, price: null, stock: null }
    refusesInput(await patch('/api/products/5', nulls), Object.keys(nulls))
  })

  test('a merge patch is read under its own media type too', async () => {
    const headers = { 'Content-Type': 'application/merge-patch+json' }
    for (const path of ['/api/users/2', '/api/posts/3', '/api/products/1']) {
      const answer = await world.ask(`PATCH ${path}`, { as: 1, headers, body: {} })
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
    }
    refuses(
      await world.ask('PUT /api/products/1', { as: 1, headers, body: lamp }),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    )
    refuses(
      await world.ask('POST /api/products', { as: 1, headers, body: lamp }),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    )
  })

  test('an empty PATCH changes nothing, not even the ETag', async () => {
    for (const path of ['/api/users/2', '/api/posts/3', '/api/products/1']) {
      const before = await get(path)
      const answer = await patch(path, {})
      assert.equal(answer.status, 200)
      assert.equal(answer.text, before.text)
      assert.equal(answer.headers.get('etag'), before.headers.get('etag'))
      assert.equal((await get(path)).headers.get('etag'), before.headers.get('etag'))
    }
  })

  test('a PATCH carries the new ETag, which the next read carries too', async () => {
    for (const [path, body] of [
      ['/api/users/2', { age: 3 }],
      ['/api/posts/3', { title: 'x' }],
      ['/api/products/1', { price: 1 }],
    ] as const) {
      const old = (await get(path)).headers.get('etag')
      const tag = (await patch(path, body)).headers.get('etag')
      assert.notEqual(tag, old)
      assert.equal((await get(path)).headers.get('etag'), tag)
    }
  })

  test('role and status are for an admin to give, and the filters see them at once', async () => {
    for (const body of [
      { role: 'admin' },
      { status: 'active' },
      { role: 'user', status: 'suspended' },
    ]) {
      refusesInput(await patch('/api/users/2', body, 2), Object.keys(body))
      refusesInput(
        await put('/api/users/2', { name: 'B', email: 'b@example.org', ...body }, 2),
        Object.keys(body),
      )
      const signUp = { name: 'E', email: 'e@example.org', ...body }
      refusesInput(await post('/api/users', signUp, 'anonymous'), Object.keys(body))
      refusesInput(await post('/api/users', signUp, 2), Object.keys(body))
    }
    assert.equal((await patch('/api/users/3', { role: 'admin', status: 'suspended' })).status, 200)
    assert.deepEqual(await idsOf('/api/users?role=admin&status=suspended'), [3])
    assert.equal(await totalOf('/api/users?role=admin'), 2)
    assert.equal(await totalOf('/api/users?status=suspended'), 2)
    const made = await post('/api/users', {
      name: 'E',
      email: 'e@example.org',
      role: 'admin',
      status: 'suspended',
    })
    assert.deepEqual([made.json.role, made.json.status], ['admin', 'suspended'])
    assert.equal(await totalOf('/api/users?role=admin'), 3)
    const replaced = await put('/api/users/5', { name: 'E', email: 'e@example.org', role: 'user' })
    assert.deepEqual([replaced.json.role, replaced.json.status], ['user', 'suspended'])
  })

  test('a new email is not verified; the same one stays so', async () => {
    assert.equal(
      (await patch('/api/users/2', { email: 'ben@example.org', name: 'B' }, 2)).json.emailVerified,
      true,
    )
    assert.equal(
      (await put('/api/users/2', { email: 'ben@example.org', name: 'B' }, 2)).json.emailVerified,
      true,
    )
    assert.equal(
      (await patch('/api/users/2', { email: 'new@example.org' }, 2)).json.emailVerified,
      false,
    )
    assert.equal(
      (await patch('/api/users/2', { email: 'ben@example.org' }, 2)).json.emailVerified,
      false,
    )
    assert.equal(
      (await put('/api/users/1', { name: 'Ada', email: 'a@example.org' })).json.emailVerified,
      false,
    )
  })

  test('an email belongs to one user, without regard to case', async () => {
    for (const email of ['cleo@example.org', 'CLEO@EXAMPLE.ORG', ' Cleo@Example.org ']) {
      const answers = [
        await post('/api/users', { name: 'X', email }, 'anonymous'),
        await patch('/api/users/2', { email }, 2),
        await put('/api/users/2', { name: 'X', email }, 2),
      ]
      for (const answer of answers) refuses(answer, 409, 'EMAIL_TAKEN', ['email'])
    }
    assert.equal(
      (await patch('/api/users/3', { email: 'CLEO@example.org' }, 3)).json.email,
      'CLEO@example.org',
    )
    assert.equal((await remove('/api/users/3')).status, 204)
    assert.equal((await post('/api/users', { name: 'X', email: 'cleo@example.org' })).status, 201)
  })

  test('of two sign-ups with one email at once, one is made', async () => {
    const emails = ['Same@example.org', 'same@Example.org', 'SAME@example.org', 'same@example.org']
    const answers = await Promise.all(
      emails.map(email => post('/api/users', { name: 'X', email }, 'anonymous')),
    )
    assert.deepEqual(pluck(answers, 'status').toSorted(), [201, 409, 409, 409])
  })
})
