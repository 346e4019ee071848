/** Compares what an operation takes and answers: parameters, bodies, statuses and headers; and what documents keep of these by name. */
import { isObject, type JsonObject, own } from '#base/object.ts'
import { type DiffDirection, tell, tellNewNotices } from '#kit/contract/difference.ts'
import { compareSchemas } from '#kit/contract/schema.ts'
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
  tellRemoved,
  throughRefs,
  unknown,
} from '#kit/contract/walk.ts'

const compareMediaType = compareKeys({ schema: compareSchemas })

const compareContents = maps((type, was, is, at) => {
  const there = type === 'application/json' ? at : inside(at, ` (${type})`)
  if (was === undefined) tell(there, 'media-type-added', `${type} is new`, [type])
  else if (is === undefined) tell(there, 'media-type-removed', `${type} is gone`, [type])
  else compareMediaType(was, is, inside(there, ' → '))
})

/** Compares what has its value either plain, by a schema, or in a media type, with the other keys of its kind. */
const valued = (keys: KeyComparisons): Compare => {
  const compare = compareKeys({ ...keys, schema: compareSchemas, content: compareContents })
  return throughRefs((before, after, at) => {
    const [was, is] = [before, after].map(part => isObject(part) && Object.hasOwn(part, 'content'))
    if (was === is) compare(before, after, at)
    else tell(at, 'format-changed', `${at.member} is ${is ? '' : 'no longer '}in a media type`)
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

const compareSent = valued({
  // It was found by them.
  name: free,
  in: free,
  required: flag('parameter-required', 'parameter-optional', ({ member }, isOn) =>
    isOn ? `${member} must be sent` : `${member} may be left out`,
  ),
})

const compareParameter = throughRefs((before, after, at) =>
  compareSent(...asSent(before, after), at),
)

const labelOf = (parameter: unknown) => {
  const { name, in: where }: JsonObject = isObject(parameter) ? parameter : {}
  return { where, name: String(name) }
}

/** What tells a parameter from the others: of one in the path its place there, of a header its name in any case. */
const keyOf = (parameter: unknown, path: string): string => {
  const { name, where } = labelOf(parameter)
  const holes = [...path.matchAll(/\{([^}]*)\}/g)].map(([, hole]) => hole)
  const place = where === 'path' ? holes.indexOf(name) : -1
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

/** Compares the parameters of an operation, by their keys. */
export const compareParameters = maps((_, was, is, outer) => {
  const { run } = outer
  const there = is === undefined ? followed(run.before, was) : followed(run.after, is)
  const { where, name } = labelOf(there)
  const at: Place = { ...inside(outer, ` → ${where} ${name}`, name), way: 'sent' }
  if (is === undefined)
    return tellRemoved(was, at, 'parameter-removed', `the parameter ${name} is gone`)
  if (was !== undefined) return compareParameter(was, is, at)
  if (isObject(there) && there.required === true)
    tell(at, 'required-parameter-added', `the parameter ${name} is new, and must be sent`)
  else tell(at, 'parameter-added', `the parameter ${name} is new`)
  tellNewNotices(there, at)
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
  if (after === undefined) return tell(at, 'body-removed', 'it takes no body any more')
  if (before !== undefined) return compareBodies(before, after, at)
  const body = followed(at.run.after, after)
  if (isObject(body) && body.required === true)
    tell(at, 'required-body-added', 'a body must be sent')
  else tell(at, 'body-added', 'a body may be sent')
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

const compareHeaders = objects((before, after, at) => {
  for (const [, is, was] of pairs(folded(after), folded(before))) {
    const { name = '' } = was ?? is ?? {}
    const there = inside(at, ` → header ${name}`, name)
    if (was && is) compareHeader(was.header, is.header, there)
    else if (was) tellRemoved(was.header, there, 'header-removed', `the header ${name} is gone`)
    else {
      tell(there, 'header-added', `the header ${name} is new`)
      tellNewNotices(is?.header, there)
    }
  }
})

const compareCodes = lists((before, after, at) => {
  for (const code of before)
    if (!after.includes(code))
      tell(at, 'value-removed', `its code is never ${code}`, [String(code)])
  for (const code of after)
    if (!before.includes(code)) tell(at, 'value-added', `its code may be ${code}`, [String(code)])
})

const compareResponse = throughRefs(
  compareKeys({ headers: compareHeaders, content: compareContents, 'x-codes': compareCodes }),
)

/** Compares the responses of an operation by their statuses. */
export const compareResponses = objects((before, after, at) => {
  for (const [status, was, is] of pairs(before, after)) {
    const there: Place = { ...inside(at, ` → ${status}`), visited: nothing(), way: 'read' }
    // What `default` leaves to others is success only if no other status is.
    const isRefusal =
      status === 'default'
        ? Object.keys(before).some(other => /^[123]/.test(other))
        : /^[45]/.test(status)
    if (was === undefined)
      tell(there, 'status-added', `it may be answered with ${status}`, [status])
    else if (is !== undefined) compareResponse(was, is, there)
    else {
      const rule = isRefusal ? 'refusal-removed' : 'status-removed'
      tell(there, rule, `it is never answered with ${status}`, [status])
    }
  }
})

/** Compares the components of a kind by their names; those that no operation led to are compared in full. */
const named = (kind: string, way: DiffDirection, compare: Compare): Compare =>
  maps((name, was, is, at) => {
    const there: Place = { ...inside(at, `.${name}`, name), visited: nothing() }
    const ref = `#/components/${kind}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (was === undefined) tell(there, 'component-added', `the name ${name} is new`)
    else if (is === undefined) {
      const rule = kind === 'schemas' ? 'component-removed' : 'shared-part-removed'
      tell(there, rule, `the name ${name} is gone`)
    } else if (!at.run.followed.has(pairOf(ref, ref))) compare(was, is, { ...there, way })
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
export const compareComponents = maps((kind, was, is, at) =>
  (own(kinds, kind) ?? unknown)(was, is, inside(at, `.${kind}`, kind)),
)
