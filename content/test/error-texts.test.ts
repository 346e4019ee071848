/** Reads every text by which the service refuses something as a sentence. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errors } from '#content/errors.ts'
import { machineErrors, mergeErrors, peopleErrors } from '#errors.ts'
import {
  type ErrorText,
  metTexts,
  operatorTexts,
  remedyIn,
  writtenTexts,
} from './support/error-texts.ts'
import { createWorld } from './world.ts'

const known = mergeErrors(machineErrors, peopleErrors, errors)

/** What is wrong with a text wherever it begins. */
const slipIn = (text: string): string | undefined => {
  if (/\b(\p{L}+) \1\b/iu.test(text)) return 'says a word twice'
  if (/\b(for|of) to\b|\bto \w+ing\b/.test(text)) return 'puts to before no verb'
  if (/undefined|\[object|NaN/.test(text)) return 'holds what was not there'
  return undefined
}

/** The fault of a text as a sentence; undefined where there is none. */
const faultOf = ({ code, text }: ErrorText): string | undefined => {
  // The texts of graphql-js are not ours, and JSON.parse quotes its input.
  if (/^(Syntax Error|The body is not JSON:)/.test(text)) return undefined
  const isOurs = !/^(GRAPHQL_|BAD_USER_INPUT)/.test(code ?? '')
  // Several faults of an input are told one after another, each after its field.
  const isOfFields = code === undefined || /^(VALIDATION_ERROR|OUT_OF_STOCK)$/.test(code) || !isOurs
  if (!isOfFields && !/^[A-Z`…]/.test(text)) return 'begins without a capital'
  if (code === undefined && /^[A-Z]/.test(text)) return 'is of a field and begins with a capital'
  if (isOurs && /[.!?:;,\s]$/.test(text)) return 'ends with a mark'
  return slipIn(text)
}

const assertSentences = (texts: readonly ErrorText[]) =>
  assert.deepEqual(
    texts.flatMap(text => {
      const fault = faultOf(text)
      return fault === undefined ? [] : [`${text.from}: “${text.text}” ${fault}`]
    }),
    [],
  )

/** The body of `/readyz`, which is no sentence. */
const reason = 'the database does not answer'

test('every error text in the sources is a sentence, or goes on after a field', () => {
  const texts = writtenTexts().filter(({ text }) => text !== reason)
  assert.ok(texts.length > 80, `${texts.length} texts`)
  assertSentences(texts)
  for (const { text } of texts) assert.doesNotMatch(text, / {2}|\n| [,;:]/)
})

/** The fault of a text that an operator reads, mostly after `duet: `; undefined where there is none. */
const operatorFaultOf = ({ text, from }: ErrorText): string | undefined => {
  const followsName = /^(src\/(cli|engines|auth)\/|content\/)/.test(from)
  if (followsName && /^(The|An?|No|It|There|This) /.test(text)) return 'begins with a capital'
  if (/[.!?:;,\s]$/.test(text)) return 'ends with a mark'
  if (/\. \p{Lu}/u.test(text)) return 'is two sentences'
  return slipIn(text.replace(/--\w+/g, ''))
}

test('every text for operators is one sentence, which goes on after duet:', () => {
  const texts = operatorTexts()
  assert.ok(texts.length > 120, `${texts.length} texts`)
  assert.deepEqual(
    texts.flatMap(text => {
      const fault = operatorFaultOf(text)
      return fault === undefined ? [] : [`${text.from}: “${text.text}” ${fault}`]
    }),
    [],
  )
})

// Those of a wrong command end with the command that explains it, and those that end with a value may have it there.
test('every text about settings says what they must be, or names a remedy', () => {
  const texts = operatorTexts().filter(({ error }) => error === 'ConfigError')
  assert.ok(texts.length > 5, `${texts.length} texts`)
  assert.deepEqual(
    texts
      .filter(({ text }) => !remedyIn(text) && !/\bmust\b|…$/.test(text))
      .map(({ text, from }) => `${from}: “${text}”`),
    [],
  )
})

test('every error text has a code that is defined', () => {
  const codes = writtenTexts().flatMap(({ code }) => code ?? [])
  assert.deepEqual(
    codes.filter(code => !known.has(code)),
    [],
  )
})

test('every title is a sentence', () => {
  assertSentences([...known.values()].map(({ code, title }) => ({ code, text: title, from: code })))
})

/** A text of the sources as a pattern, with anything for the values that are put in. */
const patternOf = (text: string) => new RegExp(`^${text.split('…').map(RegExp.escape).join('.+')}$`)

test('every error text that a bad request meets is a sentence, and every example is such a text', async () => {
  await using world = await createWorld()
  const texts = await metTexts(world)
  assert.ok(texts.length > 250, `${texts.length} texts`)
  assertSentences(texts)
  const written = writtenTexts().map(({ code, text }) => ({ code, pattern: patternOf(text) }))
  for (const { code, example } of known.values()) {
    const isMet = texts.some(met => met.code === code && met.text === example)
    const isWritten = written.some(one => one.code === code && one.pattern.test(example ?? ''))
    assert.ok(example === undefined || isMet || isWritten, `${code}: ${example}`)
  }
})

const bad: readonly (readonly [text: string, code: string | undefined, fault: RegExp])[] = [
  ['A token is needed for to cancel orders', 'UNAUTHENTICATED', /to before no verb/],
  ['A token is needed to making posts', 'UNAUTHENTICATED', /to before no verb/],
  ['nothing is asked', 'NOT_FOUND', /without a capital/],
  ['The body is too large.', 'PAYLOAD_TOO_LARGE', /ends with a mark/],
  ['The the body is too large', 'PAYLOAD_TOO_LARGE', /a word twice/],
  ['User undefined not found', 'NOT_FOUND', /not there/],
  ['Must be a number', undefined, /begins with a capital/],
]

for (const [text, fault] of [
  ['The store is gone: restore a backup', /with a capital/],
  ['the store is gone. Restore a backup', /two sentences/],
  ['the store is gone: restore a backup.', /with a mark/],
] as const)
  test(`“${text}” is no sentence for an operator`, () => {
    assert.match(operatorFaultOf({ text, from: 'src/cli/restore.ts' }) ?? '', fault)
  })

for (const [text, code, fault] of bad)
  test(`“${text}” is no sentence for a caller`, () => {
    assert.match(faultOf({ text, from: '', ...(code !== undefined && { code }) }) ?? '', fault)
  })
