/** If-None-Match on writes: what has one of its ETags now is left alone (RFC 9110, section 13.1.2). */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { refuses } from '../rest.ts'
import { createWorld, type World } from '../world.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const things = {
  '/api/users/3': { name: 'New', email: 'new@example.org' },
  '/api/posts/3': { title: 'New' },
  '/api/products/1': { name: 'New', category: 'x', price: 1 },
}
const tagOf = async (path: string) =>
  (await world.ask(`GET ${path}`, { as: 1 })).headers.get('etag') ?? ''
const send = (line: string, tag: string, body?: unknown, as = 1) =>
  world.ask(line, { as, headers: { 'If-None-Match': tag }, body })

for (const [path, body] of Object.entries(things))
  test(`${path} is left alone under its ETag, weak or not, and under *, and written under any other`, async () => {
    const methods = path.includes('posts') ? ['PATCH'] : ['PATCH', 'PUT']
    const tag = await tagOf(path)
    for (const sent of [tag, `"x",W/${tag}`, await tagOf(path.replace('/api', '/api/v2')), '*']) {
      for (const method of methods)
        refuses(await send(`${method} ${path}`, sent, body), 412, 'PRECONDITION_FAILED')
      refuses(await send(`PATCH ${path}`, sent, {}), 412, 'PRECONDITION_FAILED')
      refuses(await send(`DELETE ${path}`, sent), 412, 'PRECONDITION_FAILED')
    }
    assert.equal(await tagOf(path), tag)
    for (const sent of ['"x"', await tagOf('/api/users/1'), 'x', ''])
      for (const method of methods)
        assert.equal((await send(`${method} ${path}`, sent, body)).status, 200)
    assert.equal((await send(`DELETE ${path}`, tag)).status, 204)
    refuses(await send(`DELETE ${path}`, '*'), 404, 'NOT_FOUND')
  })

test('it is looked at after the right to a thing, its existence and its place, and after validation', async () => {
  refuses(await send('PATCH /api/users/1', '*', {}, 2), 403, 'FORBIDDEN')
  refuses(await send('PATCH /api/users/9', '*', {}), 404, 'NOT_FOUND')
  refuses(await send('PATCH /api/users/2', '*', { email: 'x' }), 422, 'VALIDATION_ERROR')
  refuses(
    await send('PATCH /api/users/2', '*', { email: 'ada@example.org' }),
    412,
    'PRECONDITION_FAILED',
  )
  const made = await world.ask('POST /api/posts/1/comments', { as: 2, body: { text: 'Here' } })
  const { id } = made.json
  refuses(await send(`DELETE /api/posts/2/comments/${id}`, '*'), 404, 'NOT_FOUND')
  refuses(await send(`DELETE /api/posts/1/comments/${id}`, '*'), 412, 'PRECONDITION_FAILED')
})

test('an order is not paid under its ETag or *, and is under any other', async () => {
  const body = { items: [{ productId: 3, quantity: 1 }] }
  const { headers } = await world.ask('POST /api/orders', { as: 2, body })
  const path = headers.get('location') ?? ''
  const pay = (sent: string) => send(`POST ${path}/pay`, sent, undefined, 2)
  const tag = headers.get('etag') ?? ''
  for (const sent of [tag, `W/${tag}`, '*']) refuses(await pay(sent), 412, 'PRECONDITION_FAILED')
  assert.equal((await world.ask(`GET ${path}`, { as: 2 })).json.status, 'pending')
  assert.equal((await pay('"x"')).status, 200)
})

test('where neither If-Match nor If-None-Match holds, the 412 is about the first', async () => {
  const said = async (match: string) => {
    const headers = { 'If-Match': match, 'If-None-Match': '*' }
    const answer = await world.ask('PATCH /api/users/2', { as: 1, headers, body: {} })
    refuses(answer, 412, 'PRECONDITION_FAILED')
    return answer.json.error.message
  }
  assert.match(await said(`"users-2-99-${'x'.repeat(16)}"`), /changed since/)
  for (const match of ['*', await tagOf('/api/users/2')])
    assert.match(await said(match), /^If-None-Match is \* or has the ETag that the user has now: /)
})
