/** Cuts texts of callers, so that no answer repeats a long one. */

const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2

/** The text, cut with `…` where it takes more than `most` bytes as JSON in UTF-8, in which a character takes 1 to 6. */
export const clipped = (text: string, most: number): string => {
  if (text.length * 6 <= most) return text
  const start = text.slice(0, most + 1)
  if (jsonBytes(start) <= most) return start
  let cut = start
  for (let size = jsonBytes(cut); size > most - 3; size = jsonBytes(cut))
    cut = cut.slice(0, Math.min(cut.length - 1, Math.floor((cut.length * (most - 3)) / size)))
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`
}
