/** Compares two JSON Schemas (draft 2020-12, as OpenAPI 3.1 has them), as sets of the values that they allow. */
import { isObject } from '#base/object.ts'
import { alternatives, formsOf } from '#contract/alternatives.ts'
import { found } from '#contract/difference.ts'
import { members, otherMembers } from '#contract/members.ts'
import { compareSteps, compareTypes, format, limit } from '#contract/values.ts'
import {
  annotation,
  type Compare,
  commonKeys,
  compareKeys,
  flag,
  free,
  inside,
  type Keys,
  lists,
  throughRefs,
  unknown,
} from '#contract/walk.ts'
import { compareLists } from '#contract/words.ts'

/** Compares two schemas: what is allowed less breaks those who send, what is allowed more those who read. */
export const compareSchemas: Compare = (before, after, at) => compareFollowed(before, after, at)

const compareFollowed = throughRefs((before, after, at) => {
  const [was, is] = [plain(before), plain(after)]
  if (formsOf(was) || formsOf(is)) return compareAlternatives(was, is, at)
  return [compareKeys(keys), compareLists, compareMembers].flatMap(compare => compare(was, is, at))
})

/** A schema as an object, with a constant as the list of one value that it is. */
const plain = (schema: unknown): unknown => {
  if (schema === true) return {}
  if (schema === false) return { not: {} }
  if (!isObject(schema) || !Object.hasOwn(schema, 'const') || Object.hasOwn(schema, 'enum'))
    return schema
  const { const: value, ...rest } = schema
  return { ...rest, enum: [value] }
}

const compareMembers = members(compareSchemas)
const compareAlternatives = alternatives(compareSchemas)

const compareItems: Compare = (before = {}, after = {}, at) =>
  compareSchemas(before, after, inside(at, '[]'))

/** All of the parts of `allOf` hold, so each is compared with the one in its place. */
const compareParts = lists((before, after, at) =>
  before.length === after.length
    ? before.flatMap((part, index) => compareSchemas(part, after[index], at))
    : unknown(before, after, at),
)

const compareUnions: Compare = (before, after, at) =>
  Array.isArray(before) && Array.isArray(after)
    ? compareAlternatives({ anyOf: before }, { anyOf: after }, at)
    : unknown(before, after, at)

const compareDefaults: Compare = (before, after, at) => {
  const [was, is] = [before, after].map(value => JSON.stringify(value) ?? 'nothing')
  return was === is
    ? []
    : found(at, 'default-changed', `${at.member} is ${is} instead of ${was} where it is left out`)
}

const keys: Keys = {
  ...commonKeys,
  title: annotation('title'),
  $comment: annotation('comment'),
  externalDocs: annotation('link to documents'),
  type: compareTypes,
  // Compared together, by compareLists and by compareMembers.
  enum: free,
  pattern: free,
  'x-sunsets': free,
  properties: free,
  required: free,
  additionalProperties: otherMembers(compareSchemas),
  items: compareItems,
  allOf: compareParts,
  anyOf: compareUnions,
  oneOf: compareUnions,
  maximum: limit('maximum', 'upper'),
  exclusiveMaximum: limit('exclusiveMaximum', 'upper'),
  maxLength: limit('maxLength', 'upper'),
  maxItems: limit('maxItems', 'upper'),
  maxProperties: limit('maxProperties', 'upper'),
  minimum: limit('minimum', 'lower'),
  exclusiveMinimum: limit('exclusiveMinimum', 'lower'),
  minLength: limit('minLength', 'lower'),
  minItems: limit('minItems', 'lower'),
  minProperties: limit('minProperties', 'lower'),
  multipleOf: compareSteps,
  uniqueItems: flag(
    'limit-tighter',
    'limit-looser',
    ({ member }, isOn) => `values of ${member} ${isOn ? 'are all different' : 'may be equal'}`,
  ),
  format: format('format'),
  contentEncoding: format('contentEncoding'),
  contentMediaType: format('contentMediaType'),
  default: compareDefaults,
}
