/** Compares schemas that are a choice of several forms (`anyOf`, `oneOf`). */
import { isDeepStrictEqual } from 'node:util'
import { isObject } from '#base/object.ts'
import { type Difference, found } from '#contract/difference.ts'
import { newNotices, noticeOf, removal } from '#contract/notice.ts'
import { type Compare, commonKeys, followed, own, type Place, unknown } from '#contract/walk.ts'

const unions = ['anyOf', 'oneOf'] as const

/** The forms of a schema that is nothing but a choice; undefined of any other. */
export const formsOf = (schema: unknown): readonly unknown[] | undefined => {
  if (!isObject(schema)) return undefined
  const [key, ...others] = Object.keys(schema).filter(key => !Object.hasOwn(commonKeys, key))
  const forms = unions.some(union => union === key) ? own(schema, String(key)) : undefined
  return others.length === 0 && Array.isArray(forms) ? forms : undefined
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

const formAdded = (form: unknown, at: Place): readonly Difference[] => {
  if (isNull(form)) return found(at, 'null-added', `${at.member} may be null`, [at.member, 'null'])
  const values = valuesOf(followed(at.run.after, form))?.map(String)
  return [
    ...(values
      ? found(at, 'value-added', `${at.member} may be ${values.join(', ')}`, [at.member, ...values])
      : found(at, 'alternative-added', `${at.member} has one more form`)),
    ...newNotices(form, at),
  ]
}

const formRemoved = (form: unknown, at: Place): readonly Difference[] => {
  if (isNull(form)) return found(at, 'null-removed', `${at.member} is never null`)
  const there = followed(at.run.before, form)
  const values = valuesOf(there)?.map(String)
  return values
    ? removal(noticeOf(there), at, 'value-removed', `${at.member} is never ${values.join(', ')}`)
    : removal(noticeOf(there), at, 'alternative-removed', `${at.member} has one form less`)
}

/** How surely two forms are the same one: equal, the same reference, or the same constant. */
const likeness: readonly ((one: unknown, other: unknown) => boolean)[] = [
  isDeepStrictEqual,
  (one, other) => isObject(one) && isObject(other) && '$ref' in one && one.$ref === other.$ref,
  (one, other) =>
    isObject(one) && isObject(other) && 'const' in one && isDeepStrictEqual(one.const, other.const),
]

type Pair = readonly [unknown, unknown]

/** The forms of both sides in pairs, and those that have no partner. */
const paired = (before: readonly unknown[], after: readonly unknown[]) => {
  const pairs: Pair[] = []
  let [lost, gained] = [before, after]
  const pair = (one: unknown, other: unknown) => {
    pairs.push([one, other])
    lost = lost.toSpliced(lost.indexOf(one), 1)
    gained = gained.toSpliced(gained.indexOf(other), 1)
  }
  for (const isLike of likeness)
    for (const one of lost) {
      const other = gained.find(form => isLike(one, form))
      if (other !== undefined) pair(one, other)
    }
  // What is left on both sides was changed, unless it is another constant or null.
  for (const isLeft of [isOpen, isList]) {
    const [froms, tos] = [lost.filter(isLeft), gained.filter(isLeft)]
    if (froms.length === 1 && tos.length === 1) pair(froms[0], tos[0])
  }
  return { pairs, lost, gained }
}

const isList = (form: unknown): boolean => isObject(form) && Array.isArray(form.enum)

const isOpen = (form: unknown): boolean => !isNull(form) && !valuesOf(form)

/** Compares two choices of forms, with what compares two schemas; a plain schema is a choice of one. */
export const alternatives =
  (compareSchemas: Compare): Compare =>
  (before, after, at) => {
    const { pairs, lost, gained } = paired(
      formsOf(before) ?? plainForms(before),
      formsOf(after) ?? plainForms(after),
    )
    const [was, is] = [unionOf(before), unionOf(after)]
    return [
      ...(was !== undefined && is !== undefined ? unknown(was, is, at) : []),
      ...pairs.flatMap(([one, other]) => compareSchemas(one, other, at)),
      ...lost.flatMap(form => formRemoved(form, at)),
      ...gained.flatMap(form => formAdded(form, at)),
    ]
  }
