/** The versions of the REST API, which parts of the model each has, and how each names and writes values. */
import { own } from '#base/object.ts'
import { checkShape, keys, madeWith, must, type Shape, words } from '#base/shape.ts'

/** A version of a content's REST API, by its number. */
export type Version = number

/** What a version is as a whole, beside the members of its resources. */
export type VersionStyle = {
  /** The envelope of lists: `data` beside `nextCursor` or numbered `pagination`, or one `pagination` for all lists. */
  readonly lists: 'by paging' | 'uniform'
  /** The body of errors: `{"error": …}`, or a problem of RFC 9457. */
  readonly errors: 'error' | 'problem'
  /** Whether unknown query parameters and unknown values of `sort` are refused; else they are ignored. */
  readonly isStrict: boolean
  /** Whether its ETags and the keys of its stored responses have its number; those of a version that once was the only one may not. */
  readonly isMarked: boolean
}

const usualStyle = { lists: 'uniform', errors: 'problem', isStrict: true, isMarked: true } as const

/** The versions that a content declares, each with what it has otherwise than a new one. */
export type DeclaredVersions = Readonly<Record<Version, Partial<VersionStyle>>>

export const declaredVersionsShape: Shape = {
  named: keys<Partial<VersionStyle>>({
    lists: words<VersionStyle['lists']>({ 'by paging': 1, uniform: 1 }),
    errors: words<VersionStyle['errors']>({ error: 1, problem: 1 }),
    isStrict: 'flag',
    isMarked: 'flag',
  }),
}

/** The version that a request named, and the answer's Content-Type for it. */
export type RequestedVersion = {
  readonly version: Version
  readonly style: VersionStyle
  readonly contentType: string
}

/** The versions of a content. */
export type Versions = {
  /** Oldest first. */
  readonly all: readonly Version[]
  readonly oldest: Version
  /** The one for new programs. */
  readonly newest: Version
  readonly styleOf: (version: Version) => VersionStyle
  /** What a request gets that names none: the oldest, as plain JSON. */
  readonly usual: RequestedVersion
  /** Each by its number as text, answered as plain JSON, and as its own media type. */
  readonly inPlainJson: ReadonlyMap<string, RequestedVersion>
  readonly inOwnType: ReadonlyMap<string, RequestedVersion>
}

/** The media type of a version's objects. */
export const mediaTypeOf = (version: Version): string => `application/vnd.duet.v${version}+json`

/** The versions of a content, one unless it declares others; throws a plain error for one that is no number. */
export const defineVersions = (declared: DeclaredVersions = { 1: {} }): Versions => {
  const all = Object.keys(checkShape(declaredVersionsShape, declared, 'the versions')).map(Number)
  const [oldest] = all
  if (oldest === undefined || !all.every(version => Number.isSafeInteger(version) && version > 0))
    throw new Error(
      `The versions are ${Object.keys(declared).join(', ') || 'none'}: name each by a number, such as 1`,
    )
  const styleOf = (version: Version) => ({ ...usualStyle, ...declared[version] })
  const typed = (typeOf: (version: Version) => string) =>
    all.map(version => {
      const contentType = `${typeOf(version)}; charset=utf-8`
      return { version, style: styleOf(version), contentType }
    })
  const plain = typed(() => 'application/json')
  const byNumber = (of: readonly RequestedVersion[]) =>
    new Map(of.map(requested => [String(requested.version), requested]))
  const made = {
    all,
    oldest,
    newest: all.at(-1) ?? oldest,
    styleOf,
    usual: plain[0] as RequestedVersion,
    inPlainJson: byNumber(plain),
    inOwnType: byNumber(typed(mediaTypeOf)),
  }
  return madeWith(made, declaredVersionsShape, declared)
}

/** A reason, such as `Use fullName.`, and the day of its announcement if it is known. */
type Deprecation = string | { readonly reason: string; readonly on: string }

/** The versions that have a part of the model, all unless it says otherwise. Days are written `2027-08-01`. */
export type Lifetime = {
  /** The first version that has it. */
  readonly since?: Version
  /** The last version that has it. */
  readonly last?: Version
  /** The day on which the last version stops having it. */
  readonly sunset?: string
  readonly deprecated?: Deprecation
}

export const lifetimeShape = keys<Lifetime>({
  since: 'number',
  last: 'number',
  sunset: 'text',
  deprecated: {
    either: [
      'text',
      keys<Exclude<Deprecation, string>>({ reason: must('text'), on: must('text') }),
    ],
  },
})

/** The reason that callers read. */
export const reasonOf = (deprecated: Deprecation | undefined): string | undefined =>
  typeof deprecated === 'object' ? deprecated.reason : deprecated

/** Only the lifetime of a part that says more. */
export const lifetimeOf = ({ since, last, sunset, deprecated }: Lifetime): Lifetime => ({
  ...(since !== undefined && { since }),
  ...(last !== undefined && { last }),
  ...(sunset !== undefined && { sunset }),
  ...(deprecated !== undefined && { deprecated }),
})

/** Whether a version has a part of the model. */
export const isIn = ({ since, last }: Lifetime, version: Version): boolean =>
  (since === undefined || since <= version) && (last === undefined || version <= last)

/**
 * Another way to write a value: a number as text, a moment as whole seconds since 1970, or the values of a choice by
 * other words, each value of the model with the version's.
 */
export type Form = 'as text' | 'as seconds' | { readonly values: Readonly<Record<string, string>> }

type Decoded = { readonly value: unknown } | { readonly fault: string }

/** A form whose values can be turned back; seconds have lost their milliseconds. */
type Reversible = Exclude<Form, 'as seconds'>

const decimal = /^-?\d+(\.\d+)?$/

/** The word that a form has for one of a choice. */
export const otherWord = ({ values }: Exclude<Form, string>, value: string): string =>
  own(values, value) ?? value

/** The values of a choice as a form has them, or as they are without one. */
export const wordsIn = (
  form: Form | undefined,
  values: readonly string[] | undefined,
): readonly string[] | undefined =>
  typeof form === 'object'
    ? values && [...new Set(values.map(word => otherWord(form, word)))]
    : values

/** The JSON value of the model for one in a form, given the values of a choice; a value that is not of that form is a fault. */
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

/** How versions name and write a field, if they do it otherwise than the model. */
export type Variant = { readonly name?: string; readonly form?: Form }

/** The variants of a field, each by a version. */
export type Variants = Readonly<Record<Version, Variant>>

/** The shape of variants. */
export const variantsShape: Shape = {
  named: keys<Variant>({
    name: 'text',
    form: {
      either: [
        words<Extract<Form, string>>({ 'as text': 1, 'as seconds': 1 }),
        keys<Exclude<Form, string>>({ values: must({ named: 'text' }) }),
      ],
    },
  }),
}

/** The variants of a field: of the versions until one, and from one on, that one included. */
export type Differing = { readonly until: Variants; readonly from: Variants }

/** The name and form of a field in a version: of each the nearest, at the versions from it on or up to it. */
export const variantOf = ({ until, from }: Differing, version: Version): Variant => {
  // The keys of an object that are whole numbers are in ascending order.
  const near = (variants: Variants, isNear: (other: Version) => boolean) =>
    Object.entries(variants).flatMap(([other, variant]) => (isNear(Number(other)) ? [variant] : []))
  const later = near(until, other => other >= version)
  return Object.assign({}, ...near(from, other => other <= version), ...later.reverse())
}
