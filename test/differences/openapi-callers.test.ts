/** What callers of an operation notice and what they do not, where a comparison key by key would say otherwise. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '#base/object.ts'
import { diffOpenApi } from '#kit/contract/openapi.ts'

/** A document with one operation, and with schemas that it may refer to. */
const documentOf = (operation: JsonObject, schemas: JsonObject = {}): JsonObject => ({
  openapi: '3.1.1',
  paths: { '/a': { get: { responses: { 200: {} }, ...operation } } },
  components: { schemas },
})

const content = (schema: unknown) => ({ content: { 'application/json': { schema } } })
const sent = (schema: unknown, schemas?: JsonObject) =>
  documentOf({ requestBody: content(schema) }, schemas)
const read = (schema: unknown, schemas?: JsonObject) =>
  documentOf({ responses: { 200: content(schema) } }, schemas)

const diff = (before: JsonObject, after: JsonObject) =>
  diffOpenApi(before, after, '2026-11-22').map(({ class: level, rule }) => `${level} ${rule}`)

const query = (value: JsonObject) =>
  documentOf({ parameters: [{ name: 'q', in: 'query', ...value }] })
const header = (value: JsonObject) => documentOf({ responses: { 200: { headers: { q: value } } } })
const text = { type: 'string' }
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

for (const [what, of] of Object.entries({ query, header }))
  test(`a ${what} parameter or header that is no longer plain text, or becomes it, is breaking`, () => {
    const [plain, encoded] = [of({ schema: text }), of(content(text))]
    assert.deepEqual(diff(plain, encoded), ['breaking format-changed'])
    assert.deepEqual(diff(encoded, plain), ['breaking format-changed'])
  })

test('default is the answer of success where no other is told, and a refusal beside one', () => {
  const answers = (responses: JsonObject) => documentOf({ responses })
  const [one, other] = [content(text), content({ type: 'integer' })]
  assert.deepEqual(diff(answers({ default: one }), answers({ 200: other })), [
    'breaking status-removed',
    'risky status-added',
  ])
  assert.deepEqual(diff(answers({ 200: one, default: other }), answers({ 200: one })), [
    'compatible refusal-removed',
  ])
})

test('a member of a map that gets a name is compared with what the members of the map are', () => {
  const map = { type: 'object', additionalProperties: text }
  const named = { ...map, properties: { size: { type: 'integer' } } }
  for (const way of [sent, read])
    assert.deepEqual(diff(way(map), way(named)), [
      'breaking type-changed',
      'compatible member-added',
    ])
  assert.deepEqual(diff(sent(map), sent({ ...map, properties: { size: text } })), [
    'compatible member-added',
  ])
  const object = (properties: JsonObject) => ({ type: 'object', properties })
  assert.deepEqual(diff(read(object({})), read(object({ size: ref('Size') }), { Size: text })), [
    'compatible component-added',
    'compatible member-added',
  ])
})

test('a member that must be there without a schema, and may then be left out, is breaking to readers', () => {
  const before = { type: 'object', required: ['size'] }
  const after = { type: 'object', properties: { size: {} } }
  assert.deepEqual(diff(read(before), read(after)), ['breaking member-optional'])
  assert.deepEqual(diff(sent(before), sent(after)), ['compatible member-optional'])
})

test('what stands beside a reference holds with what it refers to', () => {
  const thing = (name: JsonObject) => ({
    Thing: { type: 'object', properties: { name }, required: ['name'] },
  })
  const beside = { ...ref('Thing'), properties: { size: text }, required: ['size'] }
  // Readers of the bare reference notice nothing, and hide what senders notice.
  const both = (name: JsonObject) =>
    documentOf(
      { requestBody: content(beside), responses: { 200: content(ref('Thing')) } },
      thing(name),
    )
  assert.deepEqual(diff(both(text), both({ ...text, maxLength: 3 })), [
    'breaking limit-tighter',
    'compatible limit-tighter',
  ])
  const strict = { ...ref('Word'), maxLength: 5 }
  const word = (maxLength: number) => ({ Word: { type: 'string', maxLength } })
  assert.deepEqual(diff(sent(strict, word(9)), sent(strict, word(7))), [
    'breaking limit-tighter',
    'breaking limit-tighter',
  ])
})

test('schemas that go round in circles of different lengths are compared to an end', () => {
  const listOf = (items: JsonObject) => ({ type: 'array', items })
  const schemas = { Row: listOf(listOf(ref('Row'))) }
  assert.deepEqual(diff(read(ref('Row'), schemas), read(listOf(ref('Row')), schemas)), [])
})

test('a reference with a percent sign that escapes nothing is taken as it is', () => {
  const before = read(ref('100%'), { '100%': text })
  assert.deepEqual(diff(before, read(ref('100%'), { '100%': { ...text, maxLength: 3 } })), [
    'compatible limit-tighter',
  ])
})

test('a new value of a list that may be null too is one more value', () => {
  const list = (...values: readonly string[]) => ({
    anyOf: [{ type: 'string', enum: values }, { type: 'null' }],
  })
  assert.deepEqual(diff(sent(list('a')), sent(list('a', 'b'))), ['compatible value-added'])
  assert.deepEqual(diff(sent(list('a', 'b')), sent(list('a'))), ['breaking value-removed'])
})

test('a reference that becomes one of several forms is compared with itself, and the others are new', () => {
  const thing = (name: JsonObject) => ({ type: 'object', properties: { name }, required: ['name'] })
  const part = { type: 'object', properties: { name: text } }
  const one = (way: typeof read, name: JsonObject) => way(ref('Thing'), { Thing: thing(name) })
  const several = (way: typeof read, union: string) =>
    way(
      { [union]: [ref('Thing'), ref('Part')] },
      { Thing: thing({ ...text, maxLength: 3 }), Part: part },
    )
  for (const union of ['anyOf', 'oneOf']) {
    assert.deepEqual(diff(one(read, text), several(read, union)), [
      'breaking alternative-added',
      'compatible component-added',
      'compatible limit-tighter',
    ])
    assert.deepEqual(diff(several(sent, union), one(sent, text)), [
      'breaking alternative-removed',
      'risky component-removed',
      'compatible limit-looser',
    ])
  }
})

test('forms that changed are compared with those of their type, if it is the only one', () => {
  const forms = (size: JsonObject, ...more: readonly JsonObject[]) => ({
    anyOf: [
      { ...text, ...size },
      { type: 'object', properties: { a: { ...text, ...size } } },
      ...more,
    ],
  })
  assert.deepEqual(diff(sent(forms({})), sent(forms({ maxLength: 3 }))), [
    'breaking limit-tighter',
    'breaking limit-tighter',
  ])
})

test('what may be null is the same in either way to write it', () => {
  const either = (form: JsonObject) => ({ anyOf: [form, { type: 'null' }] })
  const list = { type: 'string', enum: ['a', 'b'] }
  for (const [one, other] of [
    [either(text), { type: ['string', 'null'] }],
    [either(list), { type: ['string', 'null'], enum: ['a', null, 'b'] }],
  ] as const)
    for (const way of [sent, read]) {
      assert.deepEqual(diff(way(one), way(other)), [])
      assert.deepEqual(diff(way(other), way(one)), [])
    }
  const short = { type: ['string', 'null'], maxLength: 3 }
  assert.deepEqual(diff(sent(either(text)), sent(short)), ['breaking limit-tighter'])
  assert.deepEqual(diff(sent(either(text)), sent({ ...short, type: 'string' })), [
    'breaking limit-tighter',
    'breaking null-removed',
  ])
  const never = { type: ['string', 'null'], enum: ['a', 'b'] }
  assert.deepEqual(diff(sent(either(list)), sent(never)).includes('breaking null-removed'), true)
})

test('a least length of nothing is none', () => {
  for (const [type, key] of [
    ['string', 'minLength'],
    ['array', 'minItems'],
    ['object', 'minProperties'],
  ] as const) {
    const [plain, told] = [{ type }, { type, [key]: 0 }]
    for (const way of [sent, read]) {
      assert.deepEqual(diff(way(plain), way(told)), ['compatible limit-same'])
      assert.deepEqual(diff(way(told), way(plain)), ['compatible limit-same'])
    }
  }
})

test('those who are let in with less than before lose nothing', () => {
  const asking = (...security: readonly JsonObject[]) => documentOf({ security })
  const [token, scopes] = [{ token: [] }, { token: ['read', 'write'] }]
  for (const [before, after] of [
    [asking(token), asking({})],
    [asking(token), asking()],
    [asking(scopes), asking({ token: ['read'] })],
    [asking({ ...token, key: [] }), asking(token)],
  ] as const) {
    assert.deepEqual(diff(before, after), ['compatible access-eased', 'compatible access-opened'])
    assert.deepEqual(diff(after, before), ['breaking access-closed', 'compatible access-opened'])
  }
})
