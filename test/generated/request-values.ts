/** Values, bodies and texts for generated requests. */

import { taken } from '#kit/check/values.ts'
import type { Entity } from '#model/entity.ts'
import type { Field } from '#model/field.ts'
import { fileMembers } from '#model/stored-file.ts'
import { isEnumValue } from '#model/values.ts'
import type { Draw } from '../operations.ts'
import { fileShown, type Reference, type Row, type Value } from './reference.ts'
import type { Viewer } from './serve.ts'

const letters = ['a', 'B', 'é', 'e\u0301', 'ß', '日', '😀', '%', '_', "'", '"', '\\', ' ', 'Σ', 'İ']

const textBy = ({ of, upTo }: Draw, most: number): string =>
  Array.from({ length: upTo(Math.min(most, 5), 1) }, () => of(...letters)).join('')

/** A value that a field takes, from few, so that filters find some. */
export const valueBy = (draw: Draw, reference: Reference, field: Field): Value => {
  const { of, upTo, chance } = draw
  const { scalar, range, values, references, nullable } = field
  if (nullable && chance(25)) return null
  if (references) {
    const known = [...(reference.tables.get(references.entity)?.keys() ?? [])]
    return known.length === 0 || chance(3) ? 999 : of(...known)
  }
  if (values) return of(...values)
  switch (scalar) {
    case 'int':
      return chance(20) ? of(range?.min ?? 0, range?.max ?? 0) : upTo(3)
    case 'money':
      return of(0, 0.01, 1.5, 19.99, 50)
    case 'decimal':
      return of(0, -0.5, 1.25, 1.5, range?.min ?? 0, range?.max ?? 0)
    case 'date':
      return of('1969-12-31', '2024-02-29', '2026-01-02')
    case 'json':
      return of({}, { a: 1 }, { b: 2, a: 1 })
    case 'list':
      return Array.from({ length: upTo(range?.max ?? 0) }, () => of('a', 'B', 'é"\\'))
    case 'time':
      return of('1969-12-31T23:59:59.999Z', '2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05.000Z')
    case 'flag':
      return chance(50)
    case 'file':
      return { upload: upTo(2) }
    case 'id':
    case 'bytes':
      return null
    default:
      return textOf(draw, field)
  }
}

const textOf = (draw: Draw, { rule, range }: Field): string => {
  const { of } = draw
  const candidates = [
    of('ab-1', 'c', 'd-2'),
    `${of('A', 'a', 'b')}@example.org`,
    `https://example.org/${of('a', 'b')}`,
  ]
  const text = textBy(draw, range?.max ?? 5)
  const fit = [`${text}x`, ...candidates].filter(text => taken(rule, text) !== undefined)
  return of(...(fit as [string, ...string[]]))
}

/** The rule that is for those viewers and no others. */
const ruleFor = { anonymous: 'anyone', user: 'signed in', admin: 'superuser' } satisfies Record<
  Viewer,
  string
>

/** Whether that viewer sets a field. */
export const isSettable = ({ settableBy }: Field, as: Viewer): boolean =>
  settableBy.kind === 'anyone' || settableBy.kind === ruleFor[as]

const settable = ({ fields }: Entity, isUpdate: boolean, as: Viewer) =>
  Object.entries(fields).filter(
    ([key, field]) =>
      key !== 'id' && isSettable(field, as) && !field.foldedFrom && !(isUpdate && field.immutable),
  )

/** A body for a create or an update by that viewer. */
export const bodyBy = (
  draw: Draw,
  reference: Reference,
  entity: Entity,
  isUpdate: boolean,
  as: Viewer,
) =>
  Object.fromEntries(
    settable(entity, isUpdate, as).flatMap(([key, field]) => {
      const isNeeded = !isUpdate && field.initial === undefined
      return isNeeded || draw.chance(60) ? [[key, valueBy(draw, reference, field)]] : []
    }),
  )

/** Who asks. */
export const asBy = ({ of }: Draw): Viewer => of('user', 'user', 'admin')

/** A value in a GraphQL document. */
export const literal = (field: Field, value: Value): string => {
  // A choice is an enum, unless a word of it is none of GraphQL's.
  if (field.values?.every(isEnumValue) && value !== null) return String(value)
  if (field.scalar === 'id' && value !== null) return `"${value}"`
  return JSON.stringify(value).replace(/"(\w+)":/g, '$1:')
}

/** The fields of an object in GraphQL. */
export const scalarsOf = ({ fields }: Entity): readonly string[] =>
  Object.keys(fields).filter(key => fields[key]?.graphql === 'shown')

/** What is selected of a field in GraphQL. */
export const selected = (entity: Entity, key: string): string =>
  entity.fields[key]?.file ? `${key} { ${fileMembers.join(' ')} }` : key

/** An object of GraphQL as text. */
export const objectText = (entity: Entity, row: Row): string =>
  JSON.stringify(
    Object.fromEntries(
      scalarsOf(entity).map(key => {
        const value = fileShown(entity, key, row)
        return [key, entity.fields[key]?.scalar === 'id' && value !== null ? String(value) : value]
      }),
    ),
  )
