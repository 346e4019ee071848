/** The members of an object that a caller sent, each by its check: every fault at once. */
import type { Check } from '#base/check.ts'
import type { JsonObject } from '#base/object.ts'
import type { FieldFault } from '#errors.ts'

type Made<Of> = Of extends Check<infer Value> ? Value : never

/** The same check, with what it finds where a member is not given. */
export const whereAbsent =
  <Value, Absent = never>(
    check: Check<Value>,
    found: { readonly value: Absent } | { readonly fault: string },
  ): Check<Value | Absent> =>
  given =>
    given === undefined ? found : check(given)

/** The values of the members that are right, and a fault for each other one and for each unknown one; `at` is the path of the object. */
export const checkMembers = <Checks extends Readonly<Record<string, Check>>>(
  object: JsonObject,
  checks: Checks,
  at = '',
) => {
  const faults: FieldFault[] = Object.keys(object)
    .filter(key => !Object.hasOwn(checks, key))
    .map(key => ({ field: `${at}${key}`, message: 'is not a member here' }))
  const values: { [Key in keyof Checks]?: Made<Checks[Key]> } = {}
  for (const key of Object.keys(checks) as (keyof Checks & string)[]) {
    const checked = checks[key]?.(object[key])
    if (checked && 'fault' in checked) faults.push({ field: `${at}${key}`, message: checked.fault })
    else values[key] = checked?.value as Made<Checks[typeof key]>
  }
  return { values, faults }
}
