/** Bodies that create and change things of any model. */
import { entityOf, type Model } from '#model/model.ts'
import type { Viewer } from '#model/policy.ts'
import { isIn, type Version } from '#model/version.ts'
import { memberName, type Reference, verdict, written } from './reference.ts'
import { rowCount } from './rows.ts'
import { validValue } from './values.ts'

/** The last two rows are left to themselves: one is barred. */
const most = rowCount - 2
const seldom = (n: number) => Math.floor(n / most)

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
  readonly reference: Reference
}

const nthBody = (purpose: Purpose): Record<string, unknown> => {
  const { model, entity, version, mode, viewer, given = {}, n } = purpose
  const { fields, policy } = entityOf(model, entity)
  const rule = mode === 'create' ? policy.create : undefined
  const owners = rule?.kind === 'self' ? rule.fields : []
  const { entity: viewers, barred } = model.viewers
  const members = Object.entries(fields).flatMap(([key, field]) => {
    const isHidden = !field.rest && field.graphql === 'hidden'
    if (isHidden || field.foldedFrom !== undefined || key in given) return []
    if (version === undefined ? field.graphql === 'hidden' : !isIn(field, version)) return []
    if (verdict(field.settableBy, viewer, model) === 'no') return []
    if (mode !== 'create' && field.immutable) return []
    // Who is barred would write no more.
    if (entity === viewers && key === barred?.field) return []
    if (owners.includes(key)) return [[key, viewer.id ?? 1]]
    if (field.references)
      return [[key, 1 + ((n + Object.keys(fields).indexOf(key) * seldom(n)) % most)]]
    // Above what the rows have, and never null.
    return [[key, validValue(`${entity}.${key}`, { ...field, nullable: false }, 3 * n + 1000)]]
  })
  return Object.fromEntries(members)
}

/** The same as the caller's version names and writes it. */
const inVersion = ({ model, entity, version }: Purpose, body: Record<string, unknown>) => {
  if (version === undefined) return body
  const { fields } = entityOf(model, entity)
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [
      memberName(key, fields[key], version) ?? key,
      written(fields[key], value, version),
    ]),
  )
}

/** A body with all the members that the viewer may give, and no values that the entity has together already. */
export const bodyFor = (purpose: Purpose): Record<string, unknown> => {
  const { model, entity, reference, given = {} } = purpose
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
    if (!sets.some(isTaken)) return inVersion(purpose, body)
  }
  throw new Error(`no values are left for the sets of ${entity}`)
}
