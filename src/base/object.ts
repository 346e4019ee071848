/** JSON objects. */

export type JsonObject = Readonly<Record<string, unknown>>

/** Whether a value of JSON is an object: neither null nor a list. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value of an object's own key; undefined for inherited ones, such as `constructor`. */
export const own = <Value>(
  object: Readonly<Record<string, Value>>,
  key: string,
): Value | undefined => (Object.hasOwn(object, key) ? object[key] : undefined)

/** The object with the results of `make` for each of its values, whose keys it gets too. */
export const mapped = <Value, Made>(
  object: Readonly<Record<string, Value>>,
  make: (value: Value, key: string) => Made,
): Readonly<Record<string, Made>> =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, make(value, key)]))

/** A value of JSON with a merge patch applied to it, by the algorithm of RFC 7396, section 2. */
export const mergePatch = (target: unknown, patch: unknown): unknown => {
  if (!isObject(patch)) return patch
  const merged = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [key, value] of Object.entries(patch))
    if (value === null) merged.delete(key)
    else merged.set(key, mergePatch(merged.get(key), value))
  return Object.fromEntries(merged)
}
