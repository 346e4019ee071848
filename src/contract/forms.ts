/** The forms that schemas are a choice of, and which of two choices are the same. */
import { isDeepStrictEqual } from 'node:util'
import { isObject } from '#base/object.ts'
import { commonKeys } from '#contract/walk.ts'

const unions = ['anyOf', 'oneOf']

/** The forms of a schema that is nothing but a choice; undefined of any other. */
export const formsOf = (schema: unknown): readonly unknown[] | undefined => {
  if (!isObject(schema)) return undefined
  const [key = '', ...others] = Object.keys(schema).filter(key => !Object.hasOwn(commonKeys, key))
  const forms = others.length === 0 && unions.includes(key) ? schema[key] : undefined
  return Array.isArray(forms) ? forms : undefined
}

/** A plain schema as the forms that it is: one that may be null is also null. */
export const plainForms = (schema: unknown): readonly unknown[] => {
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
export const unionOf = (schema: unknown): string | undefined =>
  unions.find(key => isObject(schema) && Object.hasOwn(schema, key))

/** Whether a form is null. */
export const isNull = (form: unknown): boolean => isObject(form) && form.type === 'null'

/** The values that a form consists of, such as those of `const`. */
export const valuesOf = (form: unknown): readonly unknown[] | undefined => {
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

/** The forms of both sides in pairs, and those that have no partner. */
export const paired = (before: readonly unknown[], after: readonly unknown[]) => {
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
  for (const isLeft of [isOpen, isList]) {
    const [froms, tos] = [lost.filter(isLeft), gained.filter(isLeft)]
    if (froms.length === 1 && tos.length === 1) pair(froms[0], tos[0])
  }
  return { all, lost, gained }
}
