/** What a field's rule makes of a value, as the references of tests take it. */
import type { Check } from '#base/check.ts'

/** The value as the rule takes it; undefined where it refuses it. */
export const taken = (rule: Check, value: unknown): unknown => {
  const checked = rule(value)
  return 'value' in checked ? checked.value : undefined
}
