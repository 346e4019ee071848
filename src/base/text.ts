/** Texts of callers: cut so that no answer repeats a long one, compared with known names, numbered, and taken apart. */

const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2

/** The text, cut with `…` if it takes more than `most` bytes as JSON in UTF-8, in which a character takes 1 to 6. */
export const clipped = (text: string, most: number): string => {
  if (text.length * 6 <= most) return text
  const start = text.slice(0, most + 1)
  if (jsonBytes(start) <= most) return start
  let cut = start
  for (let size = jsonBytes(cut); size > most - 3; size = jsonBytes(cut))
    cut = cut.slice(0, Math.min(cut.length - 1, Math.floor((cut.length * (most - 3)) / size)))
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`
}

/** Characters that steer a terminal, break a line or turn the direction of text; joiners, which Persian, Hindi and emoji need, do not. */
export const steering = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu

/** How many letters must be changed, added or removed to turn one text into another (Levenshtein). */
const distance = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [index, letter] of [...from].entries())
    row = row.reduce<number[]>((next, above, column) => {
      const left = next[column - 1]
      const diagonal = (row[column - 1] ?? 0) + (to[column - 1] === letter ? 0 : 1)
      next.push(left === undefined ? index + 1 : Math.min(above + 1, left + 1, diagonal))
      return next
    }, [])
  return row.at(-1) ?? 0
}

/** The known name at most two letters from this one, in a name of two or three letters one; undefined if there is none. */
export const nearest = (name: string, known: readonly string[]): string | undefined => {
  // Two changed letters leave too little of a short name.
  const most = Math.min(2, Math.floor(name.length / 2))
  const [near] = known
    .filter(text => Math.abs(text.length - name.length) <= most)
    .map(text => ({ text, far: distance(text, name) }))
    .filter(({ far }) => far <= most)
    .sort((a, b) => a.far - b.far)
  return near?.text
}

/** The end of a sentence about an unknown name: the one that was probably meant, or else what to do. */
export const hintFor = (
  name: string,
  known: readonly string[],
  otherwise = `name one of ${known.join(', ')}`,
): string => {
  const near = nearest(name, known)
  return near === undefined ? otherwise : `did you mean ${near}?`
}

/** A number for a text (FNV-1a); another text may have the same. */
export const hashOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash
}

/** The parameters of a query string or a form, without a question mark before it: one that it begins with is part of a name. */
export const parametersIn = (text: string): URLSearchParams => new URLSearchParams(`?${text}`)
