/** What an input becomes: the values that are stored, or its faults. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '#errors.ts'
import { entity } from '#model/entity.ts'
import { email, id, int, internal, money, text } from '#model/field.ts'
import { anonymous } from '#model/policy.ts'
import { resourceIn } from '#model/resource.ts'
import type { Version } from '#model/version.ts'
import { ada, check, dollars, inputContext, model, thing } from '../../test/support/inputs.ts'
import { checkInput, type InputContext, initialValue, inputValues, type Mode } from './input.ts'

test('a creation gets what it gives, and the initial values of the rest', () => {
  assert.deepEqual(check({ name: ' Éa ', price: 19.99 }), {
    faults: {},
    values: {
      name: 'Éa',
      mail: null,
      size: null,
      price: 1999,
      state: 'new',
      done: 0,
      link: null,
      ownerId: 2,
      createdAt: 1000,
      nameKey: 'éa',
      revision: 1,
    },
  })
})

test('an update gets what it gives and nothing else, a folded copy included', () => {
  assert.deepEqual(check({ name: 'AB' }, 'update'), {
    faults: {},
    values: { name: 'AB', nameKey: 'ab' },
  })
  assert.deepEqual(check({}, 'update'), { faults: {}, values: {} })
})

test('a replacement empties what it does not give and leaves what its caller may not set', () => {
  assert.deepEqual(check({ name: 'AB' }, 'replace', { viewer: ada }), {
    faults: {},
    values: { name: 'AB', mail: null, size: null, price: 0, link: null, nameKey: 'ab' },
  })
})

test('an import may give ids up to 2^52, so that there are some for later rows, and refer to any', () => {
  const imported = (more: object) =>
    check({ name: 'A', ownerId: 9, ...more }, 'import', { viewer: anonymous })
  assert.equal(imported({ id: 2 ** 52 }).values.id, 2 ** 52)
  for (const id of [2 ** 52 + 1, Number.MAX_SAFE_INTEGER])
    assert.deepEqual(imported({ id }).faults, {
      id: 'must be at most 4503599627370496, so that ids are left for later rows; take a lower one, or leave it out',
    })
  const ownerId = Number.MAX_SAFE_INTEGER
  assert.equal(imported({ ownerId }).values.ownerId, ownerId)
})

test('all faults of an input are told at once, each by its member', () => {
  const { faults } = check({
    name: '',
    size: 1.5,
    price: -1,
    link: 'ftp://x',
    nonsense: 1,
    done: true,
  })
  assert.deepEqual(Object.keys(faults).sort(), [
    'done',
    'link',
    'name',
    'nonsense',
    'price',
    'size',
  ])
})

test('the error of an input names its faults and lists them', () => {
  assert.throws(
    () => inputValues(thing, { size: 'x' }, inputContext('create')),
    (error: unknown) =>
      error instanceof ApiError &&
      error.code === 'VALIDATION_ERROR' &&
      error.message === 'size must be a whole number from 0 to 9; name is required' &&
      error.details?.length === 2,
  )
})

type Refusal = readonly [input: object, field: string, message: string, use?: Partial<InputContext>]

/** What is refused in an update, unless it says otherwise. */
const refusals: Readonly<Record<string, Refusal>> = {
  'an unknown member': [{ x: 1 }, 'x', 'is not a member of a thing'],
  'a misspelling': [{ nam: 1 }, 'nam', 'is not a member of a thing, but name is'],
  'a folded copy': [{ nameKey: 'a' }, 'nameKey', 'is not a member of a thing'],
  'the revision': [{ revision: 2 }, 'revision', 'is not a member of a thing'],
  'an inherited name': [{ toString: 1 }, 'toString', 'is not a member of a thing'],
  'the id': [
    { id: 1, name: 'A' },
    'id',
    'is set by the service and may not be given',
    { mode: 'create' },
  ],
  'an admin’s member from a user': [{ state: 'old' }, 'state', 'may be given by an admin only'],
  'a reference in a change': [{ ownerId: 3 }, 'ownerId', 'cannot be changed'],
  'what the path gives': [
    { name: 'A', ownerId: 3 },
    'ownerId',
    'is given by the path and may not be given here',
    { mode: 'create', given: { ownerId: 2 } },
  ],
  'null where there is none': [{ name: null }, 'name', 'must not be null'],
  'a number for a text': [{ name: 5 }, 'name', 'must be a string'],
  'only white space': [{ name: ' \t\n' }, 'name', 'must be 1 to 5 characters'],
  'six characters of five': [{ name: 'abcdef' }, 'name', 'must be 1 to 5 characters'],
  'NUL in a text': [{ name: 'a\0' }, 'name', 'must not contain NUL or lone surrogates'],
  'a lone surrogate': [{ name: '\ud800' }, 'name', 'must not contain NUL or lone surrogates'],
  'half an address': [{ mail: 'a@' }, 'mail', 'must be an email address'],
  'a word that is none of the choice': [
    { state: 'odd' },
    'state',
    'must be one of new, old',
    { viewer: ada },
  ],
  'more decimals than the currency has': [
    { price: 1.999 },
    'price',
    'must have at most 2 decimals, as USD has',
  ],
  'a price below zero': [{ price: -0.01 }, 'price', 'must be a number from 0 to 100'],
  'a price as text': [{ price: '1' }, 'price', 'must be a number from 0 to 100'],
  'a whole number as text': [{ size: '1' }, 'size', 'must be a whole number from 0 to 9'],
  'a number above the largest': [{ size: 10 }, 'size', 'must be a whole number from 0 to 9'],
}
for (const [what, [input, field, message, { mode = 'update', ...more } = {}]] of Object.entries(
  refusals,
))
  test(`${what} is refused: ${field} ${message}`, () => {
    assert.deepEqual(check(input, mode, more).faults, { [field]: message })
  })

test('five code points are five characters, however many units they have', () => {
  assert.deepEqual(check({ name: '😀😀😀😀😀' }, 'update').faults, {})
  assert.deepEqual(Object.keys(check({ name: '😀😀😀😀😀😀' }, 'update').faults), ['name'])
})

test('every amount of the currency is kept to the last minor unit', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10_000 }), minor => {
      const price = Number(`${Math.floor(minor / 100)}.${String(minor % 100).padStart(2, '0')}`)
      assert.deepEqual(check({ price }, 'update'), { faults: {}, values: { price: minor } })
    }),
  )
})

test('a currency without decimals takes whole amounts only', () => {
  const currency = { code: 'JPY', digits: 0 }
  const yen = { model: { ...model, settings: { ...dollars, currency } } }
  assert.deepEqual(check({ price: 50 }, 'update', yen).values, { price: 50 })
  assert.deepEqual(check({ price: 0.5 }, 'update', yen).faults, {
    price: 'must have at most 0 decimals, as JPY has',
  })
})

test('whatever an input holds, it is either stored by the fields’ names or told by its own [F3]', () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.oneof(fc.constantFrom(...Object.keys(thing.fields)), fc.string()),
        fc.jsonValue(),
      ),
      fc.constantFrom<Mode>('create', 'replace', 'update', 'import'),
      (input, mode) => {
        const { values, faults } = check(input, mode)
        for (const key of Object.keys(values)) assert.ok(Object.hasOwn(thing.fields, key), key)
        for (const member of Object.keys(input))
          assert.ok(Object.hasOwn(faults, member) || member in values, member)
      },
    ),
    { numRuns: 1000 },
  )
})

test('a field goes back to its initial value, or to null where it has none', () => {
  assert.equal(initialValue(thing, 'state'), 'new')
  assert.equal(initialValue(thing, 'name'), null)
  assert.equal(initialValue(thing, 'createdAt'), null)
})

/** An import of a price in cents: what is stored, or the member at fault. */
const importedPrice = (price: number, more: Partial<InputContext> = {}) => {
  const priced = entity({
    plural: 'priced',
    fields: { price: money({ max: 100_000_000 }) },
    policy: {},
    rest: { list: false, one: false, listing: { paging: 'cursor', limit: 20 } },
  })
  const use = { mode: 'import', viewer: anonymous, model, now: 0, what: 'priced', ...more } as const
  const { values, faults } = checkInput(priced, { price }, use)
  return faults[0]?.field ?? values.get('price')
}

test('an import takes a price as a single-precision program wrote it, and no other fraction of a cent', () => {
  const single = Math.fround(1234.56)
  for (const [price, stored] of [
    [21.3500004, 2135],
    [123.790001, 12_379],
    [9.64999962, 965],
    [Math.fround(21.35), 2135],
    [Number(single.toPrecision(8)), 123_456],
    [Number(single.toFixed(6)), 123_456],
    [single, 123_456],
  ] as const)
    assert.equal(importedPrice(price), stored, String(price))
  for (const price of [21.351, 21.350001, 21.3500005, 0.001, 1e-7, 40_000.123, 1e-7 + 40_000])
    assert.equal(importedPrice(price), 'price', String(price))
  assert.equal(importedPrice(21.3500004, { mode: 'create' }), 'price')
})

test('an import refuses more decimals where single precision has one number for several amounts', () => {
  for (const price of [200_000.123, 200_000.125, 1_000_000.001])
    assert.equal(importedPrice(price), 'price', String(price))
  assert.equal(importedPrice(200_000.12), 20_000_012)
})

test('an import takes every price up to 10,000 in all forms in which a single-precision program writes it', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 1_000_000 }),
      fc.integer({ min: 7, max: 17 }),
      (cents, digits) => {
        const single = Math.fround(cents / 100)
        assert.equal(importedPrice(Number(single.toPrecision(digits))), cents)
      },
    ),
  )
})

test('an import that gives a field by two of its names is at fault', () => {
  const at = '2026-01-31T09:30:00.000Z'
  assert.deepEqual(
    check({ name: 'A', ownerId: 1, createdAt: at, created_at: at }, 'import').faults,
    {
      created_at: 'is the same as createdAt, which is given too',
    },
  )
})

test('an import must give a reference that would be to its viewer, and that may not be null', () => {
  assert.deepEqual(check({ name: 'A' }, 'import', { viewer: anonymous }).faults, {
    ownerId: 'is required',
  })
})

test('an import may give ids, times and what else the service sets, but nothing internal', () => {
  const row = {
    id: 5,
    name: 'A',
    done: true,
    state: 'old',
    ownerId: 9,
    created_at: '2026-01-31T09:30:00.000Z',
  }
  const { values, faults } = check(row, 'import', { viewer: anonymous })
  assert.deepEqual(faults, {})
  assert.equal(values.id, 5)
  assert.equal(values.done, 1)
  assert.equal(values.createdAt, Date.UTC(2026, 0, 31, 9, 30))
  assert.deepEqual(check({ name: 'A', ownerId: 1, revision: 3, nameKey: 'x' }, 'import').faults, {
    revision: 'is not a member of a thing',
    nameKey: 'is not a member of a thing',
  })
})

const versioned = entity({
  plural: 'things',
  description: 'A thing.',
  fields: {
    id: id(),
    name: text({ max: 9, nullable: true, since: 2 }),
    size: int({ min: 0, max: 9, nullable: true, last: 1, sunset: '2099-01-01' }),
    email: email({ nullable: true }),
    emailX: text({ max: 9, nullable: true, ...internal }),
  },
  relations: {},
  policy: {},
  links: {},
  rest: { list: false, one: false, listing: { paging: 'page', limit: 1 } },
})

const told = (member: string, version?: Version) => {
  const resource = version && resourceIn('thing', versioned, version)
  const { faults } = checkInput(
    versioned,
    { [member]: 'x' },
    inputContext('update', resource ? { resource } : {}),
  )
  return faults[0]?.message
}

test('a misspelt member is told with the one of the version that is meant', () => {
  assert.equal(told('nam'), 'is not a member of a thing, but name is')
  assert.equal(told('nam', 2), 'is not a member of a thing, but name is')
  assert.equal(told('siez', 1), 'is not a member of a thing, but size is')
})

test('a member of another version only is not told', () => {
  for (const member of ['nam', 'name']) assert.equal(told(member, 1), 'is not a member of a thing')
  for (const member of ['siez', 'size']) assert.equal(told(member, 2), 'is not a member of a thing')
})

test('a hidden field is told as one that is not there', () => {
  const expected = 'is not a member of a thing, but email is'
  assert.deepEqual([told('emailX'), told('emailY')], [expected, expected])
})
