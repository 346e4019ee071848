/** The query parameters of reads: their names, how they are parsed, and the members and filters that they select. All faults are named at once. */
import { after } from '#base/after.ts'
import { nearest, parametersIn } from '#base/text.ts'
import { type FaultMessage, type FieldFault, messageOf } from '#errors.ts'
import { checkUtf8, parametersOf } from '#http/request.ts'
import { groupParameters } from '#model/aggregate.ts'
import { comparedTo, type FieldComparison } from '#model/condition.ts'
import type { Filter } from '#model/entity.ts'
import { fieldOf } from '#model/model.ts'
import { digitsOf } from '#model/money.ts'
import { type Resource, resourceOf } from '#model/resource.ts'
import {
  amountWith,
  codePoints,
  comparedWith,
  indexedFrom,
  isStorable,
  notAnId,
  notStorable,
  parseId,
} from '#model/values.ts'
import { decoded, type VersionStyle } from '#model/version.ts'
import { foldedAs, searchedWords } from '#model/words.ts'
import type { ParameterValue, Slot, Where } from '#read/selection.ts'
import type { Mount } from '#rest/represent.ts'
import type { Route } from '#rest/routes.ts'
import type { RestHandler } from '#versions/negotiation.ts'
import { invalid } from '#write/input.ts'

/** The names of all the members of a resource's object, in their order. */
export const memberNames = ({ members }: Resource): readonly string[] =>
  members.map(({ name }) => name)

/** Whether the lists of a resource are searched by its words: in a strict version, if its entity says so. */
export const isSearched = (
  { entity }: Resource,
  { isStrict }: Pick<VersionStyle, 'isStrict'>,
): boolean => isStrict && Object.keys(entity.search).length > 0

/** The words that `search` looks for; empty for none. */
export const searchOf = (query: QueryParameters): string => {
  const words = searchedWords(query.get('search') ?? '')
  if ('value' in words) return words.value
  query.fault('search', words.fault)
  return ''
}

/** The query parameters of a route, beside `version`: of a list, of one thing, and no others. Every list of a strict version has an order. */
export const queryParameters = (
  resource: Resource,
  kind: Route['kind'],
  style: Pick<VersionStyle, 'isStrict'>,
): readonly string[] => {
  const { listing, selectable } = resource.entity.rest
  const { paging, sort } = listing
  const fields = selectable ? ['fields'] : []
  const { isStrict } = style
  const chosen = [
    ...Object.keys(resource.filters),
    ...(isSearched(resource, style) ? ['search'] : []),
  ]
  if (kind === 'aggregate')
    return [...new Set([...groupParameters, 'sort', 'limit', ...chosen, 'where'])]
  const hasFiles = Object.values(resource.entity.fields).some(({ file, rest }) => file && rest)
  if (kind !== 'list') return kind === 'one' ? [...fields, ...(hasFiles ? ['signed'] : [])] : []
  return [
    ...(paging === 'cursor' ? ['cursor'] : ['page']),
    ...(paging === 'page or offset' ? ['offset'] : []),
    ...(paging !== 'cursor' && isStrict ? ['cursor'] : []),
    'limit',
    ...(sort || isStrict ? ['sort'] : []),
    ...(sort?.style === 'field and order' ? ['order'] : []),
    ...fields,
    ...chosen,
    // A filter of the content may have the name.
    ...(isStrict && !chosen.includes('where') ? ['where'] : []),
  ]
}

const wholeForm = /^[+-]?\d+$/

/** The parameters of a query string, and the faults found in them so far; one that is given twice and is used is a fault. */
export const parseQuery = (text: string) => {
  const parameters = parametersIn(text)
  const faults: FieldFault[] = []
  const given = Map.groupBy(parameters, ([name]) => name)
  const fault = (field: string, message: FaultMessage) =>
    void faults.push({ field, message: messageOf(message, faults.length) })
  /** Its value; undefined if none is given, or one that no database takes. */
  const get = (name: string): string | undefined => {
    const values = given.get(name) ?? []
    if (values.length > 1) fault(name, 'must be given once; a list has commas between its values')
    const [[, value] = []] = values
    checkUtf8(text, name, value)
    if (value === undefined || isStorable(value)) return value
    fault(name, notStorable)
    return undefined
  }
  const has = (name: string): boolean => given.has(name)
  /** A whole number; undefined if none is given. */
  const whole = (name: string): number | undefined => {
    const value = get(name)
    if (value === undefined) return undefined
    if (wholeForm.test(value)) return Number(value)
    fault(name, 'must be a whole number')
    return undefined
  }
  /** The names that are not among these. */
  const beside = (known: readonly string[]): readonly string[] =>
    [...given.keys()].filter(name => !known.includes(name))
  /** Makes a parameter that is not among these a fault; another name may be near to it, or something else can be said. */
  const unknown = (
    name: string,
    known: readonly string[],
    nearOther: () => string | undefined = () => undefined,
    otherwise = () => `there ${known.length === 1 ? 'is only' : 'are'} ${known.join(', ')}`,
  ) =>
    fault(name, () => {
      const near = nearest(name, known) ?? nearOther()
      return `is not a parameter here; ${near === undefined ? otherwise() : `did you mean ${near}?`}`
    })
  /** Makes every parameter that is not among these a fault. */
  const only = (known: readonly string[]) => {
    for (const name of beside(known)) unknown(name, known)
  }
  /** The parameters that do not say which page, for links to other pages. */
  const others = (): string => {
    const copy = new URLSearchParams(parameters)
    for (const name of ['page', 'offset', 'cursor']) copy.delete(name)
    return copy.toString()
  }
  const isSound = () => faults.length === 0
  /** Throws `VALIDATION_ERROR` when there were faults. */
  const done = () => {
    if (faults.length > 0) throw invalid(faults)
  }
  return { get, has, whole, fault, beside, unknown, only, others, isSound, done }
}

export type QueryParameters = ReturnType<typeof parseQuery>

/** Throws `VALIDATION_ERROR` if a strict version is given any query parameter but `version` and those that are known. */
export const refuseParameters = (
  text: string,
  { isStrict }: VersionStyle,
  known: readonly string[] = [],
): void => {
  if (text === '' || !isStrict) return
  const query = parseQuery(text)
  query.only([...known, 'version'])
  query.done()
}

/** The most names of ignored parameters in the header. */
const mostIgnored = 10

/**
 * The same handler for developers, who may have misspelt a parameter that a lenient version ignores: it answers with the names
 * of those in the header `Duet-Ignored`, percent-encoded.
 */
export const reportingIgnored = (
  handle: RestHandler,
  { core, version, style }: Mount,
  derived: Route | undefined,
): RestHandler => {
  if (style.isStrict) return handle
  const known = derived
    ? queryParameters(resourceOf(core.model, derived.entity, version), derived.kind, style)
    : []
  return (c, viewer, named) => {
    const text = parametersOf(c)
    if (text === '') return handle(c, viewer, named)
    const names = new Set(parametersIn(text).keys())
    const ignored = [...names]
      .filter(name => name !== 'version' && !known.includes(name))
      .slice(0, mostIgnored)
    return after(handle(c, viewer, named), reply => {
      if (ignored.length > 0)
        reply.headers['Duet-Ignored'] = ignored
          .map(name => encodeURIComponent(name.toWellFormed()).slice(0, 100))
          .join(', ')
      return reply
    })
  }
}

/** The members that `fields` names, null without it. An unknown name or none at all is a fault, and then none is chosen. */
export const fieldsOf = (
  query: QueryParameters,
  known: readonly string[],
): readonly string[] | null => {
  const text = query.get('fields')
  if (text === undefined) return null
  const names = text.split(',').map(name => name.trim())
  const unknown = names.filter(name => !known.includes(name))
  if (unknown.length === 0) return names
  const there = `there are ${known.join(', ')}`
  if (text === '') query.fault('fields', `must name some of ${known.join(', ')}`)
  else if (unknown.includes(''))
    query.fault('fields', `has a comma with no name beside it; ${there}`)
  else query.fault('fields', `names ${unknown.join(', ')}, unknown here; ${there}`)
  return []
}

/** Whether `signed` wants addresses of files that hold without a token. */
export const signsIn = (query: QueryParameters): boolean => {
  const text = query.get('signed')
  if (text !== undefined && text !== '1') query.fault('signed', 'must be 1, or be left out')
  return text === '1'
}

/** The operators of conditions that the kinds of filters stand for. */
const operators = {
  equals: 'eq',
  'at least': 'gte',
  'at most': 'lte',
  'above zero': 'gt',
  contains: 'contains',
} as const satisfies Record<Filter['kind'], FieldComparison['is']>

/** Reads the text of a filter's parameter as the condition that it stands for; undefined if it has no effect. */
type FilterReader = (text: string, fault: (message: string) => void) => FieldComparison | undefined

const filterReader = (
  { entity, formOf }: Resource,
  { field, kind }: Filter,
  digits: number,
  isStrict: boolean,
): FilterReader => {
  const compared = fieldOf(entity, field)
  const { scalar, values } = compared
  const comparison = (value: string | number | null, is: FieldComparison['is'] = operators[kind]) =>
    ({ kind: 'compare', field, is, to: { kind: 'value', value } }) as const
  switch (kind) {
    case 'above zero':
      return (text, fault) => {
        if (isStrict && !['', 'true', 'false'].includes(text)) fault('must be true or false')
        return text === 'true' ? comparison(0) : undefined
      }
    case 'contains':
      return text => {
        const value = foldedAs(compared, text)
        const isShort = codePoints(value) < indexedFrom
        return value === '' ? undefined : comparison(value, isShort ? 'contains short' : 'contains')
      }
    case 'equals':
    case 'at least':
    case 'at most': {
      const isEqual = kind === 'equals'
      const form = formOf(field)
      if (isEqual && values !== undefined && typeof form !== 'string')
        return (text, fault) => {
          if (text === '') return undefined
          // No row has a word that stands for none of the field's, which a lenient version allows.
          const own = decoded(form ?? { values: {} }, text, values)
          if ('fault' in own && isStrict) fault(own.fault)
          return comparison('value' in own ? String(own.value) : null)
        }
      const isAmount = !isEqual && scalar !== 'time' && scalar !== 'date'
      const isStrictId = isStrict && scalar === 'id'
      return (text, fault) => {
        if (isEqual && text === '') return undefined
        let found = isAmount
          ? amountWith(text, digitsOf(compared, digits))
          : comparedWith(compared, text, digits)
        if (isStrictId && parseId(text) === undefined) found = { fault: notAnId }
        if ('fault' in found) fault(found.fault)
        const { is, to } = comparison('value' in found ? found.value : null)
        const predicate = comparedTo(field, is, to)
        return predicate.kind === 'compare' ? predicate : comparison(null)
      }
    }
    default:
      return kind satisfies never
  }
}

/**
 * Reads the filters of requests that have an effect as conditions, in the entity's order, and their values for the
 * slots from `first` on; `digits` are the decimals of the currency. A strict version refuses values that no row can have.
 */
export const filtersReader = (resource: Resource, digits: number, isStrict: boolean) => {
  const readers = Object.entries(resource.filters).map(([member, filter]) => {
    const read = filterReader(resource, filter, digits, isStrict)
    return { member, read, isFixed: filter.kind === 'above zero' }
  })
  return (query: QueryParameters, first: Slot) => {
    const where: Where[] = []
    const values: ParameterValue[] = []
    for (const { member, read, isFixed } of readers) {
      const text = query.get(member)
      const found =
        text === undefined ? undefined : read(text, message => query.fault(member, message))
      if (found?.to.kind !== 'value') continue
      // Zero is no value of the request, so it stands in the statement.
      const slot = first + values.length
      where.push({ ...found, to: isFixed ? found.to : { kind: 'slot', slot }, member })
      if (!isFixed) values.push(found.to.value)
    }
    return { where, values }
  }
}
