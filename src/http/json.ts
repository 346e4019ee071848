/** Request bodies as JSON objects, read more strictly than JSON.parse does. */

import { isObject, type JsonObject } from '#base/object.ts'
import { clipped } from '#base/text.ts'
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

/** An object or list that is open at some place of a text. */
type Scope = {
  readonly isObject: boolean
  /** The names of an object's members so far; made with the first one, since a body may have many empty objects. */
  names: Set<string> | undefined
  /** The member or element that is being read. */
  at: string | number
}

const mostMembers = 1000
const mostElements = 10_000

/** How many members and elements a body may have in all. */
const mostInAll = 50_000

/** The error for an object or list that is too large, the innermost of these scopes, or for the whole. */
const tooLarge = (named: string, message: string, scopes: readonly Scope[] = []): ApiError => {
  const path = scopes.slice(0, -1).map(({ at }) => at)
  const field = clipped(path.join('.'), 100)
  return new ApiError('VALIDATION_ERROR', `${field || named} ${message}`, {
    details: [{ field, message }],
  })
}

/** The name in a string with its quotes. */
const nameOf = (token: string): string => {
  if (!token.includes('\\')) return token.slice(1, -1)
  try {
    return JSON.parse(token)
  } catch {
    // A bad escape: the text is no JSON, and its parser will say so.
    return token
  }
}

/** Notes the name of a member in its scope, where it must not have been given yet. */
const addName = (scopes: readonly Scope[], scope: Scope, token: string, named: string): void => {
  scope.names ??= new Set()
  const { names } = scope
  const name = nameOf(token)
  if (names.has(name))
    throw malformed(`The member ${JSON.stringify(clipped(name, 100))} is given twice`)
  names.add(name)
  scope.at = name
  if (names.size > mostMembers)
    throw tooLarge(named, `has more than ${mostMembers} members`, scopes)
}

/** The place of the quote that ends the string which begins at `start`; the end of the text where there is none. */
const endOfString = (json: string, start: number): number => {
  for (let end = json.indexOf('"', start + 1); ; end = json.indexOf('"', end + 1)) {
    if (end < 0) return json.length
    let before = end - 1
    while (json[before] === '\\') before--
    if ((end - before) % 2 === 1) return end
  }
}

const marks = {
  quote: 34,
  comma: 44,
  list: 91,
  endOfList: 93,
  object: 123,
  endOfObject: 125,
} as const

/**
 * Throws where JSON nests too deep or gives a member twice, which JSON.parse lets pass: two readers of such a body
 * could see two different requests (RFC 8259, section 4). Throws `VALIDATION_ERROR` where an object, a list or the whole is too
 * large: all that reads it later takes some time for each member, JSON.parse too.
 */
const checkStructure = (json: string, named: string): void => {
  const scopes: Scope[] = []
  let scope: Scope | undefined
  let isKeyNext = false
  let inAll = 0
  const count = () => {
    if (++inAll > mostInAll)
      throw tooLarge(named, `has more than ${mostInAll} members and elements in all`)
  }
  const open = (isObject: boolean) => {
    scope = { isObject, names: undefined, at: isObject ? '' : 0 }
    scopes.push(scope)
    if (scopes.length > deepest) throw malformed(`${named} nests deeper than ${deepest} levels`)
    isKeyNext = isObject
    count()
  }
  const separate = (scope: Scope) => {
    count()
    isKeyNext = scope.isObject
    if (isKeyNext) return
    if (Number(scope.at) + 1 >= mostElements)
      throw tooLarge(named, `has more than ${mostElements} elements`, scopes)
    scope.at = Number(scope.at) + 1
  }
  for (let place = 0; place < json.length; place++) {
    const mark = json.charCodeAt(place)
    if (mark === marks.object || mark === marks.list) open(mark === marks.object)
    else if (mark === marks.endOfObject || mark === marks.endOfList) {
      scopes.pop()
      scope = scopes.at(-1)
    } else if (mark === marks.comma && scope) separate(scope)
    else if (mark === marks.quote) {
      const start = place
      place = endOfString(json, start)
      if (isKeyNext && scope) addName(scopes, scope, json.slice(start, place + 1), named)
      isKeyNext = false
    }
  }
}

/**
 * The value of a JSON text, which errors name so; throws `MALFORMED_REQUEST` where it is none, `VALIDATION_ERROR` where a part is too
 * large.
 */
export const parseJson = (text: string, named: string): unknown => {
  checkStructure(text, named)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw malformed(`${named} is not JSON: ${(cause as Error).message}`, cause)
  }
}

/** The object of a body's JSON text; throws what `parseJson` throws, and `MALFORMED_REQUEST` for another value. */
export const parseObject = (text: string): JsonObject => {
  const value = parseJson(text, 'The body')
  if (!isObject(value)) throw malformed('The body must be a JSON object')
  return value
}
