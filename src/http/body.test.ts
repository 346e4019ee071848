import assert from 'node:assert/strict'
import { type IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '#errors.ts'
import { createMemory } from '#http/memory.ts'
import type { Http } from '#http/request.ts'
import { announcesBody, decodeUtf8, giveUp, parseObject, receiveBody } from './body.ts'

const malformed = (message: RegExp) => (error: unknown) =>
  error instanceof ApiError && error.code === 'MALFORMED_REQUEST' && message.test(error.message)

/** A request whose body comes from Node, and what is kept of it. */
const requestOf = (headers: IncomingHttpHeaders) => {
  const incoming = new IncomingMessage(new Socket())
  Object.assign(incoming.headers, headers)
  const kept = new Map<string, unknown>()
  const [get, set] = [(key: string) => kept.get(key), kept.set.bind(kept)]
  return { incoming, kept, c: { env: { incoming }, req: {}, get, set } as unknown as Http }
}

test('a short body of which several pieces came before it is read is whole', async () => {
  const { incoming, kept, c } = requestOf({ 'content-length': '7' })
  for (const piece of ['{"a":', '1}']) incoming.push(piece)
  await receiveBody(c, 100)
  assert.equal(String(kept.get('body')), '{"a":1}')
})

test('a body that comes byte by byte takes what Node holds of each, and is put together meanwhile', async () => {
  const received = async (bytes: number, room: number) => {
    const { incoming, kept, c } = requestOf({ 'content-length': String(bytes) })
    // One caller has half of it.
    const account = createMemory({ bodies: 2 * room }).bodies.of('user 1')
    kept.set('receiving', { account })
    const done = receiveBody(c, 1000)
    setImmediate(() => {
      for (let n = 0; n < bytes; n++) incoming.push('x')
      incoming.push(null)
    })
    await done
    return String(kept.get('body')).length
  }
  assert.equal(await received(500, 20_000), 500)
  await assert.rejects(received(60, 10_000), { code: 'OVERLOADED' })
})

test('a body is announced by its length or by chunks', () => {
  for (const [headers, is] of [
    [{}, false],
    [{ 'content-length': '0' }, false],
    [{ 'content-length': '1' }, true],
    [{ 'transfer-encoding': 'chunked' }, true],
  ] as const)
    assert.equal(announcesBody(requestOf(headers).c), is)
})

test('every JSON object without twice-given members is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })), value => {
      const text = JSON.stringify(value)
      assert.deepEqual(parseObject(text), JSON.parse(text))
    }),
    { numRuns: 2000 },
  )
})

test('a member that is given twice is named, at every depth and in every spelling [G7]', () => {
  for (const text of [
    '{"a":1,"a":2}',
    '{"x":{"a":1,"b":2,"a":3}}',
    '{"x":[{"a":1},{"a":1,"a":1}]}',
    '{"a":1,"\\u0061":2}',
    '{"a":{"b":1},"c":[1,{"d":2}],"a":3}',
  ])
    assert.throws(() => parseObject(text), malformed(/"a" is given twice/), text)
})

test('two objects beside each other may have the same members', () => {
  for (const text of [
    '{"x":{"a":1},"y":{"a":1}}',
    '{"a":[{"a":1},{"a":2}]}',
    '{"a":"a","b":"a"}',
    '{"a":"{\\"a\\":1,\\"a\\""}',
  ])
    assert.deepEqual(parseObject(text), JSON.parse(text))
})

test('32 levels are read and 33 are not [D10]', () => {
  const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
  assert.ok(parseObject(nested(32)))
  assert.throws(() => parseObject(nested(33)), malformed(/deeper than 32/))
  assert.throws(() => parseObject(nested(5000)), malformed(/deeper than 32/))
})

for (const text of [
  ...['', ' ', 'x', '{', '}', '{}}', '{},', '{}{}', '{/**/}', '{a:1}', "{'a':1}", '{"a":1,}'],
  ...['{"a":1', '{"a"}', '{"a":}', '{"a":tru}', '{"a":undefined}', '{"a":NaN}', '{"a":Infinity}'],
  ...[
    '{"a":01}',
    '{"a":+1}',
    '{"a":.5}',
    '{"a":0x1}',
    '{"a":"\t"}',
    '{"a":"\\x"}',
    '{"a":"\\u12"}',
  ],
  ...['\ufeff{}', '\u00a0{}', '\0', '{\0}\0'],
])
  test(`${JSON.stringify(text)} is no JSON`, () => {
    assert.throws(() => parseObject(text), malformed(/^The body is not JSON: /))
  })

for (const text of ['[]', 'null', '1', '"a"', 'true', '[{"a":1}]'])
  test(`${text} is JSON but no object`, () => {
    assert.throws(() => parseObject(text), malformed(/must be a JSON object/))
  })

test('a member named __proto__ is a member and changes no prototype [G7]', () => {
  const value = parseObject('{"__proto__":{"admin":true}}')
  assert.deepEqual(Object.keys(value), ['__proto__'])
  assert.equal(({} as { admin?: boolean }).admin, undefined)
})

test('bytes that are no UTF-8 are refused and not replaced [G7, G11]', () => {
  for (const bytes of [
    [0xff],
    [0xc3],
    [0xc0, 0x80],
    [0xc0, 0xaf],
    [0xc3, 0x28],
    [0xed, 0xa0, 0x80],
    [0xf4, 0x90, 0x80, 0x80],
  ])
    assert.throws(() => decodeUtf8(Uint8Array.from(bytes)), malformed(/not UTF-8/))
  assert.equal(decodeUtf8(new TextEncoder().encode('grün 😀')), 'grün 😀')
})

const tooLarge = (field: string, message: string) => (error: unknown) =>
  error instanceof ApiError &&
  error.code === 'VALIDATION_ERROR' &&
  error.details?.[0]?.field === field &&
  error.details[0].message === message

const membersOf = (count: number) =>
  `{${Array.from({ length: count }, (_, n) => `"m${n}":[]`).join()}}`
const elementsOf = (count: number) => `[${Array(count).fill('{"a":1}').join()}]`

test('1,000 members are read and 1,001 are not, at every depth [F4, G15]', () => {
  for (const [text, field] of [
    ['*', ''],
    ['{"a":*}', 'a'],
    ['{"a":[1,{"b":"{[,","c":*}]}', 'a.1.c'],
  ] as const) {
    assert.ok(parseObject(text.replace('*', membersOf(1000))))
    assert.throws(
      () => parseObject(text.replace('*', membersOf(1001))),
      tooLarge(field, 'has more than 1000 members'),
    )
  }
})

test('10,000 elements are read and 10,001 are not, at every depth', () => {
  for (const [text, field] of [
    ['{"a":*}', 'a'],
    ['{"b":{"x\\"":[[],*]}}', 'b.x".1'],
  ] as const) {
    assert.ok(parseObject(text.replace('*', elementsOf(10_000))))
    assert.throws(
      () => parseObject(text.replace('*', elementsOf(10_001))),
      tooLarge(field, 'has more than 10000 elements'),
    )
  }
})

test('50,000 members and elements in all are read and 50,001 are not [G15]', () => {
  const of16_000 = elementsOf(8000)
  const listsOf = (all: number) =>
    `{"a":${of16_000},"b":${of16_000},"c":${of16_000},"d":[${Array(all - 48_004)
      .fill(1)
      .join()}]}`
  assert.ok(parseObject(listsOf(50_000)))
  assert.throws(
    () => parseObject(listsOf(50_001)),
    tooLarge('', 'has more than 50000 members and elements in all'),
  )
})

test('a text that is no JSON is refused as such, however its strings end', () => {
  for (const text of ['{"a', '{"a\\"', '{"\\u00', '{"\\x":1}', '"', '\\"', '{"a":"\\\\\\"'])
    assert.throws(() => parseObject(text), malformed(/^The body is not JSON: /), text)
})

test('a chunk that is given up has no memory any more, and one that is a part of other memory keeps it', () => {
  const whole = new Uint8Array(65_536)
  giveUp(whole)
  assert.equal(whole.length, 0)
  const part = new Uint8Array(10).subarray(2)
  giveUp(part)
  assert.equal(part.length, 8)
})
