/** Compares what an operation answers: statuses, headers and bodies. */
import { isObject, type JsonObject } from '#base/object.ts'
import { found } from '#contract/difference.ts'
import { newNotices, noticeOf, removal } from '#contract/notice.ts'
import { compareSchemas } from '#contract/schema.ts'
import {
  type Compare,
  commonKeys,
  compareKeys,
  flag,
  followed,
  inside,
  type Keys,
  lists,
  maps,
  namesOf,
  nothing,
  own,
  type Place,
  throughRefs,
} from '#contract/walk.ts'

const compareMediaType = compareKeys({
  ...commonKeys,
  schema: (before = {}, after = {}, at) => compareSchemas(before, after, at),
})

/** Compares bodies by their media types. */
export const compareContents: Compare = maps((before, after, at) =>
  namesOf(before, after).flatMap(type => {
    const [was, is] = [own(before, type), own(after, type)]
    const there = type === 'application/json' ? at : inside(at, ` (${type})`)
    if (was === undefined) return found(there, 'media-type-added', `${type} is new`, [type])
    if (is === undefined) return found(there, 'media-type-removed', `${type} is gone`, [type])
    return compareMediaType(was, is, inside(there, ' → '))
  }),
)

/** Compares what has its value either plain, by a schema, or in a media type, with the keys of its kind. */
export const valued =
  (keys: Keys): Compare =>
  (before, after, at) => {
    const [was, is] = [before, after].map(part => isObject(part) && Object.hasOwn(part, 'content'))
    return was === is
      ? compareKeys(keys)(before, after, at)
      : found(at, 'format-changed', `${at.member} is ${is ? '' : 'no longer '}in a media type`)
  }

/** Compares one header of a response. */
export const compareHeader: Compare = throughRefs(
  valued({
    ...commonKeys,
    required: flag('header-required', 'header-optional', ({ member }, isOn) =>
      isOn ? `the header ${member} is always there` : `the header ${member} may be left out`,
    ),
    schema: (before = {}, after = {}, at) => compareSchemas(before, after, at),
    content: compareContents,
  }),
)

/** The keys of a map in lower case: names of headers are the same in any case (RFC 9110, section 5.1). */
const folded = (map: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(map).map(([name, value]) => [name.toLowerCase(), value]))

const compareHeaders = maps((before, after, at) => {
  const [were, are] = [folded(before), folded(after)]
  const names = [
    ...new Map(
      [...Object.keys(after), ...Object.keys(before)].map(name => [name.toLowerCase(), name]),
    ).values(),
  ]
  return names.flatMap(name => {
    const [was, is] = [own(were, name.toLowerCase()), own(are, name.toLowerCase())]
    const there = inside(at, ` → header ${name}`, name)
    if (was === undefined)
      return [
        ...found(there, 'header-added', `the header ${name} is new`),
        ...newNotices(is, there),
      ]
    if (is === undefined) {
      const notice = noticeOf(followed(at.run.before, was))
      return removal(notice, there, 'header-removed', `the header ${name} is gone`)
    }
    return compareHeader(was, is, there)
  })
})

/** The codes of errors that a response may have. */
const compareCodes = lists((before, after, at) => {
  const missing = (codes: readonly unknown[], other: readonly unknown[]) =>
    codes.filter(code => !other.includes(code)).map(String)
  return [
    ...missing(before, after).flatMap(code =>
      found(at, 'value-removed', `its code is never ${code}`, [code]),
    ),
    ...missing(after, before).flatMap(code =>
      found(at, 'value-added', `its code may be ${code}`, [code]),
    ),
  ]
})

/** Compares one response. */
export const compareResponse: Compare = throughRefs(
  compareKeys({
    ...commonKeys,
    headers: compareHeaders,
    content: compareContents,
    'x-codes': compareCodes,
  }),
)

/** Whether a status is none of success: `default` is what is left, so of success where no other is. */
const isRefusalIn = (responses: JsonObject, status: string): boolean =>
  status === 'default'
    ? Object.keys(responses).some(other => /^[123]/.test(other))
    : /^[45]/.test(status)

const statusRemoved = (status: string, isRefusal: boolean, at: Place) => {
  return found(
    at,
    isRefusal ? 'refusal-removed' : 'status-removed',
    `it is never answered with ${status}`,
    [status],
  )
}

/** Compares the responses of an operation by their statuses. */
export const compareResponses: Compare = maps((before, after, at) =>
  namesOf(before, after).flatMap(status => {
    const [was, is] = [own(before, status), own(after, status)]
    const there: Place = { ...inside(at, ` → ${status}`), visited: nothing(), way: 'read' }
    if (was === undefined)
      return found(there, 'status-added', `it may be answered with ${status}`, [status])
    return is === undefined
      ? statusRemoved(status, isRefusalIn(before, status), there)
      : compareResponse(was, is, there)
  }),
)
