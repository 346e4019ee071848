/** A caller's groups of rows, by the names that the caller has, resolved for a plan. */

import { isObject } from '#base/object.ts'
import { hintFor } from '#base/text.ts'
import { isTimeZone } from '#base/time-zones.ts'
import {
  type GroupValue,
  groupOperators,
  groupValues,
  measures,
  mostGroups,
  mostKeys,
  nameOf,
  typeOf,
} from '#model/aggregate.ts'
import { meanDigits } from '#model/computed.ts'
import {
  type ConditionFault,
  mappedParts,
  type Predicate,
  partsOf,
  resolveCondition,
} from '#model/condition.ts'
import { entityOf, fieldOf, type Model } from '#model/model.ts'
import { digitsOf } from '#model/money.ts'
import type { Aggregate } from '#read/selection.ts'

/** The groups that a request wants: what their rows share, which of them, in which order. */
export type GroupQuery = {
  readonly groupBy: readonly string[]
  readonly having?: unknown
  readonly orderBy: readonly { readonly name: string; readonly descending: boolean }[]
  readonly timeZone?: string | undefined
}

/** The same condition with `sum.amount` for `amount` within `sum`. */
const flat = (having: unknown): unknown => {
  if (!isObject(having)) return having
  return Object.fromEntries(
    Object.entries(having).flatMap(([key, given]) => {
      if (key === 'not') return [[key, flat(given)]]
      if (key === 'and' || key === 'or')
        return [[key, Array.isArray(given) ? given.map(flat) : given]]
      if (!measures.some(measure => measure === key) || !isObject(given)) return [[key, given]]
      return Object.entries(given).map(([field, of]) => [`${key}.${field}`, of])
    }),
  )
}

const renamed = (predicate: Predicate, nameFor: (name: string) => string): Predicate =>
  'field' in predicate
    ? { ...predicate, field: nameFor(predicate.field) }
    : mappedParts(predicate, part => renamed(part, nameFor))

const numbersIn = (predicate: Predicate): readonly number[] => {
  const { kind } = predicate
  const operands = kind === 'compare' ? [predicate.to] : kind === 'among' ? predicate.values : []
  const own = operands.flatMap(to =>
    to.kind === 'value' && typeof to.value === 'number' ? [to.value] : [],
  )
  return [...own, ...partsOf(predicate).flatMap(numbersIn)]
}

const namesIn = (predicate: Predicate): readonly string[] => [
  ...('field' in predicate ? [predicate.field] : []),
  ...partsOf(predicate).flatMap(namesIn),
]

/**
 * Resolves the groups of an entity's rows, of which `fields` may be grouped and summed, each under the name that the caller has for
 * it, and each part what it is `called` there; or gives its faults. `stored` gives what a value in `having` stands for.
 */
export const resolveGroups = (
  model: Model,
  entityName: string,
  fields: readonly (readonly [name: string, field: string])[],
  { groupBy, having, orderBy, timeZone = 'UTC' }: GroupQuery,
  called: Readonly<Record<keyof GroupQuery, string>>,
  stored: (value: GroupValue, given: unknown) => unknown = (_, given) => given,
): Omit<Aggregate, 'items'> | { readonly faults: readonly ConditionFault[] } => {
  const entity = entityOf(model, entityName)
  const { digits } = model.settings.currency
  const values = groupValues(entity, fields)
  const faults: ConditionFault[] = []
  const fault = (path: string, message: string) => void faults.push({ path, message })
  const known = (path: string, name: string, among: readonly string[]): GroupValue | undefined => {
    if (among.includes(name)) return values.get(name)
    fault(path, `names ${JSON.stringify(name)}, which is unknown here: ${hintFor(name, among)}`)
    return undefined
  }

  const all = [...values.keys()]
  const keyNames = all.filter(name => values.get(name)?.kind === 'key')
  if (groupBy.length > mostKeys)
    fault(called.groupBy, `has ${groupBy.length} keys, and at most ${mostKeys} are taken`)
  const grouped = [...new Set(groupBy)].slice(0, mostKeys)
  const keys = grouped.flatMap(name => known(called.groupBy, name, keyNames) ?? [])
  if (!isTimeZone(timeZone))
    fault(called.timeZone, 'must be a time zone of the IANA database, such as Europe/Berlin')

  const ordering = all.filter(name => grouped.includes(name) || values.get(name)?.kind !== 'key')
  const terms = new Map(orderBy.map(({ name, descending }) => [name, descending] as const))
  // One more than all that exist is enough to find an unknown one.
  const ordered = [...terms].slice(0, all.length + 1)
  const order = ordered.flatMap(([name, descending]) => {
    if (keyNames.includes(name) && !grouped.includes(name)) {
      fault(
        called.orderBy,
        `names ${name}, by which nothing is grouped: add it to ${called.groupBy}`,
      )
      return []
    }
    const value = known(called.orderBy, name, ordering)
    return value ? [{ value, descending }] : []
  })

  const compared = all.filter(name => values.get(name)?.kind !== 'key')
  const fieldFor = (name: string) => {
    const value = values.get(name) as GroupValue
    const { scalar, scale, exact } = typeOf(entity, value)
    const mean = {
      scalar: 'decimal',
      scale: digitsOf({ scalar, scale }, digits) + meanDigits,
    } as const
    const none = {
      items: undefined,
      references: undefined,
      foldedFrom: undefined,
      accents: undefined,
    }
    const words = 'field' in value ? fieldOf(entity, value.field).values : undefined
    return { scalar, scale, values: words, ...none, ...(exact === 'mean' && mean) }
  }
  const groups = {
    table: '',
    fields: Object.fromEntries(compared.map(name => [name, fieldFor(name)])),
    relations: {},
  }
  const of = `a group of ${entity.plural}`
  const context = {
    entities: { [of]: groups },
    digits,
    groups: {
      operatorsOf: (name: string) => groupOperators(fieldFor(name).scalar),
      valueOf: (name: string, given: unknown) => stored(values.get(name) as GroupValue, given),
    },
  }
  const resolved = having === undefined ? undefined : resolveCondition(context, of, flat(having))
  for (const { path, message } of resolved?.faults ?? [])
    fault(path === '' ? called.having : `${called.having}.${path}`, message)
  const isLarge = (number: number) => Math.abs(number) > Number.MAX_SAFE_INTEGER
  if (resolved && numbersIn(resolved.predicate).some(isLarge))
    fault(
      called.having,
      'compares with a number that has more digits than 2^53: take a smaller one',
    )
  if (faults.length > 0) return { faults }
  if (!resolved) return { keys, timeZone, order, compared: [] }
  const used = [...new Set(namesIn(resolved.predicate))].map(name => values.get(name) as GroupValue)
  const named = renamed(resolved.predicate, name => nameOf(values.get(name) as GroupValue))
  return { keys, timeZone, order, having: named, compared: used }
}

/** The fault of groups that are more than are answered, where the caller did not say how many it wants. */
export const tooManyGroups = `makes more than ${mostGroups} groups: group by less, narrow having, or give an order and a limit`
