/** Lists by what their entity declares for every version, one without conditions of callers too: filters, orders, pages along the links. */
import { oneOf } from '#base/random.ts'
import { named, pathOf } from '#kit/check/callers.ts'
import { comparable, owed, sameOrFault } from '#kit/check/reads.ts'
import {
  compare,
  memberName,
  type ReferenceRow,
  type RowsReference,
  written,
} from '#kit/check/reference.ts'
import { brief, type CheckService, faultOf } from '#kit/check/service.ts'
import type { Entity, Filter } from '#model/entity.ts'
import { entityOf, type Model } from '#model/model.ts'
import { digitsOf } from '#model/money.ts'
import type { Viewer } from '#model/policy.ts'
import { isIn, type Version } from '#model/version.ts'
import type { Route } from '#rest/routes.ts'

/** The filters that a version has, by their parameters. */
export const filtersIn = (
  { fields, rest }: Entity,
  version: Version,
): readonly (readonly [string, Filter])[] =>
  Object.entries(rest.listing.filters ?? {}).filter(([, filter]) => {
    const field = fields[filter.field]
    return isIn(filter, version) && field !== undefined && isIn(field, version)
  })

/** What a list may be sorted by in a version, each as the query string says it and as a signed field. */
export const sortsOf = ({ fields, rest }: Entity, version: Version) => {
  const { sort } = rest.listing
  return (sort?.fields ?? [])
    .filter(term => isIn(sort?.lifetimes?.[term] ?? {}, version))
    .flatMap(signed => {
      const field = signed.replace(/^-/, '')
      const member = memberName(field, fields[field], version)
      if (member === undefined) return []
      if (sort?.style === 'signed list')
        return [{ query: `sort=${signed.replace(field, member)}`, signed }]
      return [
        { query: `sort=${member}&order=asc`, signed: field },
        { query: `sort=${member}&order=desc`, signed: `-${field}` },
      ]
    })
}

/** A filter with a text that some row has, and the rows that it keeps; undefined where rows have none. */
const filterFor = (
  model: Model,
  entity: Entity,
  version: Version,
  { kind, field: key }: Filter,
  rows: readonly ReferenceRow[],
  random: () => number,
): { readonly text: string; readonly keeps: (row: ReferenceRow) => boolean } | undefined => {
  const field = entity.fields[key]
  const valueIn = (row: ReferenceRow) => row[key] ?? null
  if (kind === 'above zero') return { text: 'true', keeps: row => Number(valueIn(row)) > 0 }
  const value = valueIn(oneOf(rows, random) ?? { id: 0 })
  if (!field || value === null) return undefined
  if (kind === 'contains') {
    // What is kept is folded already, and to fold it again changes nothing.
    const text = [...String(value)].slice(1, 6).join('')
    return { text, keeps: row => String(valueIn(row) ?? '').includes(text) }
  }
  if (kind === 'equals') {
    // Flags have two forms of a text, and an empty text is no filter.
    const text = String(written(field, value, version))
    const isPlain = ['text', 'id', 'int'].includes(field.scalar) && text !== ''
    return isPlain ? { text, keeps: row => valueIn(row) === value } : undefined
  }
  if (!['int', 'money', 'decimal'].includes(field.scalar)) return undefined
  const scale = 10 ** digitsOf(field, model.settings.currency.digits)
  const sign = kind === 'at least' ? 1 : -1
  return {
    text: String(Number(value) / scale),
    keeps: row => valueIn(row) !== null && sign * (Number(valueIn(row)) - Number(value)) >= 0,
  }
}

/** The rows in an order by a signed field, ties by id. */
const sorted = (rows: readonly ReferenceRow[], signed: string): readonly ReferenceRow[] => {
  const key = signed.replace(/^-/, '')
  const sign = key === signed ? 1 : -1
  return rows.toSorted((a, b) => sign * compare(a[key] ?? null, b[key] ?? null) || a.id - b.id)
}

/** The rows that a page has; few, so that there are several. */
const pageSize = 3

/** Asks a list by some of its filters in one of its orders, and follows the links to its end: each row is there once, as the caller may read it. */
export const askDeclared = async (
  service: CheckService,
  reference: RowsReference,
  route: Route,
  parent: number | undefined,
  viewer: Viewer,
  random: () => number,
): Promise<void> => {
  const { model, view, ask } = service
  const { version, prefix } = view
  const entity = entityOf(model, route.entity)
  const query = new URLSearchParams({ limit: String(pageSize) })
  let rows = reference.listed(route, parent, viewer)
  for (const [name, filter] of filtersIn(entity, version)) {
    if (random() < 0.6) continue
    const found = filterFor(model, entity, version, filter, rows, random)
    if (!found) continue
    query.set(name, found.text)
    rows = rows.filter(found.keeps)
  }
  const { paging } = entity.rest.listing
  const sort = paging === 'cursor' ? undefined : oneOf(sortsOf(entity, version), random)
  if (sort) {
    for (const [name, value] of new URLSearchParams(sort.query)) query.set(name, value)
    rows = sorted(rows, sort.signed)
  }
  const first = `${pathOf(route, prefix, { parentId: parent })}?${query}`
  const about = `the pages of GET ${first} by ${named(viewer)}`
  const told: object[] = []
  let next: string | undefined = first
  do {
    const answer = await ask(`GET ${next}`, viewer)
    if (answer.status !== 200)
      throw faultOf(`GET ${next} by ${named(viewer)}`, 'an answer', brief(answer.text))
    const { data, pagination } = answer.json
    for (const one of data) told.push(comparable(service, route.entity, viewer, one))
    if (pagination?.total !== undefined)
      sameOrFault(pagination.total, rows.length, `the total of ${about}`)
    next = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1]
  } while (next !== undefined && told.length <= rows.length)
  const right = rows.map(row => owed(service, reference, route.entity, row, viewer))
  sameOrFault(told, right, about)
}
