/** The order of a list, as `sort` and `order` ask for it. */
import type { Resource, SortTerm } from '#model/resource.ts'
import type { Sort } from '#read/selection.ts'
import type { Query } from '#rest/query.ts'

const byId: Sort = { field: 'id', descending: false }

const known = (sorts: readonly SortTerm[]): string =>
  `must be one of ${sorts.map(({ name }) => name).join(', ')}`

const fieldAndOrder = ({ sorts }: Resource, query: Query): readonly Sort[] => {
  const sort = query.get('sort')
  const order = query.get('order')
  const term = sorts.find(({ name }) => name === sort)
  if (sort !== undefined && !term) query.fault('sort', known(sorts))
  if (order !== undefined && order !== 'asc' && order !== 'desc')
    query.fault('order', 'must be asc or desc')
  return [{ field: term?.field ?? 'id', member: term?.name ?? 'id', descending: order === 'desc' }]
}

/** `-price,name`. An unknown value is a fault or, where it is not strict, stands for id ascending, after which nothing matters. */
const signedList = ({ sorts }: Resource, query: Query, isStrict: boolean): readonly Sort[] => {
  const found: Sort[] = []
  const text = query.get('sort')
  for (const value of text?.split(',') ?? []) {
    const term = sorts.find(({ name }) => name === value)
    if (!term) {
      if (isStrict) query.fault('sort', `names ${value || 'nothing'}; each value ${known(sorts)}`)
      return [...found, byId]
    }
    const { field, descending } = term
    // A second sort by the same field has no effect.
    if (!found.some(sort => sort.field === field))
      found.push({ field, descending, member: value.replace(/^-/, '') })
  }
  return found.length > 0 ? found : [byId]
}

/** The order that a request asks for; by id ascending where it asks for none. A strict version refuses unknown values. */
export const sortOf = (resource: Resource, query: Query, isStrict: boolean): readonly Sort[] => {
  const { sort } = resource.entity.rest.listing
  if (!sort) return [byId]
  return sort.style === 'signed list'
    ? signedList(resource, query, isStrict)
    : fieldAndOrder(resource, query)
}
