/** The tests of the lists of a content: pages, orders, filters, chosen members. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare, memberName, type ReferenceRow, verdict, written } from '#check/reference.ts'
import type { Entity, Filter, Listing } from '#model/entity.ts'
import type { Field } from '#model/field.ts'
import { entityOf } from '#model/model.ts'
import { resourceOf } from '#model/resource.ts'
import { parseId } from '#model/values.ts'
import { isIn, type Version } from '#model/version.ts'
import { foldedAs } from '#model/words.ts'
import { queryParameters } from '#rest/query.ts'
import type { Route } from '#rest/routes.ts'
import type { SqlValue } from '#sql/sql.ts'
import { refuses } from '../rest.ts'
import { type Reading, refusedTo } from './reading.ts'
import { named, nameOf, pathOf } from './subject.ts'

/** Whether the text of a filter is none of the words that it has, where it has words, or no id where it has ids. */
export const isNoWord = (
  field: Field | undefined,
  { kind }: Filter,
  text: string,
  version: Version,
): boolean => {
  if (kind === 'above zero') return !['', 'true', 'false'].includes(text)
  const { scalar, values } = field ?? {}
  if (kind !== 'equals' || text === '') return false
  if (scalar === 'id') return parseId(text) === undefined
  return values !== undefined && !values.some(value => written(field, value, version) === text)
}

/** The filters that a version has, by their parameters. */
export const filtersIn = (
  { fields, rest }: Entity,
  version: Version,
): readonly (readonly [string, Filter])[] =>
  Object.entries(rest.listing.filters ?? {}).filter(([, filter]) => {
    const field = fields[filter.field]
    return isIn(filter, version) && field !== undefined && isIn(field, version)
  })

/** Whether a row passes a filter that is given this text; `value` is the row's, as the version writes it. */
const passes = (
  value: SqlValue | unknown,
  { kind }: Filter,
  text: string,
  { scale, accents }: { readonly scale: number; readonly accents: Field['accents'] },
): boolean => {
  switch (kind) {
    case 'equals':
      return String(value) === text
    case 'above zero':
      return Number(value) > 0
    case 'contains':
      return String(value).includes(foldedAs({ accents }, text))
    case 'at least':
      return value !== null && Number(value) >= Number(text) * scale
    case 'at most':
      return value !== null && Number(value) <= Number(text) * scale
    default:
      return kind satisfies never
  }
}

/** The rows in an order by signed fields, ties by id. */
const sorted = (
  rows: readonly ReferenceRow[],
  signed: readonly string[],
): readonly ReferenceRow[] =>
  rows.toSorted((a, b) => {
    for (const term of signed) {
      const key = term.replace(/^-/, '')
      const order = compare(a[key] ?? null, b[key] ?? null)
      if (order !== 0) return term === key ? order : -order
    }
    return a.id - b.id
  })

/** What a list may be sorted by in a version, each as the query string says it and as signed fields. */
export const sortsOf = ({ fields }: Entity, { sort }: Listing, version: Version) =>
  (sort?.fields ?? [])
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

/** The tests of its lists. */
export const listsAreRead = ({
  version,
  prefix,
  view,
  callers,
  it,
  reference,
  ask,
  routesOf,
  rulesOf,
  parentsOf,
  isThere,
  eachList,
  objects,
  cursorIn,
  checkEnvelope,
}: Reading): void => {
  // The first of all, while no list is planned: what a faulty request leaves behind is not hidden by a good one before it.
  test('a faulty request of a list leaves the next good one whole', async () => {
    const tried = new Set<Route>()
    await eachList(async (route, path, rows, viewer) => {
      // The plans of a route are those of all its parents.
      if (tried.has(route)) return
      tried.add(route)
      const resource = resourceOf(it().model, route.entity, version)
      // Chosen members first, since any other request plans the whole rows.
      for (const name of [
        'fields',
        ...queryParameters(resource, 'list', it().model.versions.styleOf(version)),
      ])
        for (const value of ['', ',', 'id,', 'unheardOf', '%00', '9'.repeat(30), `1&${name}=1`]) {
          const faulty = await ask(`GET ${path}?${name}=${value}`, viewer)
          assert.ok([200, 422].includes(faulty.status), `${path}?${name}=${value} ${faulty.text}`)
        }
      const { limit } = resource.entity.rest.listing
      const { json } = await ask(`GET ${path}`, viewer)
      assert.deepEqual(json.data, objects(route, rows.slice(0, limit), viewer), path)
    })
  })

  test('each list has a page of what each viewer may see, or refuses them', async () => {
    for (const route of routesOf('list'))
      for (const viewer of callers)
        for (const parentId of parentsOf(route)) {
          const answer = await ask(`GET ${pathOf(route, prefix, { parentId })}`, viewer)
          const about = `${nameOf(route)} of ${parentId} for ${named(viewer)}: ${answer.text}`
          const { paging, limit } = entityOf(it().model, route.entity).rest.listing
          if (verdict(rulesOf(route).enter, viewer, it().model) === 'no') {
            refusedTo(answer, viewer)
            continue
          }
          const parentRule = route.below && entityOf(it().model, route.below.entity).policy.read
          if (route.below && verdict(parentRule, viewer, it().model) === 'no') {
            refusedTo(answer, viewer)
            continue
          }
          if (!isThere(route, parentId, viewer)) {
            refuses(answer, 404, 'NOT_FOUND')
            continue
          }
          const rows = reference().listed(route, parentId, viewer)
          assert.equal(answer.status, 200, about)
          assert.deepEqual(answer.json.data, objects(route, rows.slice(0, limit), viewer), about)
          checkEnvelope(answer, paging, limit, rows.length)
        }
  })

  test('the pages of a list hold each row once, in its order', async () => {
    await eachList(async (route, path, rows, viewer) => {
      const found: unknown[] = []
      const { paging } = entityOf(it().model, route.entity).rest.listing
      let next: string | null = `${path}?limit=3`
      for (let page = 2; next !== null; page++) {
        const { json, status, text } = await ask(`GET ${next}`, viewer)
        assert.equal(status, 200, text)
        found.push(...json.data)
        const cursor = cursorIn({ json })
        const goesOn = paging === 'cursor' ? cursor !== null : json.pagination.hasNext
        const where = paging === 'cursor' ? `cursor=${cursor}` : `page=${page}`
        next = goesOn ? `${path}?limit=3&${where}` : null
      }
      assert.deepEqual(found, objects(route, rows, viewer), path)
    })
  })

  test('the link to the next page leads to it', async () => {
    await eachList(async (route, path, rows, viewer) => {
      const { headers } = await ask(`GET ${path}?limit=2`, viewer)
      const next = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
      assert.equal(next !== undefined, rows.length > 2, path)
      if (next === undefined) return
      const { json } = await ask(`GET ${next}`, viewer)
      assert.deepEqual(json.data, objects(route, rows.slice(2, 4), viewer), next)
    })
  })

  test('a list is in the order that is asked for', async () => {
    await eachList(async (route, path, rows, viewer) => {
      const entity = entityOf(it().model, route.entity)
      if (entity.rest.listing.paging === 'cursor') return
      for (const { query, signed } of sortsOf(entity, entity.rest.listing, version)) {
        const { json, text } = await ask(`GET ${path}?limit=100&${query}`, viewer)
        assert.deepEqual(
          json.data,
          objects(route, sorted(rows, [signed]), viewer),
          `${query} ${text}`,
        )
      }
    })
  })

  /** Texts for a filter: those that rows have, and some that none has. */
  const textsFor = (
    route: Route,
    rows: readonly ReferenceRow[],
    { kind, field }: Filter,
    scale: number,
  ) => {
    const of = entityOf(it().model, route.entity).fields[field]
    const scalar = of?.scalar
    if (kind === 'above zero') return ['true']
    const own = [...new Set(rows.map(row => row[field] ?? null))].flatMap(value => {
      if (value === null) return []
      return String(scale > 1 ? Number(value) / scale : written(of, value, version))
    })
    if (kind !== 'contains')
      return [...own.slice(0, 4), ...(scalar === 'text' ? ['nothing'] : ['999'])]
    return [
      ...own.slice(0, 3).map(text => text.slice(1, 6)),
      '%',
      '_',
      'É',
      '日本',
      'nothing',
      ' 1',
    ]
  }

  test('a filter keeps just the rows that it names', async () => {
    await eachList(async (route, path, rows, viewer) => {
      const entity = entityOf(it().model, route.entity)
      const { rest, fields } = entity
      for (const [name, filter] of filtersIn(entity, version)) {
        const field = fields[filter.field]
        if (fields[filter.field]?.scalar === 'flag') continue
        const isMoney = field?.scalar === 'money'
        const digits = isMoney ? it().model.settings.currency.digits : (field?.scale ?? 0)
        const scale = 10 ** digits
        const shown = (row: ReferenceRow) => {
          const value = row[filter.field] ?? null
          return filter.kind === 'equals' ? written(field, value, version) : value
        }
        for (const text of textsFor(route, rows, filter, scale)) {
          const query = new URLSearchParams({ limit: '100', [name]: text })
          const answer = await ask(`GET ${path}?${query}`, viewer)
          if (view.style.isStrict && isNoWord(field, filter, text, version)) {
            refuses(answer, 422, 'VALIDATION_ERROR', [name])
            continue
          }
          const kept = rows.filter(row =>
            passes(shown(row), filter, text, { scale, accents: field?.accents }),
          )
          assert.deepEqual(answer.json.data, objects(route, kept, viewer), `${path}?${query}`)
          if (rest.listing.paging !== 'cursor')
            assert.equal(answer.json.pagination.total, kept.length)
        }
      }
    })
  })

  test('the chosen members are there and no others; an unknown one is refused', async () => {
    await eachList(async (route, path, rows, viewer) => {
      const entity = entityOf(it().model, route.entity)
      if (!entity.rest.selectable) return
      const [row = { id: 0 }] = reference().rowsIn(route.entity)
      const all = Object.keys(reference().objectOf(route.entity, row, view, viewer))
      const names = all.filter((_, index) => index % 2 === 0)
      const { json } = await ask(`GET ${path}?limit=100&fields=${names.join()}`, viewer)
      const expected = objects(route, rows, viewer).map(object =>
        Object.fromEntries(Object.entries(object).filter(([key]) => names.includes(key))),
      )
      assert.deepEqual(json.data, expected, path)
      refuses(await ask(`GET ${path}?fields=id,unheardOf`, viewer), 422, 'VALIDATION_ERROR', [
        'fields',
      ])
    })
  })
}
