/** What a content declares is known or refused: each key and each word of the contents is misspelt in turn. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isObject } from '#base/object.ts'
import { faultIn, madeWith, optionsOf, type Shape } from '#base/shape.ts'
import service from '#content/duet.config.ts'
import { type Content, defineContent, seedShape, servedShape } from '#content.ts'
import { defineErrors } from '#errors.ts'
import { entity, many } from '#model/entity.ts'
import { choice, id, int, text } from '#model/field.ts'
import { anyone } from '#model/policy.ts'
import { kitchen } from '#test/support/kitchen/index.ts'
import { library } from '#test/support/library/index.ts'

/** A declaration with one slip: where it is, what stands there, and what was meant. */
type Slip = {
  readonly place: string
  readonly wrong: string
  readonly right: string
  readonly changed: unknown
}

/** The same word with a slip of the fingers, in each of a few ways. */
const slips = (word: string): readonly string[] => {
  const at = Math.floor(word.length / 2)
  const [before, here = '', next = '', after] = [
    word.slice(0, at),
    word[at],
    word[at + 1],
    word.slice(at + 2),
  ]
  const swapped = `${before}${next}${here}${after}`
  return [
    `${word}${word.at(-1)}`,
    word === word.toLowerCase() ? word.toUpperCase() : word.toLowerCase(),
    // In a short word, two letters are too much to tell what was meant.
    ...(word.length > 4 && swapped !== word ? [swapped] : []),
  ].filter(slip => slip !== word)
}

/** The keys below which anything may be. */
const open = new Set<string>()

/** The declaration with each of its keys and words misspelt in turn. */
const misspelt = function* (shape: Shape, value: unknown, place = ''): Generator<Slip> {
  if (shape === 'anything') {
    // Rows and entities have names of their own; an entity is misspelt by itself.
    open.add(/entities|(?<=examples\.)\w+|[^.]*$/.exec(place)?.[0] ?? '')
    return
  }
  const made = isObject(value) ? optionsOf(value) : undefined
  if (made) {
    for (const slip of misspelt(made.shape, made.options, place))
      yield { ...slip, changed: madeWith({ ...(value as object) }, made.shape, slip.changed) }
    return
  }
  if (typeof shape === 'string') return
  if ('by' in shape) return yield* misspelt(shape.by(value), value, place)
  if ('either' in shape) {
    const taken = shape.either.find(one => faultIn(one, value, place) === undefined)
    return void (taken && (yield* misspelt(taken, value, place)))
  }
  if ('words' in shape) {
    for (const wrong of slips(String(value)))
      yield { place, wrong, right: String(value), changed: wrong }
    return
  }
  for (const [key, part] of Object.entries(value as object)) {
    const of: Shape | { readonly needed: Shape } | undefined =
      'keys' in shape ? shape.keys[key] : 'each' in shape ? shape.each : shape.named
    assert.ok(of, `${place}.${key} is known`)
    if ('keys' in shape)
      for (const wrong of slips(key)) {
        const changed = Object.entries(value as object).map(([name, of]) => [
          name === key ? wrong : name,
          of,
        ])
        yield { place, wrong, right: key, changed: Object.fromEntries(changed) }
      }
    if (part === undefined) continue
    const inner = typeof of === 'object' && 'needed' in of ? of.needed : of
    for (const slip of misspelt(inner, part, `${place}.${key}`))
      yield {
        ...slip,
        changed: Array.isArray(value)
          ? value.with(Number(key), slip.changed)
          : { ...(value as object), [key]: slip.changed },
      }
  }
}

/** The sentence that refuses it; fails if it is accepted or ends in another error. */
const refusal = async (declare: () => unknown): Promise<string> => {
  try {
    await declare()
  } catch (error) {
    assert.equal((error as Error).constructor, Error, `is told in a sentence: ${error}`)
    return (error as Error).message
  }
  return 'nothing'
}

const areRefused = async (
  declared: { readonly shape: Shape; readonly options: unknown } | undefined,
  declare: (changed: never) => unknown,
): Promise<number> => {
  assert.ok(declared)
  let count = 0
  for (const { place, wrong, right, changed } of misspelt(declared.shape, declared.options)) {
    count++
    const sentence = await refusal(() => declare(changed as never))
    assert.ok(
      sentence.includes(wrong) && sentence.endsWith(`did you mean ${right}?`),
      `${wrong} for ${right} at ${place}: ${sentence}`,
    )
    assert.doesNotMatch(sentence, /\n/)
  }
  return count
}

const contents: readonly (readonly [string, Content])[] = [
  ['the service', service],
  ['the library', library],
]

for (const [name, content] of contents) {
  test(`each key and word of the entities of ${name}, misspelt, is refused with the right one`, async () => {
    let count = 0
    for (const one of Object.values(content.entities))
      count += await areRefused(optionsOf(one), entity)
    assert.ok(count > 500, `${count} are tried`)
  })

  test(`each key and word of the parts of ${name}, misspelt, is refused with the right one`, async () => {
    assert.ok((await areRefused(optionsOf(content), defineContent)) > 100)
  })
}

for (const [name, content] of contents) {
  const { options } = optionsOf(content) as { options: Parameters<typeof defineContent>[0] }

  test(`each key and word of what ${name} serves and makes up, misspelt, is refused with the right one`, async () => {
    await areRefused({ shape: servedShape, options: await options.served?.() }, served =>
      defineContent({ ...options, served: async () => served }).served(),
    )
    await areRefused({ shape: seedShape, options: await options.seed?.() }, seed =>
      defineContent({ ...options, seed: async () => seed }).seed?.(),
    )
  })
}

test('only values, rows, conditions, errors, schemas and files may be anything', () => {
  assert.deepEqual([...open].sort(), [
    'entities',
    'example',
    'file',
    'hiddenWhen',
    'inputs',
    'migrations',
    'otherwise',
    'rows',
    'schema',
    'value',
    'when',
  ])
})

const note = {
  table: 'notes',
  plural: 'notes',
  description: '',
  fields: { id: id(), title: text({ max: 9 }) },
  policy: { read: anyone },
  rest: { list: true, one: true, listing: { paging: 'page', limit: 10 } },
} as const
const { listing } = note.rest
test('each key and word of viewers that an identity provider names, misspelt, is refused with the right one', async () => {
  const count = await areRefused(optionsOf(kitchen), defineContent)
  assert.ok(count > 50, `${count} are tried`)
})

const { options: parts } = optionsOf(library) as { options: Parameters<typeof defineContent>[0] }

/** Whatever JavaScript lets somebody write. */
const loose = (declare: (given: never) => unknown, given: unknown) => () => declare(given as never)
const withField = (field: unknown) => loose(entity, { ...note, fields: { ...note.fields, field } })

/** The sentence, or how it begins where it ends in a space, and what is told it. */
const faults: Readonly<Record<string, () => unknown>> = {
  'the model is wrong: notes.rest.listing.paging is "infinite", which is no word for it: name one of page, page or offset, cursor':
    loose(entity, { ...note, rest: { ...note.rest, listing: { ...listing, paging: 'infinite' } } }),
  'the model is wrong: notes has visible, which is no option of it: name one of table, view, own, plural, description, fields, relations, policy, links, linksBy, rest, graphql, counted, filterable, indexes, search, sets, appendOnly, bulk, admin, before, after':
    loose(entity, { ...note, visible: true }),
  'the model is wrong: an entity (id, text, …) has polcy, which is no option of it: did you mean policy?':
    loose(entity, { fields: { id: id(), text: text({ max: 9 }) }, polcy: {} }),
  'the model is wrong: notes has no fields: give it one': loose(entity, {
    ...note,
    fields: undefined,
  }),
  'the model is wrong: notes.fields.field has readableby, which is no option of it: did you mean readableBy?':
    withField(text({ max: 9, readableby: anyone } as never)),
  'the model is wrong: notes.relations.parts has parts, which is called nestedWrites now': loose(
    entity,
    {
      ...note,
      relations: { parts: many('part', 'noteId', { parts: true } as never) },
    },
  ),
  'the model is wrong: notes.fields.field.until.1.form has words, which is called values now':
    withField(choice(['a'], { until: { 1: { form: { words: { a: 'b' } } as never } } })),
  'the content.viewers has barred, which is called blocked now': loose(defineContent, {
    ...parts,
    viewers: { ...parts.viewers, barred: { field: 'a', value: 'b' } },
  }),
  'the model is wrong: notes.fields.field has values, which is no option of it: name one of ':
    withField(text({ max: 9, values: ['a'] } as never)),
  'the model is wrong: notes.fields.field has nullabel, which is no option of it: did you mean nullable?':
    withField({ ...int({ min: 1, max: 2 }), nullabel: true }),
  'the model is wrong: notes.fields.field.touched is "yes": it must be true or false': withField({
    ...int({ min: 1, max: 2 }),
    touched: 'yes',
  }),
  'the model is wrong: notes.fields.field has no max: give it one': withField(text({} as never)),
  'the model is wrong: notes.fields.field is "text": it must be an object': withField('text'),
  "choice() takes a list of words first, such as choice(['open', 'closed'])": loose(choice, 'open'),
  'the model is wrong: an entity is null: it must be an object': loose(entity, null),
  'The error code LATE has statuss, which is no option of it: did you mean status?': loose(
    defineErrors,
    { LATE: { statuss: 409, title: 'Late' } },
  ),
  'creationRates of the content has members, which is no option of it: did you mean member?': () =>
    defineContent({ ...parts, creationRates: () => ({ members: 1 }) }).creationRates({}),
  'the demo of the content has bok, which is no option of it: did you mean book?': () =>
    defineContent({ ...parts, demo: async () => ({ bok: [] }) }).demo?.(),
  'described.errors of POST /loans/:id/return.0 is "ALREADY_BAKC", which is no word for it: did you mean ALREADY_BACK?':
    () => {
      const [action] = parts.actions ?? []
      assert.ok(action)
      const described = { ...action.described, errors: ['ALREADY_BAKC'] }
      return defineContent({ ...parts, actions: [{ ...action, described }] })
    },
  'The versions of the content must be made by defineVersions({ 1: {} })': loose(defineContent, {
    ...parts,
    versions: { 1: {} },
  }),
  'the content is null: it must be an object': loose(defineContent, null),
}
for (const [sentence, declare] of Object.entries(faults))
  test(`a declaration is told: ${sentence}`, async () => {
    const told = await refusal(declare)
    assert.equal(sentence.endsWith(' ') ? told.slice(0, sentence.length) : told, sentence)
  })
