/** Query parameters, read strictly: each fault is named, all at once. */
import { nearest } from '#base/nearest.ts'
import { parametersIn } from '#base/parameters.ts'
import type { FieldFault } from '#errors.ts'
import { isStorable } from '#model/values.ts'
import type { Version } from '#model/version.ts'
import { styleOf } from '#versions/differences.ts'
import { invalid } from '#write/input.ts'

const wholeForm = /^[+-]?\d+$/

const unknownParameter = (name: string, known: readonly string[]): string => {
  const near = nearest(name, known)
  if (near !== undefined) return `is not a parameter here; did you mean ${near}?`
  const [only, ...others] = known
  return others.length === 0
    ? `is not a parameter here; there is only ${only}`
    : `is not a parameter here; there are ${known.join(', ')}`
}

/** Throws `VALIDATION_ERROR` where a strict version is given a query parameter that is not among these, or `version`. */
export const checkParameters = (
  text: string,
  version: Version,
  known: readonly string[] = [],
): void => {
  if (text === '' || !styleOf(version).isStrict) return
  const query = parseQuery(text)
  query.only([...known, 'version'])
  query.done()
}

/** The parameters of a query string, and the faults found in them so far; one that is given twice and is used is a fault. */
export const parseQuery = (text: string) => {
  const parameters = parametersIn(text)
  const faults: FieldFault[] = []
  const fault = (field: string, message: string) => void faults.push({ field, message })
  /** Its value; undefined where none is given, or one that no database takes. */
  const get = (name: string): string | undefined => {
    const values = parameters.getAll(name)
    if (values.length > 1) fault(name, 'must be given once')
    const [value] = values
    if (value === undefined || isStorable(value)) return value
    fault(name, 'must not contain NUL or lone surrogates')
    return undefined
  }
  /** A whole number; undefined where none is given. */
  const whole = (name: string): number | undefined => {
    const value = get(name)
    if (value === undefined) return undefined
    if (wholeForm.test(value)) return Number(value)
    fault(name, 'must be a whole number')
    return undefined
  }
  /** Makes every parameter that is not among these a fault. */
  const only = (known: readonly string[]) => {
    for (const name of new Set(parameters.keys()))
      if (!known.includes(name)) fault(name, unknownParameter(name, known))
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
    if (!isSound()) throw invalid(faults)
  }
  return { get, whole, fault, only, others, isSound, done }
}

export type Query = ReturnType<typeof parseQuery>
