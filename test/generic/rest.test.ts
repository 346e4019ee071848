/** What every route of every content does beside what `duet check` judges: methods, versions, headers, tags, keys, faults of bodies. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { bodyIfAny } from '#kit/check/bodies.ts'
import { anonymous, callersOf, pathOf } from '#kit/check/callers.ts'
import {
  memberName,
  type ReferenceRow,
  type RowsReference,
  type View,
  verdict,
  viewsOf,
} from '#kit/check/reference.ts'
import { noteUploads } from '#kit/check/uploads.ts'
import { uploadsIn } from '#kit/check/values.ts'
import type { Entity } from '#model/entity.ts'
import { entityOf } from '#model/model.ts'
import { isByRow, type Viewer } from '#model/policy.ts'
import { resourceOf } from '#model/resource.ts'
import { isIn } from '#model/version.ts'
import { queryParameters } from '#rest/query.ts'
import type { Route } from '#rest/routes.ts'
import { refuses } from '../rest.ts'
import { filling } from '../stores.ts'
import { asOf, type Filled, filled } from '../support/filled.ts'
import { isShort } from '../support/short.ts'
import type { Answered } from '../world.ts'
import { type Subject, subjects } from './contents.ts'

/** The path of a route with 1 for each id. */
const form = (path: string) => path.replaceAll(/:\w+/g, '1')

/** Counts bodies, which are told apart by it in all versions. */
let n = 0

const inVersion = (subject: Subject, view: View, it: () => Filled) =>
  describe(`in version ${view.version}`, () => {
    const { version, prefix, style } = view
    const { admin, callers } = callersOf(subject)
    let reference: RowsReference
    before(async () => {
      reference = await it().reference()
    })

    const ask = async (line: string, viewer: Viewer, headers = {}, body?: unknown) => {
      const { world } = it()
      if (body === undefined) return world.ask(line, { ...asOf(viewer), headers })
      const text = JSON.stringify(body)
      if (uploadsIn(text).length > 0)
        await filling(world.store, line => noteUploads(line, text, viewer, it().model.viewers))
      return world.ask(line, { ...asOf(viewer), headers, body })
    }
    const routesOf = (...kinds: readonly Route['kind'][]) =>
      it().routes.filter(({ kind, lifetime }) => kinds.includes(kind) && isIn(lifetime, version))
    const of = (route: Route): Entity => entityOf(it().model, route.entity)
    const may = (route: Route, kind: 'create' | 'update', viewer = admin) =>
      verdict(of(route).policy[kind], viewer, it().model) === 'yes'

    /** A body that the admin may send, if one is left. */
    const bodyIn = (route: Route, given: Record<string, number> = {}) =>
      bodyIfAny({
        ...{ model: it().model, entity: route.entity, reference, version, viewer: admin, given },
        mode: route.kind as 'create' | 'replace' | 'update',
        ...(route.kind === 'create' && { wanted: 'made' as const }),
        n: n++,
      })
    const noneLeft = ({ path }: Route) => assert.fail(`no body is left for ${path}`)
    const bodyOf = (route: Route) => bodyIn(route) ?? noneLeft(route)
    /** A create of the admin: its line and its body; some parents have all that they may have. */
    const createOf = (route: Route) => {
      for (let parentId = 1; parentId < 9; parentId++) {
        const body = bodyIn(route, route.below && { [route.below.field]: parentId })
        if (body) return { line: `POST ${pathOf(route, prefix, { parentId })}`, body }
      }
      return noneLeft(route)
    }
    const pathTo = (route: Route, row: ReferenceRow) =>
      pathOf(route, prefix, { id: row.id, parentId: route.below && row[route.below.field] })
    const firstOf = ({ entity }: Route) => reference.rowsIn(entity)[0] as ReferenceRow
    /** The routes that the admin may read as they are, each with its path: lists and single rows. */
    const plain = () =>
      routesOf('list', 'one').flatMap(route =>
        route.below ? [] : [[route, pathOf(route, prefix, { id: 1 })] as const],
      )
    const objects = (route: Route, rows: readonly ReferenceRow[]) =>
      rows.map(row => reference.objectOf(route.entity, row, view, admin))

    /** What stands beside the first page of a list of so many. */
    const checkEnvelope = (
      { json }: Answered,
      { pageSize: limit, rest }: Entity,
      total: number,
    ) => {
      const { paging } = rest.listing
      const hasNext = total > limit
      const { data, ...beside } = json
      const isUniform = style.lists === 'uniform'
      if (paging === 'cursor') {
        const nextCursor = isUniform ? json.pagination.nextCursor : json.nextCursor
        assert.equal(typeof nextCursor, hasNext ? 'string' : 'object')
        const pagination = { limit, hasNext, nextCursor }
        assert.deepEqual(beside, isUniform ? { pagination } : { nextCursor })
        return
      }
      const pages = { page: 1, total, totalPages: Math.ceil(total / limit), hasPrev: false }
      const { nextCursor } = json.pagination
      if (style.isStrict) assert.equal(typeof nextCursor, hasNext ? 'string' : 'object')
      const more = style.isStrict ? { nextCursor } : {}
      assert.deepEqual(beside, { pagination: { ...pages, limit, hasNext, ...more } })
    }

    // The first of all, while no list is planned: what a faulty request leaves behind is not hidden by a good one before it.
    test('a faulty request of a list leaves the next good one whole, with its chosen members and its envelope', async () => {
      for (const route of routesOf('list')) {
        const entity = of(route)
        const parentId = route.below ? 1 : undefined
        const path = pathOf(route, prefix, { parentId })
        const rows = reference.listed(route, parentId, admin)
        const resource = resourceOf(it().model, route.entity, version)
        // Chosen members first, since any other request plans the whole rows.
        const names = ['fields', ...queryParameters(resource, 'list', style)]
        for (const name of names)
          for (const value of ['', ',', 'id,', 'unheardOf', '%00', '9'.repeat(30), `1&${name}=1`]) {
            const faulty = await ask(`GET ${path}?${name}=${value}`, admin)
            assert.ok([200, 422].includes(faulty.status), `${path}?${name}=${value} ${faulty.text}`)
          }
        const answer = await ask(`GET ${path}`, admin)
        assert.deepEqual(answer.json.data, objects(route, rows.slice(0, entity.pageSize)), path)
        checkEnvelope(answer, entity, rows.length)
        if (!entity.rest.selectable) continue
        const all = Object.keys(reference.objectOf(route.entity, firstOf(route), view, admin))
        const chosen = all.filter((_, index) => index % 2 === 0)
        const some = await ask(`GET ${path}?limit=100&fields=${chosen}`, admin)
        const right = objects(route, rows).map(object =>
          Object.fromEntries(Object.entries(object).filter(([key]) => chosen.includes(key))),
        )
        assert.deepEqual(some.json.data, right, path)
        const unknown = await ask(`GET ${path}?fields=id,unheardOf`, admin)
        refuses(unknown, 422, 'VALIDATION_ERROR', ['fields'])
      }
    })

    test('what names nothing is not found, nor what is below another parent', async () => {
      for (const route of routesOf('one', 'list', 'replace', 'update', 'delete')) {
        const { method, below, path } = route
        const body = ['PUT', 'PATCH'].includes(method) ? bodyOf(route) : undefined
        const bad = ['0', '-1', 'abc', '1.5', '01', '999', '9007199254740993']
        for (const id of /:/.test(path) ? bad : []) {
          const line = `${method} ${pathOf(route, prefix, { id, parentId: id })}`
          refuses(await ask(line, admin, {}, body), 404, 'NOT_FOUND')
        }
        const row = below && reference.rowsIn(route.entity).find(row => row[below.field] === 2)
        if (!row || route.kind === 'list') continue
        const line = `${method} ${pathOf(route, prefix, { id: row.id, parentId: 3 })}`
        refuses(await ask(line, admin, {}, body), 404, 'NOT_FOUND')
      }
    })

    test('an answer that the caller has already is not sent again, and HEAD has its headers', async () => {
      for (const [, path] of plain()) {
        const first = await ask(`GET ${path}`, admin)
        assert.equal(first.status, 200, path)
        const tag = first.headers.get('etag') ?? ''
        const again = await ask(`GET ${path}`, admin, { 'If-None-Match': tag })
        const { status, text, headers } = again
        assert.deepEqual([status, text, headers.get('etag')], [304, '', tag], path)
        const other = await ask(`GET ${path}`, admin, { 'If-None-Match': '"other"' })
        assert.equal(other.text, first.text)
        const head = await ask(`HEAD ${path}`, admin)
        assert.deepEqual([head.status, head.text], [200, ''], path)
        for (const name of ['etag', 'content-type'])
          assert.equal(head.headers.get(name), first.headers.get(name))
      }
    })

    test('what anonymous may read is public, the rest private', async () => {
      for (const route of routesOf('list')) {
        const { headers } = await ask(`GET ${pathOf(route, prefix, { parentId: 1 })}`, admin)
        const { fields, policy } = of(route)
        const isOpen =
          verdict(policy.enter ?? policy.read, anonymous, it().model) === 'yes' &&
          // Whether there is such a list is a matter of who asks, too.
          !isByRow(route.below && entityOf(it().model, route.below.entity).policy.read) &&
          !Object.values(fields).some(({ rest, readableBy }) => rest && isByRow(readableBy))
        assert.match(headers.get('cache-control') ?? '', isOpen ? /^public/ : /^private/)
      }
    })

    /** The routes of all kinds, and the versions that have them. */
    const everyRoute = async () => {
      const { actions, served } = subject.content
      const own = it().routes.map(({ method, path, lifetime }) => ({ method, path, ...lifetime }))
      return [...own, ...actions, ...(await served()).routes]
    }

    test('each path says its methods, and refuses others with them', async () => {
      const all = await everyRoute()
      // Below the plain prefix are those of all versions.
      const isThere = (lifetime: Parameters<typeof isIn>[0]) =>
        prefix === '/api' || isIn(lifetime, version)
      const there = all.filter(isThere)
      const listed = it().routes.filter(
        ({ kind, lifetime }) => (kind === 'list' || kind === 'aggregate') && isThere(lifetime),
      )
      const lists = new Set(listed.map(({ path }) => form(path)))
      for (const path of new Set(there.map(({ path }) => path))) {
        // A word may stand where others have an id: `/things/bulk`.
        const isHere = (other: string) =>
          new RegExp(`^${other.replace(/:\w+/g, '[^/]+')}$`).test(form(path))
        const own = there.filter(other => isHere(other.path)).map(({ method }) => method)
        const methods = new Set<string>(own)
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
        const path = pathOf(route, '', { id: 1 })
        const object = (prefix: string) =>
          reference.objectOf(route.entity, firstOf(route), { ...view, prefix }, admin)
        const named = await ask(`GET /api${path}`, admin, { 'API-Version': String(version) })
        assert.deepEqual(named.json, object('/api'))
        const inPath = await ask(`GET /api/v${version}${path}`, admin)
        assert.deepEqual(inPath.json, object(`/api/v${version}`))
      }
    })

    test('an unknown member is named, and so is each one that is at fault or closed to its caller', async () => {
      for (const route of routesOf('create', 'replace', 'update')) {
        const row = firstOf(route)
        const { line, body } =
          route.kind === 'create'
            ? createOf(route)
            : { line: `${route.method} ${pathTo(route, row)}`, body: bodyOf(route) }
        const unknown = await ask(line, admin, {}, { ...body, unheardOf: 1 })
        refuses(unknown, 422, 'VALIDATION_ERROR', ['unheardOf'])
        const keys = Object.keys(body)
        const bad = Object.fromEntries(keys.map(key => [key, { no: 'such value' }]))
        if (keys.length > 0) refuses(await ask(line, admin, {}, bad), 422, 'VALIDATION_ERROR', keys)
        const raw = (text: string, type: string) =>
          it().world.ask(line, { ...asOf(admin), raw: text, headers: { 'Content-Type': type } })
        const list = await raw('[]', 'application/json')
        assert.ok([400, 422].includes(list.status), list.text)
        refuses(await raw('x', 'text/plain'), 415, 'UNSUPPORTED_MEDIA_TYPE')
        if (route.kind !== 'update') continue
        const { fields, policy } = of(route)
        for (const viewer of callers) {
          const own = reference
            .rowsIn(route.entity)
            .find(row => reference.may(route.entity, row, policy.update, viewer))
          for (const [key, field] of Object.entries(fields)) {
            const member = memberName(key, field, version)
            const isClosed = verdict(field.settableBy, viewer, it().model) === 'no'
            if (!own || !member || !field.rest || field.immutable || !isClosed) continue
            const answer = await ask(
              `PATCH ${pathTo(route, own)}`,
              viewer,
              {},
              { [member]: own[key] },
            )
            refuses(answer, 422, 'VALIDATION_ERROR', [member])
          }
        }
      }
    })

    test('a create names where the new thing is, is done once under a key, and needs what it refers to', async () => {
      for (const route of routesOf('create').filter(route => may(route, 'create'))) {
        const { line, body } = createOf(route)
        const { rest, plural, fields } = of(route)
        const key = { 'Idempotency-Key': `key ${version} ${route.path}`.replaceAll(/[ :/]/g, '-') }
        const first = await ask(line, admin, key, body)
        assert.equal(first.status, 201, `${line} ${first.text}`)
        reference = await it().reference()
        const { id } = reference.rowsIn(route.entity).at(-1) as ReferenceRow
        const location = rest.one ? `${prefix}/${plural}/${id}` : null
        assert.equal(first.headers.get('location'), location)
        const second = await ask(line, admin, key, body)
        assert.equal(second.text, first.text)
        assert.equal(second.headers.get('idempotency-replayed'), 'true')
        assert.equal((await it().reference()).rowsIn(route.entity).at(-1)?.id, id)
        const other = await ask(line, admin, key, { ...body, unheardOf: 1 })
        refuses(other, 422, 'VALIDATION_ERROR')
        const { sets } = of(route)
        const uniques = Object.values(fields).flatMap(({ unique }) => (unique ? [unique] : []))
        const [unique] = [...uniques, ...sets.map(({ error }) => error ?? 'CONFLICT')]
        if (unique !== undefined) {
          const code = typeof unique === 'string' ? unique : unique.code
          refuses(await ask(line, admin, {}, body), 409, code)
        }
        if (route.below) {
          const nowhere = `POST ${pathOf(route, prefix, { parentId: 999 })}`
          for (const sent of [createOf(route).body, {}])
            refuses(await ask(nowhere, admin, {}, sent), 404, 'NOT_FOUND')
        }
        for (const member of Object.keys(body)) {
          const field = Object.entries(fields).find(
            ([key, field]) => memberName(key, field, version) === member,
          )?.[1]
          if (!field?.references) continue
          const next = createOf(route)
          const absent = await ask(next.line, admin, {}, { ...next.body, [member]: 999 })
          refuses(absent, 404, 'NOT_FOUND')
        }
      }
    })

    test('a change asks for the revision that its caller saw, and one of nothing changes nothing [C15]', async () => {
      for (const route of routesOf('replace', 'update').filter(route => may(route, 'update'))) {
        const row = reference.rowsIn(route.entity)[1] as ReferenceRow
        if (!of(route).fields.revision) continue
        const path = pathTo(route, row)
        const { headers } = await ask(`GET ${path}`, admin)
        const change = (tag: string) =>
          ask(`${route.method} ${path}`, admin, { 'If-Match': tag }, bodyOf(route))
        const tag = headers.get('etag') ?? ''
        assert.equal((await change(tag)).status, 200, path)
        refuses(await change(tag), 412, 'PRECONDITION_FAILED')
        const any = await change('*')
        assert.equal(any.status, 200)
        if (route.kind !== 'update') continue
        const none = await ask(`PATCH ${path}`, admin, {}, {})
        const etag = any.headers.get('etag')
        assert.deepEqual([none.status, none.headers.get('etag')], [200, etag])
      }
    })

    /** A row without what each write of it changes. */
    const untouched = (route: Route, row: ReferenceRow | undefined) => {
      const { fields } = of(route)
      const own = Object.entries(row ?? {}).filter(([key]) => !fields[key]?.touched)
      return { ...Object.fromEntries(own), revision: 0 }
    }

    test('what is sent back as it was read leaves the thing as it was', async () => {
      reference = await it().reference()
      for (const route of routesOf('replace', 'update')) {
        const isGiven = new Set(
          Object.entries(of(route).fields).flatMap(([key, field]) => {
            const isOpen = verdict(field.settableBy, admin, it().model) === 'yes'
            return isOpen && !field.immutable ? [memberName(key, field, version)] : []
          }),
        )
        for (const row of reference.rowsIn(route.entity)) {
          const path = pathTo(route, row)
          const { json, text } = await ask(`GET ${path}`, admin)
          const members = Object.entries(json).filter(([member]) => isGiven.has(member))
          assert.ok(members.length > 0, text)
          const sent = Object.fromEntries(members)
          const answer = await ask(`${route.method} ${path}`, admin, {}, sent)
          assert.equal(answer.status, 200, answer.text)
        }
        const now = await it().reference()
        for (const row of reference.rowsIn(route.entity)) {
          const kept = now.byId(route.entity, row.id)
          assert.deepEqual(untouched(route, kept), untouched(route, row))
        }
      }
    })
  })

for (const subject of subjects)
  describe(`the REST API of ${subject.name}`, () => {
    let shared: Filled
    before(async () => {
      shared = await filled(subject)
    })
    after(async () => {
      const bugs = shared.world.events.filter(({ kind }) => kind === 'bug')
      await shared.world.close()
      assert.deepEqual(bugs, [])
    })
    // In a short run the newest one stands for all: the tests of this content's contract ask the oldest.
    for (const view of viewsOf(subject.content).slice(isShort ? -1 : 0))
      void inVersion(subject, view, () => shared)
  })
