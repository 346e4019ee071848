/** The order of a list, as `sort` and `order` ask for it. */
import type { Entity } from '#model/entity.ts'
import type { Sort } from '#read/selection.ts'
import { memberName } from '#rest/members.ts'
import type { Query } from '#rest/query.ts'

const byId: Sort = { field: 'id', descending: false }

const fieldAndOrder = (
  entity: Entity,
  fields: readonly string[],
  query: Query,
): readonly Sort[] => {
  const sort = query.get('sort')
  const order = query.get('order')
  const field = sort === undefined ? 'id' : fields.find(name => memberName(entity, name) === sort)
  if (field === undefined)
    query.fault('sort', `must be one of ${fields.map(name => memberName(entity, name)).join(', ')}`)
  if (order !== undefined && order !== 'asc' && order !== 'desc')
    query.fault('order', 'must be asc or desc')
  return [{ field: field ?? 'id', descending: order === 'desc' }]
}

/** `-price,name`. In version 1 an unknown value stands for id ascending, after which nothing matters. */
const signedList = (entity: Entity, fields: readonly string[], query: Query): readonly Sort[] => {
  const sorts: Sort[] = []
  for (const value of (query.get('sort') ?? '').split(',')) {
    const descending = value.startsWith('-')
    const signed = fields.find(signed => {
      const field = signed.replace(/^-/, '')
      return value === `${signed.startsWith('-') ? '-' : ''}${memberName(entity, field)}`
    })
    if (signed === undefined) return [...sorts, byId]
    const field = signed.replace(/^-/, '')
    // A second sort by the same field has no effect.
    if (!sorts.some(sort => sort.field === field)) sorts.push({ field, descending })
  }
  return sorts
}

/** The order that a request asks for; by id ascending where it asks for none. */
export const sortOf = (entity: Entity, query: Query): readonly Sort[] => {
  const { sort } = entity.rest.listing
  if (!sort) return [byId]
  return sort.style === 'signed list'
    ? signedList(entity, sort.fields, query)
    : fieldAndOrder(entity, sort.fields, query)
}
