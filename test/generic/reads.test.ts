/** The reads of the REST API, on every content: each route answers what a plain reference over the rows does. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type ReferenceRow, type View, verdict, viewsOf } from '#check/reference.ts'
import { entityOf } from '#model/model.ts'
import { isByRow } from '#model/policy.ts'
import { isIn } from '#model/version.ts'
import { refuses } from '../rest.ts'
import { type Subject, subjects } from './contents.ts'
import { listsAreRead } from './lists.ts'
import { readingOf, type Shared } from './reading.ts'
import { anonymous, filled, pathOf } from './subject.ts'

const readsIn = (view: View, subject: Subject, shared: () => Shared) =>
  describe(`in version ${view.version}`, () => {
    const reading = readingOf(view, subject, shared)
    const { version, prefix, admin, it, reference, ask, routesOf, rulesOf } = reading
    listsAreRead(reading)

    test('a thing is not below a parent that it does not belong to', async () => {
      for (const route of routesOf('one')) {
        const { below } = route
        if (!below) continue
        const row = reference()
          .rowsIn(route.entity)
          .find(row => row[below.field] === 2)
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
        const { fields } = entityOf(it().model, route.entity)
        const parent = route.below && entityOf(it().model, route.below.entity)
        const isOpen =
          verdict(rulesOf(route).enter, anonymous, it().model) === 'yes' &&
          // Whether there is such a list is a matter of who asks, too.
          !isByRow(parent?.policy.read) &&
          !Object.values(fields).some(({ rest, readableBy }) => rest && isByRow(readableBy))
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
            ? reference().rowsIn(route.entity)[0]?.[route.below.field]
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
      const own = it().routes.map(({ method, path, lifetime }) => ({ method, path, ...lifetime }))
      return [...own, ...actions, ...(await served()).routes]
    }
    const form = (path: string) => path.replaceAll(/:\w+/g, '1')

    test('each path says its methods, and refuses others with them', async () => {
      const all = await everyRoute()
      // Below the plain prefix are those of all versions.
      const isPlain = prefix === '/api'
      const there = isPlain ? all : all.filter(route => isIn(route, version))
      const inVersion = it().routes.filter(
        ({ kind, lifetime }) =>
          (kind === 'list' || kind === 'aggregate') && (isPlain || isIn(lifetime, version)),
      )
      const lists = new Set(inVersion.map(({ path }) => form(path)))
      for (const path of new Set(there.map(({ path }) => path))) {
        // A word may stand where others have an id: `/things/bulk`.
        const isHere = (other: string) =>
          new RegExp(`^${other.replace(/:\w+/g, '[^/]+')}$`).test(form(path))
        const methods = new Set(
          there.filter(other => isHere(other.path)).map(({ method }) => method),
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
        const row = reference().rowsIn(route.entity)[0] as ReferenceRow
        const path = pathOf(route, '', { id: 1 })
        const named = await ask(`GET /api${path}`, admin, { 'API-Version': String(version) })
        const object = (prefix: string) =>
          reference().objectOf(route.entity, row, { ...view, prefix }, admin)
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

    for (const view of viewsOf(subject.content)) void readsIn(view, subject, () => shared)
  })
