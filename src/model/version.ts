/** The versions of the REST API, which parts of the model each has, and what differs in older ones. */
import type { Form } from '#model/form.ts'

/** The versions there are, oldest first. */
export const versions = [1, 2] as const

export type Version = (typeof versions)[number]

/** The version for new programs. */
export const newest: Version = versions.at(-1) ?? versions[0]

/** A reason, such as `Use fullName.`, and where it is known the day of its announcement. */
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

/** How versions name and write a field, where they do it otherwise than the model. */
export type Variant = { readonly name?: string; readonly form?: Form }

/** The variants of a field, each by a version. */
export type Variants = Readonly<Partial<Record<Version, Variant>>>

/** What versions have otherwise: those until one, and those from one on, that one included. */
export type Differing = { readonly until: Variants; readonly from: Variants }

/** The name and form of a field in a version: of each, what stands nearest, at the versions from it on or up to it. */
export const variantOf = ({ until, from }: Differing, version: Version): Variant => {
  const later = versions.filter(other => other >= version).map(other => until[other])
  const earlier = versions.filter(other => other <= version).map(other => from[other])
  return Object.assign({}, ...earlier, ...later.reverse())
}
