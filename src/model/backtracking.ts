/** Patterns that may take for ever: found by their form, in which one text may be read in ever more ways. */
import type { Entity } from '#model/entity.ts'

/** What a pattern is made of; what has no width, such as `^` and a look ahead, is empty. */
type PatternPart =
  | { readonly kind: 'sign'; readonly fits: ReadonlySet<string> }
  | { readonly kind: 'all' | 'either'; readonly of: readonly PatternPart[] }
  | {
      readonly kind: 'times'
      readonly of: PatternPart
      readonly least: number
      readonly most: number
    }

/** Signs that stand for all others: two parts that fit one of them may read the same text. */
const signs = [
  ...Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)),
  ...['\n', '\t', 'é', 'ß', 'Ж', '中', '٣', '\u0301', '😀', '–'],
]

const empty: PatternPart = { kind: 'all', of: [] }

/** So many times are as bad as any number of times. */
const often = 10

/** A shorter text has not so many ways to be read. */
const shortest = 25

/** The tokens of a pattern: a class, an escape, the beginning of a group, a quantifier, or one sign. */
const token =
  /\[\^?(?:\\[\s\S]|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\c[A-Za-z]|\\k<[^>]*>|\\[\s\S]|\(\?<?[=!]|\(\?<[^>]*>|\(\?[a-z-]*:|\{\d+(?:,\d*)?\}|[\s\S]/gu

/** The parts of a pattern. */
const partsOf = ({ source, flags }: RegExp): PatternPart => {
  const tokens = source.match(token) ?? []
  let at = 0
  const fitting = (text: string): PatternPart => {
    // What was read before may be anything.
    const isAgain = /^\\(?:\d|k)/.test(text)
    let one = /^/
    try {
      if (!isAgain) one = new RegExp(`^(?:${text})$`, flags.replace(/[gym]/g, ''))
    } catch {
      // A class within a class, of which this is a part, may fit anything.
    }
    return { kind: 'sign', fits: new Set(signs.filter(sign => one.test(sign))) }
  }
  const quantified = (of: PatternPart): PatternPart => {
    const [, from, to] = /^\{(\d+)(,\d*)?\}$/.exec(tokens[at] ?? '') ?? []
    const isMany = tokens[at] === '*' || tokens[at] === '+'
    if (!isMany && tokens[at] !== '?' && from === undefined) return of
    const least = from === undefined ? Number(tokens[at] === '+') : Number(from)
    const upTo = to === undefined ? least : Number(to.slice(1) || Number.POSITIVE_INFINITY)
    const most = from !== undefined ? upTo : isMany ? Number.POSITIVE_INFINITY : 1
    at += tokens[at + 1] === '?' ? 2 : 1
    return { kind: 'times', of, least, most }
  }
  const either = (): PatternPart => {
    const options: PatternPart[][] = [[]]
    while (at < tokens.length && tokens[at] !== ')') {
      const text = tokens[at++] ?? ''
      if (text === '|') {
        options.push([])
        continue
      }
      let part: PatternPart = empty
      if (text.startsWith('(')) {
        const inner = either()
        at++
        part = /^\(\?<?[=!]$/.test(text) ? empty : inner
      } else if (!['^', '$', '\\b', '\\B'].includes(text)) part = fitting(text)
      options.at(-1)?.push(quantified(part))
    }
    return { kind: 'either', of: options.map(of => ({ kind: 'all', of }) as const) }
  }
  return either()
}

const mayBeEmpty = (part: PatternPart): boolean => {
  if (part.kind === 'sign') return false
  if (part.kind === 'times') return part.least === 0 || mayBeEmpty(part.of)
  return part.kind === 'all' ? part.of.every(mayBeEmpty) : part.of.some(mayBeEmpty)
}

/** The signs that a part may begin with. */
const firstOf = (part: PatternPart): ReadonlySet<string> => {
  if (part.kind === 'sign') return part.fits
  if (part.kind === 'times') return firstOf(part.of)
  const found = new Set<string>()
  for (const one of part.of) {
    for (const sign of firstOf(one)) found.add(sign)
    if (part.kind === 'all' && !mayBeEmpty(one)) break
  }
  return found
}

const isSingle = (part: PatternPart): boolean =>
  part.kind === 'sign' || (part.kind === 'all' && part.of.length === 1 && part.of.every(isSingle))

const meet = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  !one.isDisjointFrom(other)

/** Whether there are two ways on after a sign, within what is repeated; `next` is what may follow the part. */
const isTorn = (part: PatternPart, next: ReadonlySet<string>): boolean => {
  switch (part.kind) {
    case 'sign':
      return false
    case 'times':
      if (part.most >= often && meet(firstOf(part.of), next)) return true
      return isTorn(part.of, part.most >= often ? next.union(firstOf(part.of)) : next)
    case 'all':
      return part.of.some((one, at) => {
        const rest: PatternPart = { kind: 'all', of: part.of.slice(at + 1) }
        return isTorn(one, mayBeEmpty(rest) ? next.union(firstOf(rest)) : firstOf(rest))
      })
    case 'either': {
      const single = part.of.filter(isSingle).map(firstOf)
      const isTwice = single.some((one, at) => single.slice(0, at).some(two => meet(one, two)))
      return isTwice || part.of.some(one => isTorn(one, next))
    }
    default:
      return part satisfies never
  }
}

const hasTorn = (part: PatternPart): boolean => {
  if (part.kind === 'sign') return false
  if (part.kind !== 'times') return part.of.some(hasTorn)
  return (part.most >= often && isTorn(part.of, firstOf(part.of))) || hasTorn(part.of)
}

/** Whether a pattern may try ever more ways to read a text before it says no: twice as many with each sign. */
export const backtracks = (pattern: RegExp): boolean => hasTorn(partsOf(pattern))

/** A sentence for each field whose pattern may hold the service while a text is checked. */
export const backtrackingIn = (entities: Readonly<Record<string, Entity>>): readonly string[] =>
  Object.entries(entities).flatMap(([name, { fields }]) =>
    Object.entries(fields).flatMap(([key, { pattern, range }]) =>
      pattern && (range?.max ?? shortest) >= shortest && backtracks(pattern)
        ? [
            `${name}.${key} has the pattern ${pattern}, by which one text may be read in ever more ways: a caller can hold the service with it; let what repeats within a repetition end in a sign of its own, as /^a+(-a+)*$/ does, or give a max below ${shortest}`,
          ]
        : [],
    ),
  )
