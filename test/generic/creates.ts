/** The tests of what a content lets its callers make. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memberName, type ReferenceRow, verdict } from '#check/reference.ts'
import { entityOf } from '#model/model.ts'
import { refuses } from '../rest.ts'
import { refusedTo } from './reading.ts'
import { named, nameOf, pathOf } from './subject.ts'
import type { Writing } from './writing.ts'

/** The tests of its creates. */
export const createsAreJudged = ({
  version,
  prefix,
  view,
  admin,
  someone,
  barred,
  callers,
  it,
  now,
  readAgain,
  routesOf,
  ruleOf,
  ask,
  bodyOf,
  newFor,
  newOf,
  fieldOf,
  agrees,
}: Writing): void => {
  test('a thing is made by those who may, and by no others', async () => {
    for (const route of routesOf('create'))
      for (const viewer of [...callers, ...(barred ? [barred] : [])]) {
        const rule = ruleOf(route.entity, 'create')
        await readAgain()
        const isOpen = verdict(rule, viewer, it().model) !== 'no' && viewer !== barred
        const { path, body } =
          (isOpen ? newOf(route, viewer, 'made') : newFor(route, viewer)) ??
          assert.fail(`${named(viewer)} can make none: ${nameOf(route)}`)
        const answer = await ask(`POST ${path}`, viewer, body)
        const about = `${nameOf(route)} by ${named(viewer)}: ${JSON.stringify(body)} ${answer.text}`
        if (!isOpen) {
          assert.ok([401, 403].includes(answer.status), about)
          refusedTo(answer, viewer)
          continue
        }
        assert.equal(answer.status, 201, about)
        const rows = (await now()).rowsIn(route.entity)
        const made = rows.at(-1) as ReferenceRow
        agrees(route, answer, body, made, viewer)
        assert.deepEqual(
          answer.json,
          (await now()).objectOf(route.entity, made, view, viewer),
          about,
        )
        const { plural, rest } = entityOf(it().model, route.entity)
        const location = rest.one ? `${prefix}/${plural}/${made.id}` : null
        assert.equal(answer.headers.get('location'), location)
      }
  })

  test('nobody makes a thing in the name of somebody else, but an admin', async () => {
    for (const route of routesOf('create')) {
      const rule = ruleOf(route.entity, 'create')
      const key = rule?.kind === 'self' ? rule.fields[0] : undefined
      const field = entityOf(it().model, route.entity).fields[key ?? '']
      const owner = key && memberName(key, field, version)
      if (owner === undefined) continue
      const isInPath = route.below?.field === key
      const own = bodyOf(route, 'create', someone(2))
      if (!isInPath && !(owner in own)) continue
      const body = isInPath ? own : { ...own, [owner]: 3 }
      const path = pathOf(route, prefix, { parentId: isInPath ? 3 : 1 })
      refuses(await ask(`POST ${path}`, someone(2), body), 403, 'FORBIDDEN')
      assert.equal((await ask(`POST ${path}`, admin, body)).status, 201, nameOf(route))
    }
  })

  test('a thing is made below what is there only, and refers to what is there only', async () => {
    for (const route of routesOf('create')) {
      if (verdict(ruleOf(route.entity, 'create'), admin, it().model) !== 'yes') continue
      const { path, body } = newFor(route, admin)
      if (route.below) {
        refuses(
          await ask(`POST ${pathOf(route, prefix, { parentId: 999 })}`, admin, body),
          404,
          'NOT_FOUND',
        )
        refuses(
          await ask(`POST ${pathOf(route, prefix, { parentId: 999 })}`, admin, {}),
          404,
          'NOT_FOUND',
        )
      }
      for (const member of Object.keys(body))
        if (fieldOf(route.entity, member).references)
          refuses(await ask(`POST ${path}`, admin, { ...body, [member]: 999 }), 404, 'NOT_FOUND')
    }
  })
}
