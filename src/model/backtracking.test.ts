/** Patterns that may take for ever are found by their form, whatever the machine. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backtrackingIn, backtracks } from '#model/backtracking.ts'
import { entity } from '#model/entity.ts'
import { slug, text } from '#model/field.ts'
import { regexesReached } from '../../test/support/regexes.ts'

test('a repetition within one that has no sign of its own is found', () => {
  for (const pattern of [
    /^(a+)+$/,
    /^(a*)*$/,
    /^(?:a+){2,}$/,
    /^(a+)+$/u,
    /^(\w+\s?)+$/i,
    /^([a-z]+-?)*$/,
    /^(a|a)+$/,
    /^(\w|\d)+$/,
    /^(?<word>[a-z]+|[0-9]+)*$/,
    /^((ab)+)+$/,
    /^(.*,?)*x$/,
    /^([a-z0-9]+\.?)+@x$/,
    /^(\p{L}+)+$/u,
    // Two ways to read more than one sign.
    /^(a|aa)+$/,
    /^(ab|a|b)+$/,
    /^(?:ab+|a+b)+$/,
    /^(?:[a-z][a-z]|[a-z]{2})+$/,
    /^(x+x+)+y$/,
    // What looks ahead or behind, and what was read before.
    /^(?=(a+)+$)a/,
    /^(?!(a+)+b)a/,
    /(?<=^(a+)+)b/,
    /^(?:(a*)\1)+$/,
    /^(?:(a)\1)+$/,
    // Letters that stand for no others.
    /^(漢+)+$/u,
    /^(ж|Ж)+$/iu,
    /^(\u{6f22}|漢)+$/u,
    /^(?:\u6f22|[\u6f22\u6f23])+$/,
    // Letters of scripts that have no letter in the pattern, and case that a part of it ignores.
    /^(?:\p{Script=Thai}|\p{L})+$/u,
    /^(?:[\u3040-\u309f]|\p{L})+$/u,
    /^(?:\p{Sc}|\p{S})+$/u,
    /^(?i:a|A)+$/,
  ])
    assert.ok(backtracks(pattern), String(pattern))
})

test('a pattern that reads each text in one way is not', () => {
  for (const pattern of [
    /^[A-Z]+$/,
    /^[\p{L}\p{N}\p{M}]+(-[\p{L}\p{N}\p{M}]+)*$/u,
    /^a+(-a+)*$/,
    /^(\d{3}-)+\d+$/,
    /^[^@\s]+@[^@\s]+$/,
    /^(?:red|green|blue)+$/,
    /^(a|b)+$/,
    /^(\w+:)*$/,
    /^#[0-9a-f]{6}$/i,
    /^(?=.*\d)[a-z\d]{8,}$/,
    /^(a+b)+$/,
    /^\((x|y)\)*[)\]]$/,
    /^(a|ab)*c$/,
    /^(a?)*$/,
    /^(ab|ac)+$/,
    /^(?:a{1,5}b)+$/,
    /^(["'])[a-z]*\1$/,
    /^(?:(?=a)ab)+$/,
    /^((a{1,3}){1,3}){1,3}$/,
  ])
    assert.ok(!backtracks(pattern), String(pattern))
})

test('the field is named, unless its texts are too short to matter', () => {
  const pattern = /^(a+)+$/
  const fields = {
    code: text({ max: 100, pattern }),
    short: text({ max: 9, pattern }),
    steep: text({ max: 200, pattern: /^a*a*a*[ab]*a*a*a*b$/ }),
    steeper: text({ max: 2000, pattern: /^\d*\d+\d*x$/ }),
    flat: text({ max: 200, pattern: /^\d*\d+\d*x$/ }),
    apart: text({ max: 9000, pattern: /^\s*\w+\s+\w+\s+\w+\s*$/ }),
    name: text({ max: 100 }),
    slug: slug({ from: 'name' }),
  }
  assert.deepEqual(
    backtrackingIn({ thing: entity({ fields }) } as never).map(one => one.slice(0, 40)),
    [
      'thing.code has the pattern /^(a+)+$/, by',
      'thing.steep has the pattern /^a*a*a*[ab]',
      'thing.steeper has the pattern /^\\d*\\d+\\d',
    ],
  )
})

test('no expression of the code that callers reach is one of them [G14]', () => {
  const reached = regexesReached()
  assert.deepEqual(
    reached
      .filter(({ pattern }) => backtracks(pattern))
      .map(({ file, literal }) => `${file} ${literal}`),
    [],
  )
  assert.ok(reached.length > 50)
})
