/** The reads of the REST API, on every content: each route answers what a plain reference over the rows does. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Filter, Listing } from '#model/entity.ts'
import { entityOf } from '#model/model.ts'
import { isIn } from '#model/version.ts'
import type { Viewer } from '#model/viewer.ts'
import type { Route } from '#rest/routes.ts'
import { refuses } from '../rest.ts'
import type { Answered } from '../world.ts'
import { type Subject, subjects } from './contents.ts'
import {
  filtersIn,
  passes,
  type Reference,
  type Row,
  sorted,
  sortsOf,
  type View,
  verdict,
  views,
  written,
} from './reference.ts'
import {
  anonymous,
  asOf,
  callersOf,
  type Filled,
  filled,
  named,
  nameOf,
  pathOf,
} from './subject.ts'

/** How reading is refused: 401 without a token, 403 with one. */
const refusedTo = (answer: Answered, { role }: Viewer): void =>
  role === 'anonymous' ? refuses(answer, 401, 'UNAUTHENTICATED') : refuses(answer, 403, 'FORBIDDEN')

/** A world that all versions of a content are asked in, since nothing is written. */
type Shared = { readonly it: Filled; readonly reference: Reference }

const readsIn = (view: View, subject: Subject, shared: () => Shared) =>
  describe(`in version ${view.version}`, () => {
    const { version, prefix } = view
    const { admin, callers } = callersOf(subject)
    let it: Filled
    let reference: Reference
    before(() => ({ it, reference } = shared()))

    const ask = (line: string, viewer: Viewer, headers = {}) =>
      it.world.ask(line, { ...asOf(viewer), headers })
    const routesOf = (kind: Route['kind']) =>
      it.routes.filter(route => route.kind === kind && isIn(route.lifetime, version))
    const rulesOf = ({ entity }: Route) => {
      const { policy } = entityOf(it.model, entity)
      return { enter: policy.enter ?? policy.read, read: policy.read }
    }

    /** The parents that a nested list is asked of: some, and one that is not there. */
    const parentsOf = ({ below }: Route) => (below ? [1, 2, 5, 999] : [undefined])

    const isThere = ({ below }: Route, parent: number | undefined, viewer: Viewer): boolean => {
      if (!below) return true
      const { read } = entityOf(it.model, below.entity).policy
      return reference.seen(below.entity, read, viewer).some(({ id }) => id === parent)
    }

    /** Asks a list of every parent as an admin, who sees all of it. */
    const eachList = async (
      check: (route: Route, path: string, rows: readonly Row[]) => unknown,
    ) => {
      for (const route of routesOf('list'))
        for (const parentId of parentsOf(route))
          if (
            isThere(route, parentId, admin) &&
            verdict(rulesOf(route).enter, admin, it.model) === 'yes'
          )
            await check(
              route,
              pathOf(route, prefix, { parentId }),
              reference.listed(route, parentId, admin),
            )
    }

    const objects = (route: Route, rows: readonly Row[]) =>
      rows.map(row => reference.objectOf(route.entity, row, view))

    /** Checks what stands beside the first page of a list of so many. */
    const checkEnvelope = (
      { json }: Answered,
      paging: Listing['paging'],
      limit: number,
      total: number,
    ) => {
      const hasNext = total > limit
      const pages = { page: 1, total, totalPages: Math.ceil(total / limit), hasPrev: false }
      const { data, ...beside } = json
      const nextCursor = version === 1 ? beside.nextCursor : beside.pagination.nextCursor
      if (paging !== 'cursor') {
        const more = version === 1 ? {} : { nextCursor: null }
        assert.deepEqual(beside, { pagination: { ...pages, limit, hasNext, ...more } })
        return
      }
      assert.equal(typeof nextCursor, hasNext ? 'string' : 'object')
      assert.deepEqual(
        beside,
        version === 1 ? { nextCursor } : { pagination: { limit, hasNext, nextCursor } },
      )
    }

    test('each list has a page of what each viewer may see, or refuses them', async () => {
      for (const route of routesOf('list'))
        for (const viewer of callers)
          for (const parentId of parentsOf(route)) {
            const answer = await ask(`GET ${pathOf(route, prefix, { parentId })}`, viewer)
            const about = `${nameOf(route)} of ${parentId} for ${named(viewer)}: ${answer.text}`
            const { paging, limit } = entityOf(it.model, route.entity).rest.listing
            if (verdict(rulesOf(route).enter, viewer, it.model) === 'no') {
              refusedTo(answer, viewer)
              continue
            }
            const parentRule = route.below && entityOf(it.model, route.below.entity).policy.read
            if (route.below && verdict(parentRule, viewer, it.model) === 'no') {
              refusedTo(answer, viewer)
              continue
            }
            if (!isThere(route, parentId, viewer)) {
              refuses(answer, 404, 'NOT_FOUND')
              continue
            }
            const rows = reference.listed(route, parentId, viewer)
            assert.equal(answer.status, 200, about)
            assert.deepEqual(answer.json.data, objects(route, rows.slice(0, limit)), about)
            checkEnvelope(answer, paging, limit, rows.length)
          }
    })

    test('the pages of a list hold each row once, in its order', async () => {
      await eachList(async (route, path, rows) => {
        const found: unknown[] = []
        const { paging } = entityOf(it.model, route.entity).rest.listing
        let next: string | null = `${path}?limit=3`
        for (let page = 2; next !== null; page++) {
          const { json, status, text } = await ask(`GET ${next}`, admin)
          assert.equal(status, 200, text)
          found.push(...json.data)
          const cursor = version === 1 ? json.nextCursor : json.pagination.nextCursor
          const goesOn = paging === 'cursor' ? cursor !== null : json.pagination.hasNext
          const where = paging === 'cursor' ? `cursor=${cursor}` : `page=${page}`
          next = goesOn ? `${path}?limit=3&${where}` : null
        }
        assert.deepEqual(found, objects(route, rows), path)
      })
    })

    test('the link to the next page leads to it', async () => {
      await eachList(async (route, path, rows) => {
        const { headers } = await ask(`GET ${path}?limit=2`, admin)
        const next = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
        assert.equal(next !== undefined, rows.length > 2, path)
        if (next === undefined) return
        const { json } = await ask(`GET ${next}`, admin)
        assert.deepEqual(json.data, objects(route, rows.slice(2, 4)), next)
      })
    })

    test('a list is in the order that is asked for', async () => {
      await eachList(async (route, path, rows) => {
        const entity = entityOf(it.model, route.entity)
        if (entity.rest.listing.paging === 'cursor') return
        for (const { query, signed } of sortsOf(entity, entity.rest.listing, version)) {
          const { json, text } = await ask(`GET ${path}?limit=100&${query}`, admin)
          assert.deepEqual(json.data, objects(route, sorted(rows, [signed])), `${query} ${text}`)
        }
      })
    })

    /** Texts for a filter: those that rows have, and some that none has. */
    const textsFor = (
      route: Route,
      rows: readonly Row[],
      { kind, field }: Filter,
      scale: number,
    ) => {
      const of = entityOf(it.model, route.entity).fields[field]
      const scalar = of?.scalar
      if (kind === 'above zero') return ['true']
      const own = [...new Set(rows.map(row => row[field] ?? null))].flatMap(value => {
        if (value === null) return []
        return String(scalar === 'money' ? Number(value) / scale : written(of, value, version))
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
      await eachList(async (route, path, rows) => {
        const entity = entityOf(it.model, route.entity)
        const { rest, fields } = entity
        for (const [name, filter] of filtersIn(entity, version)) {
          const field = fields[filter.field]
          if (fields[filter.field]?.scalar === 'flag') continue
          const isMoney = fields[filter.field]?.scalar === 'money'
          const scale = isMoney ? 10 ** it.model.settings.currency.digits : 1
          const shown = (row: Row) => {
            const value = row[filter.field] ?? null
            return filter.kind === 'equals' ? written(field, value, version) : value
          }
          for (const text of textsFor(route, rows, filter, scale)) {
            const query = new URLSearchParams({ limit: '100', [name]: text })
            const answer = await ask(`GET ${path}?${query}`, admin)
            if (version === 2 && fields[filter.field]?.values && text === 'nothing') {
              assert.equal(answer.status, 422, `${path}?${query}`)
              continue
            }
            const kept = rows.filter(row => passes(shown(row), filter, text, scale))
            assert.deepEqual(answer.json.data, objects(route, kept), `${path}?${query}`)
            if (rest.listing.paging !== 'cursor')
              assert.equal(answer.json.pagination.total, kept.length)
          }
        }
      })
    })

    test('the chosen members are there and no others; an unknown one is refused', async () => {
      await eachList(async (route, path, rows) => {
        const entity = entityOf(it.model, route.entity)
        if (!entity.rest.selectable) return
        const [row = { id: 0 }] = reference.rowsIn(route.entity)
        const all = Object.keys(reference.objectOf(route.entity, row, view))
        const names = all.filter((_, index) => index % 2 === 0)
        const { json } = await ask(`GET ${path}?limit=100&fields=${names.join()}`, admin)
        const expected = objects(route, rows).map(object =>
          Object.fromEntries(Object.entries(object).filter(([key]) => names.includes(key))),
        )
        assert.deepEqual(json.data, expected, path)
        refuses(await ask(`GET ${path}?fields=id,unheardOf`, admin), 422, 'VALIDATION_ERROR', [
          'fields',
        ])
      })
    })

    test('each thing is shown to those who may see it, and is not there for others', async () => {
      for (const route of routesOf('one'))
        for (const viewer of callers)
          for (const row of [...reference.rowsIn(route.entity).slice(0, 4), { id: 999 } as Row]) {
            const parentId = route.below ? row[route.below.field] : undefined
            const answer = await ask(
              `GET ${pathOf(route, prefix, { id: row.id, parentId })}`,
              viewer,
            )
            const { enter } = rulesOf(route)
            const about = `${nameOf(route)} ${row.id} for ${named(viewer)}: ${answer.text}`
            if (verdict(enter, viewer, it.model) === 'no') refusedTo(answer, viewer)
            else if (row.id === 999 || !reference.may(route.entity, row, enter, viewer))
              assert.equal(answer.status, 404, about)
            else {
              assert.equal(answer.status, 200, about)
              assert.deepEqual(answer.json, reference.objectOf(route.entity, row, view), about)
            }
          }
    })

    test('a thing is not below a parent that it does not belong to', async () => {
      for (const route of routesOf('one')) {
        const { below } = route
        if (!below) continue
        const row = reference.rowsIn(route.entity).find(row => row[below.field] === 2)
        if (!row) continue
        refuses(
          await ask(`GET ${pathOf(route, prefix, { id: row.id, parentId: 3 })}`, admin),
          404,
          'NOT_FOUND',
        )
      }
    })

    test('what names nothing is not found', async () => {
      for (const route of [...routesOf('one'), ...routesOf('list')])
        for (const bad of ['0', '-1', 'abc', '1.5', '01', '9007199254740993']) {
          if (!/:/.test(route.path)) continue
          const path = pathOf(route, prefix, { id: bad, parentId: bad })
          refuses(await ask(`GET ${path}`, admin), 404, 'NOT_FOUND')
        }
    })

    test('an answer that the caller has already is not sent again', async () => {
      const paths = [
        ...routesOf('list')
          .filter(({ below }) => !below)
          .map(route => pathOf(route, prefix)),
        ...routesOf('one')
          .filter(({ below }) => !below)
          .map(route => pathOf(route, prefix, { id: 1 })),
      ]
      for (const path of paths) {
        const first = await ask(`GET ${path}`, admin)
        assert.equal(first.status, 200, path)
        const tag = first.headers.get('etag') ?? ''
        const again = await ask(`GET ${path}`, admin, { 'If-None-Match': tag })
        assert.deepEqual(
          [again.status, again.text, again.headers.get('etag')],
          [304, '', tag],
          path,
        )
        const other = await ask(`GET ${path}`, admin, { 'If-None-Match': '"other"' })
        assert.equal(other.text, first.text)
      }
    })

    test('what anonymous may read is public, the rest private', async () => {
      for (const route of routesOf('list')) {
        const { headers, status } = await ask(
          `GET ${pathOf(route, prefix, { parentId: 1 })}`,
          admin,
        )
        if (status !== 200) continue
        const isOpen = verdict(rulesOf(route).enter, anonymous, it.model) === 'yes'
        assert.match(
          headers.get('cache-control') ?? '',
          isOpen ? /^public/ : /^private/,
          route.path,
        )
      }
    })

    test('HEAD has the headers of GET and no body', async () => {
      for (const route of [...routesOf('list'), ...routesOf('one')]) {
        const parentId =
          route.below && route.kind === 'one'
            ? reference.rowsIn(route.entity)[0]?.[route.below.field]
            : 1
        const path = pathOf(route, prefix, { id: 1, parentId })
        const [get, head] = [await ask(`GET ${path}`, admin), await ask(`HEAD ${path}`, admin)]
        assert.equal(head.status, get.status, path)
        assert.equal(head.text, '')
        assert.equal(head.headers.get('etag'), get.headers.get('etag'))
        assert.equal(head.headers.get('content-type'), get.headers.get('content-type'))
      }
    })

    /** The routes of all kinds, and the versions that have them. */
    const everyRoute = async () => {
      const { actions, served } = subject.content
      const own = it.routes.map(({ method, path, lifetime }) => ({ method, path, ...lifetime }))
      return [...own, ...actions, ...(await served()).routes]
    }
    const form = (path: string) => path.replaceAll(/:\w+/g, '1')

    test('each path says its methods, and refuses others with them', async () => {
      const all = await everyRoute()
      // Below the plain prefix are those of all versions.
      const there = version === 1 ? all : all.filter(route => isIn(route, version))
      const inVersion = it.routes.filter(
        ({ kind, lifetime }) => kind === 'list' && (version === 1 || isIn(lifetime, version)),
      )
      const lists = new Set(inVersion.map(({ path }) => form(path)))
      for (const path of new Set(there.map(({ path }) => path))) {
        const methods = new Set(
          there.filter(other => form(other.path) === form(path)).map(({ method }) => method),
        )
        const safe = methods.has('GET') ? ['HEAD', ...(lists.has(form(path)) ? ['QUERY'] : [])] : []
        const allowed = [...methods, ...safe, 'OPTIONS'].sort()
        const options = await ask(`OPTIONS ${prefix}${form(path)}`, admin)
        assert.equal(options.status, 204)
        assert.deepEqual(options.headers.get('allow')?.split(', ').sort(), allowed, path)
        for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'].filter(one => !methods.has(one))) {
          const answer = await ask(`${method} ${prefix}${form(path)}`, admin)
          refuses(answer, 405, 'METHOD_NOT_ALLOWED')
          assert.deepEqual(answer.headers.get('allow')?.split(', ').sort(), allowed, path)
        }
      }
    })

    test('what another version has is not there, however this one is named', async () => {
      const all = await everyRoute()
      const there = all.filter(route => isIn(route, version))
      for (const { method, path } of all.filter(route => !isIn(route, version))) {
        const same = there.filter(other => form(other.path) === form(path))
        if (same.some(other => other.method === method)) continue
        const code = same.length > 0 ? 'METHOD_NOT_ALLOWED' : 'NOT_FOUND'
        for (const [line, headers] of [
          [`${method} /api/v${version}${form(path)}`, {}],
          [`${method} /api${form(path)}`, { 'API-Version': String(version) }],
        ] as const) {
          const answer = await ask(line, admin, headers)
          refuses(answer, same.length > 0 ? 405 : 404, code)
          assert.equal(answer.headers.get('api-version'), String(version))
        }
      }
    })

    test('a version that is named by a header is the one in the path, but for its links', async () => {
      for (const route of routesOf('one').filter(({ below }) => !below)) {
        const row = reference.rowsIn(route.entity)[0] as Row
        const path = pathOf(route, '', { id: 1 })
        const named = await ask(`GET /api${path}`, admin, { 'API-Version': String(version) })
        const object = (prefix: string) =>
          reference.objectOf(route.entity, row, { version, prefix })
        assert.deepEqual(named.json, object('/api'))
        const inPath = await ask(`GET /api/v${version}${path}`, admin)
        assert.deepEqual(inPath.json, object(`/api/v${version}`))
      }
    })
  })

for (const subject of subjects)
  describe(`the REST API of ${subject.name}`, () => {
    let shared: Shared
    before(async () => {
      const it = await filled(subject)
      shared = { it, reference: await it.reference() }
    })
    after(() => shared.it.world.close())

    for (const view of views) void readsIn(view, subject, () => shared)
  })
