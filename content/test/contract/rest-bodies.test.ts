/** Bodies of writes: all their faults at once, members that are not taken, and how JSON may be written. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refuses, refusesInput } from '../rest.ts'
import { createWorld, forAllTests } from '../world.ts'
import { makers } from './makers.ts'

const world = forAllTests(createWorld)

test('a replacement and an update check as a creation does', async () => {
  for (const method of ['PUT', 'PATCH'])
    for (const [body, fields] of [
      [{ name: '', email: 'x', age: -1 }, ['name', 'email', 'age']],
      [
        { name: 1, email: null, age: '1', bogus: 1, id: 3 },
        ['name', 'email', 'age', 'bogus', 'id'],
      ],
    ] as const)
      refusesInput(await world.ask(`${method} /api/users/2`, { as: 2, body }), fields)
})

test('a create without a body is 400, whether or not a type is named', async () => {
  for (const headers of [{}, { 'Content-Type': 'application/json' }])
    refuses(await world.ask('POST /api/products', { as: 1, headers }), 400, 'MALFORMED_REQUEST')
})

test('all the faults of a body come at once, and the message has them too', async () => {
  const answer = await world.ask('POST /api/products', {
    as: 1,
    body: { name: ' ', price: -1, stock: 1.5, image: 'x', colour: 'red', id: 1, created_at: 'x' },
  })
  refusesInput(answer, [
    ...['name', 'category', 'price', 'stock', 'image', 'colour', 'id', 'created_at'],
  ])
  const { details, message } = answer.json.error
  for (const { field, message: why } of details) assert.ok(message.includes(`${field} ${why}`))
})

test('a sign-up without name and email names both, exactly', async () => {
  const answer = await world.ask('POST /api/users', { body: {} })
  refusesInput(answer, ['name', 'email'])
  assert.equal(answer.json.error.message, 'name is required; email is required')
  assert.deepEqual(answer.json.error.details, [
    { field: 'name', message: 'is required' },
    { field: 'email', message: 'is required' },
  ])
})

const closed = {
  user: [
    'id',
    'emailVerified',
    'createdAt',
    'created_at',
    '_links',
    'posts',
    'emailKey',
    'revision',
    'password',
    'isAdmin',
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    '',
    'Name',
    'name ',
  ],
  post: ['id', 'authorId', 'createdAt', '_links', 'revision', 'author', 'comments', 'role'],
  comment: ['id', 'authorId', 'postId', 'createdAt', '_links', 'revision', 'likes'],
  product: [
    'id',
    'created_at',
    'createdAt',
    'nameKey',
    'revision',
    '_links',
    'currency',
    'ownerId',
  ],
}
for (const [entity, members] of Object.entries(closed))
  test(`a ${entity} takes none of ${members.map(name => JSON.stringify(name)).join(', ')} from a caller [F3]`, async () => {
    for (const member of members) {
      const { path = '', usual = () => ({}) } = makers[entity] ?? {}
      const text = `{${JSON.stringify(usual()).slice(1, -1)},${JSON.stringify(member)}:1}`
      const headers = { 'Content-Type': 'application/json' }
      const answer = await world.ask(`POST ${path}`, { as: 1, raw: text, headers })
      refusesInput(answer, [member])
    }
  })

test('a byte order mark before the body is passed over', async () => {
  const raw = new TextEncoder().encode('\ufeff{"title":"T","content":"\ufeffC"}')
  const headers = { 'Content-Type': 'application/json' }
  const answer = await world.ask('POST /api/users/2/posts', { as: 2, raw, headers })
  assert.equal(answer.json.content, '\ufeffC')
})

test('a JSON body may name its charset and be escaped, spaced and ordered as it likes', async () => {
  for (const type of [
    'application/json;charset=utf-8',
    'Application/JSON; Charset="UTF-8"',
    'application/json ; charset=utf8',
    'application/json; profile="x"',
  ]) {
    const raw = ' \r\n{ "content" : "\\u0041\\ud83d\\ude00" , "title":"T" }\t'
    const answer = await world.ask('POST /api/users/2/posts', {
      as: 2,
      raw,
      headers: { 'Content-Type': type },
    })
    assert.equal(answer.json?.content, 'A😀', type)
  }
})

test('where a body may be left out, a request without one may name any type, and one with it may not', async () => {
  for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'application/json']) {
    const headers = { 'Content-Type': type }
    const liked = await world.ask('POST /api/comments/3/likes', { as: 3, headers })
    assert.ok(liked.status === 201 || liked.status === 200, `${type}: ${liked.text}`)
    const back = await world.ask('DELETE /api/comments/3/likes', { as: 3, headers })
    assert.equal(back.status, 204, type)
  }
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
  for (const [line, raw] of [
    ['POST /api/comments/3/likes', 'a=1'],
    ['POST /api/posts/1/comments', 'text=x'],
    ['POST /api/posts/1/comments', undefined],
  ] as const)
    refuses(
      await world.ask(line, { as: 3, headers, ...(raw !== undefined && { raw }) }),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    )
})
