/** Query parameters, read strictly: each fault is named, all at once. */
import { nearest } from '#base/nearest.ts'
import { parametersIn } from '#base/parameters.ts'
import type { FieldFault } from '#errors.ts'
import { isStorable } from '#model/text.ts'
import type { Version } from '#model/version.ts'
import { styleOf } from '#rest/style.ts'
import { invalid } from '#write/input.ts'

/** The parameters of a request, and the faults found in them so far. */
export type Query = {
  /** Its value; undefined where none is given, or one that no database takes. */
  readonly get: (name: string) => string | undefined
  /** A whole number; undefined where none is given. */
  readonly whole: (name: string) => number | undefined
  readonly fault: (name: string, message: string) => void
  /** Makes every parameter that is not among these a fault. */
  readonly only: (known: readonly string[]) => void
  /** The parameters that do not say which page, for links to other pages. */
  readonly others: () => string
  /** Whether there were no faults. */
  readonly isSound: () => boolean
  /** Throws `VALIDATION_ERROR` when there were faults. */
  readonly done: () => void
}

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

/** Reads a query string; a parameter that is given twice and is used is a fault. */
export const parseQuery = (text: string): Query => {
  const parameters = parametersIn(text)
  const faults: FieldFault[] = []
  const fault = (field: string, message: string) => void faults.push({ field, message })
  const get = (name: string) => {
    const values = parameters.getAll(name)
    if (values.length > 1) fault(name, 'must be given once')
    const [value] = values
    if (value === undefined || isStorable(value)) return value
    fault(name, 'must not contain NUL or lone surrogates')
    return undefined
  }
  const whole = (name: string) => {
    const value = get(name)
    if (value === undefined) return undefined
    if (wholeForm.test(value)) return Number(value)
    fault(name, 'must be a whole number')
    return undefined
  }
  const only = (known: readonly string[]) => {
    for (const name of new Set(parameters.keys()))
      if (!known.includes(name)) fault(name, unknownParameter(name, known))
  }
  const others = () => {
    const copy = new URLSearchParams(parameters)
    for (const name of ['page', 'offset', 'cursor']) copy.delete(name)
    return copy.toString()
  }
  const done = () => {
    if (faults.length > 0) throw invalid(faults)
  }
  return { get, whole, fault, only, others, done, isSound: () => faults.length === 0 }
}
