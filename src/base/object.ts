/** JSON objects. */

export type JsonObject = Readonly<Record<string, unknown>>

/** Whether a value of JSON is an object: neither null nor a list. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
