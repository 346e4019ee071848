/** Values on their way out and in again: what a version writes of a stored value is read as that value. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { taken } from '#kit/check/values.ts'
import { entity } from '#model/entity.ts'
import { choice, type Field, id, int, money } from '#model/field.ts'
import type { Model } from '#model/model.ts'
import { currencyOf } from '#model/money.ts'
import { resourceIn } from '#model/resource.ts'
import { isIn } from '#model/version.ts'
import { encoders, inForm } from '#read/stitch.ts'
import type { SqlValue } from '#sql/sql.ts'
import { checkInput } from '#write/input.ts'
import { subjects } from '../generic/contents.ts'
import { anyCharacter } from '../support/characters.ts'
import { versions } from '../support/library/versions.ts'
import { modelAsUsual } from '../world.ts'

/** Every form that an input may have, with words that objects inherit and words that trade places. */
const sample = entity({
  fields: {
    id: id(),
    price: money({ max: 999_999_999.99, until: { 1: { form: 'as text' } } }),
    count: int({ min: -(2 ** 53) + 1, max: 2 ** 53 - 1, until: { 1: { form: 'as text' } } }),
    weight: money({ max: 99, from: { 2: { name: 'grams', form: 'as text' } } }),
    size: choice(['s', 'm', 'toString'], {
      from: { 2: { form: { values: { s: 'small', toString: 'm', m: 'toString' } } } },
    }),
    word: choice(['constructor', 'left', 'right', 'toString'], {
      until: { 1: { name: 'was', form: { values: { left: 'right', right: 'left' } } } },
    }),
  },
  policy: {},
  rest: { list: false, one: false, listing: { paging: 'page', limit: 1 } },
})

const texts = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 40 }),
  fc.emailAddress(),
  // Its own web addresses list a million characters first.
  fc.domain().map(host => `https://${host}/a?b=c`),
  fc.stringMatching(/^\d{10,17}$/),
)

/** The stored values that a field may have. */
const storedOf = (
  { scalar, values, rule, range }: Field,
  digits: number,
): fc.Arbitrary<SqlValue> => {
  const { min = 1, max = Number.MAX_SAFE_INTEGER } = range ?? {}
  const minor = Math.floor(max) * 10 ** digits
  switch (scalar) {
    case 'text':
      if (values) return fc.constantFrom(...values)
      return texts
        .map(text => taken(rule, text))
        .filter(text => text !== undefined)
        .map(String)
    case 'money':
      return fc.integer({ min: 0, max: minor })
    case 'time':
      return fc.integer({ min: Date.UTC(1000), max: Date.UTC(9999) })
    case 'flag':
      return fc.constantFrom(0, 1)
    default:
      return fc.integer({ min, max })
  }
}

const models: readonly (readonly [string, Model])[] = [
  ...subjects.map(({ name, content }) => [name, modelAsUsual(content)] as const),
  ['all forms', { ...modelAsUsual(subjects[0]?.content as never), entities: { sample } }],
]

for (const [name, model] of models)
  for (const code of ['USD', 'JPY', 'KWD'])
    test(`each value of ${name} in ${code} is read as it was written, in every version`, () => {
      const currency = currencyOf(code) ?? assert.fail(`${code} is a currency`)
      const use = {
        mode: 'create' as const,
        viewer: {
          id: 1,
          role: model.viewers.roles.superuser,
          ...(model.viewers.by !== undefined && { subject: 'somebody' }),
        },
        model: { ...model, settings: { ...model.settings, currency } },
        now: 0,
      }
      const encoderOf = encoders('rest', currency.digits)
      for (const [what, entity] of Object.entries(model.entities))
        for (const version of versions.all) {
          const resource = resourceIn(what, entity, version)
          for (const [key, field] of Object.entries(entity.fields)) {
            const isGiven = field.rest && field.settableBy.kind !== 'nobody' && isIn(field, version)
            // An input names an upload, and an answer tells of the file.
            if (!isGiven || field.file) continue
            const form = resource.formOf(key)
            const encode = encoderOf(field)
            const write = form ? inForm(encode, form) : encode
            const member = resource.nameOf(key)
            fc.assert(
              fc.property(storedOf(field, currency.digits), stored => {
                const input = { [member]: JSON.parse(write(stored)) }
                const { values } = checkInput(entity, input, { ...use, what, resource })
                assert.equal(values.get(key), stored, `${what}.${key} in version ${version}`)
              }),
              { numRuns: 40 },
            )
          }
        }
    })
