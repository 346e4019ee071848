/** The filters of a list, as query parameters ask for them. */
import type { Filter } from '#model/entity.ts'
import { decoded, type Form } from '#model/form.ts'
import { fieldOf } from '#model/model.ts'
import { parseMinor } from '#model/money.ts'
import type { Resource } from '#model/resource.ts'
import { codePoints, comparedWith, fold, type Scalar } from '#model/values.ts'
import type { Value, Where } from '#read/selection.ts'
import type { Query } from '#rest/query.ts'

/** A filter that has an effect, with its value; `member` is the parameter that asks for it. */
export type AppliedFilter = Omit<Where, 'slot'> & { readonly member: string; readonly value: Value }

/** One parameter of a query, the decimals of the currency, and whether a value that no row can have is a fault. */
type Asking = {
  readonly query: Query
  readonly name: string
  readonly digits: number
  readonly isStrict: boolean
}

/** A trigram index finds texts of at least so many letters. */
const indexedFrom = 3

/** A bound of a filter on a number of so many decimals. */
const numberOf = (text: string, { kind }: Filter, { query, name }: Asking, digits: number) => {
  const parsed = parseMinor(text, digits)
  if (!parsed) query.fault(name, 'must be a number')
  const { minor = 0n, rest = false } = parsed ?? {}
  // A bound between two minor units moves to the next one inside it; truncated, -0.005 has lost its sign.
  const beyond = rest && (kind === 'at least') !== text.startsWith('-')
  const step = kind === 'at least' ? 1n : -1n
  const bound = beyond ? minor + step : minor
  const most = BigInt(Number.MAX_SAFE_INTEGER)
  return Number(bound > most ? most : bound < -most ? -most : bound)
}

/** A bound of a filter on money, a number or a moment. */
const boundOf = (scalar: Scalar, text: string, filter: Filter, asking: Asking): number =>
  scalar === 'time'
    ? Number(storedValue(scalar, text, asking))
    : numberOf(text, filter, asking, scalar === 'money' ? asking.digits : 0)

/** The stored value that a parameter of an equality filter stands for. */
const storedValue = (scalar: Scalar, text: string, { query, name, digits }: Asking): Value => {
  const compared = comparedWith(scalar, text, digits)
  if ('value' in compared) return compared.value
  query.fault(name, compared.fault)
  return null
}

/** The stored word that a word of a version stands for; null, as no row has it, for others where they are no fault. */
const wordFor = (
  form: Exclude<Form, string> | undefined,
  text: string,
  values: readonly string[],
  asking: Asking,
) => {
  const own = decoded(form ?? { words: {} }, text, values)
  if ('value' in own) return String(own.value)
  if (asking.isStrict) asking.query.fault(asking.name, own.fault)
  return null
}

const equalTo = ({ entity, formOf }: Resource, field: string, text: string, asking: Asking) => {
  const { scalar, values } = fieldOf(entity, field)
  const form = formOf(field)
  return values === undefined || typeof form === 'string'
    ? storedValue(scalar, text, asking)
    : wordFor(form, text, values, asking)
}

/** Whether only rows above zero are asked for. */
const isTrue = (text: string, { query, name, isStrict }: Asking): boolean => {
  if (isStrict && !['', 'true', 'false'].includes(text)) query.fault(name, 'must be true or false')
  return text === 'true'
}

const appliedFilter = (
  resource: Resource,
  filter: Filter,
  asking: Asking,
): Omit<AppliedFilter, 'member'> | undefined => {
  const text = asking.query.get(asking.name)
  if (text === undefined) return undefined
  const { field } = filter
  const { scalar } = fieldOf(resource.entity, field)
  switch (filter.kind) {
    case 'equals':
      return text === ''
        ? undefined
        : { field, is: 'equals', value: equalTo(resource, field, text, asking) }
    case 'above zero':
      return isTrue(text, asking) ? { field, is: 'above zero', value: null } : undefined
    case 'contains': {
      const needle = fold(text)
      const is = codePoints(needle) < indexedFrom ? 'contains short' : 'contains'
      return needle === '' ? undefined : { field, is, value: needle }
    }
    case 'at least':
    case 'at most':
      return { field, is: filter.kind, value: boundOf(scalar, text, filter, asking) }
    default:
      return filter satisfies never
  }
}

/** The filters that a request asks for and that have an effect, in the entity's order. A strict version refuses values that no row can have. */
export const filtersOf = (
  resource: Resource,
  query: Query,
  digits: number,
  isStrict: boolean,
): readonly AppliedFilter[] =>
  Object.entries(resource.filters).flatMap(([member, filter]) => {
    const applied = appliedFilter(resource, filter, { query, name: member, digits, isStrict })
    return applied ? [{ ...applied, member }] : []
  })
