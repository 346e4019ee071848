/** Text rules that both APIs, both databases and every limit share. */

/** How long a text is: Unicode code points, whatever their number of bytes or UTF-16 units. */
export const codePoints = (text: string): number => {
  let surrogatePairs = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= 0xd800 && unit <= 0xdbff) surrogatePairs++
  }
  return text.length - surrogatePairs
}

/** Whether every store keeps the text unchanged: PostgreSQL refuses NUL, drivers replace lone surrogates. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

// The names before and after the @ are those that mail servers have in practice, not all of RFC 5322.
const emailForm = /^(?:[\w'+-]+\.)*[\w'+-]*[\w+-]@(?:[a-z\d][a-z\d-]*\.)+[a-z]{2,}$/i

/** Whether a text has the form of an email address. */
export const isEmail = (text: string): boolean => emailForm.test(text)

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII begins with control characters.
const ascii = /^[\u0000-\u007f]*$/

/**
 * The text without case for all of Unicode, with its accents: `É` and `é` fold alike, `e` does not.
 * Each code point is folded by itself (Unicode 16, section 5.18.4), so that no letter depends on its neighbours.
 */
export const fold = (text: string): string => {
  if (ascii.test(text)) return text.toLowerCase()
  let folded = ''
  // Lower case first: `ẞ` has no other upper case, and only its lower case `ß` becomes `ss`.
  for (const point of text) folded += point.toLowerCase().toUpperCase().toLowerCase()
  return folded
}
