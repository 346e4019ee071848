/** Compares what an operation takes and answers: parameters, bodies, statuses and headers; and what documents keep of these by name. */
import { isObject, type JsonObject, own } from '#base/object.ts'
import { type DiffDirection, type Differences, found, newNotices } from '#contract/difference.ts'
import { compareSchemas } from '#contract/schema.ts'
import {
  type Compare,
  compareKeys,
  flag,
  followed,
  free,
  inside,
  type KeyComparisons,
  lists,
  maps,
  nothing,
  objects,
  type Place,
  pairOf,
  pairs,
  removed,
  throughRefs,
  unknown,
} from '#contract/walk.ts'

const compareMediaType = compareKeys({ schema: compareSchemas })

/** Compares bodies by their media types. */
const compareContents = maps(([type, was, is], at) => {
  const there = type === 'application/json' ? at : inside(at, ` (${type})`)
  if (was === undefined) return found(there, 'media-type-added', `${type} is new`, [type])
  if (is === undefined) return found(there, 'media-type-removed', `${type} is gone`, [type])
  return compareMediaType(was, is, inside(there, ' → '))
})

/** Compares what has its value either plain, by a schema, or in a media type, with the other keys of its kind. */
const valued = (keys: KeyComparisons): Compare => {
  const compare = compareKeys({ ...keys, schema: compareSchemas, content: compareContents })
  return throughRefs((before, after, at) => {
    const [was, is] = [before, after].map(part => isObject(part) && Object.hasOwn(part, 'content'))
    return was === is
      ? compare(before, after, at)
      : found(at, 'format-changed', `${at.member} is ${is ? '' : 'no longer '}in a media type`)
  })
}

/** Some of these words with commas between, as a pattern; undefined of any other parameter. */
const wordsIn = ({ schema, explode }: JsonObject): JsonObject | undefined => {
  const { type, items }: JsonObject = isObject(schema) ? schema : {}
  const { enum: words, 'x-sunsets': sunsets = {} }: JsonObject = isObject(items) ? items : {}
  if (type !== 'array' || explode !== false || !Array.isArray(words)) return undefined
  const one = `(${words.join('|')})`
  return { type: 'string', pattern: `^${one}(,${one})*$`, 'x-sunsets': sunsets }
}

/**
 * Both sides of a parameter that is a list of words, as they are sent: a list with commas between is a text, and one word is a list
 * of one.
 */
const asSent = (before: unknown, after: unknown): readonly [unknown, unknown] => {
  if (!isObject(before) || !isObject(after)) return [before, after]
  const text = ({ style: _, explode: __, ...rest }: JsonObject, schema: JsonObject) => ({
    ...rest,
    schema,
  })
  const [was, is] = [wordsIn(before), wordsIn(after)]
  if (was && is) return [text(before, was), text(after, is)]
  if (!is) return [was ? text(before, was) : before, after]
  const { schema } = before
  const single: unknown = isObject(schema) ? schema.enum : undefined
  const list = Array.isArray(single)
    ? wordsIn({ schema: { type: 'array', items: schema }, explode: false })
    : undefined
  return [list ? text(before, list) : before, text(after, is)]
}

const compareParameter: Compare = throughRefs((before, after, at) =>
  compareSent(...asSent(before, after), at),
)

const compareSent = valued({
  // It was found by them.
  name: free,
  in: free,
  required: flag('parameter-required', 'parameter-optional', ({ member }, isOn) =>
    isOn ? `${member} must be sent` : `${member} may be left out`,
  ),
})

/** The places in braces of a path, in order. */
const holes = (path: string): readonly string[] =>
  [...path.matchAll(/\{([^}]*)\}/g)].map(([, name = '']) => name)

const labelOf = (parameter: unknown) => {
  const { name, in: where }: JsonObject = isObject(parameter) ? parameter : {}
  return { where, name: String(name) }
}

/** What tells a parameter from the others: of one in the path its place, of a header its name in any case. */
const keyOf = (parameter: unknown, path: string): string => {
  const { name, where } = labelOf(parameter)
  const place = where === 'path' ? holes(path).indexOf(name) : -1
  if (place >= 0) return `{${place}}`
  return `${where} ${where === 'header' ? name.toLowerCase() : name}`
}

/** The parameters of an operation and of its path, by their keys; those of the operation win. */
export const parametersOf = (
  document: JsonObject,
  lists: readonly unknown[],
  path: string,
): JsonObject =>
  Object.fromEntries(
    lists
      .filter(Array.isArray)
      .flat()
      .map(parameter => [keyOf(followed(document, parameter), path), parameter]),
  )

const parameterAdded = (parameter: unknown, at: Place): Differences => {
  const there = followed(at.run.after, parameter)
  const isNeeded = isObject(there) && there.required === true
  return [
    ...(isNeeded
      ? found(at, 'required-parameter-added', `the parameter ${at.member} is new, and must be sent`)
      : found(at, 'parameter-added', `the parameter ${at.member} is new`)),
    ...newNotices(there, at),
  ]
}

/** Compares the parameters of an operation, by their keys. */
export const compareParameters = maps(([, was, is], at) => {
  const { where, name } = labelOf(
    is === undefined ? followed(at.run.before, was) : followed(at.run.after, is),
  )
  const place: Place = { ...inside(at, ` → ${where} ${name}`, name), way: 'sent' }
  if (was === undefined) return parameterAdded(is, place)
  return is === undefined
    ? removed(was, place, 'parameter-removed', `the parameter ${name} is gone`)
    : compareParameter(was, is, place)
})

const compareBodies = throughRefs(
  compareKeys({
    required: flag('body-required', 'body-optional', (_, isOn) =>
      isOn ? 'the body must be sent' : 'the body may be left out',
    ),
    content: compareContents,
  }),
)

/** Compares the bodies that an operation takes. */
export const compareBody: Compare = (before, after, outer) => {
  const at: Place = { ...inside(outer, ' → body'), way: 'sent' }
  if (after === undefined) return found(at, 'body-removed', 'it takes no body any more')
  if (before !== undefined) return compareBodies(before, after, at)
  const body = followed(at.run.after, after)
  return isObject(body) && body.required === true
    ? found(at, 'required-body-added', 'a body must be sent')
    : found(at, 'body-added', 'a body may be sent')
}

const compareHeader = valued({
  required: flag('header-required', 'header-optional', ({ member }, isOn) =>
    isOn ? `the header ${member} is always there` : `the header ${member} may be left out`,
  ),
})

/** Headers by their names in lower case, as any case is the same (RFC 9110, section 5.1), each with its name as it is written. */
const folded = (headers: JsonObject) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, header]) => [name.toLowerCase(), { name, header }]),
  )

const compareHeaders = objects((before, after, at) =>
  pairs(folded(after), folded(before)).flatMap(([, is, was]) => {
    const { name = '' } = was ?? is ?? {}
    const there = inside(at, ` → header ${name}`, name)
    if (!was)
      return [
        ...found(there, 'header-added', `the header ${name} is new`),
        ...newNotices(is?.header, there),
      ]
    return is
      ? compareHeader(was.header, is.header, there)
      : removed(was.header, there, 'header-removed', `the header ${name} is gone`)
  }),
)

/** The codes of errors that a response may have. */
const compareCodes = lists((before, after, at) => [
  ...before
    .filter(code => !after.includes(code))
    .map(String)
    .flatMap(code => found(at, 'value-removed', `its code is never ${code}`, [code])),
  ...after
    .filter(code => !before.includes(code))
    .map(String)
    .flatMap(code => found(at, 'value-added', `its code may be ${code}`, [code])),
])

const compareResponse = throughRefs(
  compareKeys({ headers: compareHeaders, content: compareContents, 'x-codes': compareCodes }),
)

/** Whether a status is none of success: `default` is what is left, so of success where no other is. */
const isRefusalIn = (responses: JsonObject, status: string): boolean =>
  status === 'default'
    ? Object.keys(responses).some(other => /^[123]/.test(other))
    : /^[45]/.test(status)

/** Compares the responses of an operation by their statuses. */
export const compareResponses = objects((before, after, at) =>
  pairs(before, after).flatMap(([status, was, is]) => {
    const there: Place = { ...inside(at, ` → ${status}`), visited: nothing(), way: 'read' }
    if (was === undefined)
      return found(there, 'status-added', `it may be answered with ${status}`, [status])
    if (is !== undefined) return compareResponse(was, is, there)
    const rule = isRefusalIn(before, status) ? 'refusal-removed' : 'status-removed'
    return found(there, rule, `it is never answered with ${status}`, [status])
  }),
)

/** Compares the components of a kind by their names, and those that no operation led to by what they are. */
const named = (kind: string, way: DiffDirection, compare: Compare): Compare =>
  maps(([name, was, is], at) => {
    const there: Place = { ...inside(at, `.${name}`, name), visited: nothing() }
    const ref = `#/components/${kind}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (was === undefined) return found(there, 'component-added', `the name ${name} is new`)
    if (is === undefined) {
      const rule = kind === 'schemas' ? 'component-removed' : 'shared-part-removed'
      return found(there, rule, `the name ${name} is gone`)
    }
    return at.run.followed.has(pairOf(ref, ref)) ? [] : compare(was, is, { ...there, way })
  })

const kinds: KeyComparisons = {
  schemas: named('schemas', 'either', compareSchemas),
  responses: named('responses', 'read', compareResponse),
  headers: named('headers', 'read', compareHeader),
  parameters: named('parameters', 'sent', compareParameter),
  requestBodies: named('requestBodies', 'sent', compareBody),
  securitySchemes: named('securitySchemes', 'either', compareKeys({})),
  examples: free,
}

/** Compares the components of two documents, once the operations are compared; a kind that is not known is unknown. */
export const compareComponents = maps(([kind, was, is], at) =>
  (own(kinds, kind) ?? unknown)(was, is, inside(at, `.${kind}`, kind)),
)
