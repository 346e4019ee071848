/** Faults of what an entity says of the admin's screens. */
import { own } from '#base/object.ts'
import { remedy } from '#base/shape.ts'
import { mayNameField } from '#model/entity.ts'
import type { CheckedEntity, Faults } from '#model/faults/relations.ts'
import { isOrdering } from '#model/field.ts'

const added = ['int', 'money', 'decimal']

/** The faults of `admin`: members that are no fields, that no screen could show so, or that rows cannot be ordered or grouped by. */
export const adminFaults = function* ({ name, self }: CheckedEntity): Faults {
  const { fields, admin } = self
  const { title, columns = [], order, charts = [] } = admin
  const ordered: readonly (readonly [place: string, key: string | undefined])[] = [
    ['order', order?.replace(/^-/, '')],
    ...charts.map(({ group }) => ['charts', group] as const),
  ]
  const named = [
    ['title', title] as const,
    ...columns.map(key => ['columns', key] as const),
    ...ordered,
    ...Object.keys(admin.fields ?? {}).map(key => ['fields', key] as const),
    ...charts.map(({ sum }) => ['charts', sum] as const),
  ]
  for (const [place, key] of named) {
    if (key === undefined) continue
    const field = own(fields, key)
    if (!field) {
      yield `admin.${place} of ${name} names ${key}, which is not a field: ${remedy(key, Object.keys(fields))}`
      continue
    }
    const { hidden } = admin.fields?.[key] ?? {}
    if (
      place === 'fields' &&
      hidden &&
      field.initial === undefined &&
      field.settableBy.kind !== 'nobody'
    )
      yield `admin.fields of ${name} hides ${key}, which a new row needs: give it an initial value, or show it`
    if (!field.rest && place !== 'fields')
      yield `admin.${place} of ${name} names ${key}, which the REST API does not show: name one that it shows`
  }
  const titled = title === undefined ? undefined : own(fields, title)
  if (titled && titled.scalar !== 'text')
    yield `admin.title of ${name} names ${title}, which is ${titled.scalar}: name a text`
  for (const [place, key] of ordered) {
    const field = key === undefined ? undefined : own(fields, key)
    if (field && key !== undefined && !(mayNameField(self, key) && isOrdering(field)))
      yield `admin.${place} of ${name} names ${key}, by which rows cannot be ordered or grouped: name another field`
  }
  for (const { sum } of charts) {
    const field = sum === undefined ? undefined : own(fields, sum)
    if (field && !added.includes(field.scalar))
      yield `admin.charts of ${name} adds up ${sum}, which is ${field.scalar}: name one that is ${added.join(', ')}`
  }
}
