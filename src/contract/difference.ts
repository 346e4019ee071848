/** Differences between two contracts, as data. */
import { type Class, type ContractRule, classes, rules } from '#contract/rules.ts'

/** Which way a value goes: callers send it, callers read it, or either where no operation says so. */
export type Way = 'sent' | 'read' | 'either'

export type Difference = {
  readonly class: Class
  readonly rule: string
  /** Such as `GET /things → 200 → data[].price`. */
  readonly path: string
  readonly message: string
  /** Who notices it. */
  readonly hits: string
  /** What a line about it names: the member, and the value where there is a new one. */
  readonly names: readonly string[]
}

/** Where the comparison stands. */
export type At = {
  readonly way: Way
  readonly path: string
  /** The innermost name on the path. */
  readonly member: string
  /** The day that the comparison is made on. */
  readonly today: string
}

export const hits = {
  sent: 'callers who send it',
  read: 'callers who read it',
  either: 'callers who send or read it',
} as const satisfies Record<Way, string>

/** The worse of two classes. */
const worse = (one: Class, other: Class): Class =>
  classes.indexOf(one) < classes.indexOf(other) ? one : other

const classOf = (rule: ContractRule, way: Way): Class => {
  const { sent, read } = rules[rule]
  return way === 'either' ? worse(sent, read) : rules[rule][way]
}

/** One difference at a place, by a rule. */
export const found = (
  at: At,
  rule: ContractRule,
  message: string,
  names: readonly string[] = [at.member],
): readonly Difference[] => [
  { class: classOf(rule, at.way), rule, path: at.path, message, hits: hits[at.way], names },
]

/** The differences with the worst first, and always in the same order. */
export const sorted = (differences: readonly Difference[]): readonly Difference[] =>
  [...Map.groupBy(differences, keyOf)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, same]) => same)

const keyOf = (difference: Difference): string =>
  [
    classes.indexOf(difference.class),
    difference.rule,
    difference.message,
    difference.path,
    difference.hits,
  ].join('\n')
