/** What one version says as the other would say it, by the declaration. */

import type { callersOf } from '#kit/check/callers.ts'
import { memberName, type RowsReference, written } from '#kit/check/reference.ts'
import type { Field } from '#model/field.ts'
import { entityOf, type Model } from '#model/model.ts'
import type { Viewer } from '#model/policy.ts'
import { isIn } from '#model/version.ts'
import type { Draw } from '../operations.ts'
import type { Answered } from '../world.ts'

/** The members of an object. */
export type Members = Readonly<Record<string, unknown>>

/** What both versions have as they call it: first version 1, then version 2. */
export type Pair = readonly [first: string, second: string]

/** The field that version 2 calls so; the name itself where none is. */
export const keyOf = (fields: Readonly<Record<string, Field>>, member: string): string =>
  Object.keys(fields).find(key => memberName(key, fields[key], 2) === member) ?? member

/** A request to both; `isStrict` where version 2 refuses what version 1 ignores. */
export type Asked = {
  readonly line: Pair
  readonly viewer: Viewer
  readonly headers: Readonly<Record<string, string>>
  readonly body: readonly [Members, Members] | undefined
  /** The entity of the objects in the answer. */
  readonly entity: string | null
  /** Names of members and parameters that differ, by those of version 2. */
  readonly names: ReadonlyMap<string, string>
  readonly isStrict: boolean
}

/** What requests are drawn from. */
export type Source = {
  readonly draw: Draw
  readonly people: ReturnType<typeof callersOf>
  readonly model: Model
  readonly reference: RowsReference
  /** Cursors that answers gave, one in each version, by the path of their list. */
  readonly cursors: Map<string, Pair>
  n: number
}

/** Values that are seldom right. */
export const odd = [
  null,
  '',
  'x',
  true,
  [],
  { a: 1 },
  -1,
  0.1,
  1e21,
  2 ** 53,
  'a\0b',
  '\ud800',
] as const

/** The value that version 1 takes for one of version 2; what is none of that kind stays none. */
export const former = (field: Field | undefined, value: unknown): unknown => {
  const form = field?.until[1]?.form
  if (form === undefined || value === null) return value
  const isOwn = form === 'as text' ? typeof value === 'number' : field?.values?.includes(`${value}`)
  return isOwn ? written(field, value, 1) : { no: value }
}

/** Whether both versions have a field. */
export const isCommon = (field: Field | undefined): boolean =>
  field !== undefined && isIn(field, 1) && isIn(field, 2)

/** Names of version 1 by those of version 2. */
export const namesOf = (model: Model, entity: string): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(entityOf(model, entity).fields).map(([key, field]) => [
      memberName(key, field, 2) ?? key,
      memberName(key, field, 1) ?? key,
    ]),
  )

/** The object of version 2 as version 1 has it, by the declaration. */
const older = (model: Model, entity: string, object: Members): Members => {
  const { fields, relations, rest } = entityOf(model, entity)
  const members = Object.entries(object).flatMap(([member, value]) => {
    const key = keyOf(fields, member)
    const field = fields[key]
    if (key === '_links') return [[key, value]]
    if (field) return isCommon(field) ? [[memberName(key, field, 1), written(field, value, 1)]] : []
    const embedded = rest.embedded[key]
    if (!embedded || !isIn(embedded, 1)) return []
    const { to = '' } = relations[key] ?? {}
    return [[key, (value as Members[]).map(one => older(model, to, one))]]
  })
  return common(model, entity, Object.fromEntries(members))
}

/** An object of version 1 without what version 2 lacks; links of either are those of both. */
const common = (model: Model, entity: string, object: Members): Members => {
  const { fields, links, rest } = entityOf(model, entity)
  const gone = Object.entries(fields).flatMap(([key, field]) =>
    isCommon(field) ? [] : [memberName(key, field, 1)],
  )
  const cases = Object.values(links?.cases ?? {})
  const isShared = (link: string) =>
    cases.some(named => {
      const one = named[link]
      return one !== undefined && isIn(one, 1) && isIn(one, 2)
    })
  const members = Object.entries(object).flatMap(([key, value]) => {
    const embedded = rest.embedded[key]
    if (gone.includes(key) || (embedded && !isIn(embedded, 2))) return []
    if (key !== '_links') return [[key, value]]
    return [
      [key, Object.fromEntries(Object.entries(value as Members).filter(([k]) => isShared(k)))],
    ]
  })
  return Object.fromEntries(members)
}

const inCommon = ['location', 'cache-control', 'vary', 'idempotency-replayed', 'www-authenticate']

/** The headers that both versions answer alike. */
export const headersOf = ({ headers }: Answered) =>
  inCommon.map(name => headers.get(name)?.replace('/api/v2/', '/api/') ?? null)

/** The answer of version 2, as version 1 would have it. */
export const olderAnswer = (
  model: Model,
  { entity, names }: Asked,
  { json, text }: Answered,
): unknown => {
  if (text === '') return null
  if (json.code !== undefined) {
    const named = (field: string) => field.replace(/^\w+/, own => names.get(own) ?? own)
    return {
      code: json.code,
      fields: json.errors?.map(({ field }: { field: string }) => named(field)),
    }
  }
  const object = (one: Members) => older(model, entity ?? '', one)
  if (json.data === undefined) return object(json)
  const { limit, nextCursor, hasNext, ...pages } = json.pagination
  const beside = 'page' in pages ? { ...pages, limit, hasNext } : { hasNext }
  return { data: json.data.map(object), beside: JSON.stringify(Object.entries(beside).sort()) }
}

/** The answer of version 1 in the same shape, with what both versions have. */
export const ownAnswer = (model: Model, { entity }: Asked, { json, text }: Answered): unknown => {
  if (text === '') return null
  if (json.error !== undefined) {
    const { code, details } = json.error
    return { code, fields: details?.map(({ field }: { field: string }) => field) }
  }
  const object = (one: Members) => common(model, entity ?? '', one)
  if (json.data === undefined) return object(json)
  const beside = json.pagination ?? { hasNext: json.nextCursor !== null }
  return { data: json.data.map(object), beside: JSON.stringify(Object.entries(beside).sort()) }
}
