/** The versions of the REST API, which parts of the model each has, and how each names and writes values. */
import { own } from '#base/object.ts'
import { keys, must, type Shape, words } from '#base/shape.ts'

/** The versions there are, oldest first. */
export const versions = [1, 2] as const

export type Version = (typeof versions)[number]

/** The version for new programs. */
export const newest: Version = versions.at(-1) ?? versions[0]

/** A reason, such as `Use fullName.`, and the day of its announcement if it is known. */
type Deprecation = string | { readonly reason: string; readonly on: string }

/** The versions that have a part of the model, all unless it says otherwise. Days are written `2027-08-01`. */
export type Lifetime = {
  /** The first version that has it. */
  readonly since?: Version
  /** The last version that has it. */
  readonly last?: Version
  /** The day on which the last version stops having it. */
  readonly sunset?: string
  readonly deprecated?: Deprecation
}

export const lifetimeShape = keys<Lifetime>({
  since: 'number',
  last: 'number',
  sunset: 'text',
  deprecated: {
    either: [
      'text',
      keys<Exclude<Deprecation, string>>({ reason: must('text'), on: must('text') }),
    ],
  },
})

/** The reason that callers read. */
export const reasonOf = (deprecated: Deprecation | undefined): string | undefined =>
  typeof deprecated === 'object' ? deprecated.reason : deprecated

/** Only the lifetime of a part that says more. */
export const lifetimeOf = ({ since, last, sunset, deprecated }: Lifetime): Lifetime => ({
  ...(since !== undefined && { since }),
  ...(last !== undefined && { last }),
  ...(sunset !== undefined && { sunset }),
  ...(deprecated !== undefined && { deprecated }),
})

/** Whether a version has a part of the model. */
export const isIn = ({ since, last }: Lifetime, version: Version): boolean =>
  (since === undefined || since <= version) && (last === undefined || version <= last)

/**
 * Another way to write a value: a number as text, a moment as whole seconds since 1970, or the words of a choice by
 * other words, each word of the model with the version's.
 */
export type Form = 'as text' | 'as seconds' | { readonly words: Readonly<Record<string, string>> }

type Decoded = { readonly value: unknown } | { readonly fault: string }

/** A form whose values can be turned back; seconds have lost their milliseconds. */
type Reversible = Exclude<Form, 'as seconds'>

const decimal = /^-?\d+(\.\d+)?$/

/** The word that a form has for one of a choice. */
export const otherWord = ({ words }: Exclude<Form, string>, word: string): string =>
  own(words, word) ?? word

/** The words of a choice as a form has them, or as they are without one. */
export const wordsIn = (
  form: Form | undefined,
  values: readonly string[] | undefined,
): readonly string[] | undefined =>
  typeof form === 'object'
    ? values && [...new Set(values.map(word => otherWord(form, word)))]
    : values

/** The JSON value of the model for one in a form, given the words of a choice; a value that is not of that form is a fault. */
export const decoded = (
  form: Reversible,
  value: unknown,
  values: readonly string[] = [],
): Decoded => {
  if (typeof value !== 'string') return { fault: 'must be a string' }
  if (form === 'as text')
    return decimal.test(value)
      ? { value: Number(value) }
      : { fault: 'must be a number in a string, such as "19.99"' }
  const word = values.find(word => otherWord(form, word) === value)
  return word === undefined
    ? { fault: `must be one of ${wordsIn(form, values)?.join(', ')}` }
    : { value: word }
}

/** How versions name and write a field, if they do it otherwise than the model. */
export type Variant = { readonly name?: string; readonly form?: Form }

/** The variants of a field, each by a version. */
export type Variants = Readonly<Partial<Record<Version, Variant>>>

/** The shape of variants. */
export const variantsShape: Shape = {
  named: keys<Variant>({
    name: 'text',
    form: {
      either: [
        words<Extract<Form, string>>({ 'as text': 1, 'as seconds': 1 }),
        keys<Exclude<Form, string>>({ words: must({ named: 'text' }) }),
      ],
    },
  }),
}

/** The variants of a field: of the versions until one, and from one on, that one included. */
export type Differing = { readonly until: Variants; readonly from: Variants }

/** The name and form of a field in a version: of each the nearest, at the versions from it on or up to it. */
export const variantOf = ({ until, from }: Differing, version: Version): Variant => {
  const later = versions.filter(other => other >= version).map(other => until[other])
  const earlier = versions.filter(other => other <= version).map(other => from[other])
  return Object.assign({}, ...earlier, ...later.reverse())
}
