/** Patterns that may take for ever: found by their form, in which one text may be read in ever more ways. */
import { once } from '#base/cache.ts'
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

/** Signs that stand for all others, beside those of the pattern itself, some of each script: two parts that fit one of them may read the same text. */
const signs = once(() =>
  Array.from({ length: 0x1000 }, (_, at) =>
    String.fromCharCode(at < 0x100 ? at : (at - 0xf0) * 17),
  ),
)

const empty: PatternPart = { kind: 'all', of: [] }

/** So many times are as bad as any number of times. */
const often = 10

/** A shorter text has not so many ways to be read. */
const shortest = 25

/** The tokens of a pattern: a class, an escape, the beginning of a group, a quantifier, or one sign. */
const token =
  /\[\^?(?:\\[\s\S]|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\c[A-Za-z]|\\k<[^>]*>|\\[\s\S]|\(\?<?[=!]|\(\?<[^>]*>|\(\?[a-z-]*:|\{\d+(?:,\d*)?\}|[\s\S]/gu

/** The signs that escapes by number are. */
const escaped = (source: string): readonly string[] =>
  [...source.matchAll(/\\[ux]\{?([\da-fA-F]+)/g)].map(([, hex = '']) =>
    String.fromCodePoint(Math.min(Number.parseInt(hex, 16), 0x10ffff)),
  )

/** The parts of a pattern, and of each look ahead or behind in it. */
const partsOf = ({ source, flags }: RegExp): readonly PatternPart[] => {
  const tokens = source.match(token) ?? []
  const looks: PatternPart[] = []
  // A part that ignores case does so for all.
  const how =
    flags.replace(/[gymi]/g, '') + (/\(\?[ms]*i/.test(source) ? 'i' : (flags.match(/i/) ?? ''))
  const tests = new Map(
    [...new Set(tokens)].map(text => {
      try {
        return [text, new RegExp(`^(?:${text})$`, how)] as const
      } catch {
        // A class within a class, of which this is a part, may fit anything.
        return [text, /^/] as const
      }
    }),
  )
  // One sign stands for all that the same tokens fit.
  const kinds = new Map<string, string>()
  for (const sign of [...signs(), '😀', ...source, ...escaped(source)])
    kinds.set([...tests.values()].map(test => Number(test.test(sign))).join(''), sign)
  const tried = [...kinds.values()]
  let at = 0
  const fitting = (text: string): PatternPart => {
    // What was read before may be anything, of any length.
    const isAgain = /^\\(?:[1-9]|k)/.test(text)
    const one = isAgain ? /^/ : (tests.get(text) ?? /^/)
    const sign: PatternPart = { kind: 'sign', fits: new Set(tried.filter(sign => one.test(sign))) }
    return isAgain ? { kind: 'times', of: sign, least: 0, most: Number.POSITIVE_INFINITY } : sign
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
        const isLook = /^\(\?<?[=!]$/.test(text)
        if (isLook) looks.push(inner)
        part = isLook ? empty : inner
      } else if (!['^', '$', '\\b', '\\B'].includes(text)) part = fitting(text)
      options.at(-1)?.push(quantified(part))
    }
    return { kind: 'either', of: options.map(of => ({ kind: 'all', of }) as const) }
  }
  const whole = either()
  return [whole, ...looks]
}

/** What a pattern may read one after another: its signs by their places in it, and from each the next ones, with how many ways lead there. */
type Ways = {
  readonly fits: ReadonlySet<string>[]
  readonly next: Map<number, number>[]
}

/** A larger pattern is not written out: so many times are any number of times in it. */
const mostPlaces = 200

const waysOf = (whole: PatternPart): Ways => {
  const fits: ReadonlySet<string>[] = []
  const next: Map<number, number>[] = []
  const lead = (from: readonly number[], to: readonly number[]) => {
    for (const place of from)
      for (const other of to) next[place]?.set(other, (next[place].get(other) ?? 0) + 1)
  }
  /** The places that a part begins and ends with, and whether it may be empty. */
  type Ends = {
    readonly first: readonly number[]
    readonly last: readonly number[]
    isEmpty: boolean
  }
  const follow = (parts: readonly PatternPart[]): Ends => {
    let all: Ends = { first: [], last: [], isEmpty: true }
    for (const part of parts) {
      const one = add(part)
      lead(all.last, one.first)
      all = {
        first: all.isEmpty ? [...all.first, ...one.first] : all.first,
        last: one.isEmpty ? [...all.last, ...one.last] : one.last,
        isEmpty: all.isEmpty && one.isEmpty,
      }
    }
    return all
  }
  const add = (part: PatternPart): Ends => {
    switch (part.kind) {
      case 'sign': {
        const place = fits.push(part.fits) - 1
        next.push(new Map())
        return { first: [place], last: [place], isEmpty: false }
      }
      case 'all':
        return follow(part.of)
      case 'either': {
        const options = part.of.map(add)
        return {
          first: options.flatMap(({ first }) => first),
          last: options.flatMap(({ last }) => last),
          isEmpty: options.some(({ isEmpty }) => isEmpty),
        }
      }
      case 'times': {
        const { of, least, most } = part
        if (most < often && fits.length < mostPlaces) {
          // Each goes on from the one before, so that fewer of them are read in one way.
          const all = Array.from({ length: most }, () => add(of))
          for (const [at, one] of all.slice(1).entries()) lead(all[at]?.last ?? [], one.first)
          return {
            first: all[0]?.first ?? [],
            last: all.slice(Math.max(least - 1, 0)).flatMap(({ last }) => last),
            isEmpty: least === 0 || all.some(({ isEmpty }) => isEmpty),
          }
        }
        const one = add(of)
        lead(one.last, one.first)
        return { ...one, isEmpty: one.isEmpty || least === 0 }
      }
      default:
        return part satisfies never
    }
  }
  add(whole)
  return { fits, next }
}

/**
 * Whether from some place two ways lead back to it that read the same text: then each time it is read again there are twice as many
 * (exponential ambiguity; Weber and Seidl 1991).
 */
const isTorn = ({ fits, next }: Ways): boolean => {
  const meets = fits.map((one, at) =>
    fits.map((other, to) => at === to || !one.isDisjointFrom(other)),
  )
  return fits.some((_, start) => {
    // Two readers that begin at this place, and whether they have gone different ways.
    const seen = new Set<number>()
    const waiting: (readonly [one: number, other: number, apart: boolean])[] = [
      [start, start, false],
    ]
    for (let at = waiting.pop(); at; at = waiting.pop())
      for (const [one, ways] of next[at[0]] ?? [])
        for (const [other] of next[at[1]] ?? []) {
          if (!meets[one]?.[other]) continue
          const apart = at[2] || one !== other || (ways > 1 && at[0] === at[1])
          if (apart && one === start && other === start) return true
          const key = (one * fits.length + other) * 2 + Number(apart)
          if (seen.has(key)) continue
          seen.add(key)
          waiting.push([one, other, apart])
        }
    return false
  })
}

/** How many repetitions may read one sign in turn, so that a text of it is read in as many ways as it can be cut into so many pieces. */
const inTurn = ({ fits, next }: Ways): number => {
  const most = (sign: string) => {
    const known = new Map<number, number>()
    const from = (place: number): number => {
      const found = known.get(place)
      if (found !== undefined) return found
      // Where it comes back to itself it goes on no further.
      known.set(place, 0)
      const after = [...(next[place]?.keys() ?? [])].filter(
        to => to !== place && fits[to]?.has(sign),
      )
      const all = Math.max(0, ...after.map(from)) + Number(next[place]?.has(place))
      known.set(place, all)
      return all
    }
    return Math.max(0, ...fits.flatMap((one, place) => (one.has(sign) ? [from(place)] : [])))
  }
  return Math.max(
    0,
    ...fits
      .reduce((all, one) => all.union(one), new Set<string>())
      .values()
      .map(most),
  )
}

/** More steps than a text may take. */
const mostSteps = 1e8

/** Whether a pattern may take so many steps for a text of at most so many signs; squares are not told. */
const isSteep = (pattern: RegExp, longest: number): boolean =>
  partsOf(pattern).some(part => {
    const power = inTurn(waysOf(part))
    let steps = 1
    for (let piece = 1; piece <= power; piece++) steps *= longest / piece
    return power > 2 && steps > mostSteps
  })

/** Whether a pattern may try ever more ways to read a text before it says no: twice as many with each sign, or with a few. */
export const backtracks = (pattern: RegExp): boolean =>
  partsOf(pattern).some(part => isTorn(waysOf(part)))

/** A sentence for each field whose pattern may hold the service while a text is checked. */
export const backtrackingIn = (entities: Readonly<Record<string, Entity>>): readonly string[] =>
  Object.entries(entities).flatMap(([name, { fields }]) =>
    Object.entries(fields).flatMap(([key, { pattern, range }]) =>
      pattern &&
      (range?.max ?? shortest) >= shortest &&
      (backtracks(pattern) || isSteep(pattern, range?.max ?? shortest))
        ? [
            `${name}.${key} has the pattern ${pattern}, by which one text may be read in ever more ways: a caller can hold the service with it; let what repeats within a repetition end in a sign of its own, as /^a+(-a+)*$/ does, or give a max below ${shortest}`,
          ]
        : [],
    ),
  )
