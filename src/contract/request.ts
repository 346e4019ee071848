/** Compares what an operation takes: parameters and a body. */
import { isObject, type JsonObject } from '#base/object.ts'
import { type Difference, found } from '#contract/difference.ts'
import { newNotices, noticeOf, removal } from '#contract/notice.ts'
import { compareContents, valued } from '#contract/response.ts'
import { compareSchemas } from '#contract/schema.ts'
import {
  type Compare,
  commonKeys,
  compareKeys,
  flag,
  followed,
  free,
  inside,
  namesOf,
  own,
  type Place,
  throughRefs,
} from '#contract/walk.ts'

/** Compares one parameter. */
export const compareParameter: Compare = throughRefs(
  valued({
    ...commonKeys,
    // It was found by them.
    name: free,
    in: free,
    required: flag('parameter-required', 'parameter-optional', ({ member }, isOn) =>
      isOn ? `${member} must be sent` : `${member} may be left out`,
    ),
    schema: (before = {}, after = {}, at) => compareSchemas(before, after, at),
    content: compareContents,
  }),
)

/** The places in braces of a path, in order. */
const holes = (path: string): readonly string[] =>
  [...path.matchAll(/\{([^}]*)\}/g)].map(([, name = '']) => name)

/** What tells a parameter from the others: of one in the path its place, of a header its name in any case. */
const keyOf = (parameter: unknown, path: string): string => {
  const { name, in: where }: JsonObject = isObject(parameter) ? parameter : {}
  const place = where === 'path' ? holes(path).indexOf(String(name)) : -1
  if (place >= 0) return `{${place}}`
  return `${where} ${where === 'header' ? String(name).toLowerCase() : name}`
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

const parameterAdded = (parameter: unknown, at: Place): readonly Difference[] => {
  const there = followed(at.run.after, parameter)
  const isNeeded = isObject(there) && there.required === true
  return [
    ...(isNeeded
      ? found(at, 'required-parameter-added', `the parameter ${at.member} is new, and must be sent`)
      : found(at, 'parameter-added', `the parameter ${at.member} is new`)),
    ...newNotices(there, at),
  ]
}

const labelOf = (parameter: unknown): { readonly where: string; readonly name: string } => {
  const { name, in: where }: JsonObject = isObject(parameter) ? parameter : {}
  return { where: String(where), name: String(name) }
}

/** Compares the parameters of an operation, by their keys. */
export const compareParameters = (
  before: JsonObject,
  after: JsonObject,
  at: Place,
): readonly Difference[] =>
  namesOf(before, after).flatMap(key => {
    const [was, is] = [own(before, key), own(after, key)]
    const there = followed(at.run[is === undefined ? 'before' : 'after'], is ?? was)
    const { where, name } = labelOf(there)
    const place: Place = { ...inside(at, ` → ${where} ${name}`, name), way: 'sent' }
    if (was === undefined) return parameterAdded(is, place)
    return is === undefined
      ? removal(noticeOf(there), place, 'parameter-removed', `the parameter ${name} is gone`)
      : compareParameter(was, is, place)
  })

const compareContent = throughRefs(
  compareKeys({
    ...commonKeys,
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
  if (before !== undefined) return compareContent(before, after, at)
  const body = followed(at.run.after, after)
  return isObject(body) && body.required === true
    ? found(at, 'required-body-added', 'a body must be sent')
    : found(at, 'body-added', 'a body may be sent')
}
