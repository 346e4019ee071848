/** Characters for texts that are made at random. */
import fc from 'fast-check'

/** The halves of pairs among the code points, which are no characters. */
const halves = { first: 0xd800, count: 0x800 }

const characterAt = (index: number): string =>
  String.fromCodePoint(index < halves.first ? index : index + halves.count)

const indexOf = (text: unknown): number => {
  const point = String(text).codePointAt(0) ?? 0
  const index = point < halves.first ? point : point - halves.count
  if (characterAt(index) !== text) throw new Error(`${text} is not one character`)
  return index
}

/**
 * Any character, as a unit of `fc.string`. It makes the same texts as fast-check's own unit `binary`, which first lists a
 * million characters: more than a second of processor.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat({ max: 0x10ffff - halves.count })
  .map(characterAt, indexOf)
