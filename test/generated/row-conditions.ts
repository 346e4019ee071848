/** Whether rows as the REST API gives them fit a condition, in plain code that shares nothing with what it judges. */
import { type Condition, now as theMoment, viewer } from '#model/condition.ts'
import type { Entity } from '#model/entity.ts'
import { entityOf, type Model } from '#model/model.ts'
import type { Row, Value } from './reference.ts'

/** The rows that there are, and who asks when. */
export type Among = {
  readonly model: Model
  readonly tables: ReadonlyMap<string, ReadonlyMap<number, Row>>
  readonly viewer: number | null
  readonly now: number
}

const isComparison = (given: object): boolean =>
  Object.keys(given).some(key =>
    ['eq', 'ne', 'in', 'isNull', 'lt', 'lte', 'gt', 'gte'].includes(key),
  )

/** A value as it is compared: times and flags as numbers. */
const plain = (given: unknown, { viewer: who, now }: Among, isTime: boolean): unknown => {
  if (given === viewer) return who
  if (given === theMoment) return now
  if (given instanceof Date) return given.getTime()
  if (isTime && typeof given === 'string') return Date.parse(given)
  return typeof given === 'boolean' ? Number(given) : given
}

const compares = (
  among: Among,
  { fields }: Entity,
  key: string,
  value: Value,
  comparison: Readonly<Record<string, unknown>>,
): boolean => {
  const isTime = fields[key]?.scalar === 'time'
  const own = plain(value, among, isTime)
  const of = (given: unknown) => plain(given, among, isTime)
  return Object.entries(comparison).every(([operator, given]) => {
    if (operator === 'isNull') return (own === null) === given
    if (operator === 'eq') return own === of(given)
    if (operator === 'ne') return own !== of(given)
    if (operator === 'in') return (given as readonly unknown[]).map(of).includes(own)
    if (own === null) return false
    const [left, right] = [own as number, of(given) as number]
    if (operator === 'lt') return left < right
    if (operator === 'lte') return left <= right
    if (operator === 'gt') return left > right
    if (operator === 'gte') return left >= right
    throw new Error(`no generated model has conditions with ${operator}`)
  })
}

/** Whether a row of an entity fits a condition for a caller, who is somebody where the condition names the caller. */
export const rowFits = (among: Among, name: string, row: Row, condition: Condition): boolean => {
  const entity = entityOf(among.model, name)
  const rowsOf = (of: string) => [...(among.tables.get(of)?.values() ?? [])]
  return Object.entries<unknown>(condition).every(([key, given]) => {
    const all = given as readonly Condition[]
    if (key === 'and') return all.every(one => rowFits(among, name, row, one))
    if (key === 'or') return all.some(one => rowFits(among, name, row, one))
    if (key === 'not') return !rowFits(among, name, row, given as Condition)
    const relation = entity.relations[key]
    const to = relation?.to ?? entity.fields[key]?.references?.entity
    if (relation?.kind === 'many') {
      if (relation.through !== undefined) throw new Error('no generated model crosses links')
      const { some, none } = given as { some?: Condition; none?: Condition }
      const fits = rowsOf(relation.to).some(
        other =>
          other[relation.by] === row.id && rowFits(among, relation.to, other, some ?? none ?? {}),
      )
      return fits === (some !== undefined)
    }
    const value = row[relation ? relation.by : key] ?? null
    if (typeof given !== 'object' || given === null || given instanceof Date)
      return compares(among, entity, key, value, { eq: given })
    if (to === undefined || isComparison(given))
      return compares(among, entity, key, value, given as Readonly<Record<string, unknown>>)
    const other = value === null ? undefined : among.tables.get(to)?.get(Number(value))
    return other !== undefined && rowFits(among, to, other, given as Condition)
  })
}
