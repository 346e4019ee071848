/** Bodies that create and change things of any model. */

import { memberName, type RowsReference, verdict, written } from '#kit/check/reference.ts'
import { rowCount } from '#kit/check/rows.ts'
import { validValue } from '#kit/check/values.ts'
import { isNeeded } from '#model/field.ts'
import { entityOf, type Model } from '#model/model.ts'
import type { Viewer } from '#model/policy.ts'
import { isIn, type Version } from '#model/version.ts'

/** The last two rows are left to themselves: one is blocked. */
const most = rowCount - 2

/** What comes of a body for a new thing: it refers to what its caller may not see, or the rule for creates refuses what it makes. */
export type BodyOutcome = 'made' | 'absent' | 'refused'

/** What a body is for. */
export type Purpose = {
  readonly model: Model
  readonly entity: string
  /** The version of the REST API that takes it; undefined for the GraphQL API. */
  readonly version: Version | undefined
  readonly mode: 'create' | 'replace' | 'update'
  readonly viewer: Viewer
  /** Fields that the path gives, with what it gives. */
  readonly given?: Readonly<Record<string, number>>
  /** Told apart from all others: what is unique stays so. */
  readonly n: number
  /** The rows that are there. */
  readonly reference: RowsReference
  /** What is to come of it; anything, if it is left out. */
  readonly wanted?: BodyOutcome | undefined
}

const nthBody = (purpose: Purpose): Record<string, unknown> => {
  const { model, entity, version, mode, viewer, given = {}, n } = purpose
  const { fields, policy } = entityOf(model, entity)
  const rule = mode === 'create' ? policy.create : undefined
  const owners = rule?.kind === 'self' ? rule.fields : []
  const { entity: viewers, blocked } = model.viewers
  const members = Object.entries(fields).flatMap(([key, field]) => {
    const isHidden = !field.rest && field.graphql === 'hidden'
    if (isHidden || field.foldedFrom !== undefined || key in given) return []
    if (version === undefined ? field.graphql === 'hidden' : !isIn(field, version)) return []
    // GraphQL refuses an input without what it needs before it looks at rights.
    const isAsked = version === undefined && mode === 'create' && isNeeded(key, field)
    if (verdict(field.settableBy, viewer, model) === 'no' && !isAsked) return []
    if (mode !== 'create' && field.immutable) return []
    // Who is blocked would write no more.
    if (entity === viewers && key === blocked?.field) return []
    if (owners.includes(key)) return [[key, viewer.id ?? 1]]
    if (field.references)
      return [[key, 1 + ((n + Object.keys(fields).indexOf(key) * Math.floor(n / most)) % most)]]
    // The value is above those of the rows, and never null.
    return [[key, validValue(`${entity}.${key}`, { ...field, nullable: false }, 3 * n + 1000)]]
  })
  return Object.fromEntries(members)
}

/** Values by field as the caller's version names and writes them. */
export const inVersion = (
  { model, entity, version }: Pick<Purpose, 'model' | 'entity' | 'version'>,
  body: Readonly<Record<string, unknown>>,
): Record<string, unknown> => {
  if (version === undefined) return { ...body }
  const { fields } = entityOf(model, entity)
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [
      memberName(key, fields[key], version) ?? key,
      written(fields[key], value, version),
    ]),
  )
}

const outcomeOf = (
  { model, entity, reference, viewer }: Purpose,
  values: Record<string, unknown>,
): BodyOutcome => {
  const row = reference.made(entity, values, viewer)
  if (reference.refersToNone(entity, row, Object.keys(values), viewer)) return 'absent'
  return reference.may(entity, row, entityOf(model, entity).policy.create, viewer)
    ? 'made'
    : 'refused'
}

/** Values of all the fields that the viewer may give, none of which the entity has together already; undefined if there are none. */
export const valuesIfAny = (purpose: Purpose): Record<string, unknown> | undefined => {
  const { model, entity, reference, wanted, given = {} } = purpose
  const { sets, fields } = entityOf(model, entity)
  // What the service gives where the body may not: a set may hold one row for each viewer.
  const own = Object.entries(fields).flatMap(([key, { initial }]) =>
    initial === 'viewer' ? [[key, purpose.viewer.id] as const] : [],
  )
  for (let n = purpose.n; n < purpose.n + most * most; n++) {
    const body = nthBody({ ...purpose, n })
    const values: Record<string, unknown> = { ...Object.fromEntries(own), ...body, ...given }
    const isTaken = ({ fields }: (typeof sets)[number]) =>
      reference.rowsIn(entity).some(row => fields.every(key => row[key] === values[key]))
    const isWanted = wanted === undefined || outcomeOf(purpose, values) === wanted
    if (isWanted && !sets.some(isTaken)) return body
  }
  return undefined
}

/** The same as a body of the version. */
export const bodyIfAny = (purpose: Purpose): Record<string, unknown> | undefined => {
  const values = valuesIfAny(purpose)
  return values && inVersion(purpose, values)
}
