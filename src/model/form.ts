/** The forms in which versions of the REST API write values otherwise than the model has them. */
import { own } from '#base/object.ts'

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
