/** What a value may be: lengths at their limits, white space, Unicode, numbers, money of three currencies. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import content from '#content/duet.config.ts'
import { modelOf } from '#content.ts'
import { anyCharacter } from '#test/support/characters.ts'
import { refusesInput } from '../rest.ts'
import { createWorld, forAllTests } from '../world.ts'
import { makers } from './makers.ts'

const world = forAllTests(createWorld)

const make = (entity: string, given: Record<string, unknown>, own = world) => {
  const { path = '', usual = () => ({}) } = makers[entity] ?? {}
  return own.ask(`POST ${path}`, { as: 1, body: { ...usual(), ...given } })
}
/** The value is taken and kept as it is, or as `kept`. */
const keeps = async (entity: string, member: string, value: unknown, kept = value, own = world) => {
  const answer = await make(entity, { [member]: value }, own)
  assert.equal(
    answer.status,
    201,
    `${JSON.stringify(value).slice(0, 80)} ${answer.text.slice(0, 300)}`,
  )
  assert.deepEqual(answer.json[member], kept)
  const read = await own.ask(`GET ${answer.headers.get('location')}`, { as: 1 })
  assert.equal(read.text, answer.text)
}
const faults = async (entity: string, member: string, value: unknown, own = world) =>
  refusesInput(await make(entity, { [member]: value }, own), [member])

/** Texts with their limits in code points, and whether they lose outer white space. */
const texts = [
  ['user', 'name', 200, true],
  ['post', 'title', 200, true],
  ['post', 'content', 100_000, false],
  ['comment', 'text', 10_000, false],
  ['product', 'name', 200, true],
  ['product', 'category', 100, true],
] as const

for (const [entity, member, most, trimmed] of texts) {
  test(`the ${member} of a ${entity} has 1 to ${most} code points, emoji and accents counted alike [G11]`, async () => {
    for (const letter of ['a', 'é', '張', '😀', '𝒳', '\u0301', '"', '\\', '\u0001']) {
      await keeps(entity, member, letter.repeat(most))
      await faults(entity, member, letter.repeat(most + 1))
    }
    await keeps(entity, member, 'a')
    await faults(entity, member, '')
  })
  test(`the ${member} of a ${entity} ${trimmed ? 'loses' : 'keeps'} outer white space`, async () => {
    const space = ' \t\r\n\u00a0\u2003\u3000'
    const padded = `${space}a b${space}`
    await keeps(entity, member, padded, trimmed ? 'a b' : padded)
    if (trimmed) {
      await faults(entity, member, space)
      await keeps(entity, member, `${space}${'a'.repeat(most)}${space}`, 'a'.repeat(most))
    } else await keeps(entity, member, space)
  })
  test(`the ${member} of a ${entity} has no NUL and no lone surrogate [G11]`, async () => {
    for (const text of ['\0', 'a\0b', '\ud800', 'a\udc00', '\udc00\ud800', '😀'.slice(0, 1)])
      await faults(entity, member, text)
  })
  test(`the ${member} of a ${entity} is a string`, async () => {
    for (const value of [null, 1, 0, true, false, [], ['a'], {}, { toString: 'a' }, 1e308])
      await faults(entity, member, value)
  })
}

test('any text comes back as it was sent, to the code unit [G11]', async () => {
  const text = fc
    .string({ unit: anyCharacter, minLength: 1, maxLength: 60 })
    .filter(value => !value.includes('\0'))
  await fc.assert(
    fc.asyncProperty(text, value => keeps('comment', 'text', value)),
    { numRuns: 150 },
  )
})

test('an email is of valid form, at most 254 characters, stored as written but for outer white space', async () => {
  const local = (length: number) => `${'a'.repeat(length - '@example.org'.length)}@example.org`
  for (const email of [
    'a@b.co',
    'First.Last+tag@sub.Example.COM',
    "o'hara@example.org",
    'x_y-z@a-b.example',
    local(254),
  ])
    await keeps('user', 'email', email)
  await keeps('user', 'email', ' \tPadded@example.org\n', 'Padded@example.org')
  // src/model/values.test.ts has all the forms.
  for (const email of ['', ' ', 'a@b', 'a b@c.de', 'a@b.co\nBcc: x@y.zz', 'a@b.co\0', local(255)])
    await faults('user', 'email', email)
  for (const email of [null, 1, true, ['a@b.co'], {}]) await faults('user', 'email', email)
})

test('an age is a whole number from 0 to 150, or null', async () => {
  for (const age of [0, 1, 150, null, 28.0]) await keeps('user', 'age', age)
  for (const age of [-1, 151, 1.5, '28', '', true, [], {}, 2 ** 53, 1e308, -0.5])
    await faults('user', 'age', age)
})

test('a stock is a whole number from 0 to 2^31 - 1', async () => {
  for (const stock of [0, 1, 2_147_483_647]) await keeps('product', 'stock', stock)
  for (const stock of [-1, 2_147_483_648, 1.5, '1', null, true, 2 ** 53, 1e308])
    await faults('product', 'stock', stock)
})

test('an image is an absolute http or https URL of at most 2,048 characters without credentials, or null [F7, G19]', async () => {
  const long = (length: number) =>
    `https://a.example/${'x'.repeat(length - 'https://a.example/'.length)}`
  for (const image of [
    null,
    'https://a.example',
    'http://a.example:8080/x?y=1&z=2#f',
    'HTTPS://A.example/%20',
    'https://münchen.example/ä',
    'https://[::1]/x',
    'http://127.0.0.1/a@b',
    long(2048),
  ])
    await keeps('product', 'image', image)
  const bad = [
    '',
    ' ',
    'x',
    '/x.png',
    '//evil.example/x',
    'https:',
    'https://',
    'https:///evil.example',
    'https:/evil.example',
    'https:evil.example',
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'data:image/svg+xml,<svg/>',
    'ftp://a.example/x',
    'file:///etc/passwd',
    'blob:https://a.example/x',
    'https://user:pass@a.example/',
    'https://user@a.example/',
    'https://@a.example/',
    'https://:@a.example/',
    ' https://a.example',
    'https://a.example ',
    'https://a.example/a b',
    'https://a.example/\nx',
    'https://a.example\\@evil.example',
    'https://a b.example',
    'https://a.example:99999/',
    'https://%zz/',
    'java\nscript:alert(1)',
    'https://a.example/\0',
    'https://a.example/\u0001',
    long(2049),
  ]
  for (const image of bad) await faults('product', 'image', image)
  for (const image of [1, true, [], {}]) await faults('product', 'image', image)
})

test('a price is a number from 0 to 999,999,999.99, stored to the cent', async () => {
  for (const price of [
    0, 0.01, 0.1, 0.29, 1.1, 1.15, 19.9, 19.99, 70.07, 4.35, 1005.01, 999_999_999.99, 1e3,
  ])
    await keeps('product', 'price', price)
  for (const price of [
    -0.01,
    -1,
    0.001,
    19.999,
    0.1 + 0.2,
    1_000_000_000,
    999_999_999.991,
    1e308,
    1e-9,
    '1',
    '19.99',
    null,
    true,
    [],
    {},
  ])
    await faults('product', 'price', price)
})

test('every price of whole cents is stored exactly', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 99_999_999_999 }), async cents => {
      await keeps(
        'product',
        'price',
        Number(`${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`),
      )
    }),
    { numRuns: 100 },
  )
})

test('a price has the decimals of the currency: none in yen, three in Kuwaiti dinar', async () => {
  for (const [code, digits, taken, refused] of [
    ['JPY', 0, [0, 1, 980, 999_999_999, 1.0], [0.5, 980.1, 999_999_999.99, 1_000_000_000]],
    [
      'KWD',
      3,
      [0.001, 1.25, 1.234, 999_999_999.99, 999_999_999.989],
      [0.0001, 1.2345, 999_999_999.991],
    ],
  ] as const) {
    await using own = await createWorld({
      model: modelOf(content, { switches: { signup: true }, currency: { code, digits } }),
      rows: {},
    })
    for (const price of taken) await keeps('product', 'price', price, price, own)
    for (const price of refused) await faults('product', 'price', price, own)
  }
})

test('role and status are words of their lists', async () => {
  for (const role of ['user', 'admin']) await keeps('user', 'role', role)
  for (const status of ['active', 'suspended']) await keeps('user', 'status', status)
  for (const value of ['', 'Admin', 'root', 'admin ', null, 1, ['admin']]) {
    await faults('user', 'role', value)
    await faults('user', 'status', value)
  }
})
