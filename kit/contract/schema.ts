/** Compares two JSON Schemas (draft 2020-12, as OpenAPI 3.1 has them), as sets of the values that they allow. */
import { isDeepStrictEqual } from 'node:util'
import { isObject, type JsonObject, own } from '#base/object.ts'
import { tell, tellNewNotices } from '#kit/contract/difference.ts'
import {
  compareLists,
  compareSteps,
  compareTypes,
  format,
  limit,
  tellNullAdded,
  tellNullRemoved,
} from '#kit/contract/values.ts'
import {
  annotation,
  byPlace,
  type Compare,
  commonKeys,
  compareKeys,
  flag,
  followed,
  free,
  inside,
  lists,
  missing,
  objects,
  type Place,
  tellRemoved,
  throughRefs,
  unknown,
} from '#kit/contract/walk.ts'

const unions = ['anyOf', 'oneOf']

/** The forms of a schema that is nothing but a choice; undefined of any other. */
const formsOf = (schema: unknown): readonly unknown[] | undefined => {
  if (!isObject(schema)) return undefined
  const [key = '', ...others] = Object.keys(schema).filter(key => !Object.hasOwn(commonKeys, key))
  const forms = others.length === 0 && unions.includes(key) ? schema[key] : undefined
  return Array.isArray(forms) ? forms : undefined
}

/** A plain schema as the forms that it is: one that may be null is also null. */
const plainForms = (schema: unknown): readonly unknown[] => {
  const types = isObject(schema) && Array.isArray(schema.type) ? schema.type : []
  if (!isObject(schema) || types.length < 2 || !types.includes('null')) return [schema]
  const others = types.filter(type => type !== 'null')
  const values = Array.isArray(schema.enum) ? schema.enum : undefined
  // Null is none of the values of such a list, whatever its type says.
  if (values && !values.includes(null)) return [schema]
  const rest = {
    ...schema,
    type: others.length === 1 ? others[0] : others,
    ...(values && { enum: values.filter(value => value !== null) }),
  }
  return [rest, { type: 'null' }]
}

/** The keyword that chooses: of anyOf one or more forms hold, of oneOf exactly one. */
const unionOf = (schema: unknown): string | undefined =>
  unions.find(key => isObject(schema) && Object.hasOwn(schema, key))

const isNull = (form: unknown): boolean => isObject(form) && form.type === 'null'

/** The values that a form consists of, such as those of `const`. */
const valuesOf = (form: unknown): readonly unknown[] | undefined => {
  if (!isObject(form)) return undefined
  const values = Object.hasOwn(form, 'const') ? [form.const] : form.enum
  return Array.isArray(values) ? values : undefined
}

/** How surely two forms are the same one: equal, the same reference, or the same constant. */
const likeness: readonly ((one: unknown, other: unknown) => boolean)[] = [
  isDeepStrictEqual,
  (one, other) => isObject(one) && isObject(other) && '$ref' in one && one.$ref === other.$ref,
  (one, other) =>
    isObject(one) && isObject(other) && 'const' in one && isDeepStrictEqual(one.const, other.const),
]

const isOpen = (form: unknown): boolean => !isNull(form) && !valuesOf(form)

const isList = (form: unknown): boolean => isObject(form) && Array.isArray(form.enum)

const typeTextOf = (form: unknown): string =>
  JSON.stringify(isObject(form) ? form.type : form) ?? ''

/** The forms of both sides in pairs, and the forms without a partner. */
const paired = (before: readonly unknown[], after: readonly unknown[]) => {
  const all: (readonly [unknown, unknown])[] = []
  const [lost, gained] = [[...before], [...after]]
  const pair = (one: unknown, other: unknown) => {
    all.push([one, other])
    lost.splice(lost.indexOf(one), 1)
    gained.splice(gained.indexOf(other), 1)
  }
  for (const isSame of likeness)
    for (const one of [...lost]) {
      const other = gained.find(form => isSame(one, form))
      if (other !== undefined) pair(one, other)
    }
  // What is left on both sides was changed, unless it is another constant or null.
  const types = new Set(lost.filter(isOpen).map(typeTextOf))
  const ofType = [...types].map(
    type => (form: unknown) => isOpen(form) && typeTextOf(form) === type,
  )
  for (const isLeft of [...ofType, isOpen, isList]) {
    const [froms, tos] = [lost.filter(isLeft), gained.filter(isLeft)]
    if (froms.length === 1 && tos.length === 1) pair(froms[0], tos[0])
  }
  return { all, lost, gained }
}

/** A reference as a choice of one where the other schema chooses between it and more; every other schema as it is. */
const asChoice = (one: unknown, other: unknown): unknown => {
  const union = unionOf(other)
  const isAmong = formsOf(other)?.some(
    form => isObject(one) && isObject(form) && '$ref' in one && one.$ref === form.$ref,
  )
  return isAmong && union !== undefined ? { [union]: [one] } : one
}

/** Compares two schemas; a missing one allows anything. To allow less breaks callers who send, to allow more those who read. */
export const compareSchemas: Compare = (before = {}, after = {}, at) =>
  compareFollowed(asChoice(before, after), asChoice(after, before), at)

const compareFollowed = throughRefs((before, after, at) => {
  const [was, is] = [plain(before), plain(after)]
  if (formsOf(was) || formsOf(is)) return compareForms(was, is, at)
  for (const compare of [compareKeywords, compareLists, compareMembers]) compare(was, is, at)
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

/** Compares two choices of forms; a plain schema is a choice of one. */
const compareForms: Compare = (before, after, at) => {
  const { member, run } = at
  const { all, lost, gained } = paired(
    formsOf(before) ?? plainForms(before),
    formsOf(after) ?? plainForms(after),
  )
  const [was, is] = [unionOf(before), unionOf(after)]
  if (was !== undefined && is !== undefined) unknown(was, is, at)
  for (const [one, other] of all) compareSchemas(one, other, at)
  for (const form of lost) {
    const values = valuesOf(followed(run.before, form))?.map(String).join(', ')
    if (isNull(form)) tellNullRemoved(at)
    else if (values !== undefined)
      tellRemoved(form, at, 'value-removed', `${member} is never ${values}`)
    else tellRemoved(form, at, 'alternative-removed', `${member} has one form less`)
  }
  for (const form of gained) {
    const values = valuesOf(followed(run.after, form))?.map(String)
    if (isNull(form)) tellNullAdded(at)
    else {
      if (values)
        tell(at, 'value-added', `${member} may be ${values.join(', ')}`, [member, ...values])
      else tell(at, 'alternative-added', `${member} has one more form`)
      tellNewNotices(form, at)
    }
  }
}

type Members = {
  readonly schemas: JsonObject
  readonly required: readonly unknown[]
  /** The schema of the members that are not named, if it says what they are. */
  readonly others: unknown
}

const compareNamed = (before: Members, after: Members, at: Place): void => {
  const [names, newNames] = [Object.keys(before.schemas), Object.keys(after.schemas)]
  const [from, ...gone] = missing(names, newNames)
  const [to, ...come] = missing(newNames, names)
  // A single member that went, and a single one like it that came, are one with a new name.
  const isRenamed =
    from !== undefined &&
    to !== undefined &&
    gone.length + come.length === 0 &&
    isDeepStrictEqual(before.schemas[from], after.schemas[to])
  const all = [...names, ...newNames, ...[...before.required, ...after.required].map(String)]
  for (const name of new Set(all)) {
    const there = inside(at, `.${name}`, name)
    const [was, is] = [own(before.schemas, name), own(after.schemas, name)]
    if (was !== undefined && is === undefined) {
      if (isRenamed) tellRemoved(was, there, 'member-renamed', `${name} is now called ${to}`)
      else tellRemoved(was, there, 'member-removed', `${name} is gone`)
      continue
    }
    const wasRequired = before.required.includes(name)
    const isRequired = after.required.includes(name)
    // It was there without a schema, and may now be left out.
    const isLess = wasRequired && !isRequired
    const isNew = was === undefined && is !== undefined && !isLess
    if (isNew) {
      if (isRequired) tell(there, 'required-member-added', `${name} is new, and always there`)
      else tell(there, 'member-added', `${name} is new`)
      tellNewNotices(is, there)
    } else if (isLess) tell(there, 'member-optional', `${name} may be left out`)
    else if (isRequired && !wasRequired) tell(there, 'member-required', `${name} is always there`)
    // What it was before it was named: as the others are, if they are told; nothing if it was not there.
    const unnamed = isObject(before.others) ? before.others : isNew ? undefined : {}
    const known = was === undefined ? unnamed : was
    if (known !== undefined && is !== undefined) compareSchemas(known, is, there)
  }
}

const compareMembers: Compare = (before, after, at) => {
  if (!isObject(before) || !isObject(after)) return unknown(before, after, at)
  return objects((was, is) =>
    lists((wasRequired, isRequired) =>
      [...wasRequired, ...isRequired].every(name => typeof name === 'string')
        ? compareNamed(
            { schemas: was, required: wasRequired, others: before.additionalProperties },
            { schemas: is, required: isRequired, others: after.additionalProperties },
            at,
          )
        : unknown(wasRequired, isRequired, at),
    )(before.required, after.required, at),
  )(before.properties, after.properties, at)
}

/** Compares `additionalProperties`: members that are not named. */
const compareOthers: Compare = (before = true, after = true, at) => {
  if (isDeepStrictEqual(before, after) && !isObject(before)) return
  const there = inside(at, '.*')
  // A map has named none of its members, and they go all the same.
  if (isObject(before) && after === false)
    tell(there, 'member-removed', `${at.member} has no members of any name any more`)
  else if (after === false)
    tell(there, 'others-refused', `${at.member} has no members but those named`)
  else if (before === false) tell(there, 'others-allowed', `${at.member} has members of any name`)
  else compareSchemas(before, after, there)
}

const compareUnions: Compare = (before, after, at) =>
  Array.isArray(before) && Array.isArray(after)
    ? compareForms({ anyOf: before }, { anyOf: after }, at)
    : unknown(before, after, at)

const compareKeywords = compareKeys({
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
  additionalProperties: compareOthers,
  items: (before, after, at) => compareSchemas(before, after, inside(at, '[]')),
  // All of the parts hold.
  allOf: byPlace(compareSchemas),
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
  default: (before, after, at) => {
    const [was, is] = [before, after].map(value => JSON.stringify(value) ?? 'nothing')
    const message = `${at.member} is ${is} instead of ${was} if it is left out`
    if (was !== is) tell(at, 'default-changed', message)
  },
})
