/** The forms in which older versions of the REST API write values. */

/**
 * Another way to write a value: a number as text, a moment as whole seconds since 1970, or the words of a choice by
 * other words, each newest word with its former one.
 */
export type Form = 'as text' | 'as seconds' | { readonly words: Readonly<Record<string, string>> }

type Decoded = { readonly value: unknown } | { readonly fault: string }

const decimal = /^-?\d+(\.\d+)?$/

/** The words of a choice as a form has them, or as they are without one. */
export const wordsIn = (
  form: Form | undefined,
  values: readonly string[] | undefined,
): readonly string[] | undefined =>
  typeof form === 'object'
    ? values && [...new Set(values.map(word => form.words[word] ?? word))]
    : values

/** The newest JSON value for one in a form, given the words of a choice; a value that is not of that form is a fault. */
export const decoded = (form: Form, value: unknown, values: readonly string[] = []): Decoded => {
  if (form === 'as seconds')
    return Number.isSafeInteger(value)
      ? { value: new Date(Number(value) * 1000).toISOString() }
      : { fault: 'must be a whole number of seconds since 1970' }
  if (typeof value !== 'string') return { fault: 'must be a string' }
  if (form === 'as text')
    return decimal.test(value)
      ? { value: Number(value) }
      : { fault: 'must be a number in a string, such as "19.99"' }
  const word = values.find(word => (form.words[word] ?? word) === value)
  return word === undefined
    ? { fault: `must be one of ${wordsIn(form, values)?.join(', ')}` }
    : { value: word }
}
