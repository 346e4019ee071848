/** Request bodies as JSON objects, read more strictly than JSON.parse does. */
import { ApiError } from '#errors.ts'

export type JsonObject = Readonly<Record<string, unknown>>

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

const quoteCode = 0x22
const backslash = 0x5c

/** The index after the string that begins at `start`. */
const stringEnd = (text: string, start: number): number => {
  let index = start + 1
  while (text.charCodeAt(index) !== quoteCode) index += text.charCodeAt(index) === backslash ? 2 : 1
  return index + 1
}

/**
 * Throws where valid JSON nests too deep or gives a member twice, which JSON.parse lets pass:
 * two readers of such a body could see two different requests (RFC 8259, section 4).
 */
const checkStructure = (text: string): void => {
  const scopes: (Set<string> | null)[] = []
  let expectsKey = false
  for (let index = 0; index < text.length; ) {
    const letter = text[index]
    if (letter === '"') {
      const end = stringEnd(text, index)
      const scope = scopes.at(-1)
      if (expectsKey && scope) {
        const key = JSON.parse(text.slice(index, end)) as string
        if (scope.has(key)) throw malformed(`The member ${JSON.stringify(key)} is given twice`)
        scope.add(key)
        expectsKey = false
      }
      index = end
      continue
    }
    if (letter === '{' || letter === '[') {
      scopes.push(letter === '{' ? new Set() : null)
      if (scopes.length > deepest) throw malformed(`The body nests deeper than ${deepest} levels`)
      expectsKey = letter === '{'
    } else if (letter === '}' || letter === ']') scopes.pop()
    else if (letter === ',') expectsKey = scopes.at(-1) instanceof Set
    index++
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
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw malformed('The body must be a JSON object')
  return value as JsonObject
}
