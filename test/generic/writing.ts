/** What the tests of the writes of a content share, in one of its versions. */
import assert from 'node:assert/strict'
import { after, before, beforeEach } from 'node:test'
import type { Field } from '#model/field.ts'
import { entityOf } from '#model/model.ts'
import type { Policy, Viewer } from '#model/policy.ts'
import { isIn } from '#model/version.ts'
import type { Route } from '#rest/routes.ts'
import { taken } from '../support/taken.ts'
import type { Answered } from '../world.ts'
import { bodyFor } from './bodies.ts'
import type { Subject } from './contents.ts'
import { memberName, type Reference, referenceOver, rowsOf, type View } from './reference.ts'
import { asOf, callersOf, type Filled, filled, pathOf } from './subject.ts'

export type Write = 'create' | 'replace' | 'update' | 'delete'

/** A world of a content that is written to, and what the reference says of it before each test. */
export const writingOf = (subject: Subject, { version, prefix }: View) => {
  const { admin, someone, barred, callers } = callersOf(subject)
  let filledWith: Filled
  let referenceNow: Reference
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

  const bodyOf = (
    route: Route,
    mode: Exclude<Write, 'delete'>,
    viewer: Viewer,
    given = givenFor(route, viewer),
  ) =>
    bodyFor({
      ...it(),
      reference: reference(),
      entity: route.entity,
      version,
      mode,
      viewer,
      given,
      n: n++,
    })

  /** A create: its path with the parent, and a body. */
  const newFor = (route: Route, viewer: Viewer, given = givenFor(route, viewer)) => ({
    path: pathOf(route, prefix, { parentId: given[route.below?.field ?? ''] }),
    body: bodyOf(route, 'create', viewer, given),
  })

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

  /** Whether the object says what the body says. */
  const agrees = (entity: string, answer: Answered, body: Record<string, unknown>): void => {
    for (const [member, value] of Object.entries(body)) {
      const field = fieldOf(entity, member)
      if (!field.rest) continue
      const isAsGiven = field.until[version]?.form !== undefined
      const expected = isAsGiven ? value : taken(field.rule, value)
      assert.deepEqual(answer.json[member], expected, answer.text)
    }
  }

  return {
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
    givenFor,
    bodyOf,
    newFor,
    fieldNamed,
    fieldOf,
    agrees,
  }
}

export type Writing = ReturnType<typeof writingOf>
