/** The versions of the REST API, which parts of the model each has, and what differs in older ones. */
import type { Form } from '#model/form.ts'

/** The versions there are, oldest first. */
export const versions = [1, 2] as const

export type Version = (typeof versions)[number]

/** The version that the model describes; the older ones are declared as differences from it. */
export const newest: Version = 2

/** A reason, such as `Use fullName.`, and where it is known the day from which callers were told. */
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

/** How a version and those before it name and write a field. */
export type Former = { readonly name?: string; readonly form?: Form }

/** What differs until a version, that one included. */
export type Until = Readonly<Partial<Record<Version, Former>>>

/** The name and form of a field in a version: of each, what stands at the nearest version from it on. */
export const formerOf = (until: Until, version: Version): Former => {
  const from = versions.filter(later => later >= version).map(later => until[later] ?? {})
  const name = from.find(former => former.name !== undefined)?.name
  const form = from.find(former => former.form !== undefined)?.form
  return { ...(name !== undefined && { name }), ...(form !== undefined && { form }) }
}
