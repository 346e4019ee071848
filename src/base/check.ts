/** Checks of values from outside: each gives the value as it is taken, or says its fault. */

/** What a check finds: the value, or the fault as a phrase that follows the name of the value, such as `must be a string`. */
type CheckResult<Value> = { readonly value: Value } | { readonly fault: string }

export type Check<Value = unknown, Given = unknown> = (given: Given) => CheckResult<Value>

/** Takes the values that are of a type, as `is` knows it. */
export const ofType =
  <Value>(is: (given: unknown) => given is Value, fault: string): Check<Value> =>
  given =>
    is(given) ? { value: given } : { fault }

/** Takes any text. */
export const anyText = (fault: string): Check<string> =>
  ofType((given): given is string => typeof given === 'string', fault)

/** The same check, which also refuses values that `isSo` does not hold for. */
export const where =
  <Value, Given>(
    check: Check<Value, Given>,
    isSo: (value: Value) => boolean,
    fault: string,
  ): Check<Value, Given> =>
  given => {
    const checked = check(given)
    return 'fault' in checked || isSo(checked.value) ? checked : { fault }
  }

/** The same check, with the result of `make` in place of the value. */
export const transformed =
  <Value, Made, Given>(
    check: Check<Value, Given>,
    make: (value: Value) => Made,
  ): Check<Made, Given> =>
  given => {
    const checked = check(given)
    return 'fault' in checked ? checked : { value: make(checked.value) }
  }
