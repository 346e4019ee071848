/** Request bodies as JSON objects, read more strictly than JSON.parse does. */
import { isObject, type JsonObject } from '#base/object.ts'
import { ApiError } from '#errors.ts'

/** How deep a body may nest; the outermost object is level 1. */
const deepest = 32

const malformed = (message: string) => new ApiError('MALFORMED_REQUEST', message)

const decoder = new TextDecoder('utf-8', { fatal: true })

/** The text of UTF-8 bytes; throws `MALFORMED_REQUEST` where they are not UTF-8. */
export const decodeUtf8 = (bytes: Uint8Array): string => {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new ApiError('MALFORMED_REQUEST', 'The body is not UTF-8', { cause })
  }
}

const code = {
  quote: 0x22,
  backslash: 0x5c,
  open: 0x7b,
  close: 0x7d,
  list: 0x5b,
  end: 0x5d,
  comma: 0x2c,
}

/** The index after the string that begins at `start`. */
const stringEnd = (text: string, start: number): number => {
  let index = start + 1
  for (let unit = text.charCodeAt(index); unit !== code.quote; unit = text.charCodeAt(index))
    index += unit === code.backslash ? 2 : 1
  return index + 1
}

/** The name that a string of JSON is, with its quotes. */
const nameOf = (string: string): string =>
  string.includes('\\') ? (JSON.parse(string) as string) : string.slice(1, -1)

/**
 * Throws where valid JSON nests too deep or gives a member twice, which JSON.parse lets pass:
 * two readers of such a body could see two different requests (RFC 8259, section 4).
 */
const checkStructure = (text: string): void => {
  // The names of each object that is open, null for a list.
  const scopes: (Set<string> | null)[] = []
  let scope: Set<string> | null | undefined
  let expectsKey = false
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit === code.quote) {
      const end = stringEnd(text, index)
      if (expectsKey && scope) {
        const key = nameOf(text.slice(index, end))
        if (scope.has(key)) throw malformed(`The member ${JSON.stringify(key)} is given twice`)
        scope.add(key)
        expectsKey = false
      }
      index = end - 1
    } else if (unit === code.open || unit === code.list) {
      scope = unit === code.open ? new Set() : null
      scopes.push(scope)
      if (scopes.length > deepest) throw malformed(`The body nests deeper than ${deepest} levels`)
      expectsKey = unit === code.open
    } else if (unit === code.close || unit === code.end) {
      scopes.pop()
      scope = scopes.at(-1)
    } else if (unit === code.comma) expectsKey = scope instanceof Set
  }
}

/** The object that a JSON text is; throws `MALFORMED_REQUEST` with what is wrong. */
export const parseObject = (text: string): JsonObject => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new ApiError('MALFORMED_REQUEST', `The body is not JSON: ${(cause as Error).message}`, {
      cause,
    })
  }
  checkStructure(text)
  if (!isObject(value)) throw malformed('The body must be a JSON object')
  return value
}
