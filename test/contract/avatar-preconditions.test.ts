/** Avatars that are put and removed under `If-Match` and `If-None-Match`. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { refuses } from '../rest.ts'
import { createWorld, type World } from '../world.ts'
import { type Bytes, gif, joined, latin, png } from './pictures.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

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
    refuses(await under(wrong, gif), 412, 'PRECONDITION_FAILED')
    refuses(await under(wrong), 412, 'PRECONDITION_FAILED')
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
    refuses(await under(tags.join(), gif), 412, 'PRECONDITION_FAILED')
    refuses(await under(tags.join()), 412, 'PRECONDITION_FAILED')
  }
  for (const tags of [repeated, equal, different, alike])
    assert.equal((await unless(tags.join(), png)).status, 204)
  assert.equal((await under([...alike, await tagNow()].join())).status, 204)
})

test('a first picture is put under the ETag of the drawn one, in either version, and then not again', async () => {
  for (const where of [path, path.replace('/api', '/api/v2')]) {
    const drawn = await tagNow(where)
    refuses(await under('"x"', gif), 412, 'PRECONDITION_FAILED')
    assert.equal(await tagNow(where), drawn)
    assert.equal((await under(drawn, gif)).status, 204)
    refuses(await under(drawn, png), 412, 'PRECONDITION_FAILED')
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
    refuses(await unless(sent, gif), 412, 'PRECONDITION_FAILED')
    refuses(await unless(sent), 412, 'PRECONDITION_FAILED')
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
  refuses(await unless(`W/${drawn}`, gif), 412, 'PRECONDITION_FAILED')
  assert.equal(await tagNow(), drawn)
  const pictures = Array.from({ length: 10 }, (_, n) => joined(png, latin(`first ${n}`)))
  const answers = await Promise.all(pictures.map(raw => unless('*', raw)))
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [204, ...Array(9).fill(412)])
})
