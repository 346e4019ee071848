/** The regular expressions that what callers send is held against, on texts made to take them long. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { regexesReached } from '../support/regexes.ts'

/** More than a URL or a line of headers has as a rule; what takes the square of it takes a third of a second. */
const length = 8192
const most = 100

/** Those that take long, and why no caller can have them do so. */
const unreached: Readonly<Record<string, string>> = {
  'src/model/money.ts /0+$/': 'it reads the decimals of an amount, at most three',
  'src/base/database-url.ts /@.*\\//': 'it reads a setting',
}

/** Long texts of the characters that an expression names, and of others, one and two at a time, with ends that fit and do not. */
const textsFor = function* (literal: string): Generator<string> {
  const named = literal.replace(/\\[a-z]/gi, '').replace(/[^\w@%.,;:="'[({<|+-]/g, '')
  const all = [...new Set([...named, 'a', '0', ' ', '\t', '\0'])]
  for (const one of all)
    for (const other of ['', ...all]) {
      const piece = one === other ? one : one + other
      const text = piece.repeat(length / piece.length)
      yield* [text, `${text}\n!`, `${all[0]}${text}\0`]
    }
}

const millisecondsFor = (expression: RegExp, text: string): number => {
  expression.lastIndex = 0
  const begun = performance.now()
  expression.test(text)
  return performance.now() - begun
}

/** The longest that an expression took for a text; what was slow is tried again, since the machine may have been busy. */
const longestFor = (literal: string, expression: RegExp): number => {
  let longest = 0
  for (const text of textsFor(literal)) {
    let took = millisecondsFor(expression, text)
    for (let again = 0; again < 4 && took > longest && took > 5; again++)
      took = Math.min(took, millisecondsFor(expression, text))
    longest = Math.max(longest, took)
  }
  return longest
}

test('an expression that takes the square of the length is seen [G14]', () => {
  assert.ok(longestFor('/0+$/', /0+$/) > 10 * longestFor('/^0+$/', /^0+$/))
})

test(`no regular expression that callers reach takes ${most} ms for ${length} characters [G14]`, t => {
  const took = regexesReached().map(
    ({ file, literal, pattern }) => [`${file} ${literal}`, longestFor(literal, pattern)] as const,
  )
  const slow = took.filter(([, milliseconds]) => milliseconds > most).map(([name]) => name)
  assert.deepEqual(
    slow.filter(name => unreached[name] === undefined),
    [],
  )
  assert.ok(took.length > 50)
  for (const name of Object.keys(unreached))
    assert.ok(
      took.some(([one]) => one === name),
      name,
    )
  const others = took.filter(([name]) => unreached[name] === undefined)
  const longest = Math.max(...others.map(([, milliseconds]) => milliseconds))
  t.diagnostic(`${took.length} expressions, ${longest.toFixed(1)} ms at most`)
})
