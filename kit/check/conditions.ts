/** What a condition is of rows in memory, in plain code: slow, and right by being simple. */
import { type Condition, now, viewer } from '#model/condition.ts'
import type { Entity } from '#model/entity.ts'
import { linkOf } from '#model/names.ts'
import { foldedAs } from '#model/words.ts'

/** A row with its stored values, by field. */
export type StoredRow = Readonly<Record<string, string | number | null>>

/** The rows of all entities, and who asks when. */
export type RowMemory = {
  readonly entities: Readonly<Record<string, Entity>>
  readonly rows: Readonly<Record<string, readonly StoredRow[]>>
  readonly viewer: number | null
  readonly now: number
  /** The decimals of the currency: 2 unless given. */
  readonly digits?: number
}

type Given = Readonly<Record<string, unknown>>

const operators = 'eq ne in notIn isNull lt lte gt gte contains startsWith has hasSome'.split(' ')

const isObject = (given: unknown): given is Given =>
  typeof given === 'object' && given !== null && !(given instanceof Date)

/** Whether a row fits a condition. Callers without a row are to be kept from rules that name the viewer before. */
export const satisfies = (
  memory: RowMemory,
  name: string,
  row: StoredRow,
  condition: Condition,
): boolean => {
  const { entities, rows } = memory
  const { fields, relations } = entities[name] as Entity

  const stored = (key: string, given: unknown): unknown => {
    if (given === viewer) return memory.viewer
    if (given === now) return memory.now
    if (given instanceof Date) return given.getTime()
    const { scalar, scale = 0 } = fields[key] ?? {}
    if (scalar === 'time') return Date.parse(String(given))
    if (scalar === 'decimal') return Number((Number(given) * 10 ** scale).toFixed(6))
    if (scalar === 'money') return Number((Number(given) * 10 ** (memory.digits ?? 2)).toFixed(6))
    return scalar === 'flag' ? Number(given) : given
  }

  const compares = (key: string, operator: string, given: unknown): boolean => {
    const value = row[key] ?? null
    const folded = (text: unknown) => {
      const copy = Object.values(fields).find(
        ({ foldedFrom, copied }) => foldedFrom === key && !copied,
      )
      return foldedAs(copy ?? { accents: undefined }, String(text))
    }
    const same = (other: unknown) =>
      other === null ? value === null : value !== null && value === stored(key, other)
    if (operator === 'eq') return same(given)
    if (operator === 'ne') return !same(given)
    if (operator === 'in') return (given as unknown[]).some(same)
    if (operator === 'notIn') return !(given as unknown[]).some(same)
    if (operator === 'isNull') return (value === null) === given
    if (value === null) return false
    if (operator === 'has') return JSON.parse(String(value)).includes(given)
    if (operator === 'hasSome')
      return (given as unknown[]).some(one => JSON.parse(String(value)).includes(one))
    if (operator === 'contains') return folded(value).includes(folded(given))
    if (operator === 'startsWith') return folded(value).startsWith(folded(given))
    const isText = typeof value === 'string'
    const [left, right] = isText
      ? [value, String(stored(key, given))]
      : [value, Number(stored(key, given))]
    if (operator === 'lt') return left < right
    if (operator === 'lte') return left <= right
    return operator === 'gt' ? left > right : left >= right
  }

  const of = (to: string, key: string, value: unknown, inner: Condition): boolean =>
    (rows[to] ?? []).some(other => other[key] === value && satisfies(memory, to, other, inner))

  return Object.entries(condition).every(([key, given]) => {
    const all = given as unknown as readonly Condition[]
    if (key === 'and') return all.every(one => satisfies(memory, name, row, one))
    if (key === 'or') return all.some(one => satisfies(memory, name, row, one))
    if (key === 'not') return !satisfies(memory, name, row, given as Condition)
    const relation = relations[key]
    if (relation?.kind === 'many') {
      const [[which = '', inner] = []] = Object.entries(given as Given)
      const { to, by, through } = relation
      const link = through === undefined ? undefined : linkOf(entities, name, relation)
      const isSome = link
        ? (rows[through ?? ''] ?? []).some(
            other => other[link.by] === row.id && of(to, 'id', other[link.of], inner as Condition),
          )
        : of(to, by, row.id, inner as Condition)
      return (which === 'some') === isSome
    }
    if (relation && given === viewer) return compares(relation.by, 'eq', viewer)
    if (relation) {
      const value = row[relation.by] ?? null
      return value !== null && of(relation.to, 'id', value, given as Condition)
    }
    if (!isObject(given)) return compares(key, 'eq', given)
    const { references } = fields[key] ?? {}
    const isOfRow = Object.keys(given).some(one => !operators.includes(one))
    if (references && isOfRow)
      return row[key] !== null && of(references.entity, 'id', row[key], given as Condition)
    return Object.entries(given).every(([operator, one]) => compares(key, operator, one))
  })
}
