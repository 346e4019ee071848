/** Ids as callers write them: positive integers below 2^53, in one spelling. */

const form = /^[1-9]\d{0,15}$/

/** The id that a text is; undefined for any other text (`abc`, `0`, `-1`, `1.5`, `007`, 2^53). */
export const parseId = (text: string): number | undefined => {
  if (!form.test(text)) return undefined
  const id = Number(text)
  return Number.isSafeInteger(id) ? id : undefined
}
