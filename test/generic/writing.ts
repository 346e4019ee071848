/** What the tests of the writes of a content share, in one of its versions. */
import assert from 'node:assert/strict'
import { after, before, beforeEach } from 'node:test'
import { type BodyOutcome, bodyIfAny } from '#check/bodies.ts'
import {
  memberName,
  type ReferenceRow,
  type RowsReference,
  referenceOver,
  rowsOf,
  type View,
} from '#check/reference.ts'
import { stored } from '#check/rows.ts'
import { taken } from '#check/values.ts'
import type { Field } from '#model/field.ts'
import { entityOf } from '#model/model.ts'
import { isByRow, type Policy, type Viewer } from '#model/policy.ts'
import { isIn } from '#model/version.ts'
import type { Route } from '#rest/routes.ts'
import type { Answered } from '../world.ts'
import type { Subject } from './contents.ts'
import { asOf, callersOf, type Filled, filled, pathOf } from './subject.ts'

export type Write = 'create' | 'replace' | 'update' | 'delete'

/** A world of a content that is written to, and what the reference says of it before each test. */
export const writingOf = (subject: Subject, view: View) => {
  const { version, prefix } = view
  const { admin, someone, barred, callers } = callersOf(subject)
  let filledWith: Filled
  let referenceNow: RowsReference
  let n = 0
  before(async () => {
    filledWith = await filled(subject)
  })
  beforeEach(async () => {
    referenceNow = await filledWith.reference()
  })
  after(() => filledWith.world.close())

  const it = () => filledWith
  const reference = () => referenceNow

  const now = async () => referenceOver(it().model, await rowsOf(it().world))
  /** Takes the reference anew, out of what is stored now. */
  const readAgain = async () => {
    referenceNow = await now()
  }
  const routesOf = (...kinds: readonly Route['kind'][]) =>
    it().routes.filter(({ kind, lifetime }) => kinds.includes(kind) && isIn(lifetime, version))
  const ruleOf = (entity: string, kind: Write): Policy[keyof Policy] =>
    entityOf(it().model, entity).policy[kind === 'replace' ? 'update' : kind]
  const ask = (line: string, viewer: Viewer, body?: unknown, headers = {}) =>
    it().world.ask(line, { ...asOf(viewer), headers, ...(body !== undefined && { body }) })

  /** What the path of a create gives: a parent, or the viewer itself where its own things stand below viewers. */
  const givenFor = ({ below, entity }: Route, viewer: Viewer): Record<string, number> => {
    if (!below) return {}
    const rule = ruleOf(entity, 'create')
    const isOwn = rule?.kind === 'self' && rule.fields.includes(below.field)
    return { [below.field]: isOwn ? (viewer.id ?? 1) : 1 + (n % 7) }
  }

  const bodyWith = (
    route: Route,
    mode: Exclude<Write, 'delete'>,
    viewer: Viewer,
    given = givenFor(route, viewer),
    wanted?: BodyOutcome,
  ) =>
    bodyIfAny({
      ...it(),
      reference: reference(),
      entity: route.entity,
      version,
      mode,
      viewer,
      given,
      wanted,
      n: n++,
    })

  const bodyOf = (route: Route, mode: Exclude<Write, 'delete'>, viewer: Viewer) =>
    bodyWith(route, mode, viewer) ?? assert.fail(`no body is left for ${route.path}`)

  /** A create of which this comes: its path with a parent, and a body; undefined if there is none. */
  const newOf = (route: Route, viewer: Viewer, wanted?: BodyOutcome) => {
    for (let tries = 0; tries < 9; tries++) {
      const given = givenFor(route, viewer)
      const body = bodyWith(route, 'create', viewer, given, wanted)
      const path = pathOf(route, prefix, { parentId: given[route.below?.field ?? ''] })
      if (body) return { path, body }
    }
    return undefined
  }

  const newFor = (route: Route, viewer: Viewer) =>
    newOf(route, viewer) ?? assert.fail(`no body is left for ${route.path}`)

  /** The field that this version calls so. */
  const fieldNamed = (entity: string, member: string): Field | undefined => {
    const { fields } = entityOf(it().model, entity)
    const own = Object.entries(fields).find(
      ([key, field]) => memberName(key, field, version) === member,
    )
    return own?.[1]
  }
  const fieldOf = (entity: string, member: string): Field =>
    fieldNamed(entity, member) ?? assert.fail(`${entity} has no member ${member}`)

  /** Checks that the object says what the body says, and the row where the viewer may not read that. */
  const agrees = (
    { entity, kind }: Route,
    answer: Answered,
    body: Record<string, unknown>,
    row: ReferenceRow,
    viewer: Viewer,
  ): void => {
    const { fields } = entityOf(it().model, entity)
    for (const [member, value] of Object.entries(body)) {
      const field = fieldOf(entity, member)
      if (!field.rest) continue
      const isAsGiven = field.until[version]?.form !== undefined
      const expected = isAsGiven ? value : taken(field.rule, value)
      const { readableBy } = field
      const isOpen = !isByRow(readableBy) || reference().may(entity, row, readableBy, viewer)
      assert.deepEqual(answer.json[member], isOpen ? expected : null, answer.text)
      if (!isOpen) {
        const key = Object.keys(row).find(key => memberName(key, fields[key], version) === member)
        // A PUT leaves what its caller may not read.
        const before =
          kind === 'replace' ? reference().byId(entity, row.id)?.[key ?? ''] : undefined
        const { digits } = it().model.settings.currency
        assert.equal(row[key ?? ''], before ?? stored(field, value, digits))
      }
    }
  }

  return {
    version,
    prefix,
    view,
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
    givenFor,
    bodyOf,
    newFor,
    newOf,
    fieldNamed,
    fieldOf,
    agrees,
  }
}

export type Writing = ReturnType<typeof writingOf>
