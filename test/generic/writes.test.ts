/** The writes of both APIs, on every content: who may and who may not, what is kept, and what is refused. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { memberName, type ReferenceRow, type View, verdict, viewsOf } from '#check/reference.ts'
import { entityOf } from '#model/model.ts'
import type { Viewer } from '#model/policy.ts'
import type { Route } from '#rest/routes.ts'
import { refuses } from '../rest.ts'
import { type Subject, subjects } from './contents.ts'
import { createsAreJudged } from './creates.ts'
import { refusedTo } from './reading.ts'
import { asOf, isHeld, named, nameOf, pathOf, targetFor } from './subject.ts'
import { type Write, writingOf } from './writing.ts'

const writesIn = (subject: Subject, view: View) =>
  describe(`the writes of ${subject.name} in version ${view.version}`, () => {
    const writing = writingOf(subject, view)
    const {
      version,
      prefix,
      admin,
      someone,
      barred,
      callers,
      it,
      reference,
      now,
      readAgain,
      routesOf,
      ruleOf,
      ask,
      bodyOf,
      newFor,
      fieldNamed,
    } = writing
    createsAreJudged(writing)

    const rowFor = ({ entity }: Route, kind: Write, viewer: Viewer, mine: boolean) =>
      targetFor({
        ...it(),
        reference: reference(),
        entity,
        rule: ruleOf(entity, kind),
        viewer,
        mine,
      })

    const pathTo = (route: Route, row: ReferenceRow): string =>
      pathOf(route, prefix, {
        id: row.id,
        parentId: route.below ? row[route.below.field] : undefined,
      })

    test('a field is set by those whom its rule lets through, and by no others', async () => {
      for (const route of routesOf('update'))
        for (const viewer of callers) {
          const row = [true, false]
            .map(mine => rowFor(route, 'update', viewer, mine))
            .find(
              row =>
                row && reference().may(route.entity, row, ruleOf(route.entity, 'update'), viewer),
            )
          for (const [key, field] of Object.entries(entityOf(it().model, route.entity).fields)) {
            const isClosed = verdict(field.settableBy, viewer, it().model) === 'no'
            const member = memberName(key, field, version)
            if (!row || !member || !field.rest || field.immutable || !isClosed) continue
            const answer = await ask(`PATCH ${pathTo(route, row)}`, viewer, { [member]: row[key] })
            refuses(answer, 422, 'VALIDATION_ERROR', [member])
          }
        }
    })

    test('what is not there can neither be changed nor deleted', async () => {
      for (const route of routesOf('replace', 'update', 'delete')) {
        const path = pathOf(route, prefix, { id: 999, parentId: 1 })
        const body = route.kind === 'delete' ? undefined : bodyOf(route, 'update', admin)
        refuses(await ask(`${route.method} ${path}`, admin, body), 404, 'NOT_FOUND')
      }
    })

    test('an unknown member is named, and so is each one that is at fault', async () => {
      for (const route of routesOf('create', 'replace', 'update')) {
        const kind = route.kind as Exclude<Write, 'delete'>
        const row = reference().rowsIn(route.entity)[0] as ReferenceRow
        const { path, body } =
          kind === 'create'
            ? newFor(route, admin)
            : { path: pathTo(route, row), body: bodyOf(route, kind, admin) }
        const unknown = await ask(`${route.method} ${path}`, admin, { ...body, unheardOf: 1 })
        refuses(unknown, 422, 'VALIDATION_ERROR', ['unheardOf'])
        const bad = Object.fromEntries(Object.keys(body).map(key => [key, { no: 'such value' }]))
        const keys = Object.keys(bad)
        if (keys.length === 0) continue
        refuses(await ask(`${route.method} ${path}`, admin, bad), 422, 'VALIDATION_ERROR', keys)
        const none = await it().world.ask(`${route.method} ${path}`, {
          ...asOf(admin),
          raw: '[]',
          headers: { 'Content-Type': 'application/json' },
        })
        assert.ok([400, 422].includes(none.status), none.text)
        const text = await it().world.ask(`${route.method} ${path}`, {
          ...asOf(admin),
          raw: 'x',
          headers: { 'Content-Type': 'text/plain' },
        })
        refuses(text, 415, 'UNSUPPORTED_MEDIA_TYPE')
      }
    })

    test('a change asks for the revision that its caller saw, where he says so', async () => {
      for (const route of routesOf('replace', 'update')) {
        const row = rowFor(route, 'update', someone(2), false)
        if (!row || !entityOf(it().model, route.entity).fields.revision) continue
        const path = pathTo(route, row)
        const { headers } = await ask(`GET ${path}`, admin)
        const tag = headers.get('etag') ?? ''
        const kind = route.kind as 'replace' | 'update'
        const change = () =>
          ask(`${route.method} ${path}`, admin, bodyOf(route, kind, admin), { 'If-Match': tag })
        assert.equal((await change()).status, 200, nameOf(route))
        refuses(await change(), 412, 'PRECONDITION_FAILED')
        const any = await ask(`${route.method} ${path}`, admin, bodyOf(route, kind, admin), {
          'If-Match': '*',
        })
        assert.equal(any.status, 200)
      }
    })

    /** A row without what each write of it changes. */
    const untouched = ({ entity }: Route, row: ReferenceRow | undefined) => {
      const { fields } = entityOf(it().model, entity)
      const own = Object.entries(row ?? {}).filter(([key]) => !fields[key]?.touched)
      return { ...Object.fromEntries(own), revision: 0 }
    }

    test('what is sent back as it was read leaves the thing as it was', async () => {
      for (const route of routesOf('replace', 'update'))
        for (const row of reference().rowsIn(route.entity)) {
          const path = pathTo(route, row)
          const { json, text } = await ask(`GET ${path}`, admin)
          const mayBeGiven = (member: string): boolean => {
            const field = Object.hasOwn(json, member) ? fieldNamed(route.entity, member) : undefined
            return (
              field !== undefined &&
              !field.immutable &&
              verdict(field.settableBy, admin, it().model) === 'yes'
            )
          }
          const members = Object.entries(json).filter(([member]) => mayBeGiven(member))
          assert.ok(members.length > 0, text)
          const answer = await ask(`${route.method} ${path}`, admin, Object.fromEntries(members))
          assert.equal(answer.status, 200, answer.text)
          const kept = (await now()).byId(route.entity, row.id)
          assert.deepEqual(untouched(route, kept), untouched(route, row), text)
        }
    })

    test('a change of nothing changes nothing', async () => {
      for (const route of routesOf('update')) {
        const row = rowFor(route, 'update', someone(2), false)
        if (!row) continue
        const { headers } = await ask(`GET ${pathTo(route, row)}`, admin)
        const answer = await ask(`PATCH ${pathTo(route, row)}`, admin, {})
        assert.equal(answer.status, 200)
        assert.equal(answer.headers.get('etag'), headers.get('etag'))
      }
    })

    test('a second thing with what is unique is refused with the error of that field', async () => {
      for (const route of routesOf('create')) {
        const { fields, sets } = entityOf(it().model, route.entity)
        const uniques = Object.values(fields).flatMap(({ unique }) => (unique ? [unique] : []))
        if (uniques.length + sets.length === 0) continue
        const { path, body } = newFor(route, admin)
        const first = await ask(`POST ${path}`, admin, body)
        const second = await ask(`POST ${path}`, admin, body)
        assert.equal(first.status, 201, first.text)
        const [unique = 'CONFLICT'] = [...uniques, ...sets.map(({ error }) => error)]
        refuses(second, 409, typeof unique === 'string' ? unique : unique.code)
      }
    })

    test('a create that is sent twice with one key is done once', async () => {
      for (const route of routesOf('create')) {
        if (verdict(ruleOf(route.entity, 'create'), admin, it().model) !== 'yes') continue
        const { path, body } = newFor(route, admin)
        const headers = { 'Idempotency-Key': `key-${route.path}` }
        await readAgain()
        const first = await ask(`POST ${path}`, admin, body, headers)
        assert.equal(first.status, 201, `${nameOf(route)} ${first.text}`)
        const count = (await now()).rowsIn(route.entity).length
        const second = await ask(`POST ${path}`, admin, body, headers)
        assert.equal(second.text, first.text)
        assert.equal(second.headers.get('idempotency-replayed'), 'true')
        assert.equal((await now()).rowsIn(route.entity).length, count)
        const other = { ...body, unheardOf: 1 }
        refuses(await ask(`POST ${path}`, admin, other, headers), 422, 'VALIDATION_ERROR')
      }
    })

    test('a thing is deleted by those who may, and by no others', async () => {
      // What others refer to comes last.
      const routes = routesOf('delete').toSorted(
        (a, b) =>
          Number(a.entity === it().model.viewers.entity) -
          Number(b.entity === it().model.viewers.entity),
      )
      for (const route of routes)
        for (const viewer of [...callers, ...(barred ? [barred] : [])])
          for (const mine of [false, true]) {
            await readAgain()
            const row = rowFor(route, 'delete', viewer, mine)
            if (!row) continue
            const rule = ruleOf(route.entity, 'delete')
            const answer = await ask(`DELETE ${pathTo(route, row)}`, viewer)
            const about = `${nameOf(route)} ${row.id} by ${named(viewer)}: ${answer.text}`
            const isHidden = viewer.id !== null && reference().isHidden(route.entity, row, viewer)
            if (isHidden && viewer !== barred) assert.equal(answer.status, 404, about)
            else if (!reference().may(route.entity, row, rule, viewer) || viewer === barred) {
              assert.ok([401, 403].includes(answer.status), about)
              refusedTo(answer, viewer)
            } else if (answer.status === 409) {
              assert.ok(isHeld(it().model, route.entity), about)
              assert.match(answer.text, / refer to it or to what goes with it; /, about)
            } else {
              assert.equal(answer.status, 204, about)
              assert.equal((await now()).byId(route.entity, row.id), undefined, about)
              const again = await ask(`DELETE ${pathTo(route, row)}`, viewer)
              assert.ok([403, 404].includes(again.status), again.text)
            }
          }
    })

    test('no request of all these was a bug', () => {
      const bugs = it().world.events.filter(event => event.kind === 'bug')
      assert.deepEqual(
        bugs.map(({ error }) => (error as Error).stack),
        [],
      )
    })
  })

for (const subject of subjects)
  for (const view of viewsOf(subject.content)) void writesIn(subject, view)
