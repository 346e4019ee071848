import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { currencyOf, parseMinor } from '#model/money.ts'

/** The same, the slow and plain way: a fraction of two BigInts. */
const exactly = (
  sign: string,
  whole: string,
  fraction: string,
  exponent: number,
  digits: number,
) => {
  const numerator = BigInt(whole + fraction) * 10n ** BigInt(Math.max(exponent + digits, 0))
  const denominator =
    10n ** BigInt(fraction.length) * 10n ** BigInt(Math.max(-(exponent + digits), 0))
  const minor = numerator / denominator
  return { minor: sign === '-' ? -minor : minor, rest: numerator % denominator !== 0n }
}

test('a decimal number of any length and exponent is exact to its last minor unit [C13]', () => {
  const digitsOf = (min: number) =>
    fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: min, maxLength: 30 })
  fc.assert(
    fc.property(
      fc.constantFrom('', '-'),
      digitsOf(1),
      digitsOf(0),
      fc.integer({ min: -99, max: 99 }),
      fc.constantFrom(0, 2, 3, 4),
      (sign, whole, fraction, exponent, digits) => {
        const text = `${sign}${whole}${fraction && `.${fraction}`}${exponent === 0 ? '' : `e${exponent}`}`
        assert.deepEqual(
          parseMinor(text, digits),
          exactly(sign, whole, fraction, exponent, digits),
          text,
        )
      },
    ),
    { numRuns: 3000 },
  )
})

test('every amount comes back from the number that JSON reads it as', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 99_999_999_999 }), minor => {
      const number = Number(`${Math.floor(minor / 100)}.${String(minor % 100).padStart(2, '0')}`)
      assert.deepEqual(parseMinor(String(number), 2), { minor: BigInt(minor), rest: false })
    }),
    { numRuns: 2000 },
  )
})

const rests: readonly (readonly [string, number, bigint, boolean])[] = [
  ['19.99', 2, 1999n, false],
  ['19.990', 2, 1999n, false],
  ['19.999', 2, 1999n, true],
  ['-0.01', 2, -1n, false],
  ['1e-7', 2, 0n, true],
  ['1e3', 0, 1000n, false],
  ['0.1', 0, 0n, true],
  ['1.234', 3, 1234n, false],
  ['1E2', 2, 10_000n, false],
]
for (const [text, digits, minor, rest] of rests)
  test(`${text} with ${digits} decimals is ${minor}${rest ? ' and a rest' : ''}`, () => {
    assert.deepEqual(parseMinor(text, digits), { minor, rest })
  })

test('what is no decimal number is not read as one', () => {
  for (const text of [
    '',
    ' 1',
    '1 ',
    '.5',
    '5.',
    '+1',
    '1,5',
    '0x10',
    'NaN',
    'Infinity',
    '1e',
    '1e1000',
    '--1',
  ])
    assert.equal(parseMinor(text, 2), undefined, text)
})

test('a currency has its own number of decimals', () => {
  assert.deepEqual(currencyOf('USD'), { code: 'USD', digits: 2 })
  assert.deepEqual(currencyOf('JPY'), { code: 'JPY', digits: 0 })
  assert.deepEqual(currencyOf('KWD'), { code: 'KWD', digits: 3 })
  // People use it without decimals, and so does Intl.
  assert.deepEqual(currencyOf('HUF'), { code: 'HUF', digits: 2 })
  assert.equal(currencyOf('XYZ'), undefined)
  assert.equal(currencyOf('usd'), undefined)
})

test('every currency with other than two decimals is one that there is', () => {
  const all = Intl.supportedValuesOf('currency').map(code => currencyOf(code)?.digits)
  const counted = [0, 2, 3].map(digits => all.filter(one => one === digits).length)
  assert.deepEqual(counted, [16, all.length - 16 - 7, 7])
})
