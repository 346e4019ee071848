/** Conditions of callers of strict versions on the rows of a list: parameters such as `rating[gte]` and `tags.slug`, and the JSON of `where`. */
import { isReadBack } from '#base/number.ts'
import { nearest } from '#base/text.ts'
import { ApiError } from '#errors.ts'
import { parseJson, parseObject } from '#http/body.ts'
import { formType } from '#http/request.ts'
import {
  mostComparisons,
  operandOf,
  operatorsOf,
  type Predicate,
  partsOf,
  ValueFault,
} from '#model/condition.ts'
import { type Entity, mayNameField, mayNameRelation, type Relation } from '#model/entity.ts'
import { fieldOf, type Model } from '#model/model.ts'
import { digitsOf, formatMinor, parseMinor } from '#model/money.ts'
import { type Resource, resourceOf } from '#model/resource.ts'
import { comparedWith, notAnId, parseId, withPlus } from '#model/values.ts'
import {
  decoded,
  type Form,
  isIn,
  lifetimeOf,
  type Version,
  type VersionStyle,
} from '#model/version.ts'
import { type CallerCondition, resolveCallerCondition } from '#read/caller-condition.ts'
import type { ParameterValue, Slot, Where } from '#read/selection.ts'
import { filtersReader, type QueryParameters } from '#rest/query.ts'
import { invalid } from '#write/input.ts'

/** Whether a version shows that a relation is there: its nested list, its rows within an object, the reference, or GraphQL does. */
const isShown = ({ entity, version }: Resource, name: string, relation: Relation): boolean =>
  relation.graphql ||
  (relation.kind === 'one'
    ? fieldOf(entity, relation.by).rest
    : (relation.rest && isIn(lifetimeOf(relation), version)) || name in entity.rest.embedded)

const known = new WeakMap<Resource, ReadonlyMap<string, string>>()

/** The members of an entity's rows that callers of a version may compare, and the relations that they may cross, with their own names. */
export const filterableMembers = (
  model: Pick<Model, 'entities'>,
  resource: Resource,
): ReadonlyMap<string, string> =>
  known.getOrInsertComputed(resource, ({ entity, members }) => {
    const relations = Object.entries(entity.relations).flatMap(([name, relation]) =>
      isShown(resource, name, relation) && mayNameRelation(model.entities, entity, name)
        ? [[name, name] as const]
        : [],
    )
    const fields = members.flatMap(member =>
      member.kind === 'field' && mayNameField(entity, member.field)
        ? [[member.name, member.field] as const]
        : [],
    )
    return new Map([...relations, ...fields])
  })

/** The value of a condition that a text of a parameter stands for. */
const valueOfText = (
  entity: Entity,
  key: string,
  form: Form | undefined,
  text: string,
  digits: number,
) => {
  const whole = fieldOf(entity, key)
  const field = whole.scalar === 'list' && whole.items ? whole.items : whole
  const { scalar, values } = field
  if (scalar === 'money' || scalar === 'decimal')
    return valueOfNumber(text, digitsOf(field, digits)) ?? new ValueFault('must be a number')
  if (values && typeof form === 'object') return valueOfWord(form, text, values)
  if (scalar === 'text' || scalar === 'date') return text
  if (scalar === 'time') return withPlus(text)
  if (scalar === 'id') return parseId(text) ?? new ValueFault(notAnId)
  const compared = comparedWith(field, text, digits)
  if ('fault' in compared) return new ValueFault(compared.fault)
  return scalar === 'flag' ? compared.value === 1 : compared.value
}

/** The number of a text as conditions have it, which is on the same side of each amount; undefined if the text is none. */
const valueOfNumber = (text: string, digits: number): number | undefined => {
  const parsed = parseMinor(text, digits)
  if (!parsed?.rest || isReadBack(text)) return parsed && Number(text)
  // Read as a double, 1e-400 would be 0, and 19.9900000000000000001 would be 19.99.
  const sign = text.startsWith('-') ? '-' : ''
  const [whole, fraction = ''] = formatMinor(parsed.minor, digits).replace('-', '').split('.')
  return Number(`${sign}${whole}.${fraction.padEnd(digits, '0')}5`)
}

/** The value of a condition that a version's word stands for. */
const valueOfWord = (
  form: Exclude<Form, 'as seconds'>,
  given: unknown,
  values?: readonly string[],
) => {
  const own = decoded(form, given, values)
  return 'value' in own ? own.value : new ValueFault(own.fault)
}

/** The value of a condition that JSON stands for, as the members of a version are written. */
const valueOfJson = (entity: Entity, key: string, form: Form | undefined, given: unknown) => {
  if (given === null || form === undefined) return given
  if (form !== 'as seconds') return valueOfWord(form, given, fieldOf(entity, key).values)
  return Number.isSafeInteger(given) && Math.abs(Number(given)) < 8.64e12
    ? new Date(Number(given) * 1000)
    : new ValueFault('must be a whole number of seconds')
}

/** The same of JSON in a URL, whose times may have lost a plus. */
export const valueOfUrl: typeof valueOfJson = (entity, key, form, given) => {
  const isTime = typeof given === 'string' && fieldOf(entity, key).scalar === 'time'
  return valueOfJson(entity, key, form, isTime ? withPlus(given) : given)
}

/** What a text stands for as the operand of an operator, before the kind of the field is looked at. */
const operandIn = (operator: string, text: string): unknown => {
  const takes = operandOf(operator)
  if (takes === 'values') return text.split(',')
  return takes === 'flag' && (text === 'true' || text === 'false') ? text === 'true' : text
}

const parameterForm = /^([^[\]]+)(?:\[([^[\]]*)\])?$/

/** The parameters of an entity's lists that are conditions, beside others. */
const conditionsOf = (model: Model, resource: Resource, parameters: readonly string[]) => {
  /** The condition of a parameter, or what finds the name that was probably meant, undefined if it is near to none, and what there is. */
  const read = (
    name: string,
    text: string,
  ): { condition: unknown } | { near: () => string | undefined; there: () => string } => {
    const [, path = '', operator] = parameterForm.exec(name) ?? []
    const segments = path.split('.')
    const bracketed = operator === undefined ? '' : `[${operator}]`
    const steps: ((of: unknown) => object)[] = []
    let at = resource
    for (const [index, segment] of segments.entries()) {
      const members = filterableMembers(model, at)
      const key = members.get(segment)
      const relation = key === undefined ? undefined : at.entity.relations[key]
      const isLast = index === segments.length - 1
      if (key === undefined || (relation === undefined) !== isLast) {
        const { relations } = at.entity
        const others = () =>
          [...members].flatMap(([one, of]) =>
            (relations[of] === undefined) === isLast ? [one] : [],
          )
        const near = () => {
          const near = key === undefined ? nearest(segment, others()) : undefined
          return near && `${segments.with(index, near).join('.')}${bracketed}`
        }
        const whole = segments.slice(0, index + 1).join('.')
        const there = () => {
          if (relation) return `go on to a member of ${whole}, as in ${whole}.id`
          if (key !== undefined) return `${whole} has no members`
          const all = others().join(', ')
          return index > 0
            ? `${segments.slice(0, index).join('.')} has ${all}`
            : `there are ${parameters.join(', ')}, and conditions on ${all}`
        }
        return { near, there }
      }
      if (!relation) {
        const operators = operatorsOf(at.entity, key)
        const is = operator ?? 'eq'
        if (!operators.includes(is)) {
          const near = () => {
            const near = nearest(is, operators)
            return near && `${path}[${near}]`
          }
          return { near, there: () => `${path} takes ${operators.join(', ')}` }
        }
        const condition = { [segment]: { [is]: operandIn(is, text) } }
        return { condition: steps.reduceRight<unknown>((of, step) => step(of), condition) }
      }
      steps.push(of => ({ [segment]: relation.kind === 'one' ? of : { some: of } }))
      at = resourceOf(model, relation.to, resource.version)
    }
    return { near: () => undefined, there: () => 'write a condition as in id[gte]' }
  }
  return read
}

/** Names what is wrong with the JSON of a parameter; what parses it has thrown the error. */
export const jsonFault = (
  query: QueryParameters,
  name: string,
  error: unknown,
  message: string,
): void => {
  if (!(error instanceof ApiError)) throw error
  const faults = error.code === 'VALIDATION_ERROR' ? error.details : undefined
  for (const fault of faults ?? [{ field: '', message }])
    query.fault(fault.field === '' ? name : `${name}.${fault.field}`, fault.message)
}

/** Which rows of a list a request wants, by its declared filters and its condition: the values are for the slots that follow one another. */
export type ListFilter = {
  readonly where: readonly Where[]
  readonly condition: Predicate | undefined
  readonly values: readonly ParameterValue[]
  /** What tells it from filters of other plans. */
  readonly shape: string
  /** The fields that it looks at, null if it crosses relations. */
  readonly fields: readonly string[] | null
}

/** The filter of a request that wants all rows. */
export const everyRow: ListFilter = {
  where: [],
  condition: undefined,
  values: [],
  shape: '',
  fields: [],
}

/** The fields that a condition looks at, their folded copies' sources too; null if it looks at other rows. */
const fieldsIn = (entity: Entity, predicate: Predicate): readonly string[] | null => {
  if (predicate.kind === 'across') return null
  if (predicate.kind === 'compare' || predicate.kind === 'among') {
    const { field } = predicate
    return [field, fieldOf(entity, field).foldedFrom ?? field]
  }
  const parts = partsOf(predicate).map(part => fieldsIn(entity, part))
  return parts.some(part => part === null) ? null : parts.flatMap(part => part ?? [])
}

/** The vocabulary of a version for conditions: the members that they may compare, and how `read` takes values. */
const vocabularyFor = (model: Model, version: Version, path: string, read: typeof valueOfJson) => ({
  membersOf: (name: string) => filterableMembers(model, resourceOf(model, name, version)),
  valueOf: (name: string, key: string, given: unknown) => {
    const { entity, formOf } = resourceOf(model, name, version)
    return read(entity, key, formOf(key), given)
  },
  isShort: true,
  path,
})

/** The vocabulary of a version for conditions as JSON. */
export const jsonVocabulary = (model: Model, version: Version) =>
  vocabularyFor(model, version, 'where', valueOfJson)

/**
 * Reads the conditions of requests for rows of an entity: `parameters` are the names of the other ones, and `others` more that are too
 * many to be told. What is neither is a fault.
 */
const conditionReader = (
  model: Model,
  resource: Resource,
  parameters: readonly string[],
  others: readonly string[],
) => {
  const read = conditionsOf(model, resource, parameters)
  const { entity, version } = resource
  const { digits } = model.settings.currency
  const ofText = vocabularyFor(model, version, '', (entity, key, form, given) =>
    typeof given === 'string' ? valueOfText(entity, key, form, given, digits) : given,
  )
  const ofJson = vocabularyFor(model, version, 'where', valueOfUrl)
  return (query: QueryParameters, first: Slot) => {
    const given: { readonly name: string; readonly condition: unknown }[] = []
    for (const name of query.beside([...parameters, ...others])) {
      const text = query.get(name) ?? ''
      const found = read(name, text)
      if ('condition' in found) given.push({ name, condition: found.condition })
      else {
        const near = () => nearest(name, others) ?? found.near()
        query.unknown(name, parameters, near, found.there)
      }
    }
    const json = Object.hasOwn(resource.filters, 'where') ? undefined : query.get('where')
    if (given.length === 0 && json === undefined) return undefined
    const parts: CallerCondition[] = []
    let next = first
    let comparisons = 0
    const add = (
      vocabulary: typeof ofText,
      condition: unknown,
      nameOf: (path: string) => string,
    ) => {
      const found = resolveCallerCondition(model, resource.name, condition, vocabulary, next)
      if ('faults' in found)
        for (const { path, message } of found.faults) query.fault(nameOf(path), message)
      else {
        parts.push(found)
        next += found.values.length
        comparisons += found.comparisons
      }
    }
    // Each by itself, so that its faults have its name.
    for (const { name, condition } of given.slice(0, mostComparisons))
      add(ofText, condition, () => name)
    if (json !== undefined) {
      let condition: unknown
      try {
        condition = parseJson(json, 'where')
      } catch (error) {
        jsonFault(query, 'where', error, 'must be a condition as JSON, such as {"id":1}')
        return undefined
      }
      add(ofJson, condition, path => path)
    }
    if (comparisons > mostComparisons || given.length > mostComparisons)
      query.fault(
        json === undefined ? (given.at(-1)?.name ?? '') : 'where',
        `is one comparison more than the ${mostComparisons} that are taken of all conditions together: leave some out`,
      )
    const predicate: Predicate = { kind: 'and', of: parts.map(part => part.predicate) }
    return {
      predicate,
      values: parts.flatMap(({ values }) => values),
      shape: parts.map(({ shape }) => shape).join(),
      fields: fieldsIn(entity, predicate),
    }
  }
}

/** Reads which rows of a list requests want, by parameters that are told and `others` that are too many to be; a lenient version takes declared filters alone. */
export const listFilterReader = (
  model: Model,
  resource: Resource,
  { isStrict }: Pick<VersionStyle, 'isStrict'>,
  first: Slot,
  parameters: readonly string[],
  others: readonly string[] = [],
) => {
  const filtersIn = filtersReader(resource, model.settings.currency.digits, isStrict)
  const conditionIn = conditionReader(model, resource, parameters, others)
  return (query: QueryParameters): ListFilter => {
    const { where, values } = filtersIn(query, first)
    const found = isStrict ? conditionIn(query, first + values.length) : undefined
    const own = where.map(({ field }) => field)
    return {
      where,
      condition: found?.predicate,
      values: [...values, ...(found?.values ?? [])],
      shape: [
        ...where.map(({ field, is, to }) => `${field} ${is} ${to.kind}`),
        found?.shape,
      ].join(),
      fields: found?.fields === null ? null : [...own, ...(found?.fields ?? [])],
    }
  }
}

/** The media types of the bodies that a QUERY of a list of a version may have. */
export const queryTypes = ({ isStrict }: Pick<VersionStyle, 'isStrict'>): readonly string[] =>
  isStrict ? [formType, 'application/json'] : [formType]

/** What the JSON body of a QUERY says as parameters, which are its members. */
export const parametersOfBody = (text: string, members: readonly string[]): string => {
  const given = Object.entries(parseObject(text))
  const unknown = given.filter(([name]) => !members.includes(name))
  const some = members.length > 0 ? `there is only ${members.join(' and ')}, and ` : ''
  const there = `${some}parameters are in the URL`
  if (unknown.length > 0)
    throw invalid(unknown.map(([field]) => ({ field, message: `is not a member here; ${there}` })))
  return given.map(([name, one]) => `${name}=${encodeURIComponent(JSON.stringify(one))}`).join('&')
}
