/** What the tests of the REST contract share: how an error looks, and texts that are no id or no number. */
import assert from 'node:assert/strict'
import content from '#content/duet.config.ts'
import { machineErrors } from '#errors.ts'
import blog from '../examples/blog/duet.config.ts'
import recipes from '../examples/recipes/duet.config.ts'
import shop from '../examples/shop/duet.config.ts'
import { library } from './support/library/index.ts'
import type { Answered } from './world.ts'

/** Those of each content that tests serve; two contents may have one code under different titles. */
const kinds = [
  machineErrors,
  ...[content, library, blog, recipes, shop].map(one => one.errors),
].flatMap(table => Object.values(table))

/** What an error says in either shape: that of version 1, or a problem of version 2. */
const toldBy = ({ json, headers, status, errors }: Answered) => {
  const type = headers.get('content-type')
  if (errors === 'error') {
    assert.equal(type, 'application/json; charset=utf-8')
    assert.deepEqual(Object.keys(json), ['error'])
    return json.error
  }
  assert.equal(type, 'application/problem+json')
  assert.equal(json.type, `/docs/errors#${json.code}`)
  assert.equal(json.status, status)
  const isKind = kinds.some(({ code, title }) => code === json.code && title === json.title)
  assert.ok(isKind, `${json.code}: ${json.title}`)
  const { code, detail: message, errors: details, requestId, ...others } = json
  assert.deepEqual(Object.keys(others), ['type', 'title', 'status'])
  return { code, message, details, requestId }
}

/** What no error shows: SQL, paths, stacks, and what the program is made of. */
const inside =
  /sqlite|postgres|SQLSTATE|\bselect\b.+\bfrom\b|insert into|\bwhere\b.+=|savepoint|^\s+at |node:|node_modules|file:\/\/|\/work\/|\/tmp\/|src\/|\.ts\b|TypeError|RangeError|Maximum call/im

/** Asserts that the answer is this error in the shape of its version; with `fields`, that just these are at fault. */
export const refuses = (
  answer: Answered,
  status: number,
  code: string,
  fields?: readonly string[],
): void => {
  assert.equal(answer.status, status, answer.text)
  const error = toldBy(answer)
  assert.equal(error.code, code)
  assert.equal(typeof error.message, 'string')
  assert.notEqual(error.message, '')
  assert.equal(error.requestId, answer.headers.get('x-request-id'))
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
  assert.doesNotMatch(answer.text, inside)
  if (status === 404) assert.match(error.message, /not found/)
  const { details } = error
  if (fields === undefined) return
  assert.ok(Array.isArray(details), answer.text)
  for (const detail of details) {
    assert.deepEqual(Object.keys(detail), ['field', 'message'])
    assert.ok(detail.message.length > 0)
  }
  assert.deepEqual(
    details.map((detail: { field: string }) => detail.field).sort(),
    [...fields].sort(),
  )
}

/** Asserts that the answer refuses what is given: with `fields`, that just these are at fault. */
export const refusesInput = (answer: Answered, fields?: readonly string[]): void =>
  refuses(answer, 422, 'VALIDATION_ERROR', fields)

/** Texts that name nothing where an id stands in a path; the paths they make are well-formed. */
export const noIds: readonly string[] = [
  ...['0', '-0', '-1', '+1', '%2B1', '00', '01', '007', '1.0', '1.5', '1.', '.1', '1,0', '1_000'],
  ...['1e0', '1e3', '1E3', '0x1', '0x10', '0b1', '0o1', '1n', 'NaN', 'Infinity', 'null', 'true'],
  ...[
    'abc',
    '1abc',
    'abc1',
    '%201',
    '1%20',
    '1%09',
    '1%0A',
    '%D9%A1',
    '%EF%BC%91',
    '1;a=b',
    '1%271',
  ],
  ...['9007199254740992', '9007199254740993', '9223372036854775807', '9223372036854775808'],
  ...['18446744073709551616', '99999999999999999999', '9'.repeat(400), '1%2F2', '*', '@me'],
]

/** Values that are no whole number where a query parameter is to be one. */
export const noWholeNumbers: readonly string[] = [
  ...['', '%20', 'abc', '1.0', '1.5', '.5', '5.', '1e1', '1E1', '0x10', '0b1', '0o7', '1n', 'NaN'],
  ...['Infinity', '-Infinity', 'null', 'true', '1,0', '1_0', '%201', '1%20', '+1', '1%0A', '1%00'],
  ...['--1', '1-', '%D9%A1', '%EF%BC%91', '%E2%91%A0', '1;', '%271', '%22%22', '[]', '{}'],
]
