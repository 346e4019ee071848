/** Request bodies as JSON objects, read more strictly than JSON.parse does. */
import { isObject, type JsonObject } from '#base/object.ts'
import { ApiError } from '#errors.ts'

/** How deep a body may nest; the outermost object is level 1. */
const deepest = 32

const malformed = (message: string, cause?: unknown) =>
  new ApiError('MALFORMED_REQUEST', message, { cause })

const decoder = new TextDecoder('utf-8', { fatal: true })

/** The text of UTF-8 bytes; throws `MALFORMED_REQUEST` where they are not UTF-8. */
export const decodeUtf8 = (bytes: Uint8Array): string => {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw malformed('The body is not UTF-8', cause)
  }
}

/** The strings of a valid JSON text, and the marks around them. */
const tokens = /"(?:[^"\\]+|\\.)*"|[{}[\],]/g

/**
 * Throws where valid JSON nests too deep or gives a member twice, which JSON.parse lets pass:
 * two readers of such a body could see two different requests (RFC 8259, section 4).
 */
const checkStructure = (json: string): void => {
  // The names of each object that is open, null for a list.
  const scopes: (Set<string> | null)[] = []
  let isKeyNext = false
  for (const token of json.match(tokens) ?? []) {
    const scope = scopes.at(-1)
    if (token === '{' || token === '[') {
      scopes.push(token === '{' ? new Set() : null)
      if (scopes.length > deepest) throw malformed(`The body nests deeper than ${deepest} levels`)
      isKeyNext = token === '{'
    } else if (token === '}' || token === ']') scopes.pop()
    else if (token === ',') isKeyNext = scope instanceof Set
    else if (isKeyNext && scope) {
      const name: string = token.includes('\\') ? JSON.parse(token) : token.slice(1, -1)
      if (scope.has(name)) throw malformed(`The member ${JSON.stringify(name)} is given twice`)
      scope.add(name)
      isKeyNext = false
    }
  }
}

/** The object of a JSON text; throws `MALFORMED_REQUEST` with the fault where it holds none. */
export const parseObject = (text: string): JsonObject => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw malformed(`The body is not JSON: ${(cause as Error).message}`, cause)
  }
  checkStructure(text)
  if (!isObject(value)) throw malformed('The body must be a JSON object')
  return value
}
