/** Compares the members of objects: those that the schemas name, those that must be there, and all others. */
import { isDeepStrictEqual } from 'node:util'
import { isObject, type JsonObject } from '#base/object.ts'
import { type Difference, found } from '#contract/difference.ts'
import { newNotices, noticeOf, removal } from '#contract/notice.ts'
import {
  type Compare,
  followed,
  inside,
  lists,
  maps,
  namesOf,
  own,
  type Place,
  unknown,
} from '#contract/walk.ts'

/** The named members of a schema, and which of them are always there. */
type Members = {
  readonly schemas: JsonObject
  readonly required: readonly unknown[]
  /** The schema of the members that are not named, where it says what they are. */
  readonly others: unknown
}

const isRequired = ({ required }: Members, name: string): boolean => required.includes(name)

const memberAdded = (members: Members, name: string, at: Place): readonly Difference[] => [
  ...(isRequired(members, name)
    ? found(at, 'required-member-added', `${name} is new, and always there`)
    : found(at, 'member-added', `${name} is new`)),
  ...newNotices(own(members.schemas, name), at),
]

/** The only new name, where a single member went and a single one like it came. */
const newName = (before: Members, after: Members): string | undefined => {
  const gone = Object.keys(before.schemas).filter(name => !Object.hasOwn(after.schemas, name))
  const come = Object.keys(after.schemas).filter(name => !Object.hasOwn(before.schemas, name))
  const [from = '', to = ''] = [gone[0], come[0]]
  return gone.length === 1 &&
    come.length === 1 &&
    isDeepStrictEqual(own(before.schemas, from), own(after.schemas, to))
    ? to
    : undefined
}

const memberRemoved = (
  { before, after }: { readonly before: Members; readonly after: Members },
  name: string,
  at: Place,
): readonly Difference[] => {
  const schema = followed(at.run.before, own(before.schemas, name))
  const renamed = newName(before, after)
  return renamed === undefined
    ? removal(noticeOf(schema), at, 'member-removed', `${name} is gone`)
    : removal(noticeOf(schema), at, 'member-renamed', `${name} is now called ${renamed}`)
}

const requirementChanges = (before: boolean, after: boolean, at: Place): readonly Difference[] => {
  if (before === after) return []
  return after
    ? found(at, 'member-required', `${at.member} is always there`)
    : found(at, 'member-optional', `${at.member} may be left out`)
}

/** What a member was before it was named: as the others are, where they are told; nothing where it was not there. */
const unnamed = ({ others }: Members, isNew: boolean): unknown =>
  isObject(others) ? others : isNew ? undefined : {}

const compareNamed = (
  before: Members,
  after: Members,
  at: Place,
  compareSchemas: Compare,
): readonly Difference[] =>
  [
    ...new Set([
      ...namesOf(before.schemas, after.schemas),
      ...[...before.required, ...after.required].map(String),
    ]),
  ].flatMap(name => {
    const there = inside(at, `.${name}`, name)
    const [was, is] = [own(before.schemas, name), own(after.schemas, name)]
    if (was !== undefined && is === undefined) return memberRemoved({ before, after }, name, there)
    // It was there without a schema, and may now be left out.
    const isLess = isRequired(before, name) && !isRequired(after, name)
    const isNew = was === undefined && is !== undefined && !isLess
    const known = was === undefined ? unnamed(before, isNew) : was
    return [
      ...(isNew
        ? memberAdded(after, name, there)
        : requirementChanges(isRequired(before, name), isRequired(after, name), there)),
      ...(known === undefined || is === undefined ? [] : compareSchemas(known, is, there)),
    ]
  })

/** Compares `properties` and `required` together, with what compares two schemas. */
export const members =
  (compareSchemas: Compare): Compare =>
  (before, after, at) => {
    if (!isObject(before) || !isObject(after)) return unknown(before, after, at)
    return maps((was, is, here) =>
      lists((wasRequired, isRequired) =>
        [...wasRequired, ...isRequired].every(name => typeof name === 'string')
          ? compareNamed(
              { schemas: was, required: wasRequired, others: before.additionalProperties },
              { schemas: is, required: isRequired, others: after.additionalProperties },
              here,
              compareSchemas,
            )
          : unknown(wasRequired, isRequired, here),
      )(before.required, after.required, here),
    )(before.properties, after.properties, at)
  }

/** Compares `additionalProperties`: members that are not named. */
export const otherMembers =
  (compareSchemas: Compare): Compare =>
  (before = true, after = true, at) => {
    if (isDeepStrictEqual(before, after) && !isObject(before)) return []
    const there = inside(at, '.*')
    // A map has named none of its members, and they go all the same.
    if (isObject(before) && after === false)
      return found(there, 'member-removed', `${at.member} has no members of any name any more`)
    if (after === false)
      return found(there, 'others-refused', `${at.member} has no members but those named`)
    if (before === false)
      return found(there, 'others-allowed', `${at.member} has members of any name`)
    return compareSchemas(before, after, there)
  }
